/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * GNI, the Generic Network Interface of Gemini and Aries NICs.
 *
 * User programs include this header and link with libugni (pkg-config
 * cray-ugni): they get the GNI_ functions. Kernel modules include it after
 * <linux/types.h> and get the gni_ functions of kGNI. Constants, types and the
 * accessors of completion queue entries are the same on both sides.
 *
 * Functions return gni_return_t unless stated. "Privileged" means
 * CAP_SYS_ADMIN. Handles are pointers that only the process (or module) that
 * made them may use; memory handles are plain values that peers exchange.
 * Calls on one NIC handle and what was made from it are serialised by the
 * caller, except GNI_CqTestEvent(), GNI_CqVectorMonitor() and
 * GNI_PostdataProbeWaitById().
 */
#ifndef _GNI_PUB_H_
#define _GNI_PUB_H_

#ifndef __KERNEL__
#include <stdint.h>
#else
#include <linux/types.h>
#ifdef CONFIG_CRAY_GEMINI
#error "CONFIG_CRAY_GEMINI is set, and this is kGNI of an Aries network: set CONFIG_CRAY_ARIES instead"
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Annotations of arguments, for source that uses them. */
#ifndef IN
#define IN
#endif
#ifndef OUT
#define OUT
#endif
#ifndef INOUT
#define INOUT
#endif

/* ---- Versions ---- */

#define GNI_MAJOR_REV 0x00  /* changes with new hardware */
#define GNI_MINOR_REV 0x5C  /* changes with the interface */
#define GNI_CODE_REV 0x0000 /* changes with the code */
#define GNI_GET_MAJOR(v) (((v) >> 24) & 0xFF)
#define GNI_GET_MINOR(v) (((v) >> 16) & 0xFF)
#define GNI_GET_REV(v) ((v)&0xFFFF)
#define GNI_VERSION_CHECK(major, minor, code) (((major) << 24) | ((minor) << 16) | (code))
#define GNI_VERSION GNI_VERSION_CHECK(GNI_MAJOR_REV, GNI_MINOR_REV, GNI_CODE_REV)
/* First version that shares FMA descriptors. */
#define GNI_VERSION_FMA_SHARING GNI_VERSION_CHECK(0x00, 0x5B, 0x0000)

/* ---- Protection tags, keys, cookies ---- */

/* Protection tags, 8 bits: a node's own name of a communication domain */
enum {
	GNI_PTAG_LND = 1,  /* Lustre */
	GNI_PTAG_OFED = 2, /* verbs emulation */
	GNI_PTAG_USER_START = 3,
	GNI_PTAG_LND_KNC = 128, /* Lustre on Xeon Phi nodes */
	GNI_PTAG_USER_END = 253,
	GNI_PTAG_HSNBOOT = 254, /* boot over the network */
	GNI_PTAG_MAX = 254,
	GNI_PTAG_LB = 255 /* all ones */
};

#define GNI_FIND_ALLOC_PTAG GNI_PTAG_LB /* have the tag found by the cookie */

/* Protection keys, 16 bits: the upper half of a cookie */
enum {
	GNI_PKEY_INVALID = 0,
	GNI_PKEY_LND = 1,  /* Lustre */
	GNI_PKEY_OFED = 2, /* verbs emulation */
	GNI_PKEY_USER_START = 128,
	GNI_PKEY_USER_END = 65407,
	GNI_PKEY_HSNBOOT = 65408, /* boot over the network */
	GNI_PKEY_MAX = 65534,
	GNI_PKEY_LB = 65535 /* all ones */
};

#define GNI_COOKIE_PKEY_MASK 0xFFFF
#define GNI_COOKIE_PKEY_SHIFT 16
#define GNI_COOKIE_CBPS_MDD_MASK 0x7
#define GNI_COOKIE_CBPS_MDD_SHIFT 3
#define GNI_JOB_CREATE_COOKIE(pkey, cbps_mdd)                                                                          \
	(((uint32_t)(pkey) << GNI_COOKIE_PKEY_SHIFT) |                                                                 \
	 (((cbps_mdd)&GNI_COOKIE_CBPS_MDD_MASK) << GNI_COOKIE_CBPS_MDD_SHIFT))

/* ---- Memory handles ---- */

/**
 * enum gni_mem_handle_attr - attributes for GNI_MemHndlQueryAttr()
 * @GNI_MEMHNDL_ATTR_READONLY: peers may only read
 * @GNI_MEMHNDL_ATTR_VMDH: names a slot of a vMDH block
 * @GNI_MEMHNDL_ATTR_MRT: mapped by the relocation table (Gemini)
 * @GNI_MEMHNDL_ATTR_GART: mapped by the GART (Gemini)
 * @GNI_MEMHNDL_ATTR_IOMMU: mapped by the NIC (Aries)
 * @GNI_MEMHNDL_ATTR_PCI_IOMMU: mapped by the root complex
 * @GNI_MEMHNDL_ATTR_CLONE: clone of another registration
 */
typedef enum gni_mem_handle_attr {
	GNI_MEMHNDL_ATTR_READONLY = 1,
	GNI_MEMHNDL_ATTR_VMDH = 2,
	GNI_MEMHNDL_ATTR_MRT = 3,
	GNI_MEMHNDL_ATTR_GART = 4,
	GNI_MEMHNDL_ATTR_IOMMU = 5,
	GNI_MEMHNDL_ATTR_PCI_IOMMU = 6,
	GNI_MEMHNDL_ATTR_CLONE = 7
} gni_mem_handle_attr_t;

/**
 * struct gni_mem_handle - registered memory, 16 bytes; all zero means none
 * @qword1: opaque
 * @qword2: opaque
 */
typedef struct gni_mem_handle {
	uint64_t qword1;
	uint64_t qword2;
} gni_mem_handle_t;

/* Flags of a registration. */
#define GNI_MEM_READWRITE 0x00000000
#define GNI_MEM_READ_ONLY 0x00000001 /* peers may only read */
#define GNI_MEM_USE_VMDH 0x00000002  /* take a slot of the vMDH block */
#define GNI_MEM_USE_GART 0x00000004
#define GNI_MEM_PHYS_CONT 0x00000008          /* physically contiguous */
#define GNI_MEM_PHYS_SEGMENTS 0x00000010      /* segments are pages by physical address; kernel */
#define GNI_MEM_STRICT_PI_ORDERING 0x00000020 /* wins over relaxed ordering */
#define GNI_MEM_PI_FLUSH 0x00000040           /* answer when the data is visible */
#define GNI_MEM_MDD_CLONE 0x00000080          /* clone an existing descriptor */
#define GNI_MEM_RELAXED_PI_ORDERING 0x00000100
#define GNI_MEM_RESERVE_REGION 0x00000200 /* reserve the range, map nothing */
#define GNI_MEM_UPDATE_REGION 0x00000400  /* map what a reserved range covers now */
#define GNI_MEM_MDD_SHARED 0x00000800
#define GNI_MEM_MDD_DEDICATED 0x00001000
#define GNI_MEM_CUDA 0x01000000              /* memory of a GPU */
#define GNI_EXMEM_FLAGS(flag) ((flag) >> 24) /* kind of external memory */
#define GNI_MEM_IS_EXTERNAL(flag) ((flag) >> 24)

/* ---- Short messages ---- */

/**
 * enum gni_smsg_type - kinds of mailboxes
 * @GNI_SMSG_TYPE_INVALID: none
 * @GNI_SMSG_TYPE_MBOX: a failed send is reported
 * @GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT: a failed send is repeated first
 */
typedef enum gni_smsg_type {
	GNI_SMSG_TYPE_INVALID = 0,
	GNI_SMSG_TYPE_MBOX = 1,
	GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT = 2
} gni_smsg_type_t;

#define GNI_SMSG_ANY_TAG 0xFF
#define FMA_SMSG_MAX_RETRANS_DEFAULT 10
#define GNI_SMSG_MAX_SIZE 65535 /* header and data */

/**
 * struct gni_smsg_attr - one mailbox, as peers describe it to each other
 * @msg_type: kind of mailbox
 * @msg_buffer: start of the memory that holds mailboxes
 * @buff_size: bytes of this mailbox
 * @mem_hndl: registration of @msg_buffer
 * @mbox_offset: bytes from @msg_buffer to this mailbox
 * @mbox_maxcredit: messages that may be outstanding
 * @msg_maxsize: bytes of the largest message, header included
 */
typedef struct gni_smsg_attr {
	gni_smsg_type_t msg_type;
	void *msg_buffer;
	uint32_t buff_size;
	gni_mem_handle_t mem_hndl;
	uint32_t mbox_offset;
	uint16_t mbox_maxcredit;
	uint32_t msg_maxsize;
} gni_smsg_attr_t;

/* ---- Return codes ---- */

/**
 * enum gni_return - results; the index of gni_err_str[]
 * @GNI_RC_SUCCESS: done
 * @GNI_RC_NOT_DONE: nothing yet, or not now; try again
 * @GNI_RC_INVALID_PARAM: bad handle, pointer, flag or combination
 * @GNI_RC_ERROR_RESOURCE: exhausted, busy or of the wrong kind; a queue lost events
 * @GNI_RC_TIMEOUT: time is over
 * @GNI_RC_PERMISSION_ERROR: not allowed
 * @GNI_RC_DESCRIPTOR_ERROR: no posted descriptor belongs to the event
 * @GNI_RC_ALIGNMENT_ERROR: address or length not aligned as the operation demands
 * @GNI_RC_INVALID_STATE: not in this state of the object
 * @GNI_RC_NO_MATCH: nothing found
 * @GNI_RC_SIZE_ERROR: does not fit
 * @GNI_RC_TRANSACTION_ERROR: the transfer failed
 * @GNI_RC_ILLEGAL_OP: this NIC cannot do it
 * @GNI_RC_ERROR_NOMEM: out of memory
 */
typedef enum gni_return {
	GNI_RC_SUCCESS = 0,
	GNI_RC_NOT_DONE = 1,
	GNI_RC_INVALID_PARAM = 2,
	GNI_RC_ERROR_RESOURCE = 3,
	GNI_RC_TIMEOUT = 4,
	GNI_RC_PERMISSION_ERROR = 5,
	GNI_RC_DESCRIPTOR_ERROR = 6,
	GNI_RC_ALIGNMENT_ERROR = 7,
	GNI_RC_INVALID_STATE = 8,
	GNI_RC_NO_MATCH = 9,
	GNI_RC_SIZE_ERROR = 10,
	GNI_RC_TRANSACTION_ERROR = 11,
	GNI_RC_ILLEGAL_OP = 12,
	GNI_RC_ERROR_NOMEM = 13
} gni_return_t;

/* ---- Modes of a communication domain ---- */

#define GNI_CDM_MODE_FORK_NOCOPY 0x00000001            /* a child gets no copy of registered pages */
#define GNI_CDM_MODE_FORK_FULLCOPY 0x00000002          /* a child gets a copy of all */
#define GNI_CDM_MODE_FORK_PARTCOPY 0x00000004          /* a child gets a copy of partly registered pages (default) */
#define GNI_CDM_MODE_ERR_NO_KILL 0x00000008            /* network errors never end the process */
#define GNI_CDM_MODE_ERR_ALL_KILL 0x00000010           /* every transaction error ends the process */
#define GNI_CDM_MODE_FAST_DATAGRAM_POLL 0x00000020     /* cheap datagram polls that may skip intermediate states */
#define GNI_CDM_MODE_BTE_SINGLE_CHANNEL 0x00000040     /* block transfers use one channel */
#define GNI_CDM_MODE_USE_PCI_IOMMU 0x00000080          /* translate in the root complex */
#define GNI_CDM_MODE_MDD_DEDICATED 0x00000100          /* registrations take a descriptor of their own */
#define GNI_CDM_MODE_MDD_SHARED 0x00000200             /* registrations share descriptors (default) */
#define GNI_CDM_MODE_DUAL_EVENTS 0x00001000            /* a post may ask for local and global events together */
#define GNI_CDM_MODE_DLA_ENABLE_FORWARDING 0x00004000  /* with shared FMA */
#define GNI_CDM_MODE_DLA_DISABLE_FORWARDING 0x00008000 /* with shared FMA */
#define GNI_CDM_MODE_FMA_DEDICATED 0x00010000          /* an FMA descriptor of its own (default) */
#define GNI_CDM_MODE_FMA_SHARED 0x00020000             /* FMA descriptors are shared inside the domain */
#define GNI_CDM_MODE_CACHED_AMO_ENABLED 0x00040000     /* allow the cached atomics */
#define GNI_CDM_MODE_CQ_NIC_LOCAL_PLACEMENT 0x00080000 /* queues in memory near the NIC */
#define GNI_CDM_MODE_FLBTE_DISABLE 0x00100000          /* no fast-launch block transfers */
#define GNI_CDM_MODE_FMA_SMALL_WINDOW 0x00200000       /* map a small FMA window */
#define GNI_CDM_MODE_MASK 0x0FFFFFFF
#define GNI_CDM_MODE_PRIV_RESERVED_1 0x10000000 /* reserved for libraries */
#define GNI_CDM_MODE_PRIV_RESERVED_2 0x20000000
#define GNI_CDM_MODE_PRIV_RESERVED_3 0x40000000
#define GNI_CDM_MODE_PRIV_RESERVED_4 0x80000000
#define GNI_CDM_MODE_PRIV_MASK 0xF0000000

/* ---- Datagrams ---- */

/**
 * enum gni_post_state - states of a datagram
 * @GNI_POST_PENDING: in progress
 * @GNI_POST_COMPLETED: done; address and id of the peer are known
 * @GNI_POST_ERROR: failed
 * @GNI_POST_TIMEOUT: the peer did not answer
 * @GNI_POST_TERMINATED: cancelled, here or there
 * @GNI_POST_REMOTE_DATA: the peer's bytes are here, the exchange is not over
 */
typedef enum gni_post_state {
	GNI_POST_PENDING = 0,
	GNI_POST_COMPLETED = 1,
	GNI_POST_ERROR = 2,
	GNI_POST_TIMEOUT = 3,
	GNI_POST_TERMINATED = 4,
	GNI_POST_REMOTE_DATA = 5
} gni_post_state_t;

#define GNI_DATAGRAM_MAXSIZE 128 /* bytes, each way */

/* ---- Completion queues ---- */

typedef uint32_t gni_cq_mode_t;  /* GNI_CQ_* creation modes */
typedef uint64_t gni_cq_entry_t; /* one entry; only the accessors know its layout */

#define GNI_CQ_NOBLOCK 0x00000000          /* for polling only */
#define GNI_CQ_BLOCKING 0x00000001         /* can be waited on */
#define GNI_CQ_EMULATED 0x00000002         /* library internal */
#define GNI_CQ_EMULATED_INVALID 0x00000003 /* not allowed together */
#define GNI_CQ_PHYS_PAGES 0x00000004       /* made of physical pages */
#define GNI_CQ_UNMANAGED 0x00000008        /* a sink that nobody reads */
#define GNI_CQ_IS_NON_BLOCKING(modes) (((modes)&GNI_CQ_BLOCKING) == 0)
#define GNI_CQ_IS_BLOCKING(modes) (((modes)&GNI_CQ_BLOCKING) == GNI_CQ_BLOCKING)
#define GNI_CQ_IS_EMULATED(modes) (((modes)&GNI_CQ_EMULATED) == GNI_CQ_EMULATED)
#define GNI_CQ_IS_NOT_EMULATED(modes) (((modes)&GNI_CQ_EMULATED) == 0)
#define GNI_CQ_IS_INVALID_EMULATED(modes) (((modes)&GNI_CQ_EMULATED_INVALID) == GNI_CQ_EMULATED_INVALID)
#define GNI_CQ_USE_PHYS_PAGES(modes) (((modes)&GNI_CQ_PHYS_PAGES) == GNI_CQ_PHYS_PAGES)

/*
 * Events: their types, and names of the accessors below. The names are macros
 * so that a program can test for them.
 */
#define GNI_CQ_EVENT_TYPE_POST 0ULL  /* FMA, RDMA, atomic, CQ write, collective */
#define GNI_CQ_EVENT_TYPE_SMSG 1ULL  /* short message */
#define GNI_CQ_EVENT_TYPE_DMAPP 2ULL /* left to DMAPP */
#define GNI_CQ_EVENT_TYPE_MSGQ 3ULL  /* message queue */
#define GNI_CQ_GET_DATA gni_cq_get_data
#define GNI_CQ_GET_SOURCE gni_cq_get_source
#define GNI_CQ_GET_STATUS gni_cq_get_status
#define GNI_CQ_GET_INFO gni_cq_get_info
#define GNI_CQ_GET_INST_ID gni_cq_get_inst_id
#define GNI_CQ_GET_REM_INST_ID gni_cq_get_rem_inst_id
#define GNI_CQ_GET_TID gni_cq_get_tid
#define GNI_CQ_GET_MSG_ID gni_cq_get_msg_id
#define GNI_CQ_GET_TYPE gni_cq_get_type
#define GNI_CQ_GET_BLOCK_ID gni_cq_get_block_id
#define GNI_CQ_GET_UNSUCCESSFUL_CNT gni_cq_get_unsuccessful_cnt
#define GNI_CQ_GET_MARKER_ID gni_cq_get_marker_id
#define GNI_CQ_GET_FAILED_ENQUEUE_CNT gni_cq_get_failed_enqueue_cnt
#define GNI_CQ_GET_CE_ID gni_cq_get_ce_id
#define GNI_CQ_GET_REDUCTN_ID gni_cq_get_reductn_id
#define GNI_CQ_GET_TRANS_TYPE gni_cq_get_trans_type
#define GNI_CQ_OVERRUN gni_cq_overrun
#define GNI_CQ_REM_OVERRUN gni_cq_rem_overrun
#define GNI_CQ_SET_INST_ID(entry, val) gni_cq_set_inst_id(&(entry), val)
#define GNI_CQ_SET_REM_INST_ID(entry, val) gni_cq_set_rem_inst_id(&(entry), val)
#define GNI_CQ_SET_TID(entry, val) gni_cq_set_tid(&(entry), val)
#define GNI_CQ_SET_MSG_ID(entry, val) gni_cq_set_msg_id(&(entry), val)
#define GNI_CQ_SET_TYPE(entry, val) gni_cq_set_type(&(entry), val)
#define GNI_CQ_CLR_STATUS(entry) gni_cq_clr_status(&(entry))
#define GNI_CQ_STATUS_OK(entry) (gni_cq_get_status(entry) == 0)
#define GNI_CQ_STATUS_DLA_OVERFLOW(entry) (gni_cq_status_dla_overflow(entry))
#define GNI_CQ_BTE_ENQ_STATUS(entry) gni_cq_bte_enq_status(entry)

/* ---- Posts ---- */

/**
 * enum gni_post_type - kinds of posts
 * @GNI_POST_RDMA_PUT: block transfer to the peer
 * @GNI_POST_RDMA_GET: block transfer from the peer
 * @GNI_POST_FMA_PUT: put by stores of the processor
 * @GNI_POST_FMA_PUT_W_SYNCFLAG: put, then 64 bits to sync_flag_addr
 * @GNI_POST_FMA_GET: get by stores of the processor
 * @GNI_POST_AMO: atomic operation
 * @GNI_POST_CQWRITE: 48 bits into the peer's queue
 * @GNI_POST_CE: contribution to a collective
 * @GNI_POST_FMA_GET_W_FLAG: get with a flag behind the data
 * @GNI_POST_AMO_W_FLAG: fetching atomic with a flag behind the result
 */
typedef enum gni_post_type {
	GNI_POST_RDMA_PUT = 1,
	GNI_POST_RDMA_GET = 2,
	GNI_POST_FMA_PUT = 3,
	GNI_POST_FMA_PUT_W_SYNCFLAG = 4,
	GNI_POST_FMA_GET = 5,
	GNI_POST_AMO = 6,
	GNI_POST_CQWRITE = 7,
	GNI_POST_CE = 8,
	GNI_POST_FMA_GET_W_FLAG = 9,
	GNI_POST_AMO_W_FLAG = 10
} gni_post_type_t;

/* Events that a post asks for (cq_mode). */
#define GNI_CQMODE_SILENT 0x0000       /* no event */
#define GNI_CQMODE_LOCAL_EVENT 0x0001  /* the local buffer is free */
#define GNI_CQMODE_GLOBAL_EVENT 0x0002 /* complete at the target */
#define GNI_CQMODE_REMOTE_EVENT 0x0004 /* event at the target */
#define GNI_CQMODE_DUAL_EVENTS 0x0003  /* local and global; needs GNI_CDM_MODE_DUAL_EVENTS */

/* Routing and ordering of a post (dlvr_mode). */
#define GNI_DLVMODE_PERFORMANCE 0x0000 /* adaptive, unordered */
#define GNI_DLVMODE_NO_ADAPT 0x0001
#define GNI_DLVMODE_NO_HASH 0x0002
#define GNI_DLVMODE_NO_RADAPT 0x0004 /* responses not adaptive */
#define GNI_DLVMODE_IN_ORDER 0x0003
#define GNI_DLVMODE_MNON_HASH 0x0003 /* Aries name of IN_ORDER */
#define GNI_DLVMODE_NMIN_HASH 0x0008
#define GNI_DLVMODE_MIN_HASH 0x0010
#define GNI_DLVMODE_ADAPTIVE0 0x0000
#define GNI_DLVMODE_ADAPTIVE1 0x0020
#define GNI_DLVMODE_ADAPTIVE2 0x0040
#define GNI_DLVMODE_ADAPTIVE3 0x0080
#define GNI_DLVMODE_ORDERED_TAIL 0x0100 /* the last part arrives last */

/* Block transfers (rdma_mode). */
#define GNI_RDMAMODE_PHYS_ADDR 0x0001 /* physical local address; kernel */
#define GNI_RDMAMODE_FENCE 0x0002     /* wait for this and all earlier ones */
#define GNI_RDMAMODE_GETWC_DIS 0x0004 /* do not combine returning data */

#define GNI_FMA_FLAGGED_RESPONSE_SIZE 4 /* bytes of that flag */

/**
 * enum gni_fma_cmd_type - atomic operations
 * @GNI_FMA_ATOMIC_FADD: m + a
 * @GNI_FMA_ATOMIC_FADD_C: m + a
 * @GNI_FMA_ATOMIC_FAND: m & a
 * @GNI_FMA_ATOMIC_FAND_C: m & a
 * @GNI_FMA_ATOMIC_FOR: m | a
 * @GNI_FMA_ATOMIC_FOR_C: m | a
 * @GNI_FMA_ATOMIC_FXOR: m ^ a
 * @GNI_FMA_ATOMIC_FXOR_C: m ^ a
 * @GNI_FMA_ATOMIC_FAX: (m & a) ^ b
 * @GNI_FMA_ATOMIC_FAX_C: (m & a) ^ b
 * @GNI_FMA_ATOMIC_CSWAP: (m == a) ? b : m
 * @GNI_FMA_ATOMIC_CSWAP_C: (m == a) ? b : m
 * @GNI_FMA_ATOMIC2_FAND_S: m & a
 * @GNI_FMA_ATOMIC2_FAND: m & a
 * @GNI_FMA_ATOMIC2_FAND_SC: m & a
 * @GNI_FMA_ATOMIC2_FAND_C: m & a
 * @GNI_FMA_ATOMIC2_FOR_S: m | a
 * @GNI_FMA_ATOMIC2_FOR: m | a
 * @GNI_FMA_ATOMIC2_FOR_SC: m | a
 * @GNI_FMA_ATOMIC2_FOR_C: m | a
 * @GNI_FMA_ATOMIC2_FXOR_S: m ^ a
 * @GNI_FMA_ATOMIC2_FXOR: m ^ a
 * @GNI_FMA_ATOMIC2_FXOR_SC: m ^ a
 * @GNI_FMA_ATOMIC2_FXOR_C: m ^ a
 * @GNI_FMA_ATOMIC2_FSWAP_S: a
 * @GNI_FMA_ATOMIC2_FSWAP: a
 * @GNI_FMA_ATOMIC2_FSWAP_SC: a
 * @GNI_FMA_ATOMIC2_FSWAP_C: a
 * @GNI_FMA_ATOMIC2_FAX_S: (m & a) ^ b
 * @GNI_FMA_ATOMIC2_FAX: (m & a) ^ b
 * @GNI_FMA_ATOMIC2_FAX_SC: (m & a) ^ b
 * @GNI_FMA_ATOMIC2_FAX_C: (m & a) ^ b
 * @GNI_FMA_ATOMIC2_FCSWAP_S: (m == a) ? b : m
 * @GNI_FMA_ATOMIC2_FCSWAP: (m == a) ? b : m
 * @GNI_FMA_ATOMIC2_FCSWAP_SC: (m == a) ? b : m
 * @GNI_FMA_ATOMIC2_FCSWAP_C: (m == a) ? b : m
 * @GNI_FMA_ATOMIC2_FIMIN_S: signed min(m, a)
 * @GNI_FMA_ATOMIC2_FIMIN: signed min(m, a)
 * @GNI_FMA_ATOMIC2_FIMIN_SC: signed min(m, a)
 * @GNI_FMA_ATOMIC2_FIMIN_C: signed min(m, a)
 * @GNI_FMA_ATOMIC2_FIMAX_S: signed max(m, a)
 * @GNI_FMA_ATOMIC2_FIMAX: signed max(m, a)
 * @GNI_FMA_ATOMIC2_FIMAX_SC: signed max(m, a)
 * @GNI_FMA_ATOMIC2_FIMAX_C: signed max(m, a)
 * @GNI_FMA_ATOMIC2_FIADD_S: m + a
 * @GNI_FMA_ATOMIC2_FIADD: m + a
 * @GNI_FMA_ATOMIC2_FIADD_SC: m + a
 * @GNI_FMA_ATOMIC2_FIADD_C: m + a
 * @GNI_FMA_ATOMIC2_FFPMIN_S: floating min(m, a)
 * @GNI_FMA_ATOMIC2_FFPMIN: floating min(m, a)
 * @GNI_FMA_ATOMIC2_FFPMIN_SC: floating min(m, a)
 * @GNI_FMA_ATOMIC2_FFPMIN_C: floating min(m, a)
 * @GNI_FMA_ATOMIC2_FFPMAX_S: floating max(m, a)
 * @GNI_FMA_ATOMIC2_FFPMAX: floating max(m, a)
 * @GNI_FMA_ATOMIC2_FFPMAX_SC: floating max(m, a)
 * @GNI_FMA_ATOMIC2_FFPMAX_C: floating max(m, a)
 * @GNI_FMA_ATOMIC2_FFPADD_S: m + a
 * @GNI_FMA_ATOMIC2_FFPADD: m + a
 * @GNI_FMA_ATOMIC2_FFPADD_SC: m + a
 * @GNI_FMA_ATOMIC2_FFPADD_C: m + a
 * @GNI_FMA_ATOMIC_ADD: m + a
 * @GNI_FMA_ATOMIC_ADD_C: m + a
 * @GNI_FMA_ATOMIC_AND: m & a
 * @GNI_FMA_ATOMIC_AND_C: m & a
 * @GNI_FMA_ATOMIC_OR: m | a
 * @GNI_FMA_ATOMIC_OR_C: m | a
 * @GNI_FMA_ATOMIC_XOR: m ^ a
 * @GNI_FMA_ATOMIC_XOR_C: m ^ a
 * @GNI_FMA_ATOMIC_AX: (m & a) ^ b
 * @GNI_FMA_ATOMIC_AX_C: (m & a) ^ b
 * @GNI_FMA_ATOMIC2_AND_S: m & a
 * @GNI_FMA_ATOMIC2_AND: m & a
 * @GNI_FMA_ATOMIC2_AND_SC: m & a
 * @GNI_FMA_ATOMIC2_AND_C: m & a
 * @GNI_FMA_ATOMIC2_OR_S: m | a
 * @GNI_FMA_ATOMIC2_OR: m | a
 * @GNI_FMA_ATOMIC2_OR_SC: m | a
 * @GNI_FMA_ATOMIC2_OR_C: m | a
 * @GNI_FMA_ATOMIC2_XOR_S: m ^ a
 * @GNI_FMA_ATOMIC2_XOR: m ^ a
 * @GNI_FMA_ATOMIC2_XOR_SC: m ^ a
 * @GNI_FMA_ATOMIC2_XOR_C: m ^ a
 * @GNI_FMA_ATOMIC2_SWAP_S: a
 * @GNI_FMA_ATOMIC2_SWAP: a
 * @GNI_FMA_ATOMIC2_SWAP_SC: a
 * @GNI_FMA_ATOMIC2_SWAP_C: a
 * @GNI_FMA_ATOMIC2_AX_S: (m & a) ^ b; not for FMA launch
 * @GNI_FMA_ATOMIC2_AX: (m & a) ^ b
 * @GNI_FMA_ATOMIC2_AX_SC: (m & a) ^ b; not for FMA launch
 * @GNI_FMA_ATOMIC2_AX_C: (m & a) ^ b
 * @GNI_FMA_ATOMIC2_CSWAP_S: (m == a) ? b : m; not for FMA launch
 * @GNI_FMA_ATOMIC2_CSWAP: (m == a) ? b : m
 * @GNI_FMA_ATOMIC2_CSWAP_SC: (m == a) ? b : m; not for FMA launch
 * @GNI_FMA_ATOMIC2_CSWAP_C: (m == a) ? b : m
 * @GNI_FMA_ATOMIC2_IMIN_S: signed min(m, a)
 * @GNI_FMA_ATOMIC2_IMIN: signed min(m, a)
 * @GNI_FMA_ATOMIC2_IMIN_SC: signed min(m, a)
 * @GNI_FMA_ATOMIC2_IMIN_C: signed min(m, a)
 * @GNI_FMA_ATOMIC2_IMAX_S: signed max(m, a)
 * @GNI_FMA_ATOMIC2_IMAX: signed max(m, a)
 * @GNI_FMA_ATOMIC2_IMAX_SC: signed max(m, a)
 * @GNI_FMA_ATOMIC2_IMAX_C: signed max(m, a)
 * @GNI_FMA_ATOMIC2_IADD_S: m + a
 * @GNI_FMA_ATOMIC2_IADD: m + a
 * @GNI_FMA_ATOMIC2_IADD_SC: m + a
 * @GNI_FMA_ATOMIC2_IADD_C: m + a
 * @GNI_FMA_ATOMIC2_FPMIN_S: floating min(m, a)
 * @GNI_FMA_ATOMIC2_FPMIN: floating min(m, a)
 * @GNI_FMA_ATOMIC2_FPMIN_SC: floating min(m, a)
 * @GNI_FMA_ATOMIC2_FPMIN_C: floating min(m, a)
 * @GNI_FMA_ATOMIC2_FPMAX_S: floating max(m, a)
 * @GNI_FMA_ATOMIC2_FPMAX: floating max(m, a)
 * @GNI_FMA_ATOMIC2_FPMAX_SC: floating max(m, a)
 * @GNI_FMA_ATOMIC2_FPMAX_C: floating max(m, a)
 * @GNI_FMA_ATOMIC2_FPADD_S: m + a
 * @GNI_FMA_ATOMIC2_FPADD: m + a
 * @GNI_FMA_ATOMIC2_FPADD_SC: m + a
 * @GNI_FMA_ATOMIC2_FPADD_C: m + a
 *
 * The comment is the new value of the remote word m; a and b are the first and
 * the second operand. Names that begin with F return the old value to
 * local_addr, as do ATOMIC_CSWAP and ATOMIC_CSWAP_C. Bit 8: nothing returned;
 * but ATOMIC2_CSWAP_S and _SC do return it where a descriptor of type
 * GNI_POST_AMO names local memory.
 * ATOMIC: first generation, 64 bits. ATOMIC2: second generation (Aries); with
 * suffix S 32 bits. Suffix C: kept in the atomic cache of the target's NIC,
 * needs GNI_CDM_MODE_CACHED_AMO_ENABLED.
 */
typedef enum gni_fma_cmd_type {
	GNI_FMA_ATOMIC_FADD = 0x008,
	GNI_FMA_ATOMIC_FADD_C = 0x018,
	GNI_FMA_ATOMIC_FAND = 0x009,
	GNI_FMA_ATOMIC_FAND_C = 0x019,
	GNI_FMA_ATOMIC_FOR = 0x00A,
	GNI_FMA_ATOMIC_FOR_C = 0x01A,
	GNI_FMA_ATOMIC_FXOR = 0x00B,
	GNI_FMA_ATOMIC_FXOR_C = 0x01B,
	GNI_FMA_ATOMIC_FAX = 0x00C,
	GNI_FMA_ATOMIC_FAX_C = 0x01C,
	GNI_FMA_ATOMIC_CSWAP = 0x00D,
	GNI_FMA_ATOMIC_CSWAP_C = 0x01D,
	GNI_FMA_ATOMIC2_FAND_S = 0x240,
	GNI_FMA_ATOMIC2_FAND = 0x041,
	GNI_FMA_ATOMIC2_FAND_SC = 0x260,
	GNI_FMA_ATOMIC2_FAND_C = 0x061,
	GNI_FMA_ATOMIC2_FOR_S = 0x242,
	GNI_FMA_ATOMIC2_FOR = 0x043,
	GNI_FMA_ATOMIC2_FOR_SC = 0x262,
	GNI_FMA_ATOMIC2_FOR_C = 0x063,
	GNI_FMA_ATOMIC2_FXOR_S = 0x244,
	GNI_FMA_ATOMIC2_FXOR = 0x045,
	GNI_FMA_ATOMIC2_FXOR_SC = 0x264,
	GNI_FMA_ATOMIC2_FXOR_C = 0x065,
	GNI_FMA_ATOMIC2_FSWAP_S = 0x246,
	GNI_FMA_ATOMIC2_FSWAP = 0x047,
	GNI_FMA_ATOMIC2_FSWAP_SC = 0x266,
	GNI_FMA_ATOMIC2_FSWAP_C = 0x067,
	GNI_FMA_ATOMIC2_FAX_S = 0x248,
	GNI_FMA_ATOMIC2_FAX = 0x049,
	GNI_FMA_ATOMIC2_FAX_SC = 0x268,
	GNI_FMA_ATOMIC2_FAX_C = 0x069,
	GNI_FMA_ATOMIC2_FCSWAP_S = 0x24A,
	GNI_FMA_ATOMIC2_FCSWAP = 0x04B,
	GNI_FMA_ATOMIC2_FCSWAP_SC = 0x26A,
	GNI_FMA_ATOMIC2_FCSWAP_C = 0x06B,
	GNI_FMA_ATOMIC2_FIMIN_S = 0x250,
	GNI_FMA_ATOMIC2_FIMIN = 0x051,
	GNI_FMA_ATOMIC2_FIMIN_SC = 0x270,
	GNI_FMA_ATOMIC2_FIMIN_C = 0x071,
	GNI_FMA_ATOMIC2_FIMAX_S = 0x252,
	GNI_FMA_ATOMIC2_FIMAX = 0x053,
	GNI_FMA_ATOMIC2_FIMAX_SC = 0x272,
	GNI_FMA_ATOMIC2_FIMAX_C = 0x073,
	GNI_FMA_ATOMIC2_FIADD_S = 0x254,
	GNI_FMA_ATOMIC2_FIADD = 0x055,
	GNI_FMA_ATOMIC2_FIADD_SC = 0x274,
	GNI_FMA_ATOMIC2_FIADD_C = 0x075,
	GNI_FMA_ATOMIC2_FFPMIN_S = 0x258,
	GNI_FMA_ATOMIC2_FFPMIN = 0x059,
	GNI_FMA_ATOMIC2_FFPMIN_SC = 0x278,
	GNI_FMA_ATOMIC2_FFPMIN_C = 0x079,
	GNI_FMA_ATOMIC2_FFPMAX_S = 0x25A,
	GNI_FMA_ATOMIC2_FFPMAX = 0x05B,
	GNI_FMA_ATOMIC2_FFPMAX_SC = 0x27A,
	GNI_FMA_ATOMIC2_FFPMAX_C = 0x07B,
	GNI_FMA_ATOMIC2_FFPADD_S = 0x25C,
	GNI_FMA_ATOMIC2_FFPADD = 0x05D,
	GNI_FMA_ATOMIC2_FFPADD_SC = 0x27C,
	GNI_FMA_ATOMIC2_FFPADD_C = 0x07D,
	GNI_FMA_ATOMIC_ADD = 0x108,
	GNI_FMA_ATOMIC_ADD_C = 0x118,
	GNI_FMA_ATOMIC_AND = 0x109,
	GNI_FMA_ATOMIC_AND_C = 0x119,
	GNI_FMA_ATOMIC_OR = 0x10A,
	GNI_FMA_ATOMIC_OR_C = 0x11A,
	GNI_FMA_ATOMIC_XOR = 0x10B,
	GNI_FMA_ATOMIC_XOR_C = 0x11B,
	GNI_FMA_ATOMIC_AX = 0x10C,
	GNI_FMA_ATOMIC_AX_C = 0x11C,
	GNI_FMA_ATOMIC2_AND_S = 0x340,
	GNI_FMA_ATOMIC2_AND = 0x141,
	GNI_FMA_ATOMIC2_AND_SC = 0x360,
	GNI_FMA_ATOMIC2_AND_C = 0x161,
	GNI_FMA_ATOMIC2_OR_S = 0x342,
	GNI_FMA_ATOMIC2_OR = 0x143,
	GNI_FMA_ATOMIC2_OR_SC = 0x362,
	GNI_FMA_ATOMIC2_OR_C = 0x163,
	GNI_FMA_ATOMIC2_XOR_S = 0x344,
	GNI_FMA_ATOMIC2_XOR = 0x145,
	GNI_FMA_ATOMIC2_XOR_SC = 0x364,
	GNI_FMA_ATOMIC2_XOR_C = 0x165,
	GNI_FMA_ATOMIC2_SWAP_S = 0x346,
	GNI_FMA_ATOMIC2_SWAP = 0x147,
	GNI_FMA_ATOMIC2_SWAP_SC = 0x366,
	GNI_FMA_ATOMIC2_SWAP_C = 0x167,
	GNI_FMA_ATOMIC2_AX_S = 0x348,
	GNI_FMA_ATOMIC2_AX = 0x149,
	GNI_FMA_ATOMIC2_AX_SC = 0x368,
	GNI_FMA_ATOMIC2_AX_C = 0x169,
	GNI_FMA_ATOMIC2_CSWAP_S = 0x34A,
	GNI_FMA_ATOMIC2_CSWAP = 0x14B,
	GNI_FMA_ATOMIC2_CSWAP_SC = 0x36A,
	GNI_FMA_ATOMIC2_CSWAP_C = 0x16B,
	GNI_FMA_ATOMIC2_IMIN_S = 0x350,
	GNI_FMA_ATOMIC2_IMIN = 0x151,
	GNI_FMA_ATOMIC2_IMIN_SC = 0x370,
	GNI_FMA_ATOMIC2_IMIN_C = 0x171,
	GNI_FMA_ATOMIC2_IMAX_S = 0x352,
	GNI_FMA_ATOMIC2_IMAX = 0x153,
	GNI_FMA_ATOMIC2_IMAX_SC = 0x372,
	GNI_FMA_ATOMIC2_IMAX_C = 0x173,
	GNI_FMA_ATOMIC2_IADD_S = 0x354,
	GNI_FMA_ATOMIC2_IADD = 0x155,
	GNI_FMA_ATOMIC2_IADD_SC = 0x374,
	GNI_FMA_ATOMIC2_IADD_C = 0x175,
	GNI_FMA_ATOMIC2_FPMIN_S = 0x358,
	GNI_FMA_ATOMIC2_FPMIN = 0x159,
	GNI_FMA_ATOMIC2_FPMIN_SC = 0x378,
	GNI_FMA_ATOMIC2_FPMIN_C = 0x179,
	GNI_FMA_ATOMIC2_FPMAX_S = 0x35A,
	GNI_FMA_ATOMIC2_FPMAX = 0x15B,
	GNI_FMA_ATOMIC2_FPMAX_SC = 0x37A,
	GNI_FMA_ATOMIC2_FPMAX_C = 0x17B,
	GNI_FMA_ATOMIC2_FPADD_S = 0x35C,
	GNI_FMA_ATOMIC2_FPADD = 0x15D,
	GNI_FMA_ATOMIC2_FPADD_SC = 0x37C,
	GNI_FMA_ATOMIC2_FPADD_C = 0x17D
} gni_fma_cmd_type_t;

/* ---- Collectives ---- */

/**
 * enum gni_ce_cmd_type - collective operations; S: 32 bits, LIDX and GIDX: ties give the lowest or the greatest index
 * @GNI_FMA_CE_AND_S: bitwise and, 32 bits
 * @GNI_FMA_CE_AND: bitwise and, 64 bits
 * @GNI_FMA_CE_OR_S: bitwise or, 32 bits
 * @GNI_FMA_CE_OR: bitwise or, 64 bits
 * @GNI_FMA_CE_XOR_S: bitwise exclusive or, 32 bits
 * @GNI_FMA_CE_XOR: bitwise exclusive or, 64 bits
 * @GNI_FMA_CE_IMIN_LIDX_S: signed minimum and its index, of equal ones that of the lowest index,
 *	32 bits
 * @GNI_FMA_CE_IMIN_LIDX: signed minimum and its index, of equal ones that of the lowest index,
 *	64 bits
 * @GNI_FMA_CE_IMAX_LIDX_S: signed maximum and its index, of equal ones that of the lowest index,
 *	32 bits
 * @GNI_FMA_CE_IMAX_LIDX: signed maximum and its index, of equal ones that of the lowest index,
 *	64 bits
 * @GNI_FMA_CE_IADD_S: integer sum, 32 bits
 * @GNI_FMA_CE_IADD: integer sum, 64 bits
 * @GNI_FMA_CE_FPMIN_LIDX_S: floating minimum and its index, of equal ones that of the lowest
 *	index, 32 bits
 * @GNI_FMA_CE_FPMIN_LIDX: floating minimum and its index, of equal ones that of the lowest
 *	index, 64 bits
 * @GNI_FMA_CE_FPMAX_LIDX_S: floating maximum and its index, of equal ones that of the lowest
 *	index, 32 bits
 * @GNI_FMA_CE_FPMAX_LIDX: floating maximum and its index, of equal ones that of the lowest
 *	index, 64 bits
 * @GNI_FMA_CE_FPADD_S: floating sum, 32 bits
 * @GNI_FMA_CE_FPADD: floating sum, 64 bits
 * @GNI_FMA_CE_IMIN_GIDX_S: signed minimum and its index, of equal ones that of the greatest
 *	index, 32 bits
 * @GNI_FMA_CE_IMIN_GIDX: signed minimum and its index, of equal ones that of the greatest index,
 *	64 bits
 * @GNI_FMA_CE_IMAX_GIDX_S: signed maximum and its index, of equal ones that of the greatest
 *	index, 32 bits
 * @GNI_FMA_CE_IMAX_GIDX: signed maximum and its index, of equal ones that of the greatest index,
 *	64 bits
 * @GNI_FMA_CE_FPMIN_GIDX_S: floating minimum and its index, of equal ones that of the greatest
 *	index, 32 bits
 * @GNI_FMA_CE_FPMIN_GIDX: floating minimum and its index, of equal ones that of the greatest
 *	index, 64 bits
 * @GNI_FMA_CE_FPMAX_GIDX_S: floating maximum and its index, of equal ones that of the greatest
 *	index, 32 bits
 * @GNI_FMA_CE_FPMAX_GIDX: floating maximum and its index, of equal ones that of the greatest
 *	index, 64 bits
 */
typedef enum gni_ce_cmd_type {
	GNI_FMA_CE_AND_S = 0x00,
	GNI_FMA_CE_AND = 0x01,
	GNI_FMA_CE_OR_S = 0x02,
	GNI_FMA_CE_OR = 0x03,
	GNI_FMA_CE_XOR_S = 0x04,
	GNI_FMA_CE_XOR = 0x05,
	GNI_FMA_CE_IMIN_LIDX_S = 0x10,
	GNI_FMA_CE_IMIN_LIDX = 0x11,
	GNI_FMA_CE_IMAX_LIDX_S = 0x12,
	GNI_FMA_CE_IMAX_LIDX = 0x13,
	GNI_FMA_CE_IADD_S = 0x14,
	GNI_FMA_CE_IADD = 0x15,
	GNI_FMA_CE_FPMIN_LIDX_S = 0x18,
	GNI_FMA_CE_FPMIN_LIDX = 0x19,
	GNI_FMA_CE_FPMAX_LIDX_S = 0x1A,
	GNI_FMA_CE_FPMAX_LIDX = 0x1B,
	GNI_FMA_CE_FPADD_S = 0x1C,
	GNI_FMA_CE_FPADD = 0x1D,
	GNI_FMA_CE_IMIN_GIDX_S = 0x30,
	GNI_FMA_CE_IMIN_GIDX = 0x31,
	GNI_FMA_CE_IMAX_GIDX_S = 0x32,
	GNI_FMA_CE_IMAX_GIDX = 0x33,
	GNI_FMA_CE_FPMIN_GIDX_S = 0x38,
	GNI_FMA_CE_FPMIN_GIDX = 0x39,
	GNI_FMA_CE_FPMAX_GIDX_S = 0x3A,
	GNI_FMA_CE_FPMAX_GIDX = 0x3B
} gni_ce_cmd_type_t;

/* Accessors of results, see below. */
#define GNI_CE_RES_GET_STATUS gni_ce_res_get_status
#define GNI_CE_RES_STATUS_OK gni_ce_res_status_ok
#define GNI_CE_RES_GET_FPE gni_ce_res_get_fpe
#define GNI_CE_RES_GET_RED_ID gni_ce_res_get_red_id

/* Exceptions in a result. */
#define GNI_CE_FPE_OP_INVAL 0x1  /* invalid operation */
#define GNI_CE_FPE_OFLOW 0x2     /* overflow */
#define GNI_CE_FPE_UFLOW 0x4     /* underflow */
#define GNI_CE_FPE_PRECISION 0x8 /* inexact */

/* Modes of GNI_CeConfigure(). */
#define GNI_CE_MODE_ROUND_UP 0x00000001 /* one of four */
#define GNI_CE_MODE_ROUND_DOWN 0x00000002
#define GNI_CE_MODE_ROUND_NEAR 0x00000004
#define GNI_CE_MODE_ROUND_ZERO 0x00000008
#define GNI_CE_MODE_CQE_ONCOMP 0x00000010   /* entry for each completion; one of two */
#define GNI_CE_MODE_CQE_ONERR 0x00000040    /* entry for errors only */
#define GNI_CE_MODE_RC_NMIN_HASH 0x00000080 /* routing; one of four */
#define GNI_CE_MODE_RC_MIN_HASH 0x00000100
#define GNI_CE_MODE_RC_MNON_HASH 0x00000200 /* in order */
#define GNI_CE_MODE_RC_ADAPT 0x00000400

/* Modes of a post (ce_mode). */
#define GNI_CEMODE_TWO_OP 0x01       /* second operand is given too */
#define GNI_CEMODE_FPE_OP_INVAL 0x02 /* exceptions that the operand has suffered already */
#define GNI_CEMODE_FPE_OFLOW 0x04
#define GNI_CEMODE_FPE_UFLOW 0x08
#define GNI_CEMODE_FPE_PRECISION 0x10

/* Kinds of neighbours in a tree */
typedef enum {
	GNI_CE_CHILD_UNUSED = 0,
	GNI_CE_CHILD_VCE = 1, /* another channel */
	GNI_CE_CHILD_PE = 2   /* a process: leaf */
} gni_ce_child_t;

#define GNI_CE_MAX_CHILDREN 32

/* ---- Errors ---- */

typedef uint8_t gni_error_mask_t; /* GNI_ERRMASK_* categories */

#define GNI_ERRMASK_CORRECTABLE_MEMORY 0x01
#define GNI_ERRMASK_CRITICAL 0x02
#define GNI_ERRMASK_TRANSACTION 0x04
#define GNI_ERRMASK_ADDRESS_TRANSLATION 0x08
#define GNI_ERRMASK_TRANSIENT 0x10
#define GNI_ERRMASK_INFORMATIONAL 0x20
#define GNI_ERRMASK_DIAG_ONLY 0x40
#define GNI_ERRMASK_UNKNOWN_TRANSACTION 0x80 /* belongs to no known transfer */

/* ---- Devices, jobs, counters ---- */

/**
 * enum gni_nic_device - kinds of NICs
 * @GNI_DEVICE_GEMINI: Gemini
 * @GNI_DEVICE_ARIES: Aries
 * @GNI_DEVICE_PISCES: Pisces
 * @GNI_DEVICE_LAST: number of kinds
 */
typedef enum gni_nic_device {
	GNI_DEVICE_GEMINI = 0,
	GNI_DEVICE_ARIES = 1,
	GNI_DEVICE_PISCES = 2,
	GNI_DEVICE_LAST = 3
} gni_nic_device_t;

/**
 * enum gni_dev_res - resources of a NIC
 * @GNI_DEV_RES_FIRST: before the first
 * @GNI_DEV_RES_MDD: memory descriptors
 * @GNI_DEV_RES_MRT: relocation table entries (Gemini)
 * @GNI_DEV_RES_CQ: completion queues
 * @GNI_DEV_RES_FMA: FMA descriptors
 * @GNI_DEV_RES_CE: collective channels
 * @GNI_DEV_RES_DLA: DLA entries
 * @GNI_DEV_RES_LAST: behind the last
 */
typedef enum gni_dev_res {
	GNI_DEV_RES_FIRST = 0,
	GNI_DEV_RES_MDD = 1,
	GNI_DEV_RES_MRT = 2,
	GNI_DEV_RES_CQ = 3,
	GNI_DEV_RES_FMA = 4,
	GNI_DEV_RES_CE = 5,
	GNI_DEV_RES_DLA = 6,
	GNI_DEV_RES_LAST = 7
} gni_dev_res_t;

/**
 * enum gni_job_res - resources of a domain
 * @GNI_JOB_RES_FIRST: before the first
 * @GNI_JOB_RES_MDD: memory descriptors
 * @GNI_JOB_RES_MRT: relocation table entries (Gemini)
 * @GNI_JOB_RES_IOMMU: translated address space
 * @GNI_JOB_RES_GART: GART entries (Gemini)
 * @GNI_JOB_RES_CQ: completion queues
 * @GNI_JOB_RES_FMA: FMA descriptors
 * @GNI_JOB_RES_RMDA: block transfers; spelled so
 * @GNI_JOB_RES_CE: collective channels
 * @GNI_JOB_RES_DLA: DLA entries
 * @GNI_JOB_RES_SFMA: users of shared FMA descriptors
 * @GNI_JOB_RES_LAST: behind the last
 */
typedef enum gni_job_res {
	GNI_JOB_RES_FIRST = 0,
	GNI_JOB_RES_MDD = 1,
	GNI_JOB_RES_MRT = 2,
	GNI_JOB_RES_IOMMU = 3,
	GNI_JOB_RES_GART = 4,
	GNI_JOB_RES_CQ = 5,
	GNI_JOB_RES_FMA = 6,
	GNI_JOB_RES_RMDA = 7,
	GNI_JOB_RES_CE = 8,
	GNI_JOB_RES_DLA = 9,
	GNI_JOB_RES_SFMA = 10,
	GNI_JOB_RES_LAST = 11
} gni_job_res_t;

/* Limits of a job. */
#define GNI_JOB_INVALID_LIMIT (-1) /* leave the limit as it is */
#define GNI_JOB_CTRL_NTT_CLEANUP 1 /* free the NTT entries with the job */
#define GNI_JOB_CTRL_CE0_MASK 1
#define GNI_JOB_CTRL_CE1_MASK 2
#define GNI_JOB_CTRL_CE2_MASK 4
#define GNI_JOB_CTRL_CE3_MASK 8
#define GNI_JOB_CTRL_ALL_CE_MASK 0xF

/**
 * enum gni_statistic - counters of a NIC handle; the index of gni_statistic_str[]
 * @GNI_STAT_SMSG_BUFF_CREDITS_STALL: sends refused for lack of room in the peer's mailbox
 * @GNI_STAT_SMSG_DLA_STALL: sends refused for lack of DLA credits; stays 0
 * @GNI_STAT_SMSG_MBOX_CREDITS_STALL: sends refused for lack of message credits
 * @GNI_STAT_SMSG_REQ_STALL: sends refused for lack of transfer requests
 * @GNI_STAT_SMSG_RETRANS_COUNT: messages sent again
 * @GNI_STAT_SMSG_RETRANS_DLA_COUNT: messages sent again as the DLA was full; stays 0
 * @GNI_STAT_SMSG_RETRANS_STALL: repetitions that had to wait
 * @GNI_STAT_DLA_ALLOC_STATUS_STALL: waits for the status of a DLA allocation; stays 0, as all
 *	DLA counters
 * @GNI_STAT_DLA_ALLOC_STATUS_TIMEOUT: such waits given up
 * @GNI_STAT_DLA_BLOCK_ORPHANED: blocks that nobody owns
 * @GNI_STAT_DLA_BLOCK_RETRANS_COUNT: blocks sent again
 * @GNI_STAT_DLA_FREE_BLOCKS_STALL: waits for free blocks
 * @GNI_STAT_DLA_FREE_FMAD_BLOCKS_STALL: waits for free blocks of the FMA descriptor
 * @GNI_STAT_DLA_HIGH_RETRANS_COUNT: repetitions of high priority
 * @GNI_STAT_DLA_OVERFLOW_RESEND: repetitions after an overflow
 * @GNI_STAT_DLA_RETRANS_COUNT: repetitions
 * @GNI_STAT_DLA_TOTAL_RETRANS_COUNT: all repetitions
 * @GNI_STAT_FLBTE_TXD_CORRUPT: corrupt descriptors of fast-launch block transfers; stays 0
 * @GNI_STAT_FLBTE_TXD_NONE: times that no such descriptor was free; stays 0
 * @GNI_NUM_STATS: number of counters
 */
typedef enum gni_statistic {
	GNI_STAT_SMSG_BUFF_CREDITS_STALL = 0,
	GNI_STAT_SMSG_DLA_STALL = 1,
	GNI_STAT_SMSG_MBOX_CREDITS_STALL = 2,
	GNI_STAT_SMSG_REQ_STALL = 3,
	GNI_STAT_SMSG_RETRANS_COUNT = 4,
	GNI_STAT_SMSG_RETRANS_DLA_COUNT = 5,
	GNI_STAT_SMSG_RETRANS_STALL = 6,
#ifdef CRAY_CONFIG_GHAL_ARIES
	GNI_STAT_DLA_ALLOC_STATUS_STALL = 7,
	GNI_STAT_DLA_ALLOC_STATUS_TIMEOUT = 8,
	GNI_STAT_DLA_BLOCK_ORPHANED = 9,
	GNI_STAT_DLA_BLOCK_RETRANS_COUNT = 10,
	GNI_STAT_DLA_FREE_BLOCKS_STALL = 11,
	GNI_STAT_DLA_FREE_FMAD_BLOCKS_STALL = 12,
	GNI_STAT_DLA_HIGH_RETRANS_COUNT = 13,
	GNI_STAT_DLA_OVERFLOW_RESEND = 14,
	GNI_STAT_DLA_RETRANS_COUNT = 15,
	GNI_STAT_DLA_TOTAL_RETRANS_COUNT = 16,
	GNI_STAT_FLBTE_TXD_CORRUPT = 17,
	GNI_STAT_FLBTE_TXD_NONE = 18,
#endif
	GNI_NUM_STATS
} gni_statistic_t;

/* ---- Handles ---- */

typedef struct gni_nic *gni_nic_handle_t;       /* attached NIC */
typedef struct gni_cdm *gni_cdm_handle_t;       /* communication domain */
typedef struct gni_ep *gni_ep_handle_t;         /* endpoint */
typedef struct gni_cq *gni_cq_handle_t;         /* completion queue */
typedef struct gni_err *gni_err_handle_t;       /* error subscription */
typedef struct gni_msgq *gni_msgq_handle_t;     /* message queue */
typedef struct gni_ce *gni_ce_handle_t;         /* collective channel */
typedef struct gni_dqueue *gni_dqueue_handle_t; /* distributed queue */

/* Attributes of a distributed queue: nobody outside shows their members. */
typedef struct gni_dqueue_in_attr gni_dqueue_in_attr_t;
typedef struct gni_dqueue_out_attr gni_dqueue_out_attr_t;

/* ---- Structures ---- */

/**
 * struct gni_mem_segment - one piece of a registration
 * @address: start; physical with GNI_MEM_PHYS_SEGMENTS
 * @length: bytes, not 0; not looked at with GNI_MEM_PHYS_SEGMENTS
 */
typedef struct gni_mem_segment {
	uint64_t address;
	uint64_t length;
} gni_mem_segment_t;

/**
 * struct gni_ce_result - where a collective puts its outcome
 * @control: status, exceptions, reduction id: see gni_ce_res_*()
 * @result1: first result
 * @result2: second result, for instance the index of a minimum
 */
typedef struct gni_ce_result {
	uint64_t control;
	uint64_t result1;
	uint64_t result2;
} gni_ce_result_t;

/**
 * struct gni_post_descriptor - one transfer
 *
 * The library owns it from the post until GNI_GetCompleted() returns it.
 *
 * @next_descr: next one; of a chained post the caller fills it, else the library
 * @prev_descr: previous one; library
 * @post_id: caller's own
 * @status: out: gni_return_t of the finished transfer
 * @cq_mode_complete: out: GNI_CQMODE_* events seen so far
 * @type: kind of post
 * @cq_mode: GNI_CQMODE_* events wanted
 * @dlvr_mode: GNI_DLVMODE_*
 * @local_addr: source of a put, target of a get or of a fetched value
 * @local_mem_hndl: registration of @local_addr; not needed for FMA puts
 * @remote_addr: target of a put or atomic, source of a get
 * @remote_mem_hndl: registration of @remote_addr; selects the queue of a CQ write
 * @length: bytes
 * @rdma_mode: block transfers: GNI_RDMAMODE_*
 * @src_cq_hndl: block transfers: queue for events, NULL for the endpoint's
 * @sync_flag_value: value stored after the data
 * @sync_flag_addr: where
 * @amo_cmd: atomic operation
 * @first_operand: a of an atomic (comparand of a compare and swap); contribution to a collective
 * @second_operand: b of an atomic (value to store); second contribution
 * @cqwrite_value: payload of a CQ write, low 48 bits
 * @ce_cmd: collective operation
 * @ce_mode: GNI_CEMODE_*
 * @ce_red_id: reduction id, the same everywhere in the tree
 */
typedef struct gni_post_descriptor {
	void *next_descr;
	void *prev_descr;
	uint64_t post_id;
	uint64_t status;
	uint16_t cq_mode_complete;
	gni_post_type_t type;
	uint16_t cq_mode;
	uint16_t dlvr_mode;
	uint64_t local_addr;
	gni_mem_handle_t local_mem_hndl;
	uint64_t remote_addr;
	gni_mem_handle_t remote_mem_hndl;
	uint64_t length;
	uint16_t rdma_mode;
	gni_cq_handle_t src_cq_hndl;
	uint64_t sync_flag_value;
	uint64_t sync_flag_addr;
	gni_fma_cmd_type_t amo_cmd;
	uint64_t first_operand;
	uint64_t second_operand;
	uint64_t cqwrite_value;
	gni_ce_cmd_type_t ce_cmd;
	uint32_t ce_mode;
	uint64_t ce_red_id;
} gni_post_descriptor_t;

/**
 * struct gni_ct_put_post_descriptor - put in a chain, behind a gni_post_descriptor_t
 * @next_descr: next descriptor of the chain, NULL at its end
 * @ep_hndl: endpoint of this piece
 * @length: bytes
 * @local_addr: source
 * @local_mem_hndl: not needed
 * @remote_addr: target
 * @remote_mem_hndl: registration of @remote_addr
 */
typedef struct gni_ct_put_post_descriptor {
	void *next_descr;
	gni_ep_handle_t ep_hndl;
	uint64_t length;
	uint64_t local_addr;
	gni_mem_handle_t local_mem_hndl;
	uint64_t remote_addr;
	gni_mem_handle_t remote_mem_hndl;
} gni_ct_put_post_descriptor_t;

/**
 * struct gni_ct_get_post_descriptor - get in a chain, behind a gni_post_descriptor_t
 * @next_descr: next descriptor of the chain, NULL at its end
 * @ep_hndl: endpoint of this piece
 * @length: bytes
 * @local_addr: target
 * @local_mem_hndl: registration of @local_addr
 * @remote_addr: source
 * @remote_mem_hndl: registration of @remote_addr
 */
typedef struct gni_ct_get_post_descriptor {
	void *next_descr;
	gni_ep_handle_t ep_hndl;
	uint64_t length;
	uint64_t local_addr;
	gni_mem_handle_t local_mem_hndl;
	uint64_t remote_addr;
	gni_mem_handle_t remote_mem_hndl;
} gni_ct_get_post_descriptor_t;

/**
 * struct gni_ct_cqw_post_descriptor - CQ write in a chain, behind a gni_post_descriptor_t
 * @next_descr: next descriptor of the chain, NULL at its end
 * @ep_hndl: endpoint of this piece
 * @remote_mem_hndl: selects the queue
 * @cqwrite_value: payload, low 48 bits
 */
typedef struct gni_ct_cqw_post_descriptor {
	void *next_descr;
	gni_ep_handle_t ep_hndl;
	gni_mem_handle_t remote_mem_hndl;
	uint64_t cqwrite_value;
} gni_ct_cqw_post_descriptor_t;

/**
 * struct gni_ntt_entry - entry of the second form of the node translation table
 * @blck_addr: block address
 * @rplc_addr: replacement address
 * @rplc_size: replacement size
 */
typedef struct gni_ntt_entry {
	uint32_t blck_addr;
	uint32_t rplc_addr;
	uint8_t rplc_size;
} gni_ntt_entry_t;

/**
 * struct gni_ntt_descriptor - change of the node translation table
 * @group_size: entries
 * @granularity: granularity
 * @u: new values, NULL to clear: table holds addresses, table_v2 entries
 * @flags: not used
 */
typedef struct gni_ntt_descriptor {
	uint32_t group_size;
	uint8_t granularity;
	union {
		uint32_t *table;
		gni_ntt_entry_t *table_v2;
	} u;
	uint8_t flags;
} gni_ntt_descriptor_t;

/**
 * struct gni_error_event - one error event
 * @error_code: code
 * @error_category: GNI_ERRMASK_* bit
 * @ptag: tag concerned
 * @serial_number: running number
 * @timestamp: nanoseconds
 * @info_mmrs: registers
 */
typedef struct gni_error_event {
	uint16_t error_code;
	uint8_t error_category;
	uint8_t ptag;
	uint32_t serial_number;
	uint64_t timestamp;
	uint64_t info_mmrs[4];
} gni_error_event_t;

/**
 * struct gni_job_limits - limits of a job, GNI_JOB_INVALID_LIMIT leaves one as it is
 * @mdd_limit: memory descriptors
 * @a: Gemini: relocation table entries; Aries: collective channels and translated space, 2^iommu_limit MiB
 * @b: Gemini: GART entries; Aries: DLA entries
 * @fma_limit: FMA descriptors
 * @bte_limit: block transfers outstanding
 * @cq_limit: completion queues
 * @ntt_ctrl: GNI_JOB_CTRL_* bits
 * @ntt_base: first entry of the node translation table
 * @ntt_size: entries
 */
typedef struct gni_job_limits {
	int32_t mdd_limit;
	union {
		int32_t mrt_limit;
		struct {
			uint8_t ce_limit;
			uint8_t iommu_limit;
			uint8_t res_byte2;
			uint8_t res_byte3;
		} m;
	} a;
	union {
		int32_t gart_limit;
		int32_t dla_limit;
	} b;
	int32_t fma_limit;
	int32_t bte_limit;
	int32_t cq_limit;
	int32_t ntt_ctrl;
	int32_t ntt_base;
	int32_t ntt_size;
} gni_job_limits_t;

/**
 * struct gni_dev_res_desc - state of a resource of the NIC
 * @available: free
 * @reserved: set aside
 * @held: kept back after release
 * @total: all
 */
typedef struct gni_dev_res_desc {
	uint64_t available;
	uint64_t reserved;
	uint64_t held;
	uint64_t total;
} gni_dev_res_desc_t;

/**
 * struct gni_job_res_desc - state of a resource of a domain
 * @used: in use
 * @limit: allowed
 */
typedef struct gni_job_res_desc {
	uint64_t used;
	uint64_t limit;
} gni_job_res_desc_t;

#ifdef __KERNEL__

#define GNI_ERRNO_FUNC_STR_LEN 100

/**
 * struct gni_errno - first call that failed on a CPU
 * @valid: the record holds something
 * @func: function
 * @lineno: line
 * @errno: error number
 * @data1: detail
 * @data2: detail
 * @data3: detail
 * @data4: detail
 */
typedef struct gni_errno {
	uint8_t valid;
	char func[GNI_ERRNO_FUNC_STR_LEN];
	int lineno;
	int errno;
	uint64_t data1;
	uint64_t data2;
	uint64_t data3;
	uint64_t data4;
} gni_errno_t;

/* Called in interrupt context with the device number and the usr_event_data of gni_cq_create(). */
typedef void gni_cq_event_hndlr_f(uint32_t device_id, uint64_t data);

#else /* !__KERNEL__ */

#define GNI_MSGQ_MSG_SZ_MAX 128 /* header and data */
#define GNI_MSGQ_NODE_INSTS_MAX 48
#define GNI_MSGQ_MODE_BLOCKING 1 /* progress may wait */

/**
 * struct gni_msgq_attr - set-up of a message queue, equal in all instances of a node
 * @max_msg_sz: bytes of the largest message
 * @smsg_q_sz: messages for a connection
 * @rcv_pool_sz: receive pool
 * @num_msgq_eps: remote nodes
 * @nloc_insts: instances on this node
 * @modes: GNI_MSGQ_MODE_*
 * @rcv_cq_sz: entries of the receive queue
 */
typedef struct gni_msgq_attr {
	uint32_t max_msg_sz;
	uint32_t smsg_q_sz;
	uint32_t rcv_pool_sz;
	uint32_t num_msgq_eps;
	uint32_t nloc_insts;
	uint8_t modes;
	uint32_t rcv_cq_sz;
} gni_msgq_attr_t;

/**
 * struct gni_msgq_rem_inst - one remote instance of a connection
 * @id: instance id
 * @mdh: its shared memory
 * @mdh_off: mailbox in that
 */
typedef struct gni_msgq_rem_inst {
	uint32_t id;
	gni_mem_handle_t mdh;
	uint64_t mdh_off;
} gni_msgq_rem_inst_t;

/**
 * struct gni_msgq_ep_attr - what nodes tell each other to connect
 * @pe_addr: network address of the sender
 * @max_msg_sz: bytes of the largest message
 * @smsg_q_sz: messages for a connection
 * @num_insts: elements in use
 * @insts: instances
 */
typedef struct gni_msgq_ep_attr {
	uint32_t pe_addr;
	uint32_t max_msg_sz;
	uint32_t smsg_q_sz;
	uint32_t num_insts;
	gni_msgq_rem_inst_t insts[GNI_MSGQ_NODE_INSTS_MAX];
} gni_msgq_ep_attr_t;

/*
 * Receive callback: instance and network address of the sender, message (good
 * during the call), tag, user pointer. Returns 0 to stop GNI_MsgqProgress().
 */
typedef int gni_msgq_rcv_cb_func(uint32_t snd_id, uint32_t snd_pe, void *msg, uint8_t msg_tag, void *cb_data);

#define MAX_BUILD_STRING_LENGTH 80

/**
 * struct gni_version_info - versions
 * @ugni_version: library, packed
 * @ugni_svn_revision: library, source revision
 * @ugni_build_string: library, text
 * @kgni_version: driver, packed
 * @kgni_svn_revision: driver, source revision
 * @kgni_build_string: driver, text
 */
typedef struct gni_version_info {
	uint32_t ugni_version;
	uint32_t ugni_svn_revision;
	char ugni_build_string[MAX_BUILD_STRING_LENGTH];
	uint32_t kgni_version;
	uint32_t kgni_svn_revision;
	char kgni_build_string[MAX_BUILD_STRING_LENGTH];
} gni_version_info_t;

/* Injection bandwidth. */
#define GNI_BI_FLAG_APPLY_NOW 0x1
#define GNI_BI_FLAG_APPLY_AFTER_THROTTLE 0x2
#define GNI_BI_FLAG_USE_DEFAULT_SETTINGS 0x4
#define GNI_BI_FLAG_VALUE_IS_NUM_ORB_ENTRIES 0x8 /* values are ORB entries, not percent */
#define GNI_BI_INJECT_BW_MIN 0                   /* percent */
#define GNI_BI_INJECT_BW_MAX 100
#define GNI_BI_INJECT_BW_ORB_MIN 0 /* ORB entries */
#define GNI_BI_INJECT_BW_ORB_MAX 992

/**
 * struct gni_bi_desc - injection bandwidth of the node
 * @current_bw: in force
 * @current_aot_bw: in force while throttled
 * @current_norbs: ORB entries in force
 * @flags: GNI_BI_FLAG_*
 * @sys_def_bw: default of the system
 * @sys_def_aot_bw: default of the system while throttled
 * @cle_seqnum: changes seen by the node
 * @hss_seqnum: changes seen by the supervisor
 */
typedef struct gni_bi_desc {
	uint16_t current_bw;
	uint16_t current_aot_bw;
	uint16_t current_norbs;
	uint16_t flags;
	uint16_t sys_def_bw;
	uint16_t sys_def_aot_bw;
	uint16_t cle_seqnum;
	uint16_t hss_seqnum;
} gni_bi_desc_t;

#endif /* __KERNEL__ */

/* ---- Names ---- */

extern const char *gni_statistic_str[]; /* names of the counters, by gni_statistic_t */
#ifndef __KERNEL__
extern const char *gni_err_str[]; /* names of the return codes, by gni_return_t */
#endif

/* ---- Accessors of completion queue entries and collective results; no call touches a queue ---- */

#ifndef GNI_INLINE_CQ_FUNCTIONS

/**
 * gni_cq_get_data() - software data of an entry
 * @entry: entry, as read from a queue
 *
 * Event data of a post or message event; the 48-bit payload of an entry made by GNI_PostCqWrite().
 *
 * Context: Any.
 *
 * Return: event data, or the 48-bit payload of an entry made by GNI_PostCqWrite().
 */
uint64_t gni_cq_get_data(gni_cq_entry_t entry);

/**
 * gni_cq_get_source() - unit that made the entry
 * @entry: entry, as read from a queue
 *
 * Never 0 in an entry that came from a queue.
 *
 * Context: Any.
 *
 * Return: number of the unit, never 0 in an entry from a queue.
 */
uint64_t gni_cq_get_source(gni_cq_entry_t entry);

/**
 * gni_cq_get_status() - completion status
 * @entry: entry, as read from a queue
 *
 * 0 is success. GNI_CqErrorStr() puts the others into words.
 *
 * Context: Any.
 *
 * Return: 0 for success.
 */
uint64_t gni_cq_get_status(gni_cq_entry_t entry);

/**
 * gni_cq_get_info() - kind of event within its source
 * @entry: entry, as read from a queue
 *
 * Local, global or remote event of a post.
 *
 * Context: Any.
 *
 * Return: bits that tell a local, a global and a remote event.
 */
uint64_t gni_cq_get_info(gni_cq_entry_t entry);

/**
 * gni_cq_overrun() - did this queue lose events
 * @entry: entry, as read from a queue
 *
 * Non-zero exactly when bit 63 is set.
 *
 * Context: Any.
 *
 * Return: not 0 when events were lost.
 */
uint64_t gni_cq_overrun(gni_cq_entry_t entry);

/**
 * gni_cq_rem_overrun() - did the queue at the other side lose events
 * @entry: entry, as read from a queue
 *
 * Context: Any.
 *
 * Return: not 0 when events were lost there.
 */
uint64_t gni_cq_rem_overrun(gni_cq_entry_t entry);

/**
 * gni_cq_get_inst_id() - event data, as instance id
 * @entry: entry, as read from a queue
 *
 * 24 significant bits on Aries, 32 on Gemini.
 *
 * Context: Any.
 *
 * Return: 24 bits on Aries, 32 on Gemini.
 */
uint64_t gni_cq_get_inst_id(gni_cq_entry_t entry);

/**
 * gni_cq_get_rem_inst_id() - event data of a remote event, 32 bits
 * @entry: entry, as read from a queue
 *
 * For entries read at the receiving side.
 *
 * Context: Any.
 *
 * Return: 32 bits.
 */
uint64_t gni_cq_get_rem_inst_id(gni_cq_entry_t entry);

/**
 * gni_cq_get_tid() - transaction id
 * @entry: entry, as read from a queue
 *
 * Opaque: GNI_GetCompleted() finds the descriptor by it.
 *
 * Context: Any.
 *
 * Return: the id.
 */
uint64_t gni_cq_get_tid(gni_cq_entry_t entry);

/**
 * gni_cq_get_msg_id() - message id given to the send call
 * @entry: entry, as read from a queue
 *
 * All 32 bits come back.
 *
 * Context: Any.
 *
 * Return: 32 bits.
 */
uint64_t gni_cq_get_msg_id(gni_cq_entry_t entry);

/**
 * gni_cq_get_type() - GNI_CQ_EVENT_TYPE_*
 * @entry: entry, as read from a queue
 *
 * Context: Any.
 *
 * Return: GNI_CQ_EVENT_TYPE_*.
 */
uint64_t gni_cq_get_type(gni_cq_entry_t entry);

/**
 * gni_cq_get_block_id() - DLA block of a DLA event
 * @entry: entry, as read from a queue
 *
 * Context: Any.
 *
 * Return: the block.
 */
uint64_t gni_cq_get_block_id(gni_cq_entry_t entry);

/**
 * gni_cq_get_unsuccessful_cnt() - unsuccessful operations of a DLA event
 * @entry: entry, as read from a queue
 *
 * Context: Any.
 *
 * Return: how many.
 */
uint64_t gni_cq_get_unsuccessful_cnt(gni_cq_entry_t entry);

/**
 * gni_cq_get_marker_id() - marker of a DLA event
 * @entry: entry, as read from a queue
 *
 * Context: Any.
 *
 * Return: the marker.
 */
uint64_t gni_cq_get_marker_id(gni_cq_entry_t entry);

/**
 * gni_cq_get_failed_enqueue_cnt() - fast-launch block transfers that were not taken
 * @entry: entry, as read from a queue
 *
 * Context: Any.
 *
 * Return: how many.
 */
uint64_t gni_cq_get_failed_enqueue_cnt(gni_cq_entry_t entry);

/**
 * gni_cq_get_ce_id() - channel of a collective event
 * @entry: entry, as read from a queue
 *
 * Context: Any.
 *
 * Return: id of the channel.
 */
uint64_t gni_cq_get_ce_id(gni_cq_entry_t entry);

/**
 * gni_cq_get_reductn_id() - reduction id of a collective event
 * @entry: entry, as read from a queue
 *
 * Context: Any.
 *
 * Return: the reduction id.
 */
uint64_t gni_cq_get_reductn_id(gni_cq_entry_t entry);

/**
 * gni_cq_get_trans_type() - transaction type field
 * @entry: entry, as read from a queue
 *
 * Context: Any.
 *
 * Return: the field.
 */
uint64_t gni_cq_get_trans_type(gni_cq_entry_t entry);

/**
 * gni_cq_set_inst_id() - replace the event data
 * @entry: in, out: entry to change
 * @value: new data, 24 bits
 *
 * Cut to 24 bits on Aries. Like all modifiers it changes the caller's copy and no queue.
 *
 * Context: Any.
 */
void gni_cq_set_inst_id(gni_cq_entry_t *entry, uint64_t value);

/**
 * gni_cq_set_rem_inst_id() - replace the 32-bit remote instance id
 * @entry: in, out: entry to change
 * @value: new id, 32 bits
 *
 * Context: Any.
 */
void gni_cq_set_rem_inst_id(gni_cq_entry_t *entry, uint64_t value);

/**
 * gni_cq_set_tid() - replace the transaction id
 * @entry: in, out: entry to change
 * @value: new id
 *
 * Context: Any.
 */
void gni_cq_set_tid(gni_cq_entry_t *entry, uint64_t value);

/**
 * gni_cq_set_msg_id() - replace the message id
 * @entry: in, out: entry to change
 * @value: new id, 32 bits
 *
 * Context: Any.
 */
void gni_cq_set_msg_id(gni_cq_entry_t *entry, uint64_t value);

/**
 * gni_cq_set_type() - replace the event type
 * @entry: in, out: entry to change
 * @value: GNI_CQ_EVENT_TYPE_*
 *
 * Context: Any.
 */
void gni_cq_set_type(gni_cq_entry_t *entry, uint64_t value);

/**
 * gni_cq_clr_status() - set the status to success
 * @entry: in, out: entry to change
 *
 * Context: Any.
 */
void gni_cq_clr_status(gni_cq_entry_t *entry);

/**
 * gni_cq_status_dla_overflow() - did the DLA overflow
 * @entry: entry, as read from a queue
 *
 * Such transfers are sent again by the library.
 *
 * Context: Any.
 *
 * Return: 1 or 0.
 */
unsigned gni_cq_status_dla_overflow(gni_cq_entry_t entry);

/**
 * gni_cq_bte_enq_status() - is this a report on fast-launch enqueues
 * @entry: entry, as read from a queue
 *
 * Context: Any.
 *
 * Return: 1 or 0.
 */
unsigned gni_cq_bte_enq_status(gni_cq_entry_t entry);

#endif /* GNI_INLINE_CQ_FUNCTIONS */

/**
 * gni_ce_res_get_status() - status of a collective result
 * @result: where a collective has put its outcome
 *
 * Context: Any.
 *
 * Return: 0 for success.
 */
uint64_t gni_ce_res_get_status(gni_ce_result_t *result);

/**
 * gni_ce_res_status_ok() - was the collective result delivered
 * @result: where a collective has put its outcome
 *
 * Zero: the network failed and there is no result. A floating-point exception may be recorded in a
 * delivered one.
 *
 * Context: Any.
 *
 * Return: not 0 when there is a result.
 */
uint64_t gni_ce_res_status_ok(gni_ce_result_t *result);

/**
 * gni_ce_res_get_fpe() - GNI_CE_FPE_* bits of a collective result
 * @result: where a collective has put its outcome
 *
 * Context: Any.
 *
 * Return: GNI_CE_FPE_* bits.
 */
uint64_t gni_ce_res_get_fpe(gni_ce_result_t *result);

/**
 * gni_ce_res_get_red_id() - reduction id of a collective result
 * @result: where a collective has put its outcome
 *
 * Context: Any.
 *
 * Return: the reduction id.
 */
uint64_t gni_ce_res_get_red_id(gni_ce_result_t *result);

#ifndef __KERNEL__

/* ---- User functions ---- */

/**
 * GNI_CdmCreate() - create a communication domain object
 * @inst_id: 32-bit id of this instance, unique in the domain on this node; peers name it so
 * @ptag: protection tag, GNI_FIND_ALLOC_PTAG to have it found by the cookie
 * @cookie: 32-bit name of the protection domain, the same on all nodes
 * @modes: GNI_CDM_MODE_* bits, 0 for the defaults
 * @cdm_hndl: out: domain
 *
 * Names the instance inside the protection domain that @ptag and @cookie stand for. No device is
 * touched: GNI_CdmAttach() does that. GNI_FIND_ALLOC_PTAG is the tag to pass on Aries.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - @cdm_hndl is NULL, @ptag is 0, or @modes has bits that are unknown or
 *   exclude each other
 * * %GNI_RC_ERROR_NOMEM - no memory
 */
gni_return_t GNI_CdmCreate(uint32_t inst_id, uint8_t ptag, uint32_t cookie, uint32_t modes, gni_cdm_handle_t *cdm_hndl);

/**
 * GNI_CdmDestroy() - destroy a domain and its attachments
 * @cdm_hndl: domain
 *
 * NIC handles made through it are invalid afterwards. Destroy endpoints, registrations and queues
 * first.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle
 */
gni_return_t GNI_CdmDestroy(gni_cdm_handle_t cdm_hndl);

/**
 * GNI_CdmGetNicAddress() - network address of a local device
 * @device_id: N of /dev/kgniN
 * @address: out: network address
 * @cpu_id: out: lowest-numbered CPU near the device
 *
 * Needs no domain.
 *
 * Context: Any thread.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_NO_MATCH - there is no such device
 */
gni_return_t GNI_CdmGetNicAddress(uint32_t device_id, uint32_t *address, uint32_t *cpu_id);

/**
 * GNI_CdmAttach() - attach a domain to a NIC
 * @cdm_hndl: domain
 * @device_id: N of /dev/kgniN, all ones for the nearest one not attached
 * @local_addr: out: network address of the NIC
 * @nic_hndl: out: NIC handle
 *
 * A domain attaches a given NIC once; several domains may share one.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or a value that cannot be
 * * %GNI_RC_NO_MATCH - there is no such device
 * * %GNI_RC_ERROR_RESOURCE - the NIC has no descriptor, tag or other resource left, or a limit of
 *   the job is reached
 * * %GNI_RC_ERROR_NOMEM - no memory
 * * %GNI_RC_PERMISSION_ERROR - tag and cookie do not belong together, or the domain does not exist
 *   and the caller may not create it
 * * %GNI_RC_INVALID_STATE - the domain is attached to that NIC already; with all ones: to every NIC
 * * %GNI_RC_NOT_DONE - interrupted by a signal; try again
 */
gni_return_t GNI_CdmAttach(gni_cdm_handle_t cdm_hndl, uint32_t device_id, uint32_t *local_addr,
			   gni_nic_handle_t *nic_hndl);

/**
 * GNI_CdmCheckpoint() - prepare a domain for a checkpoint
 * @cdm_handle: domain
 *
 * After it, and after a restart, the library makes no system call for this domain; GNI_CqDestroy()
 * and GNI_CdmDestroy() free what is left.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle
 */
gni_return_t GNI_CdmCheckpoint(gni_cdm_handle_t cdm_handle);

/**
 * GNI_CdmResume() - take GNI_CdmCheckpoint() back
 * @cdm_handle: domain
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle
 */
gni_return_t GNI_CdmResume(gni_cdm_handle_t cdm_handle);

/**
 * GNI_SuspendJob() - announce that a job will be suspended
 * @device_id: N of /dev/kgniN
 * @job_id: number of the job, 64 bits, the launcher's own
 * @ptag: protection tag, GNI_FIND_ALLOC_PTAG to have it found by the cookie
 * @cookie: 32-bit name of the protection domain, the same on all nodes
 * @timeout: milliseconds, all ones for no limit
 *
 * Context: Any thread. Sleeps for up to @timeout. Needs CAP_SYS_ADMIN.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a value that cannot be
 * * %GNI_RC_TIMEOUT - @timeout is over, and the job is not suspended
 * * %GNI_RC_PERMISSION_ERROR - the caller is not privileged
 * * %GNI_RC_NOT_DONE - not now; try again
 * * %GNI_RC_INVALID_STATE - a suspension is pending
 * * %GNI_RC_ERROR_RESOURCE - the job cannot be suspended
 */
gni_return_t GNI_SuspendJob(uint32_t device_id, uint64_t job_id, uint8_t ptag, uint32_t cookie, uint32_t timeout);

/**
 * GNI_ResumeJob() - announce that a suspended job goes on
 * @device_id: N of /dev/kgniN
 * @job_id: number of the job, 64 bits, the launcher's own
 * @ptag: protection tag, GNI_FIND_ALLOC_PTAG to have it found by the cookie
 * @cookie: 32-bit name of the protection domain, the same on all nodes
 *
 * Context: Any thread. Needs CAP_SYS_ADMIN.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a value that cannot be
 * * %GNI_RC_PERMISSION_ERROR - the caller is not privileged
 * * %GNI_RC_INVALID_STATE - the job was not suspended
 */
gni_return_t GNI_ResumeJob(uint32_t device_id, uint64_t job_id, uint8_t ptag, uint32_t cookie);

/**
 * GNI_ConfigureNTT() - write entries of the node translation table
 * @device_id: N of /dev/kgniN
 * @ntt_desc: entries
 * @ntt_base: in, out: first entry
 *
 * The driver chooses the base. A NULL table clears group_size entries from *@ntt_base on; base and
 * group_size both all ones clear every unused allocation.
 *
 * Context: Any thread. Needs CAP_SYS_ADMIN.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - NULL, or a value that cannot be
 * * %GNI_RC_PERMISSION_ERROR - the caller is not privileged
 * * %GNI_RC_ERROR_RESOURCE - the table has no room for so many entries
 * * %GNI_RC_ERROR_NOMEM - no memory
 * * %GNI_RC_NO_MATCH - there is no such device
 */
gni_return_t GNI_ConfigureNTT(int device_id, gni_ntt_descriptor_t *ntt_desc, uint32_t *ntt_base);

/**
 * GNI_ConfigureJob() - create or change a communication domain
 * @device_id: N of /dev/kgniN
 * @job_id: number of the job, 64 bits, the launcher's own
 * @ptag: protection tag, GNI_FIND_ALLOC_PTAG to have it found by the cookie
 * @cookie: 32-bit name of the protection domain, the same on all nodes
 * @limits: limits, NULL to leave them as they are
 *
 * What a launcher calls before its ranks attach. Ties job, tag and cookie together and sets the
 * limits that are not GNI_JOB_INVALID_LIMIT.
 *
 * Context: Any thread. Needs CAP_SYS_ADMIN.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a value that cannot be
 * * %GNI_RC_PERMISSION_ERROR - the caller is not privileged
 * * %GNI_RC_NO_MATCH - there is no such device
 * * %GNI_RC_INVALID_STATE - tag or cookie belong to another job
 * * %GNI_RC_ILLEGAL_OP - the NTT range of a job cannot change
 * * %GNI_RC_ERROR_RESOURCE - no tag is left, or a limit exceeds what the NIC has
 * * %GNI_RC_ERROR_NOMEM - no memory
 */
gni_return_t GNI_ConfigureJob(uint32_t device_id, uint64_t job_id, uint8_t ptag, uint32_t cookie,
			      gni_job_limits_t *limits);

/**
 * GNI_ConfigureNTTandJob() - GNI_ConfigureNTT() and GNI_ConfigureJob() in one step
 * @device_id: N of /dev/kgniN
 * @job_id: number of the job, 64 bits, the launcher's own
 * @ptag: protection tag, GNI_FIND_ALLOC_PTAG to have it found by the cookie
 * @cookie: 32-bit name of the protection domain, the same on all nodes
 * @limits: limits, NULL to leave them as they are
 * @ntt_desc: entries
 * @ntt_base: out: first entry
 *
 * A NULL @ntt_desc leaves the table alone. Cannot clear entries.
 *
 * Context: Any thread. Needs CAP_SYS_ADMIN.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a value that cannot be, or entries that are NULL
 * * %GNI_RC_PERMISSION_ERROR - the caller is not privileged
 * * %GNI_RC_ERROR_RESOURCE - no tag or no entry of the table is left
 * * %GNI_RC_ERROR_NOMEM - no memory
 * * %GNI_RC_NO_MATCH - there is no such device
 * * %GNI_RC_INVALID_STATE - tag or cookie belong to another job
 * * %GNI_RC_ILLEGAL_OP - the NTT range of a job cannot change
 */
gni_return_t GNI_ConfigureNTTandJob(int device_id, uint64_t job_id, uint8_t ptag, uint32_t cookie,
				    gni_job_limits_t *limits, gni_ntt_descriptor_t *ntt_desc, uint32_t *ntt_base);

/**
 * GNI_EpCreate() - create an endpoint
 * @nic_hndl: NIC handle
 * @src_cq_hndl: queue for local and global events
 * @ep_hndl: out: endpoint
 *
 * It begins unbound. Events of what it starts go to @src_cq_hndl, which may be NULL for an endpoint
 * that only exchanges datagrams.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or a value that cannot be
 * * %GNI_RC_ERROR_NOMEM - no memory
 */
gni_return_t GNI_EpCreate(gni_nic_handle_t nic_hndl, gni_cq_handle_t src_cq_hndl, gni_ep_handle_t *ep_hndl);

/**
 * GNI_EpSetEventData() - choose the event data of an endpoint
 * @ep_hndl: endpoint
 * @local_event: data of events in the source queue, local and global
 * @remote_event: data of remote events, which are in the target's queue
 *
 * Without this call local and global events carry the bound remote_id and remote events the own
 * instance id.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, or a value that cannot be
 */
gni_return_t GNI_EpSetEventData(gni_ep_handle_t ep_hndl, uint32_t local_event, uint32_t remote_event);

/**
 * GNI_EpBind() - bind an endpoint to a peer
 * @ep_hndl: endpoint
 * @remote_addr: network address (PE) of the peer
 * @remote_id: instance id of the peer, 32 bits
 *
 * Reserves as many transfer requests as the source queue has entries, half of that with
 * GNI_CDM_MODE_DUAL_EVENTS. An endpoint is unbound before it is bound again.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - @ep_hndl is no endpoint, it is bound already, or there is no such
 *   address
 * * %GNI_RC_ERROR_RESOURCE - no transfer requests can be reserved
 * * %GNI_RC_ERROR_NOMEM - no memory
 */
gni_return_t GNI_EpBind(gni_ep_handle_t ep_hndl, uint32_t remote_addr, uint32_t remote_id);

/**
 * GNI_EpUnbind() - take the binding of an endpoint away
 * @ep_hndl: endpoint
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle
 * * %GNI_RC_NOT_DONE - transfers are outstanding: read the queue and try again
 */
gni_return_t GNI_EpUnbind(gni_ep_handle_t ep_hndl);

/**
 * GNI_EpIdle() - is the endpoint quiet
 * @ep_hndl: endpoint
 *
 * The checks of GNI_EpUnbind() without its effect.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle
 * * %GNI_RC_NOT_DONE - transfers are outstanding
 */
gni_return_t GNI_EpIdle(gni_ep_handle_t ep_hndl);

/**
 * GNI_EpDestroy() - destroy an endpoint
 * @ep_hndl: endpoint
 *
 * In any state; a bound one need not be unbound.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle
 */
gni_return_t GNI_EpDestroy(gni_ep_handle_t ep_hndl);

/**
 * GNI_EpPostData() - exchange a datagram
 * @ep_hndl: endpoint
 * @in_data: bytes to send, copied by the call
 * @data_len: how many, 0 to GNI_DATAGRAM_MAXSIZE
 * @out_buf: out: room for the peer's bytes, the library's until the exchange has ended
 * @buf_size: bytes of that; what does not fit into them is told by the test or the wait
 *
 * Sends @data_len bytes and receives the peer's into @out_buf, which stays in use until the
 * exchange ends. On an unbound endpoint any bound peer of the domain may match. One at a time for
 * an endpoint; at most GNI_DATAGRAM_MAXSIZE bytes.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or a value that cannot be
 * * %GNI_RC_ERROR_RESOURCE - the endpoint has a datagram already
 * * %GNI_RC_ERROR_NOMEM - no memory
 * * %GNI_RC_SIZE_ERROR - @data_len exceeds GNI_DATAGRAM_MAXSIZE
 */
gni_return_t GNI_EpPostData(gni_ep_handle_t ep_hndl, void *in_data, uint16_t data_len, void *out_buf,
			    uint16_t buf_size);

/**
 * GNI_EpPostDataWId() - exchange a datagram that has an id
 * @ep_hndl: endpoint
 * @in_data: bytes to send, copied by the call
 * @data_len: how many, 0 to GNI_DATAGRAM_MAXSIZE
 * @out_buf: out: room for the peer's bytes, the library's until the exchange has ended
 * @buf_size: bytes of that; what does not fit into them is told by the test or the wait
 * @datagram_id: id of the datagram, not all ones
 *
 * As GNI_EpPostData(). ERROR_RESOURCE also tells that an exchange with that peer is under way.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or a value that cannot be
 * * %GNI_RC_ERROR_RESOURCE - the endpoint has a datagram with this id, or an exchange with that
 *   peer is under way
 * * %GNI_RC_ERROR_NOMEM - no memory
 * * %GNI_RC_SIZE_ERROR - @data_len exceeds GNI_DATAGRAM_MAXSIZE
 */
gni_return_t GNI_EpPostDataWId(gni_ep_handle_t ep_hndl, void *in_data, uint16_t data_len, void *out_buf,
			       uint16_t buf_size, uint64_t datagram_id);

/**
 * GNI_EpPostDataTest() - look at the datagram of an endpoint
 * @ep_hndl: endpoint
 * @post_state: out: state of the datagram
 * @remote_addr: out: network address (PE) of the peer
 * @remote_id: out: instance id of the peer
 *
 * Reporting a final state retires the datagram: the next call gives NO_MATCH.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or a value that cannot be
 * * %GNI_RC_NO_MATCH - the endpoint has no datagram
 * * %GNI_RC_SIZE_ERROR - the peer's data did not fit into the posted buffer
 * * %GNI_RC_ERROR_NOMEM - no memory
 */
gni_return_t GNI_EpPostDataTest(gni_ep_handle_t ep_hndl, gni_post_state_t *post_state, uint32_t *remote_addr,
				uint32_t *remote_id);

/**
 * GNI_EpPostDataTestById() - look at a datagram by its id
 * @ep_hndl: endpoint
 * @datagram_id: id of the datagram, not all ones
 * @post_state: out: state of the datagram
 * @remote_addr: out: network address (PE) of the peer
 * @remote_id: out: instance id of the peer
 *
 * As GNI_EpPostDataTest(); the endpoint is the one that posted it.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or a value that cannot be
 * * %GNI_RC_NO_MATCH - the endpoint has no datagram with this id
 * * %GNI_RC_SIZE_ERROR - the peer's data did not fit into the posted buffer
 * * %GNI_RC_ERROR_NOMEM - no memory
 */
gni_return_t GNI_EpPostDataTestById(gni_ep_handle_t ep_hndl, uint64_t datagram_id, gni_post_state_t *post_state,
				    uint32_t *remote_addr, uint32_t *remote_id);

/**
 * GNI_EpPostDataWait() - wait for the datagram of an endpoint
 * @ep_hndl: endpoint
 * @timeout: milliseconds, all ones for no limit, 0 is refused
 * @post_state: out: state of the datagram
 * @remote_addr: out: network address (PE) of the peer
 * @remote_id: out: instance id of the peer
 *
 * Then reports as GNI_EpPostDataTest().
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it. Sleeps for up
 * to @timeout.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or a value that cannot be
 * * %GNI_RC_TIMEOUT - @timeout is over, and the exchange is not
 * * %GNI_RC_SIZE_ERROR - the peer's data did not fit into the posted buffer
 * * %GNI_RC_NO_MATCH - the endpoint has no datagram
 * * %GNI_RC_ERROR_NOMEM - no memory
 */
gni_return_t GNI_EpPostDataWait(gni_ep_handle_t ep_hndl, uint32_t timeout, gni_post_state_t *post_state,
				uint32_t *remote_addr, uint32_t *remote_id);

/**
 * GNI_EpPostDataWaitById() - wait for a datagram by its id
 * @ep_hndl: endpoint
 * @datagram_id: id of the datagram, not all ones
 * @timeout: milliseconds, all ones for no limit, 0 is refused
 * @post_state: out: state of the datagram
 * @remote_addr: out: network address (PE) of the peer
 * @remote_id: out: instance id of the peer
 *
 * Then reports as GNI_EpPostDataTest().
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it. Sleeps for up
 * to @timeout.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or a value that cannot be
 * * %GNI_RC_TIMEOUT - @timeout is over, and the exchange is not
 * * %GNI_RC_SIZE_ERROR - the peer's data did not fit into the posted buffer
 * * %GNI_RC_NO_MATCH - the endpoint has no datagram with this id
 * * %GNI_RC_ERROR_NOMEM - no memory
 */
gni_return_t GNI_EpPostDataWaitById(gni_ep_handle_t ep_hndl, uint64_t datagram_id, uint32_t timeout,
				    gni_post_state_t *post_state, uint32_t *remote_addr, uint32_t *remote_id);

/**
 * GNI_PostDataProbe() - find a finished datagram
 * @nic_hndl: NIC handle
 * @remote_addr: out: network address (PE) of the peer
 * @remote_id: out: instance id of the peer
 *
 * Completed, timed out or cancelled. The datagram stays until it is tested or waited for.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or a value that cannot be
 * * %GNI_RC_NO_MATCH - no datagram is finished
 */
gni_return_t GNI_PostDataProbe(gni_nic_handle_t nic_hndl, uint32_t *remote_addr, uint32_t *remote_id);

/**
 * GNI_PostDataProbeById() - find a finished datagram that has an id
 * @nic_hndl: NIC handle
 * @datagram_id: out: id of the datagram, not all ones
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or a value that cannot be
 * * %GNI_RC_NO_MATCH - no datagram with an id is finished
 */
gni_return_t GNI_PostDataProbeById(gni_nic_handle_t nic_hndl, uint64_t *datagram_id);

/**
 * GNI_PostdataProbeWaitById() - wait for a finished datagram that has an id
 * @nic_hndl: NIC handle
 * @timeout: milliseconds, all ones for no limit
 * @datagram_id: out: id of the datagram, not all ones
 *
 * Other threads may use the NIC handle meanwhile.
 *
 * Context: Any thread, beside other calls on the NIC handle. Sleeps for up to @timeout.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or a value that cannot be
 * * %GNI_RC_TIMEOUT - @timeout is over, and no datagram is finished
 */
gni_return_t GNI_PostdataProbeWaitById(gni_nic_handle_t nic_hndl, uint32_t timeout, uint64_t *datagram_id);

/**
 * GNI_EpPostDataCancel() - cancel the datagram of an endpoint
 * @ep_hndl: endpoint
 *
 * A directed one ends in GNI_POST_TERMINATED and is then reported.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle
 * * %GNI_RC_NO_MATCH - the endpoint has no datagram
 */
gni_return_t GNI_EpPostDataCancel(gni_ep_handle_t ep_hndl);

/**
 * GNI_EpPostDataCancelById() - cancel a datagram by its id
 * @ep_hndl: endpoint
 * @datagram_id: id of the datagram, not all ones
 *
 * A wildcard that nobody has matched is gone at once.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, or a value that cannot be
 * * %GNI_RC_NO_MATCH - the endpoint has no datagram with this id
 */
gni_return_t GNI_EpPostDataCancelById(gni_ep_handle_t ep_hndl, uint64_t datagram_id);

/**
 * GNI_MemRegister() - register a range of memory
 * @nic_hndl: NIC handle
 * @address: start, virtual
 * @length: bytes, at least 1
 * @dst_cq_hndl: queue for remote events, NULL for none
 * @flags: GNI_MEM_* bits
 * @vmdh_index: slot with GNI_MEM_USE_VMDH, all ones for the next free one
 * @mem_hndl: in, out: memory handle
 *
 * Pins the pages. Any address and length will do, whole pages are covered; length 0 is
 * INVALID_PARAM. Puts and CQ writes of peers to the region raise remote events in @dst_cq_hndl.
 * *@mem_hndl is unchanged on failure.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, a length of 0, or flags or a slot that cannot be
 * * %GNI_RC_ERROR_RESOURCE - no memory descriptor is left, or the job's limit is reached
 * * %GNI_RC_ERROR_NOMEM - no memory
 * * %GNI_RC_PERMISSION_ERROR - the range is mapped read-only and GNI_MEM_READ_ONLY is not set, or
 *   the limit of locked memory is reached
 */
gni_return_t GNI_MemRegister(gni_nic_handle_t nic_hndl, uint64_t address, uint64_t length, gni_cq_handle_t dst_cq_hndl,
			     uint32_t flags, uint32_t vmdh_index, gni_mem_handle_t *mem_hndl);

/**
 * GNI_MemRegisterSegments() - register several ranges as one region
 * @nic_hndl: NIC handle
 * @mem_segments: array of segments
 * @segments_cnt: elements of @mem_segments
 * @dst_cq_hndl: queue for remote events, NULL for none
 * @flags: GNI_MEM_* bits
 * @vmdh_index: slot with GNI_MEM_USE_VMDH, all ones for the next free one
 * @mem_hndl: in, out: memory handle
 *
 * Addresses of later transfers are byte offsets into the region.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, no segment, one of length 0, or flags or a slot that
 *   cannot be
 * * %GNI_RC_ERROR_RESOURCE - no memory descriptor is left, or the job's limit is reached
 * * %GNI_RC_ERROR_NOMEM - no memory
 * * %GNI_RC_PERMISSION_ERROR - a range is mapped read-only and GNI_MEM_READ_ONLY is not set, or the
 *   limit of locked memory is reached
 */
gni_return_t GNI_MemRegisterSegments(gni_nic_handle_t nic_hndl, gni_mem_segment_t *mem_segments, uint32_t segments_cnt,
				     gni_cq_handle_t dst_cq_hndl, uint32_t flags, uint32_t vmdh_index,
				     gni_mem_handle_t *mem_hndl);

/**
 * GNI_SetMddResources() - reserve a block of memory descriptors
 * @nic_hndl: NIC handle
 * @num_entries: descriptors, at least 1
 *
 * Once for a NIC handle; registrations with GNI_MEM_USE_VMDH come from it.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, no entries, or a block is there already
 * * %GNI_RC_ERROR_NOMEM - there is no such block of descriptors
 */
gni_return_t GNI_SetMddResources(gni_nic_handle_t nic_hndl, uint32_t num_entries);

/**
 * GNI_MemDeregister() - end a registration
 * @nic_hndl: NIC handle
 * @mem_hndl: memory handle
 *
 * Unpins the pages; returns when no transfer can reach them. A zeroed or foreign handle is
 * INVALID_PARAM.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad NIC handle, or a memory handle that is zeroed, foreign, or ended
 *   already
 */
gni_return_t GNI_MemDeregister(gni_nic_handle_t nic_hndl, gni_mem_handle_t *mem_hndl);

/**
 * GNI_MemHndlQueryAttr() - ask for an attribute of a memory handle
 * @mem_hndl: memory handle
 * @attr: which attribute
 * @yesno: out: 1 or 0
 *
 * The handle's check code is verified. Handles of peers may be asked as well.
 *
 * Context: Any thread; makes no system call.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - NULL, an unknown attribute, or a memory handle whose check code is
 *   wrong
 */
gni_return_t GNI_MemHndlQueryAttr(gni_mem_handle_t *mem_hndl, gni_mem_handle_attr_t attr, int *yesno);

/**
 * GNI_RebuildMemHndl() - compute the handle of another vMDH slot
 * @src_mem_hndl: handle to start from
 * @vmdh_index: slot of the new handle
 * @dst_mem_hndl: out: handle made
 *
 * Context: Any thread; makes no system call.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - NULL, or a source that is no handle of a slot
 * * %GNI_RC_INVALID_STATE - the source has not been activated by GNI_MEM_UPDATE_REGION
 */
gni_return_t GNI_RebuildMemHndl(gni_mem_handle_t *src_mem_hndl, uint32_t vmdh_index, gni_mem_handle_t *dst_mem_hndl);

/**
 * GNI_MemQueryHndls() - walk through the registrations
 * @nic_hndl: NIC handle
 * @fd: open device file of a NIC handle of this process, -1 for none
 * @mem_hndl: in, out: handle found before; then the next one
 * @address: out: start of the region
 * @length: out: bytes
 *
 * An empty *@mem_hndl begins the walk, NO_MATCH ends it; *@address and *@length are zeroed on
 * errors. Exactly one of @nic_hndl and @fd is given.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - both or none of @nic_hndl and @fd, or NULL
 * * %GNI_RC_INVALID_STATE - the handle that was given is not known
 * * %GNI_RC_NO_MATCH - there are no more
 */
gni_return_t GNI_MemQueryHndls(gni_nic_handle_t nic_hndl, int fd, gni_mem_handle_t *mem_hndl, uint64_t *address,
			       uint64_t *length);

/**
 * GNI_CqCreate() - create a completion queue
 * @nic_hndl: NIC handle
 * @entry_count: entries that must fit, at least 1; the queue may be larger
 * @delay_count: events per interrupt of a blocking queue, 0 for each
 * @mode: GNI_CQ_* bits
 * @handler: function to call for each event, or NULL
 * @context: second argument of @handler
 * @cq_hndl: out: completion queue
 *
 * For local or for remote events, not for both. @handler, if given, runs once for each event, not
 * later than the return of the call that delivers the event.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad NIC handle, NULL, no entries, or modes that exclude each other
 * * %GNI_RC_ERROR_RESOURCE - the NIC has no queue left, or the job's limit is reached
 * * %GNI_RC_ERROR_NOMEM - no memory
 */
gni_return_t GNI_CqCreate(gni_nic_handle_t nic_hndl, uint32_t entry_count, uint32_t delay_count, gni_cq_mode_t mode,
			  void (*handler)(gni_cq_entry_t *, void *), void *context, gni_cq_handle_t *cq_hndl);

/**
 * GNI_CqDestroy() - destroy a completion queue
 * @cq_hndl: completion queue
 *
 * ERROR_RESOURCE, and no effect, while endpoints refer to it.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle
 * * %GNI_RC_ERROR_RESOURCE - endpoints refer to it; nothing has happened
 */
gni_return_t GNI_CqDestroy(gni_cq_handle_t cq_hndl);

/**
 * GNI_PostRdma() - post a block transfer
 * @ep_hndl: endpoint
 * @post_descr: in, out: descriptor
 *
 * GNI_POST_RDMA_PUT or GNI_POST_RDMA_GET. Events go to src_cq_hndl of the descriptor, or to the
 * endpoint's queue if that is NULL. Descriptor and buffers belong to the library until
 * GNI_GetCompleted().
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - taken; the event tells the outcome
 * * %GNI_RC_INVALID_PARAM - a bad handle, an unbound endpoint, another type of post, modes that
 *   cannot be, or local and global events together without GNI_CDM_MODE_DUAL_EVENTS
 * * %GNI_RC_ALIGNMENT_ERROR - a get whose remote address or length is no multiple of 4; nothing has
 *   happened
 * * %GNI_RC_ERROR_RESOURCE - no request is free; try again after reaping events
 * * %GNI_RC_ERROR_NOMEM - no memory
 * * %GNI_RC_PERMISSION_ERROR - a memory handle does not allow the access
 */
gni_return_t GNI_PostRdma(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr);

/**
 * GNI_PostFma() - post an FMA transfer
 * @ep_hndl: endpoint
 * @post_descr: in, out: descriptor
 *
 * Put, get, atomic or collective operation. Events go to the endpoint's source queue. The source of
 * a put has been read when the call returns and need not be registered. A put of length 0 is legal.
 * Nothing has happened when an error is returned.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - taken; the event tells the outcome
 * * %GNI_RC_INVALID_PARAM - a bad handle, an unbound endpoint, another type of post, an unknown
 *   command, or modes that cannot be
 * * %GNI_RC_ALIGNMENT_ERROR - an address or the length is not aligned as the operation demands;
 *   nothing has happened
 * * %GNI_RC_ERROR_RESOURCE - no request is free; try again after reaping events
 */
gni_return_t GNI_PostFma(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr);

/**
 * GNI_PostCqWrite() - put 48 bits into a remote completion queue
 * @ep_hndl: endpoint
 * @post_descr: in, out: descriptor
 *
 * The queue is the one that the memory behind remote_mem_hndl was registered with.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - taken; the event tells the outcome
 * * %GNI_RC_INVALID_PARAM - a bad handle, an unbound endpoint or another type of post
 * * %GNI_RC_ERROR_RESOURCE - no request is free; try again after reaping events
 */
gni_return_t GNI_PostCqWrite(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr);

/**
 * GNI_GetCompleted() - descriptor of an event
 * @cq_hndl: completion queue
 * @event_data: entry, as GNI_CqGetEvent() gave it
 * @post_descr: out: descriptor of the event
 *
 * To be called once for each event of type GNI_CQ_EVENT_TYPE_POST. Stores the very pointer that was
 * posted; its status and cq_mode_complete are valid then. TRANSACTION_ERROR stores it too.
 * DESCRIPTOR_ERROR stores NULL if the event belongs to no posted descriptor.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_DESCRIPTOR_ERROR - the event belongs to no posted descriptor; NULL is stored
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or a value that cannot be
 * * %GNI_RC_TRANSACTION_ERROR - the transfer failed; its descriptor is stored, too
 */
gni_return_t GNI_GetCompleted(gni_cq_handle_t cq_hndl, gni_cq_entry_t event_data, gni_post_descriptor_t **post_descr);

/**
 * GNI_CqGetEvent() - next event of a queue
 * @cq_hndl: completion queue
 * @event_data: out: entry
 *
 * Does not wait.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - an entry is stored
 * * %GNI_RC_NOT_DONE - the queue is empty
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or a value that cannot be
 * * %GNI_RC_ERROR_RESOURCE - events were lost; the stored entry has the overrun mark, and reading
 *   on is allowed
 * * %GNI_RC_TRANSACTION_ERROR - the stored entry reports a failed transfer
 */
gni_return_t GNI_CqGetEvent(gni_cq_handle_t cq_hndl, gni_cq_entry_t *event_data);

/**
 * GNI_CqWaitEvent() - wait for an event
 * @cq_hndl: completion queue
 * @timeout: milliseconds, all ones for no limit
 * @event_data: out: entry
 *
 * For queues made with GNI_CQ_BLOCKING. Sleeps; returns as GNI_CqGetEvent() otherwise.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it. Sleeps for up
 * to @timeout.
 *
 * Return:
 * * %GNI_RC_SUCCESS - an entry is stored
 * * %GNI_RC_TIMEOUT - @timeout is over, and the queue is empty
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or a value that cannot be
 * * %GNI_RC_ERROR_RESOURCE - the queue was not made with GNI_CQ_BLOCKING, or events were lost: then
 *   the stored entry has the overrun mark
 * * %GNI_RC_TRANSACTION_ERROR - the stored entry reports a failed transfer
 */
gni_return_t GNI_CqWaitEvent(gni_cq_handle_t cq_hndl, uint64_t timeout, gni_cq_entry_t *event_data);

/**
 * GNI_CqVectorWaitEvent() - wait for an event of several queues
 * @cq_hndls: array of blocking queues
 * @num_cqs: elements of @cq_hndls
 * @timeout: milliseconds, all ones for no limit
 * @event_data: out: entry
 * @which: out: index of the queue in @cq_hndls
 *
 * All must be blocking queues.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it. Sleeps for up
 * to @timeout.
 *
 * Return:
 * * %GNI_RC_SUCCESS - an entry is stored
 * * %GNI_RC_TIMEOUT - @timeout is over, and all queues are empty
 * * %GNI_RC_NOT_DONE - the queue found has its interrupt masked
 * * %GNI_RC_INVALID_PARAM - NULL, or a value that cannot be
 * * %GNI_RC_ERROR_RESOURCE - a queue was not made with GNI_CQ_BLOCKING, or events were lost: then
 *   the stored entry has the overrun mark
 * * %GNI_RC_TRANSACTION_ERROR - the stored entry reports a failed transfer
 * * %GNI_RC_ERROR_NOMEM - no memory
 */
gni_return_t GNI_CqVectorWaitEvent(gni_cq_handle_t *cq_hndls, uint32_t num_cqs, uint64_t timeout,
				   gni_cq_entry_t *event_data, uint32_t *which);

/**
 * GNI_CqVectorMonitor() - wait until one of several queues has an event
 * @cq_hndls: array of blocking queues
 * @num_cqs: elements of @cq_hndls
 * @timeout: milliseconds, all ones for no limit
 * @which: out: index of the queue in @cq_hndls
 *
 * As GNI_CqVectorWaitEvent(), but the event stays in its queue.
 *
 * Context: Any thread, beside other calls on the NIC handle. Sleeps for up to @timeout.
 *
 * Return:
 * * %GNI_RC_SUCCESS - the queue @which has an event
 * * %GNI_RC_TIMEOUT - @timeout is over, and all queues are empty
 * * %GNI_RC_NOT_DONE - the queue found has its interrupt masked
 * * %GNI_RC_INVALID_PARAM - NULL, or a value that cannot be
 * * %GNI_RC_ERROR_RESOURCE - a queue was not made with GNI_CQ_BLOCKING
 * * %GNI_RC_ERROR_NOMEM - no memory
 */
gni_return_t GNI_CqVectorMonitor(gni_cq_handle_t *cq_hndls, uint32_t num_cqs, uint64_t timeout, uint32_t *which);

/**
 * GNI_CqInterruptMask() - mask the interrupt of a blocking queue
 * @cq_hndl: completion queue
 *
 * Calls nest.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_ERROR_RESOURCE - not from this implementation
 * * %GNI_RC_NOT_DONE - not from this implementation
 * * %GNI_RC_INVALID_PARAM - @cq_hndl is no queue, or not made with GNI_CQ_BLOCKING
 */
gni_return_t GNI_CqInterruptMask(gni_cq_handle_t cq_hndl);

/**
 * GNI_CqInterruptUnmask() - unmask the interrupt of a blocking queue
 * @cq_hndl: completion queue
 *
 * Takes one GNI_CqInterruptMask() back.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_ERROR_RESOURCE - not from this implementation
 * * %GNI_RC_NOT_DONE - the interrupt is not masked
 * * %GNI_RC_INVALID_PARAM - @cq_hndl is no queue, or not made with GNI_CQ_BLOCKING
 */
gni_return_t GNI_CqInterruptUnmask(gni_cq_handle_t cq_hndl);

/**
 * GNI_CqTestEvent() - has a queue an event
 * @cq_hndl: completion queue
 *
 * Changes nothing, runs no handler, needs no lock of the caller.
 *
 * Context: Any thread, beside other calls on the NIC handle.
 *
 * Return:
 * * %GNI_RC_SUCCESS - there is one
 * * %GNI_RC_NOT_DONE - the queue is empty
 * * %GNI_RC_INVALID_PARAM - a bad handle
 * * %GNI_RC_ERROR_RESOURCE - events were lost
 */
gni_return_t GNI_CqTestEvent(gni_cq_handle_t cq_hndl);

/**
 * GNI_CqErrorStr() - put an entry's status into words
 * @entry: entry of a queue
 * @buffer: out: room for the text
 * @len: bytes of that
 *
 * NUL-terminated, of the form source:status.
 *
 * Context: Any thread; makes no system call.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - NULL, or a value that cannot be
 * * %GNI_RC_SIZE_ERROR - the text does not fit into @len bytes
 */
gni_return_t GNI_CqErrorStr(gni_cq_entry_t entry, void *buffer, uint32_t len);

/**
 * GNI_CqErrorRecoverable() - is it reasonable to post again
 * @entry: entry of a queue
 * @recoverable: out: 1 or 0
 *
 * Context: Any thread; makes no system call.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - NULL, or a value that cannot be
 * * %GNI_RC_INVALID_STATE - a status without a meaning
 */
gni_return_t GNI_CqErrorRecoverable(gni_cq_entry_t entry, uint32_t *recoverable);

/**
 * GNI_SmsgBufferSizeNeeded() - bytes of a mailbox
 * @smsg_attr: mailbox description
 * @size: out: bytes
 *
 * From msg_type, mbox_maxcredit and msg_maxsize; the other fields are ignored.
 *
 * Context: Any thread; makes no system call.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - NULL, an unknown type, or a size or credits of 0 or too large
 */
gni_return_t GNI_SmsgBufferSizeNeeded(gni_smsg_attr_t *smsg_attr, unsigned int *size);

/**
 * GNI_SmsgInit() - set short messages up on an endpoint
 * @ep_hndl: endpoint
 * @local_smsg_attr: own mailbox
 * @remote_smsg_attr: the peer's mailbox
 *
 * The endpoint must be bound. Type, size and credits of both sides must agree. The mailbox is
 * registered and zeroed memory.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, an endpoint without a queue, or mailboxes whose
 *   type, size or credits do not agree
 * * %GNI_RC_INVALID_STATE - the endpoint is not bound, or has mailboxes already
 * * %GNI_RC_ERROR_NOMEM - no memory
 */
gni_return_t GNI_SmsgInit(gni_ep_handle_t ep_hndl, gni_smsg_attr_t *local_smsg_attr, gni_smsg_attr_t *remote_smsg_attr);

/**
 * GNI_SmsgSetDeliveryMode() - delivery mode of short messages
 * @nic_handle: NIC handle
 * @dlvr_mode: GNI_DLVMODE_* bits
 *
 * For all endpoints of the NIC handle.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, or a value that cannot be
 */
gni_return_t GNI_SmsgSetDeliveryMode(gni_nic_handle_t nic_handle, uint16_t dlvr_mode);

/**
 * GNI_SmsgSend() - send a short message
 * @ep_hndl: endpoint
 * @header: first part of the message, may be NULL if @header_length is 0
 * @header_length: bytes of @header
 * @data: second part of the message, may be NULL if @data_length is 0
 * @data_length: bytes of @data
 * @msg_id: 32 bits that come back in the event of the source queue
 *
 * Header, then data. One event of type SMSG with @msg_id at the source queue, one at the receiver.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - taken; the event tells the outcome
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or a value that cannot be
 * * %GNI_RC_NOT_DONE - no credit, or no request; try again after reaping events
 * * %GNI_RC_ERROR_RESOURCE - larger than msg_maxsize of the mailbox
 */
gni_return_t GNI_SmsgSend(gni_ep_handle_t ep_hndl, void *header, uint32_t header_length, void *data,
			  uint32_t data_length, uint32_t msg_id);

/**
 * GNI_SmsgSendWTag() - send a short message with a tag
 * @ep_hndl: endpoint
 * @header: first part of the message, may be NULL if @header_length is 0
 * @header_length: bytes of @header
 * @data: second part of the message, may be NULL if @data_length is 0
 * @data_length: bytes of @data
 * @msg_id: 32 bits that come back in the event of the source queue
 * @tag: tag of the message, 0 to 254
 *
 * As GNI_SmsgSend(). GNI_SMSG_ANY_TAG is not a tag.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - taken; the event tells the outcome
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL with a length, or GNI_SMSG_ANY_TAG
 * * %GNI_RC_NOT_DONE - no credit, or no request; try again after reaping events
 * * %GNI_RC_ERROR_RESOURCE - larger than msg_maxsize of the mailbox
 */
gni_return_t GNI_SmsgSendWTag(gni_ep_handle_t ep_hndl, void *header, uint32_t header_length, void *data,
			      uint32_t data_length, uint32_t msg_id, uint8_t tag);

/**
 * GNI_SmsgGetNext() - next short message
 * @ep_hndl: endpoint
 * @header: out: start of the message, in the mailbox
 *
 * In the order of sending. The pointer goes into the mailbox and is good until GNI_SmsgRelease(). Whether
 * messages that came before GNI_SmsgInit() into a mailbox that had been used before are this peer's, the first call
 * asks the peer: that may take 2 s if it does not answer.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - a message is there
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or a value that cannot be
 * * %GNI_RC_NOT_DONE - no message is there
 * * %GNI_RC_INVALID_STATE - the mailbox is corrupt
 */
gni_return_t GNI_SmsgGetNext(gni_ep_handle_t ep_hndl, void **header);

/**
 * GNI_SmsgGetNextWTag() - next short message if it has the tag
 * @ep_hndl: endpoint
 * @header: out: start of the message, in the mailbox
 * @tag: in, out: tag wanted, GNI_SMSG_ANY_TAG for any; then the message's tag
 *
 * NO_MATCH leaves the message where it is.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - a message is there
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or a value that cannot be
 * * %GNI_RC_NOT_DONE - no message is there
 * * %GNI_RC_NO_MATCH - the next message has another tag, and stays where it is
 * * %GNI_RC_INVALID_STATE - the mailbox is corrupt
 */
gni_return_t GNI_SmsgGetNextWTag(gni_ep_handle_t ep_hndl, void **header, uint8_t *tag);

/**
 * GNI_SmsgRelease() - release the current short message
 * @ep_hndl: endpoint
 *
 * Gives the credit back to the sender.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle
 * * %GNI_RC_NOT_DONE - there is no current message
 */
gni_return_t GNI_SmsgRelease(gni_ep_handle_t ep_hndl);

/**
 * GNI_MsgqInit() - join the node's message queue
 * @nic_hndl: NIC handle
 * @rcv_cb: called for each message
 * @cb_data: its last argument
 * @snd_cq: queue for send events
 * @attrs: attributes
 * @msgq_hndl: out: message queue
 *
 * Every local instance gives equal attributes.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or a value that cannot be
 * * %GNI_RC_ERROR_NOMEM - no memory
 * * %GNI_RC_INVALID_STATE - attributes differ from those of other instances, the queue takes no
 *   more of them, or the NIC handle has one
 * * %GNI_RC_PERMISSION_ERROR - no shared memory
 */
gni_return_t GNI_MsgqInit(gni_nic_handle_t nic_hndl, gni_msgq_rcv_cb_func *rcv_cb, void *cb_data,
			  gni_cq_handle_t snd_cq, gni_msgq_attr_t *attrs, gni_msgq_handle_t *msgq_hndl);

/**
 * GNI_MsgqRelease() - leave the node's message queue
 * @msgq_hndl: message queue
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle
 * * %GNI_RC_NOT_DONE - transfers are outstanding
 */
gni_return_t GNI_MsgqRelease(gni_msgq_handle_t msgq_hndl);

/**
 * GNI_MsgqIdle() - is the message queue quiet
 * @msgq_hndl: message queue
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - it is
 * * %GNI_RC_INVALID_PARAM - a bad handle
 * * %GNI_RC_NOT_DONE - transfers are outstanding
 */
gni_return_t GNI_MsgqIdle(gni_msgq_handle_t msgq_hndl);

/**
 * GNI_MsgqGetConnAttrs() - reserve a connection to a node
 * @msgq_hndl: message queue
 * @pe_addr: network address of the node
 * @attrs: out: attributes
 * @attrs_size: out: bytes used, may be NULL
 *
 * The attributes are to be sent to that node.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or a value that cannot be
 * * %GNI_RC_INVALID_STATE - there is a connection to that node
 * * %GNI_RC_ERROR_RESOURCE - num_msgq_eps nodes have one
 * * %GNI_RC_PERMISSION_ERROR - not all instances have joined, or the queue is being released
 */
gni_return_t GNI_MsgqGetConnAttrs(gni_msgq_handle_t msgq_hndl, uint32_t pe_addr, gni_msgq_ep_attr_t *attrs,
				  uint32_t *attrs_size);

/**
 * GNI_MsgqConnect() - connect to a node
 * @msgq_hndl: message queue
 * @pe_addr: network address of the node
 * @attrs: attributes
 *
 * With the attributes received from it.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or a value that cannot be
 * * %GNI_RC_NO_MATCH - GNI_MsgqGetConnAttrs() was not called for that node
 * * %GNI_RC_INVALID_STATE - connected already, or the attributes do not agree
 * * %GNI_RC_PERMISSION_ERROR - not all instances have joined, or the queue is being released
 */
gni_return_t GNI_MsgqConnect(gni_msgq_handle_t msgq_hndl, uint32_t pe_addr, gni_msgq_ep_attr_t *attrs);

/**
 * GNI_MsgqConnRelease() - release a connection to a node
 * @msgq_hndl: message queue
 * @pe_addr: network address of the node
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, or a value that cannot be
 * * %GNI_RC_NO_MATCH - there is no connection to that node
 * * %GNI_RC_NOT_DONE - transfers are outstanding
 */
gni_return_t GNI_MsgqConnRelease(gni_msgq_handle_t msgq_hndl, uint32_t pe_addr);

/**
 * GNI_MsgqSend() - send through the message queue
 * @msgq_hndl: message queue
 * @ep_hndl: endpoint
 * @hdr: first part of the message
 * @hdr_len: bytes of @hdr
 * @msg: second part of the message
 * @msg_len: bytes of @msg; with @hdr_len at most max_msg_sz of the queue
 * @msg_id: 32 bits that come back in the event of the source queue
 * @msg_tag: tag of the message, 8 bits
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - taken; the event tells the outcome
 * * %GNI_RC_INVALID_PARAM - a bad handle, an unbound endpoint or another NIC handle's, or NULL with
 *   a length
 * * %GNI_RC_NO_MATCH - there is no connection to that node, or no such instance on it
 * * %GNI_RC_NOT_DONE - no credit; try again after GNI_MsgqProgress()
 * * %GNI_RC_SIZE_ERROR - longer than max_msg_sz
 * * %GNI_RC_INVALID_STATE - the connection is not made yet or has ended, not all instances of the
 *   node have come, or the instance has gone
 */
gni_return_t GNI_MsgqSend(gni_msgq_handle_t msgq_hndl, gni_ep_handle_t ep_hndl, void *hdr, uint32_t hdr_len, void *msg,
			  uint32_t msg_len, uint32_t msg_id, uint8_t msg_tag);

/**
 * GNI_MsgqProgress() - receive from the message queue
 * @msgq_hndl: message queue
 * @timeout: milliseconds for each message; without GNI_MSGQ_MODE_BLOCKING the wait is a loop with
 *	naps
 *
 * Calls the receive callback for each message until it returns 0 or none comes within @timeout; 0
 * and -1: does not wait.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it. Sleeps for up
 * to @timeout.
 *
 * Return:
 * * %GNI_RC_SUCCESS - no message came within @timeout
 * * %GNI_RC_INVALID_PARAM - a bad handle, or a value that cannot be
 * * %GNI_RC_NOT_DONE - the callback returned 0, and there is more
 * * %GNI_RC_ERROR_RESOURCE - a queue lost events
 * * %GNI_RC_INVALID_STATE - a peer has written what is no message, or not all instances of the node
 *   have come
 * * %GNI_RC_ERROR_NOMEM - no memory
 */
gni_return_t GNI_MsgqProgress(gni_msgq_handle_t msgq_hndl, uint32_t timeout);

/**
 * GNI_MsgqSize() - bytes of the shared part of a message queue
 * @attrs: attributes
 * @size: out: bytes
 *
 * A multiple of the huge page size.
 *
 * Context: Any thread; makes no system call.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - NULL, or a value that cannot be
 */
gni_return_t GNI_MsgqSize(gni_msgq_attr_t *attrs, uint32_t *size);

/**
 * GNI_SmsgSetMaxRetrans() - how often a failed short message is repeated
 * @nic_handle: NIC handle
 * @max_retrans: repetitions, FMA_SMSG_MAX_RETRANS_DEFAULT without this call
 *
 * For all endpoints of the NIC handle.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, or a value that cannot be
 */
gni_return_t GNI_SmsgSetMaxRetrans(gni_nic_handle_t nic_handle, uint16_t max_retrans);

/**
 * GNI_SubscribeErrors() - subscribe to error events
 * @nic_handle: NIC handle
 * @device_id: N of /dev/kgniN, used if @nic_handle is NULL
 * @mask: GNI_ERRMASK_* bits
 * @EEQ_size: events that are kept, 0 for 64
 * @err_handle: out: subscription
 *
 * A NULL @nic_handle subscribes to @device_id for all tags and is privileged.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - NULL, an unknown bit in the mask, or @nic_handle is NULL and the caller
 *   is not privileged
 * * %GNI_RC_NO_MATCH - there is no such device
 * * %GNI_RC_ERROR_RESOURCE - no subscription is left
 * * %GNI_RC_ERROR_NOMEM - no memory
 */
gni_return_t GNI_SubscribeErrors(gni_nic_handle_t nic_handle, uint32_t device_id, gni_error_mask_t mask,
				 uint32_t EEQ_size, gni_err_handle_t *err_handle);

/**
 * GNI_ReleaseErrors() - end a subscription
 * @err_handle: subscription
 *
 * Context: Any thread.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle
 * * %GNI_RC_NOT_DONE - a thread waits on it
 */
gni_return_t GNI_ReleaseErrors(gni_err_handle_t err_handle);

/**
 * GNI_GetErrorMask() - categories of a subscription
 * @err_handle: subscription
 * @mask: out: GNI_ERRMASK_* bits
 *
 * Context: Any thread.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or a value that cannot be
 */
gni_return_t GNI_GetErrorMask(gni_err_handle_t err_handle, gni_error_mask_t *mask);

/**
 * GNI_SetErrorMask() - change the categories of a subscription
 * @err_handle: subscription
 * @mask_in: new mask
 * @mask_out: out: mask before
 *
 * Context: Any thread.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or a value that cannot be
 */
gni_return_t GNI_SetErrorMask(gni_err_handle_t err_handle, gni_error_mask_t mask_in, gni_error_mask_t *mask_out);

/**
 * GNI_GetErrorEvent() - next error event
 * @err_handle: subscription
 * @event: out: error event
 *
 * Does not wait.
 *
 * Context: Any thread.
 *
 * Return:
 * * %GNI_RC_SUCCESS - an event is stored
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or a value that cannot be
 * * %GNI_RC_NOT_DONE - no event is there
 */
gni_return_t GNI_GetErrorEvent(gni_err_handle_t err_handle, gni_error_event_t *event);

/**
 * GNI_WaitErrorEvents() - wait for error events
 * @err_handle: subscription
 * @events: out: room for events
 * @events_size: elements of @events
 * @timeout: milliseconds for followers
 * @num_events: out: how many came
 *
 * No limit for the first one, then @timeout to collect others; TIMEOUT tells that this time is
 * over.
 *
 * Context: Any thread. Sleeps.
 *
 * Return:
 * * %GNI_RC_SUCCESS - as many as fit are stored
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or a value that cannot be
 * * %GNI_RC_NOT_DONE - interrupted by a signal; try again
 * * %GNI_RC_TIMEOUT - the time for followers is over; what came is stored
 * * %GNI_RC_PERMISSION_ERROR - not from this implementation
 */
gni_return_t GNI_WaitErrorEvents(gni_err_handle_t err_handle, gni_error_event_t *events, uint32_t events_size,
				 uint32_t timeout, uint32_t *num_events);

/**
 * GNI_SetErrorPtag() - change the tag of a subscription
 * @err_handle: subscription
 * @ptag: protection tag, 0 for all
 *
 * 0 means all.
 *
 * Context: Any thread. Needs CAP_SYS_ADMIN.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, or a value that cannot be
 * * %GNI_RC_PERMISSION_ERROR - the caller is not privileged
 */
gni_return_t GNI_SetErrorPtag(gni_err_handle_t err_handle, uint8_t ptag);

/**
 * GNI_GetNumLocalDevices() - number of NICs
 * @num_devices: out: number
 *
 * Context: Any thread.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - NULL
 * * %GNI_RC_ERROR_RESOURCE - there is none
 */
gni_return_t GNI_GetNumLocalDevices(int *num_devices);

/**
 * GNI_GetLocalDeviceIds() - ids of the NICs
 * @len: elements of @device_ids
 * @device_ids: out: ids
 *
 * Entries beyond the number of NICs are left alone.
 *
 * Context: Any thread.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - NULL, or a value that cannot be
 * * %GNI_RC_ERROR_RESOURCE - there is no NIC
 */
gni_return_t GNI_GetLocalDeviceIds(int len, int *device_ids);

/**
 * GNI_GetVersion() - version of the library
 * @version: out: packed version
 *
 * Context: Any thread.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - NULL
 */
gni_return_t GNI_GetVersion(uint32_t *version);

/**
 * GNI_GetVersionInformation() - versions and build texts of library and driver
 * @version_info: out: report
 *
 * The driver's part is zero if no device is there.
 *
 * Context: Any thread.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - NULL
 */
gni_return_t GNI_GetVersionInformation(gni_version_info_t *version_info);

/**
 * GNI_GetDeviceType() - kind of NIC
 * @dev_type: out: kind
 *
 * Needs no domain.
 *
 * Context: Any thread.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_ERROR_RESOURCE - there is no NIC, or @dev_type is NULL
 */
gni_return_t GNI_GetDeviceType(gni_nic_device_t *dev_type);

/**
 * GNI_GetDevResInfo() - state of a resource of the NIC
 * @device_id: N of /dev/kgniN
 * @res_type: which resource
 * @res_desc: out: report
 *
 * Context: Any thread.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - NULL, or a value that cannot be
 * * %GNI_RC_ERROR_RESOURCE - this NIC has no such resource, or the device cannot be opened
 */
gni_return_t GNI_GetDevResInfo(uint32_t device_id, gni_dev_res_t res_type, gni_dev_res_desc_t *res_desc);

/**
 * GNI_GetJobResInfo() - state of a resource of a domain
 * @device_id: N of /dev/kgniN
 * @ptag: protection tag, not 0
 * @res_type: which resource
 * @res_desc: out: report
 *
 * Context: Any thread.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - NULL, or a value that cannot be
 * * %GNI_RC_ERROR_RESOURCE - this NIC has no such resource, or the device cannot be opened
 */
gni_return_t GNI_GetJobResInfo(uint32_t device_id, uint8_t ptag, gni_job_res_t res_type, gni_job_res_desc_t *res_desc);

/**
 * GNI_GetNttGran() - granularity of the node translation table
 * @device_id: N of /dev/kgniN
 * @ntt_gran: out: granularity
 *
 * Context: Any thread.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - NULL, or a value that cannot be
 */
gni_return_t GNI_GetNttGran(uint32_t device_id, uint32_t *ntt_gran);

/**
 * GNI_GetPtag() - tag of a cookie
 * @device_id: N of /dev/kgniN
 * @cookie: 32-bit name of the protection domain, the same on all nodes
 * @ptag: out: protection tag
 *
 * Context: Any thread.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - NULL, or a value that cannot be
 * * %GNI_RC_NO_MATCH - the cookie has none
 * * %GNI_RC_ERROR_RESOURCE - the device cannot be opened
 */
gni_return_t GNI_GetPtag(uint32_t device_id, uint32_t cookie, uint8_t *ptag);

/**
 * GNI_CeCreate() - allocate a collective channel
 * @nic_hndl: NIC handle
 * @ce_hndl: out: channel
 *
 * ILLEGAL_OP, here and below: the NIC has no collective engine.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or a value that cannot be
 * * %GNI_RC_ERROR_RESOURCE - no channel is left, or the job's limit is reached
 * * %GNI_RC_ERROR_NOMEM - no memory
 * * %GNI_RC_ILLEGAL_OP - the NIC has no collective engine
 */
gni_return_t GNI_CeCreate(gni_nic_handle_t nic_hndl, gni_ce_handle_t *ce_hndl);

/**
 * GNI_CeGetId() - id of a collective channel
 * @ce_hndl: channel
 * @ce_id: out: channel id
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or a value that cannot be
 * * %GNI_RC_ILLEGAL_OP - the NIC has no collective engine
 */
gni_return_t GNI_CeGetId(gni_ce_handle_t ce_hndl, uint32_t *ce_id);

/**
 * GNI_EpSetCeAttr() - place of an endpoint in the tree
 * @ep_hndl: endpoint
 * @ce_id: channel id
 * @child_id: index of the child
 * @child_type: kind of neighbour
 *
 * To a child PE: its index, type PE. To a child channel: its id and index, type VCE. To the parent:
 * its id and the index it knows us by, type VCE. At a leaf: the parent's id and index, type PE.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, or a value that cannot be
 * * %GNI_RC_ILLEGAL_OP - the NIC has no collective engine
 */
gni_return_t GNI_EpSetCeAttr(gni_ep_handle_t ep_hndl, uint32_t ce_id, uint32_t child_id, gni_ce_child_t child_type);

/**
 * GNI_CeConfigure() - wire a channel into the tree
 * @ce_hndl: channel
 * @child_eps: endpoints to the children
 * @num_child_eps: how many, at most GNI_CE_MAX_CHILDREN
 * @parent_ep: endpoint to the parent, NULL at the root
 * @cq_hndl: queue for events of the channel
 * @modes: GNI_CE_MODE_* bits
 *
 * One rounding, one CQE and one routing bit in @modes.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or a value that cannot be
 * * %GNI_RC_ILLEGAL_OP - the NIC has no collective engine
 */
gni_return_t GNI_CeConfigure(gni_ce_handle_t ce_hndl, gni_ep_handle_t *child_eps, uint32_t num_child_eps,
			     gni_ep_handle_t parent_ep, gni_cq_handle_t cq_hndl, uint32_t modes);

/**
 * GNI_CeCheckResult() - look at the result of a collective
 * @result: result block
 * @length: not used on Aries
 *
 * Context: Any thread; makes no system call.
 *
 * Return:
 * * %GNI_RC_SUCCESS - the result is there
 * * %GNI_RC_INVALID_PARAM - NULL, or a value that cannot be
 * * %GNI_RC_NOT_DONE - not yet; try again
 * * %GNI_RC_TRANSACTION_ERROR - it failed (gni_ce_res_status_ok() is 0), or it is there with
 *   exceptions
 * * %GNI_RC_ILLEGAL_OP - the NIC has no collective engine
 */
gni_return_t GNI_CeCheckResult(gni_ce_result_t *result, uint32_t length);

/**
 * GNI_CeDestroy() - free a collective channel
 * @ce_hndl: channel
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle
 * * %GNI_RC_ILLEGAL_OP - the NIC has no collective engine
 */
gni_return_t GNI_CeDestroy(gni_ce_handle_t ce_hndl);

/**
 * GNI_SetBIConfig() - set the injection bandwidth of the node
 * @device_id: N of /dev/kgniN
 * @bw: bandwidth
 * @aot_bw: bandwidth while throttled
 * @modes: GNI_BI_FLAG_* bits
 *
 * Context: Any thread. Needs CAP_SYS_ADMIN.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a value that cannot be
 * * %GNI_RC_PERMISSION_ERROR - the caller is not privileged
 */
gni_return_t GNI_SetBIConfig(uint32_t device_id, uint16_t bw, uint16_t aot_bw, uint16_t modes);

/**
 * GNI_GetBIConfig() - injection bandwidth of the node
 * @device_id: N of /dev/kgniN
 * @desc: out: report
 *
 * Context: Any thread.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - NULL, or a value that cannot be
 */
gni_return_t GNI_GetBIConfig(uint32_t device_id, gni_bi_desc_t *desc);

/**
 * GNI_BISyncWait() - wait until a change of the injection bandwidth is in force
 * @device_id: N of /dev/kgniN
 * @timeout: milliseconds, all ones for no limit
 *
 * Context: Any thread. Sleeps for up to @timeout.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a value that cannot be
 * * %GNI_RC_TIMEOUT - @timeout is over, and the change is not in force
 */
gni_return_t GNI_BISyncWait(uint32_t device_id, uint32_t timeout);

/**
 * GNI_GetNicStat() - read a counter of a NIC handle
 * @nic_hndl: NIC handle
 * @stat: which counter
 * @value: out: value
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or a value that cannot be
 */
gni_return_t GNI_GetNicStat(gni_nic_handle_t nic_hndl, gni_statistic_t stat, uint32_t *value);

/**
 * GNI_ResetNicStat() - zero a counter of a NIC handle
 * @nic_hndl: NIC handle
 * @stat: which counter
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, or a value that cannot be
 */
gni_return_t GNI_ResetNicStat(gni_nic_handle_t nic_hndl, gni_statistic_t stat);

/**
 * GNI_CtPostFma() - post a chain of FMA transfers
 * @ep_hndl: endpoint of the first transfer
 * @post_descr: in, out: first descriptor, GNI_POST_FMA_PUT or GNI_POST_FMA_GET
 *
 * next_descr of the first descriptor leads to gni_ct_put_post_descriptor_t or
 * gni_ct_get_post_descriptor_t, all of the first one's kind. The transfers are done in order; one
 * set of events, of the first descriptor, reports on all.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - taken; the event tells the outcome
 * * %GNI_RC_INVALID_PARAM - a bad handle, an unbound endpoint, or descriptors of another or of
 *   several kinds
 * * %GNI_RC_ALIGNMENT_ERROR - an address or the length is not aligned as the operation demands;
 *   nothing has happened
 * * %GNI_RC_ERROR_RESOURCE - there are not as many requests free; try again after reaping events
 */
gni_return_t GNI_CtPostFma(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr);

/**
 * GNI_CtPostCqWrite() - post a chain of writes into remote completion queues
 * @ep_hndl: endpoint of the first write
 * @post_descr: in, out: first descriptor, GNI_POST_CQWRITE
 *
 * next_descr of the first descriptor leads to gni_ct_cqw_post_descriptor_t, each with an endpoint
 * and a value of its own. The writes are done in order; one set of events, of the first
 * descriptor, reports on all. After a write that fails the rest is left out.
 *
 * Context: The caller serialises calls on one NIC handle and what was made from it.
 *
 * Return:
 * * %GNI_RC_SUCCESS - taken; the event tells the outcome
 * * %GNI_RC_INVALID_PARAM - a bad handle, an unbound endpoint, another type of post, an empty
 *   memory handle or a chain without an end; nothing has happened
 * * %GNI_RC_ERROR_RESOURCE - no request is free; try again after reaping events
 */
gni_return_t GNI_CtPostCqWrite(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr);

/**
 * GNI_DqueueInit() - make a distributed queue
 * @nic_hndl: attached NIC
 * @in_attrs: what is asked for
 * @out_attrs: not touched
 * @dqueue: not touched
 *
 * Distributed queues are not there: what their attributes hold is not public.
 *
 * Context: Any.
 *
 * Return:
 * * %GNI_RC_ILLEGAL_OP - always
 */
gni_return_t GNI_DqueueInit(gni_nic_handle_t nic_hndl, gni_dqueue_in_attr_t *in_attrs, gni_dqueue_out_attr_t *out_attrs,
			    gni_dqueue_handle_t *dqueue);

/**
 * GNI_DqueueFini() - end a distributed queue
 * @dqueue: queue
 *
 * Distributed queues are not there: what their attributes hold is not public.
 *
 * Context: Any.
 *
 * Return:
 * * %GNI_RC_ILLEGAL_OP - always
 */
gni_return_t GNI_DqueueFini(gni_dqueue_handle_t dqueue);

/**
 * GNI_DqueueConnect() - connect a distributed queue to its peers
 * @dqueue: queue
 * @attrs: attributes of the peers
 * @nattrs: elements of @attrs
 *
 * Distributed queues are not there: what their attributes hold is not public.
 *
 * Context: Any.
 *
 * Return:
 * * %GNI_RC_ILLEGAL_OP - always
 */
gni_return_t GNI_DqueueConnect(gni_dqueue_handle_t dqueue, gni_dqueue_out_attr_t *attrs, uint32_t nattrs);

/**
 * GNI_DqueuePut() - put data into the queue of a peer
 * @dqueue: queue
 * @data: data
 * @length: bytes
 * @pe_addr: address of the peer
 * @inst_id: instance id of the peer
 *
 * Distributed queues are not there: what their attributes hold is not public.
 *
 * Context: Any.
 *
 * Return:
 * * %GNI_RC_ILLEGAL_OP - always
 */
gni_return_t GNI_DqueuePut(gni_dqueue_handle_t dqueue, void *data, uint32_t length, uint32_t pe_addr, uint32_t inst_id);

/**
 * GNI_DqueueProgress() - move a distributed queue on
 * @dqueue: queue
 *
 * Distributed queues are not there: what their attributes hold is not public.
 *
 * Context: Any.
 *
 * Return:
 * * %GNI_RC_ILLEGAL_OP - always
 */
gni_return_t GNI_DqueueProgress(gni_dqueue_handle_t dqueue);

/**
 * gni_dev_res_to_str() - name of a resource of a NIC; a text also for values out of range
 * @res_type: which
 *
 * Context: Any.
 *
 * Return: the name, or another text for a value out of range.
 */
const char *gni_dev_res_to_str(gni_dev_res_t res_type);

/**
 * gni_job_res_to_str() - name of a resource of a domain; a text also for values out of range
 * @res_type: which
 *
 * Context: Any.
 *
 * Return: the name, or another text for a value out of range.
 */
const char *gni_job_res_to_str(gni_job_res_t res_type);

#else /* __KERNEL__ */

/* ---- Kernel functions ----
 *
 * A function without a comment has arguments and return codes of the GNI_ function that it is named
 * after (gni_smsg_buff_size_needed(): GNI_SmsgBufferSizeNeeded()). A comment "is as GNI_X(), but" says
 * only what differs. Contexts of calls:
 *
 * Process context; may sleep. Elsewhere it warns once and returns GNI_RC_INVALID_PARAM.
 *	gni_cdm_create, gni_cdm_destroy, gni_cdm_attach, gni_mem_register,
 *	gni_mem_register_segments, gni_cq_create, gni_cq_destroy, gni_smsg_init
 * Process context; may sleep.
 *	gni_ep_postdata, gni_ep_postdata_w_id, gni_ep_postdata_wait,
 *	gni_postdata_probe_wait_by_id, gni_subscribe_errors, gni_release_errors,
 *	gni_wait_error_events
 * Any, but not while another call on the endpoint or a read of its source queue runs.
 *	gni_ep_destroy
 * Any. What may not sleep spins while accesses are in flight, and leaves the rest to a work.
 *	gni_mem_deregister
 * Any. What may not sleep is told GNI_RC_SUCCESS whether or not there was a hold.
 *	gni_mem_mdd_release
 * Any, under spinlocks and with interrupts off, too.
 *	all others
 */

/*
 * Version of kGNI, packed; for symbol_get(). Clients that find it old serialise their calls: all
 * of this one may come from several threads at once.
 */
extern uint32_t kgni_driver_version;

gni_return_t gni_cdm_create(uint32_t inst_id, uint8_t ptag, uint32_t cookie, uint32_t modes,
			    gni_cdm_handle_t *cdm_hndl);
gni_return_t gni_cdm_destroy(gni_cdm_handle_t cdm_hndl);

/*
 * gni_cdm_attach() is as GNI_CdmAttach(), but:
 * @device_id: number of the NIC, as N of /dev/kgniN
 * * %GNI_RC_NOT_DONE - not now; try again
 * * %GNI_RC_ERROR_RESOURCE - the NIC has no descriptor, tag or other resource left
 * Without %GNI_RC_PERMISSION_ERROR, %GNI_RC_INVALID_STATE
 */
gni_return_t gni_cdm_attach(gni_cdm_handle_t cdm_hndl, uint32_t device_id, uint32_t *local_addr,
			    gni_nic_handle_t *nic_hndl);

gni_return_t gni_ep_create(gni_nic_handle_t nic_hndl, gni_cq_handle_t src_cq_hndl, gni_ep_handle_t *ep_hndl);
gni_return_t gni_ep_set_eventdata(gni_ep_handle_t ep_hndl, uint32_t local_event, uint32_t remote_event);

/*
 * gni_ep_bind() is as GNI_EpBind(), but:
 * Without %GNI_RC_ERROR_RESOURCE
 */
gni_return_t gni_ep_bind(gni_ep_handle_t ep_hndl, uint32_t remote_addr, uint32_t remote_id);

gni_return_t gni_ep_unbind(gni_ep_handle_t ep_hndl);
gni_return_t gni_ep_destroy(gni_ep_handle_t ep_hndl);
gni_return_t gni_ep_postdata(gni_ep_handle_t ep_hndl, void *in_data, uint16_t data_len, void *out_buf,
			     uint16_t buf_size);

/*
 * gni_ep_postdata_w_id() is as GNI_EpPostDataWId().
 *
 * The only form for unbound endpoints.
 */
gni_return_t gni_ep_postdata_w_id(gni_ep_handle_t ep_hndl, void *in_data, uint16_t data_len, void *out_buf,
				  uint16_t buf_size, uint64_t datagram_id);

gni_return_t gni_ep_postdata_test(gni_ep_handle_t ep_hndl, gni_post_state_t *post_state, uint32_t *remote_addr,
				  uint32_t *remote_id);
gni_return_t gni_ep_postdata_test_by_id(gni_ep_handle_t ep_hndl, uint64_t datagram_id, gni_post_state_t *post_state,
					uint32_t *remote_addr, uint32_t *remote_id);
gni_return_t gni_ep_postdata_wait(gni_ep_handle_t ep_hndl, uint32_t timeout, gni_post_state_t *post_state,
				  uint32_t *remote_addr, uint32_t *remote_id);
gni_return_t gni_postdata_probe(gni_nic_handle_t nic_hndl, uint32_t *remote_addr, uint32_t *remote_id);
gni_return_t gni_postdata_probe_by_id(gni_nic_handle_t nic_hndl, uint64_t *datagram_id);
gni_return_t gni_postdata_probe_wait_by_id(gni_nic_handle_t nic_hndl, uint32_t timeout, uint64_t *datagram_id);
gni_return_t gni_ep_postdata_cancel(gni_ep_handle_t ep_hndl);
gni_return_t gni_ep_postdata_cancel_by_id(gni_ep_handle_t ep_hndl, uint64_t datagram_id);

/*
 * gni_mem_register() is as GNI_MemRegister(), but:
 * @address: start, a kernel virtual address
 * Without @vmdh_index, %GNI_RC_PERMISSION_ERROR
 */
gni_return_t gni_mem_register(gni_nic_handle_t nic_hndl, uint64_t address, uint64_t length, gni_cq_handle_t dst_cq_hndl,
			      uint32_t flags, gni_mem_handle_t *mem_hndl);

/*
 * gni_mem_register_segments() is as GNI_MemRegisterSegments(), but:
 * Without @vmdh_index, %GNI_RC_PERMISSION_ERROR
 *
 * With GNI_MEM_PHYS_SEGMENTS each segment is the page that contains a physical address, and its
 * length is ignored.
 */
gni_return_t gni_mem_register_segments(gni_nic_handle_t nic_hndl, gni_mem_segment_t *mem_segments,
				       uint32_t segments_cnt, gni_cq_handle_t dst_cq_hndl, uint32_t flags,
				       gni_mem_handle_t *mem_hndl);

/*
 * gni_mem_deregister() is as GNI_MemDeregister(), but:
 * @hold_timeout: 0, or milliseconds that the descriptor is held at most
 *
 * With a hold time the descriptor is disabled now and reused only after gni_mem_mdd_release() or
 * that many milliseconds. When this returns no peer can access the memory.
 */
gni_return_t gni_mem_deregister(gni_nic_handle_t nic_hndl, gni_mem_handle_t *mem_hndl, int hold_timeout);

/**
 * gni_mem_mdd_release() - end the hold of a deregistered memory descriptor
 * @nic_hndl: NIC handle
 * @mem_hndl: memory handle
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_NO_MATCH - it is not on hold
 */
gni_return_t gni_mem_mdd_release(gni_nic_handle_t nic_hndl, gni_mem_handle_t *mem_hndl);

/**
 * gni_cq_create() - kernel form of GNI_CqCreate()
 * @nic_hndl: NIC handle
 * @entry_count: entries that must fit, at least 1; the queue may be larger
 * @delay_index: events for an interrupt, 0 for each
 * @event_handler: called in interrupt context, NULL for none
 * @usr_event_data: its second argument
 * @cq_hndl: out: completion queue
 *
 * @event_handler runs in interrupt context after @delay_index events (0: each one). Nobody can wait
 * on such a queue.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad NIC handle, NULL, or no entries
 * * %GNI_RC_ERROR_RESOURCE - the NIC has no queue left, or the job's limit is reached
 * * %GNI_RC_ERROR_NOMEM - no memory
 */
gni_return_t gni_cq_create(gni_nic_handle_t nic_hndl, uint32_t entry_count, uint32_t delay_index,
			   gni_cq_event_hndlr_f *event_handler, uint64_t usr_event_data, gni_cq_handle_t *cq_hndl);

gni_return_t gni_cq_destroy(gni_cq_handle_t cq_hndl);

/*
 * gni_post_rdma() is as GNI_PostRdma().
 *
 * The local address may be physical with GNI_RDMAMODE_PHYS_ADDR.
 */
gni_return_t gni_post_rdma(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr);

gni_return_t gni_post_fma(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr);
gni_return_t gni_get_completed(gni_cq_handle_t cq_hndl, gni_cq_entry_t event_data, gni_post_descriptor_t **post_descr);
gni_return_t gni_cq_get_event(gni_cq_handle_t cq_hndl, gni_cq_entry_t *event_data);
gni_return_t gni_cq_error_str(gni_cq_entry_t entry, void *buffer, uint32_t len);
gni_return_t gni_cq_error_recoverable(gni_cq_entry_t entry, uint32_t *recoverable);
gni_return_t gni_smsg_buff_size_needed(gni_smsg_attr_t *smsg_attr, unsigned int *size);

gni_return_t gni_smsg_init(gni_ep_handle_t ep_hndl, gni_smsg_attr_t *local_smsg_attr,
			   gni_smsg_attr_t *remote_smsg_attr);

gni_return_t gni_smsg_set_delivery_mode(gni_nic_handle_t nic_handle, uint16_t dlvr_mode);
gni_return_t gni_smsg_send(gni_ep_handle_t ep_hndl, void *header, uint32_t header_length, void *data,
			   uint32_t data_length, uint32_t msg_id);
gni_return_t gni_smsg_getnext(gni_ep_handle_t ep_hndl, void **header);
gni_return_t gni_smsg_release(gni_ep_handle_t ep_hndl);
gni_return_t gni_smsg_set_max_retrans(gni_nic_handle_t nic_handle, uint16_t max_retrans);

/**
 * gni_subscribe_errors() - kernel form of GNI_SubscribeErrors()
 * @nic_handle: NIC handle
 * @mask: GNI_ERRMASK_* bits
 * @EEQ_size: events that are kept, 0 for no queue: callbacks only
 * @EQ_new_event: called for each event that is queued, NULL for none
 * @app_crit_err: called for errors that would end a user process, NULL for none
 * @err_handle: out: subscription
 *
 * @EEQ_size 0: no queue, callbacks only. Both functions are called in process context without any
 * lock, one at a time for a NIC handle, so they may sleep and may call everything. The original
 * driver calls them in atomic context.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or an unknown bit in the mask
 * * %GNI_RC_ERROR_NOMEM - no memory
 */
gni_return_t gni_subscribe_errors(gni_nic_handle_t nic_handle, gni_error_mask_t mask, uint32_t EEQ_size,
				  void (*EQ_new_event)(gni_err_handle_t), void (*app_crit_err)(gni_err_handle_t),
				  gni_err_handle_t *err_handle);

/*
 * gni_release_errors() is as GNI_ReleaseErrors().
 *
 * If a function of the subscription is running this waits until that returns, unless this is called
 * by a function that kGNI has called for the same NIC handle. No function of the subscription is
 * called afterwards.
 */
gni_return_t gni_release_errors(gni_err_handle_t err_handle);

gni_return_t gni_get_error_mask(gni_err_handle_t err_handle, gni_error_mask_t *mask);
gni_return_t gni_set_error_mask(gni_err_handle_t err_handle, gni_error_mask_t mask_in, gni_error_mask_t *mask_out);
gni_return_t gni_get_error_event(gni_err_handle_t err_handle, gni_error_event_t *event);

/*
 * gni_wait_error_events() is as GNI_WaitErrorEvents(), but:
 * * %GNI_RC_NOT_DONE - interrupted by a signal; or no event is left and none will come, as the NIC
 *   was reset or removed or the domain is being destroyed
 * Without %GNI_RC_PERMISSION_ERROR
 */
gni_return_t gni_wait_error_events(gni_err_handle_t err_handle, gni_error_event_t *events, uint32_t events_size,
				   uint32_t timeout, uint32_t *num_events);

gni_return_t gni_set_error_ptag(gni_err_handle_t err_handle, uint8_t ptag);

/**
 * gni_set_quiesce_callback() - function to call when a network quiesce is over
 * @nic_hndl: NIC handle
 * @qsce_func: function
 *
 * Called soon after the end, in process context without any lock, with the duration in
 * milliseconds, so it may sleep and may call everything. If another quiesce has ended before the
 * call there is one call with the sum of both. gni_cdm_destroy() waits until it returns, unless it
 * is called by the function itself.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or a value that cannot be
 * * %GNI_RC_INVALID_STATE - there is one already
 */
gni_return_t gni_set_quiesce_callback(gni_nic_handle_t nic_hndl, void (*qsce_func)(gni_nic_handle_t, uint64_t));

/**
 * gni_get_quiesce_status() - is the network quiesced
 * @nic_hndl: NIC handle
 *
 * Return: 1 while it is, else 0.
 */
uint32_t gni_get_quiesce_status(gni_nic_handle_t nic_hndl);

/**
 * gni_get_errno() - first error recorded on this CPU
 * @nic_hndl: NIC handle
 * @errno_ptr: out: record
 *
 * Clears the record.
 *
 * Return:
 * * %GNI_RC_SUCCESS - done
 * * %GNI_RC_INVALID_PARAM - a bad handle, NULL, or a value that cannot be
 * * %GNI_RC_INVALID_STATE - nothing is recorded
 */
gni_return_t gni_get_errno(gni_nic_handle_t nic_hndl, gni_errno_t *errno_ptr);

#endif /* __KERNEL__ */

#ifdef __cplusplus
}
#endif

#endif /* _GNI_PUB_H_ */
