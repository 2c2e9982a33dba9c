// SPDX-License-Identifier: GPL-2.0-only
/* The table of all handles, for clients under test. */
#include <linux/module.h>
#include <linux/xarray.h>

#include "kgni_handle.h"

DEFINE_STATIC_KEY_FALSE(kgni_check_handles);

static bool check_handles;
module_param(check_handles, bool, 0444);
MODULE_PARM_DESC(check_handles,
		 "look each handle up before it is used, to find those that were freed (n)");

static DEFINE_XARRAY_FLAGS(kgni_handles, XA_FLAGS_LOCK_IRQ);

/* All handles come from kmalloc(), so different handles have different indexes. */
static unsigned long kgni_handle_index(const void *handle)
{
	return (unsigned long)handle / sizeof(u64);
}

/** kgni_handle_known() - was this handle created, and not destroyed? Context: any. */
bool kgni_handle_known(const void *handle)
{
	return xa_load(&kgni_handles, kgni_handle_index(handle)) == handle;
}

/** kgni_handle_add() - add a handle to the table. Context: any. Return: 0 or -ENOMEM. */
int kgni_handle_add(const void *handle)
{
	unsigned long flags;
	void *old;

	if (!static_branch_unlikely(&kgni_check_handles))
		return 0;
	xa_lock_irqsave(&kgni_handles, flags);
	old = __xa_store(&kgni_handles, kgni_handle_index(handle), (void *)handle, GFP_ATOMIC);
	xa_unlock_irqrestore(&kgni_handles, flags);
	return xa_err(old);
}

/** kgni_handle_del() - remove a handle from the table. Context: any. */
void kgni_handle_del(const void *handle)
{
	unsigned long flags;

	if (!static_branch_unlikely(&kgni_check_handles))
		return;
	xa_lock_irqsave(&kgni_handles, flags);
	__xa_erase(&kgni_handles, kgni_handle_index(handle));
	xa_unlock_irqrestore(&kgni_handles, flags);
}

/** kgni_handle_init() - enable the check if the module parameter asks for it. Context: sleeps. */
void kgni_handle_init(void)
{
	if (check_handles)
		static_branch_enable(&kgni_check_handles);
}
