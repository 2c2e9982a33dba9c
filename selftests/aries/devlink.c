// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NIC under devlink: who it is, what it has, a parameter that only a reload changes, and its
 * health. What `devlink` of iproute2 shows comes by the same requests.
 */
#include <linux/devlink.h>
#include <sched.h>
#include <time.h>

#include "genl.h"
#include "kselftest_harness.h"
#include "pci.h"
#include "view.h"

/* linux/netlink.h of the kernel: types of a parameter and of a value in a message */
#define TYPE_FLAG 6

FIXTURE(devlink)
{
	struct genl g;
	char pci[64];
};

FIXTURE_SETUP(devlink)
{
	int rc;

	pci_address(self->pci, sizeof(self->pci));
	if (!self->pci[0]) {
		SKIP(return, "no NIC");
	}
	rc = genl_open(&self->g, DEVLINK_GENL_NAME);
	if (rc == -ENOENT) {
		SKIP(return, "this kernel has no devlink");
	}
	ASSERT_EQ(0, rc);
}

FIXTURE_TEARDOWN(devlink)
{
	close(self->g.fd);
}

static void begin(FIXTURE_DATA(devlink) *self, uint8_t cmd, uint16_t flags)
{
	genl_begin(&self->g, self->g.family, cmd, flags);
	genl_put_text(&self->g, DEVLINK_ATTR_BUS_NAME, "pci");
	genl_put_text(&self->g, DEVLINK_ATTR_DEV_NAME, self->pci);
}

static const struct nlattr *answer(FIXTURE_DATA(devlink) *self, uint16_t type)
{
	return genl_find(self->g.in, self->g.answer, type, NULL);
}

static int reload(FIXTURE_DATA(devlink) *self)
{
	begin(self, DEVLINK_CMD_RELOAD, 0);
	genl_put_u8(&self->g, DEVLINK_ATTR_RELOAD_ACTION, DEVLINK_RELOAD_ACTION_DRIVER_REINIT);
	return genl_ask(&self->g);
}

/* What true is: a flag that is there. */
static int set_lazy(FIXTURE_DATA(devlink) *self, int on, uint8_t cmode)
{
	begin(self, DEVLINK_CMD_PARAM_SET, 0);
	genl_put_text(&self->g, DEVLINK_ATTR_PARAM_NAME, "amo_lazy");
	genl_put_u8(&self->g, DEVLINK_ATTR_PARAM_TYPE, TYPE_FLAG);
	genl_put_u8(&self->g, DEVLINK_ATTR_PARAM_VALUE_CMODE, cmode);
	if (on)
		genl_put(&self->g, DEVLINK_ATTR_PARAM_VALUE_DATA, "", 0);
	return genl_ask(&self->g);
}

/* AMO_CTL as debugfs shows registers; -1 if it cannot be read. */
static int lazy(void)
{
	char line[256];
	unsigned int value = 0;
	FILE *file = fopen(VIEW_DIR "registers", "r");

	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "AMO_CTL %x", &value) == 1)
			break;
	fclose(file);
	return value & 1;
}

static int health(FIXTURE_DATA(devlink) *self, uint8_t cmd, uint16_t flags)
{
	begin(self, cmd, flags);
	genl_put_text(&self->g, DEVLINK_ATTR_HEALTH_REPORTER_NAME, "nic");
	return genl_ask(&self->g);
}

/* The value of a pair in a reporter's message; NULL if it is not there. */
static const struct nlattr *said(FIXTURE_DATA(devlink) *self, const char *name)
{
	const struct nlattr *fmsg = NULL, *at, *end;

	while ((fmsg = genl_find(self->g.in, self->g.answer, DEVLINK_ATTR_FMSG, fmsg))) {
		for (at = NULL; (at = genl_in(fmsg, DEVLINK_ATTR_FMSG_OBJ_NAME, at));) {
			end = genl_in(fmsg, DEVLINK_ATTR_FMSG_OBJ_VALUE_DATA, at);
			if (!strcmp(genl_data(at), name))
				return end;
		}
	}
	return NULL;
}

/* How long after a recovery a report only counts. */
static int set_grace(FIXTURE_DATA(devlink) *self, uint64_t ms)
{
	begin(self, DEVLINK_CMD_HEALTH_REPORTER_SET, 0);
	genl_put_text(&self->g, DEVLINK_ATTR_HEALTH_REPORTER_NAME, "nic");
	genl_put(&self->g, DEVLINK_ATTR_HEALTH_REPORTER_GRACEFUL_PERIOD, &ms, sizeof(ms));
	return genl_ask(&self->g);
}

static long long recoveries(FIXTURE_DATA(devlink) *self)
{
	const int rc = health(self, DEVLINK_CMD_HEALTH_REPORTER_GET, 0);

	if (rc)
		return rc;
	return genl_number(genl_in(answer(self, DEVLINK_ATTR_HEALTH_REPORTER),
				   DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT, NULL));
}

TEST_F(devlink, info)
{
	const struct nlattr *name, *fixed;
	char text[64], address[64];

	begin(self, DEVLINK_CMD_INFO_GET, 0);
	ASSERT_EQ(0, genl_ask(&self->g));
	name = answer(self, DEVLINK_ATTR_INFO_DRIVER_NAME);
	ASSERT_NE(NULL, name);
	EXPECT_STREQ("aries", genl_data(name));
	fixed = answer(self, DEVLINK_ATTR_INFO_VERSION_FIXED);
	ASSERT_NE(NULL, genl_in(fixed, DEVLINK_ATTR_INFO_VERSION_VALUE, NULL));
	EXPECT_STREQ("ARIES", genl_data(genl_in(fixed, DEVLINK_ATTR_INFO_VERSION_VALUE, NULL)));
	name = answer(self, DEVLINK_ATTR_INFO_SERIAL_NUMBER);
	ASSERT_NE(NULL, name);
	aries_sysfs("address", address, sizeof(address));
	snprintf(text, sizeof(text), "%s", (const char *)genl_data(name));
	EXPECT_EQ(strtol(address, NULL, 0), strtol(text, NULL, 0));
}

TEST_F(devlink, resources_are_those_of_sysfs)
{
	struct kgni_attach at;
	const int fd = aries_attached(aries_cookie(), &at);
	const struct nlattr *list, *one = NULL;
	int found = 0;

	ASSERT_LE(0, fd);
	begin(self, DEVLINK_CMD_RESOURCE_DUMP, 0);
	ASSERT_EQ(0, genl_ask(&self->g));
	list = answer(self, DEVLINK_ATTR_RESOURCE_LIST);
	while ((one = genl_in(list, DEVLINK_ATTR_RESOURCE, one))) {
		const char *name = genl_data(genl_in(one, DEVLINK_ATTR_RESOURCE_NAME, NULL));
		long long used = genl_number(genl_in(one, DEVLINK_ATTR_RESOURCE_OCC, NULL));
		char file[64];

		snprintf(file, sizeof(file), "resources/%s_total", name);
		EXPECT_EQ(aries_number(file),
			  genl_number(genl_in(one, DEVLINK_ATTR_RESOURCE_SIZE, NULL)));
		snprintf(file, sizeof(file), "resources/%s_used", name);
		EXPECT_EQ(aries_number(file), used);
		/* the attachment has one */
		if (!strcmp(name, "fma")) {
			EXPECT_LE(1, used);
		}
		found++;
	}
	EXPECT_EQ(5, found);
	close(fd);
}

TEST_F(devlink, reload_brings_the_parameter)
{
	const long long resets = aries_number("resets");
	const int before = lazy();
	struct kgni_cq_create cq;
	struct kgni_attach at;
	int fd;

	ASSERT_LE(0, before);
	EXPECT_NE(0, set_lazy(self, 1, DEVLINK_PARAM_CMODE_RUNTIME));
	ASSERT_EQ(0, set_lazy(self, !before, DEVLINK_PARAM_CMODE_DRIVERINIT));
	EXPECT_EQ(before, lazy());
	fd = aries_attached(aries_cookie(), &at);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, reload(self));
	EXPECT_EQ(!before, lazy());
	EXPECT_EQ(resets + 1, aries_number("resets"));
	/* a reload is a reset: who was attached has to attach again */
	EXPECT_EQ(EIO, aries_cq(fd, 100, 0, &cq));
	close(fd);
	ASSERT_EQ(0, set_lazy(self, before, DEVLINK_PARAM_CMODE_DRIVERINIT));
	ASSERT_EQ(0, reload(self));
	EXPECT_EQ(before, lazy());
	fd = aries_attached(aries_cookie(), &at);
	EXPECT_LE(0, fd);
	close(fd);
}

TEST_F(devlink, health)
{
	const struct timespec pause = { .tv_nsec = 50000000 };
	const long long resets = aries_number("resets");
	long long before;
	int i;

	ASSERT_EQ(0, health(self, DEVLINK_CMD_HEALTH_REPORTER_DIAGNOSE, 0));
	ASSERT_NE(NULL, said(self, "state"));
	EXPECT_STREQ("up", genl_data(said(self, "state")));
	EXPECT_EQ(resets, genl_number(said(self, "resets")));

	/* nothing to recover from */
	ASSERT_EQ(0, health(self, DEVLINK_CMD_HEALTH_REPORTER_RECOVER, 0));
	EXPECT_EQ(resets, aries_number("resets"));

	/* a report makes a dump and recovers by itself, also if the last one was a moment ago */
	ASSERT_EQ(0, set_grace(self, 0));
	ASSERT_EQ(0, health(self, DEVLINK_CMD_HEALTH_REPORTER_DUMP_CLEAR, 0));
	before = recoveries(self);
	ASSERT_LE(0, before);
	ASSERT_EQ(0, health(self, DEVLINK_CMD_HEALTH_REPORTER_TEST, 0));
	for (i = 0; i < 1200 && recoveries(self) == before; i++)
		nanosleep(&pause, NULL);
	EXPECT_EQ(before + 1, recoveries(self));
	EXPECT_EQ(resets + 1, aries_number("resets"));
	ASSERT_EQ(0, health(self, DEVLINK_CMD_HEALTH_REPORTER_DUMP_GET, NLM_F_DUMP));
	EXPECT_NE(NULL, said(self, "fma_traps"));
	EXPECT_EQ(resets, genl_number(said(self, "resets")));
	EXPECT_EQ(0, set_grace(self, 10000));
}

/*
 * The NIC is unbound in the middle of a report, and when the recovery that it has begun has just
 * ended. The kernel warns of reports of a device that devlink does not know; that is seen in its log.
 */
TEST_F_TIMEOUT(devlink, unbound_while_it_recovers, 300)
{
	int i;

	for (i = 0; i < 6; i++) {
		const long long resets = aries_number("resets");

		ASSERT_EQ(0, set_grace(self, 0));
		ASSERT_EQ(0, health(self, DEVLINK_CMD_HEALTH_REPORTER_TEST, 0));
		while (i % 2 && aries_number("resets") == resets)
			sched_yield();
		ASSERT_EQ(0, aries_write_file(PCI_DRIVER "unbind", self->pci));
		ASSERT_EQ(0, aries_write_file(PCI_DRIVER "bind", self->pci));
		ASSERT_EQ(0, pci_wait_for_node(1));
	}
}

TEST_HARNESS_MAIN
