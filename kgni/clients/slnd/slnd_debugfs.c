// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/* The files in debugfs: slnd/connections and slnd/counters. */
#include <linux/debugfs.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "slnd_priv.h"

static const char *const slnd_counter_names[SLND_COUNTERS] = {
	[SLND_N_MESSAGES_SENT] = "messages_sent",
	[SLND_N_MESSAGES_RECEIVED] = "messages_received",
	[SLND_N_MESSAGES_DROPPED] = "messages_dropped",
	[SLND_N_SENDS_STALLED] = "sends_stalled",
	[SLND_N_PUTS] = "puts",
	[SLND_N_GETS] = "gets",
	[SLND_N_BOUNCED] = "bounced",
	[SLND_N_EXPOSURES] = "exposures",
	[SLND_N_BULK_BYTES] = "bulk_bytes",
	[SLND_N_POSTS_REPEATED] = "posts_repeated",
	[SLND_N_POSTS_REFUSED] = "posts_refused",
	[SLND_N_BULKS_FAILED] = "bulks_failed",
	[SLND_N_CONNECTED] = "connected",
	[SLND_N_CLOSED] = "closed",
	[SLND_N_FAILED] = "failed",
	[SLND_N_SILENT] = "silent",
	[SLND_N_ASKED] = "asked",
	[SLND_N_HAILS_REFUSED] = "hails_refused",
	[SLND_N_OVERRUNS] = "overruns",
	[SLND_N_QUARANTINED] = "quarantined",
	[SLND_N_RELEASED] = "released",
	[SLND_N_RESETS] = "resets",
	[SLND_N_QUIESCES] = "quiesces",
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
	xa_for_each(&slnd.conns, id, conn) {
		enum slnd_state state = READ_ONCE(conn->state);
		unsigned long silent = jiffies - READ_ONCE(conn->last_rx);

		seq_printf(m, "%-8u %#-8x %-8u %-8s %-9s %-10llu %-10llu %u\n", conn->id,
			   conn->peer ? conn->peer->address : 0, conn->theirs.id,
			   slnd_state_names[state],
			   !conn->peer	     ? "anybody"
			   : conn->initiator ? "initiator"
					     : "acceptor",
			   READ_ONCE(conn->n_sent), READ_ONCE(conn->n_received),
			   state == SLND_HAILING ? 0 : jiffies_to_msecs(silent));
	}
	xa_unlock(&slnd.conns);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(connections);

static int counters_show(struct seq_file *m, void *unused)
{
	unsigned int i;

	for (i = 0; i < SLND_COUNTERS; i++)
		seq_printf(m, "%s %llu\n", slnd_counter_names[i],
			   (u64)atomic64_read(&slnd.counters[i]));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counters);

/** slnd_debugfs_init() - create the files. Context: sleeps. */
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
