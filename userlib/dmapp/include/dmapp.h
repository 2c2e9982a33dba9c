/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * DMAPP: distributed shared memory over the NIC. The processes (PEs) of a job read and write each other's memory: what
 * is allocated from the symmetric heap, static data of the program, and whatever its owner has registered. Link with
 * libdmapp (pkg-config cray-dmapp).
 *
 * A remote place is named by an address, a descriptor of the segment that it lies in, and a PE. Of the symmetric
 * segments (dmapp_jobinfo_t) the caller's own descriptor and the caller's own address are used for every PE; of
 * registered memory the descriptor and the address that its owner has sent.
 *
 * Each operation has three forms. Blocking: done when it returns. _nb: done when dmapp_syncid_wait() or _test() says so
 * of its id. _nbi: done when dmapp_gsync_wait() or _test() says so of all of them. Done is: in the memory of the other
 * PE, or here for what is fetched.
 *
 * Documentation/dmapp.md says what each function does here and which are not there: those return
 * DMAPP_RC_NOT_SUPPORTED.
 */
#ifndef DMAPP_H_INCLUDED
#define DMAPP_H_INCLUDED

#include <gni_pub.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Codes ---- */

typedef enum dmapp_return {
	DMAPP_RC_SUCCESS = 0,
	DMAPP_RC_INVALID_PARAM,     /* an argument is wrong, or a place is not in its segment */
	DMAPP_RC_ALIGNMENT_ERROR,   /* an atomic, a flag or a lock that is not aligned to 8 bytes */
	DMAPP_RC_TRANSACTION_ERROR, /* the network or the other PE failed */
	DMAPP_RC_RESOURCE_ERROR,    /* something ran out; or the library is not initialised */
	DMAPP_RC_PERMISSION_ERROR,  /* the other PE does not permit it */
	DMAPP_RC_NO_SPACE,          /* no memory */
	DMAPP_RC_NOT_DONE,          /* not yet */
	DMAPP_RC_NOT_SUPPORTED,     /* not there */
	DMAPP_RC_NOT_FOUND,         /* there is no such thing */
	DMAPP_RC_BUSY,              /* somebody else has it */
	DMAPP_RC_NOT_USED
} dmapp_return_t;

/* ---- Elements ---- */

typedef enum dmapp_type {
	DMAPP_DQW = 0, /* 16 bytes */
	DMAPP_QW,      /* 8 bytes */
	DMAPP_DW,      /* 4 bytes */
	DMAPP_BYTE
} dmapp_type_t;

typedef int32_t dmapp_pe_t;

/* ---- Attributes ---- */

/* Ways through the network. */
typedef enum dmapp_routing_type {
	DMAPP_ROUTING_IN_ORDER = 0,    /* GNI_DLVMODE_IN_ORDER */
	DMAPP_ROUTING_DETERMINISTIC,   /* GNI_DLVMODE_NMIN_HASH */
	DMAPP_ROUTING_DETERMINISTIC_1, /* GNI_DLVMODE_MIN_HASH */
	DMAPP_ROUTING_ADAPTIVE,        /* GNI_DLVMODE_ADAPTIVE0 */
	DMAPP_ROUTING_ADAPTIVE_1,
	DMAPP_ROUTING_ADAPTIVE_2,
	DMAPP_ROUTING_ADAPTIVE_3
} dmapp_routing_type_t;

/* What is done is visible at the other PE, whichever of these is chosen. */
typedef enum dmapp_pi_reg_type {
	DMAPP_PI_ORDERING_STRICT = 0,
	DMAPP_PI_ORDERING_DEFAULT,
	DMAPP_PI_ORDERING_RELAXED
} dmapp_pi_reg_type_t;

#define DMAPP_MIN_OUTSTANDING_NB 16
#define DMAPP_DEF_OUTSTANDING_NB 512
#define DMAPP_MAX_OUTSTANDING_NB 32768
#define DMAPP_OFFLOAD_THRESHOLD 4096
#define DMAPP_MAX_THREADS_UNLIMITED 0x7fffffff
#define DMAPP_QUEUE_DEFAULT_DEPTH 32
#define DMAPP_QUEUE_DEFAULT_NELEMS 9
#define DMAPP_QUEUE_MAX_NELEMS 128
#define DMAPP_QUEUE_ASYNC_PROGRESS 0x1 /* queue_flags */

typedef struct dmapp_rma_attrs {
	uint32_t max_outstanding_nb;  /* ids that may be open; at init only */
	uint32_t offload_threshold;   /* bytes from which on a transfer is the NIC's own work */
	uint8_t put_relaxed_ordering; /* DMAPP_ROUTING_* of puts and atomics */
	uint8_t get_relaxed_ordering;
	int max_concurrency; /* threads; at init only */
} dmapp_rma_attrs_t;

typedef struct dmapp_rma_attrs_ext {
	uint32_t max_outstanding_nb;
	uint32_t offload_threshold;
	uint8_t put_relaxed_ordering;
	uint8_t get_relaxed_ordering;
	int max_concurrency;
	int PI_ordering;       /* at init only */
	uint32_t queue_depth;  /* at init only, as the two below */
	uint32_t queue_nelems; /* of 8 bytes */
	uint64_t queue_flags;
} dmapp_rma_attrs_ext_t;

/* ---- Segments and the job ---- */

/* May be sent to other PEs as it is. */
typedef struct dmapp_seg_desc {
	void *addr;
	size_t len;
	uint64_t key[5]; /* the library's */
} dmapp_seg_desc_t;

typedef struct dmapp_jobinfo {
	int version;
	int hw_version;
	int npes;
	dmapp_pe_t pe;             /* the caller: 0 to npes - 1, the rank in PMI */
	dmapp_seg_desc_t data_seg; /* static data of the program */
	dmapp_seg_desc_t sheap_seg;
} dmapp_jobinfo_t;

/* ---- What handles stand for ---- */

typedef uint64_t dmapp_syncid_handle_t;
typedef uint64_t dmapp_lock_handle_t;
typedef uint64_t dmapp_queue_handle_t;
typedef uint64_t dmapp_c_pset_handle_t;

typedef struct dmapp_amo dmapp_amo_t;
typedef struct dmapp_sheap_stats dmapp_sheap_stats_t;
typedef struct dmapp_c_pset_attrs dmapp_c_pset_attrs_t;

/* A lock, in memory of the PE that has it; all zero is free. */
typedef struct dmapp_lock_desc {
	uint64_t word;
} dmapp_lock_desc_t;

typedef int (*dmapp_queue_cb_t)(void *context, void *data, uint32_t len, dmapp_pe_t from);

/* ---- Sets of PEs ---- */

typedef enum dmapp_c_type { DMAPP_C_INT32 = 0, DMAPP_C_INT64, DMAPP_C_DOUBLE } dmapp_c_type_t;

typedef enum dmapp_c_op { DMAPP_C_MAX = 0 } dmapp_c_op_t;

#define DMAPP_C_PSET_MODE_CONCAT 0x1
#define DMAPP_C_PSET_DELIMITER_STRIDED 0

typedef struct dmapp_c_pset_delimiter_strided {
	int n_pes;
	int base_pe;
	int stride_pe;
} dmapp_c_pset_delimiter_strided_t;

typedef struct dmapp_c_pset_desc {
	void *concat_buf;
	uint64_t concat_buf_size;
	int type; /* DMAPP_C_PSET_DELIMITER_* */
	union {
		dmapp_c_pset_delimiter_strided_t stride_type;
	} u;
} dmapp_c_pset_desc_t;

/* ---- Begin and end ---- */

/*
 * All PEs of the job call one of the two, once; @requested may be NULL. *actual gets the attributes in force. The
 * library takes its place in the job from PMI, whether or not the program has initialised that.
 */
dmapp_return_t dmapp_init(dmapp_rma_attrs_t *requested, dmapp_rma_attrs_t *actual);
dmapp_return_t dmapp_init_ext(dmapp_rma_attrs_ext_t *requested, dmapp_rma_attrs_ext_t *actual);
dmapp_return_t dmapp_finalize(void);

/* May be called at any time: *flag is 1 from init to finalize. */
dmapp_return_t dmapp_initialized(int *flag);

/* The first two give the defaults before init. The last two change what may be changed after init, for the calling
 * thread. */
dmapp_return_t dmapp_get_rma_attrs(dmapp_rma_attrs_t *attrs);
dmapp_return_t dmapp_get_rma_attrs_ext(dmapp_rma_attrs_ext_t *attrs);
dmapp_return_t dmapp_set_rma_attrs(dmapp_rma_attrs_t *requested, dmapp_rma_attrs_t *actual);
dmapp_return_t dmapp_set_rma_attrs_ext(dmapp_rma_attrs_ext_t *requested, dmapp_rma_attrs_ext_t *actual);

/* *text gets a string that stays. */
dmapp_return_t dmapp_get_jobinfo(dmapp_jobinfo_t *info);
dmapp_return_t dmapp_explain_error(dmapp_return_t err, const char **text);

/* ---- Memory ---- */

/* In step on all PEs, with equal sizes. NULL: no room, see XT_SYMMETRIC_HEAP_SIZE. Aligned to 64 bytes. */
void *dmapp_sheap_malloc(size_t bytes);
void dmapp_sheap_free(void *ptr);
dmapp_return_t dmapp_sheap_stats(dmapp_sheap_stats_t *stats);

/* *seg may be sent to other PEs; only its owner unregisters it. */
dmapp_return_t dmapp_mem_register(void *addr, uint64_t length, dmapp_seg_desc_t *seg);
dmapp_return_t dmapp_mem_unregister(dmapp_seg_desc_t *seg);

/* *flag is 1 if both name the same memory of the same PE. */
dmapp_return_t dmapp_segdesc_compare(dmapp_seg_desc_t *a, dmapp_seg_desc_t *b, int *flag);

/* Not there. */
dmapp_return_t dmapp_mem_reserve(void *addr, uint64_t length, uint64_t flags, dmapp_seg_desc_t *seg);
dmapp_return_t dmapp_mem_update(void *addr, uint64_t length, uint64_t flags, dmapp_seg_desc_t *seg);
dmapp_return_t dmapp_checkpoint(void);
dmapp_return_t dmapp_restart(uint32_t modes);

/* ---- Puts and gets ---- */
dmapp_return_t dmapp_put(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, void *local_src,
			 uint64_t nelems, dmapp_type_t type);
dmapp_return_t dmapp_put_nb(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, void *local_src,
			    uint64_t nelems, dmapp_type_t type, dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_put_nbi(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, void *local_src,
			     uint64_t nelems, dmapp_type_t type);
dmapp_return_t dmapp_get(void *local_dst, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
			 uint64_t nelems, dmapp_type_t type);
dmapp_return_t dmapp_get_nb(void *local_dst, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
			    uint64_t nelems, dmapp_type_t type, dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_get_nbi(void *local_dst, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
			     uint64_t nelems, dmapp_type_t type);

/* After the data, flag_value is stored at remote_flag, which lies in the same segment. */
dmapp_return_t dmapp_put_flag(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, void *local_src,
			      uint64_t nelems, dmapp_type_t type, void *remote_flag, uint64_t flag_value);
dmapp_return_t dmapp_put_flag_nb(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, void *local_src,
				 uint64_t nelems, dmapp_type_t type, void *remote_flag, uint64_t flag_value,
				 dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_put_flag_nbi(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, void *local_src,
				  uint64_t nelems, dmapp_type_t type, void *remote_flag, uint64_t flag_value);

/* Not there. */
dmapp_return_t dmapp_get_flag_nbi(void *local_dst, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
				  uint64_t nelems, dmapp_type_t type);

/* Strides count elements. */
dmapp_return_t dmapp_iput(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, void *local_src,
			  ptrdiff_t dst_stride, ptrdiff_t src_stride, uint64_t nelems, dmapp_type_t type);
dmapp_return_t dmapp_iput_nb(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, void *local_src,
			     ptrdiff_t dst_stride, ptrdiff_t src_stride, uint64_t nelems, dmapp_type_t type,
			     dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_iput_nbi(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, void *local_src,
			      ptrdiff_t dst_stride, ptrdiff_t src_stride, uint64_t nelems, dmapp_type_t type);
dmapp_return_t dmapp_iget(void *local_dst, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
			  ptrdiff_t dst_stride, ptrdiff_t src_stride, uint64_t nelems, dmapp_type_t type);
dmapp_return_t dmapp_iget_nb(void *local_dst, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
			     ptrdiff_t dst_stride, ptrdiff_t src_stride, uint64_t nelems, dmapp_type_t type,
			     dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_iget_nbi(void *local_dst, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
			      ptrdiff_t dst_stride, ptrdiff_t src_stride, uint64_t nelems, dmapp_type_t type);

/* The remote element n is at index n, counted in elements. */
dmapp_return_t dmapp_ixput(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, void *local_src,
			   ptrdiff_t *dst_index, uint64_t nelems, dmapp_type_t type);
dmapp_return_t dmapp_ixput_nb(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, void *local_src,
			      ptrdiff_t *dst_index, uint64_t nelems, dmapp_type_t type, dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_ixput_nbi(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, void *local_src,
			       ptrdiff_t *dst_index, uint64_t nelems, dmapp_type_t type);
dmapp_return_t dmapp_ixget(void *local_dst, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
			   ptrdiff_t *src_index, uint64_t nelems, dmapp_type_t type);
dmapp_return_t dmapp_ixget_nb(void *local_dst, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
			      ptrdiff_t *src_index, uint64_t nelems, dmapp_type_t type, dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_ixget_nbi(void *local_dst, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
			       ptrdiff_t *src_index, uint64_t nelems, dmapp_type_t type);

/*
 * The same address of each of num_pes PEs. put: the same nelems elements to each; scatter, gather: nelems elements of
 * each, one after the other here.
 */
dmapp_return_t dmapp_put_ixpe(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t *pe_list, uint32_t num_pes,
			      void *local_src, uint64_t nelems, dmapp_type_t type);
dmapp_return_t dmapp_put_ixpe_nb(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t *pe_list, uint32_t num_pes,
				 void *local_src, uint64_t nelems, dmapp_type_t type, dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_put_ixpe_nbi(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t *pe_list, uint32_t num_pes,
				  void *local_src, uint64_t nelems, dmapp_type_t type);
dmapp_return_t dmapp_scatter_ixpe(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t *pe_list, uint32_t num_pes,
				  void *local_src, uint64_t nelems, dmapp_type_t type);
dmapp_return_t dmapp_scatter_ixpe_nb(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t *pe_list,
				     uint32_t num_pes, void *local_src, uint64_t nelems, dmapp_type_t type,
				     dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_scatter_ixpe_nbi(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t *pe_list,
				      uint32_t num_pes, void *local_src, uint64_t nelems, dmapp_type_t type);
dmapp_return_t dmapp_gather_ixpe(void *local_dst, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t *pe_list,
				 uint32_t num_pes, uint64_t nelems, dmapp_type_t type);
dmapp_return_t dmapp_gather_ixpe_nb(void *local_dst, void *remote_src, dmapp_seg_desc_t *remote_seg,
				    dmapp_pe_t *pe_list, uint32_t num_pes, uint64_t nelems, dmapp_type_t type,
				    dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_gather_ixpe_nbi(void *local_dst, void *remote_src, dmapp_seg_desc_t *remote_seg,
				     dmapp_pe_t *pe_list, uint32_t num_pes, uint64_t nelems, dmapp_type_t type);

/* ---- Atomics on 8 bytes ---- */

/* Without an answer. */
dmapp_return_t dmapp_aadd_qw(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, int64_t operand);
dmapp_return_t dmapp_aadd_qw_nb(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, int64_t operand,
				dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_aadd_qw_nbi(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, int64_t operand);
dmapp_return_t dmapp_aand_qw(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, int64_t operand);
dmapp_return_t dmapp_aand_qw_nb(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, int64_t operand,
				dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_aand_qw_nbi(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, int64_t operand);
dmapp_return_t dmapp_aor_qw(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, int64_t operand);
dmapp_return_t dmapp_aor_qw_nb(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, int64_t operand,
			       dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_aor_qw_nbi(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, int64_t operand);
dmapp_return_t dmapp_axor_qw(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, int64_t operand);
dmapp_return_t dmapp_axor_qw_nb(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, int64_t operand,
				dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_axor_qw_nbi(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, int64_t operand);

/* *local_old gets what was there before. afax: (old & and_mask) ^ xor_mask. acswap: swap if old is compare. */
dmapp_return_t dmapp_afadd_qw(void *local_old, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
			      int64_t operand);
dmapp_return_t dmapp_afadd_qw_nb(void *local_old, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
				 int64_t operand, dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_afadd_qw_nbi(void *local_old, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
				  int64_t operand);
dmapp_return_t dmapp_afand_qw(void *local_old, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
			      int64_t operand);
dmapp_return_t dmapp_afand_qw_nb(void *local_old, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
				 int64_t operand, dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_afand_qw_nbi(void *local_old, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
				  int64_t operand);
dmapp_return_t dmapp_afor_qw(void *local_old, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
			     int64_t operand);
dmapp_return_t dmapp_afor_qw_nb(void *local_old, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
				int64_t operand, dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_afor_qw_nbi(void *local_old, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
				 int64_t operand);
dmapp_return_t dmapp_afxor_qw(void *local_old, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
			      int64_t operand);
dmapp_return_t dmapp_afxor_qw_nb(void *local_old, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
				 int64_t operand, dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_afxor_qw_nbi(void *local_old, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
				  int64_t operand);
dmapp_return_t dmapp_afax_qw(void *local_old, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
			     int64_t and_mask, int64_t xor_mask);
dmapp_return_t dmapp_afax_qw_nb(void *local_old, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
				int64_t and_mask, int64_t xor_mask, dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_afax_qw_nbi(void *local_old, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
				 int64_t and_mask, int64_t xor_mask);
dmapp_return_t dmapp_acswap_qw(void *local_old, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
			       int64_t compare, int64_t swap);
dmapp_return_t dmapp_acswap_qw_nb(void *local_old, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
				  int64_t compare, int64_t swap, dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_acswap_qw_nbi(void *local_old, void *remote_src, dmapp_seg_desc_t *remote_seg,
				   dmapp_pe_t remote_pe, int64_t compare, int64_t swap);

/* Not there. */
dmapp_return_t dmapp_amo_put(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, dmapp_amo_t *amo);
dmapp_return_t dmapp_amo_put_nb(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe, dmapp_amo_t *amo,
				dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_amo_put_nbi(void *remote_dst, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
				 dmapp_amo_t *amo);
dmapp_return_t dmapp_amo_get(void *local_old, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
			     dmapp_amo_t *amo);
dmapp_return_t dmapp_amo_get_nb(void *local_old, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
				dmapp_amo_t *amo, dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_amo_get_nbi(void *local_old, void *remote_src, dmapp_seg_desc_t *remote_seg, dmapp_pe_t remote_pe,
				 dmapp_amo_t *amo);
dmapp_return_t dmapp_amo_flush(dmapp_pe_t remote_pe, uint64_t flags);

/* ---- Completion ---- */

/* An id that has been waited for, or whose test gave 1, is no more. */
dmapp_return_t dmapp_syncid_wait(dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_syncid_test(dmapp_syncid_handle_t *syncid, int *flag);
dmapp_return_t dmapp_gsync_wait(void);
dmapp_return_t dmapp_gsync_test(int *flag);
dmapp_return_t dmapp_progress(void);

/* ---- Locks ---- */
dmapp_return_t dmapp_lock_acquire(dmapp_lock_desc_t *lock, dmapp_seg_desc_t *seg, dmapp_pe_t host_pe, uint64_t flags,
				  dmapp_lock_handle_t *handle);
dmapp_return_t dmapp_lock_try(dmapp_lock_desc_t *lock, dmapp_seg_desc_t *seg, dmapp_pe_t host_pe, uint64_t flags,
			      dmapp_lock_handle_t *handle);
dmapp_return_t dmapp_lock_release(dmapp_lock_handle_t handle, uint64_t flags);
dmapp_return_t dmapp_lock_release_addr(dmapp_lock_desc_t *lock, dmapp_pe_t host_pe, uint64_t flags);

/* ---- Sets of PEs ---- */
dmapp_return_t dmapp_c_pset_create(dmapp_c_pset_desc_t *desc, uint64_t identifier, uint64_t modes,
				   dmapp_c_pset_attrs_t *attrs, dmapp_c_pset_handle_t *pset);
dmapp_return_t dmapp_c_pset_export(dmapp_c_pset_handle_t pset);
dmapp_return_t dmapp_c_pset_destroy(dmapp_c_pset_handle_t pset);
dmapp_return_t dmapp_c_barrier_join(dmapp_c_pset_handle_t pset);
dmapp_return_t dmapp_c_greduce_start(dmapp_c_pset_handle_t pset, void *in, void *out, uint32_t nelems,
				     dmapp_c_type_t type, dmapp_c_op_t op);
dmapp_return_t dmapp_c_greduce_nelems_max(dmapp_c_type_t type, uint32_t *max_nelems);
dmapp_return_t dmapp_c_pset_test(dmapp_c_pset_handle_t pset);
dmapp_return_t dmapp_c_pset_wait(dmapp_c_pset_handle_t pset);
dmapp_return_t dmapp_c_pset_cancel_op(dmapp_c_pset_handle_t pset);

/* ---- Messages to a function of another PE: not there ---- */
dmapp_return_t dmapp_queue_attach(dmapp_queue_cb_t cb, void *context, uint64_t flags, dmapp_queue_handle_t *queue);
dmapp_return_t dmapp_queue_detach(dmapp_queue_handle_t queue, uint64_t flags);
dmapp_return_t dmapp_queue_put(dmapp_queue_handle_t queue, void *src, uint64_t nelems, dmapp_type_t type,
			       dmapp_pe_t to_pe, uint64_t flags);

#ifdef __cplusplus
}
#endif

#endif /* DMAPP_H_INCLUDED */
