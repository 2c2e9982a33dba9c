// SPDX-License-Identifier: GPL-2.0-only
/*
 * When memory that the NIC knew may be given back.
 *
 * Peers write into it on their own, and go on when this function no longer answers. So whoever
 * frees such memory must know that nobody reaches it: the NIC has said so (an invalidation that
 * ended), or nothing of the NIC reaches any memory. The latter is so when bus mastering is off and
 * what was in flight has ended, when a reset has ended, and when the function is gone. A NIC that
 * does not answer has promised nothing: its memory is kept until one of the three is so.
 */
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

static bool aries_quiet_reached(struct aries_dev *ad)
{
	struct pci_dev *pdev = ad->pdev;
	u16 command;

	if (!pci_device_is_present(pdev))
		return true;
	/* the registers tell what is in flight, whoever has switched them off */
	pci_read_config_word(pdev, PCI_COMMAND, &command);
	if (!(command & PCI_COMMAND_MEMORY) && !pci_channel_offline(pdev))
		pci_write_config_word(pdev, PCI_COMMAND, command | PCI_COMMAND_MEMORY);
	return !(command & PCI_COMMAND_MASTER) && !aries_hw_settle(ad, ARIES_QUIET_MS);
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
	if (!aries_quiet(ad) && aries_quiet_reached(ad))
		WRITE_ONCE(ad->quiet, true);
	return aries_quiet(ad);
}

/**
 * aries_quiet_keep() - free memory, or put it aside until the NIC reaches it no more
 * @ad: the device
 * @kept: stands for the memory
 * @free: frees it, @kept included
 *
 * For memory about which the NIC has not said that it let go of it.
 *
 * Context: sleeps.
 */
void aries_quiet_keep(struct aries_dev *ad, struct aries_kept *kept,
		      void (*free)(struct aries_dev *ad, struct aries_kept *kept))
{
	kept->free = free;
	kept->seq = aries_inv_seq(ad);
	spin_lock(&ad->kept_lock);
	list_add(&kept->node, &ad->kept);
	spin_unlock(&ad->kept_lock);
	if (aries_quiet(ad))
		aries_quiet_free(ad);
	else
		schedule_delayed_work(&ad->kept_work, ARIES_KEPT_INTERVAL);
}

/** aries_quiet_work() - free what was put aside and is not reached any more, one after the other */
void aries_quiet_work(struct work_struct *work)
{
	struct aries_dev *ad = container_of(work, struct aries_dev, kept_work.work);
	struct aries_kept *kept, *next;
	LIST_HEAD(list);
	bool more;

	spin_lock(&ad->kept_lock);
	list_for_each_entry_safe(kept, next, &ad->kept, node)
		if (!aries_inv_look(ad, kept->seq))
			list_move(&kept->node, &list);
	more = !list_empty(&ad->kept);
	spin_unlock(&ad->kept_lock);
	list_for_each_entry_safe(kept, next, &list, node)
		kept->free(ad, kept);
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
	struct aries_kept *kept, *next;
	LIST_HEAD(list);

	spin_lock(&ad->kept_lock);
	list_splice_init(&ad->kept, &list);
	spin_unlock(&ad->kept_lock);
	list_for_each_entry_safe(kept, next, &list, node)
		kept->free(ad, kept);
}

/**
 * aries_quiet_exit() - the driver leaves the device: free what was put aside, or leave it for ever
 * @ad: the device
 *
 * Context: sleeps. Return: whether the memory of the NIC may be freed.
 */
bool aries_quiet_exit(struct aries_dev *ad)
{
	cancel_delayed_work_sync(&ad->kept_work);
	if (aries_quiet_begin(ad)) {
		aries_quiet_free(ad);
		return true;
	}
	dev_err(&ad->pdev->dev,
		"accesses may still be in flight, and the driver leaves: what they may reach is lost\n");
	return false;
}
