/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * gni_pingpong: how long the small things of kGNI take between two nodes. The shortest client that
 * has all of an LND's data path: to be read first.
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

/* Event data: which of our two endpoints at the peer an event there is about. */
enum pp_about { PP_MESSAGE = 1, PP_PUT = 2 };

/**
 * struct pp_card - what each tells the other one
 * @mailbox: for messages
 * @memory: registration of the memory that it is in, and that puts go to
 * @word: address there that puts go to
 */
struct pp_card {
	gni_smsg_attr_t mailbox;
	gni_mem_handle_t memory;
	u64 word;
};

/**
 * struct pp - all there is
 * @peer: address of the other node
 * @address: of this one
 * @cdm: domain
 * @nic: attachment
 * @tx: events of what we have begun
 * @rx: events of what the peer has begun
 * @ep: endpoint for messages
 * @put_ep: endpoint for puts
 * @memory: PP_MEMORY bytes: the mailbox, and at the end the words
 * @registered: @mine.memory is a registration
 * @mine: what the peer is told
 * @theirs: what it has told us
 * @thread: takes events of @rx
 * @wq: where it waits
 * @events: interrupts that it has not looked at yet
 * @running: this side has begun the game, and what comes are answers
 * @answer: one has come
 * @failed: something went wrong in the thread
 */
struct pp {
	u32 peer;
	u32 address;
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
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
	struct completion answer;
	int failed;
};

extern struct pp pp;

/* pp_nic.c */
int pp_open(void);
void pp_close(void);
int pp_meet(void);
int pp_send(void);
int pp_put(bool remote_event);

/* pp_run.c */
int pp_thread(void *unused);
int pp_run(const char *test, u32 count, char *result, size_t size);

#endif
