// SPDX-License-Identifier: GPL-2.0-only
/*
 * When slnd frees memory that a peer may still write to: not before something comes on a connection
 * that has replaced that one, the peer has restarted, or the hold time is over.
 */
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "sim_kernel.h"

#include "../clients/slnd/slnd_purgatory.c"

#define HOLD 60 /* seconds */
#define STAMP 7
#define LIFE 3

struct slnd slnd;
unsigned int slnd_hold = HOLD;

static struct slnd_peer peer;
static unsigned int mboxes, handles; /* that were released */

void slnd_mbox_free(gni_smsg_attr_t *mbox)
{
	assert_int_equal(mbox->mbox_offset, 0x2222);
	mboxes++;
}

gni_return_t gni_mem_mdd_release(gni_nic_handle_t nic, gni_mem_handle_t *handle)
{
	assert_int_equal(handle->qword1, 0x1111);
	handles++;
	return GNI_RC_SUCCESS;
}

/* A connection is over that was not closed in an orderly way, shortly before jiffies wrap. */
static void end_connection(bool known, bool initiator)
{
	struct slnd_conn *conn = kzalloc(sizeof(*conn), GFP_KERNEL);
	struct slnd_tx *tx = kzalloc(sizeof(*tx), GFP_KERNEL);

	memset(&peer, 0, sizeof(peer));
	INIT_LIST_HEAD(&slnd.purgatory);
	INIT_LIST_HEAD(&conn->exposed);
	jiffies = -(HOLD * HZ / 2);
	peer.incarnation = LIFE;
	conn->peer = known ? &peer : NULL;
	conn->theirs.incarnation = LIFE;
	conn->initiator = initiator;
	conn->stamp = STAMP;
	conn->mine.smsg.mbox_offset = 0x2222;
	tx->msg.handle.qword1 = 0x1111;
	list_add_tail(&tx->node, &conn->exposed);
	mboxes = 0;
	handles = 0;
	slnd_purgatory_enter(conn);
}

/* Is this much released? Both the mailbox and the registration, or none. */
static void released(unsigned int n)
{
	slnd_purgatory_expire(false);
	assert_int_equal(mboxes, n);
	assert_int_equal(handles, n);
}

/* Something comes on another connection, whose requester knew the other side's up to @known. */
static void hello(bool initiator, u64 stamp, u64 known)
{
	struct slnd_conn newer = {
		.peer = &peer,
		.initiator = initiator,
		.stamp = stamp,
		.known = known,
	};

	slnd_purgatory_hello(&newer);
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

/* A connection that the same side has asked for later. */
static void until_something_comes_on_a_newer_one(void **state)
{
	unsigned int initiator;

	(void)state;
	for (initiator = 0; initiator < 2; initiator++) {
		end_connection(true, initiator);
		hello(initiator, STAMP, 0);
		released(0);
		hello(initiator, STAMP + 1, 0);
		released(1);
		/* what comes on an older connection then takes nothing back */
		end_connection(true, initiator);
		hello(initiator, STAMP + 1, 0);
		hello(initiator, STAMP - 1, 0);
		released(1);
	}
}

/* The other side has asked for one, and knew of this one. */
static void until_something_comes_on_one_of_the_other_side(void **state)
{
	unsigned int initiator;

	(void)state;
	for (initiator = 0; initiator < 2; initiator++) {
		end_connection(true, initiator);
		hello(!initiator, STAMP + 1, STAMP - 1);
		released(0);
		hello(!initiator, STAMP + 2, STAMP);
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

static void until_the_nic_is_left(void **state)
{
	(void)state;
	end_connection(true, true);
	slnd_purgatory_expire(true);
	assert_int_equal(mboxes, 1);
	assert_int_equal(handles, 1);
	assert_int_equal(slnd.counters.released, slnd.counters.purgatory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(until_the_hold_time_is_over),
		cmocka_unit_test(until_something_comes_on_a_newer_one),
		cmocka_unit_test(until_something_comes_on_one_of_the_other_side),
		cmocka_unit_test(until_the_peer_has_restarted),
		cmocka_unit_test(until_the_nic_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
