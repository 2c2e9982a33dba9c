/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/* Sizes and offsets of every structure, on LP64: checked by the compiler, in C and in C++. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <gni_pub.h>
#include <stddef.h>

#ifdef __cplusplus
#define CHECK(condition, text) static_assert(condition, text)
#define ALIGN_OF(type) alignof(type)
#else
#define CHECK(condition, text) _Static_assert(condition, text)
#define ALIGN_OF(type) _Alignof(type)
#endif
#define SIZE(type, size, align) CHECK(sizeof(type) == (size) && ALIGN_OF(type) == (align), #type)
#define FIELD(type, member, offset, size)                                                                              \
	CHECK(offsetof(type, member) == (offset) && sizeof(((type *)0)->member) == (size), #type "." #member)

SIZE(gni_cq_mode_t, 4, 4);
SIZE(gni_cq_entry_t, 8, 8);
SIZE(gni_error_mask_t, 1, 1);
SIZE(gni_mem_handle_attr_t, 4, 4);
SIZE(gni_smsg_type_t, 4, 4);
SIZE(gni_return_t, 4, 4);
SIZE(gni_post_state_t, 4, 4);
SIZE(gni_post_type_t, 4, 4);
SIZE(gni_fma_cmd_type_t, 4, 4);
SIZE(gni_ce_cmd_type_t, 4, 4);
SIZE(gni_ce_child_t, 4, 4);
SIZE(gni_nic_device_t, 4, 4);
SIZE(gni_dev_res_t, 4, 4);
SIZE(gni_job_res_t, 4, 4);
SIZE(gni_statistic_t, 4, 4);
SIZE(gni_nic_handle_t, 8, 8);
SIZE(gni_cdm_handle_t, 8, 8);
SIZE(gni_ep_handle_t, 8, 8);
SIZE(gni_cq_handle_t, 8, 8);
SIZE(gni_err_handle_t, 8, 8);
SIZE(gni_msgq_handle_t, 8, 8);
SIZE(gni_ce_handle_t, 8, 8);

SIZE(gni_mem_handle_t, 16, 8);
SIZE(struct gni_mem_handle, 16, 8);
FIELD(gni_mem_handle_t, qword1, 0, 8);
FIELD(gni_mem_handle_t, qword2, 8, 8);

SIZE(gni_smsg_attr_t, 56, 8);
SIZE(struct gni_smsg_attr, 56, 8);
FIELD(gni_smsg_attr_t, msg_type, 0, 4);
FIELD(gni_smsg_attr_t, msg_buffer, 8, 8);
FIELD(gni_smsg_attr_t, buff_size, 16, 4);
FIELD(gni_smsg_attr_t, mem_hndl, 24, 16);
FIELD(gni_smsg_attr_t, mbox_offset, 40, 4);
FIELD(gni_smsg_attr_t, mbox_maxcredit, 44, 2);
FIELD(gni_smsg_attr_t, msg_maxsize, 48, 4);

SIZE(gni_mem_segment_t, 16, 8);
SIZE(struct gni_mem_segment, 16, 8);
FIELD(gni_mem_segment_t, address, 0, 8);
FIELD(gni_mem_segment_t, length, 8, 8);

SIZE(gni_ce_result_t, 24, 8);
SIZE(struct gni_ce_result, 24, 8);
FIELD(gni_ce_result_t, control, 0, 8);
FIELD(gni_ce_result_t, result1, 8, 8);
FIELD(gni_ce_result_t, result2, 16, 8);

SIZE(gni_post_descriptor_t, 184, 8);
SIZE(struct gni_post_descriptor, 184, 8);
FIELD(gni_post_descriptor_t, next_descr, 0, 8);
FIELD(gni_post_descriptor_t, prev_descr, 8, 8);
FIELD(gni_post_descriptor_t, post_id, 16, 8);
FIELD(gni_post_descriptor_t, status, 24, 8);
FIELD(gni_post_descriptor_t, cq_mode_complete, 32, 2);
FIELD(gni_post_descriptor_t, type, 36, 4);
FIELD(gni_post_descriptor_t, cq_mode, 40, 2);
FIELD(gni_post_descriptor_t, dlvr_mode, 42, 2);
FIELD(gni_post_descriptor_t, local_addr, 48, 8);
FIELD(gni_post_descriptor_t, local_mem_hndl, 56, 16);
FIELD(gni_post_descriptor_t, remote_addr, 72, 8);
FIELD(gni_post_descriptor_t, remote_mem_hndl, 80, 16);
FIELD(gni_post_descriptor_t, length, 96, 8);
FIELD(gni_post_descriptor_t, rdma_mode, 104, 2);
FIELD(gni_post_descriptor_t, src_cq_hndl, 112, 8);
FIELD(gni_post_descriptor_t, sync_flag_value, 120, 8);
FIELD(gni_post_descriptor_t, sync_flag_addr, 128, 8);
FIELD(gni_post_descriptor_t, amo_cmd, 136, 4);
FIELD(gni_post_descriptor_t, first_operand, 144, 8);
FIELD(gni_post_descriptor_t, second_operand, 152, 8);
FIELD(gni_post_descriptor_t, cqwrite_value, 160, 8);
FIELD(gni_post_descriptor_t, ce_cmd, 168, 4);
FIELD(gni_post_descriptor_t, ce_mode, 172, 4);
FIELD(gni_post_descriptor_t, ce_red_id, 176, 8);

SIZE(gni_ntt_entry_t, 12, 4);
SIZE(struct gni_ntt_entry, 12, 4);
FIELD(gni_ntt_entry_t, blck_addr, 0, 4);
FIELD(gni_ntt_entry_t, rplc_addr, 4, 4);
FIELD(gni_ntt_entry_t, rplc_size, 8, 1);

SIZE(gni_ntt_descriptor_t, 24, 8);
SIZE(struct gni_ntt_descriptor, 24, 8);
FIELD(gni_ntt_descriptor_t, group_size, 0, 4);
FIELD(gni_ntt_descriptor_t, granularity, 4, 1);
FIELD(gni_ntt_descriptor_t, u, 8, 8);
FIELD(gni_ntt_descriptor_t, flags, 16, 1);

SIZE(gni_error_event_t, 48, 8);
SIZE(struct gni_error_event, 48, 8);
FIELD(gni_error_event_t, error_code, 0, 2);
FIELD(gni_error_event_t, error_category, 2, 1);
FIELD(gni_error_event_t, ptag, 3, 1);
FIELD(gni_error_event_t, serial_number, 4, 4);
FIELD(gni_error_event_t, timestamp, 8, 8);
FIELD(gni_error_event_t, info_mmrs, 16, 32);

SIZE(gni_job_limits_t, 36, 4);
SIZE(struct gni_job_limits, 36, 4);
FIELD(gni_job_limits_t, mdd_limit, 0, 4);
FIELD(gni_job_limits_t, a, 4, 4);
FIELD(gni_job_limits_t, b, 8, 4);
FIELD(gni_job_limits_t, fma_limit, 12, 4);
FIELD(gni_job_limits_t, bte_limit, 16, 4);
FIELD(gni_job_limits_t, cq_limit, 20, 4);
FIELD(gni_job_limits_t, ntt_ctrl, 24, 4);
FIELD(gni_job_limits_t, ntt_base, 28, 4);
FIELD(gni_job_limits_t, ntt_size, 32, 4);

SIZE(gni_dev_res_desc_t, 32, 8);
SIZE(struct gni_dev_res_desc, 32, 8);
FIELD(gni_dev_res_desc_t, available, 0, 8);
FIELD(gni_dev_res_desc_t, reserved, 8, 8);
FIELD(gni_dev_res_desc_t, held, 16, 8);
FIELD(gni_dev_res_desc_t, total, 24, 8);

SIZE(gni_job_res_desc_t, 16, 8);
SIZE(struct gni_job_res_desc, 16, 8);
FIELD(gni_job_res_desc_t, used, 0, 8);
FIELD(gni_job_res_desc_t, limit, 8, 8);
#ifdef __KERNEL__
SIZE(gni_errno_t, 144, 8);
SIZE(struct gni_errno, 144, 8);
FIELD(gni_errno_t, valid, 0, 1);
FIELD(gni_errno_t, func, 1, 100);
FIELD(gni_errno_t, lineno, 104, 4);
FIELD(gni_errno_t, errno, 108, 4);
FIELD(gni_errno_t, data1, 112, 8);
FIELD(gni_errno_t, data2, 120, 8);
FIELD(gni_errno_t, data3, 128, 8);
FIELD(gni_errno_t, data4, 136, 8);
#else
SIZE(gni_msgq_attr_t, 28, 4);
SIZE(struct gni_msgq_attr, 28, 4);
FIELD(gni_msgq_attr_t, max_msg_sz, 0, 4);
FIELD(gni_msgq_attr_t, smsg_q_sz, 4, 4);
FIELD(gni_msgq_attr_t, rcv_pool_sz, 8, 4);
FIELD(gni_msgq_attr_t, num_msgq_eps, 12, 4);
FIELD(gni_msgq_attr_t, nloc_insts, 16, 4);
FIELD(gni_msgq_attr_t, modes, 20, 1);
FIELD(gni_msgq_attr_t, rcv_cq_sz, 24, 4);

SIZE(gni_msgq_rem_inst_t, 32, 8);
SIZE(struct gni_msgq_rem_inst, 32, 8);
FIELD(gni_msgq_rem_inst_t, id, 0, 4);
FIELD(gni_msgq_rem_inst_t, mdh, 8, 16);
FIELD(gni_msgq_rem_inst_t, mdh_off, 24, 8);

SIZE(gni_msgq_ep_attr_t, 1552, 8);
SIZE(struct gni_msgq_ep_attr, 1552, 8);
FIELD(gni_msgq_ep_attr_t, pe_addr, 0, 4);
FIELD(gni_msgq_ep_attr_t, max_msg_sz, 4, 4);
FIELD(gni_msgq_ep_attr_t, smsg_q_sz, 8, 4);
FIELD(gni_msgq_ep_attr_t, num_insts, 12, 4);
FIELD(gni_msgq_ep_attr_t, insts, 16, 1536);

SIZE(gni_version_info_t, 176, 4);
SIZE(struct gni_version_info, 176, 4);
FIELD(gni_version_info_t, ugni_version, 0, 4);
FIELD(gni_version_info_t, ugni_svn_revision, 4, 4);
FIELD(gni_version_info_t, ugni_build_string, 8, 80);
FIELD(gni_version_info_t, kgni_version, 88, 4);
FIELD(gni_version_info_t, kgni_svn_revision, 92, 4);
FIELD(gni_version_info_t, kgni_build_string, 96, 80);

SIZE(gni_bi_desc_t, 16, 2);
SIZE(struct gni_bi_desc, 16, 2);
FIELD(gni_bi_desc_t, current_bw, 0, 2);
FIELD(gni_bi_desc_t, current_aot_bw, 2, 2);
FIELD(gni_bi_desc_t, current_norbs, 4, 2);
FIELD(gni_bi_desc_t, flags, 6, 2);
FIELD(gni_bi_desc_t, sys_def_bw, 8, 2);
FIELD(gni_bi_desc_t, sys_def_aot_bw, 10, 2);
FIELD(gni_bi_desc_t, cle_seqnum, 12, 2);
FIELD(gni_bi_desc_t, hss_seqnum, 14, 2);
#endif

#endif
