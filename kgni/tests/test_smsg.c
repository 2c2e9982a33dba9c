// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/* Short messages of kGNI: none is lost, none comes twice, and each has its event, whatever the
 * network does. */
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "sim_kernel.h"

#include "fabric.h"

#define CREDITS 8
#define LARGEST 3000
#define COOKIE 0x1234
#define PTAG 7

/* One end of a connection. */
struct end {
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	gni_cq_handle_t tx, rx;
	gni_ep_handle_t ep;
	gni_mem_handle_t mem;
	gni_smsg_attr_t attr;
	u8 *mailbox;
	unsigned int tx_irqs, rx_irqs;
	u32 sent, received, completed, failed;
	u32 event_of[4096]; /* by message: how often its event came */
};

static struct end end[2];

static void on_event(uint32_t device_id, uint64_t data)
{
	unsigned int i = data / 2;

	assert_int_equal(device_id, i);
	if (data & 1)
		end[i].rx_irqs++;
	else
		end[i].tx_irqs++;
}

static void open_end(unsigned int i, unsigned int type)
{
	struct end *e = &end[i];
	unsigned int bytes;
	u32 address;

	memset(e, 0, sizeof(*e));
	assert_int_equal(gni_cdm_create(i, PTAG, COOKIE, GNI_CDM_MODE_DUAL_EVENTS, &e->cdm),
			 GNI_RC_SUCCESS);
	assert_int_equal(gni_cdm_attach(e->cdm, i, &address, &e->nic), GNI_RC_SUCCESS);
	assert_int_equal(address, i);
	assert_int_equal(gni_cq_create(e->nic, 64, 0, on_event, 2 * i, &e->tx), GNI_RC_SUCCESS);
	assert_int_equal(gni_cq_create(e->nic, 4096, 0, on_event, 2 * i + 1, &e->rx),
			 GNI_RC_SUCCESS);
	e->attr = (gni_smsg_attr_t){ .msg_type = type,
				     .mbox_maxcredit = CREDITS,
				     .msg_maxsize = LARGEST };
	assert_int_equal(gni_smsg_buff_size_needed(&e->attr, &bytes), GNI_RC_SUCCESS);
	e->mailbox = aligned_alloc(PAGE_SIZE, ALIGN(bytes, PAGE_SIZE));
	memset(e->mailbox, 0, ALIGN(bytes, PAGE_SIZE));
	assert_int_equal(gni_mem_register(e->nic, (uintptr_t)e->mailbox, bytes, e->rx,
					  GNI_MEM_READWRITE, &e->mem),
			 GNI_RC_SUCCESS);
	e->attr.msg_buffer = e->mailbox;
	e->attr.buff_size = bytes;
	e->attr.mem_hndl = e->mem;
}

static void connect_end(unsigned int i)
{
	struct end *e = &end[i];

	assert_int_equal(gni_ep_create(e->nic, e->tx, &e->ep), GNI_RC_SUCCESS);
	assert_int_equal(gni_ep_bind(e->ep, !i, 77), GNI_RC_SUCCESS);
	assert_int_equal(gni_ep_set_eventdata(e->ep, 100 + i, 200 + i), GNI_RC_SUCCESS);
	assert_int_equal(gni_smsg_init(e->ep, &e->attr, &end[!i].attr), GNI_RC_SUCCESS);
}

static void close_end(unsigned int i)
{
	struct end *e = &end[i];

	assert_int_equal(gni_ep_destroy(e->ep), GNI_RC_SUCCESS);
	assert_int_equal(gni_ep_destroy(e->ep), GNI_RC_INVALID_PARAM);
	assert_int_equal(gni_mem_deregister(e->nic, &e->mem, 0), GNI_RC_SUCCESS);
	assert_int_equal(gni_cq_destroy(e->rx), GNI_RC_SUCCESS);
	assert_int_equal(gni_cq_destroy(e->tx), GNI_RC_SUCCESS);
	assert_int_equal(gni_cdm_destroy(e->cdm), GNI_RC_SUCCESS);
	free(e->mailbox);
}

static u64 seed_next = 1;

static int begin(void **state)
{
	(void)state;
	fabric_begin(seed_next++);
	return 0;
}

static void both(unsigned int type)
{
	open_end(0, type);
	open_end(1, type);
	connect_end(0);
	connect_end(1);
}

static int finish(void **state)
{
	(void)state;
	fabric_fate = NULL;
	close_end(0);
	close_end(1);
	fabric_end();
	return 0;
}

static u8 byte_of(u32 message, u32 at)
{
	return message * 31 + at * 7 + at / 251;
}

static u32 length_of(u32 message)
{
	return (message * 0x9e3779b1u >> 7) % (message % 5 ? 200 : LARGEST + 1);
}

/* Return: what gni_smsg_send() says. */
static gni_return_t send_one(struct end *e)
{
	static u8 text[LARGEST];
	u32 n = e->sent, bytes = length_of(n), head = bytes / 3, i;
	gni_return_t rc;

	for (i = 0; i < bytes; i++)
		text[i] = byte_of(n, i);
	rc = gni_smsg_send(e->ep, text, head, text + head, bytes - head, 0xabc00000u + n);
	memset(text, 0xee, sizeof(text)); /* it was copied */
	if (rc == GNI_RC_SUCCESS)
		e->sent++;
	return rc;
}

/* Return: whether there was one. */
static bool receive_one(struct end *e)
{
	u32 n = e->received, i;
	void *header;
	u8 *p;
	gni_return_t rc = gni_smsg_getnext(e->ep, &header);

	if (rc == GNI_RC_NOT_DONE)
		return false;
	assert_int_equal(rc, GNI_RC_SUCCESS);
	assert_true((uintptr_t)header % 16 == 0);
	for (p = header, i = 0; i < length_of(n); i++)
		assert_int_equal(p[i], byte_of(n, i));
	assert_int_equal(gni_smsg_release(e->ep), GNI_RC_SUCCESS);
	assert_int_equal(gni_smsg_release(e->ep), GNI_RC_NOT_DONE);
	e->received++;
	return true;
}

static void reap(struct end *e)
{
	gni_cq_entry_t entry;
	gni_return_t rc;
	u32 n;

	while ((rc = gni_cq_get_event(e->tx, &entry)) != GNI_RC_NOT_DONE) {
		assert_int_equal(GNI_CQ_GET_TYPE(entry), GNI_CQ_EVENT_TYPE_SMSG);
		n = GNI_CQ_GET_MSG_ID(entry) - 0xabc00000u;
		assert_true(n < e->sent);
		assert_int_equal(++e->event_of[n], 1);
		e->completed++;
		if (rc == GNI_RC_SUCCESS) {
			assert_true(GNI_CQ_STATUS_OK(entry));
			continue;
		}
		assert_int_equal(rc, GNI_RC_TRANSACTION_ERROR);
		assert_int_equal(GNI_CQ_GET_INST_ID(entry), 100 + (e - end));
		e->failed++;
	}
	while (gni_cq_get_event(e->rx, &entry) == GNI_RC_SUCCESS)
		assert_int_equal(GNI_CQ_GET_REM_INST_ID(entry), 200 + !(e - end));
}

static void step(void)
{
	struct end *e = &end[fabric_random(2)];

	switch (fabric_random(4)) {
	case 0:
	case 1:
		if (e->sent < 4000)
			assert_in_set(send_one(e),
				      ((const unsigned long[]){ GNI_RC_SUCCESS, GNI_RC_NOT_DONE }),
				      2);
		break;
	case 2:
		receive_one(e);
		break;
	default:
		reap(e);
		fabric_run(fabric_random(3));
	}
}

/* Until nothing is on its way. Return: whether all messages have arrived. */
static bool drain(void)
{
	unsigned int i, round;

	fabric_fate = NULL;
	for (round = 0; round < 2000; round++) {
		fabric_run(1);
		for (i = 0; i < 2; i++) {
			while (receive_one(&end[i]))
				;
			reap(&end[i]);
		}
	}
	for (i = 0; i < 2; i++) {
		assert_int_equal(end[i].completed, end[i].sent);
		if (end[!i].received != end[i].sent)
			return false;
	}
	return true;
}

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
	assert_int_equal(gni_smsg_init(end[0].ep, &end[0].attr, &end[1].attr),
			 GNI_RC_INVALID_PARAM);
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

/* Another thread reads the events, each at the moment when the NIC makes it. */
static void read_at_once(unsigned int from)
{
	struct end *e = &end[from];
	gni_cq_entry_t entry;
	gni_return_t rc;

	while ((rc = gni_cq_get_event(e->tx, &entry)) != GNI_RC_NOT_DONE) {
		assert_int_equal(++e->event_of[GNI_CQ_GET_MSG_ID(entry) - 0xabc00000u], 1);
		e->completed++;
		e->failed += rc != GNI_RC_SUCCESS;
	}
}

/* So it reads the event of a message that will be sent again, before the sender knows that. */
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

/* One operation of each 10 gets lost, or its answer, or finds no way: with AUTO_RETRANSMIT nobody
 * notices. */
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

/* Without AUTO_RETRANSMIT a message whose answer is lost has arrived all the same. */
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

/* A peer that never answers: each message ends with an error that names endpoint and message. */
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

static enum fabric_fate lost_later(unsigned int from, const struct aries_fma *fma)
{
	(void)from;
	(void)fma;
	return FABRIC_LATE;
}

static void read_it(unsigned int from)
{
	reap(&end[from]);
}

/*
 * A message that is lost after its sender has seen it leave, as happens to one for another host:
 * the event tells so, once, whether it is read before or after the sender has gone on. Nothing that
 * is sent behind it would be found, so no more is taken until there is another connection.
 */
static void lost_late(bool meanwhile, unsigned int before)
{
	unsigned int n;

	both(GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT);
	for (n = 0; n < before; n++)
		assert_int_equal(send_one(&end[0]), GNI_RC_SUCCESS);
	fabric_fate = lost_later;
	fabric_meanwhile = meanwhile ? read_it : NULL;
	assert_int_equal(send_one(&end[0]), GNI_RC_SUCCESS);
	fabric_fate = NULL;
	fabric_meanwhile = NULL;
	fabric_run(10);
	reap(&end[0]);
	assert_int_equal(end[0].completed, before + 1);
	assert_int_equal(end[0].failed, 1);
	assert_int_equal(send_one(&end[0]), GNI_RC_INVALID_PARAM);
	for (n = 0; n < before; n++)
		assert_true(receive_one(&end[1]));
	assert_false(receive_one(&end[1]));
	for (n = 0; n < 2; n++) {
		assert_int_equal(gni_ep_unbind(end[n].ep), GNI_RC_SUCCESS);
		memset(end[n].mailbox, 0, end[n].attr.buff_size);
		assert_int_equal(gni_ep_bind(end[n].ep, !n, 77), GNI_RC_SUCCESS);
	}
	for (n = 0; n < 2; n++)
		assert_int_equal(gni_smsg_init(end[n].ep, &end[n].attr, &end[!n].attr),
				 GNI_RC_SUCCESS);
	end[1].received = end[0].sent;
	assert_int_equal(send_one(&end[0]), GNI_RC_SUCCESS);
	assert_true(receive_one(&end[1]));
	reap(&end[0]);
	assert_int_equal(end[0].failed, 1);
}

static void lost_late_all(void **state)
{
	unsigned int n;

	(void)state;
	for (n = 0; n < 8; n++) {
		lost_late(n & 1, n / 2);
		if (n == 7)
			return;
		finish(state);
		begin(state);
	}
}

/* It ends while a message waits for another attempt: the event comes, and nothing is touched
 * afterwards. */
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
 * The NIC of one end is reset with messages under way: what had ended is told as it was, what had
 * not ends now, and handles stay good.
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

/* The NIC goes in the middle of a call, and another processor reads what kGNI tells of that. */
static enum fabric_fate gone_meanwhile(unsigned int from, const struct aries_fma *fma)
{
	gni_post_descriptor_t *done;
	gni_cq_entry_t entry;

	(void)from;
	(void)fma;
	fabric_fate = NULL;
	fabric_tell(0, ARIES_EVENT_RESET, &(struct aries_event_info){ .quiet_ms = 0 });
	/* the NIC may still be in the memory of what is under way */
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

/* One post or message on the way to a NIC that goes meanwhile: it has one event. */
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

/* Reads an event; then it is completed, as the descriptor's owner does, after what else happens. */
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
	/* before each step of the client the NIC goes on going */
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
			/* what was read as good is good */
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

/* Its job is suspended: nothing is sent, nothing is lost, and the client is told of the end. */
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

/* A message that the NIC does not take because the quiesce has begun waits until it is over. */
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

/* What a peer writes is not trusted: whatever is in the mailbox, nothing outside of it is touched.
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

/* Either end connects anew as often as it likes, at any time: what arrives is in order and of the
 * newest connection. */
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
			/* the faster one begins before the other is there */
			if (!n)
				send_one(&end[first]);
		}
		end[!first].received = end[first].sent ? end[first].sent - 1 : 0;
		drain();
		assert_int_equal(end[!first].received, end[first].sent);
	}
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
		cmocka_unit_test_setup_teardown(limits, begin, finish),
		cmocka_unit_test_setup_teardown(losses, begin, finish),
		cmocka_unit_test_setup_teardown(read_before_the_sender, begin, finish),
		cmocka_unit_test_setup_teardown(unheard, begin, finish),
		cmocka_unit_test_setup_teardown(silence, begin, finish),
		cmocka_unit_test_setup_teardown(lost_late_all, begin, finish),
		cmocka_unit_test_setup_teardown(destroyed, begin, finish),
		cmocka_unit_test_setup_teardown(reset, begin, finish),
		cmocka_unit_test_setup_teardown(gone_meanwhile_all, begin, finish),
		cmocka_unit_test_setup_teardown(event_in_hand_all, begin, finish),
		cmocka_unit_test_setup_teardown(quiesce, begin, finish),
		cmocka_unit_test_setup_teardown(quiesce_meanwhile, begin, finish),
		cmocka_unit_test_setup_teardown(garbage, begin, finish),
		cmocka_unit_test_setup_teardown(reconnect, begin, finish),
		cmocka_unit_test_setup_teardown(no_memory, begin, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
