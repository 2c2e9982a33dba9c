// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs: aries/kgniN/, described in Documentation/ABI/testing/debugfs-aries. This file has the
 * views of the device as a whole, aries_views.c those of its objects.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "aries_view.h"
#include "aries_regs_table.h"

static struct dentry *aries_debugfs_root;

/* Number of error events that the NIC dropped since its last reset because its queue was full. */
static u32 aries_lost(struct aries_dev *ad)
{
	u32 lost;

	down_read(&ad->state_sem);
	lost = aries_rd32(ad, ARIES_ERR_LOST);
	up_read(&ad->state_sem);
	return lost == ~0u ? 0 : lost;
}

/*
 * Numbers of live objects. While no file is open and no client is bound, every number except errors
 * and resets must be 0, else there is a leak.
 */
static int aries_objects_show(struct seq_file *m, void *unused)
{
	struct aries_dev *ad = m->private;
	unsigned int files = 0, domains = 0, ptag;
	struct list_head *pos;

	mutex_lock(&ad->owner_lock);
	list_for_each(pos, &ad->owner_list)
		files++;
	mutex_unlock(&ad->owner_lock);
	for (ptag = 0; ptag < ARIES_PTAG_ENTRIES; ptag++)
		domains += READ_ONCE(ad->domain[ptag]) ? 1 : 0;
	seq_printf(m, "files %u\n", files);
	seq_printf(m, "domains %u\n", domains);
	seq_printf(m, "owners %u\n", aries_pool_used(&ad->owners));
	seq_printf(m, "fmads %u held %u\n", aries_pool_used(&ad->fmads), ad->fmads.held);
	seq_printf(m, "mdds %u held %u\n", aries_pool_used(&ad->mdds), ad->mdds.held);
	seq_printf(m, "cqs %u held %u\n", aries_pool_used(&ad->cqs), ad->cqs.held);
	seq_printf(m, "ces %u held %u\n", aries_pool_used(&ad->ces), ad->ces.held);
	seq_printf(m, "insts %u\n", aries_pool_used(&ad->insts));
	seq_printf(m, "receives %u held %u\n", aries_pool_used(&ad->recvs), ad->recvs.held);
	seq_printf(m, "pinned_pages %lld\n", atomic64_read(&ad->pinned));
	seq_printf(m, "errors %lld lost %u\n", atomic64_read(&ad->errors), aries_lost(ad));
	seq_printf(m, "resets %lld\n", atomic64_read(&ad->resets));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(aries_objects);

static int aries_vectors_show(struct seq_file *m, void *unused)
{
	struct aries_dev *ad = m->private;
	unsigned int nr;

	for (nr = 0; nr < ad->nvec; nr++)
		seq_printf(m, "%u %s %lu\n", nr, ad->vec[nr].name, READ_ONCE(ad->vec[nr].count));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(aries_vectors);

#define ARIES_REG_ROW(reg, at, bits, acc, n, step, rst, msk, show, text)        \
	{ .name = #reg, .offset = (at), .width = (bits), .count = (n),          \
	  .stride = (step), .dump = (show) },

static const struct aries_reg_row {
	const char *name;
	u32 offset;
	u8 width;
	u16 count;
	u16 stride;
	bool dump;
} aries_reg_rows[] = { ARIES_REGISTERS(ARIES_REG_ROW) };

/*
 * Registers that are not shown: cookies protect a domain from other users, and addresses of kernel
 * memory help attackers.
 */
static bool aries_register_hidden(u32 offset)
{
	return offset == ARIES_PTAG_KEY || offset == ARIES_CQ_BASE || offset == ARIES_MDD_BASE ||
	       offset == ARIES_MDD_TABLE || offset == ARIES_TEST_DMA_ADDR;
}

/* Of an array only the elements that are not zero are shown. */
static int aries_registers_show(struct seq_file *m, void *unused)
{
	struct aries_dev *ad = m->private;
	unsigned int i, n;

	down_read(&ad->state_sem);
	for (i = 0; i < ARRAY_SIZE(aries_reg_rows); i++) {
		const struct aries_reg_row *row = &aries_reg_rows[i];

		if (!row->dump || aries_register_hidden(row->offset))
			continue;
		for (n = 0; n < row->count; n++) {
			u32 at = row->offset + n * row->stride;
			u64 value = row->width == 64 ? aries_rd64(ad, at) : aries_rd32(ad, at);

			if (row->count == 1)
				seq_printf(m, "%s %#llx\n", row->name, value);
			else if (value)
				seq_printf(m, "%s[%u] %#llx\n", row->name, n, value);
		}
	}
	up_read(&ad->state_sem);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(aries_registers);

/** aries_debugfs_add() - create the files of one device */
void aries_debugfs_add(struct aries_dev *ad)
{
	struct dentry *dir = debugfs_create_dir(dev_name(&ad->dev), aries_debugfs_root);

	ad->debugfs = dir;
	aries_views_add(ad, dir);
	debugfs_create_file("objects", 0400, dir, ad, &aries_objects_fops);
	debugfs_create_file("vectors", 0400, dir, ad, &aries_vectors_fops);
	debugfs_create_file("registers", 0400, dir, ad, &aries_registers_fops);
}

/** aries_debugfs_del() - remove the files of one device; waits for readers */
void aries_debugfs_del(struct aries_dev *ad)
{
	debugfs_remove_recursive(ad->debugfs);
}

/** aries_debugfs_init() - create the top directory */
void aries_debugfs_init(void)
{
	aries_debugfs_root = debugfs_create_dir("aries", NULL);
}

/** aries_debugfs_exit() - remove the top directory */
void aries_debugfs_exit(void)
{
	debugfs_remove_recursive(aries_debugfs_root);
}
