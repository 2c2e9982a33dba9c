// SPDX-License-Identifier: GPL-2.0-only
/* Memory, held numbers, access rights, order, errors. */
#include <linux/vmalloc.h>

#include "kt.h"

/* Gets 8 bytes at offset @at of the region of @info into the memory of @s. */
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
	/* the hold timer has expired or races with this call; either may release the number */
	while (aries_region_release(s->own, info.mdh) != -ENOENT && time_before(jiffies, end))
		msleep(20);
	/* a number that is held when the owner is destroyed */
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

int kt_test_memory(struct seq_file *m)
{
	return kt_alone(m, kt_memory);
}

int kt_test_hold(struct seq_file *m)
{
	return kt_alone(m, kt_hold);
}

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

int kt_test_errors(struct seq_file *m)
{
	return kt_alone(m, kt_errors);
}

/*
 * Destroying an owner revokes its objects. Calls on them return errors, and they can still be
 * freed.
 */
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

int kt_test_order(struct seq_file *m)
{
	return kt_alone(m, kt_end_first);
}

/* Two domains: neither can access the memory of the other. */
int kt_test_domains(struct seq_file *m)
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
