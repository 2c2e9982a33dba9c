// SPDX-License-Identifier: GPL-2.0-only
/* What there is to see, in debugfs: slnd/connections and slnd/counters. */
#include <linux/debugfs.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "slnd_priv.h"

static const char *const slnd_counter_names[] = {
#define X(name) #name,
	SLND_COUNTERS(X)
#undef X
};

static const char *const slnd_state_names[] = {
	[SLND_HAILING] = "hailing",
	[SLND_OPEN] = "open",
	[SLND_CLOSING] = "closing",
	[SLND_ENDED] = "ended",
};

static struct dentry *slnd_dir;

static int connections_show(struct seq_file *m, void *unused)
{
	struct slnd_conn *conn;
	unsigned long id;

	seq_puts(m,
		 "id       peer     peer_id  state    side      sent       received   silent_ms\n");
	xa_lock(&slnd.conns);
	xa_for_each(&slnd.conns, id, conn)
		seq_printf(m, "%-8u %#-8x %-8u %-8s %-9s %-10llu %-10llu %u\n", conn->id,
			   conn->peer ? conn->peer->address : 0, conn->theirs.id,
			   slnd_state_names[conn->state],
			   !conn->peer	     ? "anybody"
			   : conn->initiator ? "initiator"
					     : "acceptor",
			   conn->n_sent, conn->n_received,
			   conn->state == SLND_HAILING ? 0
						       : jiffies_to_msecs(jiffies - conn->last_rx));
	xa_unlock(&slnd.conns);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(connections);

static int counters_show(struct seq_file *m, void *unused)
{
	unsigned int i;

	for (i = 0; i < SLND_COUNTER_N; i++)
		seq_printf(m, "%s %llu\n", slnd_counter_names[i],
			   (u64)atomic64_read(&slnd.counters[i]));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counters);

/** slnd_debugfs_init() - make the files. Context: sleeps. */
void slnd_debugfs_init(void)
{
	slnd_dir = debugfs_create_dir("slnd", NULL);
	debugfs_create_file("connections", 0444, slnd_dir, NULL, &connections_fops);
	debugfs_create_file("counters", 0444, slnd_dir, NULL, &counters_fops);
}

/** slnd_debugfs_exit() - remove them. Context: sleeps. */
void slnd_debugfs_exit(void)
{
	debugfs_remove_recursive(slnd_dir);
}
