/* SPDX-License-Identifier: GPL-2.0-only */
/* Two ends of a connection, and messages whose contents follow from their numbers. */
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
	u32 event_of[4096]; /* by message: how often its event was read */
};

extern struct end end[2];

/* Set-up and teardown of a test. */
int begin(void **state);
int finish(void **state);
/* Create both ends, and connect them; @type: GNI_SMSG_TYPE_*. */
void both(unsigned int type);
void connect_end(unsigned int i);
/* Return: result of gni_smsg_send(). */
gni_return_t send_one(struct end *e);
/* Return: whether there was a message. */
bool receive_one(struct end *e);
/* Read all events of both queues. */
void reap(struct end *e);
/* For fabric_meanwhile: another thread reads each event at the moment when the NIC raises it. */
void read_at_once(unsigned int from);
/* Perform a random step of one of the ends. */
void step(void);
/* Run until nothing is in flight. Return: whether all messages have arrived. */
bool drain(void);

#endif
