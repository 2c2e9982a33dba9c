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
