// SPDX-License-Identifier: GPL-2.0-only
/*
 * Can the NIC access memory?
 *
 * Peers write to memory on their own, and continue when this function no longer answers. The NIC
 * cannot access memory when bus mastering is off and nothing is in flight any more, when a reset
 * has ended, and when the function is gone. If the NIC just does not answer, nothing is certain.
 */
#include "aries_core.h"

/*
 * A running peer finishes its access much earlier. A peer that is stopped in the middle of an
 * access may continue after an hour. Error recovery does not wait for that; only the memory stays
 * allocated.
 */
#define ARIES_QUIET_MS 2000

/** aries_quiet() - is the NIC known to be unable to access memory? Context: any. */
bool aries_quiet(struct aries_dev *ad)
{
	return READ_ONCE(ad->quiet);
}

/**
 * aries_quiet_end() - let the NIC access memory
 * @ad: the device
 *
 * Context: may sleep.
 */
void aries_quiet_end(struct aries_dev *ad)
{
	WRITE_ONCE(ad->quiet, false);
	pci_set_master(ad->pdev);
}

/*
 * A reset clears the addresses of the BARs. It has ended when the function answers and they are 0.
 */
static bool aries_quiet_was_reset(struct pci_dev *pdev)
{
	u32 low = 0, high = 0;

	pci_read_config_dword(pdev, PCI_BASE_ADDRESS_0, &low);
	if (low & PCI_BASE_ADDRESS_MEM_TYPE_64)
		pci_read_config_dword(pdev, PCI_BASE_ADDRESS_1, &high);
	return !(low & PCI_BASE_ADDRESS_MEM_MASK) && !high;
}

/**
 * aries_quiet_reached() - is the NIC unable to access memory in its current state?
 * @ad: the device
 * @timeout_ms: how long to wait for accesses in flight
 *
 * This only reads, so it does not disturb a concurrent reset of the function.
 * Context: sleeps. Return: whether it cannot access memory.
 */
bool aries_quiet_reached(struct aries_dev *ad, unsigned int timeout_ms)
{
	struct pci_dev *pdev = ad->pdev;
	u16 command;

	if (pdev->error_state == pci_channel_io_perm_failure)
		return true;
	/* unless the function was declared gone, this is a reset that has not ended */
	if (!pci_device_is_present(pdev))
		return false;
	if (aries_quiet_was_reset(pdev))
		return true;
	pci_read_config_word(pdev, PCI_COMMAND, &command);
	return !(command & PCI_COMMAND_MASTER) && !aries_hw_settle(ad, timeout_ms);
}

/* The registers tell what is in flight, so enable memory decoding if it is off. */
static void aries_quiet_decode(struct pci_dev *pdev)
{
	u16 command;

	pci_read_config_word(pdev, PCI_COMMAND, &command);
	if (!(command & PCI_COMMAND_MEMORY) && !pci_channel_offline(pdev))
		pci_write_config_word(pdev, PCI_COMMAND, command | PCI_COMMAND_MEMORY);
}

/**
 * aries_quiet_begin() - cut the NIC off from memory: disable bus mastering, and wait
 * @ad: the device, whether it answers or not
 *
 * Context: sleeps. Return: whether the NIC cannot access memory any more, so that it may be freed.
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
