// SPDX-License-Identifier: GPL-2.0-only
/* What all tests use: the NIC, their failures, and an owner with one object of each kind. */
#include "kt.h"

struct aries_dev *kt_dev;
struct aries_info kt_info;

int kt_fail(struct seq_file *m, int line, const char *format, ...)
{
	va_list args;

	seq_printf(m, "not ok, line %d: ", line);
	va_start(args, format);
	seq_vprintf(m, format, args);
	va_end(args);
	seq_putc(m, '\n');
	return -EIO;
}

static void kt_handler(void *data)
{
	struct kt_side *s = data;
	u64 entry;

	while (!aries_queue_poll(READ_ONCE(s->target), &entry)) {
		WRITE_ONCE(s->last, entry);
		atomic_inc(&s->came);
	}
}

/* Also closes a side that was only partly set up. Returns 0 or the first error. */
int kt_close(struct kt_side *s)
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

static int kt_make(struct kt_side *s, const struct aries_owner_args *args)
{
	const struct aries_queue_args source = { .entries = 200 };
	const struct aries_queue_args target = { .entries = 200, .handler = kt_handler, .data = s };
	struct aries_segment segment;
	const struct aries_region_args region = { .segments = &segment, .count = 1 };
	struct aries_region_args with_queue = region;

	s->mem = kzalloc(KT_BYTES, GFP_KERNEL);
	if (!s->mem)
		return -ENOMEM;
	s->own = aries_owner_create(kt_dev, args);
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

int kt_open_told(struct kt_side *s, const struct aries_owner_args *args)
{
	int rc = kt_make(s, args);

	if (rc)
		kt_close(s);
	return rc;
}

int kt_open(struct kt_side *s, u32 cookie, u32 inst)
{
	const struct aries_owner_args args = {
		.name = "kapi-test", .ptag = 255, .cookie = cookie, .inst_id = inst,
	};

	return kt_open_told(s, &args);
}

/* A put of 8 bytes from one side to another, with all events. Any context. */
int kt_put8(struct kt_side *from, struct kt_side *to, u64 at, u64 value)
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

int kt_block(struct kt_side *from, struct kt_side *to, u32 bytes)
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

/* Checks the completion entry of a put. Return: 0 or a negative errno. */
int kt_done(u64 entry, unsigned int source)
{
	if ((entry & ARIES_CQE_DATA_MASK) != KT_EVENT_LOCAL)
		return -EBADMSG;
	if ((entry & ARIES_CQE_SOURCE_MASK) >> ARIES_CQE_SOURCE_SHIFT != source)
		return -EPROTO;
	return entry & ARIES_CQE_STATUS_MASK ? -EREMOTEIO : 0;
}
