// SPDX-License-Identifier: GPL-2.0-only
/*
 * A client of aries.ko that tests what the kernel is offered (aries_kapi.h). Each file in debugfs,
 * aries_kapi_test/, is a test that runs when it is read and says "ok" or what was wrong; "traffic"
 * is one that goes on from a 1 to a 0 that is written there. selftests/aries/kapi.c reads them.
 */
#include <linux/auxiliary_bus.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/timer.h>
#include <linux/vmalloc.h>

#include "aries_compat.h"
#include "aries_kapi.h"

#define KT_COOKIE 0x6b74e570u
#define KT_BYTES (16 * PAGE_SIZE)
#define KT_BLOCK 40000u
#define KT_WAIT (60 * HZ) /* far more than anything here takes */
#define KT_EVENT_LOCAL 0x00115500u
#define KT_EVENT_REMOTE 0x00225500u

/**
 * struct kt_side - an owner with one of everything
 * @own: owner
 * @port: its descriptor
 * @source: queue of what it starts, polled
 * @target: queue of remote events; its handler polls
 * @region: @mem registered
 * @info: of it
 * @mem: KT_BYTES
 * @came: entries that the handler has found
 * @last: the last one
 */
struct kt_side {
	struct aries_owner *own;
	struct aries_port *port;
	struct aries_cq *source;
	struct aries_cq *target;
	struct aries_region *region;
	struct aries_region_info info;
	u8 *mem;
	atomic_t came;
	u64 last;
};

static struct aries_dev *kt_dev;
static struct aries_info kt_info;
static DEFINE_MUTEX(kt_lock); /* one test at a time */
static struct dentry *kt_dir;

#define KT_FAIL(m, ...)                                    \
	({                                                 \
		seq_printf(m, "not ok: " __VA_ARGS__);     \
		seq_printf(m, " (line %d)\n", __LINE__);   \
		-EIO;                                      \
	})

static void kt_handler(void *data)
{
	struct kt_side *s = data;
	u64 entry;

	while (!aries_queue_poll(READ_ONCE(s->target), &entry)) {
		WRITE_ONCE(s->last, entry);
		atomic_inc(&s->came);
	}
}

/* Also of a side that was not made as a whole. Returns 0 or what a call has returned. */
static int kt_close(struct kt_side *s)
{
	int rc = 0;

	if (!IS_ERR_OR_NULL(s->port))
		aries_port_destroy(s->port);
	if (!IS_ERR_OR_NULL(s->region))
		rc = aries_region_deregister(s->region, 0);
	if (!IS_ERR_OR_NULL(s->target))
		rc = rc ?: aries_queue_destroy(s->target);
	if (!IS_ERR_OR_NULL(s->source))
		rc = rc ?: aries_queue_destroy(s->source);
	if (!IS_ERR_OR_NULL(s->own))
		aries_owner_destroy(s->own);
	kfree(s->mem);
	memset(s, 0, sizeof(*s));
	return rc;
}

static int kt_make(struct kt_side *s, u32 cookie, u32 inst)
{
	const struct aries_owner_args own = {
		.name = "kapi-test", .ptag = 255, .cookie = cookie, .inst_id = inst,
	};
	const struct aries_queue_args source = { .entries = 200 };
	const struct aries_queue_args target = { .entries = 200, .handler = kt_handler, .data = s };
	struct aries_segment segment;
	const struct aries_region_args region = { .segments = &segment, .count = 1 };
	struct aries_region_args with_queue = region;

	s->mem = kzalloc(KT_BYTES, GFP_KERNEL);
	if (!s->mem)
		return -ENOMEM;
	s->own = aries_owner_create(kt_dev, &own);
	if (IS_ERR(s->own))
		return PTR_ERR(s->own);
	s->port = aries_port_create(s->own);
	if (IS_ERR(s->port))
		return PTR_ERR(s->port);
	s->source = aries_queue_create(s->own, &source);
	if (IS_ERR(s->source))
		return PTR_ERR(s->source);
	s->target = aries_queue_create(s->own, &target);
	if (IS_ERR(s->target))
		return PTR_ERR(s->target);
	segment = (struct aries_segment){ (uintptr_t)s->mem, KT_BYTES };
	with_queue.cq = s->target;
	s->region = aries_region_register(s->own, &with_queue, &s->info);
	return PTR_ERR_OR_ZERO(s->region);
}

static int kt_open(struct kt_side *s, u32 cookie, u32 inst)
{
	int rc = kt_make(s, cookie, inst);

	if (rc)
		kt_close(s);
	return rc;
}

/* A put of 8 bytes from one side to another, with all events. Any context. */
static int kt_put8(struct kt_side *from, struct kt_side *to, u64 at, u64 value)
{
	const struct aries_fma fma = {
		.desc = { .pe = kt_info.pe,
			  .mdh = to->info.mdh,
			  .offset = to->info.base + at,
			  .cq = aries_queue_nr(from->source),
			  .local_event = KT_EVENT_LOCAL,
			  .remote_event = KT_EVENT_REMOTE },
		.line = &value,
		.length = sizeof(value),
		.op = ARIES_FMA_PUT_LINE,
		.mode = ARIES_EV_GLOBAL | ARIES_EV_REMOTE,
	};

	return aries_port_fma(from->port, &fma);
}

static int kt_block(struct kt_side *from, struct kt_side *to, u32 bytes)
{
	const struct aries_bte_desc desc = {
		.pe = kt_info.pe,
		.mdh = to->info.mdh,
		.local_mdh = from->info.mdh,
		.offset = to->info.base,
		.local_offset = from->info.base,
		.length = bytes,
		.cq = aries_queue_nr(from->source),
		.local_event = KT_EVENT_LOCAL,
		.remote_event = KT_EVENT_REMOTE,
		.op = ARIES_BTE_PUT,
		.mode = ARIES_EV_GLOBAL | ARIES_EV_REMOTE,
	};

	return aries_port_bte(from->port, &desc);
}

/* The entry that says that a put is over. Return: 0 or what was wrong. */
static int kt_done(u64 entry, unsigned int source)
{
	if ((entry & ARIES_CQE_DATA_MASK) != KT_EVENT_LOCAL)
		return -EBADMSG;
	if ((entry & ARIES_CQE_SOURCE_MASK) >> ARIES_CQE_SOURCE_SHIFT != source)
		return -EPROTO;
	return entry & ARIES_CQE_STATUS_MASK ? -EREMOTEIO : 0;
}

/* What one context does: a put and its event, at once; a block that somebody else waits for. */
static int kt_once(struct kt_side *from, struct kt_side *to, u64 value)
{
	u64 entry;
	int rc = kt_put8(from, to, KT_BYTES - sizeof(value), value);

	if (!rc)
		rc = aries_queue_poll(from->source, &entry);
	if (!rc)
		rc = kt_done(entry, ARIES_SRC_FMA);
	return rc ?: kt_block(from, to, KT_BLOCK);
}

/* Sleeps until the remote events of both have come to the handler, and looks at the rest. */
static int kt_finish(struct seq_file *m, struct kt_side *from, struct kt_side *to, u64 value)
{
	unsigned long end = jiffies + KT_WAIT;
	u64 entry, there;
	int rc;

	while (atomic_read(&to->came) < 2 && time_before(jiffies, end))
		msleep(1);
	if (atomic_read(&to->came) != 2)
		return KT_FAIL(m, "%d remote events came to the handler", atomic_read(&to->came));
	if ((READ_ONCE(to->last) & ARIES_CQE_DATA_MASK) != KT_EVENT_REMOTE)
		return KT_FAIL(m, "remote event %#llx", to->last);
	while ((rc = aries_queue_poll(from->source, &entry)) == -EAGAIN && time_before(jiffies, end))
		msleep(1);
	rc = rc ?: kt_done(entry, ARIES_SRC_BTE);
	if (rc)
		return KT_FAIL(m, "event of the block: %d", rc);
	memcpy(&there, to->mem + KT_BYTES - sizeof(there), sizeof(there));
	if (there != value)
		return KT_FAIL(m, "%#llx arrived, %#llx was put", there, value);
	if (memcmp(from->mem, to->mem, KT_BLOCK) || to->mem[KT_BLOCK])
		return KT_FAIL(m, "bytes of the block differ");
	return 0;
}

/* ---- contexts ---- */

/**
 * struct kt_call - something to do in another context
 * @from: side that puts
 * @to: side that gets it
 * @value: what
 * @rc: what came of it
 * @in: whether it was the right context
 * @done: it is over
 * @timer: runs it as softirq
 * @work: runs it as interrupt
 */
struct kt_call {
	struct kt_side *from;
	struct kt_side *to;
	u64 value;
	int rc;
	bool in;
	struct completion done;
	struct timer_list timer;
	struct irq_work work;
};

static void kt_process(struct kt_call *c)
{
	c->in = !in_interrupt() && !irqs_disabled();
	c->rc = kt_once(c->from, c->to, c->value);
	complete(&c->done);
}

static void kt_spinlock(struct kt_call *c)
{
	static DEFINE_SPINLOCK(lock);
	unsigned long flags;

	spin_lock_irqsave(&lock, flags);
	c->in = irqs_disabled();
	c->rc = kt_once(c->from, c->to, c->value);
	spin_unlock_irqrestore(&lock, flags);
	complete(&c->done);
}

static void kt_timer(struct timer_list *t)
{
	struct kt_call *c = container_of(t, struct kt_call, timer);

	c->in = in_serving_softirq();
	c->rc = kt_once(c->from, c->to, c->value);
	complete(&c->done);
}

static void kt_softirq(struct kt_call *c)
{
	timer_setup(&c->timer, kt_timer, 0);
	mod_timer(&c->timer, jiffies);
}

static void kt_irq_work(struct irq_work *work)
{
	struct kt_call *c = container_of(work, struct kt_call, work);

	c->in = in_hardirq();
	c->rc = kt_once(c->from, c->to, c->value);
	complete(&c->done);
}

static void kt_hardirq(struct kt_call *c)
{
	c->work = IRQ_WORK_INIT_HARD(kt_irq_work);
	irq_work_queue(&c->work);
}

static int kt_context(struct seq_file *m, struct kt_side *a, struct kt_side *b,
		      void (*start)(struct kt_call *c))
{
	struct kt_call *c = kzalloc(sizeof(*c), GFP_KERNEL);
	int rc, i;

	if (!c)
		return -ENOMEM;
	for (i = 0; i < KT_BLOCK; i++)
		a->mem[i] = i * 7 + 1;
	c->from = a;
	c->to = b;
	c->value = 0x0123456789abcdefull;
	init_completion(&c->done);
	start(c);
	wait_for_completion(&c->done);
	irq_work_sync(&c->work);
	if (!c->in)
		rc = KT_FAIL(m, "not the context that was meant");
	else if (c->rc)
		rc = KT_FAIL(m, "put, poll or block: %d", c->rc);
	else
		rc = kt_finish(m, a, b, c->value);
	kfree(c);
	return rc;
}

/* Two owners of one domain, one of which puts to the other in some context. */
static int kt_in(struct seq_file *m, void (*start)(struct kt_call *c))
{
	struct kt_side *s = kcalloc(2, sizeof(*s), GFP_KERNEL);
	int rc, end;

	if (!s)
		return -ENOMEM;
	rc = kt_open(&s[0], KT_COOKIE, 1) ?: kt_open(&s[1], KT_COOKIE, 2);
	if (rc)
		KT_FAIL(m, "open: %d", rc);
	else
		rc = kt_context(m, &s[0], &s[1], start);
	end = kt_close(&s[0]) ?: kt_close(&s[1]);
	if (!rc && end)
		rc = KT_FAIL(m, "close: %d", end);
	kfree(s);
	return rc;
}

static int kt_test_process(struct seq_file *m)
{
	return kt_in(m, kt_process);
}

static int kt_test_spinlock(struct seq_file *m)
{
	return kt_in(m, kt_spinlock);
}

static int kt_test_softirq(struct seq_file *m)
{
	return kt_in(m, kt_softirq);
}

static int kt_test_hardirq(struct seq_file *m)
{
	return kt_in(m, kt_hardirq);
}

/* ---- memory ---- */

/* Gets 8 bytes from where @info says into the side's own memory. */
static int kt_get8(struct kt_side *s, const struct aries_region_info *info, u64 at)
{
	const struct aries_fma fma = {
		.desc = { .pe = kt_info.pe,
			  .mdh = info->mdh,
			  .offset = info->base + at,
			  .local_mdh = s->info.mdh,
			  .local_offset = s->info.base },
		.length = 8,
		.op = ARIES_FMA_GET_OP,
	};

	return aries_port_fma(s->port, &fma);
}

static int kt_read_back(struct seq_file *m, struct kt_side *s,
			const struct aries_region_args *args, void *at_16k)
{
	struct aries_region_info info;
	struct aries_region *region = aries_region_register(s->own, args, &info);
	u64 got, want = 0x5eed000000000000ull | (uintptr_t)at_16k;
	int rc;

	if (IS_ERR(region))
		return KT_FAIL(m, "register: %ld", PTR_ERR(region));
	memcpy(at_16k, &want, sizeof(want));
	rc = kt_get8(s, &info, 16384);
	memcpy(&got, s->mem, sizeof(got));
	if (rc || got != want)
		rc = KT_FAIL(m, "get: %d, %#llx for %#llx", rc, got, want);
	if (!rc && info.bytes != 5 * PAGE_SIZE)
		rc = KT_FAIL(m, "%llu bytes", info.bytes);
	if (aries_region_deregister(region, 0))
		rc = KT_FAIL(m, "deregister");
	if (!rc && kt_get8(s, &info, 16384) != ARIES_ST_MDD)
		rc = KT_FAIL(m, "it can be reached afterwards");
	return rc;
}

/* 20 KiB from vmalloc, then the same pages by their physical addresses. */
static int kt_memory(struct seq_file *m, struct kt_side *s)
{
	struct aries_segment segments[5];
	struct aries_region_args args = { .segments = segments, .count = 1 };
	u8 *mem = vzalloc(5 * PAGE_SIZE);
	int rc, i;

	if (!mem)
		return -ENOMEM;
	segments[0] = (struct aries_segment){ (uintptr_t)mem, 5 * PAGE_SIZE };
	rc = kt_read_back(m, s, &args, mem + 16384);
	for (i = 0; i < 5; i++)
		segments[i] = (struct aries_segment){
			page_to_phys(vmalloc_to_page(mem + i * PAGE_SIZE)), PAGE_SIZE
		};
	args.count = 5;
	args.physical = true;
	if (!rc)
		rc = kt_read_back(m, s, &args, mem + 16384);
	segments[0].address = 1ull << 51;
	if (!rc && aries_region_register(s->own, &args, &s->info) != ERR_PTR(-EFAULT))
		rc = KT_FAIL(m, "memory that there is not");
	vfree(mem);
	return rc;
}

static int kt_hold(struct seq_file *m, struct kt_side *s)
{
	struct aries_segment segment = { (uintptr_t)s->mem, PAGE_SIZE };
	const struct aries_region_args args = { .segments = &segment, .count = 1 };
	struct aries_region_info info;
	struct aries_region *region = aries_region_register(s->own, &args, &info);
	unsigned long end = jiffies + KT_WAIT;

	if (IS_ERR(region))
		return KT_FAIL(m, "register: %ld", PTR_ERR(region));
	if (aries_region_release(s->own, info.mdh) != -ENOENT)
		return KT_FAIL(m, "released while it is registered");
	if (aries_region_deregister(region, 3600 * 1000))
		return KT_FAIL(m, "deregister");
	if (kt_get8(s, &info, 0) != ARIES_ST_MDD)
		return KT_FAIL(m, "one that is held can be reached");
	if (aries_region_release(s->own, info.mdh))
		return KT_FAIL(m, "not held");
	if (aries_region_release(s->own, info.mdh) != -ENOENT)
		return KT_FAIL(m, "released twice");
	region = aries_region_register(s->own, &args, &info);
	if (IS_ERR(region) || aries_region_deregister(region, 1))
		return KT_FAIL(m, "once more");
	msleep(20);
	/* the timer has come, or comes now; who is faster does not matter in the end */
	while (aries_region_release(s->own, info.mdh) != -ENOENT && time_before(jiffies, end))
		msleep(1);
	/* one that is held when the owner ends */
	region = aries_region_register(s->own, &args, &info);
	if (IS_ERR(region) || aries_region_deregister(region, 3600 * 1000))
		return KT_FAIL(m, "held at the end");
	return 0;
}

static int kt_alone(struct seq_file *m, int (*test)(struct seq_file *m, struct kt_side *s))
{
	struct kt_side *s = kzalloc(sizeof(*s), GFP_KERNEL);
	int rc, end;

	if (!s)
		return -ENOMEM;
	rc = kt_open(s, KT_COOKIE, 1);
	if (rc)
		KT_FAIL(m, "open: %d", rc);
	else
		rc = test(m, s);
	end = kt_close(s);
	if (!rc && end)
		rc = KT_FAIL(m, "close: %d", end);
	kfree(s);
	return rc;
}

static int kt_test_memory(struct seq_file *m)
{
	return kt_alone(m, kt_memory);
}

static int kt_test_hold(struct seq_file *m)
{
	return kt_alone(m, kt_hold);
}

/* ---- rights, order, errors ---- */

static int kt_errors(struct seq_file *m, struct kt_side *s)
{
	const struct aries_queue_args none = {};
	const struct aries_queue_args large = { .entries = 1u << 19 };
	struct aries_segment segment = { (uintptr_t)s->mem, 0 };
	const struct aries_region_args empty = { .segments = &segment, .count = 1 };
	struct aries_region_info info;
	u64 entry;

	if (aries_queue_create(s->own, &none) != ERR_PTR(-EINVAL))
		return KT_FAIL(m, "a queue of nothing");
	if (aries_queue_create(s->own, &large) != ERR_PTR(-EFBIG))
		return KT_FAIL(m, "a queue of too much");
	if (aries_region_register(s->own, &empty, &info) != ERR_PTR(-EINVAL))
		return KT_FAIL(m, "a region of nothing");
	if (aries_queue_poll(s->source, &entry) != -EAGAIN)
		return KT_FAIL(m, "an entry from nowhere");
	if (aries_queue_destroy(s->target) != -EBUSY)
		return KT_FAIL(m, "a queue that a region names");
	if (kt_put8(s, s, KT_BYTES, 1) != ARIES_ST_BOUNDS)
		return KT_FAIL(m, "a put beside the region");
	if (aries_queue_poll(s->source, &entry) || kt_done(entry, ARIES_SRC_FMA) != -EREMOTEIO)
		return KT_FAIL(m, "no event of a put that failed");
	return 0;
}

static int kt_test_errors(struct seq_file *m)
{
	return kt_alone(m, kt_errors);
}

/* An owner that ends takes everything along; its objects still answer, and can be given back. */
static int kt_end_first(struct seq_file *m, struct kt_side *s)
{
	u64 entry;

	aries_owner_destroy(s->own);
	s->own = NULL;
	if (kt_put8(s, s, 0, 1) != -EIO || kt_block(s, s, 8) != -EIO)
		return KT_FAIL(m, "a port without owner");
	if (aries_queue_poll(s->source, &entry) != -EIO)
		return KT_FAIL(m, "a queue without owner");
	return 0;
}

static int kt_test_order(struct seq_file *m)
{
	return kt_alone(m, kt_end_first);
}

/* Two domains: neither reaches the memory of the other. */
static int kt_test_domains(struct seq_file *m)
{
	struct kt_side *s = kcalloc(2, sizeof(*s), GFP_KERNEL);
	u8 clean[16] = {};
	int rc;

	if (!s)
		return -ENOMEM;
	rc = kt_open(&s[0], KT_COOKIE, 1) ?: kt_open(&s[1], KT_COOKIE + 1, 1);
	if (rc)
		KT_FAIL(m, "open: %d", rc);
	else if (aries_owner_ptag(s[0].own) == aries_owner_ptag(s[1].own))
		rc = KT_FAIL(m, "one tag for two domains");
	else if (kt_put8(&s[0], &s[1], 0, ~0ull) != ARIES_ST_PTAG)
		rc = KT_FAIL(m, "a put into another domain");
	else if (memcmp(s[1].mem, clean, sizeof(clean)))
		rc = KT_FAIL(m, "bytes in another domain");
	kt_close(&s[0]);
	kt_close(&s[1]);
	kfree(s);
	return rc;
}

/* ---- traffic that goes on while somebody resets the NIC ---- */

static struct kt_side kt_busy;
static struct timer_list kt_busy_timer;
static bool kt_busy_on;
static unsigned long kt_busy_puts, kt_busy_refused, kt_busy_wrong;

static void kt_busy_tick(struct timer_list *t)
{
	unsigned int i;
	u64 entry;

	for (i = 0; i < 32; i++) {
		int rc = kt_put8(&kt_busy, &kt_busy, 8 * i, i);

		if (!rc)
			rc = kt_block(&kt_busy, &kt_busy, 4096);
		if (rc == -EIO || rc == -ENODEV)
			kt_busy_refused++;
		else if (rc && rc != ARIES_ST_QUEUE_FULL && rc != ARIES_ST_DISABLED)
			kt_busy_wrong++;
		else
			kt_busy_puts++;
		while (!aries_queue_poll(kt_busy.source, &entry))
			;
	}
	if (READ_ONCE(kt_busy_on))
		mod_timer(&kt_busy_timer, jiffies);
}

static void kt_busy_stop(void)
{
	if (!kt_busy_on)
		return;
	WRITE_ONCE(kt_busy_on, false);
	del_timer_sync(&kt_busy_timer);
	kt_close(&kt_busy);
}

static int kt_busy_set(void *data, u64 on)
{
	int rc = 0;

	mutex_lock(&kt_lock);
	kt_busy_stop();
	if (on) {
		rc = kt_dev ? kt_open(&kt_busy, KT_COOKIE, 3) : -ENODEV;
		if (!rc) {
			kt_busy_puts = 0;
			kt_busy_refused = 0;
			kt_busy_wrong = 0;
			kt_busy_on = true;
			mod_timer(&kt_busy_timer, jiffies);
		}
	}
	mutex_unlock(&kt_lock);
	return rc;
}

DEFINE_DEBUGFS_ATTRIBUTE(kt_busy_fops, NULL, kt_busy_set, "%llu\n");

static int kt_counts_show(struct seq_file *m, void *unused)
{
	seq_printf(m, "puts %lu refused %lu wrong %lu\n", READ_ONCE(kt_busy_puts),
		   READ_ONCE(kt_busy_refused), READ_ONCE(kt_busy_wrong));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(kt_counts);

/* ---- files ---- */

static const struct kt_file {
	const char *name;
	int (*run)(struct seq_file *m);
} kt_files[] = {
	{ "process", kt_test_process },
	{ "spinlock", kt_test_spinlock },
	{ "softirq", kt_test_softirq },
	{ "hardirq", kt_test_hardirq },
	{ "memory", kt_test_memory },
	{ "hold", kt_test_hold },
	{ "errors", kt_test_errors },
	{ "order", kt_test_order },
	{ "domains", kt_test_domains },
};

static int kt_file_show(struct seq_file *m, void *unused)
{
	const struct kt_file *file = m->private;
	int rc;

	mutex_lock(&kt_lock);
	rc = kt_dev ? file->run(m) : KT_FAIL(m, "no NIC");
	mutex_unlock(&kt_lock);
	if (!rc)
		seq_puts(m, "ok\n");
	else if (rc != -EIO)
		seq_printf(m, "not ok: %d\n", rc);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(kt_file);

/* ---- binding: the first NIC ---- */

static int kt_probe(struct auxiliary_device *adev, const struct auxiliary_device_id *id)
{
	mutex_lock(&kt_lock);
	if (!kt_dev) {
		kt_dev = aries_client_dev(adev);
		aries_get_info(kt_dev, &kt_info);
		auxiliary_set_drvdata(adev, kt_dev);
	}
	mutex_unlock(&kt_lock);
	return 0;
}

/* Traffic goes on: handles of a NIC that has gone answer. */
static void kt_remove(struct auxiliary_device *adev)
{
	mutex_lock(&kt_lock);
	if (auxiliary_get_drvdata(adev))
		kt_dev = NULL;
	mutex_unlock(&kt_lock);
}

static const struct auxiliary_device_id kt_ids[] = {
	{ .name = ARIES_CLIENT_DEVICE },
	{}
};
MODULE_DEVICE_TABLE(auxiliary, kt_ids);

static struct auxiliary_driver kt_driver = {
	.name = "kapi_test",
	.id_table = kt_ids,
	.probe = kt_probe,
	.remove = kt_remove,
};

static int __init kt_init(void)
{
	unsigned int i;

	timer_setup(&kt_busy_timer, kt_busy_tick, 0);
	kt_dir = debugfs_create_dir("aries_kapi_test", NULL);
	for (i = 0; i < ARRAY_SIZE(kt_files); i++)
		debugfs_create_file(kt_files[i].name, 0400, kt_dir, (void *)&kt_files[i], &kt_file_fops);
	debugfs_create_file_unsafe("traffic", 0200, kt_dir, NULL, &kt_busy_fops);
	debugfs_create_file("counts", 0400, kt_dir, NULL, &kt_counts_fops);
	return auxiliary_driver_register(&kt_driver);
}
module_init(kt_init);

static void __exit kt_exit(void)
{
	debugfs_remove_recursive(kt_dir);
	mutex_lock(&kt_lock);
	kt_busy_stop();
	mutex_unlock(&kt_lock);
	auxiliary_driver_unregister(&kt_driver);
}
module_exit(kt_exit);

MODULE_DESCRIPTION("Test of what aries.ko offers to the kernel");
MODULE_AUTHOR("OpenGNI");
MODULE_LICENSE("GPL");
ARIES_IMPORT_NS;
