// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device node and the files in sysfs.
 */
#include <ctype.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "aries_test.h"
#include "kselftest_harness.h"

TEST(node)
{
	struct stat st;

	ASSERT_EQ(0, stat(ARIES_NODE, &st));
	EXPECT_TRUE(S_ISCHR(st.st_mode));
	/* the cookie protects a domain, not the file */
	EXPECT_EQ(0666, st.st_mode & 0777);
}

TEST(sysfs_names_the_node)
{
	char text[64];
	struct stat st;
	unsigned int major, minor;

	ASSERT_EQ(0, stat(ARIES_NODE, &st));
	aries_sysfs("dev", text, sizeof(text));
	ASSERT_EQ(2, sscanf(text, "%u:%u", &major, &minor));
	EXPECT_EQ(major(st.st_rdev), major);
	EXPECT_EQ(minor(st.st_rdev), minor);
}

TEST(query_agrees_with_sysfs)
{
	struct kgni_query q = { .argsz = sizeof(q) };
	char text[128];
	int fd = aries_open();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, aries_ioctl(fd, KGNI_IOC_QUERY, &q));
	EXPECT_EQ(KGNI_ABI_VERSION, q.abi_version);
	EXPECT_EQ(0, q.device_id);
	EXPECT_EQ(aries_number("address"), q.pe);
	EXPECT_EQ(aries_number("nodes"), q.nodes);
	EXPECT_LT(q.pe, 1u << ARIES_PE_BITS);
	EXPECT_NE(0, q.caps & ARIES_ID_CAPS_FMA_MASK);
	EXPECT_NE(0, q.caps & ARIES_ID_CAPS_BTE_MASK);
	EXPECT_LT(0, q.msix);
	EXPECT_LT(0, q.bte_queue);
	aries_sysfs("device_type", text, sizeof(text));
	EXPECT_STREQ("ARIES", text);
	aries_sysfs("build", text, sizeof(text));
	EXPECT_STREQ(text, q.build);
	aries_sysfs("state", text, sizeof(text));
	EXPECT_STREQ("up", text);
	close(fd);
}

TEST(resources)
{
	static const char *const kinds[] = { "mdd", "cq", "fma" };
	char name[64];
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		long long used, total;

		snprintf(name, sizeof(name), "resources/%s_used", kinds[i]);
		used = aries_number(name);
		snprintf(name, sizeof(name), "resources/%s_total", kinds[i]);
		total = aries_number(name);
		EXPECT_LE(0, used);
		EXPECT_LE(used, total) {
			TH_LOG("%s", kinds[i]);
		}
	}
	/* descriptor 0 is the kernel's */
	EXPECT_EQ(ARIES_FMA_DESCRIPTORS - 1, aries_number("resources/fma_total"));
}

TEST(every_counter_is_there)
{
#define NAME(upper, lower, text) "stats/" #lower,
	static const char *const names[] = { ARIES_COUNTERS(NAME) };
#undef NAME
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		EXPECT_LE(0, aries_number(names[i])) {
			TH_LOG("%s", names[i]);
		}
	}
}

static void router_name(char *name, size_t size, unsigned int tile, const char *counter)
{
	snprintf(name, size, "counters/AR_RTR_%s%u_%u_%s", tile < 40 ? "" : "PT_", tile / 8, tile % 8,
		 counter);
}

TEST(every_counter_of_the_router_has_its_name)
{
#define NAME(name, first, count) #name,
	static const char *const network[] = { ARIES_RTR_NETWORK_NAMES(NAME) };
	static const char *const processor[] = { ARIES_RTR_PROCESSOR_NAMES(NAME) };
#undef NAME
#define NAME(name, counter) "counters/AR_NIC_NETMON_ORB_EVENT_CNTR_" #name, "stats/" #counter,
	static const char *const nic[] = { ARIES_NIC_NAMES(NAME) };
#undef NAME
	char name[96];
	unsigned int tile;
	size_t i;

	for (tile = 0; tile < ARIES_RTR_TILES; tile++) {
		const char *const *names = tile < 40 ? network : processor;
		size_t count = tile < 40 ? sizeof(network) / sizeof(network[0]) :
					   sizeof(processor) / sizeof(processor[0]);

		for (i = 0; i < count; i++) {
			router_name(name, sizeof(name), tile, names[i]);
			EXPECT_LE(0, aries_number(name)) {
				TH_LOG("%s", name);
			}
		}
	}
	for (i = 0; i < sizeof(nic) / sizeof(nic[0]); i += 2) {
		char *c;

		snprintf(name, sizeof(name), "%s", nic[i + 1]);
		for (c = name; *c; c++)
			*c = tolower(*c);
		EXPECT_EQ(aries_number(name), aries_number(nic[i])) {
			TH_LOG("%s", nic[i]);
		}
	}
}

TEST(sysfs_is_read_only)
{
	EXPECT_EQ(-1, open(ARIES_SYSFS "stats/fma_traps", O_WRONLY | O_TRUNC));
}

TEST_HARNESS_MAIN
