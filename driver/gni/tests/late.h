/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * Short messages whose sender learns late that they were lost, as on the way to another host: the
 * cases that hold for kGNI and for libugni alike, once. The program that runs them has the network
 * and the functions of its interface, late_env.
 */
#ifndef GNI_TESTS_LATE_H
#define GNI_TESTS_LATE_H

#include "gni_pub.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
	LATE_CREDITS = 8,
	LATE_LARGEST = 3000, /* bytes of a message */
};

/* What is lost of an operation. */
enum late_loss {
	LATE_REQUEST,
	LATE_RESPONSE,
};

/**
 * struct late_env - what a case needs
 *
 * An end is 0 or 1. All results are those of the functions of GNI.
 */
struct late_env {
	/*
	 * Connect two ends by new mailboxes of LATE_CREDITS messages. @repeats: limit of
	 * retransmissions, 0: that of the interface.
	 */
	void (*connect)(gni_smsg_type_t type, unsigned int repeats);
	void (*disconnect)(void);
	/* The same ends begin anew with empty mailboxes. */
	void (*reconnect)(void);
	/* The next @count operations of @end are lost, and the others arrive. */
	void (*lose)(unsigned int end, enum late_loss what, unsigned int count);
	gni_return_t (*send)(unsigned int end, void *message, unsigned int bytes, uint32_t id);
	/* Look for a message, without releasing it. */
	gni_return_t (*look)(unsigned int end, void **message);
	gni_return_t (*release)(unsigned int end);
	/* Read an event of a send. */
	gni_return_t (*event)(unsigned int end, gni_cq_entry_t *event);
	/* Let a moment pass, shorter than the pause before a retransmission. */
	void (*moment)(void);
	/* GNI_CQ_GET_INST_ID() of the event of a message of each end that was lost */
	uint32_t inst_id[2];
};

extern const struct late_env late_env;

/* Each message arrives, of all sizes, although it or its response is lost several times. */
void late_repeated(void **state);
/* A lost message comes into its own slot, before those that were sent after it. */
void late_among_others(void **state);
/*
 * If the last message fails it is withdrawn, as if it had failed at once. If others were sent after
 * a failed one the receiver could not find them, so nothing more is accepted until the ends
 * reconnect.
 */
void late_in_vain(void **state);
/* Without retransmission a loss is the client's; a message whose response is lost was delivered. */
void late_plain_mailbox(void **state);
/* There is no event for a lost credit word. A sender without space asks the peer. */
void late_credits(void **state);
/* Messages both ways at random, while now and then one or its response is lost. */
void late_both_ways(void **state);

#define LATE_CASES(test)                                                                        \
	test(late_repeated), test(late_among_others), test(late_in_vain), test(late_plain_mailbox), \
		test(late_credits), test(late_both_ways)

#ifdef __cplusplus
}
#endif

#endif
