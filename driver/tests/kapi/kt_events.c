// SPDX-License-Identifier: GPL-2.0-only
/* Datagrams, and events delivered to an owner. */
#include <linux/irqflags.h>
#include <linux/string.h>

#include "kt.h"
#include "uapi/kgni_abi.h"

/**
 * struct kt_told - calls of the callbacks of an owner
 * @ready: number of datagrams that have reached a final state
 * @errors: number of errors
 * @code: code of the last error
 * @ptag: tag of the last error
 * @other: number of other events
 */
struct kt_told {
	atomic_t ready;
	atomic_t errors;
	u32 code;
	u32 ptag;
	atomic_t other;
};

static void kt_ready(void *data)
{
	struct kt_told *told = data;

	atomic_inc(&told->ready);
}

static void kt_event(void *data, enum aries_event event, const struct aries_event_info *info)
{
	struct kt_told *told = data;

	if (event == ARIES_EVENT_ERROR) {
		told->code = info->error->code;
		told->ptag = info->error->ptag;
		atomic_inc(&told->errors);
	} else {
		atomic_inc(&told->other);
	}
}

/* Test, probe and cancel with interrupts disabled, as a client does under its spinlock. */
static int kt_exchange(struct seq_file *m, struct kt_side *a, struct kt_side *b,
		       struct kt_told *told)
{
	struct kgni_dgram_post post = { .flags = KGNI_DGRAM_WILDCARD | KGNI_DGRAM_ID,
					.ep = 1, .id = 77, .length = 6, .data = "hello" };
	struct kgni_dgram_probe probe = { .flags = KGNI_DGRAM_ID };
	struct kgni_dgram_test test = { .flags = KGNI_DGRAM_ID, .ep = 1, .id = 77 };
	struct kgni_dgram_cancel cancel = { .flags = KGNI_DGRAM_ID, .ep = 1, .id = 77 };
	unsigned long flags;
	int rc[4];

	if (aries_datagram_post(b->own, &post))
		return KT_FAIL(m, "wildcard");
	local_irq_save(flags);
	rc[0] = aries_datagram_probe(b->own, &probe);
	rc[1] = aries_datagram_test(b->own, &test);
	rc[2] = aries_datagram_cancel(b->own, &cancel);
	rc[3] = aries_datagram_test(b->own, &test);
	local_irq_restore(flags);
	if (rc[0] != -ENOENT || rc[1] || rc[2] || rc[3] != -ENOENT)
		return KT_FAIL(m, "one that waits: %d %d %d %d", rc[0], rc[1], rc[2], rc[3]);
	if (aries_datagram_post(b->own, &post))
		return KT_FAIL(m, "wildcard again");
	post = (struct kgni_dgram_post){ .flags = KGNI_DGRAM_ID, .ep = 9, .id = 88,
					 .pe = kt_info.pe, .inst_id = 2, .length = 4,
					 .data = "you" };
	if (aries_datagram_post(a->own, &post))
		return KT_FAIL(m, "directed");
	if (atomic_read(&told->ready) != 1)
		return KT_FAIL(m, "told %d times", atomic_read(&told->ready));
	local_irq_save(flags);
	rc[0] = aries_datagram_probe(b->own, &probe);
	rc[1] = aries_datagram_test(b->own, &test);
	local_irq_restore(flags);
	if (rc[0] || rc[1] || probe.id != 77 || test.state != KGNI_DGRAM_COMPLETED)
		return KT_FAIL(m, "one that has come: %d %d state %u", rc[0], rc[1], test.state);
	if (test.pe != kt_info.pe || test.inst_id != 1 || strcmp((char *)test.data, "you"))
		return KT_FAIL(m, "from %u:%u", test.pe, test.inst_id);
	return 0;
}

static int kt_refused(struct seq_file *m, struct kt_side *a, struct kt_side *b,
		      struct kt_told *told)
{
	unsigned long end = jiffies + KT_WAIT;
	struct kgni_dgram_probe probe = {};

	if (kt_put8(b, b, KT_BYTES, 1) != ARIES_ST_BOUNDS)
		return KT_FAIL(m, "a put beside the region");
	while (!atomic_read(&told->errors) && time_before(jiffies, end))
		msleep(20);
	if (!atomic_read(&told->errors) || (told->code & ~ARIES_ST_LOCAL) != ARIES_ST_BOUNDS ||
	    told->ptag != aries_owner_ptag(b->own))
		return KT_FAIL(m, "%d errors, code %#x of tag %u", atomic_read(&told->errors),
			       told->code, told->ptag);
	if (atomic_read(&told->other))
		return KT_FAIL(m, "%d other events", atomic_read(&told->other));
	if (aries_datagram_probe(b->own, &probe) != -ENOENT)
		return KT_FAIL(m, "a datagram from nowhere");
	return 0;
}

/* Two owners; the second has callbacks. */
static int kt_with_told(struct seq_file *m,
			int (*test)(struct seq_file *m, struct kt_side *a, struct kt_side *b,
				    struct kt_told *told))
{
	struct kt_told *told = kzalloc(sizeof(*told), GFP_KERNEL);
	struct kt_side *s = kcalloc(2, sizeof(*s), GFP_KERNEL);
	const struct aries_owner_args args = {
		.name = "kapi-told", .ptag = 255, .cookie = KT_COOKIE, .inst_id = 2,
		.event = kt_event, .datagram = kt_ready, .data = told,
	};
	int rc = -ENOMEM;

	if (told && s) {
		rc = kt_open(&s[0], KT_COOKIE, 1) ?: kt_open_told(&s[1], &args);
		if (rc)
			KT_FAIL(m, "open: %d", rc);
		else
			rc = test(m, &s[0], &s[1], told);
		kt_close(&s[0]);
		kt_close(&s[1]);
	}
	kfree(s);
	kfree(told);
	return rc;
}

int kt_test_datagrams(struct seq_file *m)
{
	return kt_with_told(m, kt_exchange);
}

int kt_test_told(struct seq_file *m)
{
	return kt_with_told(m, kt_refused);
}
