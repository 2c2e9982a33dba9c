// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs: each view tells what the test itself has made, and nothing of it when it is gone; nobody
 * but root reads them; they can be read while objects come and go.
 */
#include <dirent.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "dgram.h"
#include "raw.h"
#include "sleeper.h"
#include "view.h"
#include "kselftest_harness.h"

#define FMA_SHARED 0x00020000u
#define SMALL_WINDOW 0x00200000u
#define JOB 4812

__attribute__((constructor)) static void require_debugfs(void)
{
	if (!geteuid() && access(VIEW_DIR, F_OK))
		aries_skip_all("no debugfs");
}

FIXTURE(debugfs)
{
	struct raw r;
	uint32_t cookie;
	uint8_t *page;
	char line[VIEW_LINE];
};

FIXTURE_SETUP(debugfs)
{
	self->cookie = aries_cookie();
	self->page = aries_pages(4);
	ASSERT_NE(NULL, self->page);
	ASSERT_EQ(0, raw_open_mode(&self->r, self->cookie, SMALL_WINDOW));
}

FIXTURE_TEARDOWN(debugfs)
{
	raw_close(&self->r);
	/* closed: no view knows it any more */
	EXPECT_EQ(0, view_find2("contexts", "pid", getpid(), "owner", self->r.at.owner, self->line));
}

#define FIND(view, key, value) EXPECT_EQ(1, view_find(view, key, value, self->line))
#define VALUE(value, key) EXPECT_EQ((long long)(value), view_value(self->line, key))
#define IS(key, text) EXPECT_TRUE(view_is(self->line, key, text)) { TH_LOG("%s", self->line); }

TEST_F(debugfs, contexts)
{
	int other = aries_open();

	FIND("contexts", "owner", self->r.at.owner);
	VALUE(getpid(), "pid");
	IS("state", "attached");
	VALUE(self->r.at.ptag, "ptag");
	VALUE(7, "inst");
	VALUE(self->r.at.pe, "node");
	VALUE(SMALL_WINDOW, "modes");
	VALUE(self->r.at.fmad, "fmad");
	VALUE(1, "sharing");
	VALUE(0, "busy");
	VALUE(0, "status");
	/* a file that is open and no more than that */
	EXPECT_EQ(2, view_find("contexts", "pid", getpid(), self->line));
	close(other);
	EXPECT_EQ(1, view_find("contexts", "pid", getpid(), self->line));
}

/* A name cannot make lines of its own. */
TEST_F(debugfs, a_process_names_itself_as_it_likes)
{
	int fd;

	ASSERT_EQ(0, prctl(PR_SET_NAME, "a\npid 1 \"b", 0, 0, 0));
	fd = aries_attached(self->cookie, NULL);
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, view_find("contexts", "pid", 1, self->line));
	EXPECT_EQ(2, view_find("contexts", "pid", getpid(), self->line));
	close(fd);
}

TEST_F(debugfs, shared_descriptors)
{
	struct raw a, b;
	struct kgni_job job = { .argsz = sizeof(job), .job_id = JOB, .cookie = aries_cookie(),
				.ptag = ARIES_ANY_PTAG, .limit_mdd = -1, .limit_cq = -1,
				.limit_fma = 1 };

	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_JOB, &job));
	ASSERT_EQ(0, raw_open_mode(&a, job.cookie, FMA_SHARED));
	ASSERT_EQ(0, raw_open_mode(&b, job.cookie, FMA_SHARED));
	FIND("contexts", "owner", a.at.owner);
	VALUE(2, "sharing");
	FIND("contexts", "owner", b.at.owner);
	VALUE(2, "sharing");
	VALUE(a.at.fmad, "fmad");
	/* the descriptor is that one's who used it last */
	a.bell[ARIES_DB_NULL / 8] = 0;
	FIND("descriptors", "fmad", a.at.fmad);
	VALUE(a.at.owner, "owner");
	b.bell[ARIES_DB_NULL / 8] = 0;
	FIND("descriptors", "fmad", a.at.fmad);
	VALUE(b.at.owner, "owner");
	raw_close(&a);
	FIND("contexts", "owner", b.at.owner);
	VALUE(1, "sharing");
	raw_close(&b);
	job.flags = KGNI_JOB_DESTROY;
	EXPECT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_JOB, &job));
}

TEST_F(debugfs, descriptors)
{
	struct kgni_mem_register mem;
	long long traps;

	ASSERT_EQ(0, aries_register(self->r.fd, self->page, 8, 0, KGNI_NO_CQ, &mem));
	FIND("descriptors", "fmad", self->r.at.fmad);
	IS("state", "enabled");
	VALUE(self->r.at.owner, "owner");
	VALUE(self->r.at.ptag, "ptag");
	IS("ntt", "0+0");
	VALUE(0, "busy");
	IS("last", "OK");
	traps = view_value(self->line, "traps");
	EXPECT_EQ(0, raw_put(&self->r, 0, mem.mdh, self->page, "abcd", 4, 0));
	EXPECT_EQ(ARIES_ST_BOUNDS,
		  raw_put(&self->r, 0, mem.mdh, self->page + ARIES_PAGE, "abcd", 4, 0));
	FIND("descriptors", "fmad", self->r.at.fmad);
	VALUE(traps + 2, "traps");
	IS("last", "BOUNDS");
	VALUE(*(volatile uint64_t *)(self->r.area + ARIES_DESC_STATUS), "word");
	FIND("contexts", "owner", self->r.at.owner);
	VALUE(ARIES_ST_BOUNDS << 16, "status");
	/* the drivers' own */
	FIND("descriptors", "fmad", 0);
	VALUE(0, "owner");
	VALUE(253, "ptag");
}

TEST_F(debugfs, queues)
{
	struct kgni_mem_register mem;
	struct sleeper s;
	struct raw_cq q;
	long long irqs;
	int i;

	ASSERT_EQ(0, raw_cq(&self->r, &q, 63, KGNI_CQ_BLOCKING));
	ASSERT_EQ(0, aries_register(self->r.fd, self->page, 8, 0, q.c.cq, &mem));
	FIND("queues", "cq", q.c.cq);
	VALUE(self->r.at.owner, "owner");
	VALUE(self->r.at.ptag, "ptag");
	VALUE(64, "slots");
	VALUE(KGNI_CQ_BLOCKING, "flags");
	VALUE(0, "produced");
	VALUE(0, "armed");
	VALUE(1, "registrations");
	VALUE(0, "waiters");
	irqs = view_value(self->line, "irqs");
	for (i = 0; i < 3; i++)
		raw_put(&self->r, q.c.cq, mem.mdh, self->page, "abcd", 4, ARIES_EV_GLOBAL);
	EXPECT_NE(0, raw_take(&q));
	FIND("queues", "cq", q.c.cq);
	VALUE(3, "produced");
	VALUE(1, "consumed");
	VALUE(0, "dropped");
	while (raw_take(&q))
		;
	ASSERT_EQ(0, sleeper_begin(&s, self->r.fd, q.c.cq));
	for (i = 0; i < 2000 && view_value(self->line, "armed") != 1; i++) {
		usleep(1000);
		view_find("queues", "cq", q.c.cq, self->line);
	}
	VALUE(1, "armed");
	VALUE(1, "waiters");
	raw_put(&self->r, q.c.cq, mem.mdh, self->page, "abcd", 4, ARIES_EV_GLOBAL);
	EXPECT_EQ(0, sleeper_end(&s));
	FIND("queues", "cq", q.c.cq);
	VALUE(0, "armed");
	VALUE(0, "waiters");
	VALUE(irqs + 1, "irqs");
	/* more than it holds: the last slot says so, the rest is lost */
	for (i = 0; i < 70; i++)
		raw_put(&self->r, q.c.cq, mem.mdh, self->page, "abcd", 4, ARIES_EV_GLOBAL);
	FIND("queues", "cq", q.c.cq);
	VALUE(3 + 64, "produced");
	VALUE(71 - 63, "dropped");
	/* what the process writes there is told, and does nothing else */
	q.header->consumed = 0x123456789abcdefull;
	FIND("queues", "cq", q.c.cq);
	VALUE(0x123456789abcdefll, "consumed");
	EXPECT_EQ(EBUSY, raw_cq_close(&self->r, &q));
}

TEST_F(debugfs, registrations)
{
	struct kgni_mem_register mem, reserved;
	struct kgni_mem_update update = { .argsz = sizeof(update),
					  .address = (uintptr_t)self->page,
					  .length = ARIES_PAGE };
	struct kgni_mem_deregister gone = { .argsz = sizeof(gone) };

	ASSERT_EQ(0, aries_register(self->r.fd, self->page + 5, ARIES_PAGE, KGNI_MEM_READ_ONLY,
				    KGNI_NO_CQ, &mem));
	FIND("registrations", "mdh", mem.mdh);
	VALUE(self->r.at.owner, "owner");
	VALUE(self->r.at.ptag, "ptag");
	VALUE((uintptr_t)self->page, "start");
	VALUE(2, "pages");
	VALUE(2, "pinned");
	VALUE(12, "shift");
	VALUE(-1, "cq");
	VALUE(1, "valid");
	EXPECT_TRUE(view_has(self->line, "read-only"));
	EXPECT_FALSE(view_has(self->line, "reserved"));
	gone.mdh = mem.mdh;
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_MEM_DEREGISTER, &gone));
	EXPECT_EQ(0, view_find("registrations", "mdh", mem.mdh, self->line));
	/* a reserved one is not in the NIC before its first page */
	ASSERT_EQ(0, aries_register(self->r.fd, self->page, 4 * ARIES_PAGE, KGNI_MEM_RESERVE,
				    KGNI_NO_CQ, &reserved));
	FIND("registrations", "mdh", reserved.mdh);
	VALUE(4, "pages");
	VALUE(0, "pinned");
	VALUE(0, "valid");
	EXPECT_TRUE(view_has(self->line, "reserved"));
	EXPECT_FALSE(view_has(self->line, "read-only"));
	update.mdh = reserved.mdh;
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_MEM_UPDATE, &update));
	FIND("registrations", "mdh", reserved.mdh);
	VALUE(1, "pinned");
	VALUE(1, "valid");
}

TEST_F(debugfs, blocks)
{
	struct kgni_mdd_block block = { .argsz = sizeof(block), .entries = 5 };
	struct kgni_mem_register mem = { .argsz = sizeof(mem), .flags = KGNI_MEM_VMDH,
					 .address = (uintptr_t)self->page, .length = 8,
					 .cq = KGNI_NO_CQ, .vmdh = 3 };
	long long base;

	EXPECT_EQ(0, view_find("blocks", "ptag", self->r.at.ptag, self->line));
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_MDD_BLOCK, &block));
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_MEM_REGISTER, &mem));
	FIND("blocks", "ptag", self->r.at.ptag);
	VALUE(5, "count");
	VALUE(1, "users");
	VALUE(1, "taken");
	VALUE(1, "valid");
	base = view_value(self->line, "base");
	FIND("registrations", "mdh", base + 3);
	VALUE(self->r.at.owner, "owner");
	EXPECT_TRUE(view_has(self->line, "virtual"));
}

TEST_F(debugfs, ntt_and_domains)
{
	const struct kgni_ntt_entry entries[2] = {
		{ .block = 0 }, { .block = 1, .replacement = 5, .size = 1 } };
	struct kgni_ntt ntt = { .argsz = sizeof(ntt), .count = 2, .granularity = 4,
				.entries = (uintptr_t)entries };
	struct kgni_job job = { .argsz = sizeof(job), .job_id = JOB, .cookie = aries_cookie(),
				.ptag = ARIES_ANY_PTAG, .limit_mdd = 10, .limit_cq = 11,
				.limit_fma = 12 };
	struct kgni_job_ntt tie = { .argsz = sizeof(tie), .cookie = job.cookie, .size = 1 };

	if (aries_ioctl(self->r.fd, KGNI_IOC_NTT, &ntt))
		SKIP(return, "the table is in use with another granularity");
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_JOB, &job));
	tie.base = ntt.base + 1;
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_JOB_NTT, &tie));
	FIND("ntt", "granularity", 4);
	EXPECT_LE(2, view_value(self->line, "used"));
	VALUE(ARIES_NTT_ENTRIES, "entries");
	FIND("ntt", "entry", ntt.base);
	VALUE(0, "node");
	VALUE(0, "size");
	VALUE(1, "valid");
	VALUE(0, "ptag");
	FIND("ntt", "entry", ntt.base + 1);
	VALUE(1, "node");
	VALUE(5, "replacement");
	VALUE(1, "size");
	VALUE(job.ptag, "ptag");
	VALUE(JOB, "job");
	FIND("domains", "ptag", job.ptag);
	VALUE(JOB, "job");
	VALUE(0, "attached");
	IS("mdd", "0/10");
	IS("cq", "0/11");
	IS("fma", "0/12");
	EXPECT_FALSE(view_has(self->line, "(implicit)"));
	FIND("domains", "ptag", self->r.at.ptag);
	VALUE(1, "attached");
	EXPECT_TRUE(view_has(self->line, "(implicit)"));
	job.flags = KGNI_JOB_DESTROY;
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_JOB, &job));
	EXPECT_EQ(0, view_find("domains", "ptag", job.ptag, self->line));
	FIND("ntt", "entry", ntt.base + 1);
	VALUE(0, "ptag");
	ntt.flags = KGNI_NTT_CLEAR;
	ntt.entries = 0;
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_NTT, &ntt));
	EXPECT_EQ(0, view_find("ntt", "entry", ntt.base, self->line));
}

TEST_F(debugfs, engines)
{
	struct kgni_ce_alloc alloc = { .argsz = sizeof(alloc) };
	const struct kgni_ce_child child[2] = {
		{ .pe = self->r.at.pe, .inst_id = 99, .kind = KGNI_CE_ENDPOINT },
		{ .pe = self->r.at.pe, .ce = 3, .kind = KGNI_CE_ENGINE },
	};
	struct kgni_ce_config config = { .argsz = sizeof(config), .count = 2,
					 .children = (uintptr_t)child, .cq = KGNI_NO_CQ,
					 .flags = KGNI_CE_PARENT, .parent_pe = self->r.at.pe,
					 .parent_ce = 2, .parent_index = 6 };
	struct kgni_ce_free gone = { .argsz = sizeof(gone) };
	char text[32];

	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_CE_ALLOC, &alloc));
	FIND("engines", "ce", alloc.ce);
	VALUE(self->r.at.owner, "owner");
	IS("state", "idle");
	IS("parent", "none");
	VALUE(0, "children");
	config.ce = alloc.ce;
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_CE_CONFIG, &config));
	FIND("engines", "ce", alloc.ce);
	VALUE(self->r.at.ptag, "ptag");
	VALUE(-1, "cq");
	VALUE(0, "arrived");
	VALUE(2, "children");
	snprintf(text, sizeof(text), "%u:2[6]", self->r.at.pe);
	IS("parent", text);
	snprintf(text, sizeof(text), "%u:99", self->r.at.pe);
	IS("endpoint", text);
	snprintf(text, sizeof(text), "%u:3", self->r.at.pe);
	IS("engine", text);
	gone.ce = alloc.ce;
	ASSERT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_CE_FREE, &gone));
	EXPECT_EQ(0, view_find("engines", "ce", alloc.ce, self->line));
}

TEST_F(debugfs, datagrams)
{
	struct kgni_dgram_test t;
	int a = dgram_attached(self->cookie, 21, NULL), b = dgram_attached(self->cookie, 22, NULL);

	ASSERT_LE(0, a);
	ASSERT_LE(0, b);
	ASSERT_EQ(0, dgram_directed(a, 0x55, self->r.at.pe, 22, "hello"));
	FIND("datagrams", "inst", 21);
	VALUE(0x55, "ep");
	VALUE(0x55 + 1000, "id");
	IS("state", "PENDING");
	VALUE(self->r.at.pe, "node");
	VALUE(22, "peer");
	VALUE(5, "in");
	VALUE(0, "out");
	EXPECT_TRUE(view_has(self->line, "directed"));
	ASSERT_EQ(0, dgram_wildcard(b, 0x66, "you too"));
	FIND("datagrams", "inst", 22);
	EXPECT_TRUE(view_has(self->line, "wildcard"));
	IS("state", "COMPLETED");
	VALUE(21, "peer");
	VALUE(7, "in");
	VALUE(5, "out");
	FIND("datagrams", "inst", 21);
	IS("state", "COMPLETED");
	VALUE(7, "out");
	EXPECT_EQ(0, dgram_test(a, 0x55, 0, &t));
	EXPECT_EQ(0, view_find("datagrams", "inst", 21, self->line));
	close(a);
	close(b);
	EXPECT_EQ(0, view_find("datagrams", "inst", 22, self->line));
}

TEST_F(debugfs, subscriptions)
{
	struct kgni_err_subscribe arg = { .argsz = sizeof(arg), .cookie = self->cookie,
					  .ptag = ARIES_ANY_PTAG, .mask = 0xff, .entries = 3 };
	struct kgni_mem_register mem;
	int fd = aries_open(), i;

	ASSERT_EQ(0, aries_register(self->r.fd, self->page, 8, 0, KGNI_NO_CQ, &mem));
	ASSERT_EQ(0, aries_ioctl(fd, KGNI_IOC_ERR_SUBSCRIBE, &arg));
	FIND("subscriptions", "ptag", self->r.at.ptag);
	VALUE(getpid(), "pid");
	VALUE(0xff, "mask");
	VALUE(3, "entries");
	VALUE(0, "queued");
	VALUE(0, "lost");
	IS("state", "active");
	/* two each: the target is this NIC, too */
	for (i = 0; i < 2; i++)
		raw_put(&self->r, 0, mem.mdh, self->page + ARIES_PAGE, "abcd", 4, 0);
	for (i = 0; i < 2000 && view_value(self->line, "matched") != 4; i++) {
		usleep(1000);
		view_find("subscriptions", "ptag", self->r.at.ptag, self->line);
	}
	VALUE(4, "matched");
	VALUE(3, "queued");
	VALUE(1, "lost");
	close(fd);
	EXPECT_EQ(0, view_find("subscriptions", "ptag", self->r.at.ptag, self->line));
}

TEST_F(debugfs, transfers)
{
	struct kgni_mem_register mem;
	long long puts, bytes;
	struct raw_cq q;
	int i;

	ASSERT_EQ(0, raw_cq(&self->r, &q, 64, 0));
	ASSERT_EQ(0, aries_register(self->r.fd, self->page, 4 * ARIES_PAGE, 0, KGNI_NO_CQ, &mem));
	for (i = 0; i < ARIES_BTE_CHANNELS; i++) {
		FIND("transfers", "channel", i);
		EXPECT_TRUE(view_has(self->line, "idle"));
	}
	EXPECT_EQ(0, view_find("transfers", "channel", i, self->line));
	FIND("transfers", "waiting", 0);
	puts = view_value(self->line, "puts");
	bytes = view_value(self->line, "bytes");
	ASSERT_EQ(0, raw_block(&self->r, q.c.cq, ARIES_BTE_PUT, mem.mdh, self->page,
			       self->page + 2 * ARIES_PAGE, 5000));
	ASSERT_NE(0, raw_poll(&q, 5000));
	FIND("transfers", "waiting", 0);
	VALUE(puts + 1, "puts");
	VALUE(bytes + 5000, "bytes");
	VALUE(aries_number("stats/bte_gets"), "gets");
	EXPECT_EQ(0, raw_cq_close(&self->r, &q));
}

TEST_F(debugfs, translation)
{
	static const char *const keys[] = { "hits", "misses", "evictions", "invalidations" };
	struct kgni_mem_register mem;
	long long hits, misses;
	char name[64];
	size_t i;

	ASSERT_EQ(0, aries_register(self->r.fd, self->page, 8, 0, KGNI_NO_CQ, &mem));
	FIND("translation", "lines", ARIES_PTE_CACHE_ENTRIES);
	VALUE(ARIES_PTE_CACHE_PTES, "ptes");
	hits = view_value(self->line, "hits");
	misses = view_value(self->line, "misses");
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, raw_put(&self->r, 0, mem.mdh, self->page, "abcd", 4, 0));
	}
	FIND("translation", "lines", ARIES_PTE_CACHE_ENTRIES);
	VALUE(misses + 1, "misses");
	VALUE(hits + 9, "hits");
	for (i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "stats/pte_cache_%s", keys[i]);
		VALUE(aries_number(name), keys[i]);
	}
	FIND("translation", "entries", ARIES_VMDH_ENTRIES);
	VALUE(aries_number("stats/vmdh_hits"), "hits");
}

static int count_entries(void)
{
	int count = 0;
	struct dirent *entry;
	DIR *dir = opendir(VIEW_DIR);

	while (dir && (entry = readdir(dir)))
		count += entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return count;
}

/* The directory above is root's already: so the files are looked at, too. */
TEST_F(debugfs, for_root_only)
{
	char path[512];
	struct dirent *entry;
	struct stat st;
	DIR *dir = opendir(VIEW_DIR);

	ASSERT_NE(NULL, dir);
	EXPECT_LE(16, count_entries());
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), VIEW_DIR "%s", entry->d_name);
		ASSERT_EQ(0, stat(path, &st));
		EXPECT_EQ(0400, st.st_mode & 07777) { TH_LOG("%s", path); }
		EXPECT_EQ(0, st.st_uid);
		ASSERT_EQ(0, setresuid(ARIES_NOBODY, ARIES_NOBODY, 0));
		EXPECT_EQ(-1, open(path, O_RDONLY));
		EXPECT_EQ(EACCES, errno);
		ASSERT_EQ(0, setresuid(0, 0, 0));
	}
	closedir(dir);
}

/* No cookie, and nothing that looks like an address of the kernel's. */
TEST_F(debugfs, no_secrets)
{
	struct kgni_mem_register mem;
	struct raw_cq q;
	char path[512], *text = malloc(1 << 20), cookie[16];
	struct dirent *entry;
	DIR *dir = opendir(VIEW_DIR);

	ASSERT_NE(NULL, dir);
	ASSERT_NE(NULL, text);
	ASSERT_EQ(0, raw_cq(&self->r, &q, 64, 0));
	ASSERT_EQ(0, aries_register(self->r.fd, self->page, 8, 0, q.c.cq, &mem));
	while ((entry = readdir(dir))) {
		FILE *f;
		size_t n;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), VIEW_DIR "%s", entry->d_name);
		f = fopen(path, "r");
		ASSERT_NE(NULL, f);
		n = fread(text, 1, (1 << 20) - 1, f);
		fclose(f);
		text[n] = '\0';
		EXPECT_EQ(NULL, strstr(text, "0xffff8"));
		EXPECT_EQ(NULL, strstr(text, "PTAG_KEY"));
		EXPECT_EQ(NULL, strstr(text, "CQ_BASE"));
		EXPECT_EQ(NULL, strstr(text, "MDD_TABLE"));
		snprintf(cookie, sizeof(cookie), "%x", self->cookie);
		EXPECT_EQ(NULL, strstr(text, cookie)) { TH_LOG("%s: %s", path, cookie); }
		snprintf(cookie, sizeof(cookie), "%u", self->cookie);
		EXPECT_EQ(NULL, strstr(text, cookie)) { TH_LOG("%s: %s", path, cookie); }
	}
	closedir(dir);
	free(text);
	munmap((void *)q.header, q.c.mmap_size);
}

struct reader {
	volatile int stop;
	long reads, failed;
};

static void *read_all(void *arg)
{
	struct reader *r = arg;
	char path[512], text[4096];
	struct dirent *entry;

	while (!r->stop) {
		DIR *dir = opendir(VIEW_DIR);

		while (dir && (entry = readdir(dir))) {
			int fd;

			if (entry->d_name[0] == '.' || !strcmp(entry->d_name, "registers"))
				continue;
			snprintf(path, sizeof(path), VIEW_DIR "%s", entry->d_name);
			fd = open(path, O_RDONLY);
			r->failed += fd < 0;
			while (fd >= 0 && read(fd, text, sizeof(text)) > 0)
				;
			if (fd >= 0)
				close(fd);
			r->reads++;
		}
		if (dir)
			closedir(dir);
	}
	return NULL;
}

static void come_and_go(uint32_t cookie, void *page)
{
	struct kgni_ce_alloc ce = { .argsz = sizeof(ce) };
	struct kgni_mdd_block block = { .argsz = sizeof(block), .entries = 3 };
	struct kgni_mem_register mem;
	struct kgni_cq_create cq;
	struct kgni_attach at = {};
	int fd = aries_attached(cookie, &at);

	if (fd < 0)
		return;
	aries_cq(fd, 64, KGNI_CQ_BLOCKING, &cq);
	aries_register(fd, page, 8, 0, cq.cq, &mem);
	aries_ioctl(fd, KGNI_IOC_CE_ALLOC, &ce);
	aries_ioctl(fd, KGNI_IOC_MDD_BLOCK, &block);
	dgram_wildcard(fd, 1, "x");
	dgram_directed(fd, 2, at.pe, 7, "y");
	close(fd);
}

TEST_F(debugfs, read_while_objects_come_and_go)
{
	struct reader r = {};
	pthread_t thread;
	int i, status;
	pid_t child;

	ASSERT_EQ(0, pthread_create(&thread, NULL, read_all, &r));
	for (i = 0; i < 10; i++) {
		int n;

		child = fork();
		if (!child) {
			for (n = 0; n < 10; n++)
				come_and_go(self->cookie, self->page);
			_exit(0);
		}
		for (n = 0; n < 10; n++)
			come_and_go(self->cookie, self->page);
		ASSERT_EQ(child, waitpid(child, &status, 0));
		EXPECT_EQ(0, status);
	}
	r.stop = 1;
	pthread_join(thread, NULL);
	EXPECT_LT(15, r.reads);
	EXPECT_EQ(0, r.failed);
}

TEST_HARNESS_MAIN
