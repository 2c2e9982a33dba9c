// SPDX-License-Identifier: BSD-2-Clause
/* A NIC that was reset or removed: whoever polls, waits or posts is told, and told which of the two it was. */
#include "session.hpp"

#include <cerrno>
#include <cstring>

/* What the driver does to the mappings, and what its calls answer from then on. */
static void take_away(const Session &s, int error)
{
	fake::Queue &q = s.queue();

	memset(s.file().area, 0xff, sizeof(s.file().area));
	for (uint32_t n = 0; n < q.slots; n++)
		q.memory[ARIES_CQ_HEADER_BYTES / 8 + n] = ~uint64_t{0};
	for (unsigned long request : {KGNI_IOC_NTT_INFO, KGNI_IOC_CQ_WAIT, KGNI_IOC_CQ_DESTROY, KGNI_IOC_MEM_REGISTER,
				      KGNI_IOC_MEM_DEREGISTER})
		fake::kernel().errors[request] = error;
	fake::kernel().on_doorbell = nullptr;
}

static void told(gni_return_t expected, int error)
{
	Session s;
	gni_cq_handle_t queues[] = {s.cq};
	gni_cq_entry_t e = 5;
	uint32_t which = 0;

	/* One event is taken, one is not: that is lost with the queue. */
	gni_post_descriptor_t d[3] = {s.post(GNI_POST_FMA_PUT), s.post(GNI_POST_FMA_PUT), s.post(GNI_POST_FMA_PUT)};
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d[0]));
	assert_rc(SUCCESS, GNI_CqGetEvent(s.cq, &e));
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d[1]));
	take_away(s, error);
	/* More than once around, and whoever comes next finds it, too. */
	for (int n = 0; n < 200; n++)
		assert_int_equal(expected, GNI_CqGetEvent(s.cq, &e));
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

static void reset_is_told(void **)
{
	told(GNI_RC_INVALID_STATE, -EIO);
}

static void removal_is_told(void **)
{
	told(GNI_RC_NO_MATCH, -ENODEV);
}

/* Who posts before he polls finds out by the status word, whatever he posts. */
static void posts_are_told(void **)
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

/* In the middle of a post of many pieces: it ends at once. */
static void pieces_end(void **)
{
	Session s;
	gni_post_descriptor_t d = s.post(GNI_POST_FMA_PUT, 4096);
	gni_cq_entry_t e = 0;

	fake::kernel().on_doorbell = [&s](fake::File &, const fake::Doorbell &) { take_away(s, -EIO); };
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	assert_in_range(fake::kernel().doorbells.size(), 1, 2);
	assert_int_equal(GNI_RC_INVALID_STATE, GNI_CqGetEvent(s.cq, &e));
}

/* What was made with the NIC can be ended, and the domain attached anew. */
static void begins_anew(void **)
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

int main()
{
	const CMUnitTest tests[] = {
		cmocka_unit_test(reset_is_told), cmocka_unit_test(removal_is_told), cmocka_unit_test(posts_are_told),
		cmocka_unit_test(pieces_end),	 cmocka_unit_test(begins_anew),
	};

	return cmocka_run_group_tests(tests, nullptr, nullptr);
}
