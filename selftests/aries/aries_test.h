/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common to the selftests of the aries driver.
 *
 * A test is skipped as a whole (exit status 4) when there is no /dev/kgni0 or when it does not
 * run as root.
 */
#ifndef ARIES_TEST_H
#define ARIES_TEST_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "aries_hw.h"
#include "aries_regs.h"
#include "uapi/kgni_abi.h"

#define ARIES_NODE "/dev/kgni0"
#define ARIES_SYSFS "/sys/class/gni/kgni0/"
#define ARIES_PAGE 4096ul
#define ARIES_ANY_PTAG 255
#define ARIES_NOBODY 65534

static inline void aries_skip_all(const char *why)
{
	printf("TAP version 13\n1..0 # SKIP %s\n", why);
	fflush(stdout);
	_exit(4);
}

/* Runs before main(), which belongs to the harness. */
__attribute__((constructor)) static void aries_require(void)
{
	if (access(ARIES_NODE, F_OK))
		aries_skip_all("no " ARIES_NODE ": driver not loaded or no NIC");
	if (geteuid())
		aries_skip_all("needs root");
}

/* The result of an ioctl as 0 or a positive errno, so that it can be compared in one step. */
static inline int aries_ioctl(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) ? errno : 0;
}

static inline int aries_open(void)
{
	return open(ARIES_NODE, O_RDWR | O_CLOEXEC);
}

/* A cookie that no other process of this machine uses. */
static inline uint32_t aries_cookie(void)
{
	static uint32_t count;

	return 0x40000000u | (uint32_t)getpid() << 8 | (++count & 0xffu);
}

static inline struct kgni_attach aries_attach_arg(uint32_t cookie)
{
	struct kgni_attach arg = {
		.argsz = sizeof(arg),
		.abi_version = KGNI_ABI_VERSION,
		.inst_id = 7,
		.cookie = cookie,
		.ptag = ARIES_ANY_PTAG,
	};

	return arg;
}

/* An open file that is attached as @arg says, or a negative errno. */
static inline int aries_attached_as(struct kgni_attach *arg)
{
	int fd = aries_open(), rc;

	if (fd < 0)
		return -errno;
	rc = aries_ioctl(fd, KGNI_IOC_ATTACH, arg);
	if (rc)
		close(fd);
	return rc ? -rc : fd;
}

/* The same in the domain of @cookie; after an error @out is what was asked for. */
static inline int aries_attached(uint32_t cookie, struct kgni_attach *out)
{
	struct kgni_attach arg = aries_attach_arg(cookie);
	int fd = aries_attached_as(&arg);

	if (out)
		*out = arg;
	return fd;
}

static inline int aries_cq(int fd, uint32_t entries, uint32_t flags, struct kgni_cq_create *out)
{
	struct kgni_cq_create arg = { .argsz = sizeof(arg), .entries = entries, .flags = flags };
	int rc = aries_ioctl(fd, KGNI_IOC_CQ_CREATE, &arg);

	if (out)
		*out = arg;
	return rc;
}

static inline int aries_register(int fd, void *start, size_t bytes, uint32_t flags, uint32_t cq,
				 struct kgni_mem_register *out)
{
	struct kgni_mem_register arg = { .argsz = sizeof(arg),
					 .flags = flags,
					 .address = (uintptr_t)start,
					 .length = bytes,
					 .cq = cq };
	int rc = aries_ioctl(fd, KGNI_IOC_MEM_REGISTER, &arg);

	if (out)
		*out = arg;
	return rc;
}

static inline void *aries_pages(size_t pages)
{
	void *p = mmap(NULL, pages * ARIES_PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Replaces what is in a file of the kernel's; 0 or a positive errno. */
static inline int aries_write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC), rc = 0;

	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) < 0)
		rc = errno;
	close(fd);
	return rc;
}

/* What a file of the kernel's says, all of which is made at once; 0 or a positive errno. */
static inline int aries_read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY), rc = 0;
	ssize_t n;

	text[0] = '\0';
	if (fd < 0)
		return errno;
	n = read(fd, text, size - 1);
	if (n < 0)
		rc = errno;
	else
		text[n] = '\0';
	close(fd);
	return rc;
}

/* Unloads a module as rmmod does; 0 or a positive errno, EWOULDBLOCK while somebody uses it. */
static inline int aries_unload(const char *module)
{
	return syscall(SYS_delete_module, module, O_NONBLOCK) ? errno : 0;
}

/* First line of a sysfs file of the device, without its newline; empty when it cannot be read. */
static inline void aries_sysfs(const char *name, char *text, size_t size)
{
	char path[256];
	FILE *f;

	text[0] = '\0';
	snprintf(path, sizeof(path), ARIES_SYSFS "%s", name);
	f = fopen(path, "r");
	if (!f)
		return;
	if (!fgets(text, (int)size, f))
		text[0] = '\0';
	fclose(f);
	text[strcspn(text, "\n")] = '\0';
}

/* A number in sysfs, -1 when it cannot be read. */
static inline long long aries_number(const char *name)
{
	char text[64], *end;
	long long value;

	aries_sysfs(name, text, sizeof(text));
	value = strtoll(text, &end, 0);
	return end == text ? -1 : value;
}

/* What one process can hold on to. */
struct aries_use {
	long long mdd, cq, fma, ce, pages;
};

static inline struct aries_use aries_use(void)
{
	struct aries_use use = { aries_number("resources/mdd_used"),
				 aries_number("resources/cq_used"),
				 aries_number("resources/fma_used"),
				 aries_number("resources/ce_used"),
				 aries_number("resources/pinned_pages") };

	return use;
}

static inline int aries_use_equal(struct aries_use a, struct aries_use b)
{
	return a.mdd == b.mdd && a.cq == b.cq && a.fma == b.fma && a.ce == b.ce &&
	       a.pages == b.pages;
}

#endif /* ARIES_TEST_H */
