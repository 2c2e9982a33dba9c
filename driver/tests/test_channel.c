// SPDX-License-Identifier: GPL-2.0-only
/*
 * The channel between drivers. The datagrams of one user never block those of others, however many
 * there are. The first message to a node that is coming up is not lost. A driver of another version
 * is reported and does no harm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "node.h"

/* Files of a node, see sim_cookie(): the first of each domain. */
#define FLOOD 0
#define VICTIM SIM_INSTANCES
#define FLOOD_SIZE 4000
#define NOBODY 100000u
#define EXCHANGES 40
/*
 * An exchange is three messages in sequence. Before each of them, requests and refusals of the
 * flood may have their turn, and at the same time three messages go in the other direction. That is
 * fair. Up to four times as many are accepted here.
 */
#define FLOOD_MESSAGES (4 * (3 * 3 * 2 - 3))

static int setup(void **state)
{
	u32 pe;

	sim_seed(1);
	sim_trouble = 0;
	for (pe = 0; pe < SIM_NODES; pe++)
		sim_up(pe);
	return 0;
}

static int teardown(void **state)
{
	u32 pe;

	for (pe = 0; pe < SIM_NODES; pe++)
		if (sim_node[pe].up)
			sim_down(pe);
	return 0;
}

static void let_run(int rounds)
{
	u32 pe;

	while (rounds--) {
		for (pe = 0; pe < SIM_NODES; pe++)
			if (sim_node[pe].ad.chan)
				sim_work(&sim_node[pe]);
		jiffies++;
	}
}

static int post(u32 pe, u32 file, u64 ep, u32 flags, u32 to_pe, u32 to_inst)
{
	struct kgni_dgram_post arg = { .flags = flags, .ep = ep, .pe = to_pe, .inst_id = to_inst,
				       .length = 4 };

	return aries_dgram_post(sim_node[pe].own[file], &arg);
}

static u32 state_of(u32 pe, u32 file, u64 ep)
{
	struct kgni_dgram_test t = { .ep = ep };

	assert_int_equal(aries_dgram_test(sim_node[pe].own[file], &t), 0);
	return t.state;
}

/* One instance floods another node with datagrams to instances that do not exist. */
static void flood(u32 pe, u32 to_pe)
{
	u32 n;

	for (n = 0; n < FLOOD_SIZE; n++)
		assert_int_equal(post(pe, FLOOD, n, 0, to_pe, NOBODY + n), 0);
}

/*
 * Makes exchanges between nodes 0 and 1, and returns how many messages of the flood both nodes sent
 * in the meantime.
 */
static unsigned long exchanges(u32 from)
{
	u32 to = 1 - from;
	unsigned long before = sim_node[0].sent[0] + sim_node[1].sent[0];
	unsigned int n, rounds = 0;

	for (n = 0; n < EXCHANGES; n++) {
		assert_int_equal(post(to, VICTIM, n, KGNI_DGRAM_WILDCARD, 0, 0), 0);
		assert_int_equal(post(from, VICTIM, n, 0, to, sim_instance(VICTIM)), 0);
		while (sim_node[from].own[VICTIM]->dg.pending.next !=
			       &sim_node[from].own[VICTIM]->dg.pending ||
		       sim_node[to].own[VICTIM]->dg.pending.next !=
			       &sim_node[to].own[VICTIM]->dg.pending) {
			let_run(1);
			assert_true(rounds++ < 100 * EXCHANGES);
		}
		assert_int_equal(state_of(from, VICTIM, n), KGNI_DGRAM_COMPLETED);
		assert_int_equal(state_of(to, VICTIM, n), KGNI_DGRAM_COMPLETED);
	}
	return sim_node[0].sent[0] + sim_node[1].sent[0] - before;
}

static void a_flood_leaves_others_their_share(void **state)
{
	unsigned long other;

	flood(0, 1);
	let_run(1000);
	other = exchanges(0);
	assert_in_range(other, EXCHANGES, EXCHANGES * FLOOD_MESSAGES);
	/* against the direction of the flood, where its refusals compete */
	other = exchanges(1);
	assert_in_range(other, EXCHANGES, EXCHANGES * FLOOD_MESSAGES);
}

static void floods_from_both_sides(void **state)
{
	flood(0, 1);
	flood(1, 0);
	flood(2, 1);
	let_run(1000);
	assert_in_range(exchanges(0), EXCHANGES, EXCHANGES * FLOOD_MESSAGES);
	assert_in_range(exchanges(1), EXCHANGES, EXCHANGES * FLOOD_MESSAGES);
}

/* A datagram whose partner does not exist is retried with growing delays, but does not end. */
static void pauses_grow(void **state)
{
	unsigned long early, late;

	assert_int_equal(post(0, FLOOD, 1, 0, 1, NOBODY), 0);
	let_run(4 * HZ);
	early = sim_node[0].sent[0];
	assert_in_range(early, 10, 100);
	let_run(96 * HZ);
	late = sim_node[0].sent[0] - early;
	assert_in_range(late, 12, 60); /* one every 8 s at the end */
	assert_int_equal(state_of(0, FLOOD, 1), KGNI_DGRAM_PENDING);
}

/*
 * The peer of a flood dies and comes back, and the file of the flood is closed. All of that must be
 * processed in portions.
 */
static void many_end_in_portions(void **state)
{
	flood(0, 1);
	let_run(100);
	sim_down(1);
	let_run(1);
	sim_up(1);
	let_run(5 * HZ);
	assert_int_equal(state_of(0, FLOOD, 17), KGNI_DGRAM_PENDING);
	sim_down(1);
	let_run(100 * HZ);
	assert_int_equal(state_of(0, FLOOD, 17), KGNI_DGRAM_TIMEOUT);
	sim_detach(0, FLOOD);
	sim_attach(0, FLOOD);
}

static u64 probe(u32 pe, u32 file, u32 flags)
{
	struct kgni_dgram_probe arg = { .flags = flags };

	return aries_dgram_probe(sim_node[pe].own[file], &arg) ? ~0ull : arg.id;
}

/* Datagrams without an id do not slow down a probe for datagrams with an id. */
static void news_come_in_order(void **state)
{
	struct kgni_dgram_post arg = { .flags = KGNI_DGRAM_ID, .ep = FLOOD_SIZE, .id = 77,
				       .pe = 0, .inst_id = 55, .length = 4 };
	struct kgni_dgram_cancel end = {};

	for (end.ep = 0; end.ep < FLOOD_SIZE; end.ep++) {
		assert_int_equal(post(0, FLOOD, end.ep, 0, 0, NOBODY + (u32)end.ep), 0);
		assert_int_equal(aries_dgram_cancel(sim_node[0].own[FLOOD], &end), 0);
	}
	assert_int_equal(probe(0, FLOOD, KGNI_DGRAM_ID), ~0ull);
	assert_int_equal(probe(0, FLOOD, 0), 0);
	assert_int_equal(aries_dgram_post(sim_node[0].own[FLOOD], &arg), 0);
	end = (struct kgni_dgram_cancel){ .flags = KGNI_DGRAM_ID, .ep = FLOOD_SIZE, .id = 77 };
	assert_int_equal(aries_dgram_cancel(sim_node[0].own[FLOOD], &end), 0);
	assert_int_equal(probe(0, FLOOD, KGNI_DGRAM_ID), 77);
	assert_int_equal(probe(0, FLOOD, 0), 0);
}

/*
 * A single message arrives when the NIC is set up and the device is not in use yet. It must be
 * handled even though the interrupt came too early.
 */
static void first_message_is_not_lost(void **state)
{
	sim_down(0);
	let_run(1);
	sim_prepare(0);
	assert_int_equal(post(1, FLOOD, 1, 0, 0, NOBODY), 0);
	let_run(2);
	assert_true(sim_node[0].produced > 0);
	sim_begin(0);
	let_run(70 * HZ); /* without an answer it would be lost after 60 s */
	assert_int_equal(state_of(1, FLOOD, 1), KGNI_DGRAM_PENDING);
	assert_true(sim_node[0].sent[0] > 0);
}

/* A driver with another layout of the channel refuses our key. */
static void another_key_is_told_once(void **state)
{
	sim_node[1].key ^= 1;
	assert_int_equal(post(0, FLOOD, 1, 0, 1, 1), 0);
	let_run(30 * HZ);
	assert_int_equal(state_of(0, FLOOD, 1), KGNI_DGRAM_TIMEOUT);
	assert_int_equal(post(0, FLOOD, 1, 0, 1, 1), 0);
	let_run(30 * HZ);
	assert_int_equal(sim_warnings, 1);
}

/* A driver with another protocol version and the same key. */
static void another_version_is_told_once(void **state)
{
	struct aries_msg msg = { .magic = cpu_to_le32(ARIES_MSG_MAGIC + 0x01000000u),
				 .src = cpu_to_le32(1), .type = cpu_to_le16(200) };
	int n;

	for (n = 0; n < 3; n++) {
		memcpy(sim_node[0].area + ARIES_SLOT_BYTES, &msg, sizeof(msg));
		aries_peer_rx_msg(sim_node[0].ad.chan, 1, true);
	}
	assert_int_equal(sim_warnings, 1);
	msg.src = cpu_to_le32(SIM_NODES + 1);
	memcpy(sim_node[0].area + ARIES_SLOT_BYTES, &msg, sizeof(msg));
	aries_peer_rx_msg(sim_node[0].ad.chan, 1, true);
	assert_int_equal(sim_warnings, 1);
	/* correct messages are still understood */
	exchanges(0);
}

/* The checksum is part of the protocol: this one was computed by another program (zlib). */
static void the_checksum_is_the_protocols(void **state)
{
	struct aries_msg msg = { .magic = cpu_to_le32(0x33474441u), .src = cpu_to_le32(1),
				 .src_epoch = cpu_to_le64(0x1122334455667788ull),
				 .seq = cpu_to_le32(1), .type = cpu_to_le16(ARIES_MSG_REQUEST),
				 .len = cpu_to_le16(4), .cookie = cpu_to_le32(0x12345678u),
				 .src_inst = cpu_to_le32(5), .dst_inst = cpu_to_le32(6),
				 .src_handle = cpu_to_le64(7), .data = "ping",
				 .check = cpu_to_le64(0xb613958d ^ 1) };

	memcpy(sim_node[0].area + ARIES_SLOT_BYTES, &msg, sizeof(msg));
	aries_peer_rx_msg(sim_node[0].ad.chan, 1, true);
	assert_null(aries_peer_find(sim_node[0].ad.chan, 1));
	msg.check ^= cpu_to_le64(1);
	memcpy(sim_node[0].area + ARIES_SLOT_BYTES, &msg, sizeof(msg));
	aries_peer_rx_msg(sim_node[0].ad.chan, 1, true);
	assert_non_null(aries_peer_find(sim_node[0].ad.chan, 1));
}

/* Puts a request of node 1 into its slot at node 0. */
static void put_request(u32 seq, u32 cookie)
{
	struct aries_msg msg = { .magic = cpu_to_le32(ARIES_MSG_MAGIC), .src = cpu_to_le32(1),
				 .src_epoch = cpu_to_le64(77), .seq = cpu_to_le32(seq),
				 .type = cpu_to_le16(ARIES_MSG_REQUEST),
				 .cookie = cpu_to_le32(cookie), .src_handle = cpu_to_le64(seq) };

	msg.check = cpu_to_le64(~crc32_le(~0u, &msg, offsetof(struct aries_msg, check)));
	memcpy(sim_node[0].area + ARIES_SLOT_BYTES, &msg, sizeof(msg));
}

static u32 taken(u32 seq)
{
	put_request(seq, NOBODY);
	aries_peer_rx_msg(sim_node[0].ad.chan, 1, true);
	return aries_peer_find(sim_node[0].ad.chan, 1)->rx_seq;
}

/* Acknowledges in the name of node 1 what node 0 has sent it, in the slot of some node. */
static void acknowledge(u32 slot)
{
	struct aries_peer *peer = aries_peer_find(sim_node[0].ad.chan, 1);
	struct aries_ack ack = { .src = cpu_to_le32(1), .epoch = cpu_to_le64(77),
				 .seq = cpu_to_le32(peer->tx_seq),
				 .to_epoch = cpu_to_le64(peer->own_epoch) };

	ack.check = cpu_to_le32(~crc32_le(~0u, &ack, offsetof(struct aries_ack, check)));
	memcpy(sim_node[0].area + slot * ARIES_SLOT_BYTES + ARIES_SLOT_ACK, &ack, sizeof(ack));
	aries_peer_rx_ack(sim_node[0].ad.chan, slot);
}

/* Messages are taken one after the other, also where their numbers begin again. */
static void a_gap_is_waited_for(void **state)
{
	assert_int_equal(taken(5), 5); /* a life of the peer may begin with any number */
	assert_int_equal(taken(7), 5);
	assert_int_equal(taken(6), 6);
	assert_int_equal(taken(4), 6);
	aries_peer_find(sim_node[0].ad.chan, 1)->rx_seq = 0xffffffff;
	assert_int_equal(taken(0), 0);
}

/*
 * A peer that asks more than it lets be answered: answers are kept for some of its requests, not
 * for all.
 */
static void answers_that_wait_are_bounded(void **state)
{
	u32 n;

	for (n = 1; n < 4 * 256; n++)
		assert_int_equal(taken(n), n);
	assert_in_range(aries_peer_find(sim_node[0].ad.chan, 1)->nobody.nnotes, 1, 256);
}

/* What is in flight for node 1 is acknowledged by node 1, in its own slot. */
static void only_the_peer_acknowledges(void **state)
{
	struct aries_peer *peer;

	assert_int_equal(post(0, FLOOD, 1, 0, 1, NOBODY), 0);
	sim_work(&sim_node[0]);
	peer = aries_peer_find(sim_node[0].ad.chan, 1);
	assert_true(peer->busy);
	acknowledge(2);
	assert_true(peer->busy);
	acknowledge(1);
	assert_false(peer->busy);
}

/* Two nodes that ask each other much would wait for each other if requests went first. */
static void answers_go_before_requests(void **state)
{
	struct aries_peer *peer;
	u32 n;

	for (n = 0; n < 3; n++)
		assert_int_equal(post(0, FLOOD, n, 0, 1, NOBODY + n), 0);
	assert_int_equal(post(0, FLOOD, n, KGNI_DGRAM_WILDCARD, 0, 0), 0);
	sim_work(&sim_node[0]);
	peer = aries_peer_find(sim_node[0].ad.chan, 1);
	assert_int_equal(le16_to_cpu(peer->msg.type), ARIES_MSG_REQUEST);
	put_request(1, sim_cookie(FLOOD));
	aries_peer_rx_msg(sim_node[0].ad.chan, 1, true);
	acknowledge(1);
	aries_chan_irq(&sim_node[0].ad);
	sim_work(&sim_node[0]);
	assert_true(peer->busy);
	assert_int_equal(le16_to_cpu(peer->msg.type), ARIES_MSG_ACCEPT);
}

/*
 * After an overrun of the queue all slots are looked at: any of them may have a message whose event
 * was lost.
 */
static void lost_events_are_made_up_for(void **state)
{
	put_request(1, NOBODY);
	sim_node[0].owed = true;
	assert_int_equal(post(2, FLOOD, 1, 0, 0, NOBODY), 0);
	sim_work(&sim_node[2]);
	assert_null(aries_peer_find(sim_node[0].ad.chan, 1));
	sim_work(&sim_node[0]);
	assert_non_null(aries_peer_find(sim_node[0].ad.chan, 1));
	assert_non_null(aries_peer_find(sim_node[0].ad.chan, 2));
}

/* To a peer that is silent a message goes again and again, about once a second. */
static void messages_are_repeated_steadily(void **state)
{
	unsigned long rounds, early;

	assert_int_equal(post(0, FLOOD, 1, 0, 1, NOBODY), 0);
	for (rounds = 0; rounds < 20 * HZ; rounds++, jiffies++)
		sim_work(&sim_node[0]);
	early = sim_node[0].sent[0];
	assert_in_range(early, 10, 40);
	for (rounds = 0; rounds < 30 * HZ; rounds++, jiffies++)
		sim_work(&sim_node[0]);
	assert_in_range(sim_node[0].sent[0] - early, 20, 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_flood_leaves_others_their_share, setup, teardown),
		cmocka_unit_test_setup_teardown(floods_from_both_sides, setup, teardown),
		cmocka_unit_test_setup_teardown(pauses_grow, setup, teardown),
		cmocka_unit_test_setup_teardown(many_end_in_portions, setup, teardown),
		cmocka_unit_test_setup_teardown(news_come_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(first_message_is_not_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(another_key_is_told_once, setup, teardown),
		cmocka_unit_test_setup_teardown(another_version_is_told_once, setup, teardown),
		cmocka_unit_test_setup_teardown(the_checksum_is_the_protocols, setup, teardown),
		cmocka_unit_test_setup_teardown(a_gap_is_waited_for, setup, teardown),
		cmocka_unit_test_setup_teardown(answers_that_wait_are_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(only_the_peer_acknowledges, setup, teardown),
		cmocka_unit_test_setup_teardown(answers_go_before_requests, setup, teardown),
		cmocka_unit_test_setup_teardown(lost_events_are_made_up_for, setup, teardown),
		cmocka_unit_test_setup_teardown(messages_are_repeated_steadily, setup, teardown),
	};

	return cmocka_run_group_tests_name("channel of drivers", tests, NULL, NULL);
}
