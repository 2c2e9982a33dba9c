// SPDX-License-Identifier: GPL-2.0-only
/*
 * Modules come and go in any order while clients transfer: it is refused, or leaves nothing.
 * OPENGNI_SLOW in the environment: very often.
 */

#include "aries_test.h"
#include "kselftest_harness.h"
#include "pci.h"

#define ROUNDS 24
#define ROUNDS_SLOW 1000

enum module { KGNI_TEST, KRCA_TEST, KGNI, KRCA, ARIES, MODULES };

static const char *const names[MODULES] = { "kgni_test", "krca_test", "kgni", "krca", "aries" };

/* Who must be gone before: bits of enum module. */
static const unsigned int users[MODULES] = {
	[KGNI] = 1 << KGNI_TEST,
	[KRCA] = 1 << KRCA_TEST,
	[ARIES] = 1 << KGNI | 1 << KRCA,
};

static int unload(enum module module)
{
	return aries_unload(names[module]);
}

static int references(enum module module)
{
	char path[64], text[32];

	snprintf(path, sizeof(path), "/sys/module/%s/refcnt", names[module]);
	return aries_read_file(path, text, sizeof(text)) ? -1 : atoi(text);
}

/* Starts traffic that goes on until the module goes. */
static int begin_traffic(void)
{
	char text[256];
	int rc = aries_read_file("/sys/kernel/debug/kgni_test/traffic", text, sizeof(text));

	if (rc || !strcmp(text, "ok\n"))
		return rc;
	printf("# %s", text);
	return EIO;
}

static int reset(void)
{
	char pci[64], path[128];

	pci_address(pci, sizeof(pci));
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/reset", pci);
	return aries_write_file(path, "1");
}

/* Tries modules in any order until all but aries are gone; 0, or the line that was wrong. */
static int unload_in_any_order(unsigned int *seed)
{
	unsigned int loaded = (1 << MODULES) - 1;

	while (loaded != 1 << ARIES) {
		const enum module module = rand_r(seed) % MODULES;
		int expected = 0, rc;

		if (!(loaded & 1 << module))
			expected = ENOENT;
		else if (loaded & users[module])
			expected = EWOULDBLOCK;
		rc = unload(module);
		if (rc != expected) {
			printf("# %s: %s, modules %#x\n", names[module], strerror(rc), loaded);
			return __LINE__;
		}
		if (!rc)
			loaded &= ~(1u << module);
	}
	return 0;
}

FIXTURE(unload)
{
	struct aries_use before;
	int references;
	unsigned int seed;
};

FIXTURE_SETUP(unload)
{
	ASSERT_EQ(0, system("modprobe aries"));
	ASSERT_EQ(0, pci_wait_for_node(1));
	self->before = aries_use();
	self->references = references(ARIES);
	self->seed = time(NULL);
	printf("# seed %u\n", self->seed);
}

FIXTURE_TEARDOWN(unload)
{
}

/* Once more in the state in which the test began. */
#define ASSERT_NOTHING_LEFT()                                                  \
	do {                                                                   \
		ASSERT_TRUE(aries_use_equal(self->before, aries_use()));       \
		ASSERT_EQ(self->references, references(ARIES));                \
	} while (0)

TEST_F_TIMEOUT(unload, any_order_under_traffic, 3600)
{
	const int rounds = getenv("OPENGNI_SLOW") ? ROUNDS_SLOW : ROUNDS;
	int i;

	for (i = 0; i < rounds; i++) {
		ASSERT_EQ(0, system("modprobe kgni_test && modprobe krca_test"));
		ASSERT_EQ(0, begin_traffic());
		if (i % 4 == 1) {
			ASSERT_EQ(0, reset());
		}
		ASSERT_EQ(0, unload_in_any_order(&self->seed));
		ASSERT_NOTHING_LEFT();
		if (i % 4 == 3) {
			/* and the driver itself */
			ASSERT_EQ(0, unload(ARIES));
			ASSERT_EQ(0, system("modprobe aries"));
			ASSERT_EQ(0, pci_wait_for_node(1));
			ASSERT_NOTHING_LEFT();
		}
		if ((i + 1) % 24 == 0) {
			printf("# %d rounds\n", i + 1);
			fflush(stdout);
		}
	}
}

/* The NIC goes while they transfer, the clients after it; and while somebody has the device open. */
TEST_F_TIMEOUT(unload, nic_goes_first, 600)
{
	char pci[64];
	int i, fd;

	pci_address(pci, sizeof(pci));
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, system("modprobe kgni_test && modprobe krca_test"));
		ASSERT_EQ(0, begin_traffic());
		fd = i % 2 ? aries_open() : -1;
		ASSERT_EQ(0, aries_write_file(PCI_DRIVER "unbind", pci));
		ASSERT_EQ(0, unload_in_any_order(&self->seed));
		if (fd >= 0) {
			EXPECT_EQ(EWOULDBLOCK, unload(ARIES));
			close(fd);
		}
		ASSERT_EQ(0, aries_write_file(PCI_DRIVER "bind", pci));
		ASSERT_EQ(0, pci_wait_for_node(1));
		ASSERT_NOTHING_LEFT();
	}
}

TEST_HARNESS_MAIN
