// SPDX-License-Identifier: GPL-2.0-only
/*
 * The channel between the drivers of all nodes. Each driver has a receive area with a slot for each
 * peer, registered under the same handle on all nodes. A message is one FMA put into our slot at
 * the peer, with a remote event in the peer's kernel queue. The interrupt of that queue starts the
 * work item, which is the only code that uses FMA descriptor 0.
 */
#include <linux/dma-mapping.h>
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "aries_dgram.h"

#define ARIES_CHAN_CQ_LOG2 10
#define ARIES_CHAN_CQ_BYTES (ARIES_CQ_HEADER_BYTES + (8ul << ARIES_CHAN_CQ_LOG2))
#define ARIES_CHAN_BATCH 512 /* events to handle before giving up the CPU */
#define ARIES_CHAN_IDLE (60 * HZ)

static_assert(ARIES_SLOTS_MAX * ARIES_SLOT_BYTES / PAGE_SIZE <= ARIES_PTES_PER_PAGE);

/** aries_chan_irq() - the kernel's queue has raised its interrupt. Context: interrupt. */
void aries_chan_irq(struct aries_dev *ad)
{
	if (ad->chan)
		aries_chan_kick(ad->chan);
}

static void aries_chan_scan(struct aries_chan *ch)
{
	u32 slot;

	for (slot = 0; slot < ch->slots; slot++) {
		aries_peer_rx_ack(ch, slot);
		aries_peer_rx_msg(ch, slot, false);
		cond_resched();
	}
}

static void aries_chan_event(struct aries_chan *ch, u64 entry)
{
	u32 data = FIELD_GET(ARIES_CQE_DATA_MASK, entry);
	u32 slot = data & (ch->slots - 1);

	if (data & ARIES_CHAN_EVENT_ACK)
		aries_peer_rx_ack(ch, slot);
	else
		aries_peer_rx_msg(ch, slot, true);
}

/* Return: whether there may be more. */
static bool aries_chan_drain(struct aries_chan *ch)
{
	u64 *slots = ch->cq + ARIES_CQ_HEADER_BYTES / sizeof(u64);
	bool overrun = false;
	unsigned int n;

	for (n = 0; n < ARIES_CHAN_BATCH; n++) {
		u64 *slot = &slots[ch->consumed & (BIT(ARIES_CHAN_CQ_LOG2) - 1)];
		u64 entry = smp_load_acquire(slot); /* pairs with the NIC's release of the entry */

		if (!entry)
			break;
		WRITE_ONCE(*slot, 0);
		smp_store_release(&ch->cq[0], ++ch->consumed); /* after the slot is clear */
		if (entry & ARIES_CQE_OVERRUN)
			overrun = true;
		else
			aries_chan_event(ch, entry);
	}
	if (overrun)
		aries_chan_scan(ch);
	return n == ARIES_CHAN_BATCH;
}

/* Return: jiffies of the next run. */
static unsigned long aries_chan_pass(struct aries_chan *ch)
{
	unsigned long next = jiffies + ARIES_CHAN_IDLE;
	bool more = aries_chan_drain(ch);

	next = aries_flow_run(ch, next);
	next = aries_peer_run(ch, next);
	if (more)
		return jiffies;
	/*
	 * If an entry has arrived meanwhile this interrupts at once. This is the only place that
	 * arms the queue, so at the interrupt the work item may be scheduled.
	 */
	aries_wr32(ch->ad, ARIES_CQI_ARM, FIELD_PREP(ARIES_CQI_ARM_CQ_MASK, ARIES_CHAN_CQ));
	return next;
}

static void aries_chan_work(struct work_struct *work)
{
	struct aries_chan *ch = container_of(to_delayed_work(work), struct aries_chan, work);
	struct aries_dev *ad = ch->ad;
	unsigned long next, now;

	down_read(&ad->state_sem);
	if (READ_ONCE(ch->on) && ad->state == ARIES_STATE_UP && READ_ONCE(ad->hw_ok)) {
		next = aries_chan_pass(ch);
		now = jiffies;
		if (time_before(next, now + ARIES_CHAN_IDLE))
			queue_delayed_work(ch->wq, &ch->work,
					   time_after(next, now) ? next - now : 0);
	}
	up_read(&ad->state_sem);
}

static int aries_chan_alloc(struct aries_chan *ch)
{
	struct aries_dev *ad = ch->ad;
	struct device *dev = &ad->pdev->dev;

	ch->area = dma_alloc_coherent(dev, ch->slots * ARIES_SLOT_BYTES, &ch->area_dma, GFP_KERNEL);
	ch->pte = dma_alloc_coherent(dev, PAGE_SIZE, &ch->pte_dma, GFP_KERNEL);
	ch->cq = dma_alloc_coherent(dev, ARIES_CHAN_CQ_BYTES, &ch->cq_dma, GFP_KERNEL);
	ch->wq = alloc_ordered_workqueue("%s-chan", 0, dev_name(&ad->dev));
	if (!ch->area || !ch->pte || !ch->cq || !ch->wq)
		return -ENOMEM;
	return aries_port_init(&ch->port, ad, ARIES_CHAN_FMAD);
}

static void aries_chan_init_lists(struct aries_chan *ch)
{
	unsigned int i;

	xa_init(&ch->peers);
	INIT_LIST_HEAD(&ch->active);
	for (i = 0; i < ARIES_PAUSES; i++)
		INIT_LIST_HEAD(&ch->pause[i]);
	ch->seed = (u32)get_random_u64();
	hash_init(ch->flows);
	hash_init(ch->by_inst);
	hash_init(ch->by_handle);
	hash_init(ch->by_ep);
	hash_init(ch->by_route);
	for (i = 0; i < ARRAY_SIZE(ch->by_callee); i++)
		INIT_LIST_HEAD(&ch->by_callee[i]);
	hash_init(ch->by_partner);
	hash_init(ch->by_request);
	hash_init(ch->by_caller);
}

/**
 * aries_chan_init() - allocate the memory of the channel
 * @ad: the device, which was identified
 *
 * Context: may sleep. Return: 0 or -ENOMEM.
 */
int aries_chan_init(struct aries_dev *ad)
{
	struct aries_chan *ch = kvzalloc(sizeof(*ch), GFP_KERNEL);

	if (!ch)
		return -ENOMEM;
	ch->ad = ad;
	spin_lock_init(&ch->lock);
	INIT_DELAYED_WORK(&ch->work, aries_chan_work);
	aries_chan_init_lists(ch);
	ch->slots = ARIES_SLOTS_MIN;
	while (ch->slots < ad->nodes && ch->slots < ARIES_SLOTS_MAX)
		ch->slots *= 2;
	ad->chan = ch;
	if (!aries_chan_alloc(ch))
		return 0;
	aries_quiet_begin(ad);
	aries_chan_exit(ad);
	return -ENOMEM;
}

/**
 * aries_chan_exit() - free the memory of the channel, except for the structure
 * @ad: the device
 *
 * Open files access the structure, which is freed with the device. The memory stays allocated if
 * the NIC may still access it. To be called after aries_kept_exit().
 *
 * Context: sleeps; no interrupts are raised any more.
 */
void aries_chan_exit(struct aries_dev *ad)
{
	struct device *dev = &ad->pdev->dev;
	struct aries_chan *ch = ad->chan;

	if (!ch)
		return;
	aries_chan_stop(ad);
	if (ch->wq)
		destroy_workqueue(ch->wq);
	aries_port_exit(&ch->port);
	xa_destroy(&ch->peers);
	if (!aries_quiet(ad))
		return;
	if (ch->cq)
		dma_free_coherent(dev, ARIES_CHAN_CQ_BYTES, ch->cq, ch->cq_dma);
	if (ch->pte)
		dma_free_coherent(dev, PAGE_SIZE, ch->pte, ch->pte_dma);
	if (ch->area)
		dma_free_coherent(dev, ch->slots * ARIES_SLOT_BYTES, ch->area, ch->area_dma);
}

static void aries_chan_program(struct aries_chan *ch)
{
	struct aries_dev *ad = ch->ad;
	u32 bytes = ch->slots * ARIES_SLOT_BYTES;
	u64 vector = ad->nvec > 1 ? 1 : 0;
	u32 at;

	for (at = 0; at < bytes; at += PAGE_SIZE)
		ch->pte[at / PAGE_SIZE] =
			cpu_to_le64((ch->area_dma + at) | ARIES_PTE_VALID | ARIES_PTE_WRITE);
	aries_wr64(ad, ARIES_PTAG_KEY_N(ARIES_CHAN_PTAG),
		   FIELD_PREP(ARIES_PTAG_KEY_KEY_MASK, (u64)ARIES_CHAN_COOKIE) |
			   FIELD_PREP(ARIES_PTAG_KEY_VALID_MASK, 1ull));
	aries_wr64(ad, ARIES_CQ_BASE_N(ARIES_CHAN_CQ), ch->cq_dma);
	aries_wr64(ad, ARIES_CQ_CTL_N(ARIES_CHAN_CQ),
		   FIELD_PREP(ARIES_CQ_CTL_VALID_MASK, 1ull) |
			   FIELD_PREP(ARIES_CQ_CTL_IRQ_MASK, 1ull) |
			   FIELD_PREP(ARIES_CQ_CTL_LOG2_MASK, (u64)ARIES_CHAN_CQ_LOG2) |
			   FIELD_PREP(ARIES_CQ_CTL_OWNER_MASK, (u64)ARIES_CHAN_OWNER) |
			   FIELD_PREP(ARIES_CQ_CTL_VECTOR_MASK, vector));
	aries_wr64(ad, ARIES_MDD_BASE_N(ARIES_CHAN_MDH), 0);
	aries_wr64(ad, ARIES_MDD_LENGTH_N(ARIES_CHAN_MDH), bytes);
	aries_wr64(ad, ARIES_MDD_TABLE_N(ARIES_CHAN_MDH), ch->pte_dma);
	aries_wr64(ad, ARIES_MDD_CTL_N(ARIES_CHAN_MDH),
		   FIELD_PREP(ARIES_MDD_CTL_VALID_MASK, 1ull) |
			   FIELD_PREP(ARIES_MDD_CTL_CQ_VALID_MASK, 1ull) |
			   FIELD_PREP(ARIES_MDD_CTL_PTAG_MASK, (u64)ARIES_CHAN_PTAG) |
			   FIELD_PREP(ARIES_MDD_CTL_PAGE_SHIFT_MASK, (u64)PAGE_SHIFT) |
			   FIELD_PREP(ARIES_MDD_CTL_CQ_MASK, (u64)ARIES_CHAN_CQ) |
			   FIELD_PREP(ARIES_MDD_CTL_OWNER_MASK, (u64)ARIES_CHAN_OWNER));
	aries_wr64(ad, ARIES_FMAD_CTL_N(ARIES_CHAN_FMAD),
		   FIELD_PREP(ARIES_FMAD_CTL_ENABLE_MASK, 1ull) |
			   FIELD_PREP(ARIES_FMAD_CTL_PTAG_MASK, (u64)ARIES_CHAN_PTAG) |
			   FIELD_PREP(ARIES_FMAD_CTL_OWNER_MASK, (u64)ARIES_CHAN_OWNER));
}

/**
 * aries_chan_start() - set up the channel in a NIC that was reset
 * @ad: the device
 *
 * The channel works after aries_chan_go(). Context: may sleep.
 */
void aries_chan_start(struct aries_dev *ad)
{
	struct aries_chan *ch = ad->chan;

	memset(ch->area, 0, ch->slots * ARIES_SLOT_BYTES);
	memset(ch->cq, 0, ARIES_CHAN_CQ_BYTES);
	aries_port_clear(&ch->port);
	ch->consumed = 0;
	aries_chan_program(ch);
	aries_port_switch(&ch->port, true);
	WRITE_ONCE(ch->on, true);
}

/**
 * aries_chan_go() - start the channel after the device is up
 * @ad: the device
 *
 * The work item runs once, and handles what has arrived before the queue was armed.
 *
 * Context: any.
 */
void aries_chan_go(struct aries_dev *ad)
{
	aries_chan_kick(ad->chan);
}

/**
 * aries_chan_stop() - stop the channel; no owner is attached any more
 * @ad: the device
 *
 * May be called twice. Context: sleeps; state_sem not held.
 */
void aries_chan_stop(struct aries_dev *ad)
{
	struct aries_chan *ch = ad->chan;

	if (!READ_ONCE(ch->on))
		return;
	spin_lock_irq(&ch->lock);
	WRITE_ONCE(ch->on, false);
	spin_unlock_irq(&ch->lock);
	cancel_delayed_work_sync(&ch->work);
	aries_port_switch(&ch->port, false);
	aries_wr64(ad, ARIES_FMAD_CTL_N(ARIES_CHAN_FMAD), 0);
	aries_inv_mdd(ad, ARIES_CHAN_MDH);
	aries_wr64(ad, ARIES_CQ_CTL_N(ARIES_CHAN_CQ), 0);
	aries_inv_drain(ad);
	aries_wr64(ad, ARIES_PTAG_KEY_N(ARIES_CHAN_PTAG), 0);
	aries_peer_free_all(ch);
}
