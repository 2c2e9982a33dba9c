// SPDX-License-Identifier: GPL-2.0-only
/* Posts that are longer than 4 GiB. */
#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "sim_kernel.h"

#include "ends.h"

#define LENGTH ((4ull << 30) + 3 * ARIES_DESC_LINE_BYTES + 8)

static const u8 *data;
static u64 at, wrong;

/* Check the place of each piece of a put; nothing is transferred. */
static enum fabric_fate check_put(unsigned int from, const struct aries_fma *fma)
{
	(void)from;
	wrong += fma->line != data + at || fma->desc.offset != at;
	at += fma->length;
	return FABRIC_LATE;
}

static void put(void **state)
{
	gni_post_descriptor_t d = { .type = GNI_POST_FMA_PUT, .length = LENGTH };

	(void)state;
	/* addresses alone are needed, so no memory is behind them */
	data = mmap(NULL, LENGTH, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_ptr_not_equal(data, MAP_FAILED);
	both(GNI_SMSG_TYPE_MBOX);
	d.local_addr = (uintptr_t)data;
	d.remote_mem_hndl = end[1].mem;
	at = 0;
	wrong = 0;
	fabric_fate = check_put;
	assert_int_equal(gni_post_fma(end[0].ep, &d), GNI_RC_SUCCESS);
	assert_int_equal(at, LENGTH);
	assert_int_equal(wrong, 0);
	munmap((void *)(uintptr_t)data, LENGTH);
}

/* The lengths of block transfers have 32 bits in the NIC, and longer ones are refused. */
static void other_lengths(void **state)
{
	gni_post_descriptor_t d = { .type = GNI_POST_RDMA_PUT, .length = LENGTH };

	(void)state;
	both(GNI_SMSG_TYPE_MBOX);
	d.local_addr = (uintptr_t)end[0].mailbox;
	d.local_mem_hndl = end[0].mem;
	d.remote_mem_hndl = end[1].mem;
	assert_int_equal(gni_post_rdma(end[0].ep, &d), GNI_RC_INVALID_PARAM);
	/* the sum of both parts of a message would be 8 */
	assert_int_equal(gni_smsg_send(end[0].ep, end[0].mailbox, ~0u - 7, end[0].mailbox, 16, 0),
			 GNI_RC_ERROR_RESOURCE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(put, begin, finish),
		cmocka_unit_test_setup_teardown(other_lengths, begin, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
