/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The OpenGNI authors */
/* Two ends of a connection, and messages whose numbers tell what is in them. */
#ifndef KGNI_TEST_ENDS_H
#define KGNI_TEST_ENDS_H

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

extern struct end end[2];

/* Set-up and teardown of a test. */
int begin(void **state);
int finish(void **state);
/* Makes both ends, and connects them; @type: GNI_SMSG_TYPE_*. */
void both(unsigned int type);
void connect_end(unsigned int i);
/* Return: what gni_smsg_send() says. */
gni_return_t send_one(struct end *e);
/* Return: whether there was one. */
bool receive_one(struct end *e);
/* All events there are. */
void reap(struct end *e);
/* Another thread reads the events, each at the moment when the NIC makes it: for fabric_meanwhile. */
void read_at_once(unsigned int from);
/* Something that either end may do. */
void step(void);
/* Until nothing is on its way. Return: whether all messages have arrived. */
bool drain(void);

#endif
