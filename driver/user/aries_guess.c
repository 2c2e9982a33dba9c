// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cookie protects a domain from other users, so a user must not be able to try many. A user who
 * has named several cookies that belong to no domain must wait before the next one is looked up.
 * Each wrong cookie makes the delay longer, up to a second.
 *
 * The delay comes before the answer, and each user has one try at a time. So an attacker learns
 * nothing from the response time, gains nothing from many processes, and gains nothing from killing
 * processes that wait. A cookie that the user has named correctly is remembered. So the processes
 * of a job attach without delay, whatever other processes of the same user do.
 *
 * Users are counted separately. All users of a namespace count as one, because root of a namespace
 * can be any of them: as the user who has created the namespace, or if that was root of the host (a
 * container), as root of the namespace.
 *
 * A user of whom all wrong cookies are forgotten is forgotten when the next user is remembered.
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
 * struct aries_guesser - a user who has named a wrong cookie; kept until that is forgotten
 * @users: number of tries in progress (aries_guess_lock); it is not freed meanwhile
 * @turn: held during one try
 * @wrong: number of wrong cookies that are not forgotten yet
 * @since: time up to which wrong cookies have been forgotten (@turn, or without @users)
 * @known: recent correct cookies, with ARIES_GUESS_IS_COOKIE (@turn to write)
 * @next: index of the next element of @known to fill
 */
struct aries_guesser {
	unsigned int users;
	struct mutex turn; /* one try */
	atomic_long_t wrong;
	unsigned long since;
	u64 known[ARIES_GUESS_KNOWN];
	unsigned int next;
};

static DEFINE_XARRAY(aries_guessers); /* by user (aries_guess_lock) */
static DEFINE_MUTEX(aries_guess_lock); /* not held while a try waits */

/* Who can be any user of a namespace: its owner, or its root if the host's root has created it. */
static kuid_t aries_guess_ns_user(struct user_namespace *ns, kuid_t uid)
{
	kuid_t root = make_kuid(ns, 0);

	if (!uid_eq(ns->owner, GLOBAL_ROOT_UID))
		return ns->owner;
	/* a namespace in which root is the root of the host, or in which there is no root */
	return !uid_valid(root) || uid_eq(root, GLOBAL_ROOT_UID) ? uid : root;
}

/* The user to count: that of the outermost namespace but the first. */
static uid_t aries_guess_user(void)
{
	struct user_namespace *ns = current_user_ns();
	kuid_t uid = current_uid();

	for (; ns->parent; ns = ns->parent)
		uid = aries_guess_ns_user(ns, uid);
	return __kuid_val(uid);
}

static bool aries_guess_privileged(void)
{
	/* only a question, which is asked of everybody who is to wait, so no matter for an audit */
	return ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN);
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

	who->since += msecs_to_jiffies(steps * ARIES_GUESS_FORGET_MS);
	atomic_long_sub(min_t(unsigned long, steps, wrong), &who->wrong);
}

/* Free all users without a wrong cookie that is remembered. */
static void aries_guess_sweep(void)
{
	struct aries_guesser *who;
	unsigned long user;

	lockdep_assert_held(&aries_guess_lock);
	xa_for_each(&aries_guessers, user, who) {
		if (who->users)
			continue;
		aries_guess_forget(who);
		if (!atomic_long_read(&who->wrong)) {
			xa_erase(&aries_guessers, user);
			kfree(who);
		}
	}
}

/*
 * Get what is known about a user, and create it if @add is true. Return: NULL if there is nothing,
 * or no memory. Undone by aries_guess_put().
 */
static struct aries_guesser *aries_guess_get(uid_t user, bool add)
{
	struct aries_guesser *who;

	mutex_lock(&aries_guess_lock);
	who = xa_load(&aries_guessers, user);
	if (!who && add) {
		aries_guess_sweep();
		who = kzalloc(sizeof(*who), GFP_KERNEL_ACCOUNT);
		if (who) {
			mutex_init(&who->turn);
			who->since = jiffies;
			if (xa_err(xa_store(&aries_guessers, user, who, GFP_KERNEL))) {
				kfree(who);
				who = NULL;
			}
		}
	}
	if (who)
		who->users++;
	mutex_unlock(&aries_guess_lock);
	return who;
}

static void aries_guess_put(struct aries_guesser *who)
{
	mutex_lock(&aries_guess_lock);
	who->users--;
	mutex_unlock(&aries_guess_lock);
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

	*guess = (struct aries_guess){ .cookie = cookie, .user = aries_guess_user() };
	who = aries_guess_get(guess->user, false);
	if (!who)
		return 0;
	if (aries_guess_known(who, cookie) || aries_guess_privileged()) {
		aries_guess_put(who);
		return 0;
	}
	if (mutex_lock_killable(&who->turn)) {
		aries_guess_put(who);
		return -EINTR;
	}
	aries_guess_forget(who);
	/* another process may have named the same cookie correctly while this one waited */
	if (!aries_guess_known(who, cookie))
		schedule_timeout_killable(msecs_to_jiffies(aries_guess_pause_ms(who)));
	if (fatal_signal_pending(current)) {
		mutex_unlock(&who->turn);
		aries_guess_put(who);
		return -EINTR;
	}
	guess->turn = who;
	return 0;
}

static void aries_guess_wrong(struct aries_guess *guess)
{
	struct aries_guesser *who = guess->turn;

	if (who) {
		atomic_long_inc(&who->wrong);
		return;
	}
	who = aries_guess_get(guess->user, true);
	if (!who) {
		/* without memory the user cannot be counted, so always wait */
		schedule_timeout_killable(msecs_to_jiffies(ARIES_GUESS_MAX_MS));
		return;
	}
	atomic_long_inc(&who->wrong);
	aries_guess_put(who);
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

	if ((rc == -ENOENT || rc == -EPERM || rc == -EACCES) && !aries_guess_privileged())
		aries_guess_wrong(guess);
	if (!who)
		return;
	if (!rc && !aries_guess_known(who, guess->cookie))
		WRITE_ONCE(who->known[who->next++ % ARIES_GUESS_KNOWN],
			   ARIES_GUESS_IS_COOKIE | guess->cookie);
	mutex_unlock(&who->turn);
	aries_guess_put(who);
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
