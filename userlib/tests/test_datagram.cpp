// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Datagrams: every function, every documented return code, and what clients rely on. */
#include "session.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <pthread.h>
#include <string>

static constexpr uint32_t kNode = 5; /* of the fake kernel */

/* One domain of several in this process, all on one NIC. */
struct Member {
	gni_cdm_handle_t cdm = nullptr;
	gni_nic_handle_t nic = nullptr;
	gni_ep_handle_t ep = nullptr; /* without a queue: datagrams only */
	gni_post_state_t state = GNI_POST_ERROR;
	uint32_t address = 0, id = 0;
	char out[GNI_DATAGRAM_MAXSIZE] = {};

	explicit Member(uint32_t inst, uint32_t cookie = 0x1234, uint32_t modes = GNI_CDM_MODE_FAST_DATAGRAM_POLL)
	{
		uint32_t own = 0;

		assert_rc(SUCCESS, GNI_CdmCreate(inst, GNI_FIND_ALLOC_PTAG, cookie, modes, &cdm));
		assert_rc(SUCCESS, GNI_CdmAttach(cdm, 0, &own, &nic));
		assert_rc(SUCCESS, GNI_EpCreate(nic, nullptr, &ep));
	}
	~Member() { (void)GNI_CdmDestroy(cdm); }
	Member(const Member &) = delete;
	Member &operator=(const Member &) = delete;

	void bind(uint32_t inst) const { assert_rc(SUCCESS, GNI_EpBind(ep, kNode, inst)); }
	gni_return_t post(std::string text)
	{
		return GNI_EpPostData(ep, text.data(), static_cast<uint16_t>(text.size()), out, sizeof(out));
	}
	gni_return_t post(std::string text, uint64_t number)
	{
		return GNI_EpPostDataWId(ep, text.data(), static_cast<uint16_t>(text.size()), out, sizeof(out), number);
	}
	gni_return_t test() { return GNI_EpPostDataTest(ep, &state, &address, &id); }
	gni_return_t test(uint64_t number) { return GNI_EpPostDataTestById(ep, number, &state, &address, &id); }
	gni_return_t wait(uint32_t timeout) { return GNI_EpPostDataWait(ep, timeout, &state, &address, &id); }
	gni_return_t wait(uint64_t number, uint32_t timeout)
	{
		return GNI_EpPostDataWaitById(ep, number, timeout, &state, &address, &id);
	}
	void got(uint32_t inst, const char *text)
	{
		assert_int_equal(state, GNI_POST_COMPLETED);
		assert_int_equal(address, kNode);
		assert_int_equal(id, inst);
		assert_string_equal(out, text);
	}
};

TEST(bound_meets_bound)
{
	fake::reset();
	Member a(1), b(2);

	a.bind(2);
	b.bind(1);
	assert_rc(NO_MATCH, a.test());
	assert_rc(SUCCESS, a.post("from a"));
	assert_rc(SUCCESS, a.test());
	assert_int_equal(a.state, GNI_POST_PENDING);
	assert_rc(SUCCESS, b.post("from b"));
	assert_rc(SUCCESS, a.test());
	a.got(2, "from b");
	assert_rc(SUCCESS, b.wait(~0U));
	b.got(1, "from a");
	/* told once */
	assert_rc(NO_MATCH, a.test());
	assert_rc(NO_MATCH, b.wait(10));
	/* and the endpoint can be used again */
	assert_rc(SUCCESS, a.post(""));
}

TEST(bound_meets_wildcard)
{
	fake::reset();
	Member server(1), client(2);
	uint64_t number = 0;

	client.bind(1);
	assert_rc(SUCCESS, server.post("welcome", 0));
	assert_rc(NO_MATCH, GNI_PostDataProbeById(server.nic, &number));
	assert_rc(SUCCESS, client.post("hello", uint64_t{1} << 63));
	number = 1;
	assert_rc(SUCCESS, GNI_PostDataProbeById(server.nic, &number));
	assert_int_equal(number, 0);
	/* probing takes nothing away */
	assert_rc(SUCCESS, GNI_PostdataProbeWaitById(server.nic, ~0U, &number));
	assert_rc(SUCCESS, server.wait(0, ~0U));
	server.got(2, "hello");
	assert_rc(NO_MATCH, GNI_PostDataProbeById(server.nic, &number));
	assert_rc(SUCCESS, GNI_PostDataProbeById(client.nic, &number));
	assert_true(number == uint64_t{1} << 63);
	assert_rc(SUCCESS, client.test(number));
	client.got(1, "welcome");
	/* the wildcard's endpoint may be bound afterwards */
	server.bind(2);
}

TEST(without_ids)
{
	fake::reset();
	Member server(1), client(2);
	uint32_t address = 0, id = 0;
	uint64_t number = 0;

	client.bind(1);
	assert_rc(NO_MATCH, GNI_PostDataProbe(server.nic, &address, &id));
	assert_rc(SUCCESS, server.post("x"));
	assert_rc(SUCCESS, client.post("y"));
	assert_rc(NO_MATCH, GNI_PostDataProbeById(server.nic, &number));
	assert_rc(SUCCESS, GNI_PostDataProbe(server.nic, &address, &id));
	assert_int_equal(address, kNode);
	assert_int_equal(id, 2);
	/* neither has an id */
	assert_rc(NO_MATCH, server.test(0));
	assert_rc(SUCCESS, server.test());
	server.got(2, "y");
}

TEST(domains_and_itself)
{
	fake::reset();
	Member a(1), foreign(2, 0x4321), self(3);

	a.bind(2);
	assert_rc(SUCCESS, foreign.post("foreign"));
	assert_rc(SUCCESS, a.post("x"));
	assert_rc(SUCCESS, a.test());
	assert_int_equal(a.state, GNI_POST_PENDING);

	gni_ep_handle_t wild = nullptr;
	char data[4] = "abc";
	assert_rc(SUCCESS, GNI_EpCreate(self.nic, nullptr, &wild));
	assert_rc(SUCCESS, GNI_EpPostDataWId(wild, data, 4, data, 4, 7));
	self.bind(3);
	assert_rc(SUCCESS, self.post("me"));
	assert_rc(SUCCESS, self.test());
	self.got(3, "abc");
	assert_rc(SUCCESS, GNI_EpPostDataTestById(wild, 7, &self.state, &self.address, &self.id));
	assert_memory_equal(data, "me", 2);
}

TEST(sizes)
{
	fake::reset();
	Member a(1), b(2);
	std::string large(GNI_DATAGRAM_MAXSIZE, 'l');
	char small[4] = "...";

	a.bind(2);
	b.bind(1);
	assert_rc(SIZE_ERROR, a.post(large + "x"));
	assert_rc(SUCCESS, a.post(large));
	assert_rc(SUCCESS, GNI_EpPostData(b.ep, small, 2, small, 3));
	assert_rc(SIZE_ERROR, b.test());
	assert_string_equal(small, "...");
	assert_rc(NO_MATCH, b.test());
	assert_rc(SUCCESS, a.test());
	assert_memory_equal(a.out, "..", 2);
	/* One byte more than there is room for, then as many as there is. */
	for (const char *text : {"four", "two"}) {
		char room[4] = "...";
		assert_rc(SUCCESS, a.post(text));
		assert_rc(SUCCESS, GNI_EpPostData(b.ep, room, 2, room, 3));
		assert_int_equal(b.test(), *text == 'f' ? GNI_RC_SIZE_ERROR : GNI_RC_SUCCESS);
		assert_string_equal(room, *text == 'f' ? "..." : "two");
		assert_rc(SUCCESS, a.test());
	}

	assert_rc(SUCCESS, GNI_EpPostDataWId(a.ep, nullptr, 0, nullptr, 0, 1));
	assert_rc(SUCCESS, GNI_EpPostDataWId(b.ep, nullptr, 0, nullptr, 0, 1));
	assert_rc(SUCCESS, a.test());
	assert_int_equal(a.state, GNI_POST_COMPLETED);
}

TEST(one_an_endpoint)
{
	fake::reset();
	Member a(1);

	a.bind(2);
	assert_rc(SUCCESS, a.post("x", 1));
	const unsigned calls = fake::kernel().calls;
	assert_rc(ERROR_RESOURCE, a.post("x", 1));
	assert_rc(ERROR_RESOURCE, a.post("x"));
	assert_int_equal(fake::kernel().calls, calls);
	/* under way: the binding stays */
	assert_rc(NOT_DONE, GNI_EpIdle(a.ep));
	assert_rc(NOT_DONE, GNI_EpUnbind(a.ep));
	assert_rc(SUCCESS, GNI_EpPostDataCancel(a.ep));
	assert_rc(SUCCESS, a.test());
	assert_rc(SUCCESS, GNI_EpUnbind(a.ep));
}

TEST(cancelling)
{
	fake::reset();
	Member a(1);
	uint64_t number = 0;

	assert_rc(NO_MATCH, GNI_EpPostDataCancel(a.ep));
	assert_rc(NO_MATCH, GNI_EpPostDataCancelById(a.ep, 3));
	/* a wildcard is gone at once */
	assert_rc(SUCCESS, a.post("x", 3));
	assert_rc(NO_MATCH, GNI_EpPostDataCancelById(a.ep, 4));
	assert_rc(SUCCESS, GNI_EpPostDataCancelById(a.ep, 3));
	assert_rc(NO_MATCH, a.test(3));
	assert_rc(NO_MATCH, GNI_PostDataProbeById(a.nic, &number));
	/* a bound one comes back */
	a.bind(2);
	assert_rc(SUCCESS, a.post("x", 3));
	assert_rc(SUCCESS, GNI_EpPostDataCancelById(a.ep, 3));
	assert_rc(NO_MATCH, GNI_EpPostDataCancelById(a.ep, 3));
	assert_rc(SUCCESS, GNI_PostDataProbeById(a.nic, &number));
	assert_int_equal(number, 3);
	assert_rc(SUCCESS, a.wait(3, 100));
	assert_int_equal(a.state, GNI_POST_TERMINATED);
}

/* UCX and the LND take another answer for an error: a partner may come just before the cancelling. */
TEST(cancelled_too_late)
{
	fake::reset();
	Member a(1), any(2);

	a.bind(2);
	assert_rc(SUCCESS, any.post("there", 3));
	assert_rc(SUCCESS, a.post("here", 4));
	assert_rc(SUCCESS, GNI_EpPostDataCancelById(any.ep, 3));
	assert_rc(SUCCESS, GNI_EpPostDataCancelById(a.ep, 4));
	assert_rc(SUCCESS, any.test(3));
	assert_int_equal(any.state, GNI_POST_COMPLETED);
	assert_string_equal(any.out, "here");
	assert_rc(SUCCESS, a.wait(4, 100));
	assert_int_equal(a.state, GNI_POST_COMPLETED);
	assert_string_equal(a.out, "there");
	assert_rc(NO_MATCH, GNI_EpPostDataCancelById(any.ep, 3));
	assert_rc(NO_MATCH, GNI_EpPostDataCancelById(a.ep, 4));
}

TEST(half_way)
{
	fake::reset();
	Member a(1, 0x1234, 0), b(2), fast(3);

	b.bind(1);
	fake::kernel().datagrams.stop_half_way();
	assert_rc(SUCCESS, a.post("x", 3));
	assert_rc(SUCCESS, b.post("y"));
	assert_rc(SUCCESS, a.test(3));
	assert_int_equal(a.state, GNI_POST_REMOTE_DATA);
	/* too late to vanish */
	assert_rc(SUCCESS, GNI_EpPostDataCancelById(a.ep, 3));
	assert_rc(SUCCESS, a.test(3));
	fake::kernel().datagrams.end_exchange(KGNI_DGRAM_COMPLETED);
	assert_rc(SUCCESS, a.test(3));
	assert_int_equal(a.state, GNI_POST_TERMINATED);

	assert_rc(SUCCESS, b.test());
	assert_rc(SUCCESS, GNI_EpUnbind(b.ep));
	b.bind(3);
	fake::kernel().datagrams.stop_half_way();
	assert_rc(SUCCESS, fast.post("x", 3));
	assert_rc(SUCCESS, b.post("y"));
	assert_rc(SUCCESS, fast.test(3));
	assert_int_equal(fast.state, GNI_POST_PENDING);
	fake::kernel().datagrams.end_exchange(KGNI_DGRAM_TIMEOUT);
	assert_rc(SUCCESS, fast.wait(3, 1));
	assert_int_equal(fast.state, GNI_POST_TIMEOUT);
}

TEST(news_of_a_destroyed_endpoint)
{
	fake::reset();
	Member a(1);
	gni_ep_handle_t gone = a.ep;
	uint64_t number = 0;

	a.bind(1);
	assert_rc(SUCCESS, GNI_EpPostDataWId(a.ep, nullptr, 0, nullptr, 0, 1));
	assert_rc(SUCCESS, GNI_EpDestroy(a.ep));
	assert_rc(SUCCESS, GNI_PostdataProbeWaitById(a.nic, 1000, &number));
	assert_int_equal(number, 1);
	assert_rc(TIMEOUT, GNI_PostdataProbeWaitById(a.nic, 1, &number));
	/* All of the time, though the kernel wakes early. */
	const uint64_t start = fake::kernel().clock_ms;
	assert_rc(TIMEOUT, GNI_PostdataProbeWaitById(a.nic, 20, &number));
	assert_int_equal(fake::kernel().clock_ms, start + 20);
	assert_rc(INVALID_PARAM, GNI_EpPostDataTestById(gone, 1, &a.state, &a.address, &a.id));
	/* a wildcard that is pending leaves no trace */
	assert_rc(SUCCESS, GNI_EpCreate(a.nic, nullptr, &a.ep));
	assert_rc(SUCCESS, a.post("", 2));
	assert_rc(SUCCESS, GNI_EpDestroy(a.ep));
	assert_rc(NO_MATCH, GNI_PostDataProbeById(a.nic, &number));
}

TEST(wrong_arguments)
{
	fake::reset();
	Member a(1);
	char data[8] = {};
	uint64_t number = 0;
	uint32_t value = 0;

	assert_rc(INVALID_PARAM, GNI_EpPostData(nullptr, data, 8, data, 8));
	assert_rc(INVALID_PARAM, GNI_EpPostData(a.ep, nullptr, 8, data, 8));
	assert_rc(INVALID_PARAM, GNI_EpPostData(a.ep, data, 8, nullptr, 8));
	assert_rc(INVALID_PARAM, GNI_EpPostDataWId(a.ep, data, 8, data, 8, ~uint64_t{0}));
	assert_rc(INVALID_PARAM, GNI_EpPostDataWId(nullptr, data, 8, data, 8, 0));
	assert_rc(INVALID_PARAM, GNI_EpPostDataTest(nullptr, &a.state, &a.address, &a.id));
	assert_rc(INVALID_PARAM, GNI_EpPostDataTest(a.ep, nullptr, &a.address, &a.id));
	assert_rc(INVALID_PARAM, GNI_EpPostDataTest(a.ep, &a.state, nullptr, &a.id));
	assert_rc(INVALID_PARAM, GNI_EpPostDataTestById(a.ep, 0, &a.state, &a.address, nullptr));
	assert_rc(INVALID_PARAM, a.wait(0));
	assert_rc(INVALID_PARAM, a.wait(7, 0));
	assert_rc(INVALID_PARAM, GNI_EpPostDataWaitById(nullptr, 7, 1, &a.state, &a.address, &a.id));
	assert_rc(INVALID_PARAM, GNI_PostDataProbe(nullptr, &value, &value));
	assert_rc(INVALID_PARAM, GNI_PostDataProbe(a.nic, nullptr, &value));
	assert_rc(INVALID_PARAM, GNI_PostDataProbe(a.nic, &value, nullptr));
	assert_rc(INVALID_PARAM, GNI_PostDataProbeById(nullptr, &number));
	assert_rc(INVALID_PARAM, GNI_PostDataProbeById(a.nic, nullptr));
	assert_rc(INVALID_PARAM, GNI_PostdataProbeWaitById(nullptr, 1, &number));
	assert_rc(INVALID_PARAM, GNI_PostdataProbeWaitById(a.nic, 1, nullptr));
	assert_rc(TIMEOUT, GNI_PostdataProbeWaitById(a.nic, 0, &number));
	assert_rc(INVALID_PARAM, GNI_EpPostDataCancel(nullptr));
	assert_rc(INVALID_PARAM, GNI_EpPostDataCancelById(nullptr, 0));
}

TEST(errno_of_post)
{
	static const struct {
		int error;
		gni_return_t rc;
	} meanings[] = {
		{-EBUSY, GNI_RC_ERROR_RESOURCE}, {-ENOSPC, GNI_RC_ERROR_RESOURCE}, {-ENOMEM, GNI_RC_ERROR_NOMEM},
		{-EINVAL, GNI_RC_INVALID_PARAM}, {-E2BIG, GNI_RC_SIZE_ERROR},      {-ENOTTY, GNI_RC_ERROR_RESOURCE},
		{-EIO, GNI_RC_INVALID_STATE},    {-ENODEV, GNI_RC_NO_MATCH},
	};

	fake::reset();
	Member a(1);
	for (auto [error, rc] : meanings) {
		fake::kernel().errors[KGNI_IOC_DGRAM_POST] = error;
		assert_int_equal(a.post("x"), rc);
	}
}

TEST(errno_of_the_others)
{
	uint64_t number = 0;

	fake::reset();
	Member a(1);
	assert_rc(SUCCESS, a.post("x"));
	for (int error : {-EIO, -ENODEV, -ECANCELED}) {
		fake::kernel().errors[KGNI_IOC_DGRAM_TEST] = error;
		fake::kernel().errors[KGNI_IOC_DGRAM_PROBE] = error;
		fake::kernel().errors[KGNI_IOC_DGRAM_CANCEL] = error;
		assert_rc(NO_MATCH, a.test());
		assert_rc(NO_MATCH, a.wait(1));
		assert_rc(INVALID_PARAM, GNI_PostdataProbeWaitById(a.nic, ~0U, &number));
		assert_rc(NO_MATCH, GNI_EpPostDataCancel(a.ep));
	}
	fake::kernel().errors.clear();
	const uint64_t start = fake::kernel().clock_ms;
	assert_rc(TIMEOUT, a.wait(20));
	assert_int_equal(fake::kernel().clock_ms, start + 20);
	fake::kernel().errors.clear();
}

/* A wait goes on after a signal. */
TEST(signals)
{
	uint64_t number = 0;

	fake::reset();
	Member a(1), b(2);
	a.bind(2);
	b.bind(1);
	assert_rc(SUCCESS, a.post("from a", 4));
	assert_rc(SUCCESS, b.post("from b"));
	fake::kernel().once[KGNI_IOC_DGRAM_PROBE] = -EINTR;
	assert_rc(SUCCESS, GNI_PostdataProbeWaitById(a.nic, 1000, &number));
	assert_int_equal(number, 4);
	fake::kernel().once[KGNI_IOC_DGRAM_TEST] = -EINTR;
	assert_rc(SUCCESS, a.wait(4, 1000));
	a.got(2, "from b");
	fake::kernel().once[KGNI_IOC_DGRAM_TEST] = -EINTR;
	assert_rc(SUCCESS, b.wait(~0U));
	b.got(1, "from a");
	assert_true(fake::kernel().once.empty());
}

TEST(limit)
{
	fake::reset();
	Member a(1);

	for (size_t n = 0; n <= fake::Datagrams::kLimit; n++) {
		gni_ep_handle_t ep = nullptr;
		assert_rc(SUCCESS, GNI_EpCreate(a.nic, nullptr, &ep));
		assert_int_equal(GNI_EpPostData(ep, nullptr, 0, nullptr, 0),
				 n < fake::Datagrams::kLimit ? GNI_RC_SUCCESS : GNI_RC_ERROR_RESOURCE);
	}
}

struct Sleeper {
	gni_nic_handle_t nic;
	std::atomic<int> rc{-1};
	uint64_t number = 0;
};

static void *sleep_for_ever(void *arg)
{
	auto *s = static_cast<Sleeper *>(arg);

	s->rc = GNI_PostdataProbeWaitById(s->nic, ~0U, &s->number);
	return nullptr;
}

/* As UCX ends its thread: a datagram to itself whose endpoint is gone before the thread looks. */
TEST(sleeper_wakes)
{
	fake::reset();
	Member a(1);
	Sleeper s{a.nic};
	pthread_t thread = {};

	assert_int_equal(pthread_create(&thread, nullptr, sleep_for_ever, &s), 0);
	a.bind(1);
	assert_rc(SUCCESS, GNI_EpPostDataWId(a.ep, nullptr, 0, nullptr, 0, 1));
	assert_rc(SUCCESS, GNI_EpDestroy(a.ep));
	pthread_join(thread, nullptr);
	assert_int_equal(s.rc, GNI_RC_SUCCESS);
	assert_int_equal(s.number, 1);
}

TEST(sleeper_does_not_outlive_its_domain)
{
	fake::reset();
	Member a(1);
	Sleeper s{a.nic};
	pthread_t thread = {};

	/* something that makes the handle known to have used datagrams before the thread runs */
	assert_rc(SUCCESS, a.post("x"));
	assert_int_equal(pthread_create(&thread, nullptr, sleep_for_ever, &s), 0);
	usleep(50000);
	assert_rc(SUCCESS, GNI_CdmDestroy(a.cdm));
	pthread_join(thread, nullptr);
	assert_int_equal(s.rc, GNI_RC_INVALID_PARAM);
}

TEST_MAIN("datagrams")
