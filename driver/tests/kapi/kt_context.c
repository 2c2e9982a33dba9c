// SPDX-License-Identifier: GPL-2.0-only
/* The same operations in each context of the kernel. */
#include <linux/completion.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/timer.h>

#include "kt.h"

/*
 * The operations of one context: a put, whose event is polled at once, and a block transfer, whose
 * event is polled in kt_finish().
 */
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

/* Sleeps until the handler has received both remote events, and then checks everything else. */
static int kt_finish(struct seq_file *m, struct kt_side *from, struct kt_side *to, u64 value)
{
	unsigned long end = jiffies + KT_WAIT;
	u64 entry, there;
	int rc;

	while (atomic_read(&to->came) < 2 && time_before(jiffies, end))
		msleep(20);
	if (atomic_read(&to->came) != 2)
		return KT_FAIL(m, "%d remote events came to the handler", atomic_read(&to->came));
	if ((READ_ONCE(to->last) & ARIES_CQE_DATA_MASK) != KT_EVENT_REMOTE)
		return KT_FAIL(m, "remote event %#llx", to->last);
	while ((rc = aries_queue_poll(from->source, &entry)) == -EAGAIN &&
	       time_before(jiffies, end))
		msleep(20);
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

/**
 * struct kt_call - operations to execute in another context
 * @from: side that puts
 * @to: side that receives
 * @value: value to put
 * @rc: result
 * @in: whether it ran in the right context
 * @done: completed at the end
 * @timer: runs it in a softirq
 * @work: runs it in an interrupt
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

/* Two owners of one domain, one of which puts to the other in the given context. */
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

int kt_test_process(struct seq_file *m)
{
	return kt_in(m, kt_process);
}

int kt_test_spinlock(struct seq_file *m)
{
	return kt_in(m, kt_spinlock);
}

int kt_test_softirq(struct seq_file *m)
{
	return kt_in(m, kt_softirq);
}

int kt_test_hardirq(struct seq_file *m)
{
	return kt_in(m, kt_hardirq);
}
