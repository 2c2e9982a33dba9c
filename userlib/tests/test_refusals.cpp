// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Ordinary refusals of every function that has a return code: one line each, with the function, the code and a cause.
 * The header tells which functions there are.
 */
#include "session.hpp"
#include "stderr_text.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <set>
#include <vector>

namespace
{

struct Case {
	const char *function;
	std::function<gni_return_t()> call;
};

struct Objects : Session {
	gni_post_descriptor_t d = post(GNI_POST_FMA_PUT);
	gni_post_descriptor_t *back = nullptr;
	gni_ep_handle_t bare = nullptr, made_ep = nullptr;
	gni_cq_handle_t polled = nullptr, made_cq = nullptr;
	gni_ce_handle_t ce = nullptr;
	gni_err_handle_t err = nullptr;
	gni_nic_handle_t made_nic = nullptr;
	gni_mem_handle_t h = {1, 1};
	gni_mem_segment_t segment = {};
	gni_post_state_t state = GNI_POST_ERROR;
	gni_ntt_descriptor_t table = {};
	gni_cq_entry_t e = 0;
	uint32_t word = 0, other = 0;
	uint64_t wide = 0, length = 0;
	uint8_t tag = 0;
	char text[200] = "";
	void *p = nullptr;
	gni_ep_handle_t talking = nullptr; /* with mailboxes */
	gni_smsg_attr_t box = mailbox(0, sizeof(bytes), 4), no_box = {};
	gni_msgq_handle_t q = nullptr, made_q = nullptr;
	gni_msgq_attr_t queue_attr = small_queue(8), no_queue = {};
	gni_msgq_ep_attr_t node = {};

	Objects()
	{
		assert_rc(SUCCESS, GNI_EpCreate(nic, nullptr, &bare));
		assert_rc(SUCCESS, GNI_CqCreate(nic, 8, 0, GNI_CQ_NOBLOCK, nullptr, nullptr, &polled));
		assert_rc(SUCCESS, GNI_CeCreate(nic, &ce));
		assert_rc(SUCCESS, GNI_EpCreate(nic, cq, &talking));
		assert_rc(SUCCESS, GNI_EpBind(talking, 6, 88));
		assert_rc(SUCCESS, GNI_SmsgInit(talking, &box, &box));
		assert_rc(SUCCESS, GNI_MsgqInit(nic, ignore, nullptr, cq, &queue_attr, &q));
	}
	gni_return_t open(gni_smsg_attr_t own) { return GNI_SmsgInit(ep, &own, &own); }
	gni_return_t open(gni_msgq_attr_t a) { return GNI_MsgqInit(nic, ignore, nullptr, cq, &a, &made_q); }
};

void wrong_type(Objects &o, gni_post_type_t type)
{
	o.d = o.post(type);
}

std::vector<Case> posts(Objects &o)
{
	return {
		{"GNI_PostFma", [&] { return GNI_PostFma(nullptr, &o.d); }},
		{"GNI_PostFma", [&] { return GNI_PostFma(o.ep, nullptr); }},
		{"GNI_PostFma", [&] { return GNI_PostFma(o.bare, &o.d); }},
		{"GNI_PostFma", [&] { return wrong_type(o, GNI_POST_RDMA_PUT), GNI_PostFma(o.ep, &o.d); }},
		{"GNI_PostFma", [&] { return wrong_type(o, GNI_POST_AMO), GNI_PostFma(o.ep, &o.d); }},
		{"GNI_PostFma", [&] { return wrong_type(o, GNI_POST_CE), GNI_PostFma(o.ep, &o.d); }},
		{"GNI_PostFma",
		 [&] { return wrong_type(o, GNI_POST_FMA_GET), o.d.length = 3, GNI_PostFma(o.ep, &o.d); }},
		{"GNI_PostFma",
		 [&] { return wrong_type(o, GNI_POST_FMA_PUT), o.d.cq_mode = 0x80, GNI_PostFma(o.ep, &o.d); }},
		{"GNI_PostFma",
		 [&] { return wrong_type(o, GNI_POST_FMA_PUT), o.d.remote_mem_hndl = {}, GNI_PostFma(o.ep, &o.d); }},
		{"GNI_PostFma",
		 [&] {
			 return wrong_type(o, GNI_POST_FMA_PUT), o.d.cq_mode = GNI_CQMODE_DUAL_EVENTS,
								 GNI_PostFma(o.ep, &o.d);
		 }},
		{"GNI_CtPostFma", [&] { return wrong_type(o, GNI_POST_AMO), GNI_CtPostFma(o.ep, &o.d); }},
		{"GNI_CtPostFma",
		 [&] { return wrong_type(o, GNI_POST_FMA_PUT), o.d.remote_mem_hndl = {}, GNI_CtPostFma(o.ep, &o.d); }},
		{"GNI_PostRdma", [&] { return GNI_PostRdma(nullptr, &o.d); }},
		{"GNI_PostRdma", [&] { return wrong_type(o, GNI_POST_FMA_PUT), GNI_PostRdma(o.ep, &o.d); }},
		{"GNI_PostRdma",
		 [&] { return wrong_type(o, GNI_POST_RDMA_PUT), o.d.length = 0, GNI_PostRdma(o.ep, &o.d); }},
		{"GNI_PostRdma",
		 [&] {
			 return wrong_type(o, GNI_POST_RDMA_PUT), o.d.remote_mem_hndl.qword2 ^= 1,
				GNI_PostRdma(o.ep, &o.d);
		 }},
		{"GNI_PostCqWrite", [&] { return wrong_type(o, GNI_POST_FMA_PUT), GNI_PostCqWrite(o.ep, &o.d); }},
		{"GNI_CtPostCqWrite", [&] { return wrong_type(o, GNI_POST_FMA_PUT), GNI_CtPostCqWrite(o.ep, &o.d); }},
		{"GNI_GetCompleted", [&] { return GNI_GetCompleted(o.cq, 0, &o.back); }},
		{"GNI_GetCompleted", [&] { return GNI_GetCompleted(nullptr, 0, &o.back); }},
	};
}

std::vector<Case> objects(Objects &o)
{
	return {
		{"GNI_CdmCreate", [&] { return GNI_CdmCreate(1, 0, 1, 0, nullptr); }},
		{"GNI_CdmCreate",
		 [&] { return GNI_CdmCreate(1, 255, 1, 0x08000000, reinterpret_cast<gni_cdm_handle_t *>(&o.p)); }},
		{"GNI_CdmDestroy", [&] { return GNI_CdmDestroy(nullptr); }},
		{"GNI_CdmGetNicAddress", [&] { return GNI_CdmGetNicAddress(7, &o.word, &o.other); }},
		{"GNI_CdmAttach", [&] { return GNI_CdmAttach(o.cdm, 7, &o.word, &o.made_nic); }},
		{"GNI_CdmAttach", [&] { return GNI_CdmAttach(o.cdm, 0, &o.word, &o.made_nic); }},
		{"GNI_CdmAttach", [&] { return GNI_CdmAttach(o.cdm, ~0U, &o.word, &o.made_nic); }},
		{"GNI_CdmCheckpoint", [&] { return GNI_CdmCheckpoint(nullptr); }},
		{"GNI_CdmResume", [&] { return GNI_CdmResume(nullptr); }},
		{"GNI_EpCreate", [&] { return GNI_EpCreate(nullptr, nullptr, &o.made_ep); }},
		{"GNI_EpSetEventData", [&] { return GNI_EpSetEventData(nullptr, 0, 0); }},
		{"GNI_EpBind", [&] { return GNI_EpBind(nullptr, 0, 0); }},
		{"GNI_EpBind", [&] { return GNI_EpBind(o.ep, 0, 0); }},
		{"GNI_EpBind", [&] { return GNI_EpBind(o.bare, ~0U, 0); }},
		{"GNI_EpUnbind", [&] { return GNI_EpUnbind(nullptr); }},
		{"GNI_EpIdle", [&] { return GNI_EpIdle(nullptr); }},
		{"GNI_EpDestroy", [&] { return GNI_EpDestroy(nullptr); }},
		{"GNI_CqCreate", [&] { return GNI_CqCreate(o.nic, 0, 0, 0, nullptr, nullptr, &o.made_cq); }},
		{"GNI_CqDestroy", [&] { return GNI_CqDestroy(o.cq); }},
		{"GNI_CqDestroy", [&] { return GNI_CqDestroy(nullptr); }},
		{"GNI_CqGetEvent", [&] { return GNI_CqGetEvent(nullptr, &o.e); }},
		{"GNI_CqWaitEvent", [&] { return GNI_CqWaitEvent(o.polled, 1, &o.e); }},
		{"GNI_CqVectorWaitEvent", [&] { return GNI_CqVectorWaitEvent(&o.polled, 1, 1, &o.e, &o.word); }},
		{"GNI_CqVectorMonitor", [&] { return GNI_CqVectorMonitor(&o.polled, 1, 1, &o.word); }},
		{"GNI_CqInterruptMask", [&] { return GNI_CqInterruptMask(o.polled); }},
		{"GNI_CqInterruptUnmask", [&] { return GNI_CqInterruptUnmask(o.cq); }},
		{"GNI_CqTestEvent", [&] { return GNI_CqTestEvent(nullptr); }},
		{"GNI_CqErrorStr", [&] { return GNI_CqErrorStr(0, o.text, 1); }},
		{"GNI_CqErrorRecoverable", [&] { return GNI_CqErrorRecoverable(0, nullptr); }},
		{"GNI_MemRegister", [&] { return GNI_MemRegister(o.nic, 1, 0, nullptr, 0, ~0U, &o.h); }},
		{"GNI_MemRegister", [&] { return GNI_MemRegister(o.nic, 1, 8, o.cq, 0, ~0U, &o.h); }},
		{"GNI_MemRegister", [&] { return GNI_MemRegister(o.nic, 1, 8, nullptr, 1U << 31, ~0U, &o.h); }},
		{"GNI_MemRegisterSegments",
		 [&] { return GNI_MemRegisterSegments(o.nic, &o.segment, 0, nullptr, 0, ~0U, &o.h); }},
		{"GNI_SetMddResources", [&] { return GNI_SetMddResources(o.nic, 0); }},
		{"GNI_MemDeregister", [&] { return GNI_MemDeregister(o.nic, &o.h); }},
		{"GNI_MemHndlQueryAttr",
		 [&] { return GNI_MemHndlQueryAttr(&o.h, GNI_MEMHNDL_ATTR_VMDH, reinterpret_cast<int *>(&o.word)); }},
		{"GNI_RebuildMemHndl", [&] { return GNI_RebuildMemHndl(&o.memory, 0, &o.h); }},
		{"GNI_MemQueryHndls", [&] { return GNI_MemQueryHndls(o.nic, -1, &o.h, &o.wide, &o.length); }},
	};
}

std::vector<Case> services(Objects &o)
{
	return {
		{"GNI_EpPostData", [&] { return GNI_EpPostData(o.ep, o.text, 129, o.text, 1); }},
		{"GNI_EpPostDataWId", [&] { return GNI_EpPostDataWId(o.ep, nullptr, 0, nullptr, 0, ~uint64_t{0}); }},
		{"GNI_EpPostDataTest", [&] { return GNI_EpPostDataTest(nullptr, &o.state, &o.word, &o.other); }},
		{"GNI_EpPostDataTestById",
		 [&] { return GNI_EpPostDataTestById(nullptr, 1, &o.state, &o.word, &o.other); }},
		{"GNI_EpPostDataWait", [&] { return GNI_EpPostDataWait(o.ep, 0, &o.state, &o.word, &o.other); }},
		{"GNI_EpPostDataWaitById",
		 [&] { return GNI_EpPostDataWaitById(o.ep, 1, 0, &o.state, &o.word, &o.other); }},
		{"GNI_EpPostDataCancel", [&] { return GNI_EpPostDataCancel(nullptr); }},
		{"GNI_EpPostDataCancelById", [&] { return GNI_EpPostDataCancelById(nullptr, 1); }},
		{"GNI_PostDataProbe", [&] { return GNI_PostDataProbe(nullptr, &o.word, &o.other); }},
		{"GNI_PostDataProbeById", [&] { return GNI_PostDataProbeById(nullptr, &o.wide); }},
		{"GNI_PostdataProbeWaitById", [&] { return GNI_PostdataProbeWaitById(nullptr, 1, &o.wide); }},
		{"GNI_CeCreate", [&] { return GNI_CeCreate(nullptr, &o.ce); }},
		{"GNI_CeGetId", [&] { return GNI_CeGetId(nullptr, &o.word); }},
		{"GNI_EpSetCeAttr", [&] { return GNI_EpSetCeAttr(o.bare, 0, 0, GNI_CE_CHILD_PE); }},
		{"GNI_CeConfigure", [&] { return GNI_CeConfigure(o.ce, &o.ep, 1, nullptr, nullptr, 0); }},
		{"GNI_CeCheckResult", [&] { return GNI_CeCheckResult(nullptr, 24); }},
		{"GNI_CeDestroy", [&] { return GNI_CeDestroy(nullptr); }},
		{"GNI_SubscribeErrors", [&] { return GNI_SubscribeErrors(nullptr, 7, 1, 0, &o.err); }},
		{"GNI_ReleaseErrors", [&] { return GNI_ReleaseErrors(nullptr); }},
		{"GNI_GetErrorMask", [&] { return GNI_GetErrorMask(nullptr, &o.tag); }},
		{"GNI_SetErrorMask", [&] { return GNI_SetErrorMask(nullptr, 1, &o.tag); }},
		{"GNI_GetErrorEvent", [&] { return GNI_GetErrorEvent(nullptr, nullptr); }},
		{"GNI_WaitErrorEvents", [&] { return GNI_WaitErrorEvents(nullptr, nullptr, 1, 1, &o.word); }},
		{"GNI_SetErrorPtag", [&] { return GNI_SetErrorPtag(nullptr, 1); }},
		{"GNI_GetNumLocalDevices", [&] { return GNI_GetNumLocalDevices(nullptr); }},
		{"GNI_GetLocalDeviceIds", [&] { return GNI_GetLocalDeviceIds(0, nullptr); }},
		{"GNI_GetDeviceType", [&] { return GNI_GetDeviceType(nullptr); }},
		{"GNI_GetVersion", [&] { return GNI_GetVersion(nullptr); }},
		{"GNI_GetVersionInformation", [&] { return GNI_GetVersionInformation(nullptr); }},
		{"GNI_GetDevResInfo", [&] { return GNI_GetDevResInfo(0, GNI_DEV_RES_LAST, nullptr); }},
		{"GNI_GetJobResInfo", [&] { return GNI_GetJobResInfo(0, 1, GNI_JOB_RES_LAST, nullptr); }},
		{"GNI_GetNttGran", [&] { return GNI_GetNttGran(7, &o.word); }},
		{"GNI_GetPtag", [&] { return GNI_GetPtag(7, 1, &o.tag); }},
		{"GNI_GetNicStat", [&] { return GNI_GetNicStat(nullptr, GNI_STAT_SMSG_REQ_STALL, &o.word); }},
		{"GNI_ResetNicStat", [&] { return GNI_ResetNicStat(nullptr, GNI_STAT_SMSG_REQ_STALL); }},
		{"GNI_ConfigureJob", [&] { return GNI_ConfigureJob(0, 1, 0, 1, nullptr); }},
		{"GNI_ConfigureNTT", [&] { return GNI_ConfigureNTT(0, nullptr, &o.word); }},
		{"GNI_ConfigureNTT",
		 [&] {
			 o.table.group_size = 1;
			 return GNI_ConfigureNTT(7, &o.table, &o.word);
		 }},
		{"GNI_ConfigureNTTandJob",
		 [&] { return GNI_ConfigureNTTandJob(7, 1, 1, 1, nullptr, nullptr, &o.word); }},
		{"GNI_SuspendJob", [&] { return GNI_SuspendJob(0, 1, 0, 1, 1); }},
		{"GNI_ResumeJob", [&] { return GNI_ResumeJob(7, 1, 1, 1); }},
		{"GNI_SetBIConfig", [&] { return GNI_SetBIConfig(7, 1, 1, 0); }},
		{"GNI_GetBIConfig", [&] { return GNI_GetBIConfig(0, nullptr); }},
		{"GNI_BISyncWait", [&] { return GNI_BISyncWait(7, 1); }},
		{"GNI_DqueueInit", [&] { return GNI_DqueueInit(nullptr, nullptr, nullptr, nullptr); }},
		{"GNI_DqueueConnect", [&] { return GNI_DqueueConnect(nullptr, nullptr, 0); }},
		{"GNI_DqueuePut", [&] { return GNI_DqueuePut(nullptr, nullptr, 0, 0, 0); }},
		{"GNI_DqueueProgress", [&] { return GNI_DqueueProgress(nullptr); }},
		{"GNI_DqueueFini", [&] { return GNI_DqueueFini(nullptr); }},
	};
}

std::vector<Case> mailboxes(Objects &o)
{
	return {
		{"GNI_SmsgBufferSizeNeeded", [&] { return GNI_SmsgBufferSizeNeeded(nullptr, &o.word); }},
		{"GNI_SmsgBufferSizeNeeded", [&] { return GNI_SmsgBufferSizeNeeded(&o.no_box, &o.word); }},
		{"GNI_SmsgInit", [&] { return GNI_SmsgInit(nullptr, &o.box, &o.box); }},
		{"GNI_SmsgInit", [&] { return GNI_SmsgInit(o.ep, &o.box, nullptr); }},
		{"GNI_SmsgInit", [&] { return GNI_SmsgInit(o.bare, &o.box, &o.box); }},
		{"GNI_SmsgInit", [&] { return GNI_SmsgInit(o.talking, &o.box, &o.box); }},
		{"GNI_SmsgInit", [&] { return o.box.mbox_maxcredit = 0, o.open(o.box); }},
		{"GNI_SmsgInit", [&] { return o.box.mbox_maxcredit = 1000, o.open(o.box); }},
		{"GNI_SmsgInit", [&] { return o.box.mem_hndl = {}, o.open(o.box); }},
		{"GNI_SmsgSend", [&] { return GNI_SmsgSend(nullptr, nullptr, 0, nullptr, 0, 0); }},
		{"GNI_SmsgSend", [&] { return GNI_SmsgSend(o.ep, nullptr, 0, nullptr, 0, 0); }},
		{"GNI_SmsgSend", [&] { return GNI_SmsgSend(o.talking, nullptr, 0, nullptr, 8, 0); }},
		{"GNI_SmsgSend", [&] { return GNI_SmsgSend(o.talking, o.bytes, 65, nullptr, 0, 0); }},
		{"GNI_SmsgSendWTag", [&] { return GNI_SmsgSendWTag(o.talking, nullptr, 0, nullptr, 0, 0, 255); }},
		{"GNI_SmsgSendWTag", [&] { return GNI_SmsgSendWTag(o.talking, o.bytes, 8000, nullptr, 0, 0, 1); }},
		{"GNI_SmsgGetNext", [&] { return GNI_SmsgGetNext(o.ep, &o.p); }},
		{"GNI_SmsgGetNext", [&] { return GNI_SmsgGetNext(o.talking, nullptr); }},
		{"GNI_SmsgGetNextWTag", [&] { return GNI_SmsgGetNextWTag(nullptr, &o.p, &o.tag); }},
		{"GNI_SmsgGetNextWTag", [&] { return GNI_SmsgGetNextWTag(o.talking, &o.p, nullptr); }},
		{"GNI_SmsgRelease", [&] { return GNI_SmsgRelease(o.ep); }},
		/* A peer that writes nonsense: told by each call from then on. */
		{"GNI_SmsgGetNext", [&] { return o.bytes[64] = 0x55, GNI_SmsgGetNext(o.talking, &o.p); }},
		{"GNI_SmsgGetNextWTag", [&] { return GNI_SmsgGetNextWTag(o.talking, &o.p, &o.tag); }},
		{"GNI_SmsgSend", [&] { return GNI_SmsgSend(o.talking, nullptr, 0, nullptr, 0, 0); }},
		{"GNI_SmsgSetDeliveryMode", [&] { return GNI_SmsgSetDeliveryMode(nullptr, 0); }},
		{"GNI_SmsgSetDeliveryMode", [&] { return GNI_SmsgSetDeliveryMode(o.nic, 0x8000); }},
		{"GNI_SmsgSetMaxRetrans", [&] { return GNI_SmsgSetMaxRetrans(nullptr, 1); }},
	};
}

std::vector<Case> message_queues(Objects &o)
{
	return {
		{"GNI_MsgqSize", [&] { return GNI_MsgqSize(nullptr, &o.word); }},
		{"GNI_MsgqSize", [&] { return GNI_MsgqSize(&o.no_queue, &o.word); }},
		{"GNI_MsgqInit",
		 [&] { return GNI_MsgqInit(nullptr, Objects::ignore, nullptr, o.cq, &o.queue_attr, &o.made_q); }},
		{"GNI_MsgqInit", [&] { return GNI_MsgqInit(o.nic, nullptr, nullptr, o.cq, &o.queue_attr, &o.made_q); }},
		{"GNI_MsgqInit",
		 [&] { return GNI_MsgqInit(o.nic, Objects::ignore, nullptr, nullptr, &o.queue_attr, &o.made_q); }},
		{"GNI_MsgqInit", [&] { return o.open(o.queue_attr); }},
		{"GNI_MsgqInit", [&] { return o.queue_attr.modes = 0x80, o.open(o.queue_attr); }},
		{"GNI_MsgqConnect", [&] { return GNI_MsgqConnect(o.q, 6, nullptr); }},
		{"GNI_MsgqConnect", [&] { return GNI_MsgqConnect(o.q, 6, &o.node); }},
		{"GNI_MsgqConnect", [&] { return o.node.pe_addr = 6, GNI_MsgqConnect(o.q, 6, &o.node); }},
		{"GNI_MsgqConnRelease", [&] { return GNI_MsgqConnRelease(o.q, 6); }},
		{"GNI_MsgqSend", [&] { return GNI_MsgqSend(o.q, nullptr, nullptr, 0, nullptr, 0, 0, 0); }},
		{"GNI_MsgqSend", [&] { return GNI_MsgqSend(o.q, o.bare, nullptr, 0, nullptr, 0, 0, 0); }},
		{"GNI_MsgqSend", [&] { return GNI_MsgqSend(o.q, o.ep, nullptr, 1, nullptr, 0, 0, 0); }},
		{"GNI_MsgqSend", [&] { return GNI_MsgqSend(o.q, o.ep, o.bytes, 65, nullptr, 0, 0, 0); }},
		{"GNI_MsgqSend", [&] { return GNI_MsgqSend(o.q, o.ep, nullptr, 0, nullptr, 0, 0, 0); }},
		{"GNI_MsgqGetConnAttrs", [&] { return GNI_MsgqGetConnAttrs(o.q, 6, nullptr, nullptr); }},
		{"GNI_MsgqGetConnAttrs", [&] { return GNI_MsgqGetConnAttrs(o.q, ~0U, &o.node, nullptr); }},
		{"GNI_MsgqGetConnAttrs",
		 [&] {
			 (void)GNI_MsgqGetConnAttrs(o.q, 7, &o.node, nullptr);
			 return GNI_MsgqGetConnAttrs(o.q, 7, &o.node, nullptr);
		 }},
		{"GNI_MsgqGetConnAttrs", [&] { return GNI_MsgqGetConnAttrs(o.q, 8, &o.node, nullptr); }},
		{"GNI_MsgqProgress", [&] { return GNI_MsgqProgress(nullptr, 0); }},
		{"GNI_MsgqIdle", [&] { return GNI_MsgqIdle(nullptr); }},
		{"GNI_MsgqRelease", [&] { return GNI_MsgqRelease(nullptr); }},
	};
}

std::vector<Case> all(Objects &o)
{
	std::vector<Case> cases = objects(o);

	for (auto group : {posts, services, mailboxes, message_queues}) {
		const std::vector<Case> more = group(o);
		cases.insert(cases.end(), more.begin(), more.end());
	}
	return cases;
}

void wrong(const char *function, const char *what, const std::string &said)
{
	print_error("%s: %s; it says \"%s\"\n", function, what, said.c_str());
	_fail(__FILE__, __LINE__);
}

TEST(one_line_each)
{
	const Variable on("UGNI_DEBUG", "1");
	Objects o;

	for (const Case &c : all(o)) {
		gni_return_t rc = GNI_RC_SUCCESS;
		const std::string said = text_of(STDERR_FILENO, [&] { rc = c.call(); });
		const std::string start =
			"libugni[" + std::to_string(getpid()) + "]: " + c.function + ": " + gni_err_str[rc] + ": ";

		if (rc == GNI_RC_SUCCESS || !said.starts_with(start) || said.size() < start.size() + 8 ||
		    std::ranges::count(said, '\n') != 1)
			wrong(c.function, gni_err_str[rc], said);
	}
}

/* Of a queue whose endpoint is gone, but not the events of what it has posted. */
TEST(a_queue_of_outstanding_posts)
{
	Session s;
	gni_post_descriptor_t d = s.post(GNI_POST_FMA_PUT);
	gni_mem_handle_t h = {};
	const auto registered = [&] {
		return GNI_MemRegister(s.nic, reinterpret_cast<uint64_t>(s.bytes), 8, s.cq, 0, ~0U, &h);
	};

	fake::kernel().on_doorbell = nullptr;
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	assert_rc(SUCCESS, GNI_EpDestroy(s.ep));
	assert_int_equal(GNI_RC_INVALID_PARAM, registered());
}

TEST(nothing_unasked)
{
	Objects o;

	for (const Case &c : all(o)) {
		const std::string said = text_of(STDERR_FILENO, [&] { (void)c.call(); });

		if (!said.empty())
			wrong(c.function, "without being asked", said);
	}
}

TEST(none_is_left_out)
{
	Objects o;
	std::set<std::string> missing;
	std::ifstream header(GNI_HEADER);
	const std::string start = "gni_return_t GNI_";

	for (std::string text; std::getline(header, text);) {
		if (text.starts_with(start))
			missing.insert(text.substr(start.size() - 4, text.find('(') - start.size() + 4));
	}
	assert_true(missing.size() > 90);
	for (const Case &c : all(o))
		missing.erase(c.function);
	for (const std::string &name : missing)
		wrong(name.c_str(), "no refusal is looked at", "");
}

} // namespace

TEST_MAIN("refusals have a cause")
