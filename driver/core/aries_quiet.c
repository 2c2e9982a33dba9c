// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * Whether the NIC reaches memory.
 *
 * Peers write into memory on their own, and go on when this function no longer answers. Nothing of
 * the NIC reaches any memory when bus mastering is off and what was in flight has ended, when a
 * reset has ended, and when the function is gone. A NIC that does not answer has promised nothing.
 */
#include "aries_core.h"

/*
 * A peer that copies is done long before. One that is stopped in the middle of it may go on in an
 * hour; error recovery does not wait for it, the memory does.
 */
#define ARIES_QUIET_MS 2000

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

/**
 * aries_quiet_reached() - does the NIC, as it is now, reach no memory?
 * @ad: the device
 * @timeout_ms: how long to wait for what is in flight
 *
 * Only looks, so whoever resets the function at the same time is not disturbed.
 * Context: sleeps. Return: whether it is so.
 */
bool aries_quiet_reached(struct aries_dev *ad, unsigned int timeout_ms)
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
