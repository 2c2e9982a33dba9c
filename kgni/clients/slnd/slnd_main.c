// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/* The module: its parameters, and its interface to the user on top of it. */
#include <linux/export.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/srcu.h>

#include "slnd_priv.h"

#define SLND_PARAMETER(name, usual)   \
	unsigned int slnd_##name = usual; \
	module_param_named(name, slnd_##name, uint, 0444)

SLND_PARAMETER(credits, 128);
MODULE_PARM_DESC(credits, "messages that a peer may have under way (8 to 4096)");
SLND_PARAMETER(wildcards, 4);
MODULE_PARM_DESC(wildcards, "datagrams kept posted for whoever connects (1 to 64)");
SLND_PARAMETER(timeout, 60);
MODULE_PARM_DESC(timeout, "seconds after which a silent peer is given up (1 to 3600)");
SLND_PARAMETER(rx_entries, 32768);
MODULE_PARM_DESC(rx_entries, "events of incoming messages that the queue has room for (16 to 1M)");
SLND_PARAMETER(posts, 256);
MODULE_PARM_DESC(posts, "block transfers under way at a time (1 to 4096)");
SLND_PARAMETER(retries, 5);
MODULE_PARM_DESC(retries, "how often a block transfer is posted again (up to 100)");
SLND_PARAMETER(hold, 15 * 60);
MODULE_PARM_DESC(hold, "seconds for which memory of lost peers is in quarantine (1 to 86400)");
SLND_PARAMETER(schedulers, 2);
MODULE_PARM_DESC(schedulers, "threads (1 to 8)");

struct slnd slnd = {
	.lock = __SPIN_LOCK_UNLOCKED(slnd.lock),
	.sent_free = LIST_HEAD_INIT(slnd.sent_free),
	.ready = LIST_HEAD_INIT(slnd.ready),
	.later = LIST_HEAD_INIT(slnd.later),
	.post_wait = LIST_HEAD_INIT(slnd.post_wait),
	.ended = LIST_HEAD_INIT(slnd.ended),
	.boxes = LIST_HEAD_INIT(slnd.boxes),
	.blocks = LIST_HEAD_INIT(slnd.blocks),
	.quarantine = LIST_HEAD_INIT(slnd.quarantine),
	.dgram_lock = __SPIN_LOCK_UNLOCKED(slnd.dgram_lock),
	.hails = LIST_HEAD_INIT(slnd.hails),
	.conns = XARRAY_INIT(slnd.conns, XA_FLAGS_ALLOC),
	.peers = XARRAY_INIT(slnd.peers, 0),
	.keeper_wq = __WAIT_QUEUE_HEAD_INITIALIZER(slnd.keeper_wq),
	.user_wq = __WAIT_QUEUE_HEAD_INITIALIZER(slnd.user_wq),
};

static const struct slnd_user __rcu *slnd_user; /* gets new messages and offers */
static const struct slnd_user *slnd_last_user;	/* gets completions */
DEFINE_STATIC_SRCU(slnd_user_srcu);

/** slnd_user_begin() - count an operation whose completion is reported later. Context: any. */
void slnd_user_begin(void)
{
	atomic_inc(&slnd.user_ops);
}

/** slnd_user_end() - uncount an operation whose completion was reported. Context: any. */
void slnd_user_end(void)
{
	if (atomic_dec_and_test(&slnd.user_ops))
		wake_up_all(&slnd.user_wq);
}

/** slnd_user_message() - deliver a message to the user. Context: sleeps. */
void slnd_user_message(u32 from, const void *data, u32 bytes)
{
	int idx = srcu_read_lock(&slnd_user_srcu);
	const struct slnd_user *user = srcu_dereference(slnd_user, &slnd_user_srcu);

	slnd_count(user ? SLND_N_MESSAGES_RECEIVED : SLND_N_MESSAGES_DROPPED);
	if (user)
		user->message(from, data, bytes);
	srcu_read_unlock(&slnd_user_srcu, idx);
}

/**
 * slnd_user_expose() - ask the user for memory
 * @offer: what the peer wants
 * @buffer: out: memory
 * @arg: out: for slnd_user_exposed()
 *
 * Context: sleeps. Return: 0, then the caller has to call slnd_user_exposed() and slnd_user_end()
 * once; or a negative errno.
 */
int slnd_user_expose(const struct slnd_offer *offer, struct slnd_buffer **buffer, void **arg)
{
	int idx = srcu_read_lock(&slnd_user_srcu), rc = -ENXIO;
	const struct slnd_user *user = srcu_dereference(slnd_user, &slnd_user_srcu);

	if (user) {
		slnd_user_begin();
		rc = user->expose(offer, buffer, arg);
		if (rc)
			slnd_user_end();
	}
	srcu_read_unlock(&slnd_user_srcu, idx);
	return rc;
}

/** slnd_user_exposed() - give the memory back to the user. Context: sleeps. */
void slnd_user_exposed(void *arg, int status)
{
	/* slnd_unregister() waits for this call, so the user's module is still loaded */
	slnd_last_user->exposed(arg, status);
}

/**
 * slnd_register() - register the user
 * @user: its callbacks
 *
 * Context: sleeps. Return: 0, or -EBUSY if there is a user already.
 */
int slnd_register(const struct slnd_user *user)
{
	if (cmpxchg(&slnd_last_user, NULL, user))
		return -EBUSY;
	clear_bit(SLND_ABORT, &slnd.flags);
	rcu_assign_pointer(slnd_user, user);
	return 0;
}
EXPORT_SYMBOL_GPL(slnd_register);

/**
 * slnd_unregister() - unregister the user
 *
 * This waits for operations in flight, and reports their end. Those that take more than a second
 * end with an error. The user must not start new operations. Context: sleeps.
 */
void slnd_unregister(void)
{
	RCU_INIT_POINTER(slnd_user, NULL);
	synchronize_srcu(&slnd_user_srcu);
	if (!wait_event_timeout(slnd.user_wq, !atomic_read(&slnd.user_ops), HZ)) {
		set_bit(SLND_ABORT, &slnd.flags);
		slnd_keeper_wake();
		wait_event(slnd.user_wq, !atomic_read(&slnd.user_ops));
	}
	WRITE_ONCE(slnd_last_user, NULL);
}
EXPORT_SYMBOL_GPL(slnd_unregister);

/** slnd_address() - address of our NIC. Context: any. Return: it, 0 before the first attachment. */
u32 slnd_address(void)
{
	return READ_ONCE(slnd.address);
}
EXPORT_SYMBOL_GPL(slnd_address);

/**
 * slnd_send() - send a message
 * @to: peer
 * @data: copied
 * @bytes: SLND_MESSAGE_MAX at most
 * @done: called when the peer has it, or when that is unknown; may be NULL
 * @arg: for @done
 *
 * Messages arrive in order while a connection holds. Context: sleeps. Return: 0, -EINVAL or
 * -ENOMEM.
 */
int slnd_send(u32 to, const void *data, u32 bytes, slnd_done_f *done, void *arg)
{
	struct slnd_tx *tx;

	if (bytes > SLND_MESSAGE_MAX)
		return -EINVAL;
	tx = slnd_tx_new(slnd_peer_get(to), SLND_DATA, data, bytes);
	if (!tx)
		return -ENOMEM;
	tx->done = done;
	tx->arg = arg;
	if (done)
		slnd_user_begin();
	slnd_tx_queue(tx);
	return 0;
}
EXPORT_SYMBOL_GPL(slnd_send);

static bool slnd_in(unsigned int value, unsigned int least, unsigned int most)
{
	return value >= least && value <= most;
}

static bool slnd_parameters_sound(void)
{
	return slnd_in(slnd_credits, 8, 4096) && slnd_in(slnd_wildcards, 1, 64) &&
	       slnd_in(slnd_timeout, 1, 3600) && slnd_in(slnd_rx_entries, 16, 1 << 20) &&
	       slnd_in(slnd_posts, 1, 4096) && slnd_in(slnd_retries, 0, 100) &&
	       slnd_in(slnd_hold, 1, 86400) && slnd_in(slnd_schedulers, 1, SLND_SCHEDULERS_MAX);
}

static int __init slnd_init(void)
{
	int rc;

	if (!slnd_parameters_sound()) {
		pr_err("slnd: a parameter is out of its range, see modinfo\n");
		return -EINVAL;
	}
	rc = slnd_device_open();
	if (rc) {
		pr_err("slnd: device %u does not attach\n", SLND_DEVICE);
		return rc;
	}
	slnd.keeper = kthread_run(slnd_keeper_run, NULL, "slnd_keeper");
	if (IS_ERR(slnd.keeper)) {
		slnd_device_close(false);
		return PTR_ERR(slnd.keeper);
	}
	slnd_debugfs_init();
	return 0;
}
module_init(slnd_init);

static void __exit slnd_exit(void)
{
	slnd_debugfs_exit();
	kthread_stop(slnd.keeper);
	slnd_peers_free();
	xa_destroy(&slnd.conns);
}
module_exit(slnd_exit);

MODULE_DESCRIPTION("Sample LND: messages and bulk data by kGNI");
MODULE_LICENSE("GPL");
