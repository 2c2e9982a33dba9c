/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the conformance tests share. Nothing here or in the tests knows more than gni_pub.h says:
 * they build against any implementation of GNI.
 *
 * Names: function__CODE__circumstance for a return code, S<section>_<point>__circumstance for a
 * statement about behaviour (S11_3__tag_blocks); see Documentation/conformance.md.
 */
#ifndef CONFORMANCE_H
#define CONFORMANCE_H

#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gni_pub.h"
#include "kselftest_harness.h"

#define CONF_DEVICE 0u
#define CONF_PAGE 4096ul
#define CONF_PAGES 16ul
#define CONF_BYTES (CONF_PAGES * CONF_PAGE)
#define CONF_CQ_ENTRIES 64u
#define CONF_NOBODY 65534
#define CONF_NO_VMDH ((uint32_t)-1)
/*
 * How long an event may take to come, in seconds: a machine under emulation, with others beside it. An engine that goes
 * before its neighbour has heard of it counts as lost after 20 leases, which are 10 s.
 */
#define CONF_PATIENCE 60

/* The call returns GNI_RC_<code>. The name of a test says the same: selftests/tool compares them. */
#define RC(code, call) EXPECT_EQ(GNI_RC_##code, call)
/* The same, and the test ends here if not. */
#define MUST(call) ASSERT_EQ(GNI_RC_SUCCESS, call)

/* A test that is one call. */
#define RC_TEST(name, code, call)                                                                    \
	TEST(name)                                                                                   \
	{                                                                                            \
		RC(code, call);                                                                      \
	}                                                                                            \
	struct conf_semicolon

/* A value that is no handle of any kind, and one where nothing is mapped. */
#define CONF_NO_HANDLE(type) ((type)conf_scratch)
#define CONF_WILD(type) ((type)(uintptr_t)0x10)

static uint64_t conf_scratch[64] __attribute__((unused));

static inline void conf_skip_all(const char *why)
{
	printf("TAP version 13\n1..0 # SKIP %s\n", why);
	fflush(stdout);
	_exit(4);
}

/* Before main(), which belongs to the harness. Root: half of the tests are about what only root may do. */
__attribute__((constructor)) static void conf_require(void)
{
	uint32_t address, cpu;

	if (GNI_CdmGetNicAddress(CONF_DEVICE, &address, &cpu))
		conf_skip_all("no NIC");
	if (geteuid())
		conf_skip_all("needs root");
}

/* A cookie of the test's own: no other process of this machine has it. */
static inline uint32_t conf_cookie(void)
{
	static uint32_t count;

	/* Keys are 128 to 65407; a test makes less than 256 domains. */
	return 0x40000000u | ((uint32_t)getpid() & 0x3fffu) << 16 | (++count & 0xffu) << 8;
}

static inline void *conf_pages(size_t pages)
{
	void *p = mmap(NULL, pages * CONF_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* A process that is attached: queues, memory, and an endpoint that is not bound yet. */
struct side {
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	gni_cq_handle_t cq; /* events of own operations */
	gni_cq_handle_t rx; /* events of what peers do to mem */
	gni_ep_handle_t ep;
	gni_mem_handle_t mem;
	uint8_t *data; /* CONF_BYTES */
	uint32_t pe;
	uint32_t id;
};

/* What a peer must know of a side; sent as it is. */
struct side_name {
	uint64_t data;
	gni_mem_handle_t mem;
	uint32_t pe;
	uint32_t id;
};

struct side_options {
	uint32_t modes;	    /* of the domain */
	uint32_t entries;   /* of cq; 0: CONF_CQ_ENTRIES */
	gni_cq_mode_t cq;   /* mode of both queues */
	uint32_t mem_flags; /* of the registration */
	int no_rx;	    /* registration without a queue */
	uint8_t ptag;	    /* 0: GNI_FIND_ALLOC_PTAG */
};

/* 0, or the number of the step that failed. */
static inline int side_open_as(struct side *s, uint32_t cookie, uint32_t id, struct side_options o)
{
	memset(s, 0, sizeof(*s));
	s->id = id;
	s->data = conf_pages(CONF_PAGES);
	if (!s->data)
		return 1;
	if (GNI_CdmCreate(id, o.ptag ? o.ptag : GNI_FIND_ALLOC_PTAG, cookie, o.modes, &s->cdm))
		return 2;
	if (GNI_CdmAttach(s->cdm, CONF_DEVICE, &s->pe, &s->nic))
		return 3;
	if (GNI_CqCreate(s->nic, o.entries ? o.entries : CONF_CQ_ENTRIES, 0, o.cq, NULL, NULL, &s->cq))
		return 4;
	if (GNI_CqCreate(s->nic, CONF_CQ_ENTRIES, 0, o.cq, NULL, NULL, &s->rx))
		return 5;
	if (GNI_MemRegister(s->nic, (uintptr_t)s->data, CONF_BYTES, o.no_rx ? NULL : s->rx, o.mem_flags,
			    CONF_NO_VMDH, &s->mem))
		return 6;
	return GNI_EpCreate(s->nic, s->cq, &s->ep) ? 7 : 0;
}

static inline int side_open(struct side *s, uint32_t cookie, uint32_t id)
{
	return side_open_as(s, cookie, id, (struct side_options){ .cq = GNI_CQ_NOBLOCK });
}

static inline struct side_name side_name(const struct side *s)
{
	return (struct side_name){ (uintptr_t)s->data, s->mem, s->pe, s->id };
}

/* Opens a side whose endpoint leads to the side itself; the name is its own. */
static inline int self_open_as(struct side *s, struct side_options o)
{
	int step = side_open_as(s, conf_cookie(), 1, o);

	return step ? step : GNI_EpBind(s->ep, s->pe, s->id) ? 8 : 0;
}

static inline int self_open(struct side *s)
{
	return self_open_as(s, (struct side_options){ .cq = GNI_CQ_NOBLOCK });
}

/* Two domains of one process, their endpoints bound to each other. */
static inline int two_open_as(struct side *a, struct side *b, struct side_options o)
{
	uint32_t cookie = conf_cookie();
	int step = side_open_as(a, cookie, 1, o);

	if (step)
		return step;
	step = side_open_as(b, cookie, 2, o);
	if (step)
		return 10 + step;
	if (GNI_EpBind(a->ep, b->pe, b->id))
		return 20;
	return GNI_EpBind(b->ep, a->pe, a->id) ? 21 : 0;
}

static inline int two_open(struct side *a, struct side *b)
{
	return two_open_as(a, b, (struct side_options){ .cq = GNI_CQ_NOBLOCK });
}

/* What is still there, in the order of clients; all of it may have gone already. */
static inline void side_close(struct side *s)
{
	if (s->ep)
		GNI_EpDestroy(s->ep);
	if (s->mem.qword1 || s->mem.qword2)
		GNI_MemDeregister(s->nic, &s->mem);
	if (s->rx)
		GNI_CqDestroy(s->rx);
	if (s->cq)
		GNI_CqDestroy(s->cq);
	if (s->cdm)
		GNI_CdmDestroy(s->cdm);
	if (s->data)
		munmap(s->data, CONF_BYTES);
	memset(s, 0, sizeof(*s));
}

/* A transfer between offsets @local of @s and @remote of @to, with a global event. */
static inline gni_post_descriptor_t conf_post(const struct side *s, struct side_name to,
					      gni_post_type_t type, size_t local, size_t remote,
					      size_t bytes)
{
	gni_post_descriptor_t d;

	memset(&d, 0, sizeof(d));
	d.type = type;
	d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
	d.dlvr_mode = GNI_DLVMODE_PERFORMANCE;
	d.local_addr = (uintptr_t)s->data + local;
	d.local_mem_hndl = s->mem;
	d.remote_addr = to.data + remote;
	d.remote_mem_hndl = to.mem;
	d.length = bytes;
	d.src_cq_hndl = s->cq;
	return d;
}

/* The next event of a queue, NOT_DONE if none comes in CONF_PATIENCE seconds. */
static inline gni_return_t conf_event(gni_cq_handle_t cq, gni_cq_entry_t *entry)
{
	time_t end = time(NULL) + CONF_PATIENCE;
	gni_return_t rc;

	do {
		rc = GNI_CqGetEvent(cq, entry);
	} while (rc == GNI_RC_NOT_DONE && time(NULL) < end);
	return rc;
}

/* Waits for the event of a post and gives the descriptor back; the event's return code. */
static inline gni_return_t conf_reap(gni_cq_handle_t cq, gni_post_descriptor_t *d)
{
	gni_post_descriptor_t *done = NULL;
	gni_cq_entry_t entry = 0;
	gni_return_t rc = conf_event(cq, &entry);

	if (rc != GNI_RC_SUCCESS && rc != GNI_RC_TRANSACTION_ERROR)
		return rc;
	GNI_GetCompleted(cq, entry, &done);
	return done == d ? rc : GNI_RC_DESCRIPTOR_ERROR;
}

static inline gni_return_t conf_fma(const struct side *s, gni_post_descriptor_t *d)
{
	gni_return_t rc = GNI_PostFma(s->ep, d);

	return rc ? rc : conf_reap(s->cq, d);
}

static inline gni_return_t conf_rdma(const struct side *s, gni_post_descriptor_t *d)
{
	gni_return_t rc = GNI_PostRdma(s->ep, d);

	return rc ? rc : conf_reap(s->cq, d);
}

/* Waits for a return code that a call is on its way to. */
#define CONF_UNTIL(code, call)                                                                       \
	({                                                                                           \
		time_t conf_end = time(NULL) + CONF_PATIENCE;                                        \
		gni_return_t conf_rc;                                                                \
		do {                                                                                 \
			conf_rc = (call);                                                            \
		} while (conf_rc != GNI_RC_##code && time(NULL) < conf_end);                         \
		conf_rc;                                                                             \
	})

/* What a call returns in a process of its own; its effects on memory are lost. 255: it crashed. */
#define CONF_APART(prepare, call)                                                                    \
	({                                                                                           \
		int conf_status = 0;                                                                 \
		pid_t conf_pid = fork();                                                             \
		if (conf_pid == 0) {                                                                 \
			prepare;                                                                     \
			_exit((int)(call));                                                          \
		}                                                                                    \
		waitpid(conf_pid, &conf_status, 0);                                                  \
		(gni_return_t)(WIFEXITED(conf_status) ? WEXITSTATUS(conf_status) : 255);             \
	})

static inline void conf_become_nobody(void)
{
	if (setgroups(0, NULL) || setgid(CONF_NOBODY) || setuid(CONF_NOBODY))
		_exit(254);
}

/* The same as a user without privilege. Handles are not inherited: what the call needs is made in it. */
#define CONF_NOBODY_RC(call) CONF_APART(conf_become_nobody(), call)

/* From here on the process gets no memory that it does not have yet. */
static inline void conf_no_memory(void)
{
	struct rlimit limit = { 1, RLIM_INFINITY };
	void *volatile taken;
	size_t size;

	if (setrlimit(RLIMIT_AS, &limit))
		_exit(254);
	for (size = CONF_PAGE; size >= 16; size /= 2)
		do {
			taken = malloc(size);
		} while (taken);
}

static inline void conf_memory_again(void)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };

	if (setrlimit(RLIMIT_AS, &limit))
		_exit(254);
}

/* For this process there are no device files any more; only in CONF_APART(). */
static inline void conf_no_devices(void)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/dev", "tmpfs", 0, NULL))
		_exit(254);
}

/* The process may open no more files. */
static inline void conf_no_files(void)
{
	struct rlimit limit = { 0, 0 };

	if (setrlimit(RLIMIT_NOFILE, &limit))
		_exit(254);
}

/* Limits of a job that limit nothing. */
static inline gni_job_limits_t conf_limits(void)
{
	gni_job_limits_t limits;

	/* GNI_JOB_INVALID_LIMIT in every field */
	memset(&limits, 0xff, sizeof(limits));
	return limits;
}

/* A job of the test's own; nothing of the interface ends it, so it stays until the node does. */
static inline uint32_t conf_job(uint64_t job_id, gni_job_limits_t *limits)
{
	uint32_t cookie = conf_cookie();

	return GNI_ConfigureJob(CONF_DEVICE, job_id, GNI_FIND_ALLOC_PTAG, cookie, limits) ? 0 : cookie;
}

/* The check code of a memory handle: CRC-8/MAXIM over the 15 bytes in front of it. */
static inline uint64_t conf_check_code(const gni_mem_handle_t *h)
{
	uint8_t crc = 0;
	int i, bit;

	for (i = 0; i < 15; i++) {
		crc ^= (uint8_t)((i < 8 ? h->qword1 >> 8 * i : h->qword2 >> 8 * (i - 8)) & 0xff);
		for (bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0x8c : crc >> 1;
	}
	return crc;
}

/*
 * A handle without a check code, given one. A test that wants a wrong code gives the complement of the right
 * one: for one address in 256 the right code is 0, so that no code at all would do.
 */
static inline gni_mem_handle_t conf_coded(gni_mem_handle_t h, uint64_t code)
{
	h.qword2 |= (code & 0xff) << 56;
	return h;
}

#endif /* CONFORMANCE_H */
