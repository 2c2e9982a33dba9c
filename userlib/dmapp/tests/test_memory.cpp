// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file Without memory: nothing is lost, nothing hangs, and what was refused is as if it had not been asked for. */
#include "symmetric.hpp"

#include <cstdlib>
#include <new>

namespace
{

/* The next allocation of C++ fails: one, for the model below the library allocates as well. */
bool short_of_memory;

void *allocate(size_t bytes)
{
	if (short_of_memory) {
		short_of_memory = false;
		throw std::bad_alloc();
	}
	void *block = malloc(bytes ? bytes : 1);
	if (!block)
		throw std::bad_alloc();
	return block;
}

} // namespace

void *operator new(size_t bytes)
{
	return allocate(bytes);
}

void *operator new[](size_t bytes)
{
	return allocate(bytes);
}

void operator delete(void *block) noexcept
{
	free(block);
}

void operator delete[](void *block) noexcept
{
	free(block);
}

void operator delete(void *block, size_t) noexcept
{
	free(block);
}

void operator delete[](void *block, size_t) noexcept
{
	free(block);
}

/* The processor moves the data of a block transfer that has no place of its own. */
TEST_BETWEEN(block_transfers, job_start, job_stop)
{
	const Symmetric block(1 << 20);
	dmapp_syncid_handle_t id = 0;

	memset(block.at[0], 7, 1 << 20);
	short_of_memory = true;
	const dmapp_return_t rc = dmapp_put_nb(block.at[0], heap(), 1, block.at[0], 1 << 20, DMAPP_BYTE, &id);
	short_of_memory = false;
	assert_int_equal(rc, DMAPP_RC_SUCCESS);
	assert_dmapp(SUCCESS, dmapp_syncid_wait(&id));
	assert_memory_equal(block.at[0], block.at[1], 1 << 20);
}

/* What could not be written down has not been taken. */
TEST_BETWEEN(heap_and_registrations, job_start, job_stop)
{
	dmapp_seg_desc_t seg{};

	void *whole = dmapp_sheap_malloc(4 << 20);
	assert_non_null(whole);
	dmapp_sheap_free(whole);
	short_of_memory = true;
	const void *none = dmapp_sheap_malloc(64);
	short_of_memory = false;
	assert_null(none);
	void *part = dmapp_sheap_malloc(64);
	assert_ptr_equal(part, whole);
	short_of_memory = true;
	dmapp_sheap_free(part);
	short_of_memory = false;
	assert_ptr_equal(dmapp_sheap_malloc(4 << 20), whole);
	short_of_memory = true;
	const dmapp_return_t rc = dmapp_mem_register(job::data(0), 64, &seg);
	short_of_memory = false;
	assert_int_equal(rc, DMAPP_RC_NO_SPACE);
	assert_dmapp(SUCCESS, dmapp_mem_register(job::data(0), 64, &seg));
	assert_dmapp(SUCCESS, dmapp_mem_unregister(&seg));
	assert_dmapp(NOT_FOUND, dmapp_mem_unregister(&seg));
}

/* A list of PEs is looked at before anything is made of its length. */
TEST_BETWEEN(many_that_are_none, job_start, job_stop)
{
	const Symmetric block(64);
	dmapp_pe_t pes[] = {1, -1};
	uint64_t value = 3;
	dmapp_syncid_handle_t id = 0;

	short_of_memory = true;
	const dmapp_return_t refused =
		dmapp_put_ixpe_nb(block.at[0], heap(), pes, UINT32_MAX, &value, 1, DMAPP_QW, &id);
	short_of_memory = false;
	assert_int_equal(refused, DMAPP_RC_INVALID_PARAM);
	assert_dmapp(SUCCESS, dmapp_put_ixpe(block.at[0], heap(), pes, 1, &value, 1, DMAPP_QW));
	assert_int_equal(block.word(1, 0), 3);
}

TEST_MAIN("DMAPP without memory")
