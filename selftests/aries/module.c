// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module stays as long as somebody uses the device.
 */
#include "aries_test.h"
#include "kselftest_harness.h"

TEST(refused_while_attached)
{
	int fd = aries_attached(aries_cookie(), NULL);
	uint64_t word;

	ASSERT_LE(0, fd);
	if (access("/sys/module/aries/refcnt", F_OK))
		SKIP(return, "driver is built in");
	EXPECT_EQ(EWOULDBLOCK, aries_unload("aries"));
	/* and it still works */
	EXPECT_EQ(0, aries_register(fd, &word, 8, 0, KGNI_NO_CQ, NULL));
	close(fd);
}

TEST(refused_while_open)
{
	struct kgni_query q = { .argsz = sizeof(q) };
	int fd = aries_open();

	ASSERT_LE(0, fd);
	if (access("/sys/module/aries/refcnt", F_OK))
		SKIP(return, "driver is built in");
	EXPECT_EQ(EWOULDBLOCK, aries_unload("aries"));
	EXPECT_EQ(0, aries_ioctl(fd, KGNI_IOC_QUERY, &q));
	close(fd);
}

/* A mapping alone keeps it, too. */
TEST(refused_while_mapped)
{
	struct kgni_attach attach;
	int fd = aries_attached(aries_cookie(), &attach);
	void *area;

	ASSERT_LE(0, fd);
	if (access("/sys/module/aries/refcnt", F_OK))
		SKIP(return, "driver is built in");
	area = mmap(NULL, ARIES_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    (off_t)attach.desc_offset);
	ASSERT_NE(MAP_FAILED, area);
	close(fd);
	EXPECT_EQ(EWOULDBLOCK, aries_unload("aries"));
	munmap(area, ARIES_PAGE);
}

TEST_HARNESS_MAIN
