// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * The device in the class "gni": its number, and the lifetime of its structure.
 */
#include <linux/fs.h>
#include <linux/idr.h>
#include <linux/slab.h>

#include "aries.h"

static dev_t aries_devt;
static DEFINE_IDA(aries_ids);

static void aries_dev_release(struct device *dev)
{
	struct aries_dev *ad = container_of(dev, struct aries_dev, dev);

	aries_pool_exit(&ad->owners);
	aries_pool_exit(&ad->fmads);
	aries_pool_exit(&ad->mdds);
	aries_pool_exit(&ad->cqs);
	aries_pool_exit(&ad->ces);
	aries_pool_exit(&ad->insts);
	aries_pool_exit(&ad->recvs);
	kvfree(ad->cq_table);
	kvfree(ad->chan);
	kfree(ad->config);
	aries_ntt_exit(ad);
	pci_dev_put(ad->pdev);
	kfree(ad);
}

/**
 * aries_dev_new() - allocate a device and give it a number
 * @pdev: the PCI function
 *
 * Context: may sleep. Return: the device, to be passed to aries_dev_drop(), or an error pointer:
 * -ENOMEM; -ENOSPC if there are too many devices.
 */
struct aries_dev *aries_dev_new(struct pci_dev *pdev)
{
	struct aries_dev *ad = kzalloc(sizeof(*ad), GFP_KERNEL);
	int id;

	if (!ad)
		return ERR_PTR(-ENOMEM);
	id = ida_alloc_max(&aries_ids, ARIES_MAX_DEVICES - 1, GFP_KERNEL);
	if (id < 0) {
		kfree(ad);
		return ERR_PTR(id);
	}
	ad->id = id;
	ad->pdev = pci_dev_get(pdev);
	ad->state = ARIES_STATE_RESET;
	ad->ecc_limit = ARIES_ECC_LIMIT;
	ad->ecc_window_ms = ARIES_ECC_WINDOW_MS;
	init_rwsem(&ad->state_sem);
	mutex_init(&ad->ptag_lock);
	mutex_init(&ad->share_lock);
	INIT_LIST_HEAD(&ad->shares);
	mutex_init(&ad->owner_lock);
	init_waitqueue_head(&ad->resume_wq);
	mutex_init(&ad->client_lock);
	INIT_LIST_HEAD(&ad->clients);
	mutex_init(&ad->node_lock);
	INIT_LIST_HEAD(&ad->node_watches);
	aries_qsc_init(ad);
	ad->inv_late = ~0ull;
	ad->cut_late = ~0ull;
	INIT_DELAYED_WORK(&ad->kept_work, aries_kept_work);
	INIT_DELAYED_WORK(&ad->recv_work, aries_recv_work);
	mutex_init(&ad->clock_lock);
	INIT_LIST_HEAD(&ad->sleepers);
	init_waitqueue_head(&ad->clock_wq);
	spin_lock_init(&ad->irq_lock);
	INIT_LIST_HEAD(&ad->owner_list);
	spin_lock_init(&ad->kept_lock);
	INIT_LIST_HEAD(&ad->kept);
	ad->quiet = true;
	spin_lock_init(&ad->ees_lock);
	INIT_LIST_HEAD(&ad->ees);
	init_completion(&ad->test_done);
	device_initialize(&ad->dev);
	ad->dev.class = &aries_class;
	ad->dev.parent = &pdev->dev;
	ad->dev.devt = MKDEV(MAJOR(aries_devt), id);
	ad->dev.release = aries_dev_release;
	if (dev_set_name(&ad->dev, "kgni%d", id)) {
		aries_dev_drop(ad);
		return ERR_PTR(-ENOMEM);
	}
	return ad;
}

/**
 * aries_dev_drop() - free the number of a device, and drop the caller's reference
 * @ad: device that is not, or no longer, in /dev
 *
 * Files may still be open: they return -ENODEV until they are closed. The number may be used for
 * another function meanwhile. Context: may sleep.
 */
void aries_dev_drop(struct aries_dev *ad)
{
	ida_free(&aries_ids, ad->id);
	put_device(&ad->dev);
}

/** aries_dev_init() - reserve the device numbers and register the class */
int aries_dev_init(void)
{
	int rc = class_register(&aries_class);

	if (rc)
		return rc;
	rc = alloc_chrdev_region(&aries_devt, 0, ARIES_MAX_DEVICES, "kgni");
	if (rc)
		class_unregister(&aries_class);
	return rc;
}

/** aries_dev_exit() - undo aries_dev_init() */
void aries_dev_exit(void)
{
	unregister_chrdev_region(aries_devt, ARIES_MAX_DEVICES);
	class_unregister(&aries_class);
	ida_destroy(&aries_ids);
}
