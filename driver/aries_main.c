// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * Module: class, device numbers, PCI driver.
 */
#include <linux/module.h>

#include "aries.h"

static int __init aries_init(void)
{
	int rc;

	aries_sysfs_init();
	rc = aries_counters_init();
	if (rc)
		return rc;
	rc = aries_hold_init();
	if (rc)
		goto err_counters;
	rc = aries_dev_init();
	if (rc)
		goto err_hold;
	aries_debugfs_init();
	rc = pci_register_driver(&aries_pci_driver);
	if (rc)
		goto err_dev;
	return 0;

err_dev:
	aries_debugfs_exit();
	aries_dev_exit();
err_hold:
	aries_hold_exit();
err_counters:
	aries_counters_exit();
	return rc;
}
module_init(aries_init);

static void __exit aries_exit(void)
{
	pci_unregister_driver(&aries_pci_driver);
	aries_debugfs_exit();
	aries_dev_exit();
	aries_hold_exit();
	aries_counters_exit();
	aries_guess_exit();
}
module_exit(aries_exit);

MODULE_DESCRIPTION("Aries NIC: user-level access for GNI (/dev/kgniN)");
MODULE_AUTHOR("OpenGNI");
MODULE_VERSION(ARIES_DRIVER_VERSION_TEXT);
MODULE_LICENSE("GPL");
