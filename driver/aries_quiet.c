// SPDX-License-Identifier: GPL-2.0-only
/*
 * When memory that the NIC knew may be given back.
 *
 * Peers write into it on their own, and go on when this function no longer answers. So whoever
 * frees such memory must know that nobody reaches it: the NIC has said so (an invalidation that
 * ended), or nothing of the NIC reaches any memory. The latter is so when bus mastering is off and
 * what was in flight has ended, when a reset has ended, and when the function is gone. A NIC that
 * does not answer has promised nothing: its memory is kept until one of the three is so.
 *
 * Whoever ends objects revokes all of them under the lock that protects them, collects them in a
 * list (aries_quiet_take()), and waits and frees when it has left the lock (aries_quiet_release()):
 * one wait however many there are, and nobody else waits with it. Until an object is freed its
 * number is nobody's and its domain pays for it.
 */
#include <linux/sched.h>

#include "aries.h"

/*
 * A peer that copies is done long before. One that is stopped in the middle of it may go on in an
 * hour; error recovery does not wait for it, the memory does.
 */
#define ARIES_QUIET_MS 2000
#define ARIES_KEPT_INTERVAL (HZ / 2) /* between two looks at what was put aside */

/** aries_quiet() - does the NIC reach no memory at all? Context: any. */
bool aries_quiet(struct aries_dev *ad)
{
	return READ_ONCE(ad->quiet);
}

/**
 * aries_quiet_end() - let the NIC reach memory
 * @ad: the device
 *
 * Context: may sleep.
 */
void aries_quiet_end(struct aries_dev *ad)
{
	WRITE_ONCE(ad->quiet, false);
	pci_set_master(ad->pdev);
}

/* A reset takes the addresses of the BARs; it has ended when the function answers without them. */
static bool aries_quiet_was_reset(struct pci_dev *pdev)
{
	u32 low = 0, high = 0;

	pci_read_config_dword(pdev, PCI_BASE_ADDRESS_0, &low);
	if (low & PCI_BASE_ADDRESS_MEM_TYPE_64)
		pci_read_config_dword(pdev, PCI_BASE_ADDRESS_1, &high);
	return !(low & PCI_BASE_ADDRESS_MEM_MASK) && !high;
}

/* Only looks, so whoever resets the function at the same time is not disturbed. */
static bool aries_quiet_reached(struct aries_dev *ad, unsigned int timeout_ms)
{
	struct pci_dev *pdev = ad->pdev;
	u16 command;

	if (pdev->error_state == pci_channel_io_perm_failure)
		return true;
	/* in a reset that has not ended, as long as nobody has said that the function is gone */
	if (!pci_device_is_present(pdev))
		return false;
	if (aries_quiet_was_reset(pdev))
		return true;
	pci_read_config_word(pdev, PCI_COMMAND, &command);
	return !(command & PCI_COMMAND_MASTER) && !aries_hw_settle(ad, timeout_ms);
}

/* The registers tell what is in flight, whoever has switched them off. */
static void aries_quiet_decode(struct pci_dev *pdev)
{
	u16 command;

	pci_read_config_word(pdev, PCI_COMMAND, &command);
	if (!(command & PCI_COMMAND_MEMORY) && !pci_channel_offline(pdev))
		pci_write_config_word(pdev, PCI_COMMAND, command | PCI_COMMAND_MEMORY);
}

/**
 * aries_quiet_begin() - take all memory from the NIC: bus mastering off, and nothing in flight
 * @ad: the device, whether it answers or not
 *
 * Context: sleeps. Return: whether it is so, so that memory may be freed.
 */
bool aries_quiet_begin(struct aries_dev *ad)
{
	pci_clear_master(ad->pdev);
	if (aries_quiet(ad))
		return true;
	aries_quiet_decode(ad->pdev);
	if (aries_quiet_reached(ad, ARIES_QUIET_MS))
		WRITE_ONCE(ad->quiet, true);
	return aries_quiet(ad);
}

/* Nobody reaches any of these. */
static void aries_quiet_free_list(struct aries_dev *ad, struct list_head *list)
{
	struct aries_kept *kept, *next;

	list_for_each_entry_safe(kept, next, list, node) {
		struct aries_domain *dom = kept->dom;

		kept->free(ad, kept);
		aries_domain_put(dom);
		cond_resched();
	}
	INIT_LIST_HEAD(list);
}

/**
 * aries_quiet_take() - collect what was taken from an attachment and revoked
 * @own: attachment; its domain pays until @free has been called
 * @gone: list for aries_quiet_release()
 * @kept: stands for it
 * @free: frees it, @kept included; may sleep, and holds no lock but state_sem for reading
 *
 * Context: own->lock held. Its number has to be with aries_pool_hold() from here on.
 */
void aries_quiet_take(struct aries_owner *own, struct list_head *gone, struct aries_kept *kept,
		      void (*free)(struct aries_dev *ad, struct aries_kept *kept))
	__must_hold(&own->lock)
{
	lockdep_assert_held(&own->lock);
	kept->dom = aries_domain_get(own->dom);
	kept->free = free;
	list_add_tail(&kept->node, gone);
}

/**
 * aries_quiet_release() - free what was revoked, or put it aside until the NIC reaches it no more
 * @ad: the device
 * @gone: list from aries_quiet_take(), empty afterwards; for all of it there is one wait
 *
 * Context: sleeps, for a second at most; state_sem held for reading, so that a reset comes before
 * or after, and no other lock.
 */
void aries_quiet_release(struct aries_dev *ad, struct list_head *gone)
{
	struct aries_kept *kept;
	u64 seq;

	lockdep_assert_held_read(&ad->state_sem);
	if (list_empty(gone))
		return;
	seq = aries_inv_seq(ad);
	if (!aries_inv_wait(ad, seq)) {
		aries_quiet_free_list(ad, gone);
		return;
	}
	list_for_each_entry(kept, gone, node)
		kept->seq = seq;
	spin_lock(&ad->kept_lock);
	list_splice_init(gone, &ad->kept);
	spin_unlock(&ad->kept_lock);
	if (aries_quiet(ad))
		aries_quiet_free(ad);
	else
		schedule_delayed_work(&ad->kept_work, ARIES_KEPT_INTERVAL);
}

/* Frees what a NIC that is up has let go of. */
static void aries_quiet_look(struct aries_dev *ad)
{
	struct aries_kept *kept, *next;
	LIST_HEAD(list);

	spin_lock(&ad->kept_lock);
	list_for_each_entry_safe(kept, next, &ad->kept, node)
		if (!aries_inv_look(ad, kept->seq))
			list_move_tail(&kept->node, &list);
	spin_unlock(&ad->kept_lock);
	aries_quiet_free_list(ad, &list);
}

/**
 * aries_quiet_work() - free what was put aside and is not reached any more
 * @work: kept_work
 *
 * Object after object while the NIC is up. After that, all at once: a recovery may have failed
 * because of a peer that was stopped, and nobody comes again when the peer goes on. With state_sem,
 * nothing is put aside for a NIC that has come up meanwhile.
 */
void aries_quiet_work(struct work_struct *work)
{
	struct aries_dev *ad = container_of(work, struct aries_dev, kept_work.work);
	bool more;

	down_read(&ad->state_sem);
	if (ad->state == ARIES_STATE_UP)
		aries_quiet_look(ad);
	else if (aries_quiet_reached(ad, 0))
		aries_quiet_free(ad);
	spin_lock(&ad->kept_lock);
	more = !list_empty(&ad->kept);
	spin_unlock(&ad->kept_lock);
	up_read(&ad->state_sem);
	if (more)
		schedule_delayed_work(&ad->kept_work, ARIES_KEPT_INTERVAL);
}

/**
 * aries_quiet_free() - free what was put aside
 * @ad: the device, which reaches no memory or was reset
 *
 * Context: sleeps.
 */
void aries_quiet_free(struct aries_dev *ad)
{
	LIST_HEAD(list);

	spin_lock(&ad->kept_lock);
	list_splice_init(&ad->kept, &list);
	spin_unlock(&ad->kept_lock);
	aries_quiet_free_list(ad, &list);
}

/**
 * aries_quiet_exit() - the driver leaves the device: free what was put aside, or leave it for ever
 * @ad: the device
 *
 * Context: sleeps. Return: whether the memory of the NIC may be freed.
 */
bool aries_quiet_exit(struct aries_dev *ad)
{
	struct aries_kept *kept, *next;

	cancel_delayed_work_sync(&ad->kept_work);
	if (aries_quiet_begin(ad)) {
		aries_quiet_free(ad);
		return true;
	}
	/* nobody else looks at them any more */
	list_for_each_entry_safe(kept, next, &ad->kept, node)
		if (kept->lose)
			kept->lose(ad, kept);
	dev_err(&ad->pdev->dev,
		"accesses may still be in flight, and the driver leaves: what they may reach is lost\n");
	return false;
}
