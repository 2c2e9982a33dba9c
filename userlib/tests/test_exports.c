/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/* Everything that the header declares for users, and nothing else, is exported: this links or it does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <gni_pub.h>

typedef void (*function)(void);

static const function functions[] = {
	(function)GNI_BISyncWait,
	(function)GNI_CdmAttach,
	(function)GNI_CdmCheckpoint,
	(function)GNI_CdmCreate,
	(function)GNI_CdmDestroy,
	(function)GNI_CdmGetNicAddress,
	(function)GNI_CdmResume,
	(function)GNI_CeCheckResult,
	(function)GNI_CeConfigure,
	(function)GNI_CeCreate,
	(function)GNI_CeDestroy,
	(function)GNI_CeGetId,
	(function)GNI_ConfigureJob,
	(function)GNI_ConfigureNTT,
	(function)GNI_ConfigureNTTandJob,
	(function)GNI_CqCreate,
	(function)GNI_CqDestroy,
	(function)GNI_CqErrorRecoverable,
	(function)GNI_CqErrorStr,
	(function)GNI_CqGetEvent,
	(function)GNI_CqInterruptMask,
	(function)GNI_CqInterruptUnmask,
	(function)GNI_CqTestEvent,
	(function)GNI_CqVectorMonitor,
	(function)GNI_CqVectorWaitEvent,
	(function)GNI_CqWaitEvent,
	(function)GNI_CtPostCqWrite,
	(function)GNI_CtPostFma,
	(function)GNI_DqueueConnect,
	(function)GNI_DqueueFini,
	(function)GNI_DqueueInit,
	(function)GNI_DqueueProgress,
	(function)GNI_DqueuePut,
	(function)GNI_EpBind,
	(function)GNI_EpCreate,
	(function)GNI_EpDestroy,
	(function)GNI_EpIdle,
	(function)GNI_EpPostData,
	(function)GNI_EpPostDataCancel,
	(function)GNI_EpPostDataCancelById,
	(function)GNI_EpPostDataTest,
	(function)GNI_EpPostDataTestById,
	(function)GNI_EpPostDataWId,
	(function)GNI_EpPostDataWait,
	(function)GNI_EpPostDataWaitById,
	(function)GNI_EpSetCeAttr,
	(function)GNI_EpSetEventData,
	(function)GNI_EpUnbind,
	(function)GNI_GetBIConfig,
	(function)GNI_GetCompleted,
	(function)GNI_GetDevResInfo,
	(function)GNI_GetDeviceType,
	(function)GNI_GetErrorEvent,
	(function)GNI_GetErrorMask,
	(function)GNI_GetJobResInfo,
	(function)GNI_GetLocalDeviceIds,
	(function)GNI_GetNicStat,
	(function)GNI_GetNttGran,
	(function)GNI_GetNumLocalDevices,
	(function)GNI_GetPtag,
	(function)GNI_GetVersion,
	(function)GNI_GetVersionInformation,
	(function)GNI_MemDeregister,
	(function)GNI_MemHndlQueryAttr,
	(function)GNI_MemQueryHndls,
	(function)GNI_MemRegister,
	(function)GNI_MemRegisterSegments,
	(function)GNI_MsgqConnRelease,
	(function)GNI_MsgqConnect,
	(function)GNI_MsgqGetConnAttrs,
	(function)GNI_MsgqIdle,
	(function)GNI_MsgqInit,
	(function)GNI_MsgqProgress,
	(function)GNI_MsgqRelease,
	(function)GNI_MsgqSend,
	(function)GNI_MsgqSize,
	(function)GNI_PostCqWrite,
	(function)GNI_PostDataProbe,
	(function)GNI_PostDataProbeById,
	(function)GNI_PostFma,
	(function)GNI_PostRdma,
	(function)GNI_PostdataProbeWaitById,
	(function)GNI_RebuildMemHndl,
	(function)GNI_ReleaseErrors,
	(function)GNI_ResetNicStat,
	(function)GNI_ResumeJob,
	(function)GNI_SetBIConfig,
	(function)GNI_SetErrorMask,
	(function)GNI_SetErrorPtag,
	(function)GNI_SetMddResources,
	(function)GNI_SmsgBufferSizeNeeded,
	(function)GNI_SmsgGetNext,
	(function)GNI_SmsgGetNextWTag,
	(function)GNI_SmsgInit,
	(function)GNI_SmsgRelease,
	(function)GNI_SmsgSend,
	(function)GNI_SmsgSendWTag,
	(function)GNI_SmsgSetDeliveryMode,
	(function)GNI_SmsgSetMaxRetrans,
	(function)GNI_SubscribeErrors,
	(function)GNI_SuspendJob,
	(function)GNI_WaitErrorEvents,
	(function)gni_ce_res_get_fpe,
	(function)gni_ce_res_get_red_id,
	(function)gni_ce_res_get_status,
	(function)gni_ce_res_status_ok,
	(function)gni_cq_bte_enq_status,
	(function)gni_cq_clr_status,
	(function)gni_cq_get_block_id,
	(function)gni_cq_get_ce_id,
	(function)gni_cq_get_data,
	(function)gni_cq_get_failed_enqueue_cnt,
	(function)gni_cq_get_info,
	(function)gni_cq_get_inst_id,
	(function)gni_cq_get_marker_id,
	(function)gni_cq_get_msg_id,
	(function)gni_cq_get_reductn_id,
	(function)gni_cq_get_rem_inst_id,
	(function)gni_cq_get_source,
	(function)gni_cq_get_status,
	(function)gni_cq_get_tid,
	(function)gni_cq_get_trans_type,
	(function)gni_cq_get_type,
	(function)gni_cq_get_unsuccessful_cnt,
	(function)gni_cq_overrun,
	(function)gni_cq_rem_overrun,
	(function)gni_cq_set_inst_id,
	(function)gni_cq_set_msg_id,
	(function)gni_cq_set_rem_inst_id,
	(function)gni_cq_set_tid,
	(function)gni_cq_set_type,
	(function)gni_cq_status_dla_overflow,
	(function)gni_dev_res_to_str,
	(function)gni_job_res_to_str,
};

static void test_exports(void **state)
{
	(void)state;
	/* 101 calls, 30 accessors and the three later additions that are functions. */
	assert_int_equal(sizeof(functions) / sizeof(functions[0]), 134);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		assert_non_null(functions[i]);
	assert_non_null(gni_err_str[GNI_RC_ERROR_NOMEM]);
	assert_non_null(gni_statistic_str[GNI_NUM_STATS - 1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exports),
	};

	return cmocka_run_group_tests_name("exported names", tests, NULL, NULL);
}
