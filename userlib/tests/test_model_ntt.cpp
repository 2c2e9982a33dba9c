// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Virtual node addresses: a node fails, and another one gets its address (N05). */
#include "rank.hpp"

namespace
{

constexpr uint32_t kSpare = 3;
/* gni_ntt_descriptor_t::flags: change in place. */
constexpr uint8_t kChange = 1;

int start_four(void **)
{
	model::start(kSpare + 1);
	model::allow(kCookie, kPtag);
	return 0;
}

/* The spare node's process answers to the address of the one that has died. */
TEST_BETWEEN(replaced, start_four, world_stop)
{
	gni_ntt_entry_t entries[] = {{0, 0, 0}, {2, 0, 0}, {1, 0, 0}};
	gni_ntt_descriptor_t table = {};
	uint32_t base = 0;

	table.group_size = 3;
	table.granularity = 1;
	table.u.table_v2 = entries;
	assert_rc(SUCCESS, GNI_ConfigureNTTandJob(0, 1, kPtag, kCookie, nullptr, &table, &base));
	Rank a(0, 1000, 4096);
	Rank spare(kSpare, 1003, 4096);
	auto put = [&](uint32_t to, const gni_mem_handle_t &handle, uint64_t address, unsigned char value) {
		gni_post_descriptor_t d = {};

		d.type = GNI_POST_FMA_PUT;
		d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
		a.bytes[0] = value;
		d.local_addr = a.at(0);
		d.remote_addr = address;
		d.remote_mem_hndl = handle;
		d.length = 1;
		(void)GNI_EpUnbind(a.ep);
		assert_rc(SUCCESS, GNI_EpBind(a.ep, to, 0));
		return a.run(&d);
	};
	{
		/* Outlives its node: nothing of it is touched any more. */
		Rank b(2, 1001, 4096);
		assert_int_equal(put(1, b.handle, b.at(0), 11), ARIES_ST_OK);
		assert_int_equal(b.bytes[0], 11);
		model::kill(2);
		assert_int_not_equal(put(1, spare.handle, spare.at(0), 12), ARIES_ST_OK);
	}
	entries[1] = {2, kSpare, 1};
	table.u.table_v2 = &entries[1];
	table.group_size = 1;
	table.flags = kChange;
	uint32_t place = base + 1;
	assert_rc(SUCCESS, GNI_ConfigureNTT(0, &table, &place));
	assert_int_equal(put(1, spare.handle, spare.at(0), 13), ARIES_ST_OK);
	assert_int_equal(spare.bytes[0], 13);
	assert_int_equal(put(3, spare.handle, spare.at(0), 14), ARIES_ST_NTT);
	assert_int_equal(spare.bytes[0], 13);
}

} // namespace

TEST_MAIN("node translation")
