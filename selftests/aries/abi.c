// SPDX-License-Identifier: GPL-2.0-only
/*
 * Modes of an attachment, and kinds of resources. Sizes, reserved fields and flags of all requests: badargs.c.
 */
#include "aries_test.h"
#include "kselftest_harness.h"

FIXTURE(abi)
{
	int fd;
};

FIXTURE_SETUP(abi)
{
	self->fd = aries_attached(aries_cookie(), NULL);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(abi)
{
	close(self->fd);
}

TEST_F(abi, unknown_modes)
{
	/* private and undefined GNI_CDM_MODE_* bits */
	static const uint32_t bad[] = { 0x00000400, 0x00000800, 0x00002000, 0x00400000,
					0x08000000, 0x10000000, 0x80000000 };
	struct kgni_attach attach;
	size_t i;
	int fd = aries_open();

	ASSERT_LE(0, fd);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		attach = aries_attach_arg(aries_cookie());
		attach.modes = bad[i];
		EXPECT_EQ(EINVAL, aries_ioctl(fd, KGNI_IOC_ATTACH, &attach)) {
			TH_LOG("mode %#x", bad[i]);
		}
	}
	close(fd);
}

TEST_F(abi, resources)
{
	struct kgni_res res = { .argsz = sizeof(res) };

	res.kind = 0;
	EXPECT_EQ(EINVAL, aries_ioctl(self->fd, KGNI_IOC_RES, &res));
	res.kind = 7;
	EXPECT_EQ(EINVAL, aries_ioctl(self->fd, KGNI_IOC_RES, &res));
	res.kind = 2; /* MRT: a Gemini's */
	EXPECT_EQ(EOPNOTSUPP, aries_ioctl(self->fd, KGNI_IOC_RES, &res));
	res.kind = 4; /* FMA descriptors */
	EXPECT_EQ(0, aries_ioctl(self->fd, KGNI_IOC_RES, &res));
	EXPECT_LE(1, res.used);
	EXPECT_EQ(ARIES_FMA_DESCRIPTORS, res.total);
	EXPECT_EQ(1, res.reserved_units);
	EXPECT_EQ(0, res.held);
	res.kind = 1;
	res.ptag = 200;
	EXPECT_EQ(ENOENT, aries_ioctl(self->fd, KGNI_IOC_RES, &res));
	res.kind = 0;
	EXPECT_EQ(EINVAL, aries_ioctl(self->fd, KGNI_IOC_RES, &res));
	res.kind = 11;
	EXPECT_EQ(EINVAL, aries_ioctl(self->fd, KGNI_IOC_RES, &res));
}

TEST_HARNESS_MAIN
