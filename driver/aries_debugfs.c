// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs: aries/kgniN/{contexts,queues,registrations,engines,subscriptions,domains,objects,
 * vectors,registers}.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "aries.h"
#include "aries_regs_table.h"

static struct dentry *aries_debugfs_root;

static void aries_each_ctx(struct seq_file *m, void (*show)(struct seq_file *, struct aries_ctx *))
{
	struct aries_dev *ad = m->private;
	struct aries_ctx *ctx;

	down_read(&ad->state_sem);
	mutex_lock(&ad->ctx_lock);
	list_for_each_entry(ctx, &ad->ctxs, node) {
		mutex_lock(&ctx->lock);
		show(m, ctx);
		mutex_unlock(&ctx->lock);
	}
	mutex_unlock(&ad->ctx_lock);
	up_read(&ad->state_sem);
}

static void aries_show_ctx(struct seq_file *m, struct aries_ctx *ctx)
{
	if (!ctx->dom) {
		seq_printf(m, "pid %d comm %s %s\n", ctx->pid, ctx->comm,
			   ctx->dead ? "revoked" : "open");
		return;
	}
	seq_printf(m, "pid %d comm %s owner %u ptag %u inst %u fmad %u sharing %u busy %u modes %#x\n",
		   ctx->pid, ctx->comm, ctx->owner, ctx->dom->ptag, ctx->inst_id, ctx->fmad,
		   aries_share_users(ctx), aries_fmad_busy(ctx->ad, ctx->fmad), ctx->modes);
}

static int aries_contexts_show(struct seq_file *m, void *unused)
{
	aries_each_ctx(m, aries_show_ctx);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(aries_contexts);

static void aries_show_queues(struct seq_file *m, struct aries_ctx *ctx)
{
	struct aries_dev *ad = ctx->ad;
	struct aries_cq *cq;
	unsigned long nr;

	xa_for_each(&ctx->cqs, nr, cq)
		seq_printf(m,
			   "cq %u owner %u slots %u flags %#x produced %llu dropped %llu irqs %lu registrations %u waiters %u\n",
			   cq->nr, ctx->owner, 1u << cq->log2, cq->flags,
			   aries_rd64(ad, ARIES_CQ_PRODUCED_N(cq->nr)),
			   aries_rd64(ad, ARIES_CQ_DROPPED_N(cq->nr)), cq->irqs, cq->mem_refs,
			   cq->waiters);
}

static int aries_queues_show(struct seq_file *m, void *unused)
{
	aries_each_ctx(m, aries_show_queues);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(aries_queues);

static void aries_show_mems(struct seq_file *m, struct aries_ctx *ctx)
{
	struct aries_mem *mem;
	unsigned long mdh;

	xa_for_each(&ctx->mems, mdh, mem)
		seq_printf(m, "mdh %u owner %u start %#lx pages %lu shift %u cq %d%s\n", mem->mdh,
			   ctx->owner, mem->start, mem->npages, mem->page_shift,
			   mem->cq ? mem->cq->nr : -1, mem->read_only ? " read-only" : "");
}

static int aries_registrations_show(struct seq_file *m, void *unused)
{
	aries_each_ctx(m, aries_show_mems);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(aries_registrations);

static void aries_show_engines(struct seq_file *m, struct aries_ctx *ctx)
{
	struct aries_dev *ad = ctx->ad;
	unsigned long nr;

	for_each_set_bit(nr, &ctx->ces, ARIES_CE_CHANNELS) {
		u64 ctl = aries_rd64(ad, ARIES_CE_CTL_N(nr));
		u64 status = aries_rd64(ad, ARIES_CE_STATUS_N(nr));

		seq_printf(m, "ce %lu owner %u children %llu cq %d arrived %#llx%s%s%s\n", nr,
			   ctx->owner,
			   FIELD_GET(ARIES_CE_CTL_CHILDREN_MASK, ctl),
			   ctx->ce_cq[nr] ? ctx->ce_cq[nr]->nr : -1,
			   FIELD_GET(ARIES_CE_STATUS_ARRIVED_MASK, status),
			   ctl & ARIES_CE_CTL_ENABLE_MASK ? " enabled" : "",
			   status & ARIES_CE_STATUS_SENT_MASK ? " sent" : "",
			   status & ARIES_CE_STATUS_BROKEN_MASK ? " broken" : "");
	}
}

static int aries_engines_show(struct seq_file *m, void *unused)
{
	aries_each_ctx(m, aries_show_engines);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(aries_engines);

static int aries_subscriptions_show(struct seq_file *m, void *unused)
{
	aries_each_ctx(m, aries_ees_show);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(aries_subscriptions);

static int aries_domains_show(struct seq_file *m, void *unused)
{
	struct aries_dev *ad = m->private;
	unsigned int ptag;

	mutex_lock(&ad->ptag_lock);
	for (ptag = 1; ptag < ARIES_PTAG_ANY; ptag++) {
		const struct aries_domain *dom = ad->domain[ptag];

		/* not the cookie: it is what keeps others out */
		if (dom)
			seq_printf(m, "ptag %u job %llu%s attached %u%s mdd %u/%u cq %u/%u fma %u/%u ce %u/%u\n",
				   ptag, dom->job_id, dom->job ? "" : " (implicit)", dom->attached,
				   dom->suspended ? " suspended" : "",
				   dom->used[ARIES_RES_MDD], dom->limit[ARIES_RES_MDD],
				   dom->used[ARIES_RES_CQ], dom->limit[ARIES_RES_CQ],
				   dom->used[ARIES_RES_FMA], dom->limit[ARIES_RES_FMA],
				   dom->used[ARIES_RES_CE], dom->limit[ARIES_RES_CE]);
	}
	mutex_unlock(&ad->ptag_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(aries_domains);

/* Live objects. With no file open every number but errors and resets is 0, else there is a leak. */
static int aries_objects_show(struct seq_file *m, void *unused)
{
	struct aries_dev *ad = m->private;
	unsigned int files = 0, domains = 0, ptag;
	struct list_head *pos;

	mutex_lock(&ad->ctx_lock);
	list_for_each(pos, &ad->ctxs)
		files++;
	mutex_unlock(&ad->ctx_lock);
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
	seq_printf(m, "pinned_pages %lld\n", atomic64_read(&ad->pinned));
	seq_printf(m, "errors %lld\n", atomic64_read(&ad->errors));
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

/* Of arrays the elements that are not zero. */
static int aries_registers_show(struct seq_file *m, void *unused)
{
	struct aries_dev *ad = m->private;
	unsigned int i, n;

	down_read(&ad->state_sem);
	for (i = 0; i < ARRAY_SIZE(aries_reg_rows); i++) {
		const struct aries_reg_row *row = &aries_reg_rows[i];

		/* no keys here: they are the cookies, which keep others out */
		if (!row->dump || row->offset == ARIES_PTAG_KEY)
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

/** aries_debugfs_add() - make the files of one device */
void aries_debugfs_add(struct aries_dev *ad)
{
	struct dentry *dir = debugfs_create_dir(dev_name(&ad->dev), aries_debugfs_root);

	ad->debugfs = dir;
	debugfs_create_file("contexts", 0400, dir, ad, &aries_contexts_fops);
	debugfs_create_file("queues", 0400, dir, ad, &aries_queues_fops);
	debugfs_create_file("registrations", 0400, dir, ad, &aries_registrations_fops);
	debugfs_create_file("engines", 0400, dir, ad, &aries_engines_fops);
	debugfs_create_file("subscriptions", 0400, dir, ad, &aries_subscriptions_fops);
	debugfs_create_file("domains", 0400, dir, ad, &aries_domains_fops);
	debugfs_create_file("objects", 0400, dir, ad, &aries_objects_fops);
	debugfs_create_file("vectors", 0400, dir, ad, &aries_vectors_fops);
	debugfs_create_file("registers", 0400, dir, ad, &aries_registers_fops);
}

/** aries_debugfs_del() - remove them; waits for readers */
void aries_debugfs_del(struct aries_dev *ad)
{
	debugfs_remove_recursive(ad->debugfs);
}

/** aries_debugfs_init() - make the top directory */
void aries_debugfs_init(void)
{
	aries_debugfs_root = debugfs_create_dir("aries", NULL);
}

/** aries_debugfs_exit() - remove it */
void aries_debugfs_exit(void)
{
	debugfs_remove_recursive(aries_debugfs_root);
}
