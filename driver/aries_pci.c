// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * The PCI function: probe and remove, function reset, error recovery, surprise removal, suspend.
 */
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/pm.h>
#include <linux/slab.h>

#include "aries.h"
#include "aries_client.h"
#include "aries_compat.h"
#include "aries_trace.h"

static int aries_pci_map(struct aries_dev *ad)
{
	struct pci_dev *pdev = ad->pdev;

	if (pci_resource_len(pdev, ARIES_BAR_REGS) < ARIES_BAR_REGS_SIZE ||
	    pci_resource_len(pdev, ARIES_BAR_FMA) < ARIES_BAR_FMA_SIZE ||
	    pci_resource_len(pdev, ARIES_BAR_DESC) < ARIES_BAR_DESC_SIZE) {
		dev_err(&pdev->dev, "BAR 0, 2 or 4 is missing or too small\n");
		return -ENODEV;
	}
	ad->regs_phys = pci_resource_start(pdev, ARIES_BAR_REGS);
	ad->fma_phys = pci_resource_start(pdev, ARIES_BAR_FMA);
	ad->desc_phys = pci_resource_start(pdev, ARIES_BAR_DESC);
	ad->regs = pci_iomap(pdev, ARIES_BAR_REGS, ARIES_BAR_REGS_SIZE);
	if (!ad->regs)
		return -ENOMEM;
	/* use the same memory type as the mappings of processes */
	ad->desc = pci_iomap_wc(pdev, ARIES_BAR_DESC, ARIES_BAR_DESC_SIZE);
	if (!ad->desc) {
		pci_iounmap(pdev, ad->regs);
		return -ENOMEM;
	}
	ad->hw_ok = true;
	return 0;
}

static void aries_pci_unmap(struct aries_dev *ad)
{
	WRITE_ONCE(ad->hw_ok, false);
	pci_iounmap(ad->pdev, ad->desc);
	pci_iounmap(ad->pdev, ad->regs);
}

static int aries_pci_enable(struct aries_dev *ad)
{
	struct pci_dev *pdev = ad->pdev;
	int rc;

	rc = pci_enable_device_mem(pdev);
	if (rc)
		return rc;
	rc = pci_request_mem_regions(pdev, KBUILD_MODNAME);
	if (rc)
		goto err_disable;
	rc = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(ARIES_DMA_BITS));
	if (rc)
		goto err_regions;
	/*
	 * processes poll memory that the NIC writes, and nothing could maintain the caches for them
	 */
	if (!dev_is_dma_coherent(&pdev->dev)) {
		dev_err(&pdev->dev, "DMA is not cache coherent here\n");
		rc = -EOPNOTSUPP;
		goto err_regions;
	}
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);
	rc = aries_pci_map(ad);
	if (rc)
		goto err_regions;
	aries_quiet_end(ad);
	return 0;

err_regions:
	pci_release_mem_regions(pdev);
err_disable:
	pci_disable_device(pdev);
	return rc;
}

static void aries_pci_disable(struct aries_dev *ad)
{
	pci_clear_master(ad->pdev);
	aries_pci_unmap(ad);
	pci_release_mem_regions(ad->pdev);
	pci_disable_device(ad->pdev);
}

static int aries_pools_init(struct aries_dev *ad)
{
	int rc = aries_pool_init(&ad->owners, 1, ARIES_OWNERS);

	if (!rc)
		rc = aries_pool_init(&ad->fmads, 1, ad->nfma); /* 0 belongs to the kernel */
	if (!rc)
		rc = aries_pool_init(&ad->mdds, 1, ad->nmdd);
	if (!rc)
		rc = aries_pool_init(&ad->cqs, 1, ad->ncq);
	if (!rc)
		rc = aries_pool_init(&ad->ces, 0, ARIES_CE_CHANNELS);
	if (!rc)
		rc = aries_pool_init(&ad->insts, 0, ARIES_CE_INSTANCES);
	if (!rc)
		rc = aries_pool_init(&ad->recvs, 0, ARIES_RMT_ENTRIES);
	if (rc)
		return rc;
	ad->cq_table = kvcalloc(ad->ncq, sizeof(*ad->cq_table), GFP_KERNEL);
	return ad->cq_table ? aries_ntt_init(ad) : -ENOMEM;
}

/* Bring the NIC up from any state, at probe and after a reset. */
static int aries_pci_start(struct aries_dev *ad)
{
	u32 status;
	int rc;

	rc = aries_hw_reset(ad);
	if (rc) {
		dev_err(&ad->pdev->dev, "reset does not end: %d\n", rc);
		return rc;
	}
	aries_kept_reset(ad);
	aries_quiet_end(ad);
	aries_domain_restore(ad);
	aries_ntt_restore(ad);
	aries_bi_reset(ad);
	aries_ras_start(ad);
	aries_chan_start(ad);
	aries_hw_enable(ad, true);
	status = aries_rd32(ad, ARIES_CTL_STATUS);
	if (!FIELD_GET(ARIES_CTL_STATUS_ENABLED_MASK, status)) {
		dev_err(&ad->pdev->dev, "NIC does not enable, CTL_STATUS %#x\n", status);
		return -EIO;
	}
	if (!FIELD_GET(ARIES_CTL_STATUS_LINK_MASK, status))
		dev_warn(&ad->pdev->dev, "not connected to the fabric\n");
	if (FIELD_GET(ARIES_CTL_STATUS_PARTIAL_MASK, status))
		aries_ras_partial(ad);
	down_write(&ad->state_sem);
	ad->state = ARIES_STATE_UP;
	trace_aries_reset(ad->id, ad->state, true);
	up_write(&ad->state_sem);
	aries_chan_go(ad);
	aries_nodes_start(ad);
	aries_qsc_start(ad);
	return 0;
}

static int aries_pci_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct aries_dev *ad = aries_dev_new(pdev);
	int rc;

	if (IS_ERR(ad))
		return PTR_ERR(ad);
	pci_set_drvdata(pdev, ad);
	rc = aries_pci_enable(ad);
	if (rc)
		goto err_dev;
	rc = aries_hw_identify(ad);
	if (rc)
		goto err_disable;
	rc = aries_pools_init(ad);
	if (rc)
		goto err_disable;
	rc = aries_chan_init(ad);
	if (rc)
		goto err_disable;
	rc = aries_irq_init(ad);
	if (rc)
		goto err_chan;
	rc = aries_selftest(ad);
	if (rc)
		goto err_irq;
	rc = aries_pci_start(ad);
	if (rc)
		goto err_irq;
	aries_report_errors(pdev);
	pci_save_state(pdev);
	ad->config = pci_store_saved_state(pdev);
	aries_debugfs_add(ad);
	/* without the saved state the NIC could not be restored after a bus reset */
	rc = ad->config ? aries_devlink_add(ad) : -ENOMEM;
	if (rc)
		goto err_stop;
	rc = aries_chrdev_add(ad);
	if (rc)
		goto err_devlink;
	aries_client_add(ad);
	dev_info(&ad->dev, "node %u of %u, %u FMA descriptors, %u MDDs, %u CQs, %u vectors\n",
		 ad->pe, ad->nodes, ad->nfma, ad->nmdd, ad->ncq, ad->nvec);
	return 0;

err_devlink:
	aries_devlink_del(ad);
err_stop:
	aries_debugfs_del(ad);
	aries_chan_stop(ad);
	aries_nodes_stop(ad);
	aries_qsc_stop(ad);
	aries_hw_enable(ad, false);
err_irq:
	aries_irq_exit(ad);
err_chan:
	aries_kept_exit(ad);
	aries_chan_exit(ad);
err_disable:
	aries_pci_disable(ad);
err_dev:
	pci_set_drvdata(pdev, NULL);
	aries_dev_drop(ad);
	return rc;
}

/*
 * Revoke everything from all owners. A NIC that answers releases one object after the other. If it
 * does not answer, memory may be freed only after the NIC has lost access to all memory.
 */
static void aries_pci_stop(struct aries_dev *ad, enum aries_state state, bool answers)
{
	if (!answers) {
		/*
		 * threads that wait for the NIC give up now; the next lines wait for these threads
		 */
		WRITE_ONCE(ad->hw_ok, false);
		aries_quiet_begin(ad);
	}
	aries_revoke(ad, state);
	aries_chan_stop(ad);
	aries_nodes_stop(ad);
	aries_qsc_stop(ad);
	aries_hw_enable(ad, false);
	if (aries_quiet(ad))
		aries_kept_free(ad);
}

/*
 * A bus reset also clears the addresses of the BARs. A failed error recovery does not restore them,
 * and the next reset of the function would save and restore the cleared addresses.
 *
 * The NIC must not access memory before aries_quiet_end(), not even for a moment: what it knew
 * before its reset may have been freed.
 */
static void aries_pci_restore(struct aries_dev *ad)
{
	if (!ad->config || !pci_device_is_present(ad->pdev))
		return;
	pci_load_saved_state(ad->pdev, ad->config);
	ad->pdev->saved_config_space[PCI_COMMAND / 4] &= ~PCI_COMMAND_MASTER;
	pci_restore_state(ad->pdev);
	/* pci_restore_state() consumes the saved state, so save it again */
	pci_save_state(ad->pdev);
}

static void aries_pci_remove(struct pci_dev *pdev)
{
	struct aries_dev *ad = pci_get_drvdata(pdev);

	aries_devlink_del(ad);
	aries_client_del(ad);
	/* so that the function can be bound again */
	if (READ_ONCE(ad->state) == ARIES_STATE_RESET)
		aries_pci_restore(ad);
	aries_pci_stop(ad, ARIES_STATE_GONE, aries_hw_alive(ad));
	cancel_delayed_work_sync(&ad->recv_work);
	aries_chrdev_del(ad);
	aries_debugfs_del(ad);
	aries_domain_free_all(ad);
	aries_irq_exit(ad);
	aries_kept_exit(ad);
	aries_chan_exit(ad);
	aries_pci_disable(ad);
	pci_set_drvdata(pdev, NULL);
	aries_dev_drop(ad);
}

static void aries_pci_shutdown(struct pci_dev *pdev)
{
	struct aries_dev *ad = pci_get_drvdata(pdev);

	aries_pci_stop(ad, ARIES_STATE_GONE, aries_hw_alive(ad));
	aries_quiet_begin(ad);
}

static void aries_reset_prepare(struct pci_dev *pdev)
{
	struct aries_dev *ad = pci_get_drvdata(pdev);

	aries_pci_stop(ad, ARIES_STATE_RESET, aries_hw_alive(ad));
}

/* The registers answer again, but all state in the NIC is lost. */
static int aries_restart(struct aries_dev *ad)
{
	int rc;

	aries_pci_restore(ad);
	WRITE_ONCE(ad->hw_ok, true);
	rc = aries_hw_identify(ad);
	if (!rc)
		rc = aries_pci_start(ad);
	if (rc) {
		dev_err(&ad->pdev->dev, "not usable after a reset: %d\n", rc);
		aries_pci_stop(ad, ARIES_STATE_RESET, false);
		aries_devlink_failed(ad);
		return rc;
	}
	atomic64_inc(&ad->resets);
	dev_info(&ad->dev, "was reset; programs have to attach again\n");
	aries_devlink_up(ad);
	aries_client_tell(ad, ARIES_EVENT_UP);
	return 0;
}

static void aries_reset_done(struct pci_dev *pdev)
{
	aries_restart(pci_get_drvdata(pdev));
}

/*
 * The function is not disabled here: a bus reset and pci_restore_state() restore it, and removal
 * disables it whether it was restored or not.
 */
static pci_ers_result_t aries_error_detected(struct pci_dev *pdev, pci_channel_state_t state)
{
	struct aries_dev *ad = pci_get_drvdata(pdev);

	/*
	 * an internal error does not affect the bus, so the registers can be read; if not, they
	 * read as all ones
	 */
	if (state != pci_channel_io_perm_failure && aries_ras_capture(ad) &&
	    state == pci_channel_io_normal) {
		aries_pci_stop(ad, ARIES_STATE_RESET, true);
		return PCI_ERS_RESULT_NEED_RESET;
	}
	switch (state) {
	case pci_channel_io_normal:
		return PCI_ERS_RESULT_CAN_RECOVER;
	case pci_channel_io_frozen:
		aries_pci_stop(ad, ARIES_STATE_RESET, false);
		return PCI_ERS_RESULT_NEED_RESET;
	default:
		aries_pci_stop(ad, ARIES_STATE_GONE, false);
		return PCI_ERS_RESULT_DISCONNECT;
	}
}

static pci_ers_result_t aries_mmio_enabled(struct pci_dev *pdev)
{
	struct aries_dev *ad = pci_get_drvdata(pdev);

	return aries_hw_alive(ad) ? PCI_ERS_RESULT_RECOVERED : PCI_ERS_RESULT_NEED_RESET;
}

static pci_ers_result_t aries_slot_reset(struct pci_dev *pdev)
{
	struct aries_dev *ad = pci_get_drvdata(pdev);

	/*
	 * without error_detected(frozen) nothing was revoked yet, but the reset has cleared the NIC
	 */
	if (READ_ONCE(ad->state) == ARIES_STATE_UP)
		aries_pci_stop(ad, ARIES_STATE_RESET, false);
	return aries_restart(ad) ? PCI_ERS_RESULT_DISCONNECT : PCI_ERS_RESULT_RECOVERED;
}

static void aries_resume(struct pci_dev *pdev)
{
	struct aries_dev *ad = pci_get_drvdata(pdev);

	dev_info(&ad->dev, "recovered from a PCI error\n");
}

static const struct pci_error_handlers aries_err_handlers = {
	.error_detected = aries_error_detected,
	.mmio_enabled = aries_mmio_enabled,
	.slot_reset = aries_slot_reset,
	.resume = aries_resume,
	.reset_prepare = aries_reset_prepare,
	.reset_done = aries_reset_done,
};

/*
 * For all kinds of system sleep. The NIC may lose its state or a part of it, and after hibernation
 * another kernel has used it. So it is stopped before, and restarted as after a reset.
 */
static int aries_pm_suspend(struct device *dev)
{
	struct aries_dev *ad = dev_get_drvdata(dev);

	aries_pci_stop(ad, ARIES_STATE_RESET, aries_hw_alive(ad));
	if (aries_quiet_begin(ad))
		aries_kept_free(ad);
	return 0;
}

static int aries_pm_resume(struct device *dev)
{
	return aries_restart(dev_get_drvdata(dev));
}

static DEFINE_SIMPLE_DEV_PM_OPS(aries_pm_ops, aries_pm_suspend, aries_pm_resume);

static const struct pci_device_id aries_pci_ids[] = {
	{ PCI_DEVICE(ARIES_PCI_VENDOR, ARIES_PCI_DEVICE) },
	{}
};
MODULE_DEVICE_TABLE(pci, aries_pci_ids);

struct pci_driver aries_pci_driver = {
	.name = KBUILD_MODNAME,
	.id_table = aries_pci_ids,
	.probe = aries_pci_probe,
	.remove = aries_pci_remove,
	.shutdown = aries_pci_shutdown,
	.err_handler = &aries_err_handlers,
	.driver.pm = pm_sleep_ptr(&aries_pm_ops),
};
