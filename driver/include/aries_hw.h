/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * What the Aries NIC reads and writes in memory: descriptor areas, completion
 * queue entries, translation tables, status codes and counters. Shared by the
 * driver, the device model, the user library and the tests. All words are
 * little endian. The registers are in aries_regs.h.
 */
#ifndef ARIES_HW_H
#define ARIES_HW_H

#ifdef __KERNEL__
#include <linux/build_bug.h>
#include <linux/types.h>
#else
#include <stddef.h>
#include <stdint.h>
#endif

#ifdef __cplusplus
extern "C" {
#define ARIES_ASSERT(cond, msg) static_assert(cond, msg)
#else
#define ARIES_ASSERT(cond, msg) _Static_assert(cond, msg)
#endif

/* ---- Layout of one descriptor's part of the FMA BAR (every access traps) ---- */
#define ARIES_FMA_STRIDE 0x40000u
#define ARIES_FMA_PUT 0x00000u /* put window */
#define ARIES_FMA_GET 0x10000u /* get window */
#define ARIES_FMA_DOORBELL 0x20000u /* doorbell page */
#define ARIES_FMA_WINDOW 0x10000u /* bytes of one window */
#define ARIES_FMA_SMALL_WINDOW 0x8000u /* the part that a process in small-window mode may map */

/* Doorbell page: 64-bit stores only, see ARIES_DB_* below. */
#define ARIES_DB_FMA 0x00u
#define ARIES_DB_BTE 0x08u
#define ARIES_DB_NULL 0x40u /* does nothing but trap: the lower bound in benchmarks */
#define ARIES_DB_POLL 0x48u /* runs the polled doorbell, unless it has run already; any value */
#define ARIES_DB_LAUNCH 0x80u /* one launch entry, 16 bytes; the store to the upper half issues it (N10) */

/* ---- Layout of one descriptor's area in the descriptor BAR (memory) ---- */
#define ARIES_DESC_STRIDE 0x2000u
#define ARIES_DESC_FMA 0x0000u /* struct aries_fma_desc */
#define ARIES_DESC_STATUS 0x0080u /* struct aries_fma_status, written by the NIC */
#define ARIES_DESC_DONE 0x0088u /* uint32_t, written by the NIC: entries or parts done by a batch */
#define ARIES_DESC_AWAKE 0x0090u /* uint32_t, written by the NIC: not 0 while it polls */
#define ARIES_DESC_WINDOW 0x00a0u /* struct aries_fma_window */
#define ARIES_DESC_POLL 0x0100u /* uint64_t: polled doorbell, see ARIES_DB_PHASE; alone in its cache line */
#define ARIES_DESC_LINE 0x0800u /* put data for a doorbell */
#define ARIES_DESC_LINE_BYTES 0x0800u
#define ARIES_DESC_BTE 0x1000u /* struct aries_bte_desc[ARIES_BTE_SLOTS] */

/**
 * struct aries_fma_desc - destination and operands of FMA operations
 * @pe: node address, virtual if the domain uses the NTT
 * @mdh: memory domain handle at the target, 12 bits, perhaps with ARIES_MDH_VIRTUAL
 * @dlvr_mode: GNI_DLVMODE_* routing control; ARIES_DLV_RSVD_MASK must be zero
 * @offset: 40-bit offset at the target; window stores add their window offset
 * @local_offset: 40-bit offset in the local memory domain, for fetched data
 * @local_mdh: local memory domain handle, for fetched data
 * @cq: completion queue for local and global events
 * @reserved: must be zero
 * @local_event: data of events at the source, local and global
 * @remote_event: data of a remote event
 * @operand: first and second operand of an atomic; operand[0] is the value of a CQ write
 * @sync_offset: offset of the sync flag in the target's memory domain
 * @sync_value: value stored there after the data
 *
 * 72 bytes. The process owns it. The NIC copies it once per doorbell or window store, and validates
 * everything in it.
 */
struct aries_fma_desc {
	uint32_t pe;
	uint16_t mdh;
	uint16_t dlvr_mode;
	uint64_t offset;
	uint64_t local_offset;
	uint16_t local_mdh;
	uint16_t cq;
	uint32_t reserved;
	uint32_t local_event;
	uint32_t remote_event;
	uint64_t operand[2];
	uint64_t sync_offset;
	uint64_t sync_value;
};

ARIES_ASSERT(sizeof(struct aries_fma_desc) == 72, "aries_fma_desc size");
ARIES_ASSERT(offsetof(struct aries_fma_desc, operand) == 40, "aries_fma_desc layout");

/**
 * struct aries_fma_window - interpretation of window addresses, and the source of launch entries
 * @pe_shift: lowest bit of a window address that selects the node, 3 to 15 (N09)
 * @pe_bits: number of such bits, 0 (all of the address is offset) to 16 less @pe_shift
 * @at: window address of the start of the line for PUT_SCATTER
 * @amo: command for launch entries that are atomics
 * @ring_mdh: local memory domain that holds the launch ring
 * @ring_offset: 40-bit offset of the ring there, 16-byte aligned
 * @ring_first: index of the first entry of a doorbell, below @ring_entries
 * @ring_entries: size of the ring, 1 to 65536 entries; index 0 follows the last one
 *
 * 24 bytes, owned by the process like struct aries_fma_desc. Window stores use the first half,
 * PUT_SCATTER and launches the members that they need. If it is all zero the window does not
 * scatter.
 */
struct aries_fma_window {
	uint8_t pe_shift;
	uint8_t pe_bits;
	uint16_t at;
	uint16_t amo;
	uint16_t ring_mdh;
	uint64_t ring_offset;
	uint32_t ring_first;
	uint32_t ring_entries;
};

ARIES_ASSERT(sizeof(struct aries_fma_window) == 24, "aries_fma_window size");

/**
 * struct aries_launch_entry - one operation of FMA launch, 128 bits (N10)
 * @target: offset (39:0), node as in struct aries_fma_desc (57:40), ARIES_LAUNCH_* (63:58)
 * @value: data of a put, 40-bit local offset of a get, first operand of an atomic
 *
 * Everything else comes from struct aries_fma_desc: memory domain, routing
 * control, second operand, local memory domain, events.
 */
struct aries_launch_entry {
	uint64_t target;
	uint64_t value;
};

ARIES_ASSERT(sizeof(struct aries_launch_entry) == 16, "aries_launch_entry size");

#define ARIES_LAUNCH_OFFSET_MASK 0x000000ffffffffffull
#define ARIES_LAUNCH_PE_SHIFT 40
#define ARIES_LAUNCH_PE_MASK 0x03ffff0000000000ull
#define ARIES_LAUNCH_KIND_SHIFT 58
#define ARIES_LAUNCH_KIND_MASK 0xfc00000000000000ull

enum aries_launch_kind {
	ARIES_LAUNCH_PUT8 = 1, /* put 8 bytes */
	ARIES_LAUNCH_PUT4 = 2, /* put the low 4 bytes; the others must be zero */
	ARIES_LAUNCH_GET8 = 3, /* get 8 bytes */
	ARIES_LAUNCH_GET4 = 4, /* get 4 bytes */
	ARIES_LAUNCH_AMO = 5, /* atomic; fetched value to local_offset + 8 * index of the entry */
};

#define ARIES_LAUNCH_BYTES 16u
#define ARIES_LAUNCH_LINE (ARIES_DESC_LINE_BYTES / ARIES_LAUNCH_BYTES) /* entries of the line */
#define ARIES_LAUNCH_MAX 4096u /* entries of one doorbell for the ring */
#define ARIES_RING_MAX 65536u /* entries of a ring */

/**
 * struct aries_fma_status - result of the last doorbell of a descriptor
 * @sequence: doorbells taken since the descriptor was enabled
 * @status: ARIES_ST_* of the last one; also 0 for a block transfer that was queued, and for an
 *          operation that is in flight unless ARIES_DB_LATER is set
 */
struct aries_fma_status {
	uint32_t sequence;
	uint32_t status;
};

/**
 * struct aries_bte_desc - one block transfer
 * @pe: node address, virtual if the domain uses the NTT
 * @mdh: memory domain handle at the target; 0 for a send
 * @local_mdh: local memory domain handle
 * @offset: 40-bit offset at the target; channel of a send
 * @local_offset: 40-bit offset in the local memory domain, or a bus address with ARIES_BTE_PHYS
 * @length: bytes, 1 to 2^32-1 (N15)
 * @cq: completion queue for local and global events
 * @tid: transaction id, returned in the events
 * @reserved: must be zero
 * @local_event: data of events at the source, local and global
 * @remote_event: data of a remote event
 * @op: ARIES_BTE_PUT, ARIES_BTE_GET or ARIES_BTE_SEND
 * @mode: ARIES_EV_* events wanted
 * @flags: ARIES_BTE_* flags
 * @dlvr_mode: GNI_DLVMODE_* routing control; ARIES_DLV_RSVD_MASK must be zero
 * @reserved: must be zero
 */
struct aries_bte_desc {
	uint32_t pe;
	uint16_t mdh;
	uint16_t local_mdh;
	uint64_t offset;
	uint64_t local_offset;
	uint32_t length;
	uint16_t cq;
	uint16_t tid;
	uint32_t local_event;
	uint32_t remote_event;
	uint8_t op;
	uint8_t mode;
	uint16_t flags;
	uint16_t dlvr_mode;
	uint16_t reserved[9];
};

ARIES_ASSERT(sizeof(struct aries_bte_desc) == 64, "aries_bte_desc size");
ARIES_ASSERT(offsetof(struct aries_bte_desc, op) == 40, "aries_bte_desc layout");

#define ARIES_BTE_PUT 1u
#define ARIES_BTE_GET 2u
#define ARIES_BTE_SEND 3u /* to a posted receive: offset is the channel, 16 bits, and mdh is 0 */
#define ARIES_BTE_FENCE 0x0001u /* wait for earlier transfers of this descriptor */
#define ARIES_BTE_PHYS 0x0002u /* local_offset is a bus address; kernel descriptors only */

/* ---- Doorbell values ---- */
/* FMA: tid, length in bytes, operation, events, atomic command; rest zero. */
#define ARIES_DB_TID_SHIFT 0
#define ARIES_DB_TID_MASK 0x000000000000ffffull
#define ARIES_DB_LEN_SHIFT 16
#define ARIES_DB_LEN_MASK 0x00000000ffff0000ull
#define ARIES_DB_OP_SHIFT 32
#define ARIES_DB_OP_MASK 0x000000ff00000000ull
#define ARIES_DB_MODE_SHIFT 40 /* ARIES_EV_*, and ARIES_DB_LATER */
#define ARIES_DB_MODE_MASK 0x0000ff0000000000ull
#define ARIES_DB_AMO_SHIFT 48
#define ARIES_DB_AMO_MASK 0x03ff000000000000ull
#define ARIES_DB_RSVD_MASK 0xfc00000000000000ull
/*
 * A polled doorbell is a value for ARIES_DB_FMA and this bit. The bit is 1 in the first one after
 * the descriptor was enabled, and toggles with each following one, so that the NIC can tell a new
 * doorbell from the one before.
 */
#define ARIES_DB_PHASE 0x8000000000000000ull
/* BTE: slot number; rest zero. */
#define ARIES_DB_SLOT_MASK 0x000000000000003full

enum aries_fma_op {
	ARIES_FMA_PUT_LINE = 1, /* put LEN (0 to 2048) bytes from the line area */
	ARIES_FMA_GET_OP = 2, /* get LEN bytes (1 to 65532, multiple of 4) */
	ARIES_FMA_AMO_OP = 3, /* atomic; LEN is that of the operands, 4 or 8 */
	ARIES_FMA_PUT_SYNC = 4, /* as PUT_LINE, then the sync flag */
	ARIES_FMA_CQWRITE = 5, /* write 48 bits of operand[0] to the CQ of the target's MDD */
	ARIES_FMA_CLOSE = 6, /* end the transaction of window stores and silent batches */
	ARIES_FMA_GET_FLAG = 7, /* as GET_OP, then store ARIES_FMA_FLAG after the data */
	ARIES_FMA_AMO_FLAG = 8, /* fetching AMO_OP, then store ARIES_FMA_FLAG after the result */
	ARIES_FMA_PUT_SCATTER = 9, /* put LEN (0 to 2048) bytes of the line through the scatter of the window */
	ARIES_FMA_LAUNCH = 10, /* the LEN (1 to 128) launch entries in the line */
	ARIES_FMA_LAUNCH_RING = 11, /* LEN (1 to 4096) launch entries of the ring */
	ARIES_FMA_CE = 16, /* contribution to a collective; command in ARIES_DB_AMO, LEN is 0 */
};

/*
 * Memory domain handles in descriptors have 12 bits, and this bit for a virtual handle, which the
 * target's VMDH_CTL translates to one of its own (N04).
 */
#define ARIES_MDH_VIRTUAL 0x8000u

/* Bits of a descriptor's dlvr_mode that no GNI_DLVMODE_* uses. */
#define ARIES_DLV_RSVD_MASK 0xfe00u

/* A flagged response (N11): 32 bits in local memory, stored after the data. */
#define ARIES_FMA_FLAG 0x00000001u
#define ARIES_FMA_FLAG_BYTES 4u

/* Events of an operation: ARIES_DB_MODE and aries_bte_desc.mode. */
#define ARIES_EV_LOCAL 0x01u
#define ARIES_EV_GLOBAL 0x02u
#define ARIES_EV_REMOTE 0x04u
#define ARIES_EV_TYPE_SHIFT 4 /* 2 bits copied to the type field of the entries */
#define ARIES_EV_TYPE_MASK 0x30u
#define ARIES_EV_RSVD_MASK 0xc8u
/*
 * Also in ARIES_DB_MODE, if ID_CAPS.LATER is set: for an operation that is in flight and may still
 * fail, the status word is ARIES_ST_LATER, not ARIES_ST_OK.
 */
#define ARIES_DB_LATER 0x08u

/*
 * A contribution to a collective uses these fields of struct aries_fma_desc:
 * pe (node of the engine), offset (ARIES_CE_* below), operand, sync_value
 * (reduction id, 32 bits), local_mdh and local_offset (where the struct
 * aries_ce_result goes, 8-byte aligned), cq and event data. Its events come
 * when the result is in memory, with source ARIES_SRC_CE.
 */
#define ARIES_CE_CHILD_MASK 0x000000000000001full /* index of the child at its engine */
#define ARIES_CE_ENGINE_SHIFT 8
#define ARIES_CE_ENGINE_MASK 0x0000000000000300ull /* engine on the node */
#define ARIES_CE_MODE_SHIFT 16
#define ARIES_CE_MODE_MASK 0x00000000001f0000ull /* GNI_CEMODE_*: ARIES_CEMODE_* */
#define ARIES_CE_RSVD_MASK 0xffffffffffe0fce0ull

#define ARIES_CEMODE_TWO_OP 0x01u /* two independent operands; AND, OR, XOR and sums only */
#define ARIES_CEMODE_FPE_SHIFT 1
#define ARIES_CEMODE_FPE_MASK 0x1eu /* exceptions raised in computing floating-point operands */

#define ARIES_CE_FPE_INVALID 0x1u
#define ARIES_CE_FPE_OVERFLOW 0x2u
#define ARIES_CE_FPE_UNDERFLOW 0x4u
#define ARIES_CE_FPE_INEXACT 0x8u

/**
 * struct aries_ce_result - outcome of a collective, written by the NIC
 * @control: ARIES_CER_*; PENDING with an accepted contribution, and written last, in one store
 * @result: results of both operands, or value and index of a minimum or maximum; 0 after an error. The owner's until then
 */
struct aries_ce_result {
	uint64_t control;
	uint64_t result[2];
};

ARIES_ASSERT(sizeof(struct aries_ce_result) == 24, "aries_ce_result size");

#define ARIES_CER_DONE 0x0000000000000001ull
#define ARIES_CER_PENDING 0x0000000000000004ull /* in progress; other bits are private */
#define ARIES_CER_STATUS_SHIFT 8
#define ARIES_CER_STATUS_MASK 0x0000000000003f00ull /* ARIES_ST_*; 0: there is a result */
#define ARIES_CER_FPE_SHIFT 16
#define ARIES_CER_FPE_MASK 0x00000000000f0000ull /* ARIES_CE_FPE_* */
#define ARIES_CER_RED_ID_SHIFT 32
#define ARIES_CER_RED_ID_MASK 0xffffffff00000000ull

/*
 * Get window: an 8-byte control word stored at window offset w reads from
 * offset + w at the target. Bits 39..0 local offset, 46..40 bytes less one
 * (gets, at most 64) and bits 57..48 atomic command (0: plain get).
 */
#define ARIES_GETW_LOCAL_MASK 0x000000ffffffffffull
#define ARIES_GETW_LEN_SHIFT 40
#define ARIES_GETW_LEN_MASK 0x00007f0000000000ull
#define ARIES_GETW_AMO_SHIFT 48
#define ARIES_GETW_AMO_MASK 0x03ff000000000000ull
#define ARIES_GETW_RSVD_MASK 0xfc00800000000000ull

/* ---- Completion queue ---- */
/*
 * One header page, then 2^n slots of 8 bytes. The owner clears a slot after
 * reading it and then publishes the count of entries read in the header. A
 * slot that reads 0 is empty. The last free slot is used for an overrun mark.
 */
struct aries_cq_header {
	uint64_t consumed; /* entries read so far, written by the owner */
};

#define ARIES_CQ_HEADER_BYTES 4096u

#define ARIES_CQE_DATA_MASK 0x00000000ffffffffull /* event data, msg id */
#define ARIES_CQE_TID_SHIFT 32
#define ARIES_CQE_TID_MASK 0x0000ffff00000000ull
#define ARIES_CQE_WRITE_MASK 0x0000ffffffffffffull /* payload of a CQ write */
#define ARIES_CQE_STATUS_SHIFT 48
#define ARIES_CQE_STATUS_MASK 0x003f000000000000ull
#define ARIES_CQE_INFO_SHIFT 54
#define ARIES_CQE_INFO_MASK 0x00c0000000000000ull
#define ARIES_CQE_SOURCE_SHIFT 56
#define ARIES_CQE_SOURCE_MASK 0x0f00000000000000ull
#define ARIES_CQE_TYPE_SHIFT 60
#define ARIES_CQE_TYPE_MASK 0x3000000000000000ull
#define ARIES_CQE_REM_OVERRUN 0x4000000000000000ull
#define ARIES_CQE_OVERRUN 0x8000000000000000ull

/* Sources: never 0 in a real entry. */
enum aries_cqe_source {
	ARIES_SRC_FMA = 1,
	ARIES_SRC_BTE = 2,
	ARIES_SRC_REMOTE = 3, /* remote event of a put or atomic */
	ARIES_SRC_CQWRITE = 4,
	ARIES_SRC_CE = 5,
	ARIES_SRC_CQ = 15, /* overrun mark */
};

#define ARIES_INFO_LOCAL 1u
#define ARIES_INFO_GLOBAL 2u
#define ARIES_INFO_REMOTE 3u

/* ---- Status codes: 6 bits; ARIES_ST_LOCAL marks the initiator's side ---- */
#define ARIES_ST_LOCAL 0x20u
/*
 * Only in the status word, and only with ARIES_DB_LATER: the outcome is not known yet, and the
 * event will report it.
 */
#define ARIES_ST_LATER 0x40u

enum aries_status {
	ARIES_ST_OK = 0x00,
	ARIES_ST_PTAG = 0x01, /* protection tag (key) does not match the memory domain */
	ARIES_ST_MDD = 0x02, /* memory domain handle not in use */
	ARIES_ST_BOUNDS = 0x03, /* outside of the memory domain */
	ARIES_ST_ACCESS = 0x04, /* memory domain is read only */
	ARIES_ST_TRANSLATION = 0x05, /* page not present, or not memory */
	ARIES_ST_NO_NODE = 0x06, /* no such node, or no route to it */
	ARIES_ST_TIMEOUT = 0x07, /* no response: node gone or packet lost */
	ARIES_ST_NO_CQ = 0x08, /* memory domain has no CQ, or it is gone */
	ARIES_ST_ALIGN = 0x09, /* misaligned address or length */
	ARIES_ST_BAD_OP = 0x0a, /* operation or atomic command unknown to this NIC */
	ARIES_ST_LENGTH = 0x0b, /* length out of range */
	ARIES_ST_RESERVED = 0x0c, /* reserved bits set */
	ARIES_ST_DISABLED = 0x0d, /* descriptor or NIC not enabled */
	ARIES_ST_NTT = 0x0e, /* virtual node address outside of the domain, or unmapped */
	ARIES_ST_CQ_OWNER = 0x0f, /* completion queue belongs to another context */
	ARIES_ST_QUEUE_FULL = 0x10, /* too many block transfers queued */
	ARIES_ST_FLUSHED = 0x11, /* cancelled by a reset or a disable */
	ARIES_ST_CRC = 0x12, /* packet arrived damaged and was dropped */
	ARIES_ST_ECC = 0x13, /* double-bit error in an entry of a memory that the operation needs */
	ARIES_ST_NO_RECEIVE = 0x16, /* no receive is posted for the channel */
	ARIES_ST_RECEIVE_LENGTH = 0x17, /* the message is longer than the receive */
	ARIES_ST_CE_BUSY = 0x18, /* earlier contribution pending: no event; retry after result */
	ARIES_ST_CE_CHILD = 0x19, /* not a child of this collective engine */
	ARIES_ST_CE_MISMATCH = 0x1a, /* contributions differ in command, mode or reduction id */
	/* the same at the initiator: 0x20 | code */
	ARIES_ST_LOCAL_PTAG = 0x21,
	ARIES_ST_LOCAL_MDD = 0x22,
	ARIES_ST_LOCAL_BOUNDS = 0x23,
	ARIES_ST_LOCAL_ACCESS = 0x24,
	ARIES_ST_LOCAL_TRANSLATION = 0x25,
	ARIES_ST_LOCAL_ALIGN = 0x29,
	ARIES_ST_LOCAL_ECC = 0x33,
};

/* ---- Address translation ---- */
/*
 * One level: MDD_TABLE points at one entry per page of 2^PAGE_SHIFT bytes.
 * Two levels: MDD_TABLE points at one directory entry per 512 pages of 4 KiB,
 * in the same form (valid bit and bus address), of a page that holds 512 page
 * entries.
 * Page n starts (n << PAGE_SHIFT) - (MDD_BASE & (page size - 1)) bytes into the region.
 */
#define ARIES_PTE_VALID 0x1ull
#define ARIES_PTE_WRITE 0x2ull
#define ARIES_PTE_ADDR_MASK 0x000ffffffffff000ull
#define ARIES_PTE_RSVD_MASK 0xfff0000000000ffcull
#define ARIES_PTES_PER_PAGE 512u

/* ---- Nodes: NODE_STATE.STATE ---- */
enum aries_node_state {
	ARIES_NODE_NEVER = 0, /* no node ever had this address */
	ARIES_NODE_OFF = 1, /* a NIC is there, but is not enabled: no driver, reset, or suspended */
	ARIES_NODE_UP = 2,
	ARIES_NODE_DEAD = 3, /* it died without shutting down */
	ARIES_NODE_LEFT = 4, /* it was shut down in an orderly way */
};

/*
 * ---- Memories with ECC: elements of RAS_* ----
 *
 * X(NAME, name, entries, row of the specification, text)
 */
#define ARIES_RAS_MEMORIES(X) \
	X(NTT, ntt, 4096, "N05", "node translation table") \
	X(MDD, mdd, 4096, "N01", "memory domain descriptors") \
	X(FMAD, fmad, 128, "N06", "FMA descriptors") \
	X(PTE, pte, 128, "N03", "PTE cache") \
	X(AMO, amo, 64, "N12", "AMO cache") \
	X(ORB, orb, 1024, "N20", "buffer of outstanding requests") \
	X(CQ, cq, 1024, "N18", "completion queue descriptors") \
	X(CE, ce, 128, "N21", "collective engines") \
	X(BTE, bte, 132, "N14", "block transfer queues") \
	X(VMDH, vmdh, 64, "N04", "virtual memory domain handles") \
	X(PTAG, ptag, 256, "N26", "protection keys") \
	X(RMT, rmt, 32, "N16", "posted receives")

enum aries_ras_memory {
#define ARIES_RAS_ENUM(NAME, name, entries, row, text) ARIES_RAS_##NAME,
	ARIES_RAS_MEMORIES(ARIES_RAS_ENUM)
#undef ARIES_RAS_ENUM
	ARIES_RAS_MEMORY_COUNT
};

ARIES_ASSERT(ARIES_RAS_MEMORY_COUNT == 12, "RAS_* have as many elements");

/*
 * ERR_EVENT.CODE for errors of a memory, to which the number of the memory is added. ERR_INFO: [0]
 * bits 43:32 memory domain, for the AMO cache; [1] entry, [2] number of such errors so far, [3]
 * syndrome. STOP is reported once until a reset: the NIC has stopped.
 */
#define ARIES_RAS_SINGLE 0x100u
#define ARIES_RAS_DOUBLE 0x140u
#define ARIES_RAS_STOP 0x180u

/*
 * ERR_EVENT.CODE for memory that the host has got and the NIC cannot reach, as CTL_STATUS.PARTIAL
 * shows. ERR_INFO: [1] its lowest bus address
 */
#define ARIES_RAS_REACH 0x1c0u

/* ---- Counters: elements of CNT_VALUE ---- */
#define ARIES_COUNTERS(X) \
	X(FMA_TRAPS, fma_traps, "stores that trapped on FMA windows and doorbells") \
	X(FMA_PUTS, fma_puts, "FMA put packets") \
	X(FMA_GETS, fma_gets, "FMA get packets") \
	X(FMA_AMOS, fma_amos, "FMA atomics") \
	X(BTE_PUTS, bte_puts, "block puts finished") \
	X(BTE_GETS, bte_gets, "block gets finished") \
	X(BTE_BYTES, bte_bytes, "bytes moved by block transfers") \
	X(REQ_PACKETS, req_packets, "request packets sent") \
	X(RSP_PACKETS, rsp_packets, "response packets received") \
	X(REQ_FLITS, req_flits, "request flits sent") \
	X(RSP_FLITS, rsp_flits, "response flits received") \
	X(RX_REQUESTS, rx_requests, "request packets served for peers") \
	X(CQ_EVENTS, cq_events, "CQ entries written to this node's queues") \
	X(CQ_OVERRUNS, cq_overruns, "events lost for want of a slot") \
	X(IRQS, irqs, "interrupts raised") \
	X(ERRORS, errors, "operations that ended with an error status") \
	X(RX_REFUSED, rx_refused, "requests of peers refused by a check") \
	X(GUEST_ERRORS, guest_errors, "register accesses that broke the specification") \
	X(ORB_STALLS, orb_stalls, "times that 1,024 packets were outstanding") \
	X(TIMEOUTS, timeouts, "requests without a response") \
	X(LATENCY_NS, latency_ns, "sum of modelled latencies, nanoseconds") \
	X(LATENCY_OPS, latency_ops, "operations in that sum") \
	X(LATENCY_LAST_NS, latency_last_ns, "modelled latency of the last operation, nanoseconds") \
	X(HOPS, hops, "router to router hops of request packets") \
	X(NONMINIMAL, nonminimal, "request packets sent on a non-minimal path") \
	X(SSIDS, ssids, "sequence ids opened") \
	X(PTE_WALKS, pte_walks, "reads of translation tables: directory entries and lines of page entries") \
	X(NETLINK_TILES, netlink_tiles, "changes of processor tile by Netlink") \
	X(AMO_CACHE_HITS, amo_cache_hits, "cached atomics that found their word in this node's cache") \
	X(AMO_CACHE_MISSES, amo_cache_misses, "cached atomics that did not") \
	X(AMO_CACHE_EVICTIONS, amo_cache_evictions, "words that had to leave the cache for another") \
	X(CE_OPS, ce_ops, "contributions to collectives that were accepted") \
	X(PTE_CACHE_HITS, pte_cache_hits, "translations that found their page entry in this node's cache") \
	X(PTE_CACHE_MISSES, pte_cache_misses, "translations that did not") \
	X(PTE_CACHE_EVICTIONS, pte_cache_evictions, "lines of eight entries that left for another") \
	X(PTE_CACHE_INVALIDATIONS, pte_cache_invalidations, "lines that left with their memory domain") \
	X(RX_DUPLICATES, rx_duplicates, "packets that arrived a second time and were dropped") \
	X(BTE_SENDS, bte_sends, "channel sends finished") \
	X(VMDH_HITS, vmdh_hits, "virtual memory domain handles that matched an entry of this node") \
	X(VMDH_MISSES, vmdh_misses, "virtual memory domain handles that matched none") \
	X(AMO_CACHE_UPDATES, amo_cache_updates, "words whose result reached host memory later than its operation") \
	X(QUIESCE_STALLS, quiesce_stalls, "trains of request packets that waited for the end of a quiesce") \
	X(FMA_POLLED, fma_polled, "polled doorbells that the NIC has found by itself, without a trap") \
	X(FMA_WAKES, fma_wakes, "stores that trapped to have a polled doorbell run")

enum aries_counter {
#define ARIES_COUNTER_ENUM(NAME, name, text) ARIES_CNT_##NAME,
	ARIES_COUNTERS(ARIES_COUNTER_ENUM)
#undef ARIES_COUNTER_ENUM
	ARIES_CNT_COUNT
};

ARIES_ASSERT(ARIES_CNT_COUNT <= 64, "CNT_VALUE has 64 elements");

/*
 * ---- Counters of a tile: elements of RTR_COUNTER ----
 *
 * IN counts what arrives over the link, or from the NICs at a processor tile. OUT counts what the
 * tile sends. Flits and stalls have an element for each virtual channel. A stall is the time, in
 * cycles of the router's 875 MHz clock, for which the head of a packet waited: at IN for the way to
 * the next tile, at OUT for this tile.
 */
enum aries_rtr_counter {
	ARIES_RTR_IN_FLITS = 0,
	ARIES_RTR_IN_STALL = 8,
	ARIES_RTR_OUT_FLITS = 16,
	ARIES_RTR_OUT_STALL = 24,
	ARIES_RTR_REPLAYS = 32, /* retransmissions by the LCB of the outgoing link */
	ARIES_RTR_MISSED = 33, /* sets with errors that its CRC did not detect */
	ARIES_RTR_COUNT = 34
};

ARIES_ASSERT(ARIES_RTR_COUNT <= 40, "RTR_COUNTER has 40 elements a tile");

/*
 * Names of these counters in monitoring tools of XC systems, with the prefix AR_RTR_r_c_ for
 * network tile r_c and AR_RTR_PT_5_c_ for processor tile c. A counter is the sum of COUNT elements,
 * beginning at FIRST. Names that begin with LCB are our own.
 */
#define ARIES_RTR_NETWORK_NAMES(X) \
	X(INQ_PRF_INCOMING_FLIT_VC0, ARIES_RTR_IN_FLITS + 0, 1) \
	X(INQ_PRF_INCOMING_FLIT_VC1, ARIES_RTR_IN_FLITS + 1, 1) \
	X(INQ_PRF_INCOMING_FLIT_VC2, ARIES_RTR_IN_FLITS + 2, 1) \
	X(INQ_PRF_INCOMING_FLIT_VC3, ARIES_RTR_IN_FLITS + 3, 1) \
	X(INQ_PRF_INCOMING_FLIT_VC4, ARIES_RTR_IN_FLITS + 4, 1) \
	X(INQ_PRF_INCOMING_FLIT_VC5, ARIES_RTR_IN_FLITS + 5, 1) \
	X(INQ_PRF_INCOMING_FLIT_VC6, ARIES_RTR_IN_FLITS + 6, 1) \
	X(INQ_PRF_INCOMING_FLIT_VC7, ARIES_RTR_IN_FLITS + 7, 1) \
	X(INQ_PRF_ROWBUS_STALL_CNT, ARIES_RTR_IN_STALL, 8) \
	X(COLBUF_PERF_STALL_RQ, ARIES_RTR_OUT_STALL, 4) \
	X(COLBUF_PERF_STALL_RS, ARIES_RTR_OUT_STALL + 4, 4) \
	X(LCB_REPLAYS, ARIES_RTR_REPLAYS, 1) \
	X(LCB_ERRORS_MISSED, ARIES_RTR_MISSED, 1)

#define ARIES_RTR_PROCESSOR_NAMES(X) \
	X(INQ_PRF_INCOMING_FLIT_VC0, ARIES_RTR_IN_FLITS + 0, 1) \
	X(INQ_PRF_INCOMING_FLIT_VC4, ARIES_RTR_IN_FLITS + 4, 1) \
	X(INQ_PRF_REQ_ROWBUS_STALL_CNT, ARIES_RTR_IN_STALL, 4) \
	X(INQ_PRF_RSP_ROWBUS_STALL_CNT, ARIES_RTR_IN_STALL + 4, 4) \
	X(COLBUF_PERF_STALL_RQ, ARIES_RTR_OUT_STALL, 4) \
	X(COLBUF_PERF_STALL_RS, ARIES_RTR_OUT_STALL + 4, 4)

/* Counters of the NIC that have such a name, with the prefix AR_NIC_NETMON_ORB_EVENT_CNTR_. */
#define ARIES_NIC_NAMES(X) \
	X(REQ_PKTS, REQ_PACKETS) \
	X(REQ_FLITS, REQ_FLITS) \
	X(RSP_PKTS, RSP_PACKETS) \
	X(RSP_FLITS, RSP_FLITS)

#ifdef __cplusplus
}
#endif

#endif /* ARIES_HW_H */
