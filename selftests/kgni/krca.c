// SPDX-License-Identifier: GPL-2.0-only
/* krca, tested by a client in the kernel; its events: selftests/cluster/test_krca.py. */
#include <poll.h>

#include "aries_test.h"
#include "kselftest_harness.h"
#include "pci.h"

#define KRCA_DIR "/sys/kernel/debug/krca_test/"

FIXTURE(krca)
{
};

FIXTURE_SETUP(krca)
{
	ASSERT_EQ(0, system("modprobe krca_test"));
}

FIXTURE_TEARDOWN(krca)
{
	EXPECT_EQ(0, aries_unload("krca_test"));
	EXPECT_EQ(0, aries_unload("krca"));
}

TEST_F_TIMEOUT(krca, calls, 300)
{
	char text[512];

	ASSERT_EQ(0, aries_read_file(KRCA_DIR "calls", text, sizeof(text)));
	EXPECT_STREQ("ok\n", text);
	EXPECT_EQ(EAGAIN, aries_unload("krca"));
}

/* This node is up, and so says the file for users. */
TEST_F(krca, nodes)
{
	char nodes[8192], up[512], address[32], line[64];

	ASSERT_EQ(0, aries_read_file(ARIES_SYSFS "address", address, sizeof(address)));
	ASSERT_EQ(0, aries_read_file(ARIES_SYSFS "nodes_up", up, sizeof(up)));
	ASSERT_EQ(0, aries_read_file(KRCA_DIR "nodes", nodes, sizeof(nodes)));
	snprintf(line, sizeof(line), "%ld 4\n", strtol(address, NULL, 0));
	EXPECT_NE(NULL, strstr(nodes, line));
	/* it is the only one */
	snprintf(line, sizeof(line), "%ld\n", strtol(address, NULL, 0));
	EXPECT_STREQ(line, up);
}

/* Who polls the file for users is woken: a reset is a departure and a return. */
TEST_F(krca, nodes_up_wakes)
{
	char pci[64], path[128], text[512];
	struct pollfd file = { .events = POLLPRI };

	file.fd = open(ARIES_SYSFS "nodes_up", O_RDONLY);
	ASSERT_LE(0, file.fd);
	ASSERT_LT(0, read(file.fd, text, sizeof(text)));
	EXPECT_EQ(0, poll(&file, 1, 0) & POLLPRI);
	pci_address(pci, sizeof(pci));
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/reset", pci);
	ASSERT_EQ(0, aries_write_file(path, "1"));
	EXPECT_EQ(1, poll(&file, 1, 60000));
	EXPECT_NE(0, file.revents & POLLPRI);
	close(file.fd);
}

/*
 * Without a NIC there are no nodes; with it they are back. The session lives on, and hears nothing
 * of its own node.
 */
TEST_F(krca, nic_goes_and_comes)
{
	char pci[64], path[128], text[512], before[8192], after[8192];

	pci_address(pci, sizeof(pci));
	ASSERT_EQ(0, aries_read_file(KRCA_DIR "nodes", before, sizeof(before)));
	ASSERT_EQ(0, aries_write_file(PCI_DRIVER "unbind", pci));
	EXPECT_EQ(0, aries_read_file(KRCA_DIR "nodes", text, sizeof(text)));
	EXPECT_STREQ("error -19\n", text);
	ASSERT_EQ(0, aries_write_file(PCI_DRIVER "bind", pci));
	ASSERT_EQ(0, pci_wait_for_node(1));
	EXPECT_EQ(0, aries_read_file(KRCA_DIR "nodes", after, sizeof(after)));
	EXPECT_STREQ(before, after);
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/reset", pci);
	ASSERT_EQ(0, aries_write_file(path, "1"));
	EXPECT_EQ(0, aries_read_file(KRCA_DIR "nodes", after, sizeof(after)));
	EXPECT_STREQ(before, after);
	EXPECT_EQ(0, aries_read_file(KRCA_DIR "events", text, sizeof(text)));
	EXPECT_STREQ("", text);
}

TEST_HARNESS_MAIN
