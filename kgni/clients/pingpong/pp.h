/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gni_pingpong: measures the latency of small operations of kGNI between two nodes. It is the
 * shortest client that has all of an LND's data path, so read it first.
 */
#ifndef PP_H
#define PP_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/sched.h>
#include <linux/wait.h>

#include "gni_pub.h"

#define PP_INSTANCE 0x70
#define PP_MEMORY (64 * 1024)
#define PP_BYTES 8

/* Event data: which of our two endpoints an event at the peer belongs to. */
enum pp_about { PP_MESSAGE = 1, PP_PUT = 2 };

/**
 * struct pp_card - what the two nodes tell each other
 * @mailbox: mailbox for messages
 * @memory: registration of the memory for the mailbox and for puts
 * @word: address in that memory that puts go to
 */
struct pp_card {
	gni_smsg_attr_t mailbox;
	gni_mem_handle_t memory;
	u64 word;
};

/**
 * struct pp - all state of the module
 * @peer: address of the other node
 * @address: address of this node
 * @cdm: domain
 * @nic: attachment
 * @err: subscription to errors
 * @tx: queue of local events
 * @rx: queue of events of what the peer does
 * @ep: endpoint for messages
 * @put_ep: endpoint for puts
 * @memory: PP_MEMORY bytes: the mailbox, and the data of puts at the end
 * @registered: @mine.memory is valid
 * @mine: what we tell the peer
 * @theirs: what the peer has told us
 * @thread: thread that reads events of @rx
 * @wq: wait queue for it
 * @events: interrupts that it has not looked at yet
 * @running: this side runs a test, and answers nothing: the thread would read events of the test
 * @owed: the peer owes an answer, so the next message or put from it is that answer. This stays so
 *        if a run is interrupted: if both sides answered each other it would never end
 * @answer: an answer has arrived, or will not
 * @failed: something went wrong, the NIC was reset, or the module is being unloaded
 */
struct pp {
	u32 peer;
	u32 address;
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	gni_err_handle_t err;
	gni_cq_handle_t tx;
	gni_cq_handle_t rx;
	gni_ep_handle_t ep;
	gni_ep_handle_t put_ep;
	u8 *memory;
	bool registered;
	struct pp_card mine;
	struct pp_card theirs;
	struct task_struct *thread;
	wait_queue_head_t wq;
	atomic_t events;
	bool running;
	bool owed;
	struct completion answer;
	int failed;
};

/* pp_nic.c */
extern struct pp pp;

int pp_open(void);
void pp_close(void);
int pp_meet(void);
int pp_send(void);
int pp_put(bool remote_event);

/* pp_run.c */
int pp_thread(void *unused);
int pp_run(const char *test, u32 count, char *result, size_t size);

#endif
