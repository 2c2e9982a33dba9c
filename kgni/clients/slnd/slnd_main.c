// SPDX-License-Identifier: GPL-2.0-only
/* The module: its threads, files in debugfs, and the module on top of it. */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "slnd_priv.h"

static struct dentry *slnd_dir;

/**
 * slnd_register() - register the user
 * @user: its callbacks
 *
 * Context: sleeps. Return: 0, or -EBUSY if there is a user already.
 */
int slnd_register(const struct slnd_user *user)
{
	return cmpxchg(&slnd.user, NULL, user) ? -EBUSY : 0;
}
EXPORT_SYMBOL_GPL(slnd_register);

/* slnd_unregister() - the user leaves; waits until what it has begun is over. Context: sleeps. */
void slnd_unregister(void)
{
	mutex_lock(&slnd.mutex);
	slnd.user = NULL;
	while (atomic_read(&slnd.user_ops)) {
		mutex_unlock(&slnd.mutex);
		msleep(20);
		mutex_lock(&slnd.mutex); /* no callback runs */
	}
	mutex_unlock(&slnd.mutex);
}
EXPORT_SYMBOL_GPL(slnd_unregister);

/* slnd_address() - address of our NIC, 0 before it is known. Context: any. */
u32 slnd_address(void)
{
	return READ_ONCE(slnd.address);
}
EXPORT_SYMBOL_GPL(slnd_address);

static int connections_show(struct seq_file *m, void *unused)
{
	static const char *const states[] = { "connecting", "established", "closing", "closed" };
	struct slnd_conn *conn;
	unsigned long id;

	mutex_lock(&slnd.mutex);
	xa_for_each(&slnd.conns, id, conn)
		seq_printf(m, "%lu peer=%#x id=%u %s in_flight=%u\n", id,
			   conn->peer ? conn->peer->address : 0, conn->theirs.conn_id,
			   states[conn->state], conn->in_flight);
	mutex_unlock(&slnd.mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(connections);

#define SLND_C(name) { #name, &slnd.counters.name }

static const struct {
	const char *name;
	const u64 *value;
} slnd_counters[] = {
	SLND_C(messages_sent), SLND_C(messages_received), SLND_C(sends_stalled), SLND_C(puts),
	SLND_C(gets), SLND_C(exposures), SLND_C(bounced), SLND_C(bulk_bytes), SLND_C(bulks_failed),
	SLND_C(posts_repeated), SLND_C(posts_refused), SLND_C(overruns), SLND_C(resets),
	SLND_C(quiesces), SLND_C(connected), SLND_C(closed), SLND_C(failed),
	SLND_C(connreqs_refused), SLND_C(purgatory), SLND_C(released),
};

static int counters_show(struct seq_file *m, void *unused)
{
	unsigned int i;

	BUILD_BUG_ON(ARRAY_SIZE(slnd_counters) * sizeof(u64) != sizeof(slnd.counters));
	for (i = 0; i < ARRAY_SIZE(slnd_counters); i++)
		seq_printf(m, "%s %llu\n", slnd_counters[i].name,
			   READ_ONCE(*slnd_counters[i].value));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counters);

static bool slnd_in(unsigned int value, unsigned int least, unsigned int most)
{
	return value >= least && value <= most;
}

static int __init slnd_init(void)
{
	int rc;

	if (!slnd_in(slnd_credits, 8, 4096) || !slnd_in(slnd_timeout, 1, 3600) ||
	    !slnd_in(slnd_rx_entries, 16, 1 << 20) || !slnd_in(slnd_posts, 1, 4096) ||
	    !slnd_in(slnd_hold, 1, 86400)) {
		pr_err("slnd: a parameter is out of its range, see modinfo\n");
		return -EINVAL;
	}
	slnd.scheduler = kthread_run(slnd_sched_thread, NULL, "slnd_sched");
	if (IS_ERR(slnd.scheduler))
		return PTR_ERR(slnd.scheduler);
	mutex_lock(&slnd.mutex);
	rc = slnd_device_open();
	if (!rc) {
		slnd.reaper = kthread_run(slnd_reaper_thread, NULL, "slnd_reaper");
		rc = PTR_ERR_OR_ZERO(slnd.reaper);
		if (rc)
			slnd_device_free();
	}
	mutex_unlock(&slnd.mutex);
	if (rc) {
		pr_err("slnd: device %u does not attach\n", SLND_DEVICE);
		kthread_stop(slnd.scheduler);
		return rc;
	}
	slnd_dir = debugfs_create_dir("slnd", NULL);
	debugfs_create_file("connections", 0444, slnd_dir, NULL, &connections_fops);
	debugfs_create_file("counters", 0444, slnd_dir, NULL, &counters_fops);
	return 0;
}
module_init(slnd_init);

static void __exit slnd_exit(void)
{
	struct slnd_peer *peer;
	struct slnd_tx *tx;
	unsigned long id;

	debugfs_remove_recursive(slnd_dir);
	kthread_stop(slnd.reaper); /* it detaches, with the help of the other threads */
	kthread_stop(slnd.scheduler);
	xa_for_each(&slnd.txs, id, tx)
		kfree(tx); /* of a user that has left without waiting for it */
	xa_for_each(&slnd.peers, id, peer)
		kfree(peer);
	xa_destroy(&slnd.txs);
	xa_destroy(&slnd.peers);
}
module_exit(slnd_exit);

MODULE_DESCRIPTION("Sample LND: messages and bulk data by kGNI");
MODULE_LICENSE("GPL");
