// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * When slnd uses memory again that a peer may still write to: not before the peer says that nothing
 * is in flight, has restarted, or the hold time is over.
 */
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "sim_kernel.h"

#include "../clients/slnd/slnd_quarantine.c"

#define HOLD 60 /* seconds */
#define STAMP 7
#define LIFE 3

struct slnd slnd;
unsigned int slnd_hold = HOLD;

static struct slnd_peer peer;
static struct slnd_conn conn;
static struct slnd_box box;
static unsigned int boxes, handles; /* that were released */

void slnd_box_put(struct slnd_box *which)
{
	assert_ptr_equal(which, &box);
	boxes++;
}

gni_return_t gni_mem_mdd_release(gni_nic_handle_t nic, gni_mem_handle_t *handle)
{
	assert_int_equal(handle->qword1, 0x1111);
	handles++;
	return GNI_RC_SUCCESS;
}

void slnd_keeper_wake(void)
{
}

/* A connection that was not closed in an orderly way ends, shortly before jiffies wrap. */
static void end_connection(bool known, bool initiator)
{
	const gni_mem_handle_t handle = { .qword1 = 0x1111 };

	memset(&peer, 0, sizeof(peer));
	memset(&conn, 0, sizeof(conn));
	spin_lock_init(&peer.lock);
	spin_lock_init(&slnd.lock);
	INIT_LIST_HEAD(&slnd.quarantine);
	jiffies = -(HOLD * HZ / 2);
	peer.incarnation = LIFE;
	conn.peer = known ? &peer : NULL;
	conn.theirs.incarnation = LIFE;
	conn.initiator = initiator;
	conn.stamp = STAMP;
	conn.box = &box;
	boxes = 0;
	handles = 0;
	slnd_quarantine_box(&conn);
	slnd_quarantine_handle(&conn, &handle);
}

/* Is this much released? Both a mailbox and a registration, or none. */
static void released(unsigned int n)
{
	slnd_quarantine_expire(false);
	assert_int_equal(boxes, n);
	assert_int_equal(handles, n);
}

static void hello(bool initiator, u64 stamp)
{
	struct slnd_conn newer = { .peer = &peer, .initiator = initiator, .stamp = stamp };

	slnd_quarantine_hello(&newer);
}

static void until_the_hold_time_is_over(void **state)
{
	unsigned int known;

	(void)state;
	for (known = 0; known < 2; known++) {
		end_connection(known, false);
		released(0);
		jiffies += HOLD * HZ;
		released(0);
		jiffies++;
		released(1);
		released(1);
	}
}

/* Only on a newer connection that the same side has asked for. */
static void until_the_peer_says_so(void **state)
{
	unsigned int initiator;

	(void)state;
	for (initiator = 0; initiator < 2; initiator++) {
		end_connection(true, initiator);
		hello(initiator, STAMP);
		released(0);
		hello(!initiator, STAMP + 1);
		released(0);
		hello(initiator, STAMP + 1);
		released(1);
		/* what an older connection says then takes nothing back */
		end_connection(true, initiator);
		hello(initiator, STAMP + 1);
		hello(initiator, STAMP - 1);
		released(1);
	}
}

static void until_the_peer_has_restarted(void **state)
{
	(void)state;
	end_connection(true, true);
	released(0);
	peer.incarnation = LIFE + 1;
	released(1);
}

static void until_the_device_is_closed(void **state)
{
	(void)state;
	end_connection(true, true);
	slnd_quarantine_expire(true);
	assert_int_equal(boxes, 1);
	assert_int_equal(handles, 1);
	assert_int_equal(atomic64_read(&slnd.counters[SLND_N_RELEASED]),
			 atomic64_read(&slnd.counters[SLND_N_QUARANTINED]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(until_the_hold_time_is_over),
		cmocka_unit_test(until_the_peer_says_so),
		cmocka_unit_test(until_the_peer_has_restarted),
		cmocka_unit_test(until_the_device_is_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
