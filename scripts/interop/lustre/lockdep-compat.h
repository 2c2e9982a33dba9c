/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * On a kernel with lockdep, the compiler is told to include this before everything else. A work item of lnet_selftest's
 * makes sure that another one has ended, which it never waits for; both have the same class, so lockdep
 * takes it for a recursion, and looks at nothing any more from then on. Its work items are left out.
 */
#ifndef LOCKDEP_COMPAT_H
#define LOCKDEP_COMPAT_H

#include <linux/workqueue.h>

#define kmod_lnet_selftest 1
#if defined(CONFIG_LOCKDEP) && __KBUILD_MODNAME == 1
#undef INIT_WORK
#define INIT_WORK(work, function)                                                        \
	do {                                                                             \
		struct work_struct *item = (work);                                       \
											 \
		__INIT_WORK(item, (function), 0);                                        \
		lockdep_init_map(&item->lockdep_map, #work, &__lockdep_no_validate__, 0); \
	} while (0)
#endif
#undef kmod_lnet_selftest

#endif
