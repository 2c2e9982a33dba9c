// SPDX-License-Identifier: GPL-2.0-only
/* kGNI: the kernel level Generic Network Interface, on top of aries.ko. */
#include <linux/module.h>
#include <linux/rcupdate.h>

#include <linux/version.h>
#include "kgni_dev.h"
#include "kgni_handle.h"
#include "kgni_mem.h"
#include "kgni_tell.h"

uint32_t kgni_driver_version = GNI_VERSION;
EXPORT_SYMBOL_GPL(kgni_driver_version);

static int __init kgni_init(void)
{
	int rc = kgni_mem_later_start();

	if (rc)
		return rc;
	rc = kgni_tell_start();
	if (rc)
		goto err_mem;
	kgni_handle_init();
	rc = kgni_dev_init();
	if (rc)
		goto err_tell;
	return 0;

err_tell:
	kgni_tell_end();
err_mem:
	kgni_mem_later_end();
	return rc;
}
module_init(kgni_init);

static void __exit kgni_exit(void)
{
	kgni_dev_exit();
	kgni_tell_end();
	kgni_mem_later_end();
	/* timers of destroyed endpoints may still be running their last instructions */
	synchronize_rcu();
}
module_exit(kgni_exit);

MODULE_DESCRIPTION("Generic Network Interface of Aries NICs for kernel clients");
MODULE_LICENSE("GPL");
#if KERNEL_VERSION(6, 13, 0) > LINUX_VERSION_CODE
MODULE_IMPORT_NS(ARIES);
#else
MODULE_IMPORT_NS("ARIES");
#endif
