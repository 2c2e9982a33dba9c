// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program polls a queue and rings doorbells through libugni while its NIC is reset, unbound and
 * removed: it lives, its calls tell which of the two it was, and it can attach again.
 */
#include <pthread.h>

#include "pci.h"
#include "ugni_test.h"
#include "kselftest_harness.h"

#define ROUNDS 5

FIXTURE(gone)
{
	struct ugni_self u;
	pthread_t thread;
	volatile unsigned long done; /* puts whose event came */
	volatile gni_return_t rc; /* what ended the loop */
	char pci[64];
};

/* Puts, and polls for their events, until a call says something else. */
static void *work(void *arg)
{
	FIXTURE_DATA(gone) *self = arg;
	gni_post_descriptor_t d = ugni_desc(&self->u, GNI_POST_FMA_PUT, 0, ARIES_PAGE, 8), *end;
	gni_cq_entry_t entry;
	gni_return_t rc = GNI_RC_SUCCESS;

	while (rc == GNI_RC_SUCCESS) {
		rc = GNI_PostFma(self->u.ep, &d);
		while (rc == GNI_RC_SUCCESS &&
		       (rc = GNI_CqGetEvent(self->u.cq, &entry)) == GNI_RC_NOT_DONE)
			rc = GNI_RC_SUCCESS;
		if (rc == GNI_RC_SUCCESS)
			rc = GNI_GetCompleted(self->u.cq, entry, &end);
		self->done += rc == GNI_RC_SUCCESS;
	}
	self->rc = rc;
	return NULL;
}

static int begin(FIXTURE_DATA(gone) *self)
{
	int i, rc = ugni_begin(&self->u, aries_cookie());

	self->done = 0;
	if (rc || pthread_create(&self->thread, NULL, work, self))
		return rc ? rc : -1;
	for (i = 0; i < 6000 && !self->done; i++)
		usleep(10000);
	return self->done ? 0 : -2;
}

/* How many calls do not say @expected, or fail though they only end something. */
static int count_wrong(FIXTURE_DATA(gone) *self, gni_return_t expected)
{
	struct ugni_self *u = &self->u;
	gni_post_descriptor_t put = ugni_desc(u, GNI_POST_FMA_PUT, 0, ARIES_PAGE, 8);
	gni_post_descriptor_t block = ugni_desc(u, GNI_POST_RDMA_PUT, 0, ARIES_PAGE, 4096);
	gni_cq_entry_t entry;
	int wrong = 0;

	pthread_join(self->thread, NULL);
	wrong += self->rc != expected;
	wrong += GNI_CqGetEvent(u->cq, &entry) != expected;
	wrong += GNI_CqTestEvent(u->cq) != expected;
	wrong += GNI_PostFma(u->ep, &put) != expected;
	wrong += GNI_PostRdma(u->ep, &block) != expected;
	wrong += GNI_MemDeregister(u->nic, &u->mem) != GNI_RC_SUCCESS;
	wrong += GNI_EpDestroy(u->ep) != GNI_RC_SUCCESS;
	wrong += GNI_CqDestroy(u->cq) != GNI_RC_SUCCESS;
	wrong += GNI_CdmDestroy(u->cdm) != GNI_RC_SUCCESS;
	munmap(u->data, UGNI_PAGES * ARIES_PAGE);
	return wrong;
}

FIXTURE_SETUP(gone)
{
	pci_address(self->pci, sizeof(self->pci));
	ASSERT_NE('\0', self->pci[0]);
}

/* Who comes next finds a NIC that works. */
FIXTURE_TEARDOWN(gone)
{
	gni_post_descriptor_t d;

	int rc = ugni_begin(&self->u, aries_cookie());

	/* an assertion that fails here would begin the teardown anew, for ever */
	EXPECT_EQ(0, rc);
	if (rc)
		return;
	d = ugni_desc(&self->u, GNI_POST_FMA_PUT, 0, ARIES_PAGE, 8);
	EXPECT_EQ(GNI_RC_SUCCESS, ugni_fma(&self->u, &d));
	ugni_end(&self->u);
}

TEST_F_TIMEOUT(gone, reset, 300)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(0, begin(self));
		ASSERT_EQ(0, aries_write_file(ARIES_SYSFS "device/reset", "1"));
		EXPECT_EQ(0, count_wrong(self, GNI_RC_INVALID_STATE));
	}
}

TEST_F_TIMEOUT(gone, unbind, 300)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(0, begin(self));
		ASSERT_EQ(0, aries_write_file(PCI_DRIVER "unbind", self->pci));
		EXPECT_EQ(0, count_wrong(self, GNI_RC_NO_MATCH));
		ASSERT_EQ(0, aries_write_file(PCI_DRIVER "bind", self->pci));
		ASSERT_EQ(0, pci_wait_for_node(1));
	}
}

TEST_F_TIMEOUT(gone, remove, 300)
{
	char path[128];
	int i;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/remove", self->pci);
	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(0, begin(self));
		ASSERT_EQ(0, aries_write_file(path, "1"));
		EXPECT_EQ(0, count_wrong(self, GNI_RC_NO_MATCH));
		ASSERT_EQ(0, aries_write_file("/sys/bus/pci/rescan", "1"));
		ASSERT_EQ(0, pci_wait_for_node(1));
	}
}

TEST_HARNESS_MAIN
