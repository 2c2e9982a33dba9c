// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * Memory that cannot be swapped and that processes have us take, on the account of their user:
 * pages that they register, translation tables, queues.
 *
 * RLIMIT_MEMLOCK is compared with the sum over all processes of the user (user_struct.locked_vm,
 * as io_uring, AF_XDP and iommufd do). A sum for each process would be no limit: a file outlives
 * the process that registered through it, and processes are free. Whoever has CAP_IPC_LOCK pays
 * nothing.
 *
 * The charge lies in the object that holds the memory, and ends when that is freed, by whomever and
 * however late.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>

#include "aries_core.h"

/** aries_charge_begin() - let the caller pay for what is charged from now on. Context: process. */
void aries_charge_begin(struct aries_charge *charge)
{
	charge->user = capable(CAP_IPC_LOCK) ? NULL : get_uid(current_user());
	charge->npages = 0;
}

/** aries_charge_same() - let the one pay who pays for @from */
void aries_charge_same(struct aries_charge *charge, const struct aries_charge *from)
{
	charge->user = from->user ? get_uid(from->user) : NULL;
	charge->npages = 0;
}

/**
 * aries_charge() - put pages on the account
 * @charge: begun; the caller keeps others from changing it
 * @npages: how many
 *
 * Context: process whose limit counts. Return: 0 or -EPERM over RLIMIT_MEMLOCK.
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

/** aries_uncharge() - take pages off the account, from whatever process. Context: any. */
void aries_uncharge(struct aries_charge *charge, unsigned long npages)
{
	if (WARN_ON(npages > charge->npages))
		return;
	charge->npages -= npages;
	if (charge->user)
		atomic_long_sub(npages, &charge->user->locked_vm);
}

/** aries_charge_move() - take pages over from another charge of the same user. Context: any. */
void aries_charge_move(struct aries_charge *to, struct aries_charge *from, unsigned long npages)
{
	if (WARN_ON(npages > from->npages || to->user != from->user))
		return;
	from->npages -= npages;
	to->npages += npages;
}

/**
 * aries_charge_end() - take everything off the account
 * @charge: may have ended before
 *
 * To be called when the memory is free, from whatever process. Context: any but interrupts.
 */
void aries_charge_end(struct aries_charge *charge)
{
	aries_uncharge(charge, charge->npages);
	free_uid(charge->user);
	charge->user = NULL;
}
