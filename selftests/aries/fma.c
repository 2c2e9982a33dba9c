// SPDX-License-Identifier: GPL-2.0-only
/*
 * Transfers to the own node through libugni, and what they cost in traps.
 */
#include "ugni_test.h"
#include "kselftest_harness.h"

FIXTURE(fma)
{
	struct ugni_self u;
};

FIXTURE_SETUP(fma)
{
	int step = ugni_begin(&self->u, aries_cookie());

	ASSERT_EQ(0, step);
}

FIXTURE_TEARDOWN(fma)
{
	ugni_end(&self->u);
}

#define REMOTE (2 * ARIES_PAGE)
#define GUARD 0xa5

static void fill(uint8_t *data, size_t bytes, unsigned int seed)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		data[i] = (uint8_t)(seed * 31 + i * 7 + (i >> 8));
}

/* Bytes of [@data - 64, @data + @bytes + 64) that are neither guard nor as in @wanted. */
static size_t wrong(const uint8_t *data, const uint8_t *wanted, size_t bytes)
{
	size_t i, count = 0;

	for (i = 0; i < bytes; i++)
		count += data[i] != wanted[i];
	for (i = 1; i <= 64; i++)
		count += data[-(ssize_t)i] != GUARD;
	for (i = 0; i < 64; i++)
		count += data[bytes + i] != GUARD;
	return count;
}

static const size_t put_sizes[] = { 1, 2, 3, 7, 8, 9, 31, 63, 64, 65, 127, 500, 2048, 2049, 4096, 7000 };
static const size_t get_sizes[] = { 4, 8, 12, 60, 64, 68, 128, 500, 2048, 2052, 4096, 7000 };

TEST_F(fma, put)
{
	size_t i, shift;

	for (i = 0; i < sizeof(put_sizes) / sizeof(put_sizes[0]); i++)
		for (shift = 0; shift < 8; shift++) {
			size_t from = 64 + (7 - shift), to = REMOTE + 64 + shift;
			gni_post_descriptor_t d =
				ugni_desc(&self->u, GNI_POST_FMA_PUT, from, to, put_sizes[i]);

			memset(self->u.data, GUARD, UGNI_PAGES * ARIES_PAGE);
			fill(self->u.data + from, put_sizes[i], (unsigned int)(i + shift));
			ASSERT_EQ(GNI_RC_SUCCESS, ugni_fma(&self->u, &d));
			ASSERT_EQ(0, wrong(self->u.data + to, self->u.data + from, put_sizes[i])) {
				TH_LOG("%zu bytes, shift %zu", put_sizes[i], shift);
			}
		}
}

TEST_F(fma, get)
{
	size_t i, shift;

	for (i = 0; i < sizeof(get_sizes) / sizeof(get_sizes[0]); i++)
		for (shift = 0; shift < 8; shift++) {
			size_t to = 64 + shift, from = REMOTE + 64 + shift / 2 * 4;
			gni_post_descriptor_t d =
				ugni_desc(&self->u, GNI_POST_FMA_GET, to, from, get_sizes[i]);

			memset(self->u.data, GUARD, UGNI_PAGES * ARIES_PAGE);
			fill(self->u.data + from, get_sizes[i], (unsigned int)(i + shift));
			ASSERT_EQ(GNI_RC_SUCCESS, ugni_fma(&self->u, &d));
			ASSERT_EQ(0, wrong(self->u.data + to, self->u.data + from, get_sizes[i])) {
				TH_LOG("%zu bytes, shift %zu", get_sizes[i], shift);
			}
		}
}

TEST_F(fma, misaligned_get_is_refused)
{
	gni_post_descriptor_t d = ugni_desc(&self->u, GNI_POST_FMA_GET, 0, REMOTE + 2, 8);

	EXPECT_EQ(GNI_RC_ALIGNMENT_ERROR, GNI_PostFma(self->u.ep, &d));
	d = ugni_desc(&self->u, GNI_POST_FMA_GET, 0, REMOTE, 6);
	EXPECT_EQ(GNI_RC_ALIGNMENT_ERROR, GNI_PostFma(self->u.ep, &d));
	d = ugni_desc(&self->u, GNI_POST_AMO, 0, REMOTE + 4, 8);
	d.amo_cmd = GNI_FMA_ATOMIC_FADD;
	EXPECT_EQ(GNI_RC_ALIGNMENT_ERROR, GNI_PostFma(self->u.ep, &d));
}

TEST_F(fma, lengths)
{
	gni_post_descriptor_t d = ugni_desc(&self->u, GNI_POST_FMA_PUT, 0, REMOTE, 0);

	memset(self->u.data, GUARD, UGNI_PAGES * ARIES_PAGE);
	EXPECT_EQ(GNI_RC_SUCCESS, ugni_fma(&self->u, &d));
	EXPECT_EQ(GUARD, self->u.data[REMOTE]);
	d = ugni_desc(&self->u, GNI_POST_FMA_GET, 0, REMOTE, 0);
	EXPECT_NE(GNI_RC_SUCCESS, GNI_PostFma(self->u.ep, &d));
}

TEST_F(fma, atomics)
{
	uint64_t *word = (uint64_t *)(self->u.data + REMOTE), *old = (uint64_t *)self->u.data;
	gni_post_descriptor_t d = ugni_desc(&self->u, GNI_POST_AMO, 0, REMOTE, 8);

	*word = 40;
	d.amo_cmd = GNI_FMA_ATOMIC_FADD;
	d.first_operand = 2;
	ASSERT_EQ(GNI_RC_SUCCESS, ugni_fma(&self->u, &d));
	EXPECT_EQ(40, *old);
	EXPECT_EQ(42, *word);
	d.amo_cmd = GNI_FMA_ATOMIC_CSWAP;
	d.first_operand = 41;
	d.second_operand = 7;
	ASSERT_EQ(GNI_RC_SUCCESS, ugni_fma(&self->u, &d));
	EXPECT_EQ(42, *old);
	EXPECT_EQ(42, *word);
	d.first_operand = 42;
	ASSERT_EQ(GNI_RC_SUCCESS, ugni_fma(&self->u, &d));
	EXPECT_EQ(42, *old);
	EXPECT_EQ(7, *word);
	*old = 99;
	d.amo_cmd = GNI_FMA_ATOMIC_AX;
	d.first_operand = 5;
	d.second_operand = 0x100;
	ASSERT_EQ(GNI_RC_SUCCESS, ugni_fma(&self->u, &d));
	EXPECT_EQ(99, *old);
	EXPECT_EQ(0x105, *word);
}

TEST_F(fma, narrow_and_floating_atomics)
{
	uint32_t *word = (uint32_t *)(self->u.data + REMOTE + 4), *old = (uint32_t *)self->u.data;
	double *sum = (double *)(self->u.data + REMOTE + 64);
	const double half = 0.5;
	gni_post_descriptor_t d = ugni_desc(&self->u, GNI_POST_AMO, 0, REMOTE + 4, 4);

	memset(self->u.data, GUARD, UGNI_PAGES * ARIES_PAGE);
	*word = 0xffffffff;
	d.amo_cmd = GNI_FMA_ATOMIC2_FIADD_S;
	d.first_operand = 3;
	ASSERT_EQ(GNI_RC_SUCCESS, ugni_fma(&self->u, &d));
	EXPECT_EQ(2, word[0]);
	EXPECT_EQ(0xa5a5a5a5, word[-1]);
	EXPECT_EQ(0xa5a5a5a5, word[1]);
	EXPECT_EQ(0xffffffff, old[0]);
	EXPECT_EQ(0xa5a5a5a5, old[1]);
	*sum = 1.25;
	d = ugni_desc(&self->u, GNI_POST_AMO, 0, REMOTE + 64, 8);
	d.amo_cmd = GNI_FMA_ATOMIC2_FPADD;
	memcpy(&d.first_operand, &half, sizeof(half));
	ASSERT_EQ(GNI_RC_SUCCESS, ugni_fma(&self->u, &d));
	EXPECT_TRUE(*sum == 1.75);
}

TEST_F(fma, cached_atomics_need_the_mode)
{
	gni_post_descriptor_t d = ugni_desc(&self->u, GNI_POST_AMO, 0, REMOTE, 8);
	struct ugni_self cached;
	uint64_t *word;

	d.amo_cmd = GNI_FMA_ATOMIC_ADD_C;
	d.first_operand = 1;
	EXPECT_EQ(GNI_RC_INVALID_PARAM, GNI_PostFma(self->u.ep, &d));
	ASSERT_EQ(0, ugni_begin_modes(&cached, aries_cookie(), GNI_CDM_MODE_CACHED_AMO_ENABLED));
	word = (uint64_t *)(cached.data + REMOTE);
	*word = 41;
	d = ugni_desc(&cached, GNI_POST_AMO, 0, REMOTE, 8);
	d.amo_cmd = GNI_FMA_ATOMIC_ADD_C;
	d.first_operand = 1;
	EXPECT_EQ(GNI_RC_SUCCESS, ugni_fma(&cached, &d));
	EXPECT_EQ(42, *word);
	ugni_end(&cached);
}

TEST_F(fma, flagged_get)
{
	gni_post_descriptor_t d = ugni_desc(&self->u, GNI_POST_FMA_GET_W_FLAG, 64, REMOTE, 100);
	uint32_t flag;

	memset(self->u.data, 0, UGNI_PAGES * ARIES_PAGE);
	fill(self->u.data + REMOTE, 100, 9);
	ASSERT_EQ(GNI_RC_SUCCESS, ugni_fma(&self->u, &d));
	EXPECT_EQ(0, memcmp(self->u.data + 64, self->u.data + REMOTE, 100));
	memcpy(&flag, self->u.data + 164, sizeof(flag));
	EXPECT_EQ(ARIES_FMA_FLAG, flag);
}

TEST_F(fma, block_transfers)
{
	gni_post_descriptor_t d = ugni_desc(&self->u, GNI_POST_RDMA_PUT, 64, REMOTE + 65, 5001);

	memset(self->u.data, GUARD, UGNI_PAGES * ARIES_PAGE);
	fill(self->u.data + 64, 5001, 3);
	ASSERT_EQ(GNI_RC_SUCCESS, ugni_rdma(&self->u, &d));
	EXPECT_EQ(0, wrong(self->u.data + REMOTE + 65, self->u.data + 64, 5001));

	memset(self->u.data, GUARD, UGNI_PAGES * ARIES_PAGE);
	fill(self->u.data + REMOTE + 64, 5000, 4);
	d = ugni_desc(&self->u, GNI_POST_RDMA_GET, 67, REMOTE + 64, 5000);
	ASSERT_EQ(GNI_RC_SUCCESS, ugni_rdma(&self->u, &d));
	EXPECT_EQ(0, wrong(self->u.data + 67, self->u.data + REMOTE + 64, 5000));
}

/* The promise of the design: one store traps for a put of up to 64 bytes, whatever its size. */
TEST_F(fma, one_trap_for_a_put_up_to_64_bytes)
{
	size_t size;
	int i;

	for (size = 1; size <= 64; size++) {
		long long before = aries_number("stats/fma_traps");

		for (i = 0; i < 4; i++) {
			gni_post_descriptor_t d =
				ugni_desc(&self->u, GNI_POST_FMA_PUT, size % 8, REMOTE, size);

			ASSERT_EQ(GNI_RC_SUCCESS, ugni_fma(&self->u, &d));
		}
		ASSERT_EQ(before + 4, aries_number("stats/fma_traps")) {
			TH_LOG("%zu bytes", size);
		}
	}
}

TEST_F(fma, out_of_bounds_leaves_an_error_event)
{
	gni_post_descriptor_t d =
		ugni_desc(&self->u, GNI_POST_FMA_PUT, 0, UGNI_PAGES * ARIES_PAGE - 4, 8);
	gni_return_t rc = GNI_PostFma(self->u.ep, &d);

	memset(self->u.data, GUARD, UGNI_PAGES * ARIES_PAGE);
	if (rc == GNI_RC_SUCCESS)
		rc = ugni_reap(&self->u, &d);
	EXPECT_NE(GNI_RC_SUCCESS, rc);
	EXPECT_EQ(GUARD, self->u.data[UGNI_PAGES * ARIES_PAGE - 1]);
}

TEST_HARNESS_MAIN
