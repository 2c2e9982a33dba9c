// SPDX-License-Identifier: GPL-2.0-only
/*
 * Node translation: mapping virtual node addresses to nodes. The table is filled in by the
 * launcher. A domain gets its part of it before any process attaches, and no process can see or
 * leave that part.
 */
#include <linux/bitmap.h>
#include <linux/capability.h>
#include <linux/log2.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "aries_obj.h"
#include "aries_ptag.h"

#define ARIES_NTT_LOG2_MAX 7
#define ARIES_NTT_ALL U32_MAX

/** aries_ntt_init() - allocate an empty table. Context: may sleep. Return: 0 or -ENOMEM. */
int aries_ntt_init(struct aries_dev *ad)
{
	ad->ntt = kvcalloc(ARIES_NTT_ENTRIES, sizeof(*ad->ntt), GFP_KERNEL);
	ad->ntt_map = bitmap_zalloc(ARIES_NTT_ENTRIES, GFP_KERNEL);
	return ad->ntt && ad->ntt_map ? 0 : -ENOMEM;
}

/** aries_ntt_exit() - undo aries_ntt_init(), even if it has failed */
void aries_ntt_exit(struct aries_dev *ad)
{
	kvfree(ad->ntt);
	bitmap_free(ad->ntt_map);
}

/* Write the replacement before the entry that makes it valid. */
static void aries_ntt_write(struct aries_dev *ad, u32 nr)
{
	const struct kgni_ntt_entry *entry = &ad->ntt[nr];

	aries_wr32(ad, ARIES_NTT_REPLACE_N(nr),
		   FIELD_PREP(ARIES_NTT_REPLACE_PE_MASK, entry->replacement) |
			   FIELD_PREP(ARIES_NTT_REPLACE_SIZE_MASK, entry->size));
	aries_wr32(ad, ARIES_NTT_ENTRY_N(nr),
		   FIELD_PREP(ARIES_NTT_ENTRY_PE_MASK, entry->block) |
			   FIELD_PREP(ARIES_NTT_ENTRY_VALID_MASK, 1u));
}

static void aries_ntt_zero(struct aries_dev *ad, u32 base, u32 count)
	__must_hold(&ad->ptag_lock)
{
	u32 nr;

	lockdep_assert_held(&ad->ptag_lock);
	for (nr = base; nr < base + count; nr++) {
		aries_wr32(ad, ARIES_NTT_ENTRY_N(nr), 0);
		aries_wr32(ad, ARIES_NTT_REPLACE_N(nr), 0);
	}
	bitmap_clear(ad->ntt_map, base, count);
}

/** aries_ntt_restore() - write the table again after a reset. Context: may sleep. */
void aries_ntt_restore(struct aries_dev *ad)
{
	unsigned int nr;

	mutex_lock(&ad->ptag_lock);
	aries_wr32(ad, ARIES_NTT_CONFIG, FIELD_PREP(ARIES_NTT_CONFIG_LOG2_MASK, ad->ntt_log2));
	for_each_set_bit(nr, ad->ntt_map, ARIES_NTT_ENTRIES)
		aries_ntt_write(ad, nr);
	mutex_unlock(&ad->ptag_lock);
}

/** aries_ntt_release() - free the entries of a domain that ends. Context: ptag_lock held. */
void aries_ntt_release(struct aries_dev *ad, const struct aries_domain *dom)
	__must_hold(&ad->ptag_lock)
{
	if (dom->ntt_size && dom->ntt_cleanup)
		aries_ntt_zero(ad, dom->ntt_base, dom->ntt_size);
}

/* Return: the domain that uses an entry, or NULL. */
static struct aries_domain *aries_ntt_user(struct aries_dev *ad, u32 nr)
	__must_hold(&ad->ptag_lock)
{
	unsigned int ptag;

	lockdep_assert_held(&ad->ptag_lock);
	for (ptag = 1; ptag < ARIES_PTAG_ANY; ptag++) {
		struct aries_domain *dom = ad->domain[ptag];

		if (dom && nr - dom->ntt_base < dom->ntt_size)
			return dom;
	}
	return NULL;
}

/* Is the range in the table, and allocated? */
static bool aries_ntt_allocated(const struct aries_dev *ad, u32 base, u32 count)
{
	if (!count || count > ARIES_NTT_ENTRIES || base > ARIES_NTT_ENTRIES - count)
		return false;
	return find_next_zero_bit(ad->ntt_map, base + count, base) >= base + count;
}

static int aries_ntt_clear(struct aries_dev *ad, const struct kgni_ntt *arg)
	__must_hold(&ad->ptag_lock)
{
	u32 nr;

	lockdep_assert_held(&ad->ptag_lock);
	if (arg->base == ARIES_NTT_ALL && arg->count == ARIES_NTT_ALL) {
		for_each_set_bit(nr, ad->ntt_map, ARIES_NTT_ENTRIES)
			if (!aries_ntt_user(ad, nr))
				aries_ntt_zero(ad, nr, 1);
		return 0;
	}
	if (!aries_ntt_allocated(ad, arg->base, arg->count))
		return -ENOENT;
	for (nr = arg->base; nr < arg->base + arg->count; nr++)
		if (aries_ntt_user(ad, nr))
			return -EBUSY;
	aries_ntt_zero(ad, arg->base, arg->count);
	return 0;
}

static int aries_ntt_find_room(struct aries_dev *ad, struct kgni_ntt *arg)
	__must_hold(&ad->ptag_lock)
{
	unsigned long base;

	lockdep_assert_held(&ad->ptag_lock);
	base = bitmap_find_next_zero_area(ad->ntt_map, ARIES_NTT_ENTRIES, 0, arg->count, 0);
	if (base >= ARIES_NTT_ENTRIES)
		return -ENOSPC;
	arg->base = base;
	bitmap_set(ad->ntt_map, base, arg->count);
	return 0;
}

static int aries_ntt_set(struct aries_dev *ad, struct kgni_ntt *arg,
			 const struct kgni_ntt_entry *entries)
	__must_hold(&ad->ptag_lock)
{
	u32 log2 = ilog2(arg->granularity);
	int rc = 0;
	u32 i;

	lockdep_assert_held(&ad->ptag_lock);
	if (log2 != ad->ntt_log2) {
		if (!bitmap_empty(ad->ntt_map, ARIES_NTT_ENTRIES))
			return -EBUSY;
		ad->ntt_log2 = log2;
		aries_wr32(ad, ARIES_NTT_CONFIG, FIELD_PREP(ARIES_NTT_CONFIG_LOG2_MASK, log2));
	}
	if (!(arg->flags & KGNI_NTT_CHANGE))
		rc = aries_ntt_find_room(ad, arg);
	else if (!aries_ntt_allocated(ad, arg->base, arg->count))
		rc = -ENOENT;
	for (i = 0; i < arg->count && !rc; i++) {
		ad->ntt[arg->base + i] = entries[i];
		aries_ntt_write(ad, arg->base + i);
	}
	return rc;
}

static int aries_ntt_check_entry(const struct kgni_ntt *arg, const struct kgni_ntt_entry *entry)
{
	if (entry->block >> ARIES_PE_BITS || entry->replacement >> ARIES_PE_BITS)
		return -EINVAL;
	return entry->size > arg->granularity || entry->reserved ? -EINVAL : 0;
}

/* Copy and check the caller's entries. Return: them; NULL for KGNI_NTT_CLEAR. */
static struct kgni_ntt_entry *aries_ntt_entries(const struct kgni_ntt *arg)
{
	struct kgni_ntt_entry *entries;
	int rc = 0;
	u32 i;

	if (arg->flags & ~(KGNI_NTT_CHANGE | KGNI_NTT_CLEAR) || arg->reserved || !arg->count)
		return ERR_PTR(-EINVAL);
	if (arg->flags & KGNI_NTT_CLEAR)
		return arg->entries || arg->flags & KGNI_NTT_CHANGE ? ERR_PTR(-EINVAL) : NULL;
	if (!is_power_of_2(arg->granularity) || arg->granularity > 1 << ARIES_NTT_LOG2_MAX)
		return ERR_PTR(-EINVAL);
	if (arg->count > ARIES_NTT_ENTRIES)
		return ERR_PTR(-ENOSPC);
	entries = vmemdup_user(u64_to_user_ptr(arg->entries), arg->count * sizeof(*entries));
	if (IS_ERR(entries))
		return entries;
	for (i = 0; i < arg->count && !rc; i++)
		rc = aries_ntt_check_entry(arg, &entries[i]);
	if (!rc)
		return entries;
	kvfree(entries);
	return ERR_PTR(rc);
}

/** aries_ntt() - KGNI_IOC_NTT. Context: sleeps. */
int aries_ntt(struct aries_owner *own, struct kgni_ntt *arg)
{
	struct aries_dev *ad = own->ad;
	struct kgni_ntt_entry *entries;
	int rc;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	entries = aries_ntt_entries(arg);
	if (IS_ERR(entries))
		return PTR_ERR(entries);
	rc = aries_owner_enter(own, false);
	if (!rc) {
		mutex_lock(&ad->ptag_lock);
		rc = entries ? aries_ntt_set(ad, arg, entries) : aries_ntt_clear(ad, arg);
		mutex_unlock(&ad->ptag_lock);
		aries_owner_exit(own);
	}
	kvfree(entries);
	return rc;
}

/** aries_ntt_info() - KGNI_IOC_NTT_INFO. Context: sleeps. */
int aries_ntt_info(struct aries_owner *own, struct kgni_ntt_info *arg)
{
	struct aries_dev *ad = own->ad;
	int rc = aries_owner_enter(own, false);

	if (rc)
		return rc;
	mutex_lock(&ad->ptag_lock);
	arg->granularity = 1u << ad->ntt_log2;
	arg->entries = ARIES_NTT_ENTRIES;
	arg->used = bitmap_weight(ad->ntt_map, ARIES_NTT_ENTRIES);
	mutex_unlock(&ad->ptag_lock);
	aries_owner_exit(own);
	return 0;
}

static int aries_ntt_tie(struct aries_dev *ad, const struct kgni_job_ntt *arg)
	__must_hold(&ad->ptag_lock)
{
	struct aries_domain *dom = aries_ptag_by_cookie(ad, arg->cookie);
	u32 nr;

	lockdep_assert_held(&ad->ptag_lock);
	if (!dom || !dom->job || !aries_ntt_allocated(ad, arg->base, arg->size))
		return -ENOENT;
	if (dom->ntt_size) {
		if (dom->ntt_base != arg->base || dom->ntt_size != arg->size)
			return -EOPNOTSUPP;
	} else {
		if (dom->attached)
			return -EBUSY;
		for (nr = arg->base; nr < arg->base + arg->size; nr++)
			if (aries_ntt_user(ad, nr))
				return -EBUSY;
	}
	dom->ntt_base = arg->base;
	dom->ntt_size = arg->size;
	dom->ntt_cleanup = arg->flags & KGNI_JOB_NTT_CLEANUP;
	return 0;
}

/** aries_ntt_job() - KGNI_IOC_JOB_NTT. Context: sleeps. */
int aries_ntt_job(struct aries_owner *own, struct kgni_job_ntt *arg)
{
	struct aries_dev *ad = own->ad;
	int rc;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (arg->flags & ~KGNI_JOB_NTT_CLEANUP || arg->reserved || !arg->size)
		return -EINVAL;
	rc = aries_owner_enter(own, false);
	if (rc)
		return rc;
	mutex_lock(&ad->ptag_lock);
	rc = aries_ntt_tie(ad, arg);
	mutex_unlock(&ad->ptag_lock);
	aries_owner_exit(own);
	return rc;
}

/**
 * aries_ntt_virtual() - get the virtual address of a node in a domain
 * @ad: the device
 * @dom: domain
 * @node: physical address
 * @pe: receives the first virtual address of the node; the physical one if there is no translation
 *
 * Context: may sleep. Return: 0; -ENXIO if the domain has no such node.
 */
int aries_ntt_virtual(struct aries_dev *ad, const struct aries_domain *dom, u32 node, u32 *pe)
{
	u32 nodes = 1u << ad->ntt_log2;
	int rc = -ENXIO;
	u32 i;

	*pe = node;
	if (!dom->ntt_size)
		return 0;
	mutex_lock(&ad->ptag_lock);
	for (i = 0; i < dom->ntt_size && rc; i++) {
		const struct kgni_ntt_entry *entry = &ad->ntt[dom->ntt_base + i];
		u32 here = nodes - entry->size;

		if (node - entry->block < here)
			*pe = i * nodes + node - entry->block;
		else if (node - entry->replacement < entry->size)
			*pe = i * nodes + here + node - entry->replacement;
		else
			continue;
		rc = 0;
	}
	mutex_unlock(&ad->ptag_lock);
	return rc;
}

/** aries_ntt_entries_show() - print the table in debugfs. Context: ptag_lock held. */
void aries_ntt_entries_show(struct seq_file *m, struct aries_dev *ad)
	__must_hold(&ad->ptag_lock)
{
	unsigned int nr;

	seq_printf(m, "granularity %u entries %u used %u\n", 1u << ad->ntt_log2, ARIES_NTT_ENTRIES,
		   bitmap_weight(ad->ntt_map, ARIES_NTT_ENTRIES));
	for_each_set_bit(nr, ad->ntt_map, ARIES_NTT_ENTRIES) {
		const struct kgni_ntt_entry *entry = &ad->ntt[nr];
		const struct aries_domain *dom = aries_ntt_user(ad, nr);
		u32 now = aries_rd32(ad, ARIES_NTT_ENTRY_N(nr));

		seq_printf(m, "entry %u node %u replacement %u size %u valid %lu ptag %u job %llu\n",
			   nr, entry->block, entry->replacement, entry->size,
			   FIELD_GET(ARIES_NTT_ENTRY_VALID_MASK, now) + 0ul, dom ? dom->ptag : 0,
			   dom ? dom->job_id : 0);
	}
}

/**
 * aries_ntt_physical() - translate the node address of a domain like the NIC
 * @ad: the device
 * @dom: domain
 * @pe: virtual address, or the physical one if the domain has no translation
 * @node: receives the physical address
 *
 * Context: may sleep. Return: 0; -ENXIO if there is no such node.
 */
int aries_ntt_physical(struct aries_dev *ad, const struct aries_domain *dom, u32 pe, u32 *node)
{
	u32 nodes = 1u << ad->ntt_log2;
	u32 inside = pe & (nodes - 1);

	*node = pe;
	if (dom->ntt_size) {
		const struct kgni_ntt_entry *entry;

		if (pe >> ad->ntt_log2 >= dom->ntt_size)
			return -ENXIO;
		mutex_lock(&ad->ptag_lock);
		entry = &ad->ntt[dom->ntt_base + (pe >> ad->ntt_log2)];
		/* the last nodes of a block may be replaced */
		if (inside + entry->size >= nodes)
			*node = entry->replacement + inside + entry->size - nodes;
		else
			*node = entry->block + inside;
		mutex_unlock(&ad->ptag_lock);
	}
	return *node < ad->nodes ? 0 : -ENXIO;
}

/**
 * aries_owner_node() - get the physical address of a node
 * @own: owner; if it is not attached it uses physical addresses
 * @pe: node address in the owner's numbering
 * @node: receives the physical address
 *
 * Context: sleeps. Return: 0; -EINVAL if the domain has no such node.
 */
int aries_owner_node(struct aries_owner *own, u32 pe, u32 *node)
{
	int rc = 0;

	*node = pe;
	mutex_lock(&own->lock);
	if (own->dom && own->dom->ntt_size && aries_ntt_physical(own->ad, own->dom, pe, node))
		rc = -EINVAL;
	mutex_unlock(&own->lock);
	return rc;
}

/** aries_owner_pe() - get the address of a node for an owner, or KGNI_NO_PE. Context: sleeps. */
u32 aries_owner_pe(struct aries_owner *own, u32 node)
{
	u32 pe = node;

	mutex_lock(&own->lock);
	if (own->dom && aries_ntt_virtual(own->ad, own->dom, node, &pe))
		pe = KGNI_NO_PE;
	mutex_unlock(&own->lock);
	return pe;
}
