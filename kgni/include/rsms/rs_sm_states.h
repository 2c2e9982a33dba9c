/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * States of a machine's components, as they appear in a node's word and in its events (krca_lib.h).
 */
#ifndef RS_SM_STATES_H
#define RS_SM_STATES_H

#include <linux/types.h>

typedef uint32_t rs_state_t;

/* State of a component. The values are this project's own. */
enum rs_component_state {
	RS_CS_EMPTY = 0, /* the node was never present */
	RS_CS_OFF = 1, /* it was shut down in an orderly way */
	RS_CS_ON = 2, /* it is powered on, but its system does not use the network */
	RS_CS_HALT = 3, /* it died without shutting down */
	RS_CS_READY = 4, /* it is up */
};

#define RS_CS_STATE_MASK 0x1fu

/* The part of a state that is one of the above. */
#define RS_GET_CS_STATE(state) ((state) & RS_CS_STATE_MASK)

#endif /* RS_SM_STATES_H */
