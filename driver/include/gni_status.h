/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * Names of the status codes of the NIC (enum aries_status), and which errors may go away when the
 * operation is repeated. Shared by libugni, kGNI and the kernel log.
 */
#ifndef GNI_STATUS_H
#define GNI_STATUS_H

#include "aries_hw.h"

/*
 * X(name after ARIES_ST_, word in error strings, may go away). The codes are without the bit that
 * marks the initiator's side. NO_NODE goes away when another route is found, or when the node is
 * back.
 */
#define GNI_STATUSES(X) \
	X(OK, "OK", false) \
	X(PTAG, "PTAG_MISMATCH", false) \
	X(MDD, "MDD_INVALID", false) \
	X(BOUNDS, "OUT_OF_BOUNDS", false) \
	X(ACCESS, "READ_ONLY", false) \
	X(TRANSLATION, "TRANSLATION", false) \
	X(NO_NODE, "NO_NODE", true) \
	X(TIMEOUT, "TIMEOUT", true) \
	X(NO_CQ, "NO_CQ", false) \
	X(ALIGN, "ALIGNMENT", false) \
	X(BAD_OP, "BAD_OPERATION", false) \
	X(LENGTH, "LENGTH", false) \
	X(RESERVED, "RESERVED_BITS", false) \
	X(DISABLED, "DISABLED", false) \
	X(NTT, "NODE_TRANSLATION", false) \
	X(CQ_OWNER, "CQ_OWNER", false) \
	X(QUEUE_FULL, "QUEUE_FULL", true) \
	X(FLUSHED, "FLUSHED", false) \
	X(CRC, "PACKET_DAMAGED", true) \
	X(ECC, "TABLE_DAMAGED", false) \
	X(NO_RECEIVE, "NO_RECEIVE", true) \
	X(RECEIVE_LENGTH, "RECEIVE_LENGTH", false) \
	X(CE_BUSY, "COLLECTIVE_PENDING", true) \
	X(CE_CHILD, "NOT_A_CHILD", false) \
	X(CE_MISMATCH, "COLLECTIVE_MISMATCH", false)

#define GNI_STATUS_CODES 0x20u

#endif
