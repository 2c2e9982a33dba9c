// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * A cookie protects a domain from other users, so a user must not be able to try many. A user who
 * has named several cookies that belong to no domain must wait before the next one is looked up.
 * Each wrong cookie makes the delay longer, up to a second.
 *
 * The delay comes before the answer, and each user has one try at a time. So an attacker learns
 * nothing from the response time, gains nothing from many processes, and gains nothing from killing
 * processes that wait. A cookie that the user has named correctly is remembered. So the processes
 * of a job attach without delay, whatever other processes of the same user do. Users are counted
 * separately, and all users that a user creates in its own namespaces count as that user.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include <linux/xarray.h>

#include "aries_user.h"

#define ARIES_GUESS_FREE 8 /* wrong cookies without a delay: people mistype */
#define ARIES_GUESS_MS 10 /* the first delay, doubled by each wrong cookie */
#define ARIES_GUESS_MAX_MS 1000
#define ARIES_GUESS_FORGET_MS 10000 /* time until one wrong cookie is forgotten */
#define ARIES_GUESS_KNOWN 8

#define ARIES_GUESS_IS_COOKIE BIT_ULL(32)

/**
 * struct aries_guesser - a user who has named a wrong cookie; kept until the module is unloaded
 * @turn: held during one try
 * @wrong: number of wrong cookies that are not forgotten yet
 * @since: time up to which wrong cookies have been forgotten (@turn)
 * @known: recent correct cookies, with ARIES_GUESS_IS_COOKIE (@turn to write)
 * @next: index of the next element of @known to fill
 */
struct aries_guesser {
	struct mutex turn; /* one try */
	atomic_long_t wrong;
	unsigned long since;
	u64 known[ARIES_GUESS_KNOWN];
	unsigned int next;
};

static DEFINE_XARRAY(aries_guessers); /* by user */

/* The user to count: the owner of the user namespace, unless root has created it. */
static uid_t aries_guess_user(void)
{
	const struct user_namespace *ns = current_user_ns();
	kuid_t uid = current_uid();

	for (; ns->parent; ns = ns->parent)
		if (!uid_eq(ns->owner, GLOBAL_ROOT_UID))
			uid = ns->owner;
	return __kuid_val(uid);
}

static bool aries_guess_known(const struct aries_guesser *who, u32 cookie)
{
	unsigned int i;

	for (i = 0; i < ARIES_GUESS_KNOWN; i++)
		if (READ_ONCE(who->known[i]) == (ARIES_GUESS_IS_COOKIE | cookie))
			return true;
	return false;
}

static void aries_guess_forget(struct aries_guesser *who)
{
	unsigned long steps = jiffies_to_msecs(jiffies - who->since) / ARIES_GUESS_FORGET_MS;
	long wrong = atomic_long_read(&who->wrong);

	lockdep_assert_held(&who->turn);
	who->since += msecs_to_jiffies(steps * ARIES_GUESS_FORGET_MS);
	atomic_long_sub(min_t(unsigned long, steps, wrong), &who->wrong);
}

static unsigned int aries_guess_pause_ms(const struct aries_guesser *who)
{
	long over = atomic_long_read(&who->wrong) - ARIES_GUESS_FREE;

	if (over <= 0)
		return 0;
	/* the shift must not overflow, whatever the count */
	return min(ARIES_GUESS_MS << min(over - 1, 10l), ARIES_GUESS_MAX_MS);
}

/**
 * aries_guess_begin() - call before looking up a cookie from an unprivileged caller
 * @guess: this try
 * @cookie: cookie
 *
 * Context: sleeps; called without any lock. Return: 0, to be followed by aries_guess_end(), or
 * -EINTR if the process was killed.
 */
int aries_guess_begin(struct aries_guess *guess, u32 cookie)
{
	struct aries_guesser *who;

	*guess = (struct aries_guess){ .cookie = cookie, .free = capable(CAP_SYS_ADMIN) };
	if (guess->free)
		return 0;
	guess->user = aries_guess_user();
	who = xa_load(&aries_guessers, guess->user);
	if (!who || aries_guess_known(who, cookie))
		return 0;
	if (mutex_lock_killable(&who->turn))
		return -EINTR;
	aries_guess_forget(who);
	/* another process may have named the same cookie correctly while this one waited */
	if (!aries_guess_known(who, cookie))
		schedule_timeout_killable(msecs_to_jiffies(aries_guess_pause_ms(who)));
	if (fatal_signal_pending(current)) {
		mutex_unlock(&who->turn);
		return -EINTR;
	}
	guess->turn = who;
	return 0;
}

static struct aries_guesser *aries_guess_add(uid_t user)
{
	struct aries_guesser *who = kzalloc(sizeof(*who), GFP_KERNEL), *old;

	if (!who)
		return NULL;
	mutex_init(&who->turn);
	who->since = jiffies;
	old = xa_cmpxchg(&aries_guessers, user, NULL, who, GFP_KERNEL);
	if (!old)
		return who;
	kfree(who);
	return xa_is_err(old) ? NULL : old;
}

static void aries_guess_wrong(struct aries_guess *guess)
{
	struct aries_guesser *who = guess->turn ?: xa_load(&aries_guessers, guess->user);

	if (!who)
		who = aries_guess_add(guess->user);
	if (who)
		atomic_long_inc(&who->wrong);
	else /* without memory the user cannot be counted, so always wait */
		schedule_timeout_killable(msecs_to_jiffies(ARIES_GUESS_MAX_MS));
}

/**
 * aries_guess_end() - call after the cookie was looked up
 * @guess: as set by aries_guess_begin()
 * @rc: result: 0; -ENOENT, -EPERM or -EACCES for a wrong cookie; or another error
 *
 * Context: sleeps.
 */
void aries_guess_end(struct aries_guess *guess, int rc)
{
	struct aries_guesser *who = guess->turn;

	if (guess->free)
		return;
	if (rc == -ENOENT || rc == -EPERM || rc == -EACCES)
		aries_guess_wrong(guess);
	if (!who)
		return;
	if (!rc && !aries_guess_known(who, guess->cookie))
		WRITE_ONCE(who->known[who->next++ % ARIES_GUESS_KNOWN],
			   ARIES_GUESS_IS_COOKIE | guess->cookie);
	mutex_unlock(&who->turn);
}

/** aries_guess_exit() - free everything when the module is unloaded */
void aries_guess_exit(void)
{
	struct aries_guesser *who;
	unsigned long user;

	xa_for_each(&aries_guessers, user, who)
		kfree(who);
	xa_destroy(&aries_guessers);
}
