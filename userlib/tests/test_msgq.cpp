// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Message queues over the fake kernel: every return code, what reaches the NIC, and who may join. */
#include "kernel.hpp"
#include "session.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace
{

gni_msgq_attr_t attributes(uint32_t instances = 1)
{
	gni_msgq_attr_t a = {};

	a.max_msg_sz = 100;
	a.smsg_q_sz = 8;
	a.rcv_pool_sz = 4;
	a.num_msgq_eps = 2;
	a.nloc_insts = instances;
	a.modes = GNI_MSGQ_MODE_BLOCKING;
	a.rcv_cq_sz = 16;
	return a;
}

struct Queue : Session {
	gni_msgq_handle_t q = nullptr;

	explicit Queue(gni_msgq_attr_t a = attributes())
	{
		assert_rc(SUCCESS, GNI_MsgqInit(nic, ignore, nullptr, cq, &a, &q));
	}

	/* A connection with itself as a peer at node 6, where the endpoint goes. */
	gni_msgq_ep_attr_t reserve(uint32_t pe = 6) const
	{
		gni_msgq_ep_attr_t a = {};

		assert_rc(SUCCESS, GNI_MsgqGetConnAttrs(q, pe, &a, nullptr));
		a.pe_addr = pe;
		a.insts[0].id = 88;
		return a;
	}
	void connect() const
	{
		gni_msgq_ep_attr_t a = reserve();

		assert_rc(SUCCESS, GNI_MsgqConnect(q, 6, &a));
	}
	gni_return_t send(uint32_t bytes = 4, uint32_t id = 5, uint8_t tag = 7)
	{
		return GNI_MsgqSend(q, ep, bytes ? Session::bytes : nullptr, bytes, nullptr, 0, id, tag);
	}
};

/* A second domain of this process on the same node: another instance. */
struct Other {
	gni_cdm_handle_t cdm = nullptr;
	gni_nic_handle_t nic = nullptr;
	gni_cq_handle_t cq = nullptr;
	gni_msgq_handle_t q = nullptr;

	explicit Other(uint32_t id = 78, uint32_t cookie = 0x1234)
	{
		uint32_t address;

		assert_rc(SUCCESS, GNI_CdmCreate(id, GNI_FIND_ALLOC_PTAG, cookie, 0, &cdm));
		assert_rc(SUCCESS, GNI_CdmAttach(cdm, 0, &address, &nic));
		assert_rc(SUCCESS, GNI_CqCreate(nic, 8, 0, GNI_CQ_NOBLOCK, nullptr, nullptr, &cq));
	}
	~Other() { (void)GNI_CdmDestroy(cdm); }
	Other(const Other &) = delete;
	Other &operator=(const Other &) = delete;
	gni_return_t init(gni_msgq_attr_t a) { return GNI_MsgqInit(nic, Session::ignore, nullptr, cq, &a, &q); }
};

std::string share_path()
{
	return std::string(ugni::sys::share_directory) + "/kgni0-msgq-" + std::to_string(geteuid()) + "-00001234";
}

TEST(size)
{
	gni_msgq_attr_t a = attributes();
	uint32_t bytes = 0;

	assert_rc(SUCCESS, GNI_MsgqSize(&a, &bytes));
	assert_int_equal(bytes, 2 << 20);
	a.num_msgq_eps = 1000;
	a.nloc_insts = 48;
	assert_rc(SUCCESS, GNI_MsgqSize(&a, &bytes));
	/* At least all messages of 100 bytes fit. */
	assert_true(bytes > 1000U * 48 * 8 * 100);
	assert_int_equal(bytes % (2 << 20), 0);
	assert_rc(INVALID_PARAM, GNI_MsgqSize(nullptr, &bytes));
	assert_rc(INVALID_PARAM, GNI_MsgqSize(&a, nullptr));
	/* 32 bits do not tell so much. */
	a.num_msgq_eps = 4096;
	a.smsg_q_sz = 2048;
	assert_rc(INVALID_PARAM, GNI_MsgqSize(&a, &bytes));
}

TEST(attributes_out_of_range)
{
	Session s;
	gni_msgq_handle_t q = nullptr;
	uint32_t bytes = 0;
	const auto refused = [&](auto change) {
		gni_msgq_attr_t a = attributes();
		change(a);
		assert_rc(INVALID_PARAM, GNI_MsgqSize(&a, &bytes));
		assert_rc(INVALID_PARAM, GNI_MsgqInit(s.nic, Session::ignore, nullptr, s.cq, &a, &q));
	};

	refused([](auto &a) { a.max_msg_sz = 0; });
	refused([](auto &a) { a.max_msg_sz = 129; });
	refused([](auto &a) { a.smsg_q_sz = 0; });
	refused([](auto &a) { a.smsg_q_sz = 2049; });
	refused([](auto &a) { a.rcv_pool_sz = 0; });
	refused([](auto &a) { a.num_msgq_eps = 0; });
	refused([](auto &a) { a.num_msgq_eps = 4097; });
	refused([](auto &a) { a.nloc_insts = 0; });
	refused([](auto &a) { a.nloc_insts = 49; });
	refused([](auto &a) { a.modes = 2; });
	refused([](auto &a) { a.rcv_cq_sz = 0; });
}

TEST(init_codes)
{
	Session s;
	Other other;
	gni_msgq_attr_t a = attributes();
	gni_msgq_handle_t q = nullptr;

	assert_rc(INVALID_PARAM, GNI_MsgqInit(nullptr, Session::ignore, nullptr, s.cq, &a, &q));
	assert_rc(INVALID_PARAM, GNI_MsgqInit(s.nic, nullptr, nullptr, s.cq, &a, &q));
	assert_rc(INVALID_PARAM, GNI_MsgqInit(s.nic, Session::ignore, nullptr, nullptr, &a, &q));
	assert_rc(INVALID_PARAM, GNI_MsgqInit(s.nic, Session::ignore, nullptr, other.cq, &a, &q));
	assert_rc(INVALID_PARAM, GNI_MsgqInit(s.nic, Session::ignore, nullptr, s.cq, nullptr, &q));
	assert_rc(INVALID_PARAM, GNI_MsgqInit(s.nic, Session::ignore, nullptr, s.cq, &a, nullptr));
	const size_t queues = s.file().queues.size();
	/* Nothing is left behind by what fails on the way. */
	const auto fails = [&](gni_return_t rc) {
		assert_int_equal(GNI_MsgqInit(s.nic, Session::ignore, nullptr, s.cq, &a, &q), rc);
		assert_int_equal(s.file().queues.size(), queues);
		assert_int_equal(access(share_path().c_str(), F_OK), -1);
	};
	for (int error : {ENOMEM, ENOSPC}) {
		fake::kernel().errors[KGNI_IOC_CQ_CREATE] = -error;
		fails(GNI_RC_ERROR_NOMEM);
	}
	fake::kernel().errors.clear();
	for (int error : {ENOMEM, ENOSPC, EFAULT}) {
		fake::kernel().errors[KGNI_IOC_MEM_SEGMENTS] = -error;
		fails(GNI_RC_ERROR_NOMEM);
	}
	fake::kernel().errors[KGNI_IOC_MEM_SEGMENTS] = -EACCES;
	fails(GNI_RC_PERMISSION_ERROR);
	fake::kernel().errors.clear();
	fake::kernel().no_share = true;
	fails(GNI_RC_ERROR_NOMEM);
	fake::kernel().no_share = false;
	assert_rc(SUCCESS, GNI_MsgqInit(s.nic, Session::ignore, nullptr, s.cq, &a, &q));
	assert_rc(INVALID_STATE, GNI_MsgqInit(s.nic, Session::ignore, nullptr, s.cq, &a, &q));
}

TEST(no_shared_memory)
{
	Session s;
	gni_msgq_attr_t a = attributes();
	gni_msgq_handle_t q = nullptr;
	const std::string path = share_path(), elsewhere = path + "-elsewhere";

	/* The name is taken by what is not ours, or not for us alone. */
	assert_int_equal(mkdir(path.c_str(), 0700), 0);
	assert_rc(PERMISSION_ERROR, GNI_MsgqInit(s.nic, Session::ignore, nullptr, s.cq, &a, &q));
	assert_int_equal(rmdir(path.c_str()), 0);
	assert_int_equal(symlink(elsewhere.c_str(), path.c_str()), 0);
	assert_rc(PERMISSION_ERROR, GNI_MsgqInit(s.nic, Session::ignore, nullptr, s.cq, &a, &q));
	assert_int_equal(access(elsewhere.c_str(), F_OK), -1);
	assert_int_equal(unlink(path.c_str()), 0);
	int fd = open(path.c_str(), O_CREAT | O_RDWR, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, 0660), 0);
	assert_rc(PERMISSION_ERROR, GNI_MsgqInit(s.nic, Session::ignore, nullptr, s.cq, &a, &q));
	/* Our own that nobody uses was left behind. */
	assert_int_equal(fchmod(fd, 0600), 0);
	assert_int_equal(pwrite(fd, "rubbish", 7, 0), 7);
	assert_rc(SUCCESS, GNI_MsgqInit(s.nic, Session::ignore, nullptr, s.cq, &a, &q));
	assert_int_equal(access(path.c_str(), F_OK), -1);
	close(fd);
}

TEST(instances_meet)
{
	Session s;
	Other other, same_id(77), another_domain(77, 0x9999), late(80);
	gni_msgq_attr_t a = attributes(2), b = attributes(2);
	gni_msgq_handle_t q = nullptr;
	gni_msgq_ep_attr_t record = {};

	assert_rc(SUCCESS, GNI_MsgqInit(s.nic, Session::ignore, nullptr, s.cq, &a, &q));
	/* Not all are there. */
	assert_rc(PERMISSION_ERROR, GNI_MsgqGetConnAttrs(q, 6, &record, nullptr));
	record.pe_addr = 6;
	record.max_msg_sz = 100;
	record.smsg_q_sz = 8;
	record.num_insts = 1;
	record.insts[0].mdh = s.memory;
	assert_rc(PERMISSION_ERROR, GNI_MsgqConnect(q, 6, &record));
	assert_rc(NO_MATCH, GNI_MsgqConnRelease(q, 6));
	assert_rc(INVALID_STATE, GNI_MsgqSend(q, s.ep, nullptr, 0, nullptr, 0, 0, 0));
	assert_rc(INVALID_STATE, GNI_MsgqProgress(q, 0));
	assert_rc(SUCCESS, GNI_MsgqIdle(q));
	/* Each point of the attributes has to agree. */
	const auto refused = [&](auto change) {
		gni_msgq_attr_t c = attributes(2);
		change(c);
		assert_int_equal(other.init(c), GNI_RC_INVALID_STATE);
	};
	refused([](auto &c) { c.max_msg_sz++; });
	refused([](auto &c) { c.smsg_q_sz++; });
	refused([](auto &c) { c.rcv_pool_sz++; });
	refused([](auto &c) { c.num_msgq_eps++; });
	refused([](auto &c) { c.nloc_insts++; });
	refused([](auto &c) { c.modes = 0; });
	refused([](auto &c) { c.rcv_cq_sz++; });
	assert_rc(INVALID_STATE, same_id.init(b));
	assert_rc(SUCCESS, another_domain.init(b));
	assert_rc(SUCCESS, other.init(b));
	uint32_t bytes = 0;
	assert_rc(SUCCESS, GNI_MsgqGetConnAttrs(q, 6, &record, &bytes));
	assert_int_equal(record.num_insts, 2);
	assert_int_equal(bytes, 16 + 2 * 32);
	assert_int_equal(record.pe_addr, 5);
	assert_int_equal(record.max_msg_sz, 100);
	assert_int_equal(record.smsg_q_sz, 8);
	assert_int_equal(record.insts[0].id, 77);
	assert_int_equal(record.insts[1].id, 78);
	/* The next one founds a group of its own. */
	assert_rc(SUCCESS, late.init(b));
	assert_rc(PERMISSION_ERROR, GNI_MsgqGetConnAttrs(late.q, 6, &record, nullptr));
	assert_rc(SUCCESS, GNI_MsgqRelease(late.q));
	assert_int_equal(access(share_path().c_str(), F_OK), -1);
	/* One has left. */
	assert_rc(SUCCESS, GNI_MsgqRelease(other.q));
	assert_rc(PERMISSION_ERROR, GNI_MsgqGetConnAttrs(q, 7, &record, nullptr));
	record.pe_addr = 6;
	assert_rc(PERMISSION_ERROR, GNI_MsgqConnect(q, 6, &record));
	assert_rc(SUCCESS, GNI_MsgqConnRelease(q, 6));
}

/* A group that one has left before all had come takes nobody any more. */
TEST(group_that_fails)
{
	Session s;
	Other b, c, d(79);
	gni_msgq_attr_t a = attributes(3);
	gni_msgq_handle_t q = nullptr;

	assert_rc(SUCCESS, GNI_MsgqInit(s.nic, Session::ignore, nullptr, s.cq, &a, &q));
	assert_rc(SUCCESS, b.init(a));
	assert_rc(SUCCESS, GNI_MsgqRelease(q));
	assert_int_equal(access(share_path().c_str(), F_OK), 0);
	assert_rc(INVALID_STATE, d.init(a));
	assert_rc(SUCCESS, GNI_MsgqRelease(b.q));
	assert_int_equal(access(share_path().c_str(), F_OK), -1);
	assert_rc(SUCCESS, d.init(a));
}

TEST(handles)
{
	Queue s;
	gni_msgq_ep_attr_t record = {};
	gni_msgq_handle_t q = s.q;

	assert_rc(SUCCESS, GNI_MsgqIdle(q));
	assert_rc(SUCCESS, GNI_MsgqRelease(q));
	for (gni_msgq_handle_t bad : {q, gni_msgq_handle_t{nullptr}, reinterpret_cast<gni_msgq_handle_t>(&record)}) {
		assert_rc(INVALID_PARAM, GNI_MsgqRelease(bad));
		assert_rc(INVALID_PARAM, GNI_MsgqIdle(bad));
		assert_rc(INVALID_PARAM, GNI_MsgqGetConnAttrs(bad, 6, &record, nullptr));
		assert_rc(INVALID_PARAM, GNI_MsgqConnect(bad, 6, &record));
		assert_rc(INVALID_PARAM, GNI_MsgqConnRelease(bad, 6));
		assert_rc(INVALID_PARAM, GNI_MsgqSend(bad, s.ep, nullptr, 0, nullptr, 0, 0, 0));
		assert_rc(INVALID_PARAM, GNI_MsgqProgress(bad, 0));
	}
	/* The queue of sends is free again, and another message queue may follow. */
	gni_msgq_attr_t a = attributes();
	assert_rc(SUCCESS, GNI_MsgqInit(s.nic, Session::ignore, nullptr, s.cq, &a, &s.q));
	assert_rc(SUCCESS, GNI_MsgqRelease(s.q));
	assert_rc(SUCCESS, GNI_EpDestroy(s.ep));
	assert_rc(SUCCESS, GNI_CqDestroy(s.cq));
	/* Its memory and queue too. */
	assert_int_equal(s.file().queues.size(), 0);
	assert_int_equal(s.file().registrations.size(), 1);
}

TEST(connection_codes)
{
	Queue s;
	gni_msgq_ep_attr_t record = {}, got = {};

	assert_rc(INVALID_PARAM, GNI_MsgqGetConnAttrs(s.q, 6, nullptr, nullptr));
	assert_rc(INVALID_PARAM, GNI_MsgqGetConnAttrs(s.q, 1U << 18, &record, nullptr));
	assert_rc(NO_MATCH, s.send());
	got = s.reserve();
	assert_rc(INVALID_STATE, s.send());
	assert_rc(INVALID_STATE, GNI_MsgqGetConnAttrs(s.q, 6, &record, nullptr));
	assert_rc(SUCCESS, GNI_MsgqGetConnAttrs(s.q, 7, &record, nullptr));
	assert_rc(ERROR_RESOURCE, GNI_MsgqGetConnAttrs(s.q, 8, &record, nullptr));
	const auto refused = [&](auto change) {
		gni_msgq_ep_attr_t r = got;
		change(r);
		assert_rc(INVALID_PARAM, GNI_MsgqConnect(s.q, 6, &r));
	};
	assert_rc(INVALID_PARAM, GNI_MsgqConnect(s.q, 6, nullptr));
	refused([](auto &r) { r.pe_addr = 7; });
	refused([](auto &r) { r.max_msg_sz--; });
	refused([](auto &r) { r.smsg_q_sz--; });
	refused([](auto &r) { r.num_insts = 0; });
	refused([](auto &r) { r.num_insts = 49; });
	refused([](auto &r) { r.insts[0].mdh.qword1 ^= 1; });
	refused([](auto &r) { r.insts[0].mdh_off |= uint64_t{1} << 60; });
	refused([](auto &r) {
		r.num_insts = 2;
		r.insts[1] = r.insts[0];
	});
	record = got;
	record.pe_addr = 9;
	assert_rc(NO_MATCH, GNI_MsgqConnect(s.q, 9, &record));
	assert_rc(SUCCESS, GNI_MsgqConnect(s.q, 6, &got));
	assert_rc(INVALID_STATE, GNI_MsgqConnect(s.q, 6, &got));
	assert_rc(NO_MATCH, GNI_MsgqConnRelease(s.q, 9));
	assert_rc(SUCCESS, s.send());
	assert_rc(NOT_DONE, GNI_MsgqConnRelease(s.q, 6));
	assert_rc(SUCCESS, GNI_MsgqConnRelease(s.q, 7));
	gni_cq_entry_t e = 0;
	assert_rc(SUCCESS, GNI_CqGetEvent(s.cq, &e));
	assert_rc(SUCCESS, GNI_MsgqConnRelease(s.q, 6));
	assert_rc(NO_MATCH, GNI_MsgqConnRelease(s.q, 6));
	assert_rc(NO_MATCH, s.send());
}

TEST(send_codes)
{
	Queue s;
	gni_ep_handle_t ep = nullptr, foreign = nullptr;
	Other other;

	s.connect();
	assert_rc(SUCCESS, GNI_EpCreate(s.nic, s.cq, &ep));
	assert_rc(INVALID_PARAM, GNI_MsgqSend(s.q, nullptr, nullptr, 0, nullptr, 0, 0, 0));
	assert_rc(INVALID_PARAM, GNI_MsgqSend(s.q, ep, nullptr, 0, nullptr, 0, 0, 0)); /* not bound */
	assert_rc(INVALID_PARAM, GNI_MsgqSend(s.q, s.ep, nullptr, 1, nullptr, 0, 0, 0));
	assert_rc(INVALID_PARAM, GNI_MsgqSend(s.q, s.ep, nullptr, 0, nullptr, 1, 0, 0));
	assert_rc(SUCCESS, GNI_EpCreate(other.nic, other.cq, &foreign));
	assert_rc(SUCCESS, GNI_EpBind(foreign, 6, 88));
	assert_rc(INVALID_PARAM, GNI_MsgqSend(s.q, foreign, nullptr, 0, nullptr, 0, 0, 0));
	assert_rc(SUCCESS, GNI_EpBind(ep, 6, 89)); /* no such instance there */
	assert_rc(NO_MATCH, GNI_MsgqSend(s.q, ep, nullptr, 0, nullptr, 0, 0, 0));
	assert_rc(SIZE_ERROR, s.send(101));
	for (unsigned i = 0; i < 8; i++)
		assert_rc(SUCCESS, s.send(100));
	assert_rc(NOT_DONE, s.send());
	assert_rc(NOT_DONE, GNI_MsgqRelease(s.q));
	assert_rc(NOT_DONE, GNI_MsgqIdle(s.q));
	assert_rc(NOT_DONE, GNI_EpUnbind(s.ep));
	/* Destroying the endpoint is a way out too. */
	assert_rc(SUCCESS, GNI_EpDestroy(s.ep));
	assert_rc(SUCCESS, GNI_MsgqIdle(s.q));
	assert_rc(SUCCESS, GNI_MsgqRelease(s.q));
	gni_cq_entry_t e = 0;
	for (unsigned i = 0; i < 8; i++)
		assert_rc(SUCCESS, GNI_CqGetEvent(s.cq, &e));
}

/* What of a message the NIC gets. */
TEST(one_doorbell)
{
	Queue s;

	memcpy(s.bytes, "abcdefgh", 8);
	s.connect();
	const size_t before = fake::kernel().doorbells.size();
	const unsigned calls = fake::kernel().calls;
	assert_rc(SUCCESS, GNI_MsgqSend(s.q, s.ep, s.bytes, 3, s.bytes + 3, 2, 0xabcdef01, 7));
	assert_int_equal(fake::kernel().doorbells.size(), before + 1);
	assert_int_equal(fake::kernel().calls, calls); /* no system call */
	const fake::Doorbell d = s.last();
	const aries_fma_desc &desc = s.file().fma();
	assert_int_equal(d.op(), ARIES_FMA_PUT_SYNC);
	assert_int_equal(d.length(), 24 + 5);
	assert_int_equal(d.mode(), GNI_CQ_EVENT_TYPE_MSGQ << 4 | ARIES_EV_LOCAL | ARIES_EV_REMOTE | ARIES_DB_LATER);
	assert_memory_equal(s.file().line() + 24, "abcde", 5);
	assert_int_equal(desc.pe, 6);
	assert_int_equal(desc.local_event, 0xabcdef01);
	assert_int_equal(desc.offset, desc.sync_offset + 8);
	assert_int_equal(desc.sync_value & 0xffff, 7 << 8 | 5);
	const uint64_t first = desc.sync_offset;
	assert_rc(SUCCESS, s.send());
	assert_int_equal(s.file().fma().sync_offset, first + 192);
}

/* The NIC refuses for good: one event that says so, and the slot is free. */
TEST(refused_by_the_nic)
{
	Queue s;
	gni_cq_entry_t e = 0;
	char text[32];

	fake::kernel().on_doorbell = [](fake::File &f, const fake::Doorbell &d) { fake::complete(f, d, ARIES_ST_MDD); };
	s.connect();
	assert_rc(SUCCESS, GNI_EpSetEventData(s.ep, 0xbeef, 0));
	for (unsigned i = 0; i < 20; i++) {
		assert_rc(SUCCESS, s.send(4, i));
		assert_rc(TRANSACTION_ERROR, GNI_CqGetEvent(s.cq, &e));
		assert_int_equal(GNI_CQ_GET_MSG_ID(e), i);
		assert_int_equal(GNI_CQ_GET_INST_ID(e), 0xbeef);
		assert_int_equal(GNI_CQ_GET_TYPE(e), GNI_CQ_EVENT_TYPE_MSGQ);
		assert_rc(SUCCESS, GNI_CqErrorStr(e, text, sizeof(text)));
		assert_string_equal(text, "MSGQ:MDD_INVALID");
	}
	assert_rc(SUCCESS, GNI_MsgqConnRelease(s.q, 6));
}

TEST(progress_codes)
{
	Queue s;

	assert_rc(SUCCESS, GNI_MsgqProgress(s.q, 0));
	assert_rc(SUCCESS, GNI_MsgqProgress(s.q, ~0U));
	assert_int_equal(fake::kernel().waits.size(), 0);
	fake::kernel().on_wait = [](kgni_cq_wait &w) {
		fake::kernel().clock_ms += w.timeout_ms;
		return -ETIMEDOUT;
	};
	assert_rc(SUCCESS, GNI_MsgqProgress(s.q, 10));
	assert_int_equal(fake::kernel().waits.size(), 1);
	/* A signal does not end the wait. */
	fake::kernel().on_wait = [](kgni_cq_wait &) {
		fake::kernel().clock_ms += 4;
		return -EINTR;
	};
	assert_rc(SUCCESS, GNI_MsgqProgress(s.q, 10));
	assert_int_equal(fake::kernel().waits.size(), 4);
	fake::kernel().on_wait = [](kgni_cq_wait &) { return -ENODEV; };
	assert_rc(ERROR_RESOURCE, GNI_MsgqProgress(s.q, 10));
	/* It may be called again after an error. */
	assert_rc(SUCCESS, GNI_MsgqProgress(s.q, 0));

	gni_msgq_attr_t a = attributes();
	Other other;
	a.modes = 0;
	assert_rc(SUCCESS, other.init(a));
	assert_rc(SUCCESS, GNI_MsgqProgress(other.q, 0));
	assert_rc(SUCCESS, GNI_MsgqProgress(other.q, ~0U));
}

/* Events that no peer can have asked for are passed over. */
TEST(events_from_nowhere)
{
	Queue s;
	fake::Queue &received = *s.file().queues.rbegin()->second;

	s.connect();
	for (uint32_t data : {0xffffffffU, 0xfff00000U, 1U << 12 | 4095U, 0x00200000U, 2U << 12, 1U << 12})
		received.put(fake::entry(0, ARIES_INFO_REMOTE, data) | GNI_CQ_EVENT_TYPE_MSGQ << ARIES_CQE_TYPE_SHIFT);
	assert_rc(NOT_DONE, GNI_MsgqIdle(s.q));
	assert_rc(SUCCESS, GNI_MsgqProgress(s.q, 0));
	assert_rc(SUCCESS, GNI_MsgqIdle(s.q));
}

/* The domain goes with everything open. */
TEST(domain_goes)
{
	auto s = std::make_unique<Queue>();

	s->connect();
	assert_rc(SUCCESS, s->send());
	gni_msgq_handle_t q = s->q;
	s.reset();
	assert_rc(INVALID_PARAM, GNI_MsgqIdle(q));
	assert_int_equal(fake::kernel().files.size(), 0);
}

} // namespace

TEST_MAIN("message queues, codes")
