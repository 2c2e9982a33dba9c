// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file Strides, indices, several PEs, and atomics, in all forms. */
#include "model_kernel.hpp"
#include "symmetric.hpp"

namespace
{

constexpr struct {
	dmapp_type_t type;
	size_t width;
} kTypes[] = {{DMAPP_DQW, 16}, {DMAPP_QW, 8}, {DMAPP_DW, 4}, {DMAPP_BYTE, 1}};

int job_start_three(void **)
{
	setenv("XT_SYMMETRIC_HEAP_SIZE", "4m", 1);
	job::start(3);
	return 0;
}

/* Element n of each width has these bytes. */
void element(unsigned char *at, size_t width, size_t n, unsigned seed)
{
	for (size_t b = 0; b < width; b++)
		at[b] = static_cast<unsigned char>(n * 31 + b + seed);
}

/* Remote stride 3, local stride 2, more elements than one batch has. */
void strides(void **)
{
	constexpr size_t kElements = 200;
	const Symmetric block(kElements * 3 * 16 + 16);
	std::vector<unsigned char> local(kElements * 2 * 16), want(16);
	dmapp_syncid_handle_t id = 0;

	for (const auto &t : kTypes) {
		for (unsigned form = 0; form < 3; form++) {
			for (size_t n = 0; n < kElements; n++)
				element(&local[n * 2 * t.width], t.width, n, form);
			memset(block.at[1], 0xee, kElements * 3 * t.width);
			if (form == 0)
				assert_dmapp(SUCCESS,
					     dmapp_iput(block.at[0], heap(), 1, local.data(), 3, 2, kElements, t.type));
			else if (form == 1)
				assert_dmapp(SUCCESS, dmapp_iput_nb(block.at[0], heap(), 1, local.data(), 3, 2,
								    kElements, t.type, &id));
			else
				assert_dmapp(SUCCESS, dmapp_iput_nbi(block.at[0], heap(), 1, local.data(), 3, 2,
								     kElements, t.type));
			assert_dmapp(SUCCESS, form == 1 ? dmapp_syncid_wait(&id) : dmapp_gsync_wait());
			for (size_t n = 0; n < kElements * 3; n++) {
				memset(want.data(), 0xee, t.width);
				if (n % 3 == 0)
					element(want.data(), t.width, n / 3, form);
				assert_memory_equal(block.at[1] + n * t.width, want.data(), t.width);
			}
			memset(local.data(), 0, local.size());
			if (form == 0)
				assert_dmapp(SUCCESS,
					     dmapp_iget(local.data(), block.at[0], heap(), 1, 2, 3, kElements, t.type));
			else if (form == 1)
				assert_dmapp(SUCCESS, dmapp_iget_nb(local.data(), block.at[0], heap(), 1, 2, 3,
								    kElements, t.type, &id));
			else
				assert_dmapp(SUCCESS, dmapp_iget_nbi(local.data(), block.at[0], heap(), 1, 2, 3,
								     kElements, t.type));
			assert_dmapp(SUCCESS, form == 1 ? dmapp_syncid_wait(&id) : dmapp_gsync_wait());
			for (size_t n = 0; n < kElements; n++) {
				element(want.data(), t.width, n, form);
				assert_memory_equal(&local[n * 2 * t.width], want.data(), t.width);
			}
		}
	}
}

/* Backwards: the address that is given is that of the last place. */
void strides_backwards(void **)
{
	const Symmetric block(64);
	uint64_t local[] = {1, 2, 3, 4}, back[4] = {};

	assert_dmapp(SUCCESS, dmapp_iput(block.at[0] + 56, heap(), 1, local + 3, -2, -1, 4, DMAPP_QW));
	for (size_t n = 0; n < 4; n++)
		assert_int_equal(block.word(1, n * 2 + 1), n + 1);
	assert_dmapp(SUCCESS, dmapp_iget(back + 3, block.at[0] + 8, heap(), 1, -1, 2, 4, DMAPP_QW));
	for (size_t n = 0; n < 4; n++)
		assert_int_equal(back[n], 4 - n);
}

void strides_refused(void **)
{
	auto *start = static_cast<unsigned char *>(heap()->addr);
	uint64_t value[4] = {};

	assert_dmapp(SUCCESS, dmapp_iput(start, heap(), 1, value, 5, 1, 0, DMAPP_QW));
	assert_dmapp(INVALID_PARAM, dmapp_iput(start, heap(), 1, value, -1, 1, 2, DMAPP_QW));
	assert_dmapp(INVALID_PARAM, dmapp_iput(start, heap(), 1, value, (4 << 20) / 8, 1, 2, DMAPP_QW));
	assert_dmapp(SUCCESS, dmapp_iput(start, heap(), 1, value, (4 << 20) / 8 - 1, 1, 2, DMAPP_QW));
	assert_dmapp(INVALID_PARAM, dmapp_iput(start, heap(), 1, value, PTRDIFF_MAX, 1, 4, DMAPP_QW));
	assert_dmapp(INVALID_PARAM, dmapp_iput(start, heap(), 1, value, PTRDIFF_MIN, 1, 2, DMAPP_QW));
	for (const ptrdiff_t stride : {PTRDIFF_MAX, PTRDIFF_MAX / 8, PTRDIFF_MIN}) {
		assert_dmapp(INVALID_PARAM, dmapp_iput(start, heap(), 1, value, 1, stride, 4, DMAPP_QW));
		assert_dmapp(INVALID_PARAM, dmapp_iget(value, start, heap(), 1, stride, 1, 4, DMAPP_QW));
	}
	assert_dmapp(INVALID_PARAM, dmapp_iget(value, start, heap(), 1, 1, 5, 0, DMAPP_QW));
	assert_dmapp(INVALID_PARAM, dmapp_iget(nullptr, start, heap(), 1, 1, 5, 1, DMAPP_QW));
	assert_dmapp(INVALID_PARAM, dmapp_iput(start, heap(), 2, value, 1, 1, 1, DMAPP_QW));
	assert_dmapp(INVALID_PARAM, dmapp_ixput(start, heap(), 1, value, nullptr, 1, DMAPP_QW));
	ptrdiff_t index[] = {0, -1};
	assert_dmapp(INVALID_PARAM, dmapp_ixput(start, heap(), 1, value, index, 2, DMAPP_QW));
	index[1] = PTRDIFF_MAX;
	assert_dmapp(INVALID_PARAM, dmapp_ixget(value, start, heap(), 1, index, 2, DMAPP_QW));
}

void indices(void **)
{
	const Symmetric block(1024);
	ptrdiff_t index[] = {9, 0, 63, 5, 6};
	uint64_t local[] = {10, 11, 12, 13, 14}, back[5] = {};
	dmapp_syncid_handle_t id = 0;

	for (unsigned form = 0; form < 3; form++) {
		for (uint64_t &value : local)
			value += 100;
		if (form == 0)
			assert_dmapp(SUCCESS, dmapp_ixput(block.at[0], heap(), 1, local, index, 5, DMAPP_QW));
		else if (form == 1)
			assert_dmapp(SUCCESS, dmapp_ixput_nb(block.at[0], heap(), 1, local, index, 5, DMAPP_QW, &id));
		else
			assert_dmapp(SUCCESS, dmapp_ixput_nbi(block.at[0], heap(), 1, local, index, 5, DMAPP_QW));
		assert_dmapp(SUCCESS, form == 1 ? dmapp_syncid_wait(&id) : dmapp_gsync_wait());
		for (size_t n = 0; n < 5; n++)
			assert_int_equal(block.word(1, static_cast<size_t>(index[n])), local[n]);
		assert_int_equal(block.word(1, 1), 0);
		if (form == 0)
			assert_dmapp(SUCCESS, dmapp_ixget(back, block.at[0], heap(), 1, index, 5, DMAPP_QW));
		else if (form == 1)
			assert_dmapp(SUCCESS, dmapp_ixget_nb(back, block.at[0], heap(), 1, index, 5, DMAPP_QW, &id));
		else
			assert_dmapp(SUCCESS, dmapp_ixget_nbi(back, block.at[0], heap(), 1, index, 5, DMAPP_QW));
		assert_dmapp(SUCCESS, form == 1 ? dmapp_syncid_wait(&id) : dmapp_gsync_wait());
		assert_memory_equal(back, local, sizeof(local));
	}
}

void several_pes(void **)
{
	constexpr size_t kElements = 40;
	const Symmetric block(kElements * 8, 3);
	dmapp_pe_t pes[] = {2, 0, 1}, wrong[] = {0, 3};
	std::vector<uint64_t> local(kElements * 3), back(kElements * 3);
	dmapp_syncid_handle_t id = 0;

	for (size_t elements : {size_t{1}, size_t{2}, kElements}) {
		for (unsigned form = 0; form < 3; form++) {
			for (size_t n = 0; n < local.size(); n++)
				local[n] = n + 1000 * form + 100000 * elements;
			if (form == 0)
				assert_dmapp(SUCCESS, dmapp_put_ixpe(block.at[0], heap(), pes, 3, local.data(),
								     elements, DMAPP_QW));
			else if (form == 1)
				assert_dmapp(SUCCESS, dmapp_put_ixpe_nb(block.at[0], heap(), pes, 3, local.data(),
									elements, DMAPP_QW, &id));
			else
				assert_dmapp(SUCCESS, dmapp_put_ixpe_nbi(block.at[0], heap(), pes, 3, local.data(),
									 elements, DMAPP_QW));
			assert_dmapp(SUCCESS, form == 1 ? dmapp_syncid_wait(&id) : dmapp_gsync_wait());
			for (size_t pe = 0; pe < 3; pe++)
				assert_memory_equal(block.at[pe], local.data(), elements * 8);
			if (form == 0)
				assert_dmapp(SUCCESS, dmapp_scatter_ixpe(block.at[0], heap(), pes, 3, local.data(),
									 elements, DMAPP_QW));
			else if (form == 1)
				assert_dmapp(SUCCESS, dmapp_scatter_ixpe_nb(block.at[0], heap(), pes, 3, local.data(),
									    elements, DMAPP_QW, &id));
			else
				assert_dmapp(SUCCESS, dmapp_scatter_ixpe_nbi(block.at[0], heap(), pes, 3, local.data(),
									     elements, DMAPP_QW));
			assert_dmapp(SUCCESS, form == 1 ? dmapp_syncid_wait(&id) : dmapp_gsync_wait());
			for (size_t n = 0; n < 3; n++)
				assert_memory_equal(block.at[static_cast<size_t>(pes[n])], &local[n * elements],
						    elements * 8);
			if (form == 0)
				assert_dmapp(SUCCESS, dmapp_gather_ixpe(back.data(), block.at[0], heap(), pes, 3,
									elements, DMAPP_QW));
			else if (form == 1)
				assert_dmapp(SUCCESS, dmapp_gather_ixpe_nb(back.data(), block.at[0], heap(), pes, 3,
									   elements, DMAPP_QW, &id));
			else
				assert_dmapp(SUCCESS, dmapp_gather_ixpe_nbi(back.data(), block.at[0], heap(), pes, 3,
									    elements, DMAPP_QW));
			assert_dmapp(SUCCESS, form == 1 ? dmapp_syncid_wait(&id) : dmapp_gsync_wait());
			assert_memory_equal(back.data(), local.data(), 3 * elements * 8);
		}
	}
	/* None of them gets anything if one is wrong. */
	memset(block.at[0], 0, 8);
	assert_dmapp(INVALID_PARAM, dmapp_put_ixpe(block.at[0], heap(), wrong, 2, local.data(), 1, DMAPP_QW));
	assert_int_equal(block.word(0, 0), 0);
	assert_dmapp(INVALID_PARAM, dmapp_put_ixpe(block.at[0], heap(), nullptr, 2, local.data(), 1, DMAPP_QW));
	assert_dmapp(SUCCESS, dmapp_put_ixpe(block.at[0], heap(), nullptr, 0, local.data(), 1, DMAPP_QW));
}

const Symmetric *atomics_block;
int64_t fetched;

/* Each of the three forms once; what a function makes of the word, and what it brings. */
template <typename F> void atomic(uint64_t before, F call, uint64_t after, bool brings)
{
	for (unsigned form = 0; form < 3; form++) {
		dmapp_syncid_handle_t id = 0;

		atomics_block->word(1, 1) = before;
		fetched = -1;
		assert_dmapp(SUCCESS, call(form, atomics_block->at[0] + 8, &id));
		assert_dmapp(SUCCESS, form == 1 ? dmapp_syncid_wait(&id) : dmapp_gsync_wait());
		assert_int_equal(atomics_block->word(1, 1), after);
		assert_int_equal(fetched, brings ? static_cast<int64_t>(before) : -1);
	}
}

#define CHANGE(name, operand)                                                                                          \
	[](unsigned form, void *at, dmapp_syncid_handle_t *id) {                                                       \
		return form == 0   ? dmapp_##name(at, heap(), 1, operand)                                              \
		       : form == 1 ? dmapp_##name##_nb(at, heap(), 1, operand, id)                                     \
				   : dmapp_##name##_nbi(at, heap(), 1, operand);                                       \
	}
#define FETCH(name, ...)                                                                                               \
	[](unsigned form, void *at, dmapp_syncid_handle_t *id) {                                                       \
		return form == 0   ? dmapp_##name(&fetched, at, heap(), 1, __VA_ARGS__)                                \
		       : form == 1 ? dmapp_##name##_nb(&fetched, at, heap(), 1, __VA_ARGS__, id)                       \
				   : dmapp_##name##_nbi(&fetched, at, heap(), 1, __VA_ARGS__);                         \
	}

void atomics(void **)
{
	const Symmetric block(64);

	atomics_block = &block;
	atomic(40, CHANGE(aadd_qw, 2), 42, false);
	atomic(0, CHANGE(aadd_qw, -1), UINT64_MAX, false);
	atomic(0xff, CHANGE(aand_qw, 0x3c), 0x3c, false);
	atomic(0xf0, CHANGE(aor_qw, 0x0f), 0xff, false);
	atomic(0xf0, CHANGE(axor_qw, 0xff), 0x0f, false);
	atomic(40, FETCH(afadd_qw, 2), 42, true);
	atomic(0xff, FETCH(afand_qw, 0x3c), 0x3c, true);
	atomic(0xf0, FETCH(afor_qw, 0x0f), 0xff, true);
	atomic(0xf0, FETCH(afxor_qw, 0xff), 0x0f, true);
	atomic(0xabcd, FETCH(afax_qw, 0xff00, 0x0012), 0xab12, true);
	atomic(0xabcd, FETCH(afax_qw, 0, 77), 77, true);
	atomic(5, FETCH(acswap_qw, 5, 6), 6, true);
	atomic(7, FETCH(acswap_qw, 5, 6), 7, true);
	assert_int_equal(block.word(1, 0), 0);
	assert_int_equal(block.word(1, 2), 0);
}

void atomics_refused(void **)
{
	const Symmetric block(64);
	unsigned char *end = static_cast<unsigned char *>(heap()->addr) + heap()->len;
	int64_t old = 0;

	assert_dmapp(ALIGNMENT_ERROR, dmapp_aadd_qw(block.at[0] + 4, heap(), 1, 1));
	assert_dmapp(ALIGNMENT_ERROR, dmapp_aadd_qw_nbi(block.at[0] + 4, heap(), 1, 1));
	assert_dmapp(ALIGNMENT_ERROR, dmapp_afadd_qw(&old, block.at[0] + 4, heap(), 1, 1));
	assert_dmapp(INVALID_PARAM, dmapp_afadd_qw(nullptr, block.at[0], heap(), 1, 1));
	assert_dmapp(INVALID_PARAM, dmapp_afadd_qw(&old, end, heap(), 1, 1));
	assert_dmapp(INVALID_PARAM, dmapp_aadd_qw(block.at[0], heap(), 2, 1));
	assert_dmapp(INVALID_PARAM, dmapp_aadd_qw(block.at[0], nullptr, 1, 1));
	assert_int_equal(block.word(1, 0), 0);
}

/* Implicit ones of several kinds, more than a batch has, with words between them; all count, and no answer is early. */
void many_atomics(void **)
{
	const Symmetric block(64);
	int64_t old = 0;

	for (uint64_t n = 0; n < 500; n++) {
		assert_dmapp(SUCCESS, dmapp_aadd_qw_nbi(block.at[0], heap(), 1, 3));
		assert_dmapp(SUCCESS, dmapp_put_nbi(block.at[0] + 8, heap(), 1, &n, 1, DMAPP_QW));
		assert_dmapp(SUCCESS, dmapp_axor_qw_nbi(block.at[0] + 16, heap(), 1, static_cast<int64_t>(n)));
	}
	assert_dmapp(SUCCESS, dmapp_afadd_qw(&old, block.at[0], heap(), 1, 0));
	assert_int_equal(old, 1500);
	assert_dmapp(SUCCESS, dmapp_gsync_wait());
	assert_int_equal(block.word(1, 1), 499);
	uint64_t want = 0;
	for (uint64_t n = 0; n < 500; n++)
		want ^= n;
	assert_int_equal(block.word(1, 2), want);
}

void held_atomics(void **)
{
	const Symmetric block(64);

	atomics_block = &block;
	model::hold(true);
	atomic(40, CHANGE(aadd_qw, 2), 42, false);
	atomic(40, FETCH(afadd_qw, 2), 42, true);
	atomic(5, FETCH(acswap_qw, 5, 6), 6, true);
	model::fault(0, "drop", 100000);
	assert_dmapp(TRANSACTION_ERROR, dmapp_aadd_qw(block.at[0], heap(), 1, 1));
	assert_dmapp(TRANSACTION_ERROR, dmapp_afadd_qw(&fetched, block.at[0], heap(), 1, 1));
	model::fault(0, "drop", 0);
	model::hold(false);
}

} // namespace

int main()
{
	const CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(strides, job_start, job_stop),
		cmocka_unit_test_setup_teardown(strides_backwards, job_start, job_stop),
		cmocka_unit_test_setup_teardown(strides_refused, job_start, job_stop),
		cmocka_unit_test_setup_teardown(indices, job_start, job_stop),
		cmocka_unit_test_setup_teardown(several_pes, job_start_three, job_stop),
		cmocka_unit_test_setup_teardown(atomics, job_start, job_stop),
		cmocka_unit_test_setup_teardown(atomics_refused, job_start, job_stop),
		cmocka_unit_test_setup_teardown(many_atomics, job_start, job_stop),
		cmocka_unit_test_setup_teardown(held_atomics, job_start, job_stop),
	};

	return cmocka_run_group_tests_name("elements and atomics of DMAPP", tests, nullptr, nullptr);
}
