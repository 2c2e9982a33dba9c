// SPDX-License-Identifier: GPL-2.0-only
/*
 * Short messages of kGNI: whatever the network does, none is lost, none arrives twice, and each has
 * one event.
 */
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "sim_kernel.h"

#include "ends.h"
#include "kgni_smsg.h"

static void messages(void **state)
{
	unsigned int n;

	(void)state;
	both(GNI_SMSG_TYPE_MBOX);
	for (n = 0; n < 10000; n++)
		step();
	assert_true(drain());
	assert_true(end[0].sent > 1000 && end[1].sent > 1000);
	assert_int_equal(end[0].failed + end[1].failed, 0);
	assert_true(end[0].tx_irqs && end[0].rx_irqs);
}

/*
 * Two words that follow one another in a slot differ in a bit that is not of their checksums: those
 * may be equal by chance, and the receiver would wait for ever.
 */
static void slots_alternate(void **state)
{
	u64 *slots, before = 0;
	u32 n;

	(void)state;
	both(GNI_SMSG_TYPE_MBOX);
	slots = (u64 *)(ALIGN((uintptr_t)end[1].attr.msg_buffer + end[1].attr.mbox_offset,
			      GNI_SMSG_LINE) +
			GNI_SMSG_LINE);
	for (n = 0; n < 5 * CREDITS; n++) {
		assert_int_equal(send_one(&end[0]), GNI_RC_SUCCESS);
		reap(&end[0]);
		if (n % CREDITS == 0) {
			assert_true(!n || (slots[0] ^ before) & GNI_SMSG_TURN);
			before = slots[0];
		}
		assert_true(receive_one(&end[1]));
	}
}

/*
 * A peer cannot give back what was not taken: messages would be sent over those that it has not
 * read.
 */
static void credits_for_nothing(void **state)
{
	struct gni_smsg_conn *c;
	u32 n;

	(void)state;
	both(GNI_SMSG_TYPE_MBOX);
	c = &end[0].ep->smsg->c;
	for (n = 0; n < 2; n++)
		assert_int_equal(send_one(&end[0]), GNI_RC_SUCCESS);
	*gni_smsg_own(c, GNI_SMSG_CREDIT) = gni_smsg_credit(c->out.key, 5);
	assert_int_equal(send_one(&end[0]), GNI_RC_SUCCESS);
	assert_int_equal(c->out.sent, 3);
	assert_int_equal(c->out.acknowledged, 0);
	assert_true(drain());
}

static void limits(void **state)
{
	u8 text[LARGEST + 1] = {};
	void *header;
	u32 n;

	(void)state;
	both(GNI_SMSG_TYPE_MBOX);
	assert_int_equal(gni_smsg_send(end[0].ep, text, LARGEST, text, 1, 0),
			 GNI_RC_ERROR_RESOURCE);
	assert_int_equal(gni_smsg_send(end[0].ep, text, ~0u, text, 2, 0), GNI_RC_ERROR_RESOURCE);
	assert_int_equal(gni_smsg_send(end[0].ep, NULL, 1, text, 1, 0), GNI_RC_INVALID_PARAM);
	assert_int_equal(gni_smsg_send((void *)end[0].tx, text, 1, text, 1, 0),
			 GNI_RC_INVALID_PARAM);
	for (n = 0; n < CREDITS; n++)
		assert_int_equal(gni_smsg_send(end[0].ep, text, 8, NULL, 0,
					       0xabc00000u + end[0].sent++),
				 GNI_RC_SUCCESS);
	assert_int_equal(gni_smsg_send(end[0].ep, text, 8, NULL, 0, 0), GNI_RC_NOT_DONE);
	reap(&end[0]);
	for (n = 0; n < CREDITS; n++) {
		assert_int_equal(gni_smsg_getnext(end[1].ep, &header), GNI_RC_SUCCESS);
		assert_int_equal(gni_smsg_release(end[1].ep), GNI_RC_SUCCESS);
	}
	assert_int_equal(gni_smsg_send(end[0].ep, text, 8, NULL, 0, 0xabc00000u + end[0].sent++),
			 GNI_RC_SUCCESS);
	assert_int_equal(gni_smsg_init(end[0].ep, &end[0].attr, &end[1].attr),
			 GNI_RC_INVALID_STATE);
	sim_atomic = true;
	gni_smsg_init(end[0].ep, &end[0].attr, &end[1].attr);
	sim_atomic = false;
	assert_int_equal(sim_warned, 1);
	sim_warned = 0;
}

static unsigned int one_in;
static enum fabric_fate kinds[3];

static enum fabric_fate now_and_then(unsigned int from, const struct aries_fma *fma)
{
	(void)from;
	(void)fma;
	return fabric_random(one_in) ? FABRIC_DONE : kinds[fabric_random(3)];
}

/* The event of a message that has to be retransmitted is read before the sender knows that. */
static void read_before_the_sender(void **state)
{
	unsigned int n;

	(void)state;
	both(GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT);
	one_in = 10;
	kinds[0] = FABRIC_LOST;
	kinds[1] = FABRIC_UNHEARD;
	kinds[2] = FABRIC_NO_WAY;
	fabric_fate = now_and_then;
	fabric_meanwhile = read_at_once;
	for (n = 0; n < 5000; n++) {
		if (end[0].sent < 4000)
			send_one(&end[0]);
		receive_one(&end[1]);
		fabric_run(1);
	}
	fabric_meanwhile = NULL;
	assert_true(end[0].sent > 1000);
	assert_true(drain());
	assert_int_equal(end[0].failed, 0);
}

/*
 * One operation in ten is lost, or its response is, or the node is unreachable. With
 * AUTO_RETRANSMIT the clients do not notice.
 */
static void losses(void **state)
{
	unsigned int n;

	(void)state;
	both(GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT);
	one_in = 10;
	kinds[0] = FABRIC_LOST;
	kinds[1] = FABRIC_UNHEARD;
	kinds[2] = FABRIC_NO_WAY;
	for (n = 0; n < 20000; n++) {
		fabric_fate = now_and_then;
		step();
	}
	assert_true(drain());
	assert_true(end[0].sent > 500 && end[1].sent > 500);
	assert_int_equal(end[0].failed + end[1].failed, 0);
}

static enum fabric_fate lost_answers(unsigned int from, const struct aries_fma *fma)
{
	(void)from;
	return fma->op == ARIES_FMA_PUT_SYNC && !fabric_random(4) ? FABRIC_UNHEARD : FABRIC_DONE;
}

/* Without AUTO_RETRANSMIT a message whose response is lost counts as delivered all the same. */
static void unheard(void **state)
{
	unsigned int n;

	(void)state;
	both(GNI_SMSG_TYPE_MBOX);
	for (n = 0; n < 10000; n++) {
		fabric_fate = lost_answers;
		step();
	}
	assert_true(drain());
	assert_int_equal(end[0].failed + end[1].failed, 0);
}

static enum fabric_fate nobody_there(unsigned int from, const struct aries_fma *fma)
{
	(void)from;
	(void)fma;
	return FABRIC_LOST;
}

/*
 * A peer that never answers: each message ends with an error that identifies endpoint and message.
 */
static void silence(void **state)
{
	unsigned int n;

	(void)state;
	both(GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT);
	fabric_fate = nobody_there;
	for (n = 0; n < 3; n++) {
		assert_int_equal(send_one(&end[0]), GNI_RC_SUCCESS);
		assert_int_equal(send_one(&end[0]), GNI_RC_NOT_DONE);
		assert_int_equal(gni_ep_unbind(end[0].ep), GNI_RC_NOT_DONE);
		fabric_run(100000);
		reap(&end[0]);
		assert_int_equal(end[0].failed, n + 1);
	}
}

/*
 * The endpoint is destroyed while a message waits for another attempt. The event is still
 * delivered, and nothing is accessed afterwards.
 */
static void destroyed(void **state)
{
	(void)state;
	both(GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT);
	fabric_fate = nobody_there;
	assert_int_equal(send_one(&end[0]), GNI_RC_SUCCESS);
	assert_int_equal(gni_ep_destroy(end[0].ep), GNI_RC_SUCCESS);
	reap(&end[0]);
	assert_int_equal(end[0].failed, 1);
	fabric_run(1000);
	fabric_fate = NULL;
	connect_end(0);
}

/*
 * The NIC of one end is reset with messages in flight. Completed messages keep their outcome, the
 * others end now, and handles stay valid.
 */
static void reset(void **state)
{
	unsigned int n;

	(void)state;
	both(GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT);
	for (n = 0; n < 5; n++)
		assert_int_equal(send_one(&end[0]), GNI_RC_SUCCESS);
	fabric_fate = nobody_there;
	assert_int_equal(send_one(&end[0]), GNI_RC_SUCCESS);
	fabric_tell(0, ARIES_EVENT_RESET, &(struct aries_event_info){ .quiet_ms = 0 });
	fabric_run(1);
	assert_true(end[0].tx_irqs);
	fabric_tell(0, ARIES_EVENT_QUIET, &(struct aries_event_info){ .quiet_ms = 0 });
	fabric_run(1000);
	reap(&end[0]);
	assert_int_equal(end[0].completed, 6);
	assert_int_equal(end[0].failed, 1);
	assert_int_equal(send_one(&end[0]), GNI_RC_NOT_DONE);
}

static enum fabric_fate after_it;
static bool reap_at_once;

/*
 * The NIC goes away in the middle of a call, and another processor reads the event that kGNI
 * delivers.
 */
static enum fabric_fate gone_meanwhile(unsigned int from, const struct aries_fma *fma)
{
	gni_post_descriptor_t *done;
	gni_cq_entry_t entry;

	(void)from;
	(void)fma;
	fabric_fate = NULL;
	fabric_tell(0, ARIES_EVENT_RESET, &(struct aries_event_info){ .quiet_ms = 0 });
	/* the NIC may still access the memory of outstanding operations */
	assert_int_equal(gni_cq_get_event(end[0].tx, &entry), GNI_RC_NOT_DONE);
	fabric_tell(0, ARIES_EVENT_QUIET, &(struct aries_event_info){ .quiet_ms = 0 });
	if (reap_at_once && gni_cq_get_event(end[0].tx, &entry) == GNI_RC_TRANSACTION_ERROR) {
		if (GNI_CQ_GET_TYPE(entry) == GNI_CQ_EVENT_TYPE_POST)
			assert_int_equal(gni_get_completed(end[0].tx, entry, &done),
					 GNI_RC_TRANSACTION_ERROR);
		end[0].failed++;
	}
	return after_it;
}

/* The NIC goes away during a post or a send: there is exactly one event. */
static void gone_in_the_middle(enum fabric_fate fate, bool at_once, unsigned int what)
{
	static u8 text[8192];
	gni_post_descriptor_t d = { .cq_mode = GNI_CQMODE_GLOBAL_EVENT }, *done;
	gni_cq_entry_t entry;
	gni_return_t rc;

	both(GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT);
	after_it = fate;
	reap_at_once = at_once;
	d.local_addr = (uintptr_t)end[0].mailbox;
	d.local_mem_hndl = end[0].mem;
	d.remote_addr = (uintptr_t)end[1].mailbox;
	d.remote_mem_hndl = end[1].mem;
	fabric_fate = gone_meanwhile;
	if (what == 0) {
		rc = gni_smsg_send(end[0].ep, text, 8, NULL, 0, 5);
	} else if (what == 1) {
		d.type = GNI_POST_RDMA_PUT;
		d.length = 64;
		rc = gni_post_rdma(end[0].ep, &d);
	} else {
		d.type = GNI_POST_FMA_PUT;
		d.local_addr = (uintptr_t)text;
		d.length = what == 2 ? 8 : sizeof(text);
		rc = gni_post_fma(end[0].ep, &d);
	}
	assert_int_equal(rc, GNI_RC_SUCCESS);
	fabric_run(10);
	while (gni_cq_get_event(end[0].tx, &entry) != GNI_RC_NOT_DONE) {
		if (what)
			assert_int_equal(gni_get_completed(end[0].tx, entry, &done),
					 GNI_RC_TRANSACTION_ERROR);
		end[0].failed++;
	}
	assert_int_equal(end[0].failed, 1);
}

static void gone_meanwhile_all(void **state)
{
	static const enum fabric_fate fates[] = { FABRIC_NOT_TAKEN, FABRIC_LOST, FABRIC_DONE };
	unsigned int fate, what;

	for (fate = 0; fate < ARRAY_SIZE(fates); fate++)
		for (what = 0; what < 8; what++) {
			gone_in_the_middle(fates[fate], what & 1, what / 2);
			finish(state);
			begin(state);
		}
	both(GNI_SMSG_TYPE_MBOX);
}

/* Between reading an event and completing its post the NIC may be reset, and become quiet. */
static void event_in_hand(u16 events, gni_post_type_t type, unsigned int reset, unsigned int quiet)
{
	gni_post_descriptor_t d = { .type = type, .cq_mode = events, .length = 64 }, *done;
	unsigned int step, told = 0;
	gni_cq_entry_t entry;
	gni_return_t rc;

	both(GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT);
	d.local_addr = (uintptr_t)end[0].mailbox;
	d.local_mem_hndl = end[0].mem;
	d.remote_addr = (uintptr_t)end[1].mailbox;
	d.remote_mem_hndl = end[1].mem;
	rc = type == GNI_POST_RDMA_PUT ? gni_post_rdma(end[0].ep, &d) : gni_post_fma(end[0].ep, &d);
	assert_int_equal(rc, GNI_RC_SUCCESS);
	/* before each step of the client the reset may proceed */
	for (step = 0; step < 8; step++) {
		if (step == reset)
			fabric_tell(0, ARIES_EVENT_RESET,
				    &(struct aries_event_info){ .quiet_ms = 0 });
		if (step == quiet)
			fabric_tell(0, ARIES_EVENT_QUIET,
				    &(struct aries_event_info){ .quiet_ms = 0 });
		if (step & 1 ? told == 0 : told)
			continue;
		if (step & 1) {
			rc = gni_get_completed(end[0].tx, entry, &done);
			assert_true(rc == GNI_RC_SUCCESS || rc == GNI_RC_TRANSACTION_ERROR);
			assert_ptr_equal(done, &d);
			/* a post whose event was read as successful stays successful */
			assert_int_equal(rc == GNI_RC_SUCCESS, !GNI_CQ_GET_STATUS(entry));
			assert_int_equal(gni_get_completed(end[0].tx, entry, &done),
					 GNI_RC_DESCRIPTOR_ERROR);
			events &= ~GNI_CQ_GET_INFO(entry);
			told = 0;
		} else {
			rc = gni_cq_get_event(end[0].tx, &entry);
			assert_true(rc == GNI_RC_SUCCESS || rc == GNI_RC_TRANSACTION_ERROR ||
				    (rc == GNI_RC_NOT_DONE && (!events || step < quiet)));
			told = rc != GNI_RC_NOT_DONE;
			assert_true(!told || (events & GNI_CQ_GET_INFO(entry)));
		}
	}
	assert_int_equal(events, 0);
	assert_int_equal(gni_cq_get_event(end[0].tx, &entry), GNI_RC_NOT_DONE);
}

static void event_in_hand_all(void **state)
{
	static const u16 events[] = { GNI_CQMODE_LOCAL_EVENT, GNI_CQMODE_GLOBAL_EVENT,
				      GNI_CQMODE_LOCAL_EVENT | GNI_CQMODE_GLOBAL_EVENT };
	unsigned int what, reset, quiet;

	for (what = 0; what < 2 * ARRAY_SIZE(events); what++)
		for (reset = 0; reset < 5; reset++)
			for (quiet = reset; quiet < 5; quiet++) {
				event_in_hand(events[what / 2],
					      what & 1 ? GNI_POST_RDMA_PUT : GNI_POST_FMA_PUT,
					      reset, quiet);
				finish(state);
				begin(state);
			}
	both(GNI_SMSG_TYPE_MBOX);
}

static unsigned int quiet_for;

static void on_quiet_end(gni_nic_handle_t nic, uint64_t msecs)
{
	assert_ptr_equal(nic, end[0].nic);
	quiet_for += msecs;
}

/* The job is suspended: nothing is sent, nothing is lost, and the client is told when that ends. */
static void quiesce(void **state)
{
	(void)state;
	both(GNI_SMSG_TYPE_MBOX);
	quiet_for = 0;
	assert_int_equal(gni_set_quiesce_callback(end[0].nic, on_quiet_end), GNI_RC_SUCCESS);
	fabric_tell(0, ARIES_EVENT_QUIESCE, &(struct aries_event_info){ .quiet_ms = 0 });
	assert_int_equal(gni_get_quiesce_status(end[0].nic), 1);
	assert_int_equal(send_one(&end[0]), GNI_RC_NOT_DONE);
	fabric_tell(0, ARIES_EVENT_RESUME, &(struct aries_event_info){ .quiet_ms = 17 });
	assert_int_equal(gni_get_quiesce_status(end[0].nic), 0);
	fabric_run(1);
	assert_int_equal(quiet_for, 17);
	assert_int_equal(send_one(&end[0]), GNI_RC_SUCCESS);
	assert_true(drain());
}

static enum fabric_fate not_taken(unsigned int from, const struct aries_fma *fma)
{
	(void)from;
	(void)fma;
	return FABRIC_NOT_TAKEN;
}

/*
 * A message that the NIC does not accept, because a quiesce has begun, waits until the quiesce
 * ends.
 */
static void quiesce_meanwhile(void **state)
{
	unsigned int n;

	(void)state;
	both(GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT);
	fabric_fate = not_taken;
	assert_int_equal(send_one(&end[0]), GNI_RC_SUCCESS);
	fabric_tell(0, ARIES_EVENT_QUIESCE, &(struct aries_event_info){ .quiet_ms = 0 });
	for (n = 0; n < 100; n++)
		fabric_run(100);
	reap(&end[0]);
	assert_int_equal(end[0].completed, 0);
	fabric_fate = NULL;
	fabric_tell(0, ARIES_EVENT_RESUME, &(struct aries_event_info){ .quiet_ms = 17 });
	assert_true(drain());
	assert_int_equal(end[0].failed, 0);
}

static unsigned int full_times;

/* The NIC has no space for requests to other hosts. */
static enum fabric_fate full(unsigned int from, const struct aries_fma *fma)
{
	(void)from;
	if (!full_times || !(fma->mode & (ARIES_EV_LOCAL | ARIES_EV_GLOBAL)))
		return FABRIC_DONE;
	full_times--;
	return FABRIC_FULL;
}

/*
 * A request that a full NIC refuses has an event like any other failure, and no second one later.
 */
static void full_post(void **state)
{
	gni_post_descriptor_t d[2], *done;
	unsigned int n;

	(void)state;
	both(GNI_SMSG_TYPE_MBOX);
	full_times = 1;
	fabric_fate = full;
	for (n = 0; n < ARRAY_SIZE(d); n++) {
		gni_cq_entry_t entry = 0;
		gni_return_t rc = n ? GNI_RC_SUCCESS : GNI_RC_TRANSACTION_ERROR;

		d[n] = (gni_post_descriptor_t){ .type = GNI_POST_FMA_PUT,
						.cq_mode = GNI_CQMODE_GLOBAL_EVENT,
						.local_addr = (uintptr_t)end[0].mailbox,
						.remote_addr = (uintptr_t)end[1].mailbox,
						.remote_mem_hndl = end[1].mem,
						.length = 64 };
		assert_int_equal(gni_post_fma(end[0].ep, &d[n]), GNI_RC_SUCCESS);
		assert_int_equal(gni_cq_get_event(end[0].tx, &entry), rc);
		assert_int_equal(gni_get_completed(end[0].tx, entry, &done), rc);
		assert_ptr_equal(done, &d[n]);
		assert_int_equal(gni_cq_get_event(end[0].tx, &entry), GNI_RC_NOT_DONE);
	}
	fabric_fate = NULL;
}

/* A message that the NIC has no space for is retransmitted, and arrives once. */
static void full_message(void **state)
{
	(void)state;
	both(GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT);
	full_times = 3;
	fabric_fate = full;
	assert_int_equal(send_one(&end[0]), GNI_RC_SUCCESS);
	assert_true(drain());
	assert_int_equal(end[0].failed, 0);
	assert_int_equal(end[0].completed, 1);
	fabric_fate = NULL;
}

/*
 * What a peer writes is not trusted: whatever is in the mailbox, nothing outside of it is accessed.
 */
static void garbage(void **state)
{
	unsigned int round, n;

	(void)state;
	both(GNI_SMSG_TYPE_MBOX);
	for (round = 0; round < 2000; round++) {
		struct end *e = &end[1];
		void *header;

		for (n = 0; n < fabric_random(20); n++)
			e->mailbox[fabric_random(e->attr.buff_size)] = fabric_random(256);
		send_one(&end[0]);
		reap(&end[0]);
		if (gni_smsg_getnext(e->ep, &header) == GNI_RC_SUCCESS) {
			assert_true((u8 *)header >= e->mailbox &&
				    (u8 *)header < e->mailbox + e->attr.buff_size);
			gni_smsg_release(e->ep);
		}
		if (round % 10)
			continue;
		assert_int_equal(gni_ep_destroy(e->ep), GNI_RC_SUCCESS);
		connect_end(1);
		fabric_run(1);
		reap(&end[0]);
		assert_int_equal(gni_ep_destroy(end[0].ep), GNI_RC_SUCCESS);
		connect_end(0);
	}
}

/*
 * Both ends reconnect many times, at any time. Messages arrive in order, and only those of the
 * newest connection do.
 */
static void reconnect(void **state)
{
	unsigned int round, n, first;

	(void)state;
	both(GNI_SMSG_TYPE_MBOX);
	for (round = 0; round < 500; round++) {
		for (n = fabric_random(20); n; n--)
			step();
		drain();
		first = fabric_random(2);
		for (n = 0; n < 2; n++)
			assert_int_equal(gni_ep_destroy(end[first ^ n].ep), GNI_RC_SUCCESS);
		for (n = 0; n < 2; n++) {
			connect_end(first ^ n);
			end[n].received = end[!n].sent;
			/* the faster side sends before the other one is connected */
			if (!n)
				send_one(&end[first]);
		}
		end[!first].received = end[first].sent ? end[first].sent - 1 : 0;
		drain();
		assert_int_equal(end[!first].received, end[first].sent);
	}
}

static unsigned int losses_left;

static enum fabric_fate some_are_lost(unsigned int from, const struct aries_fma *fma)
{
	(void)fma;
	return from == 1 && losses_left && losses_left-- ? FABRIC_LOST : FABRIC_DONE;
}

static void disconnect(void)
{
	assert_int_equal(gni_ep_destroy(end[0].ep), GNI_RC_SUCCESS);
	assert_int_equal(gni_ep_destroy(end[1].ep), GNI_RC_SUCCESS);
}

/* The faster side sends a message before the other one is connected; then @losses answers get lost. */
static void message_before_connection(unsigned int losses)
{
	connect_end(0);
	assert_int_equal(send_one(&end[0]), GNI_RC_SUCCESS);
	connect_end(1);
	fabric_fate = some_are_lost;
	losses_left = losses;
}

/*
 * A message came before the connection. The receiver asks the sender whether it is from this
 * connection, and answers get lost. A client that looks once finds it nevertheless, unless the peer
 * does not answer at all: then calls do not take long.
 */
static void first_answers_lost(void **state)
{
	unsigned int n;

	(void)state;
	both(GNI_SMSG_TYPE_MBOX);
	disconnect();
	message_before_connection(4);
	assert_true(receive_one(&end[1]));
	assert_true(drain());
	disconnect();
	end[0].sent = 0;
	end[1].received = 0;
	message_before_connection(1000);
	for (n = 0; n < 64; n++)
		assert_false(receive_one(&end[1]));
	assert_in_range(1000 - losses_left, 2, 10);
	losses_left = 0;
	for (n = 0; n < 64 && !end[1].received; n++)
		receive_one(&end[1]);
	assert_int_equal(end[1].received, 1);
}

/* In memory that has not been a mailbox before nobody is asked. */
static void first_in_new_memory(void **state)
{
	(void)state;
	both(GNI_SMSG_TYPE_MBOX);
	disconnect();
	memset(end[1].mailbox, 0, 64);
	message_before_connection(1000);
	assert_true(receive_one(&end[1]));
	assert_int_equal(losses_left, 1000);
	losses_left = 0;
}

static void no_memory(void **state)
{
	unsigned int n;

	(void)state;
	both(GNI_SMSG_TYPE_MBOX);
	one_in = 10;
	kinds[0] = kinds[1] = kinds[2] = FABRIC_UNHEARD;
	fabric_nomem = 2;
	for (n = 0; n < 3000; n++) {
		fabric_fate = lost_answers;
		step();
	}
	fabric_nomem = 0;
	drain();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(messages, begin, finish),
		cmocka_unit_test_setup_teardown(slots_alternate, begin, finish),
		cmocka_unit_test_setup_teardown(credits_for_nothing, begin, finish),
		cmocka_unit_test_setup_teardown(limits, begin, finish),
		cmocka_unit_test_setup_teardown(losses, begin, finish),
		cmocka_unit_test_setup_teardown(read_before_the_sender, begin, finish),
		cmocka_unit_test_setup_teardown(unheard, begin, finish),
		cmocka_unit_test_setup_teardown(silence, begin, finish),
		cmocka_unit_test_setup_teardown(destroyed, begin, finish),
		cmocka_unit_test_setup_teardown(reset, begin, finish),
		cmocka_unit_test_setup_teardown(gone_meanwhile_all, begin, finish),
		cmocka_unit_test_setup_teardown(event_in_hand_all, begin, finish),
		cmocka_unit_test_setup_teardown(quiesce, begin, finish),
		cmocka_unit_test_setup_teardown(quiesce_meanwhile, begin, finish),
		cmocka_unit_test_setup_teardown(full_post, begin, finish),
		cmocka_unit_test_setup_teardown(full_message, begin, finish),
		cmocka_unit_test_setup_teardown(garbage, begin, finish),
		cmocka_unit_test_setup_teardown(reconnect, begin, finish),
		cmocka_unit_test_setup_teardown(first_answers_lost, begin, finish),
		cmocka_unit_test_setup_teardown(first_in_new_memory, begin, finish),
		cmocka_unit_test_setup_teardown(no_memory, begin, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
