// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs: views of the objects. Each object has one line of pairs of a name and a value. Every
 * line is described in Documentation/ABI/testing/debugfs-aries.
 *
 * A view is generated completely before the first byte is read, under the locks of one object at a
 * time. Values for which the NIC is the authority are read from the NIC.
 */
#include <linux/debugfs.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/seq_file.h>

#include "aries_chan.h"
#include "aries_dgram_api.h"
#include "aries_view.h"
#include "aries_kapi.h"

typedef void (*aries_show)(struct seq_file *m, struct aries_owner *own);

/* Calls @show for every owner, with the lock of the owner held. */
static int aries_each_owner(struct seq_file *m, aries_show show)
{
	struct aries_dev *ad = m->private;
	struct aries_owner *own = NULL;

	while ((own = aries_owner_next(ad, own))) {
		down_read(&ad->state_sem);
		mutex_lock(&own->lock);
		show(m, own);
		mutex_unlock(&own->lock);
		up_read(&ad->state_sem);
	}
	return 0;
}

#define ARIES_OWNER_VIEW(name)                                                    \
	static int aries_##name##_show(struct seq_file *m, void *unused)        \
	{                                                                       \
		return aries_each_owner(m, aries_show_##name);                    \
	}                                                                       \
	DEFINE_SHOW_ATTRIBUTE(aries_##name)

static const char *aries_owner_state(const struct aries_owner *own)
{
	if (own->dead)
		return "revoked";
	if (!own->dom)
		return "open";
	return own->suspended ? "suspended" : "attached";
}

static void aries_show_contexts(struct seq_file *m, struct aries_owner *own)
{
	struct aries_ctx *ctx = aries_ctx_of(own);

	seq_printf(m, "pid %d state %s", own->pid, aries_owner_state(own));
	if (own->dom)
		seq_printf(m, " owner %u ptag %u inst %u node %u modes %#x fmad %u sharing %u busy %u status %#llx",
			   own->nr, own->dom->ptag, own->inst_id, own->pe, own->modes, own->fmad,
			   ctx ? aries_share_users(ctx) : 1, aries_fmad_busy(own->ad, own->fmad),
			   aries_rd64(own->ad, ARIES_FMAD_STATUS_N(own->fmad)));
	/* the name is chosen by the process, so it is escaped */
	seq_printf(m, " comm \"%*pE\"\n", (int)strlen(own->comm), own->comm);
}

ARIES_OWNER_VIEW(contexts);

/*
 * The number of entries that the process claims to have consumed. The process may write anything
 * there.
 */
static u64 aries_cq_consumed(struct aries_cq *cq)
{
	unsigned long flags;
	u64 consumed = 0;

	spin_lock_irqsave(&cq->lock, flags);
	if (cq->mem)
		consumed = READ_ONCE(((const struct aries_cq_header *)cq->mem)->consumed);
	spin_unlock_irqrestore(&cq->lock, flags);
	return consumed;
}

static void aries_show_queues(struct seq_file *m, struct aries_owner *own)
{
	struct aries_dev *ad = own->ad;
	struct aries_cq *cq;
	unsigned long nr;

	xa_for_each(&own->cqs, nr, cq) {
		u64 armed = aries_rd64(ad, ARIES_CQI_ARMED_N(nr / 64));

		seq_printf(m, "cq %u owner %u ptag %u slots %u flags %#x produced %llu consumed %llu dropped %llu armed %u irqs %lu registrations %u engines %u waiters %u\n",
			   cq->nr, own->nr, own->dom->ptag, 1u << cq->log2, cq->flags,
			   aries_rd64(ad, ARIES_CQ_PRODUCED_N(nr)), aries_cq_consumed(cq),
			   aries_rd64(ad, ARIES_CQ_DROPPED_N(nr)), !!(armed & BIT_ULL(nr % 64)),
			   READ_ONCE(cq->irqs), cq->mem_refs, cq->ce_refs, cq->waiters);
	}
}

ARIES_OWNER_VIEW(queues);

static void aries_show_registrations(struct seq_file *m, struct aries_owner *own)
{
	struct aries_region *mem;
	unsigned long mdh;

	xa_for_each(&own->mems, mdh, mem) {
		u64 ctl = aries_rd64(own->ad, ARIES_MDD_CTL_N(mdh));
		const struct aries_umem *umem = aries_umem_of(mem);

		seq_printf(m, "mdh %u owner %u ptag %u start %#lx pages %lu pinned %lu shift %u cq %d valid %llu%s%s%s\n",
			   mem->mdh, own->nr, own->dom->ptag,
			   aries_shown_address(own, mem->start), mem->npages, mem->accounted,
			   mem->page_shift, mem->cq ? mem->cq->nr : -1,
			   FIELD_GET(ARIES_MDD_CTL_VALID_MASK, ctl),
			   mem->read_only ? " read-only" : "",
			   umem && umem->reserved ? " reserved" : "",
			   mem->block ? " virtual" : "");
	}
}

ARIES_OWNER_VIEW(registrations);

static void aries_show_children(struct seq_file *m, struct aries_dev *ad, unsigned int nr,
				unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		u64 child = aries_rd64(ad, ARIES_CE_CHILD_N(nr * ARIES_CE_CHILDREN + i));
		u64 node = FIELD_GET(ARIES_CE_CHILD_PE_MASK, child);

		if (FIELD_GET(ARIES_CE_CHILD_KIND_MASK, child) == KGNI_CE_ENGINE)
			seq_printf(m, " child %u engine %llu:%llu", i, node,
				   FIELD_GET(ARIES_CE_CHILD_CE_MASK, child));
		else
			seq_printf(m, " child %u endpoint %llu:%llu", i, node,
				   FIELD_GET(ARIES_CE_CHILD_INST_MASK, child));
	}
}

static const char *aries_engine_state(u64 ctl, u64 status)
{
	if (!(ctl & ARIES_CE_CTL_ENABLE_MASK))
		return "idle";
	if (status & ARIES_CE_STATUS_BROKEN_MASK)
		return "broken";
	return status & ARIES_CE_STATUS_SENT_MASK ? "sent" : "enabled";
}

static void aries_show_engines(struct seq_file *m, struct aries_owner *own)
{
	struct aries_dev *ad = own->ad;
	unsigned int nr;

	for (nr = 0; nr < ARIES_CE_CHANNELS; nr++) {
		u64 ctl = aries_rd64(ad, ARIES_CE_CTL_N(nr));
		u64 status = aries_rd64(ad, ARIES_CE_STATUS_N(nr));
		u64 parent = aries_rd64(ad, ARIES_CE_PARENT_N(nr));
		unsigned int count = FIELD_GET(ARIES_CE_CTL_CHILDREN_MASK, ctl);

		if (!own->ces[nr])
			continue;
		seq_printf(m, "ce %u owner %u ptag %u state %s cq %d arrived %#llx parent ", nr,
			   own->nr, own->dom->ptag, aries_engine_state(ctl, status),
			   own->ces[nr]->cq ? own->ces[nr]->cq->nr : -1,
			   FIELD_GET(ARIES_CE_STATUS_ARRIVED_MASK, status));
		if (parent & ARIES_CE_PARENT_VALID_MASK)
			seq_printf(m, "%llu:%llu[%llu]", FIELD_GET(ARIES_CE_PARENT_PE_MASK, parent),
				   FIELD_GET(ARIES_CE_PARENT_CE_MASK, parent),
				   FIELD_GET(ARIES_CE_PARENT_INDEX_MASK, parent));
		else
			seq_puts(m, "none");
		seq_printf(m, " children %u", count);
		aries_show_children(m, ad, nr, min(count, ARIES_CE_CHILDREN));
		seq_putc(m, '\n');
	}
}

ARIES_OWNER_VIEW(engines);

static void aries_show_subscription(struct seq_file *m, struct aries_owner *own)
{
	struct aries_ctx *ctx = aries_ctx_of(own);

	if (ctx)
		aries_ees_show(m, ctx);
}

static int aries_subscriptions_show(struct seq_file *m, void *unused)
{
	return aries_each_owner(m, aries_show_subscription);
}
DEFINE_SHOW_ATTRIBUTE(aries_subscriptions);

static int aries_datagrams_show(struct seq_file *m, void *unused)
{
	return aries_each_owner(m, aries_dgram_show);
}
DEFINE_SHOW_ATTRIBUTE(aries_datagrams);

/* ---- views of domains ---- */

static void aries_show_domain(struct seq_file *m, const struct aries_domain *dom)
{
	/* the cookie is not shown because it protects the domain */
	seq_printf(m, "ptag %u job %llu%s attached %u%s mdd %u/%u cq %u/%u fma %u/%u ce %u/%u ntt %u+%u pages %u/%u receives %u/%u datagrams %u/%u transfers %s%u\n",
		   dom->ptag, dom->job_id, dom->job ? "" : " (implicit)", dom->attached,
		   dom->suspended ? " suspended" : "",
		   dom->used[ARIES_RES_MDD], dom->limit[ARIES_RES_MDD],
		   dom->used[ARIES_RES_CQ], dom->limit[ARIES_RES_CQ],
		   dom->used[ARIES_RES_FMA], dom->limit[ARIES_RES_FMA],
		   dom->used[ARIES_RES_CE], dom->limit[ARIES_RES_CE], dom->ntt_base, dom->ntt_size,
		   dom->used[ARIES_RES_PAGES], dom->limit[ARIES_RES_PAGES],
		   dom->used[ARIES_RES_RECV], dom->limit[ARIES_RES_RECV],
		   READ_ONCE(dom->dgrams), dom->dgram_limit, dom->bte_limited ? "/" : "-",
		   dom->bte_limit);
}

static int aries_domains_show(struct seq_file *m, void *unused)
{
	struct aries_dev *ad = m->private;
	unsigned int ptag;

	mutex_lock(&ad->ptag_lock);
	for (ptag = 1; ptag < ARIES_PTAG_ANY; ptag++)
		if (ad->domain[ptag])
			aries_show_domain(m, ad->domain[ptag]);
	mutex_unlock(&ad->ptag_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(aries_domains);

static int aries_blocks_show(struct seq_file *m, void *unused)
{
	struct aries_dev *ad = m->private;
	unsigned int ptag;

	down_read(&ad->state_sem);
	mutex_lock(&ad->ptag_lock);
	for (ptag = 1; ptag < ARIES_PTAG_ANY; ptag++)
		if (ad->domain[ptag])
			aries_vmdh_show(m, ad, ad->domain[ptag]);
	mutex_unlock(&ad->ptag_lock);
	up_read(&ad->state_sem);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(aries_blocks);

static int aries_ntt_show(struct seq_file *m, void *unused)
{
	struct aries_dev *ad = m->private;

	down_read(&ad->state_sem);
	mutex_lock(&ad->ptag_lock);
	aries_ntt_entries_show(m, ad);
	mutex_unlock(&ad->ptag_lock);
	up_read(&ad->state_sem);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(aries_ntt);

/* ---- views of the NIC ---- */

static int aries_peers_view_show(struct seq_file *m, void *unused)
{
	aries_peers_show(m, m->private);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(aries_peers_view);

static u64 aries_counter(struct aries_dev *ad, enum aries_counter which)
{
	return aries_rd64(ad, ARIES_CNT_VALUE_N((unsigned int)which));
}

static void aries_show_fmad(struct seq_file *m, struct aries_dev *ad, unsigned int nr)
{
	u64 ctl = aries_rd64(ad, ARIES_FMAD_CTL_N(nr));
	u64 status = aries_rd64(ad, ARIES_FMAD_STATUS_N(nr));

	seq_printf(m, "fmad %u state %s owner %llu ptag %llu ntt %llu+%llu%s%s traps %llu busy %llu last %s word %#llx\n",
		   nr, ctl & ARIES_FMAD_CTL_ENABLE_MASK ? "enabled" : "disabled",
		   FIELD_GET(ARIES_FMAD_CTL_OWNER_MASK, ctl),
		   FIELD_GET(ARIES_FMAD_CTL_PTAG_MASK, ctl),
		   FIELD_GET(ARIES_FMAD_CTL_NTT_BASE_MASK, ctl),
		   FIELD_GET(ARIES_FMAD_CTL_NTT_SIZE_MASK, ctl),
		   ctl & ARIES_FMAD_CTL_KERNEL_MASK ? " kernel" : "",
		   ctl & ARIES_FMAD_CTL_CACHED_AMO_MASK ? " cached-amo" : "",
		   aries_rd64(ad, ARIES_FMAD_TRAPS_N(nr)),
		   FIELD_GET(ARIES_FMAD_STATUS_BUSY_MASK, status),
		   aries_status_name(FIELD_GET(ARIES_FMAD_STATUS_LAST_MASK, status)),
		   readq(ad->desc + nr * ARIES_DESC_STRIDE + ARIES_DESC_STATUS));
}

/* Descriptors that are in use or enabled. A shared one shows the attachment that has it mapped. */
static int aries_descriptors_show(struct seq_file *m, void *unused)
{
	struct aries_dev *ad = m->private;
	unsigned int nr;

	down_read(&ad->state_sem);
	for (nr = 0; nr < ad->nfma && READ_ONCE(ad->hw_ok); nr++)
		if (test_bit(nr, ad->fmads.map) ||
		    aries_rd64(ad, ARIES_FMAD_CTL_N(nr)) & ARIES_FMAD_CTL_ENABLE_MASK)
			aries_show_fmad(m, ad, nr);
	up_read(&ad->state_sem);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(aries_descriptors);

static int aries_transfers_show(struct seq_file *m, void *unused)
{
	struct aries_dev *ad = m->private;
	unsigned int nr;
	u32 status;

	down_read(&ad->state_sem);
	if (!READ_ONCE(ad->hw_ok))
		goto out;
	status = aries_rd32(ad, ARIES_BTE_STATUS);
	for (nr = 0; nr < ARIES_BTE_CHANNELS; nr++)
		seq_printf(m, "channel %u %s\n", nr, status & BIT(nr) ? "busy" : "idle");
	seq_printf(m, "waiting %lu puts %llu gets %llu sends %llu bytes %llu\n",
		   FIELD_GET(ARIES_BTE_STATUS_WAITING_MASK, status) + 0ul,
		   aries_counter(ad, ARIES_CNT_BTE_PUTS), aries_counter(ad, ARIES_CNT_BTE_GETS),
		   aries_counter(ad, ARIES_CNT_BTE_SENDS), aries_counter(ad, ARIES_CNT_BTE_BYTES));
	for (nr = 0; nr < ad->nfma; nr++) {
		unsigned int busy = aries_fmad_busy(ad, nr);

		if (busy)
			seq_printf(m, "fmad %u transfers %u\n", nr, busy);
	}
out:
	up_read(&ad->state_sem);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(aries_transfers);

static const char *aries_receive_state(u64 ctl, u64 status)
{
	if (status & ARIES_RMT_STATUS_BUSY_MASK)
		return "arriving";
	if (status & ARIES_RMT_STATUS_DONE_MASK)
		return "done";
	return ctl & ARIES_RMT_CTL_VALID_MASK ? "posted" : "suspended";
}

static int aries_receives_show(struct seq_file *m, void *unused)
{
	struct aries_dev *ad = m->private;
	unsigned int nr;

	down_read(&ad->state_sem);
	for (nr = 0; nr < ARIES_RMT_CTL_COUNT && READ_ONCE(ad->hw_ok); nr++) {
		u64 ctl = aries_rd64(ad, ARIES_RMT_CTL_N(nr));
		u64 status = aries_rd64(ad, ARIES_RMT_STATUS_N(nr));

		if (!test_bit(nr, ad->recvs.map))
			continue;
		seq_printf(m, "receive %u state %s ptag %llu channel %llu mdh %llu size %u bytes %llu node %llu\n",
			   nr, aries_receive_state(ctl, status),
			   FIELD_GET(ARIES_RMT_CTL_PTAG_MASK, ctl),
			   FIELD_GET(ARIES_RMT_CTL_CHANNEL_MASK, ctl),
			   FIELD_GET(ARIES_RMT_CTL_MDH_MASK, ctl),
			   aries_rd32(ad, ARIES_RMT_LENGTH_N(nr)),
			   FIELD_GET(ARIES_RMT_STATUS_BYTES_MASK, status),
			   FIELD_GET(ARIES_RMT_STATUS_PE_MASK, status));
	}
	up_read(&ad->state_sem);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(aries_receives);

static int aries_translation_show(struct seq_file *m, void *unused)
{
	struct aries_dev *ad = m->private;

	down_read(&ad->state_sem);
	if (READ_ONCE(ad->hw_ok)) {
		seq_printf(m, "pte-cache lines %u ptes %u hits %llu misses %llu evictions %llu invalidations %llu walks %llu\n",
			   ARIES_PTE_CACHE_ENTRIES, ARIES_PTE_CACHE_PTES,
			   aries_counter(ad, ARIES_CNT_PTE_CACHE_HITS),
			   aries_counter(ad, ARIES_CNT_PTE_CACHE_MISSES),
			   aries_counter(ad, ARIES_CNT_PTE_CACHE_EVICTIONS),
			   aries_counter(ad, ARIES_CNT_PTE_CACHE_INVALIDATIONS),
			   aries_counter(ad, ARIES_CNT_PTE_WALKS));
		seq_printf(m, "vmdh entries %u hits %llu misses %llu\n", ARIES_VMDH_ENTRIES,
			   aries_counter(ad, ARIES_CNT_VMDH_HITS),
			   aries_counter(ad, ARIES_CNT_VMDH_MISSES));
	}
	up_read(&ad->state_sem);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(aries_translation);

/** aries_views_add() - create the views of one device */
void aries_views_add(struct aries_dev *ad, struct dentry *dir)
{
	static const struct {
		const char *name;
		const struct file_operations *fops;
	} views[] = {
		{ "contexts", &aries_contexts_fops },
		{ "descriptors", &aries_descriptors_fops },
		{ "queues", &aries_queues_fops },
		{ "registrations", &aries_registrations_fops },
		{ "blocks", &aries_blocks_fops },
		{ "translation", &aries_translation_fops },
		{ "ntt", &aries_ntt_fops },
		{ "engines", &aries_engines_fops },
		{ "datagrams", &aries_datagrams_fops },
		{ "peers", &aries_peers_view_fops },
		{ "subscriptions", &aries_subscriptions_fops },
		{ "transfers", &aries_transfers_fops },
		{ "receives", &aries_receives_fops },
		{ "domains", &aries_domains_fops },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(views); i++)
		debugfs_create_file(views[i].name, 0400, dir, ad, views[i].fops);
}
