// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Collective channels and posts over the fake kernel: parameters, what reaches driver and NIC, and waiting. */
#include "ce.hpp"
#include "session.hpp"

#include <cerrno>

constexpr uint32_t kModes = GNI_CE_MODE_ROUND_NEAR | GNI_CE_MODE_CQE_ONCOMP | GNI_CE_MODE_RC_ADAPT;

static gni_ep_handle_t bound(const Session &s, uint32_t address, uint32_t id)
{
	gni_ep_handle_t ep = nullptr;

	assert_rc(SUCCESS, GNI_EpCreate(s.nic, s.cq, &ep));
	assert_rc(SUCCESS, GNI_EpBind(ep, address, id));
	return ep;
}

static gni_ep_handle_t child(const Session &s, uint32_t index, gni_ce_child_t kind = GNI_CE_CHILD_PE)
{
	gni_ep_handle_t ep = bound(s, index % 8, 100 + index);

	assert_rc(SUCCESS, GNI_EpSetCeAttr(ep, index % 4, index, kind));
	return ep;
}

TEST(channels)
{
	Session s;
	gni_ce_handle_t ce[5] = {};
	uint32_t id = 9;

	assert_rc(INVALID_PARAM, GNI_CeCreate(nullptr, &ce[0]));
	assert_rc(INVALID_PARAM, GNI_CeCreate(s.nic, nullptr));
	for (uint32_t n = 0; n < 4; n++) {
		assert_rc(SUCCESS, GNI_CeCreate(s.nic, &ce[n]));
		assert_rc(SUCCESS, GNI_CeGetId(ce[n], &id));
		assert_int_equal(id, n);
	}
	/* N21 */
	assert_rc(ERROR_RESOURCE, GNI_CeCreate(s.nic, &ce[4]));
	assert_rc(INVALID_PARAM, GNI_CeGetId(ce[0], nullptr));
	assert_rc(INVALID_PARAM, GNI_CeGetId(nullptr, &id));
	assert_rc(SUCCESS, GNI_CeDestroy(ce[2]));
	assert_rc(INVALID_PARAM, GNI_CeDestroy(ce[2]));
	assert_rc(INVALID_PARAM, GNI_CeGetId(ce[2], &id));
	assert_int_equal(s.file().engines.size(), 3);
	assert_rc(SUCCESS, GNI_CeCreate(s.nic, &ce[2]));
	fake::kernel().errors[KGNI_IOC_CE_ALLOC] = -EOPNOTSUPP;
	assert_rc(ILLEGAL_OP, GNI_CeCreate(s.nic, &ce[4]));
	fake::kernel().errors[KGNI_IOC_CE_ALLOC] = -ENOMEM;
	assert_rc(ERROR_NOMEM, GNI_CeCreate(s.nic, &ce[4]));
}

TEST(no_engine)
{
	fake::reset();
	gni_cdm_handle_t cdm = nullptr;
	gni_nic_handle_t nic = nullptr;
	gni_ep_handle_t ep = nullptr;
	gni_ce_handle_t ce = nullptr;
	uint32_t address = 0;
	fake::kernel().caps = 0x7f;
	assert_rc(SUCCESS, GNI_CdmCreate(77, GNI_FIND_ALLOC_PTAG, 0x1234, 0, &cdm));
	assert_rc(SUCCESS, GNI_CdmAttach(cdm, 0, &address, &nic));
	assert_rc(SUCCESS, GNI_EpCreate(nic, nullptr, &ep));
	assert_rc(SUCCESS, GNI_EpBind(ep, 1, 1));
	assert_rc(ILLEGAL_OP, GNI_CeCreate(nic, &ce));
	assert_rc(ILLEGAL_OP, GNI_EpSetCeAttr(ep, 0, 0, GNI_CE_CHILD_PE));
	assert_rc(SUCCESS, GNI_CdmDestroy(cdm));
}

TEST(attributes)
{
	Session s;
	gni_ep_handle_t unbound = nullptr;

	assert_rc(SUCCESS, GNI_EpCreate(s.nic, s.cq, &unbound));
	assert_rc(INVALID_PARAM, GNI_EpSetCeAttr(unbound, 0, 0, GNI_CE_CHILD_PE));
	assert_rc(INVALID_PARAM, GNI_EpSetCeAttr(nullptr, 0, 0, GNI_CE_CHILD_PE));
	assert_rc(INVALID_PARAM, GNI_EpSetCeAttr(s.ep, 0, 32, GNI_CE_CHILD_PE));
	assert_rc(INVALID_PARAM, GNI_EpSetCeAttr(s.ep, 4, 0, GNI_CE_CHILD_VCE));
	assert_rc(INVALID_PARAM, GNI_EpSetCeAttr(s.ep, 0, 0, GNI_CE_CHILD_UNUSED));
	assert_rc(INVALID_PARAM, GNI_EpSetCeAttr(s.ep, 0, 0, static_cast<gni_ce_child_t>(3)));
	assert_rc(SUCCESS, GNI_EpSetCeAttr(s.ep, 3, 31, GNI_CE_CHILD_VCE));
	/* Of a child process no channel is known. */
	assert_rc(SUCCESS, GNI_EpSetCeAttr(s.ep, ~0U, 31, GNI_CE_CHILD_PE));
}

TEST(configuration)
{
	Session s;
	gni_ce_handle_t ce = nullptr;
	assert_rc(SUCCESS, GNI_CeCreate(s.nic, &ce));
	gni_ep_handle_t parent = bound(s, 5, 0);
	assert_rc(SUCCESS, GNI_EpSetCeAttr(parent, 2, 17, GNI_CE_CHILD_VCE));
	gni_ep_handle_t kids[] = {child(s, 1, GNI_CE_CHILD_VCE), child(s, 0)};

	assert_rc(SUCCESS, GNI_CeConfigure(ce, kids, 2, parent, s.cq,
					   GNI_CE_MODE_ROUND_ZERO | GNI_CE_MODE_CQE_ONERR | GNI_CE_MODE_RC_MIN_HASH));
	const fake::Engine &e = s.file().engines.at(0);
	assert_int_equal(e.config.flags, KGNI_CE_PARENT | KGNI_CE_CQ_ONERR);
	assert_int_equal(e.config.round, 3);
	assert_int_equal(e.config.route, 2);
	assert_int_equal(e.config.parent_pe, 5);
	assert_int_equal(e.config.parent_ce, 2);
	assert_int_equal(e.config.parent_index, 17);
	assert_int_equal(e.config.cq, s.file().queues.begin()->first);
	assert_int_equal(e.children.size(), 2);
	assert_int_equal(e.children[0].kind, KGNI_CE_ENDPOINT);
	assert_int_equal(e.children[0].inst_id, 100);
	assert_int_equal(e.children[0].ce, 0);
	assert_int_equal(e.children[1].kind, KGNI_CE_ENGINE);
	assert_int_equal(e.children[1].pe, 1);
	assert_int_equal(e.children[1].ce, 1);
	assert_int_equal(e.children[1].inst_id, 0);

	/* Each kind of mode has a default. */
	const struct {
		uint32_t modes, flags, round, route;
	} defaults[] = {
		{0, 0, 2, 0},
		{GNI_CE_MODE_CQE_ONERR, KGNI_CE_CQ_ONERR, 2, 0},
		{GNI_CE_MODE_ROUND_UP | GNI_CE_MODE_CQE_ONCOMP, 0, 0, 0},
		{GNI_CE_MODE_RC_MNON_HASH, 0, 2, 3},
	};
	for (const auto &c : defaults) {
		assert_rc(SUCCESS, GNI_CeConfigure(ce, kids, 2, nullptr, s.cq, c.modes));
		assert_int_equal(s.file().engines.at(0).config.flags, c.flags);
		assert_int_equal(s.file().engines.at(0).config.round, c.round);
		assert_int_equal(s.file().engines.at(0).config.route, c.route);
	}
	assert_rc(SUCCESS, GNI_CeConfigure(ce, kids, 2, parent, s.cq, kModes));

	/* The queue is in use until the channel has another, or is gone. */
	gni_cq_handle_t other = nullptr;
	assert_rc(SUCCESS, GNI_CqCreate(s.nic, 10, 0, GNI_CQ_NOBLOCK, nullptr, nullptr, &other));
	assert_rc(SUCCESS, GNI_CeConfigure(ce, kids, 2, nullptr, other, kModes));
	assert_int_equal(s.file().engines.at(0).config.flags, 0);
	assert_int_equal(s.file().engines.at(0).config.parent_pe, 0);
	assert_rc(ERROR_RESOURCE, GNI_CqDestroy(other));
	assert_rc(SUCCESS, GNI_CeConfigure(ce, kids, 2, nullptr, nullptr, kModes));
	assert_int_equal(s.file().engines.at(0).config.cq, KGNI_NO_CQ);
	assert_rc(SUCCESS, GNI_CqDestroy(other));
	assert_rc(INVALID_PARAM, GNI_CeConfigure(ce, kids, 2, nullptr, other, kModes));
	for (int error : {EINVAL, ENXIO, ENOENT, ENODEV, EIO}) {
		fake::kernel().errors[KGNI_IOC_CE_CONFIG] = -error;
		assert_rc(INVALID_PARAM, GNI_CeConfigure(ce, kids, 2, nullptr, nullptr, kModes));
	}
}

TEST(wrong_trees)
{
	Session s;
	gni_ce_handle_t ce = nullptr;
	assert_rc(SUCCESS, GNI_CeCreate(s.nic, &ce));
	gni_ep_handle_t kids[33];
	for (uint32_t i = 0; i < 32; i++)
		kids[i] = child(s, i);
	kids[32] = bound(s, 0, 1);
	gni_ep_handle_t plain = bound(s, 0, 1);

	assert_rc(SUCCESS, GNI_CeConfigure(ce, kids, 32, nullptr, nullptr, kModes));
	/* N22: a 33rd child; it cannot have an index of its own either. */
	assert_rc(INVALID_PARAM, GNI_CeConfigure(ce, kids, 33, nullptr, nullptr, kModes));
	assert_rc(INVALID_PARAM, GNI_EpSetCeAttr(kids[32], 0, 32, GNI_CE_CHILD_PE));
	assert_rc(INVALID_PARAM, GNI_CeConfigure(nullptr, kids, 2, nullptr, nullptr, kModes));
	assert_rc(INVALID_PARAM, GNI_CeConfigure(ce, nullptr, 2, nullptr, nullptr, kModes));
	assert_rc(INVALID_PARAM, GNI_CeConfigure(ce, kids, 0, nullptr, nullptr, kModes));
	/* A hole, the same index twice, an endpoint without attributes. */
	assert_rc(INVALID_PARAM, GNI_CeConfigure(ce, kids + 1, 2, nullptr, nullptr, kModes));
	gni_ep_handle_t twice[] = {kids[0], kids[0]};
	assert_rc(INVALID_PARAM, GNI_CeConfigure(ce, twice, 2, nullptr, nullptr, kModes));
	gni_ep_handle_t bare[] = {plain};
	assert_rc(INVALID_PARAM, GNI_CeConfigure(ce, bare, 1, nullptr, nullptr, kModes));
	gni_ep_handle_t none[] = {nullptr};
	assert_rc(INVALID_PARAM, GNI_CeConfigure(ce, none, 1, nullptr, nullptr, kModes));
	/* A parent is a channel. */
	assert_rc(INVALID_PARAM, GNI_CeConfigure(ce, kids, 2, kids[5], nullptr, kModes));
	assert_rc(INVALID_PARAM, GNI_CeConfigure(ce, kids, 2, plain, nullptr, kModes));
	/* Of each kind one mode at most, and none without a meaning. */
	for (uint32_t bad : {kModes | 1, kModes | 0x40, kModes | 0x80, kModes | 0x20, kModes | 0x800})
		assert_rc(INVALID_PARAM, GNI_CeConfigure(ce, kids, 2, nullptr, nullptr, bad));
	/* Child, parent and queue of another attachment. */
	gni_cdm_handle_t cdm = nullptr;
	gni_nic_handle_t nic = nullptr;
	gni_cq_handle_t far_cq = nullptr;
	gni_ep_handle_t far = nullptr;
	uint32_t address = 0;
	assert_rc(SUCCESS, GNI_CdmCreate(78, GNI_FIND_ALLOC_PTAG, 0x1234, 0, &cdm));
	assert_rc(SUCCESS, GNI_CdmAttach(cdm, 0, &address, &nic));
	assert_rc(SUCCESS, GNI_CqCreate(nic, 10, 0, GNI_CQ_NOBLOCK, nullptr, nullptr, &far_cq));
	assert_rc(SUCCESS, GNI_EpCreate(nic, far_cq, &far));
	assert_rc(SUCCESS, GNI_EpBind(far, 0, 1));
	assert_rc(SUCCESS, GNI_EpSetCeAttr(far, 0, 0, GNI_CE_CHILD_PE));
	assert_rc(INVALID_PARAM, GNI_CeConfigure(ce, &far, 1, nullptr, nullptr, kModes));
	assert_rc(SUCCESS, GNI_EpSetCeAttr(far, 0, 0, GNI_CE_CHILD_VCE));
	assert_rc(INVALID_PARAM, GNI_CeConfigure(ce, kids, 2, far, nullptr, kModes));
	assert_rc(INVALID_PARAM, GNI_CeConfigure(ce, kids, 2, nullptr, far_cq, kModes));
	assert_rc(SUCCESS, GNI_CdmDestroy(cdm));
	/* Unbinding ends the endpoint's place. */
	assert_rc(SUCCESS, GNI_EpUnbind(kids[0]));
	assert_rc(SUCCESS, GNI_EpBind(kids[0], 0, 1));
	assert_rc(INVALID_PARAM, GNI_CeConfigure(ce, kids, 2, nullptr, nullptr, kModes));
}

static gni_post_descriptor_t contribution(Session &s, uint16_t events = GNI_CQMODE_GLOBAL_EVENT, size_t block = 0)
{
	gni_post_descriptor_t d = s.post(GNI_POST_CE, 0, events);

	d.local_addr += 32 * block;
	d.ce_cmd = GNI_FMA_CE_IADD;
	d.ce_red_id = 0x77;
	d.first_operand = 5;
	d.second_operand = 6;
	return d;
}

static gni_ce_result_t *result(Session &s, size_t block = 0)
{
	return reinterpret_cast<gni_ce_result_t *>(s.bytes + 32 * block);
}

TEST(posts)
{
	Session s;
	gni_post_descriptor_t d = contribution(s);

	assert_rc(INVALID_PARAM, GNI_PostFma(s.ep, &d));
	assert_rc(SUCCESS, GNI_EpSetCeAttr(s.ep, 2, 7, GNI_CE_CHILD_VCE));
	assert_rc(INVALID_PARAM, GNI_PostFma(s.ep, &d));
	assert_rc(SUCCESS, GNI_EpSetCeAttr(s.ep, 4, 7, GNI_CE_CHILD_PE));
	assert_rc(INVALID_PARAM, GNI_PostFma(s.ep, &d));
	assert_rc(SUCCESS, GNI_EpSetCeAttr(s.ep, 2, 7, GNI_CE_CHILD_PE));
	d.dlvr_mode = GNI_DLVMODE_IN_ORDER;
	result(s)->control = ~0ULL;
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	const aries_fma_desc &area = s.file().fma();
	assert_int_equal(Session::last().op(), ARIES_FMA_CE);
	assert_int_equal(Session::last().amo(), GNI_FMA_CE_IADD);
	assert_int_equal(Session::last().length(), 0);
	assert_int_equal(area.pe, 6);
	assert_int_equal(area.offset, 2 << 8 | 7);
	assert_int_equal(area.operand[0], 5);
	assert_int_equal(area.operand[1], 6);
	assert_int_equal(area.sync_value, 0x77);
	assert_int_equal(area.dlvr_mode, GNI_DLVMODE_IN_ORDER);
	assert_int_equal(result(s)->control & ARIES_CER_DONE, 0);

	struct {
		uint32_t command, mode;
		gni_return_t rc;
	} const cases[] = {
		{GNI_FMA_CE_IADD, GNI_CEMODE_TWO_OP, GNI_RC_SUCCESS},
		{GNI_FMA_CE_FPADD_S, GNI_CEMODE_TWO_OP | 0x1e, GNI_RC_SUCCESS},
		{GNI_FMA_CE_FPMIN_GIDX, 0x1e, GNI_RC_SUCCESS},
		{GNI_FMA_CE_IMIN_LIDX, GNI_CEMODE_TWO_OP, GNI_RC_SUCCESS},
		{GNI_FMA_CE_FPMAX_GIDX_S, GNI_CEMODE_TWO_OP | 0x1e, GNI_RC_SUCCESS},
		{GNI_FMA_CE_IADD, GNI_CEMODE_FPE_OFLOW, GNI_RC_INVALID_PARAM},
		{GNI_FMA_CE_XOR_S, 0x20, GNI_RC_INVALID_PARAM},
	};
	for (const auto &c : cases) {
		d = contribution(s);
		d.ce_cmd = static_cast<gni_ce_cmd_type_t>(c.command);
		d.ce_mode = c.mode;
		assert_int_equal(GNI_PostFma(s.ep, &d), c.rc);
		if (c.rc == GNI_RC_SUCCESS)
			/* With an index two operands mean nothing; the NIC would refuse it. */
			assert_int_equal(area.offset,
					 2 << 8 | 7 | (ugni::ce_indexed(c.command) ? c.mode & ~1U : c.mode) << 16);
	}
	d = contribution(s);
	d.local_addr += 4;
	assert_rc(ALIGNMENT_ERROR, GNI_PostFma(s.ep, &d));
	d = contribution(s);
	d.local_addr = 0;
	assert_rc(INVALID_PARAM, GNI_PostFma(s.ep, &d));
	d = contribution(s);
	d.local_mem_hndl = {};
	assert_rc(INVALID_PARAM, GNI_PostFma(s.ep, &d));
	d = contribution(s);
	d.ce_red_id = uint64_t{1} << 32;
	assert_rc(INVALID_PARAM, GNI_PostFma(s.ep, &d));
	d = contribution(s, GNI_CQMODE_REMOTE_EVENT);
	assert_rc(INVALID_PARAM, GNI_PostFma(s.ep, &d));
	d = contribution(s, GNI_CQMODE_GLOBAL_EVENT | GNI_CQMODE_LOCAL_EVENT);
	assert_rc(INVALID_PARAM, GNI_PostFma(s.ep, &d)); /* without GNI_CDM_MODE_DUAL_EVENTS */
}

/* N23: exactly the 26 commands of the table; a product is not among them. */
TEST(commands)
{
	Session s;
	unsigned taken = 0;

	assert_rc(SUCCESS, GNI_EpSetCeAttr(s.ep, 0, 0, GNI_CE_CHILD_PE));
	for (uint32_t command = 0; command < 0x200; command++) {
		gni_post_descriptor_t d = contribution(s, GNI_CQMODE_SILENT);
		d.ce_cmd = static_cast<gni_ce_cmd_type_t>(command);
		gni_return_t rc = GNI_PostFma(s.ep, &d);
		assert_true(rc == GNI_RC_SUCCESS || rc == GNI_RC_INVALID_PARAM);
		taken += rc == GNI_RC_SUCCESS;
	}
	assert_int_equal(taken, 26);
}

/* What the NIC refuses for good is in the result block, where a poller sees it; unless the block is at fault. */
TEST(refusals)
{
	Session s;
	uint32_t status = ARIES_ST_CE_CHILD;

	assert_rc(SUCCESS, GNI_EpSetCeAttr(s.ep, 0, 0, GNI_CE_CHILD_PE));
	fake::kernel().on_doorbell = [&](fake::File &f, const fake::Doorbell &d) { fake::complete(f, d, status); };
	gni_post_descriptor_t d = contribution(s, GNI_CQMODE_SILENT);
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	assert_int_equal(d.status, GNI_RC_TRANSACTION_ERROR);
	assert_rc(TRANSACTION_ERROR, GNI_CeCheckResult(result(s), 24));
	assert_int_equal(GNI_CE_RES_GET_STATUS(result(s)), ARIES_ST_CE_CHILD);
	assert_int_equal(GNI_CE_RES_GET_RED_ID(result(s)), 0x77);
	assert_false(GNI_CE_RES_STATUS_OK(result(s)));
	status = ARIES_ST_LOCAL | ARIES_ST_BOUNDS;
	d = contribution(s);
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	assert_int_equal(result(s)->control & ARIES_CER_DONE, 0);
	gni_cq_entry_t e = 0;
	gni_post_descriptor_t *back = nullptr;
	assert_rc(TRANSACTION_ERROR, GNI_CqGetEvent(s.cq, &e));
	assert_rc(TRANSACTION_ERROR, GNI_GetCompleted(s.cq, e, &back));
	assert_ptr_equal(back, &d);
}

/* A NIC that takes a contribution only when the one before has its result. */
struct OneAtATime {
	bool pending = false;
	unsigned taken = 0, refused = 0;
	uint64_t order[64] = {};

	void ring(fake::File &f, const fake::Doorbell &d)
	{
		f.status().sequence++;
		f.status().status = pending ? ARIES_ST_CE_BUSY : ARIES_ST_OK;
		if (d.op() != ARIES_FMA_CE || pending) {
			if (d.op() != ARIES_FMA_CE)
				fake::complete(f, d);
			refused += d.op() == ARIES_FMA_CE;
			return;
		}
		order[taken++] = f.fma().operand[0];
		tid = d.tid();
		events = d.mode();
		block = f.fma().local_offset;
		pending = true;
	}
	void finish(Session &s)
	{
		auto *r = reinterpret_cast<gni_ce_result_t *>(
			(reinterpret_cast<uintptr_t>(s.bytes) & ~((uint64_t{1} << 40) - 1)) | block);

		assert_true(pending);
		pending = false;
		r->control = ARIES_CER_DONE;
		if (events)
			s.queue().put(fake::entry(tid, events, 0, 0, ARIES_SRC_CE));
	}
	uint32_t tid = 0, events = 0;
	uint64_t block = 0;
};

TEST(waiting)
{
	Session s;
	OneAtATime nic;
	fake::kernel().on_doorbell = [&](fake::File &f, const fake::Doorbell &d) { nic.ring(f, d); };
	assert_rc(SUCCESS, GNI_EpSetCeAttr(s.ep, 0, 0, GNI_CE_CHILD_PE));
	gni_post_descriptor_t d[4];
	for (size_t i = 0; i < 4; i++) {
		d[i] = contribution(s, i % 2 ? GNI_CQMODE_SILENT : GNI_CQMODE_GLOBAL_EVENT, i);
		d[i].first_operand = i;
		assert_rc(SUCCESS, GNI_PostFma(s.ep, &d[i]));
	}
	assert_int_equal(nic.taken, 1);
	assert_rc(NOT_DONE, GNI_CeCheckResult(result(s, 3), 24));
	assert_rc(NOT_DONE, GNI_EpUnbind(s.ep));
	for (size_t i = 0; i < 4; i++) {
		nic.finish(s);
		assert_rc(SUCCESS, GNI_CeCheckResult(result(s, i), 24));
		if (i == 3)
			break;
		/* Polling the next one is what posts it, be it through the queue. */
		for (unsigned look = 0; look < 200 && nic.taken < i + 2; look++) {
			gni_cq_entry_t e = 0;
			if (i % 2 == 0)
				assert_rc(NOT_DONE, GNI_CeCheckResult(result(s, i + 1), 24));
			else if (GNI_CqGetEvent(s.cq, &e) == GNI_RC_SUCCESS) {
				gni_post_descriptor_t *back = nullptr;
				assert_rc(SUCCESS, GNI_GetCompleted(s.cq, e, &back));
			}
		}
		assert_int_equal(nic.taken, i + 2);
		assert_int_equal(nic.order[i + 1], i + 1);
	}
	assert_null(s.nic->collectives);
}

/* Who has waited long is tried seldom; who comes after him starts anew. A post tries those before it. */
TEST(backing_off)
{
	Session s;
	OneAtATime nic;
	gni_post_descriptor_t d[5];
	fake::kernel().on_doorbell = [&](fake::File &f, const fake::Doorbell &bell) { nic.ring(f, bell); };
	assert_rc(SUCCESS, GNI_EpSetCeAttr(s.ep, 0, 0, GNI_CE_CHILD_PE));
	auto post = [&](size_t i) {
		d[i] = contribution(s, GNI_CQMODE_SILENT, i);
		assert_rc(SUCCESS, GNI_PostFma(s.ep, &d[i]));
	};
	auto looks_until = [&](unsigned taken) {
		unsigned looks = 0;
		for (; nic.taken < taken && looks < 1000; looks++)
			(void)GNI_CeCheckResult(result(s, taken - 1), 24);
		return looks;
	};

	for (size_t i = 0; i < 3; i++)
		post(i);
	for (unsigned look = 0; look < 200; look++)
		assert_rc(NOT_DONE, GNI_CeCheckResult(result(s, 1), 24));
	assert_in_range(nic.refused, 2, 20);
	nic.finish(s);
	assert_in_range(looks_until(2), 1, 66);
	nic.finish(s);
	assert_in_range(looks_until(3), 1, 3);
	post(3);
	nic.finish(s);
	post(4);
	assert_int_equal(nic.taken, 4);
	nic.finish(s);
	assert_in_range(looks_until(5), 1, 3);
	nic.finish(s);
	assert_null(s.nic->collectives);
}

/* A thread that sleeps for the second of two goes on when the first had no event. */
TEST(waiting_asleep)
{
	Session s;
	OneAtATime nic;
	unsigned sleeps = 0;
	fake::kernel().on_doorbell = [&](fake::File &f, const fake::Doorbell &d) { nic.ring(f, d); };
	fake::kernel().on_wait = [&](kgni_cq_wait &w) {
		assert_true(w.timeout_ms <= 1000);
		fake::kernel().clock_ms += w.timeout_ms;
		if (nic.pending && ++sleeps % 2)
			nic.finish(s);
		return s.queue().produced ? 0 : -ETIMEDOUT;
	};
	assert_rc(SUCCESS, GNI_EpSetCeAttr(s.ep, 0, 0, GNI_CE_CHILD_PE));
	gni_post_descriptor_t one = contribution(s, GNI_CQMODE_SILENT, 0),
			      two = contribution(s, GNI_CQMODE_GLOBAL_EVENT, 1);
	gni_cq_entry_t e = 0;
	gni_post_descriptor_t *back = nullptr;
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &one));
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &two));
	assert_rc(SUCCESS, GNI_CqWaitEvent(s.cq, 1000, &e));
	assert_rc(SUCCESS, GNI_GetCompleted(s.cq, e, &back));
	assert_ptr_equal(back, &two);
}

/* What waits when its endpoint goes ends with an error, in its block and by its event. */
TEST(abandoned)
{
	Session s;
	OneAtATime nic;
	fake::kernel().on_doorbell = [&](fake::File &f, const fake::Doorbell &d) { nic.ring(f, d); };
	assert_rc(SUCCESS, GNI_EpSetCeAttr(s.ep, 0, 0, GNI_CE_CHILD_PE));
	gni_post_descriptor_t d[3];
	for (size_t i = 0; i < 3; i++) {
		d[i] = contribution(s, i ? GNI_CQMODE_GLOBAL_EVENT : GNI_CQMODE_SILENT, i);
		assert_rc(SUCCESS, GNI_PostFma(s.ep, &d[i]));
	}
	assert_rc(SUCCESS, GNI_EpDestroy(s.ep));
	for (size_t i = 1; i < 3; i++) {
		gni_cq_entry_t e = 0;
		gni_post_descriptor_t *back = nullptr;
		assert_rc(TRANSACTION_ERROR, GNI_CeCheckResult(result(s, i), 24));
		assert_int_equal(GNI_CE_RES_GET_STATUS(result(s, i)), ARIES_ST_FLUSHED);
		assert_rc(TRANSACTION_ERROR, GNI_CqGetEvent(s.cq, &e));
		assert_rc(TRANSACTION_ERROR, GNI_GetCompleted(s.cq, e, &back));
		assert_ptr_equal(back, &d[i]);
	}
	assert_null(s.nic->collectives);
}

TEST(too_many_waiting)
{
	Session s(GNI_CDM_MODE_DUAL_EVENTS);
	OneAtATime nic;
	fake::kernel().on_doorbell = [&](fake::File &f, const fake::Doorbell &d) { nic.ring(f, d); };
	assert_rc(SUCCESS, GNI_EpSetCeAttr(s.ep, 0, 0, GNI_CE_CHILD_PE));
	for (uint32_t i = 0; i <= ugni::kCeWaitingMost; i++) {
		gni_post_descriptor_t d = contribution(s, GNI_CQMODE_SILENT, 1);
		assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	}
	const uint32_t room = s.cq->room;
	for (uint16_t events : {GNI_CQMODE_GLOBAL_EVENT, GNI_CQMODE_GLOBAL_EVENT | GNI_CQMODE_LOCAL_EVENT}) {
		gni_post_descriptor_t d = contribution(s, events);
		assert_rc(ERROR_RESOURCE, GNI_PostFma(s.ep, &d));
		assert_int_equal(s.cq->room, room);
	}
	assert_rc(SUCCESS, GNI_EpIdle(s.ep));
}

TEST_MAIN("collectives")
