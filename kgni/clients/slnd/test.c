// SPDX-License-Identifier: GPL-2.0-only
/*
 * slnd_test.ko, the message test: one node runs it, its peer answers. In debugfs:
 *
 *   echo test=put peer=0x1 bytes=1048576 count=100 threads=2 >slnd_test/run; cat slnd_test/result
 *   echo stop >slnd_test/run
 */
#include <linux/debugfs.h>
#include <linux/highmem.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "slnd.h"

#define ST_THREADS 16
#define ST_WINDOW 64
#define ST_TEXT 512
#define ST_TAG_CHECK BIT_ULL(31) /* of a transfer; bits 63:32: seed of the data, 11:0: offset */

enum st_kind { ST_PING = 1, ST_PONG, ST_COUNT, ST_ASK, ST_TOLD };

struct st_message { /* a pattern follows */
	u32 kind, thread;
	u64 seq, run;
};

struct st_memory {
	struct list_head node; /* in st_free */
	struct slnd_buffer buffer;
	struct st_slot *slot; /* NULL if it is a peer's transfer */
	u64 tag;
	bool put;
	struct page *pages[SLND_BULK_PAGES];
};

struct st_slot { /* an operation */
	struct st_memory *memory;
	u64 seq;
	u32 seed;
	bool used, busy;
	int status;
};

static struct st_thread {
	struct work_struct work;
	u32 number;
	bool over;
	struct st_slot slots[ST_WINDOW];
	u64 ok, failed, damaged;
} st_threads[ST_THREADS];

enum st_test { ST_LATENCY, ST_RATE, ST_PUT, ST_GET, ST_TESTS };
static const char *const st_tests[] = { "latency", "rate", "put", "get" };

static struct {
	const char *name;
	u32 least, most, usual, value;
} st_p[] = {
#define ST_P(n) st_p[n].value
	{ "peer", 0, U32_MAX, 0 },
	{ "bytes", 0, SLND_BULK_MAX, 0 },
	{ "count", 1, INT_MAX, 1000 },
	{ "threads", 1, ST_THREADS, 1 },
	{ "window", 1, ST_WINDOW, 8 },
	{ "offset", 0, PAGE_SIZE - 1, 0 },
	{ "far_offset", 0, PAGE_SIZE - 1, 0 },
	{ "check", 0, 1, 1 },
	{ "spoil", 0, 1, 0 },
	{ "wait", 1, 3600, 120 },
};

enum { P_PEER, P_BYTES, P_COUNT, P_THREADS, P_WINDOW, P_OFFSET, P_FAR, P_CHECK, P_SPOIL, P_WAIT };

static DEFINE_MUTEX(st_lock); /* one run at a time */
static DECLARE_WAIT_QUEUE_HEAD(st_wq);
static LIST_HEAD(st_free);
static DEFINE_SPINLOCK(st_free_lock);
static struct dentry *st_dir;
static char st_text[ST_TEXT];
static enum st_test st_test;
static u64 st_run, st_newest_run, st_came; /* the second is that of the peer */
static bool st_stop, st_told;
static atomic64_t st_received, st_damaged;

/* Generate data, or verify them: those from @position on. */
static bool st_data(u8 *at, u32 bytes, u32 seed, u32 position, bool fill)
{
	bool right = true;
	u32 i;

	for (i = 0; i < bytes; i++) {
		u8 byte = ((seed + position + i) * 0x9e3779b1u) >> 24;

		if (fill)
			at[i] = byte;
		right &= at[i] == byte;
	}
	return right;
}

static bool st_memory_data(struct st_memory *memory, u32 seed, bool fill)
{
	u32 position = 0, offset = memory->buffer.offset, bytes, i;
	bool right = true;

	for (i = 0; position < memory->buffer.bytes; i++, position += bytes, offset = 0) {
		u8 *at = kmap_local_page(memory->pages[i]);

		bytes = min_t(u32, memory->buffer.bytes - position, PAGE_SIZE - offset);
		right &= st_data(at + offset, bytes, seed, position, fill);
		kunmap_local(at);
	}
	return right;
}

static void st_memory_put(struct st_memory *memory)
{
	spin_lock(&st_free_lock);
	list_add(&memory->node, &st_free);
	spin_unlock(&st_free_lock);
}

static void st_done(void *arg, int status)
{
	struct st_slot *slot = arg;

	slot->status = status;
	smp_store_release(&slot->busy, false); /* pairs with st_wait() */
	wake_up_all(&st_wq);
}

static void st_moved(struct slnd_buffer *buffer, int status)
{
	struct st_memory *memory = container_of(buffer, struct st_memory, buffer);

	if (memory->slot) {
		st_done(memory->slot, status);
		return;
	}
	if (memory->put && !status && (memory->tag & ST_TAG_CHECK) &&
	    !st_memory_data(memory, memory->tag >> 32, false))
		atomic64_inc(&st_damaged);
	st_memory_put(memory);
}

static struct st_memory *st_memory_get(u32 bytes, u32 offset, struct st_slot *slot)
{
	u32 pages = DIV_ROUND_UP(offset + bytes, PAGE_SIZE), i;
	struct st_memory *memory;

	if (!bytes || pages > SLND_BULK_PAGES)
		return NULL;
	spin_lock(&st_free_lock);
	memory = list_first_entry_or_null(&st_free, struct st_memory, node);
	if (memory)
		list_del(&memory->node);
	spin_unlock(&st_free_lock);
	if (!memory)
		memory = kvzalloc(sizeof(*memory), GFP_KERNEL);
	if (!memory)
		return NULL;
	memory->slot = slot;
	memory->buffer.pages = memory->pages;
	memory->buffer.offset = offset;
	memory->buffer.bytes = bytes;
	memory->buffer.done = st_moved;
	for (i = 0; i < pages; i++) {
		if (!memory->pages[i])
			memory->pages[i] = alloc_page(GFP_KERNEL);
		if (!memory->pages[i]) {
			st_memory_put(memory);
			return NULL;
		}
	}
	return memory;
}

/* ---- the side that answers, and counts ---- */

static struct slnd_buffer *st_expose(bool put, u32 bytes, u64 tag)
{
	struct st_memory *memory = st_memory_get(bytes, tag & (PAGE_SIZE - 1), NULL);

	if (!memory)
		return ERR_PTR(-ENOMEM);
	memory->tag = tag;
	memory->put = put;
	if (!put && (tag & ST_TAG_CHECK))
		st_memory_data(memory, tag >> 32, true);
	return &memory->buffer;
}

static void st_message(u32 from, const void *data, u32 bytes)
{
	struct st_message m;
	struct st_slot *slot;

	memcpy(&m, data, min_t(u32, bytes, sizeof(m)));
	if (bytes < sizeof(m) || m.thread >= ST_THREADS) {
		atomic64_inc(&st_damaged);
	} else if (m.kind == ST_COUNT) {
		if (m.run != st_newest_run)
			atomic64_set(&st_received, 0);
		st_newest_run = m.run;
		atomic64_inc(&st_received);
		if (!st_data((u8 *)data + sizeof(m), bytes - sizeof(m), m.seq, 0, false))
			atomic64_inc(&st_damaged);
	} else if (m.kind == ST_PING || m.kind == ST_ASK) {
		if (m.kind == ST_ASK)
			m.seq = m.run == st_newest_run ? atomic64_read(&st_received) : 0;
		m.kind++;
		/* without memory there is no answer, and the other side will report that */
		slnd_send(from, &m, sizeof(m), NULL, NULL);
	} else if (m.kind == ST_TOLD && m.run == READ_ONCE(st_run)) {
		st_came = m.seq;
		smp_store_release(&st_told, true); /* pairs with st_report() */
		wake_up_all(&st_wq);
	} else if (m.kind == ST_PONG && m.run == READ_ONCE(st_run)) {
		slot = &st_threads[m.thread].slots[0];
		if (READ_ONCE(slot->seq) == m.seq)
			st_done(slot, 0);
	}
}

/* ---- the side that runs a test ---- */

static int st_start(struct st_thread *t, struct st_slot *slot, u64 n, struct st_message *m)
{
	u32 bytes = ST_P(P_BYTES), check = ST_P(P_CHECK), seed = st_run + t->number * 0x1000193 + n;
	u64 tag = (u64)seed << 32 | (check ? ST_TAG_CHECK : 0) | ST_P(P_FAR);

	slot->used = true;
	slot->busy = true;
	WRITE_ONCE(slot->seq, n);
	slot->seed = seed + ST_P(P_SPOIL);
	if (st_test <= ST_RATE) {
		*m = (struct st_message){ .thread = t->number, .seq = n, .run = st_run };
		m->kind = st_test == ST_RATE ? ST_COUNT : ST_PING;
		if (check)
			st_data((u8 *)(m + 1), bytes - sizeof(*m), n + ST_P(P_SPOIL), 0, true);
		return slnd_send(ST_P(P_PEER), m, bytes, st_test == ST_RATE ? st_done : NULL, slot);
	}
	slot->memory = st_memory_get(bytes, ST_P(P_OFFSET), slot);
	if (!slot->memory)
		return -ENOMEM;
	if (check && st_test == ST_PUT)
		st_memory_data(slot->memory, slot->seed, true);
	return slnd_transfer(ST_P(P_PEER), st_test == ST_PUT, tag, &slot->memory->buffer);
}

/* Wait for an operation, and count it. Return: false if it goes on. That of slnd always ends. */
static bool st_wait(struct st_thread *t, struct st_slot *slot)
{
	bool ping = st_test == ST_LATENCY;

	/* pairs with st_done() */
	wait_event_idle_timeout(st_wq, !smp_load_acquire(&slot->busy) ||
				(ping && READ_ONCE(st_stop)), ST_P(P_WAIT) * HZ);
	if (READ_ONCE(slot->busy) && !ping)
		return false;
	if (slot->used && (slot->status || READ_ONCE(slot->busy)))
		t->failed++;
	else if (slot->used && st_test == ST_GET && ST_P(P_CHECK) &&
		 !st_memory_data(slot->memory, slot->seed, false))
		t->damaged++;
	else if (slot->used)
		t->ok++;
	if (slot->memory)
		st_memory_put(slot->memory);
	slot->memory = NULL;
	slot->used = false;
	slot->busy = false;
	return true;
}

static void st_work(struct work_struct *work)
{
	struct st_thread *t = container_of(work, struct st_thread, work);
	u32 window = st_test == ST_LATENCY ? 1 : ST_P(P_WINDOW), i;
	void *text = kmalloc(SLND_MESSAGE_MAX, GFP_KERNEL);
	u64 n;

	for (n = 0; text && n < ST_P(P_COUNT) && !READ_ONCE(st_stop); n++) {
		struct st_slot *slot = &t->slots[n % window];
		int rc;

		if (!st_wait(t, slot))
			break;
		rc = st_start(t, slot, n, text);
		if (rc)
			st_done(slot, rc);
	}
	for (i = 0; i < window; i++)
		while (!st_wait(t, &t->slots[i]))
			;
	kfree(text);
	smp_store_release(&t->over, true); /* pairs with st_run() */
	wake_up_all(&st_wq);
}

static void st_report(u64 ns)
{
	struct st_message ask = { ST_ASK, 0, 0, st_run };
	u64 ok = 0, failed = 0, damaged = 0, bytes = ST_P(P_BYTES);
	u32 i;

	/* all messages of the run were sent before this one */
	if (st_test == ST_RATE && !slnd_send(ST_P(P_PEER), &ask, sizeof(ask), NULL, NULL))
		/* pairs with st_message() */
		wait_event_idle_timeout(st_wq, smp_load_acquire(&st_told), ST_P(P_WAIT) * HZ);
	for (i = 0; i < ST_P(P_THREADS); i++) {
		ok += st_threads[i].ok;
		failed += st_threads[i].failed;
		damaged += st_threads[i].damaged;
	}
	i = snprintf(st_text, ST_TEXT, "test=%s bytes=%llu count=%u threads=%u ",
		     st_tests[st_test], bytes, ST_P(P_COUNT), ST_P(P_THREADS));
	i += snprintf(st_text + i, ST_TEXT - i, "ok=%llu failed=%llu damaged=%llu came=%llu ",
		      ok, failed, damaged, st_told ? st_came : 0);
	snprintf(st_text + i, ST_TEXT - i, "ns=%llu per_second=%llu mib_per_second=%llu\n", ns,
		 div64_u64(ok * NSEC_PER_SEC, ns),
		 div64_u64(ok * bytes * 1000, ns) * 1000000 >> 20);
}

/* A parameter of a test, like "bytes=100". Return: whether it is one. */
static bool st_parameter(char *word)
{
	char *value = strchr(word, '=');
	u32 i;

	if (!value)
		return false;
	*value++ = '\0';
	if (!strcmp(word, "test"))
		return (int)(st_test = match_string(st_tests, ST_TESTS, value)) >= 0;
	for (i = 0; i < ARRAY_SIZE(st_p); i++)
		if (!strcmp(word, st_p[i].name))
			return !kstrtou32(value, 0, &st_p[i].value) &&
			       st_p[i].value >= st_p[i].least && st_p[i].value <= st_p[i].most;
	return false;
}

/* Return: what is wrong with a line of parameters, or NULL. */
static const char *st_parse(char *text)
{
	char *word;
	u32 i;

	st_test = ST_TESTS;
	for (i = 0; i < ARRAY_SIZE(st_p); i++)
		st_p[i].value = st_p[i].usual;
	while ((word = strsep(&text, "\n ")))
		if (*word && !st_parameter(word))
			return word;
	if (st_test <= ST_RATE)
		ST_P(P_BYTES) = clamp_t(u32, ST_P(P_BYTES), sizeof(struct st_message),
					SLND_MESSAGE_MAX);
	if (!ST_P(P_BYTES) || ST_P(P_BYTES) + max(ST_P(P_OFFSET), ST_P(P_FAR)) > SLND_BULK_MAX)
		return "bytes";
	return st_test == ST_TESTS ? "test" : NULL;
}

static int st_run_text(char *text)
{
	const char *wrong = st_parse(text);
	u64 begin;
	u32 i;

	if (wrong) {
		snprintf(st_text, ST_TEXT, "not ok: %s\n", wrong);
		return -EINVAL;
	}
	memset(st_threads, 0, sizeof(st_threads));
	st_told = false;
	st_stop = false;
	WRITE_ONCE(st_run, get_random_u64());
	begin = ktime_get_ns();
	for (i = 0; i < ST_P(P_THREADS); i++) {
		st_threads[i].number = i;
		INIT_WORK(&st_threads[i].work, st_work);
		queue_work(system_unbound_wq, &st_threads[i].work);
	}
	/* A run takes as long as it is told to: to flush it at once would look like a hang. */
	while (i--) {
		/* pairs with st_work() */
		wait_event_idle(st_wq, smp_load_acquire(&st_threads[i].over));
		flush_work(&st_threads[i].work);
	}
	st_report(ktime_get_ns() - begin);
	return 0;
}

static ssize_t run_write(struct file *file, const char __user *data, size_t bytes, loff_t *at)
{
	char *text = memdup_user_nul(data, min_t(size_t, bytes, ST_TEXT));
	int rc = 0;

	if (IS_ERR(text))
		return PTR_ERR(text);
	if (!strncmp(text, "stop", 4)) {
		WRITE_ONCE(st_stop, true);
		wake_up_all(&st_wq);
	} else {
		rc = mutex_lock_interruptible(&st_lock);
		if (!rc) {
			rc = st_run_text(text);
			mutex_unlock(&st_lock);
		}
	}
	kfree(text);
	return rc ? rc : bytes;
}

static const struct file_operations run_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = run_write,
	.llseek = noop_llseek,
};

static int result_show(struct seq_file *m, void *unused)
{
	seq_puts(m, st_text);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(result);

static int peer_show(struct seq_file *m, void *unused)
{
	seq_printf(m, "received %llu\ndamaged %llu\naddress %#x\n",
		   (u64)atomic64_read(&st_received), (u64)atomic64_read(&st_damaged),
		   slnd_address());
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(peer);

static const struct slnd_user st_user = { .message = st_message, .expose = st_expose };

static int __init st_init(void)
{
	int rc = slnd_register(&st_user);

	if (rc)
		return rc;
	st_dir = debugfs_create_dir("slnd_test", NULL);
	debugfs_create_file("run", 0200, st_dir, NULL, &run_fops);
	debugfs_create_file("result", 0400, st_dir, NULL, &result_fops);
	debugfs_create_file("peer", 0400, st_dir, NULL, &peer_fops);
	return 0;
}
module_init(st_init);

static void __exit st_exit(void)
{
	struct st_memory *memory, *next;
	u32 i;

	debugfs_remove_recursive(st_dir);
	slnd_unregister();
	list_for_each_entry_safe(memory, next, &st_free, node) {
		slnd_unmap(&memory->buffer);
		for (i = 0; i < SLND_BULK_PAGES && memory->pages[i]; i++)
			__free_page(memory->pages[i]);
		kvfree(memory);
	}
}
module_exit(st_exit);

MODULE_DESCRIPTION("Message test on top of the sample LND");
MODULE_LICENSE("GPL");
