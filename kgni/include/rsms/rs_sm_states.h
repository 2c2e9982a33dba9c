/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/* States of what a machine is made of, as a node's word and its events tell them (krca_lib.h). */
#ifndef RS_SM_STATES_H
#define RS_SM_STATES_H

#include <linux/types.h>

typedef uint32_t rs_state_t;

/* What a component is doing. Values are this project's own. */
enum rs_component_state {
	RS_CS_EMPTY = 0, /* nobody ever was there */
	RS_CS_OFF = 1, /* it was switched off in order */
	RS_CS_ON = 2, /* it has power; its system does not serve the network */
	RS_CS_HALT = 3, /* it ended without a word */
	RS_CS_READY = 4, /* it is there, and serves */
};

#define RS_CS_STATE_MASK 0x1fu

/* That part of a state which is one of the above. */
#define RS_GET_CS_STATE(state) ((state) & RS_CS_STATE_MASK)

#endif /* RS_SM_STATES_H */
