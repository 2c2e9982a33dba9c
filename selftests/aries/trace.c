// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracepoints: each event comes when it should, once, and says what the test itself has done; none
 * comes while it is off; nobody but root reads them.
 */
#include <stdarg.h>

#include "dgram.h"
#include "raw.h"
#include "sleeper.h"
#include "kselftest_harness.h"

#define TRACING "/sys/kernel/tracing/"
#define EVENTS TRACING "events/aries/"
#define BUFFER (1 << 20)
#define JOB 4913

__attribute__((constructor)) static void require_tracefs(void)
{
	if (!geteuid() && access(EVENTS, F_OK))
		aries_skip_all("no tracefs");
}

FIXTURE(trace)
{
	struct raw r;
	uint32_t cookie;
	uint8_t *page;
	char *text;
};

FIXTURE_SETUP(trace)
{
	self->cookie = aries_cookie();
	self->page = aries_pages(4);
	self->text = malloc(BUFFER);
	ASSERT_NE(NULL, self->page);
	ASSERT_NE(NULL, self->text);
	ASSERT_EQ(0, aries_write_file(TRACING "trace", ""));
	ASSERT_EQ(0, aries_write_file(EVENTS "enable", "1"));
	ASSERT_EQ(0, aries_write_file(EVENTS "aries_ioctl/enable", "0"));
	ASSERT_EQ(0, raw_open(&self->r, self->cookie));
}

FIXTURE_TEARDOWN(trace)
{
	raw_close(&self->r);
	EXPECT_EQ(0, aries_write_file(EVENTS "enable", "0"));
	free(self->text);
}

/* Reads what was traced so far. */
static void load(char *text)
{
	FILE *f = fopen(TRACING "trace", "r");
	size_t n = f ? fread(text, 1, BUFFER - 1, f) : 0;

	text[n] = '\0';
	if (f)
		fclose(f);
}

/* How many lines of event @name hold all of a formatted text after "kgni0 ". */
__attribute__((format(printf, 3, 4))) static int count(const char *text, const char *name,
						       const char *format, ...)
{
	char want[512];
	const char *p = text;
	int found = 0;
	size_t length;
	va_list ap;

	length = (size_t)snprintf(want, sizeof(want), " %s: kgni0 ", name);
	va_start(ap, format);
	vsnprintf(want + length, sizeof(want) - length, format, ap);
	va_end(ap);
	while ((p = strstr(p, want))) {
		found++;
		p++;
	}
	return found;
}

#define COUNT(n, name, ...)                                                                 \
	EXPECT_EQ(n, count(self->text, name, __VA_ARGS__)) { TH_LOG("%s", self->text); }

/* Names of events by topic, as documented. */
TEST_F(trace, topics)
{
	static const char *const names[] = {
		"aries_ioctl",	     "aries_attach",	  "aries_detach",	"aries_fmad_enable",
		"aries_fmad_disable", "aries_job_create", "aries_job_destroy",	"aries_job_suspend",
		"aries_job_resume",  "aries_mem_register", "aries_mem_deregister",
		"aries_mem_update",  "aries_cq_create",	  "aries_cq_destroy",	"aries_cq_wait",
		"aries_cq_irq",	     "aries_ce_start",	  "aries_ce_stop",	"aries_dgram_post",
		"aries_dgram_cancel", "aries_dgram_end",  "aries_error",	"aries_reset",
	};
	char path[256];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), EVENTS "%s/enable", names[i]);
		EXPECT_EQ(0, access(path, F_OK)) { TH_LOG("%s", names[i]); }
	}
}

TEST_F(trace, attach_and_detach)
{
	struct kgni_attach at;
	uint32_t cookie = aries_cookie();
	int fd = aries_attached(cookie, &at);

	ASSERT_LE(0, fd);
	load(self->text);
	COUNT(1, "aries_attach", "owner=%u pid=%d ptag=%u inst=7 fmad=%u modes=0x0\n", at.owner, getpid(),
	      at.ptag, at.fmad);
	COUNT(1, "aries_fmad_enable", "owner=%u fmad=%u ptag=%u\n", at.owner, at.fmad, at.ptag);
	COUNT(0, "aries_detach", "owner=%u ", at.owner);
	close(fd);
	load(self->text);
	COUNT(1, "aries_detach", "owner=%u pid=%d ptag=%u inst=7 fmad=%u modes=0x0\n", at.owner, getpid(),
	      at.ptag, at.fmad);
	COUNT(1, "aries_fmad_disable", "owner=%u fmad=%u ptag=%u\n", at.owner, at.fmad, at.ptag);
	/* a file that never attached does not detach */
	fd = aries_open();
	close(fd);
	load(self->text);
	COUNT(1, "aries_detach", "owner=");
}

TEST_F(trace, requests)
{
	struct kgni_ptag ptag = { .argsz = sizeof(ptag), .cookie = self->cookie };

	EXPECT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_PTAG, &ptag));
	load(self->text);
	COUNT(0, "aries_ioctl", "owner="); /* off */
	ASSERT_EQ(0, aries_write_file(EVENTS "aries_ioctl/enable", "1"));
	EXPECT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_PTAG, &ptag));
	ptag.cookie--;
	EXPECT_EQ(ENOENT, aries_ioctl(self->r.fd, KGNI_IOC_PTAG, &ptag));
	load(self->text);
	COUNT(1, "aries_ioctl", "owner=%u nr=%u rc=0\n", self->r.at.owner,
	      (unsigned int)_IOC_NR(KGNI_IOC_PTAG));
	COUNT(1, "aries_ioctl", "owner=%u nr=%u rc=%d\n", self->r.at.owner,
	      (unsigned int)_IOC_NR(KGNI_IOC_PTAG), -ENOENT);
}

TEST_F(trace, memory)
{
	struct kgni_mem_register mem, reserved;
	struct kgni_mem_update update = { .argsz = sizeof(update),
					  .address = (uintptr_t)self->page,
					  .length = 2 * ARIES_PAGE };
	struct kgni_mem_deregister gone = { .argsz = sizeof(gone) };
	const unsigned long start = (unsigned long)(uintptr_t)self->page;

	ASSERT_EQ(0, aries_register(self->r.fd, self->page + 5, ARIES_PAGE, 0, KGNI_NO_CQ, &mem));
	EXPECT_EQ(EINVAL, aries_register(self->r.fd, self->page, 0, 0, KGNI_NO_CQ, NULL));
	ASSERT_EQ(0, aries_register(self->r.fd, self->page, 4 * ARIES_PAGE, KGNI_MEM_RESERVE,
				    KGNI_NO_CQ, &reserved));
	update.mdh = reserved.mdh;
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_MEM_UPDATE, &update));
	gone.mdh = mem.mdh;
	load(self->text);
	COUNT(0, "aries_mem_deregister", "owner=");
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_MEM_DEREGISTER, &gone));
	load(self->text);
	COUNT(2, "aries_mem_register", "owner=%u ", self->r.at.owner);
	COUNT(1, "aries_mem_register", "owner=%u mdh=%u start=%#lx pages=2 pinned=2 shift=12 cq=-1\n",
	      self->r.at.owner, mem.mdh, start);
	COUNT(1, "aries_mem_register", "owner=%u mdh=%u start=%#lx pages=4 pinned=0 ",
	      self->r.at.owner, reserved.mdh, start);
	COUNT(1, "aries_mem_update", "owner=%u mdh=%u start=%#lx pages=4 pinned=2 ",
	      self->r.at.owner, reserved.mdh, start);
	COUNT(1, "aries_mem_deregister", "owner=%u mdh=%u start=%#lx pages=2 ", self->r.at.owner,
	      mem.mdh, start);
}

TEST_F(trace, queues)
{
	struct kgni_mem_register mem;
	struct sleeper s;
	struct raw_cq q;
	struct kgni_cq_wait w = { .argsz = sizeof(w), .count = 1, .cqs = (uintptr_t)&q.c.cq,
				  .timeout_ms = 1 };

	ASSERT_EQ(0, raw_cq(&self->r, &q, 100, KGNI_CQ_BLOCKING));
	ASSERT_EQ(0, aries_register(self->r.fd, self->page, 8, 0, KGNI_NO_CQ, &mem));
	EXPECT_EQ(ETIMEDOUT, aries_ioctl(self->r.fd, KGNI_IOC_CQ_WAIT, &w));
	load(self->text);
	COUNT(1, "aries_cq_create", "owner=%u cq=%u slots=128 flags=%#x\n", self->r.at.owner, q.c.cq,
	      KGNI_CQ_BLOCKING);
	COUNT(1, "aries_cq_wait", "owner=%u count=1 cq=-1 rc=%d\n", self->r.at.owner, -ETIMEDOUT);
	COUNT(0, "aries_cq_irq", "cq=%u ", q.c.cq);
	ASSERT_EQ(0, sleeper_begin(&s, self->r.fd, q.c.cq));
	usleep(100000);
	raw_put(&self->r, q.c.cq, mem.mdh, self->page, "abcd", 4, ARIES_EV_GLOBAL);
	EXPECT_EQ(0, sleeper_end(&s));
	EXPECT_NE(0, raw_take(&q));
	EXPECT_EQ(0, raw_cq_close(&self->r, &q));
	load(self->text);
	COUNT(1, "aries_cq_irq", "cq=%u irqs=1\n", q.c.cq);
	COUNT(1, "aries_cq_wait", "owner=%u count=1 cq=%u rc=0\n", self->r.at.owner, q.c.cq);
	COUNT(1, "aries_cq_destroy", "owner=%u cq=%u slots=128 ", self->r.at.owner, q.c.cq);
}

TEST_F(trace, jobs)
{
	struct kgni_job job = { .argsz = sizeof(job), .job_id = JOB, .cookie = aries_cookie(),
				.ptag = ARIES_ANY_PTAG, .limit_mdd = 3, .limit_cq = 4,
				.limit_fma = 5 };
	struct kgni_suspend arg = { .argsz = sizeof(arg), .job_id = JOB, .cookie = job.cookie,
				    .ptag = ARIES_ANY_PTAG, .timeout_ms = 1000 };

	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_JOB, &job));
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_SUSPEND, &arg));
	load(self->text);
	COUNT(1, "aries_job_create", "ptag=%u job=%u mdd=3 cq=4 fma=5\n", job.ptag, JOB);
	COUNT(1, "aries_job_suspend", "ptag=%u job=%u ", job.ptag, JOB);
	COUNT(0, "aries_job_resume", "ptag=");
	arg.flags = KGNI_SUSPEND_RESUME;
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_SUSPEND, &arg));
	job.flags = KGNI_JOB_DESTROY;
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_JOB, &job));
	load(self->text);
	COUNT(1, "aries_job_suspend", "ptag=%u job=%u ", job.ptag, JOB);
	COUNT(1, "aries_job_resume", "ptag=%u job=%u ", job.ptag, JOB);
	COUNT(1, "aries_job_destroy", "ptag=%u job=%u ", job.ptag, JOB);
}

TEST_F(trace, engines)
{
	struct kgni_ce_alloc alloc = { .argsz = sizeof(alloc) };
	const struct kgni_ce_child child[2] = {
		{ .pe = self->r.at.pe, .inst_id = 98, .kind = KGNI_CE_ENDPOINT },
		{ .pe = self->r.at.pe, .inst_id = 99, .kind = KGNI_CE_ENDPOINT },
	};
	struct kgni_ce_config config = { .argsz = sizeof(config), .count = 2,
					 .children = (uintptr_t)child, .cq = KGNI_NO_CQ };
	struct kgni_ce_free gone = { .argsz = sizeof(gone) };

	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_CE_ALLOC, &alloc));
	load(self->text);
	COUNT(0, "aries_ce_start", "owner=");
	config.ce = alloc.ce;
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_CE_CONFIG, &config));
	load(self->text);
	COUNT(1, "aries_ce_start", "owner=%u ce=%u children=2 parent=0x0\n", self->r.at.owner, alloc.ce);
	COUNT(0, "aries_ce_stop", "owner="); /* it did not run before */
	gone.ce = alloc.ce;
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_CE_FREE, &gone));
	load(self->text);
	COUNT(1, "aries_ce_stop", "owner=%u ce=%u children=2 parent=0x0\n", self->r.at.owner,
	      alloc.ce);
}

TEST_F(trace, datagrams)
{
	struct kgni_attach aa, bb;
	int a = dgram_attached(self->cookie, 21, &aa), b = dgram_attached(self->cookie, 22, &bb);

	ASSERT_LE(0, a);
	ASSERT_LE(0, b);
	ASSERT_EQ(0, dgram_directed(a, 0x55, aa.pe, 22, "hello"));
	load(self->text);
	COUNT(1, "aries_dgram_post", "owner=%u ep=0x55 node=%u inst=22 PENDING\n", aa.owner, aa.pe);
	COUNT(0, "aries_dgram_end", "owner=");
	ASSERT_EQ(0, dgram_wildcard(b, 0x66, "you too"));
	ASSERT_EQ(0, dgram_directed(a, 0x77, aa.pe, 23, "nobody"));
	ASSERT_EQ(0, dgram_cancel(a, 0x77, KGNI_DGRAM_ID));
	load(self->text);
	COUNT(1, "aries_dgram_post", "owner=%u ep=0x66 ", bb.owner);
	COUNT(1, "aries_dgram_end", "owner=%u ep=0x55 node=%u inst=22 COMPLETED\n", aa.owner, aa.pe);
	COUNT(1, "aries_dgram_end", "owner=%u ep=0x66 node=%u inst=21 COMPLETED\n", bb.owner, aa.pe);
	COUNT(1, "aries_dgram_cancel", "owner=%u ep=0x77 node=%u inst=23 ", aa.owner, aa.pe);
	COUNT(1, "aries_dgram_end", "owner=%u ep=0x77 node=%u inst=23 TERMINATED\n", aa.owner, aa.pe);
	close(a);
	close(b);
}

TEST_F(trace, errors)
{
	struct kgni_mem_register mem;
	int i;

	ASSERT_EQ(0, aries_register(self->r.fd, self->page, 8, 0, KGNI_NO_CQ, &mem));
	EXPECT_EQ(ARIES_ST_BOUNDS,
		  raw_put(&self->r, 0, mem.mdh, self->page + ARIES_PAGE, "abcd", 4, 0));
	for (i = 0; i < 2000; i++) {
		load(self->text);
		/* at both ends, which are the same NIC */
		if (count(self->text, "aries_error", "code=") == 2)
			break;
		usleep(1000);
	}
	COUNT(2, "aries_error", "code=%#x ptag=%u ", ARIES_ST_BOUNDS, self->r.at.ptag);
}

TEST_F(trace, resets)
{
	EXPECT_EQ(0, aries_write_file(ARIES_SYSFS "device/reset", "1"));
	load(self->text);
	COUNT(1, "aries_reset", "reset\n");
	COUNT(1, "aries_reset", "up\n");
	COUNT(0, "aries_reset", "gone");
	/* it took the attachment away */
	COUNT(1, "aries_detach", "owner=%u ", self->r.at.owner);
	EXPECT_EQ(EIO, aries_cq(self->r.fd, 64, 0, NULL));
}

TEST_F(trace, for_root_only)
{
	ASSERT_EQ(0, setresuid(ARIES_NOBODY, ARIES_NOBODY, 0));
	EXPECT_EQ(-1, open(TRACING "trace", O_RDONLY));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, open(EVENTS "enable", O_WRONLY));
	EXPECT_EQ(EACCES, errno);
	ASSERT_EQ(0, setresuid(0, 0, 0));
}

TEST_HARNESS_MAIN
