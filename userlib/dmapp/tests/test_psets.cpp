// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file Sets of PEs on nodes of the model: barriers and reductions. */
#include "model_kernel.hpp"
#include "symmetric.hpp"

#include <algorithm>
#include <array>

namespace
{

constexpr int kPes = 12; /* more than one engine has below it */
constexpr uint64_t kName = 0x1234;

int job_start_many(void **)
{
	setenv("XT_SYMMETRIC_HEAP_SIZE", "2m", 1);
	job::start(kPes);
	return 0;
}

dmapp_c_pset_desc_t strided(int base, int stride, int count)
{
	dmapp_c_pset_desc_t d{};

	d.type = DMAPP_C_PSET_DELIMITER_STRIDED;
	d.u.stride_type = {count, base, stride};
	return d;
}

/* A set of all its members. */
struct Set {
	std::vector<int> pes;
	std::vector<dmapp_c_pset_handle_t> handles;

	Set(int base, int stride, int count, uint64_t name = kName)
	{
		dmapp_c_pset_desc_t d = strided(base, stride, count);

		for (int n = 0; n < count; n++)
			pes.push_back(base + n * stride);
		handles.resize(pes.size());
		for (size_t n = 0; n < pes.size(); n++) {
			job::choose(pes[n]);
			assert_dmapp(SUCCESS,
				     dmapp_c_pset_create(&d, name, DMAPP_C_PSET_MODE_CONCAT, nullptr, &handles[n]));
		}
		for (size_t n = 0; n < pes.size(); n++) {
			job::choose(pes[n]);
			assert_dmapp(SUCCESS, dmapp_c_pset_export(handles[n]));
		}
	}
	~Set()
	{
		for (size_t n = 0; n < pes.size(); n++) {
			job::choose(pes[n]);
			(void)dmapp_c_pset_destroy(handles[n]);
		}
	}
	Set(const Set &) = delete;
	Set &operator=(const Set &) = delete;

	void barrier() const
	{
		/* Not in the order of the tree; nobody is through before the last one has come. */
		for (size_t i = 0; i < pes.size(); i++) {
			const size_t n = (i * 7 + 3) % pes.size();

			job::choose(pes[n]);
			assert_dmapp(SUCCESS, dmapp_c_barrier_join(handles[n]));
			if (i + 1 < pes.size())
				assert_dmapp(NOT_DONE, dmapp_c_pset_test(handles[n]));
		}
		for (size_t n = 0; n < pes.size(); n++) {
			job::choose(pes[n]);
			assert_dmapp(SUCCESS, dmapp_c_pset_wait(handles[n]));
			assert_dmapp(SUCCESS, dmapp_c_pset_test(handles[n]));
		}
	}
};

void barriers(void **)
{
	/* 7 is no divisor of any of these counts. */
	const Set all(0, 1, kPes), few(1, 3, 3, kName + 1), back(10, -2, 5, kName + 2), alone(4, 1, 1, kName + 3);

	for (int n = 0; n < 3; n++) {
		all.barrier();
		few.barrier();
		back.barrier();
		alone.barrier();
	}
}

template <typename T> void reduce(const Set &set, dmapp_c_type_t type, T (*value)(int, int))
{
	constexpr int kElements = 5;
	std::vector<std::array<T, kElements>> in(set.pes.size()), out(set.pes.size());

	for (size_t n = 0; n < set.pes.size(); n++) {
		for (int e = 0; e < kElements; e++)
			in[n][static_cast<size_t>(e)] = value(set.pes[n], e);
		job::choose(set.pes[n]);
		assert_dmapp(SUCCESS, dmapp_c_greduce_start(set.handles[n], in[n].data(), out[n].data(), kElements,
							    type, DMAPP_C_MAX));
		if (n + 1 < set.pes.size())
			assert_dmapp(NOT_DONE, dmapp_c_pset_test(set.handles[n]));
		assert_dmapp(BUSY, dmapp_c_barrier_join(set.handles[n]));
		assert_dmapp(BUSY, dmapp_c_pset_destroy(set.handles[n]));
	}
	/* The elements go one after the other, each when its PE looks. */
	for (size_t done = 0; done < set.pes.size();) {
		done = 0;
		for (size_t n = 0; n < set.pes.size(); n++) {
			job::choose(set.pes[n]);
			done += dmapp_c_pset_test(set.handles[n]) == DMAPP_RC_SUCCESS;
		}
	}
	for (size_t n = 0; n < set.pes.size(); n++) {
		job::choose(set.pes[n]);
		assert_dmapp(SUCCESS, dmapp_c_pset_wait(set.handles[n]));
		for (int e = 0; e < kElements; e++) {
			T most = value(set.pes[0], e);

			for (int pe : set.pes)
				most = std::max(most, value(pe, e));
			assert_true(out[n][static_cast<size_t>(e)] == most);
		}
	}
}

void reductions(void **)
{
	const Set set(2, 3, 4);

	reduce<int32_t>(set, DMAPP_C_INT32, [](int pe, int e) { return (pe * 7 + e * 5) % 11 - 20; });
	reduce<int64_t>(set, DMAPP_C_INT64,
			[](int pe, int e) { return static_cast<int64_t>((pe * 7 + e * 5) % 11) << (e * 8 + 8); });
	reduce<double>(set, DMAPP_C_DOUBLE, [](int pe, int e) { return (pe * 7 + e * 5) % 11 - 5.5; });
}

void refused(void **)
{
	dmapp_c_pset_desc_t d = strided(0, 1, 2);
	dmapp_c_pset_handle_t handle = 0, same = 0;
	uint32_t most = 0;
	int64_t value = 0;

	job::choose(0);
	assert_dmapp(INVALID_PARAM, dmapp_c_pset_create(nullptr, 1, 0, nullptr, &handle));
	assert_dmapp(INVALID_PARAM, dmapp_c_pset_create(&d, 1, 0, nullptr, nullptr));
	assert_dmapp(INVALID_PARAM, dmapp_c_pset_create(&d, 1, 2, nullptr, &handle));
	for (const auto &wrong :
	     {strided(0, 1, 0), strided(0, 0, 2), strided(0, 1, INT32_MIN), strided(-1, 1, 2), strided(0, 1, kPes + 1),
	      strided(1, 1, 2), strided(0, INT32_MAX, 3), strided(1, -2, 2)}) {
		dmapp_c_pset_desc_t copy = wrong;
		assert_dmapp(INVALID_PARAM, dmapp_c_pset_create(&copy, 1, 0, nullptr, &handle));
	}
	d.type = 7;
	assert_dmapp(INVALID_PARAM, dmapp_c_pset_create(&d, 1, 0, nullptr, &handle));
	d.type = DMAPP_C_PSET_DELIMITER_STRIDED;
	assert_dmapp(SUCCESS, dmapp_c_pset_create(&d, 1, 0, nullptr, &handle));
	assert_dmapp(BUSY, dmapp_c_pset_create(&d, 1, 0, nullptr, &same));
	/* The other member has not created it; and before export there are no collectives. */
	assert_dmapp(NOT_FOUND, dmapp_c_pset_export(handle));
	const size_t endpoints = job::endpoints(0);
	for (int n = 0; n < 5; n++)
		assert_dmapp(NOT_FOUND, dmapp_c_pset_export(handle));
	assert_int_equal(job::endpoints(0), endpoints);
	assert_dmapp(INVALID_PARAM, dmapp_c_barrier_join(handle));
	assert_dmapp(INVALID_PARAM, dmapp_c_pset_wait(handle));
	assert_dmapp(SUCCESS, dmapp_c_pset_destroy(handle));
	assert_dmapp(INVALID_PARAM, dmapp_c_pset_destroy(handle));
	assert_dmapp(INVALID_PARAM, dmapp_c_pset_test(handle));
	assert_dmapp(INVALID_PARAM, dmapp_c_barrier_join(0));
	assert_dmapp(SUCCESS, dmapp_c_greduce_nelems_max(DMAPP_C_INT32, &most));
	assert_true(most >= 2);
	assert_dmapp(INVALID_PARAM, dmapp_c_greduce_nelems_max(static_cast<dmapp_c_type_t>(9), &most));
	assert_dmapp(INVALID_PARAM, dmapp_c_greduce_nelems_max(DMAPP_C_INT32, nullptr));

	const Set set(0, 1, 2);
	job::choose(0);
	assert_dmapp(INVALID_PARAM,
		     dmapp_c_greduce_start(set.handles[0], &value, &value, most + 1, DMAPP_C_INT64, DMAPP_C_MAX));
	assert_dmapp(INVALID_PARAM,
		     dmapp_c_greduce_start(set.handles[0], nullptr, &value, 1, DMAPP_C_INT64, DMAPP_C_MAX));
	assert_dmapp(INVALID_PARAM, dmapp_c_greduce_start(set.handles[0], &value, &value, 1, DMAPP_C_INT64,
							  static_cast<dmapp_c_op_t>(5)));
	assert_dmapp(BUSY, dmapp_c_pset_export(set.handles[0]));
	assert_dmapp(NOT_SUPPORTED, dmapp_c_pset_cancel_op(set.handles[0]));
}

/* The NIC has a few engines: each set takes one on each node, and gives it back. */
void as_many_as_there_are(void **)
{
	dmapp_c_pset_desc_t d = strided(0, 1, 1);
	std::vector<dmapp_c_pset_handle_t> handles(4);
	dmapp_c_pset_handle_t one_more = 0;

	for (int round = 0; round < 3; round++) {
		for (size_t n = 0; n < handles.size(); n++)
			assert_dmapp(SUCCESS, dmapp_c_pset_create(&d, n, 0, nullptr, &handles[n]));
		assert_dmapp(RESOURCE_ERROR, dmapp_c_pset_create(&d, 99, 0, nullptr, &one_more));
		for (dmapp_c_pset_handle_t handle : handles)
			assert_dmapp(SUCCESS, dmapp_c_pset_destroy(handle));
	}
}

/* A member that is lost ends the wait of the others. */
void member_that_dies(void **)
{
	const Set set(0, 1, 3);

	set.barrier();
	job::choose(0);
	assert_dmapp(SUCCESS, dmapp_c_barrier_join(set.handles[0]));
	job::choose(1);
	assert_dmapp(SUCCESS, dmapp_c_barrier_join(set.handles[1]));
	job::kill(2);
	for (size_t n : {size_t{0}, size_t{1}}) {
		job::choose(static_cast<int>(n));
		assert_dmapp(TRANSACTION_ERROR, dmapp_c_pset_wait(set.handles[n]));
		assert_dmapp(TRANSACTION_ERROR, dmapp_c_barrier_join(set.handles[n]));
	}
}

/* Words that wait for company go when their PE looks at a set: whoever looks all the time leaves nobody else a turn. */
void words_before(void **)
{
	const Symmetric block(64);
	const Set set(0, 1, 2);
	uint64_t value = 0;
	int64_t in = 1, out = 0;

	job::choose(0);
	value++;
	assert_dmapp(SUCCESS, dmapp_put_nbi(block.at[0], heap(), 1, &value, 1, DMAPP_QW));
	assert_dmapp(SUCCESS, dmapp_c_greduce_start(set.handles[0], &in, &out, 1, DMAPP_C_INT64, DMAPP_C_MAX));
	assert_int_equal(block.word(1, 0), value);
	value++;
	assert_dmapp(SUCCESS, dmapp_put_nbi(block.at[0], heap(), 1, &value, 1, DMAPP_QW));
	assert_dmapp(NOT_DONE, dmapp_c_pset_test(set.handles[0]));
	assert_int_equal(block.word(1, 0), value);
	job::choose(1);
	assert_dmapp(SUCCESS, dmapp_c_greduce_start(set.handles[1], &in, &out, 1, DMAPP_C_INT64, DMAPP_C_MAX));
	for (int pe : {1, 0}) {
		job::choose(pe);
		assert_dmapp(SUCCESS, dmapp_c_pset_wait(set.handles[static_cast<size_t>(pe)]));
	}
}

/* The own NIC is reset, and its mapping reads as ones: the collective does not end, and the wait does. */
void own_nic_reset(void **)
{
	const Set set(0, 1, 2);

	set.barrier();
	job::choose(0);
	assert_dmapp(SUCCESS, dmapp_c_barrier_join(set.handles[0]));
	assert_dmapp(NOT_DONE, dmapp_c_pset_test(set.handles[0]));
	job::reset(0);
	assert_dmapp(TRANSACTION_ERROR, dmapp_c_pset_wait(set.handles[0]));
	assert_dmapp(TRANSACTION_ERROR, dmapp_c_pset_test(set.handles[0]));
}

} // namespace

int main()
{
	const CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(barriers, job_start_many, job_stop),
		cmocka_unit_test_setup_teardown(reductions, job_start_many, job_stop),
		cmocka_unit_test_setup_teardown(refused, job_start_many, job_stop),
		cmocka_unit_test_setup_teardown(as_many_as_there_are, job_start, job_stop),
		cmocka_unit_test_setup_teardown(member_that_dies, job_start_many, job_stop),
		cmocka_unit_test_setup_teardown(words_before, job_start, job_stop),
		cmocka_unit_test_setup_teardown(own_nic_reset, job_start, job_stop),
	};

	return cmocka_run_group_tests_name("sets of PEs of DMAPP", tests, nullptr, nullptr);
}
