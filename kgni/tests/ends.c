// SPDX-License-Identifier: GPL-2.0-only
/* See ends.h. */
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "sim_kernel.h"

#include "ends.h"

struct end end[2];

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

void connect_end(unsigned int i)
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

int begin(void **state)
{
	(void)state;
	fabric_begin(seed_next++);
	return 0;
}

void both(unsigned int type)
{
	open_end(0, type);
	open_end(1, type);
	connect_end(0);
	connect_end(1);
}

int finish(void **state)
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

gni_return_t send_one(struct end *e)
{
	static u8 text[LARGEST];
	u32 n = e->sent, bytes = length_of(n), head = bytes / 3, i;
	gni_return_t rc;

	for (i = 0; i < bytes; i++)
		text[i] = byte_of(n, i);
	rc = gni_smsg_send(e->ep, text, head, text + head, bytes - head, 0xabc00000u + n);
	memset(text, 0xee, sizeof(text)); /* the call has copied it */
	if (rc == GNI_RC_SUCCESS)
		e->sent++;
	return rc;
}

bool receive_one(struct end *e)
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

void reap(struct end *e)
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

void step(void)
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

bool drain(void)
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

void read_at_once(unsigned int from)
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
