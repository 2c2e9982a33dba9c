/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * Short messages: rank 0 sends numbers to rank 1, which adds them up and sends the sum back. A mailbox has room for 8
 * messages, so a sender that is too fast is told to wait. Two ranks.
 */
#include <gni_pub.h>
#include <inttypes.h>
#include <pmi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES = 100, CREDITS = 8, TAG_NUMBER = 1, TAG_SUM = 2 };

struct place {
	uint32_t nic;
	gni_smsg_attr_t mailbox;
};

static int rank;
static gni_cdm_handle_t cdm;
static gni_nic_handle_t nic;
static gni_cq_handle_t cq;
static gni_ep_handle_t ep;

#define MUST(call) must(call, #call)
static void must(int rc, const char *call)
{
	if (rc) {
		fprintf(stderr, "short-messages: rank %d: %s: code %d\n", rank, call, rc);
		exit(1);
	}
}

/* A zeroed and registered mailbox, described as the peer has to know it. */
static void make_mailbox(gni_smsg_attr_t *mailbox)
{
	unsigned int size;

	mailbox->msg_type = GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT;
	mailbox->mbox_maxcredit = CREDITS;
	mailbox->msg_maxsize = 64;
	MUST(GNI_SmsgBufferSizeNeeded(mailbox, &size));
	mailbox->buff_size = size;
	mailbox->msg_buffer = calloc(1, size);
	MUST(!mailbox->msg_buffer);
	MUST(GNI_MemRegister(nic, (uintptr_t)mailbox->msg_buffer, size, NULL, GNI_MEM_READWRITE, UINT32_MAX,
			     &mailbox->mem_hndl));
}

static void connect_to(int peer)
{
	const char *cookie = getenv("PMI_GNI_COOKIE");
	struct place mine = {0}, all[2];

	must(!cookie, "start it with aprun");
	MUST(GNI_CdmCreate((uint32_t)rank, GNI_FIND_ALLOC_PTAG, (uint32_t)strtoul(cookie, NULL, 0), 0, &cdm));
	MUST(GNI_CdmAttach(cdm, 0, &mine.nic, &nic));
	MUST(GNI_CqCreate(nic, 2 * CREDITS, 0, GNI_CQ_NOBLOCK, NULL, NULL, &cq));
	make_mailbox(&mine.mailbox);
	MUST(PMI_Allgather(&mine, all, sizeof(mine)));
	MUST(GNI_EpCreate(nic, cq, &ep));
	MUST(GNI_EpBind(ep, all[peer].nic, (uint32_t)peer));
	MUST(GNI_SmsgInit(ep, &mine.mailbox, &all[peer].mailbox));
	/* From here on the peer's first message finds the mailbox. */
	MUST(PMI_Barrier());
}

/* Reads the event of a finished send if there is one: its message id. */
static int sent(uint32_t *id)
{
	gni_cq_entry_t event;
	gni_return_t rc = GNI_CqGetEvent(cq, &event);

	if (rc == GNI_RC_NOT_DONE)
		return 0;
	MUST(rc);
	*id = (uint32_t)GNI_CQ_GET_MSG_ID(event);
	return 1;
}

/* Returns when the message has gone out; its event comes later. */
static void send_number(uint64_t number, uint32_t id, uint8_t tag, uint32_t *done)
{
	gni_return_t rc;
	uint32_t which;

	while ((rc = GNI_SmsgSendWTag(ep, NULL, 0, &number, sizeof(number), id, tag)) == GNI_RC_NOT_DONE)
		*done += (uint32_t)sent(&which);
	MUST(rc);
}

static uint64_t receive_number(uint8_t wanted)
{
	uint8_t tag = wanted;
	gni_return_t rc;
	uint64_t number;
	void *message;

	while ((rc = GNI_SmsgGetNextWTag(ep, &message, &tag)) == GNI_RC_NOT_DONE)
		;
	MUST(rc);
	memcpy(&number, message, sizeof(number));
	/* The message is read: its place in the mailbox goes back to the sender. */
	MUST(GNI_SmsgRelease(ep));
	return number;
}

static void rank_0(void)
{
	uint32_t id, done = 0;
	uint64_t sum, i;

	for (i = 0; i < MESSAGES; i++)
		send_number(i, (uint32_t)i, TAG_NUMBER, &done);
	while (done < MESSAGES)
		done += (uint32_t)sent(&id);
	sum = receive_number(TAG_SUM);
	must(sum != MESSAGES * (MESSAGES - 1) / 2, "wrong sum");
	printf("rank 0: sent %d messages, their sum is %" PRIu64 "\n", MESSAGES, sum);
}

static void rank_1(void)
{
	uint32_t id, done = 0;
	uint64_t sum = 0, number, i;

	for (i = 0; i < MESSAGES; i++) {
		number = receive_number(TAG_NUMBER);
		must(number != i, "a message out of order");
		sum += number;
	}
	printf("rank 1: %d messages in the order of sending\n", MESSAGES);
	send_number(sum, 0, TAG_SUM, &done);
	while (!done)
		done += (uint32_t)sent(&id);
}

int main(void)
{
	int spawned, size;

	MUST(PMI_Init(&spawned) || PMI_Get_rank(&rank) || PMI_Get_size(&size));
	must(size != 2, "two ranks");
	connect_to(1 - rank);
	if (rank == 0)
		rank_0();
	else
		rank_1();
	MUST(PMI_Barrier());
	MUST(GNI_EpDestroy(ep));
	MUST(GNI_CdmDestroy(cdm));
	return PMI_Finalize();
}
