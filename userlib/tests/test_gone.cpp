// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* A NIC that was reset or removed: whoever polls, waits or posts is told, and told which of the two it was. */
#include "ce.hpp"
#include "session.hpp"

#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

/* What the driver does to the mappings, and what its calls answer from then on. */
static void take_away(const Session &s, int error)
{
	memset(s.file().area, 0xff, sizeof(s.file().area));
	for (auto &[number, q] : s.file().queues) {
		for (uint32_t n = 0; n < q->slots; n++)
			q->memory[ARIES_CQ_HEADER_BYTES / 8 + n] = ~uint64_t{0};
	}
	for (unsigned long request :
	     {KGNI_IOC_NTT_INFO, KGNI_IOC_CQ_WAIT, KGNI_IOC_CQ_DESTROY, KGNI_IOC_MEM_REGISTER, KGNI_IOC_MEM_DEREGISTER,
	      KGNI_IOC_DGRAM_POST, KGNI_IOC_DGRAM_TEST, KGNI_IOC_DGRAM_PROBE})
		fake::kernel().errors[request] = error;
	fake::kernel().on_doorbell = nullptr;
}

static void told(gni_return_t expected, int error)
{
	Session s;
	gni_cq_handle_t queues[] = {s.cq};
	gni_cq_entry_t e = 5;
	uint32_t which = 0;

	s.post_a_while();
	/* One event is taken, one is not: that is lost with the queue. */
	gni_post_descriptor_t d[3] = {s.post(GNI_POST_FMA_PUT), s.post(GNI_POST_FMA_PUT), s.post(GNI_POST_FMA_PUT)};
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d[0]));
	assert_rc(SUCCESS, GNI_CqGetEvent(s.cq, &e));
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d[1]));
	take_away(s, error);
	assert_int_equal(expected, GNI_CqGetEvent(s.cq, &e));
	/* More than once around, and whoever comes next finds it, too; the driver is asked once. */
	const unsigned asked = fake::kernel().calls;
	for (int n = 0; n < 200; n++)
		assert_int_equal(expected, GNI_CqGetEvent(s.cq, &e));
	assert_int_equal(asked, fake::kernel().calls);
	assert_int_equal(0, e);
	assert_int_equal(expected, GNI_CqTestEvent(s.cq));
	assert_int_equal(expected, GNI_CqWaitEvent(s.cq, 1000, &e));
	assert_int_equal(expected, GNI_CqVectorWaitEvent(queues, 1, ~0ULL, &e, &which));
	assert_int_equal(expected, GNI_CqVectorMonitor(queues, 1, ~0ULL, &which));
	/* The common post as well: nothing that goes nowhere takes room in the queue. */
	const size_t rung = fake::kernel().doorbells.size();
	for (int n = 0; n < 200; n++)
		assert_int_equal(expected, GNI_PostFma(s.ep, &d[2]));
	assert_int_equal(rung, fake::kernel().doorbells.size());
}

TEST(reset_is_told)
{
	told(GNI_RC_INVALID_STATE, -EIO);
}

TEST(removal_is_told)
{
	told(GNI_RC_NO_MATCH, -ENODEV);
}

/* Who posts before he polls finds out by the status word, whatever he posts. */
TEST(posts_are_told)
{
	for (gni_post_type_t type : {GNI_POST_FMA_PUT, GNI_POST_FMA_GET, GNI_POST_AMO, GNI_POST_CQWRITE}) {
		Session s;
		gni_post_descriptor_t d = s.post(type, 16);

		take_away(s, -EIO);
		assert_int_equal(GNI_RC_INVALID_STATE,
				 type == GNI_POST_CQWRITE ? GNI_PostCqWrite(s.ep, &d) : GNI_PostFma(s.ep, &d));
	}
	Session s;
	gni_post_descriptor_t d = s.post(GNI_POST_RDMA_PUT, 64);
	take_away(s, -EIO);
	assert_int_equal(GNI_RC_INVALID_STATE, GNI_PostRdma(s.ep, &d));
}

/* Whatever a client may call until it says something else than "nothing yet", with something under way. */
struct Busy : Session {
	gni_cq_handle_t queues[1] = {}, small = nullptr;
	gni_ep_handle_t talking = nullptr, stalled = nullptr, full = nullptr, leaf = nullptr, asking = nullptr,
			idle = nullptr;
	gni_msgq_handle_t q = nullptr;
	gni_post_state_t state = GNI_POST_PENDING;
	gni_post_descriptor_t put = post(GNI_POST_FMA_PUT), one = post(GNI_POST_FMA_PUT), sum = post(GNI_POST_CE);
	gni_cq_entry_t e = 0;
	gni_ce_result_t *result = reinterpret_cast<gni_ce_result_t *>(bytes + 7680);
	uint32_t which = 0, address = 0, id = 0;
	uint64_t number = 0;
	uint8_t tag = GNI_SMSG_ANY_TAG;
	void *header = nullptr;
	char text[8] = "";

	gni_ep_handle_t endpoint(gni_cq_handle_t events) const
	{
		gni_ep_handle_t made = nullptr;

		assert_rc(SUCCESS, GNI_EpCreate(nic, events, &made));
		assert_rc(SUCCESS, GNI_EpBind(made, 6, 88));
		return made;
	}

	gni_ep_handle_t connected(uint32_t at, gni_cq_handle_t events)
	{
		const gni_ep_handle_t made = endpoint(events);
		gni_smsg_attr_t box = mailbox(at, 2048, 2);

		assert_rc(SUCCESS, GNI_SmsgInit(made, &box, &box));
		return made;
	}

	Busy()
	{
		gni_msgq_attr_t a = small_queue(2);
		gni_msgq_ep_attr_t node = {};

		queues[0] = cq;
		talking = connected(0, cq);
		stalled = connected(2048, cq);
		for (int n = 0; n < 2; n++)
			assert_rc(SUCCESS, GNI_SmsgSend(stalled, text, 8, nullptr, 0, 0));
		assert_rc(SUCCESS, GNI_CqCreate(nic, 1, 0, GNI_CQ_NOBLOCK, nullptr, nullptr, &small));
		full = connected(4096, small);
		while (GNI_PostFma(full, &one) == GNI_RC_SUCCESS)
			;
		assert_rc(SUCCESS, GNI_MsgqInit(nic, ignore, nullptr, cq, &a, &q));
		assert_rc(SUCCESS, GNI_MsgqGetConnAttrs(q, 6, &node, nullptr));
		node.pe_addr = 6;
		node.insts[0].id = 88;
		assert_rc(SUCCESS, GNI_MsgqConnect(q, 6, &node));
		asking = endpoint(cq);
		assert_rc(SUCCESS, GNI_EpPostDataWId(asking, text, 8, text, 8, 5));
		idle = endpoint(cq);
		assert_rc(SUCCESS, GNI_PostFma(idle, &put));
		leaf = endpoint(nullptr);
		assert_rc(SUCCESS, GNI_EpSetCeAttr(leaf, 0, 0, GNI_CE_CHILD_PE));
		sum.cq_mode = GNI_CQMODE_SILENT;
		sum.local_addr = reinterpret_cast<uint64_t>(result);
		sum.ce_cmd = GNI_FMA_CE_IADD;
		assert_rc(SUCCESS, GNI_PostFma(leaf, &sum));
		assert_rc(NOT_DONE, GNI_CeCheckResult(result, 24));
		/* As the NIC does that has accepted it. */
		result->control = ARIES_CER_PENDING | 0x12345670;
		assert_rc(NOT_DONE, GNI_CeCheckResult(result, 24));
	}
};

struct Polled {
	const char *function;
	std::function<gni_return_t()> call;
	bool answers = true; /* with the code of a NIC that is gone; else with one of its own */
};

static std::vector<Polled> all_polled(Busy &s)
{
	return {
		{"GNI_CqGetEvent", [&] { return GNI_CqGetEvent(s.cq, &s.e); }},
		{"GNI_CqTestEvent", [&] { return GNI_CqTestEvent(s.cq); }},
		{"GNI_CqWaitEvent", [&] { return GNI_CqWaitEvent(s.cq, 5, &s.e); }},
		{"GNI_CqVectorWaitEvent", [&] { return GNI_CqVectorWaitEvent(s.queues, 1, 5, &s.e, &s.which); }},
		{"GNI_CqVectorMonitor", [&] { return GNI_CqVectorMonitor(s.queues, 1, 5, &s.which); }},
		{"GNI_SmsgGetNext", [&] { return GNI_SmsgGetNext(s.talking, &s.header); }},
		{"GNI_SmsgGetNextWTag", [&] { return GNI_SmsgGetNextWTag(s.talking, &s.header, &s.tag); }},
		{"GNI_SmsgSend", [&] { return GNI_SmsgSend(s.talking, s.text, 8, nullptr, 0, 0); }},
		{"GNI_SmsgSendWTag", [&] { return GNI_SmsgSendWTag(s.talking, s.text, 8, nullptr, 0, 0, 1); }},
		{"GNI_SmsgSend without credit", [&] { return GNI_SmsgSend(s.stalled, s.text, 8, nullptr, 0, 0); }},
		{"GNI_SmsgSend without room", [&] { return GNI_SmsgSend(s.full, s.text, 8, nullptr, 0, 0); }},
		{"GNI_MsgqProgress", [&] { return GNI_MsgqProgress(s.q, ~0U); }},
		{"GNI_MsgqProgress that waits", [&] { return GNI_MsgqProgress(s.q, 5); }},
		{"GNI_MsgqIdle", [&] { return GNI_MsgqIdle(s.q); }},
		{"GNI_MsgqSend", [&] { return GNI_MsgqSend(s.q, s.ep, s.text, 8, nullptr, 0, 0, 0); }},
		{"GNI_MsgqSend without room", [&] { return GNI_MsgqSend(s.q, s.full, s.text, 8, nullptr, 0, 0, 0); }},
		{"GNI_PostFma", [&] { return GNI_PostFma(s.ep, &s.one); }},
		{"GNI_PostFma without room", [&] { return GNI_PostFma(s.full, &s.one); }},
		{"GNI_EpIdle", [&] { return GNI_EpIdle(s.idle); }},
		{"GNI_EpUnbind", [&] { return GNI_EpUnbind(s.idle); }},
		{"GNI_CeCheckResult", [&] { return GNI_CeCheckResult(s.result, 24); }},
		{"GNI_EpPostData", [&] { return GNI_EpPostData(s.ep, s.text, 8, s.text, 8); }},
		{"GNI_EpPostDataTest", [&] { return GNI_EpPostDataTest(s.asking, &s.state, &s.address, &s.id); },
		 false},
		{"GNI_EpPostDataTestById",
		 [&] { return GNI_EpPostDataTestById(s.asking, 5, &s.state, &s.address, &s.id); }, false},
		{"GNI_EpPostDataWait", [&] { return GNI_EpPostDataWait(s.asking, 5, &s.state, &s.address, &s.id); },
		 false},
		{"GNI_EpPostDataWaitById",
		 [&] { return GNI_EpPostDataWaitById(s.asking, 5, 5, &s.state, &s.address, &s.id); }, false},
		{"GNI_PostDataProbe", [&] { return GNI_PostDataProbe(s.nic, &s.address, &s.id); }, false},
		{"GNI_PostDataProbeById", [&] { return GNI_PostDataProbeById(s.nic, &s.number); }, false},
		{"GNI_PostdataProbeWaitById", [&] { return GNI_PostdataProbeWaitById(s.nic, 5, &s.number); }, false},
	};
}

static bool tells(const Polled &p, gni_return_t rc, gni_return_t gone)
{
	if (p.answers)
		return rc == gone;
	/* A probe that finds nothing says NO_MATCH, a test of a datagram under way SUCCESS. */
	const bool probe = strstr(p.function, "Probe") || strstr(p.function, "probe");
	return rc == (probe ? GNI_RC_INVALID_PARAM : GNI_RC_NO_MATCH);
}

/* Each alone, so that it does not live on what another one has found out; and again and again. */
TEST(polls_are_told)
{
	const size_t count = all_polled(*std::make_unique<Busy>()).size();
	unsigned silent = 0;

	for (const int error : {-EIO, -ENODEV}) {
		const gni_return_t gone = error == -EIO ? GNI_RC_INVALID_STATE : GNI_RC_NO_MATCH;
		for (size_t n = 0; n < count; n++) {
			Busy s;
			const Polled p = all_polled(s)[n];
			take_away(s, error);
			/* The common posts look at nothing: some other call has to find out. */
			if (strcmp(p.function, "GNI_PostFma") == 0)
				(void)GNI_CqTestEvent(s.cq);
			for (unsigned times = 0; times < 5; times++) {
				const gni_return_t rc = p.call();
				if (tells(p, rc, gone))
					continue;
				print_error("%s: %s\n", p.function, gni_err_str[rc]);
				silent++;
				break;
			}
		}
	}
	assert_int_equal(silent, 0);
}

/* What waits for events that do not come any more can be ended. */
TEST(queues_are_released)
{
	Busy s;

	assert_rc(SUCCESS, GNI_MsgqSend(s.q, s.ep, s.text, 8, nullptr, 0, 0, 0));
	assert_rc(NOT_DONE, GNI_MsgqConnRelease(s.q, 6));
	take_away(s, -EIO);
	assert_rc(SUCCESS, GNI_MsgqConnRelease(s.q, 6));
	assert_rc(SUCCESS, GNI_MsgqRelease(s.q));
}

/* In the middle of a post of many pieces: it ends at once. */
TEST(pieces_end)
{
	Session s;
	gni_post_descriptor_t d = s.post(GNI_POST_FMA_PUT, 4096);
	gni_cq_entry_t e = 0;

	fake::kernel().on_doorbell = [&s](fake::File &, const fake::Doorbell &) { take_away(s, -EIO); };
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	assert_in_range(fake::kernel().doorbells.size(), 1, 2);
	assert_int_equal(GNI_RC_INVALID_STATE, GNI_CqGetEvent(s.cq, &e));
}

/* One that answers no doorbell and was not taken away, either: the post of many pieces ends all the same. */
TEST(silence_ends)
{
	Session s;
	gni_post_descriptor_t d = s.post(GNI_POST_FMA_PUT, 4096);

	fake::kernel().on_doorbell = nullptr;
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	/* The piece, and the empty put that would carry its status. */
	assert_int_equal(fake::kernel().doorbells.size(), 2);
	assert_int_equal(s.last().length(), 0);
}

/* What was made with the NIC can be ended, and the domain attached anew. */
TEST(begins_anew)
{
	Session s;
	gni_cq_entry_t e = 0;

	take_away(s, -EIO);
	assert_int_equal(GNI_RC_INVALID_STATE, GNI_CqGetEvent(s.cq, &e));
	assert_rc(SUCCESS, GNI_MemDeregister(s.nic, &s.memory));
	assert_rc(SUCCESS, GNI_EpDestroy(s.ep));
	assert_rc(SUCCESS, GNI_CqDestroy(s.cq));
	assert_rc(SUCCESS, GNI_CdmDestroy(s.cdm));
	fake::kernel().errors.clear();
	Session again;
	gni_post_descriptor_t d = again.post(GNI_POST_FMA_PUT);
	assert_rc(SUCCESS, GNI_PostFma(again.ep, &d));
	assert_rc(SUCCESS, GNI_CqGetEvent(again.cq, &e));
}

TEST_MAIN("tests")
