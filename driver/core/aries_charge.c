// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accounting of unswappable memory that processes make the driver take, by user: registered pages,
 * translation tables, queues.
 *
 * RLIMIT_MEMLOCK is compared with the sum over all processes of the user (user_struct.locked_vm, as
 * in io_uring, AF_XDP and iommufd). A sum per process would not be a limit: a file may outlive the
 * process that has registered memory through it, and new processes cost nothing. Processes with
 * CAP_IPC_LOCK are not charged.
 *
 * The charge is stored in the object that holds the memory, and ends when the object is freed, at
 * any time and in any context.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/user_namespace.h>

#include "aries_core.h"

/** aries_charge_begin() - charge the caller's user from now on. Context: process. */
void aries_charge_begin(struct aries_charge *charge)
{
	/* only a question: a process without the capability does nothing that is to be audited */
	bool free = ns_capable_noaudit(&init_user_ns, CAP_IPC_LOCK);

	charge->user = free ? NULL : get_uid(current_user());
	charge->npages = 0;
}

/** aries_charge_same() - charge the same user as @from */
void aries_charge_same(struct aries_charge *charge, const struct aries_charge *from)
{
	charge->user = from->user ? get_uid(from->user) : NULL;
	charge->npages = 0;
}

/**
 * aries_charge() - charge pages
 * @charge: initialised charge; the caller serialises changes
 * @npages: number of pages
 *
 * Context: process whose limit applies. Return: 0, or -EPERM if RLIMIT_MEMLOCK would be exceeded.
 */
int aries_charge(struct aries_charge *charge, unsigned long npages)
{
	const unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	long now;

	if (charge->user) {
		now = atomic_long_read(&charge->user->locked_vm);
		do {
			if (npages > limit || now > limit - npages)
				return -EPERM;
		} while (!atomic_long_try_cmpxchg(&charge->user->locked_vm, &now, now + npages));
	}
	charge->npages += npages;
	return 0;
}

/** aries_uncharge() - uncharge pages, in any process. Context: any. */
void aries_uncharge(struct aries_charge *charge, unsigned long npages)
{
	if (WARN_ON(npages > charge->npages))
		return;
	charge->npages -= npages;
	if (charge->user)
		atomic_long_sub(npages, &charge->user->locked_vm);
}

/** aries_charge_move() - move pages to another charge of the same user. Context: any. */
void aries_charge_move(struct aries_charge *to, struct aries_charge *from, unsigned long npages)
{
	if (WARN_ON(npages > from->npages || to->user != from->user))
		return;
	from->npages -= npages;
	to->npages += npages;
}

/**
 * aries_charge_end() - uncharge everything
 * @charge: charge, which may have ended already
 *
 * To be called when the memory is free, in any process. Context: any but interrupts.
 */
void aries_charge_end(struct aries_charge *charge)
{
	aries_uncharge(charge, charge->npages);
	free_uid(charge->user);
	charge->user = NULL;
}
