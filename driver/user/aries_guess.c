// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * Cookies are what keeps others out of a domain, so nobody may try many: whoever has named some
 * that belong to no domain waits before the next one is looked up, longer each time, up to a
 * second.
 *
 * The wait comes before the answer, for one try of a user at a time. So nothing is learned from how
 * long an answer takes, from many processes at once, or by killing those that wait. A cookie that
 * the user has named rightly since is no guess any more: the processes of a job come in without
 * waiting, whatever others of the same user do. Users are counted apart, and all whom a user makes
 * in namespaces of its own are that user.
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

#define ARIES_GUESS_FREE 8 /* wrong ones that cost nothing: people mistype */
#define ARIES_GUESS_MS 10 /* the first pause, doubled by each wrong one */
#define ARIES_GUESS_MAX_MS 1000
#define ARIES_GUESS_FORGET_MS 10000 /* so long until one is forgotten */
#define ARIES_GUESS_KNOWN 8

#define ARIES_GUESS_IS_COOKIE BIT_ULL(32)

/**
 * struct aries_guesser - a user who has named a cookie of no domain; stays until the module goes
 * @turn: held for the time of one try
 * @wrong: cookies named wrongly and not forgotten
 * @since: until when forgetting has been done (@turn)
 * @known: cookies named rightly lately, with ARIES_GUESS_IS_COOKIE (@turn to write)
 * @next: place for the next one of these
 */
struct aries_guesser {
	struct mutex turn; /* one try */
	atomic_long_t wrong;
	unsigned long since;
	u64 known[ARIES_GUESS_KNOWN];
	unsigned int next;
};

static DEFINE_XARRAY(aries_guessers); /* by user */

/* Who a namespace belongs to, unless the administrator has made it. */
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
	/* the shift must not overflow, however many there were */
	return min(ARIES_GUESS_MS << min(over - 1, 10l), ARIES_GUESS_MAX_MS);
}

/**
 * aries_guess_begin() - before a cookie is looked up that anybody may have named
 * @guess: this try
 * @cookie: cookie
 *
 * Context: sleeps; called without any lock. Return: 0, to be followed by aries_guess_end(), or
 * -EINTR killed.
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
	/* of many processes that name the same the first one may have been right */
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
	else /* nobody can be told apart without memory */
		schedule_timeout_killable(msecs_to_jiffies(ARIES_GUESS_MAX_MS));
}

/**
 * aries_guess_end() - the cookie was looked up
 * @guess: as aries_guess_begin() has left it
 * @rc: what came of it: 0; -ENOENT, -EPERM or -EACCES for a cookie that was wrong; or another error
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

/** aries_guess_exit() - the module goes */
void aries_guess_exit(void)
{
	struct aries_guesser *who;
	unsigned long user;

	xa_for_each(&aries_guessers, user, who)
		kfree(who);
	xa_destroy(&aries_guessers);
}
