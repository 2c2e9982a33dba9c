// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Regions in several pieces, and regions that are populated later: the library over the device model. */
#include "gni_memhandle.h"
#include "rank.hpp"

#include <vector>

constexpr size_t kPageBytes = 4096;

namespace
{

gni_post_descriptor_t put(const Rank &from, const gni_mem_handle_t &to, uint64_t remote_addr, size_t length)
{
	gni_post_descriptor_t d = {};

	d.type = GNI_POST_FMA_PUT;
	d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
	d.local_addr = from.at(0);
	d.local_mem_hndl = from.handle;
	d.remote_addr = remote_addr;
	d.remote_mem_hndl = to;
	d.length = length;
	return d;
}

/* Peers reach a reserved region page by page, as it is updated. */
MODEL_TEST(reserve_and_update)
{
	Pair p;
	const size_t pages = 8;
	unsigned char *memory = model::memory(1, pages * kPageBytes);
	const uint64_t start = reinterpret_cast<uintptr_t>(memory);
	gni_mem_handle_t h = {};
	gni_mem_handle_t rebuilt = {};

	assert_rc(SUCCESS,
		  GNI_MemRegister(p.b.nic, start, pages * kPageBytes, p.b.remote, GNI_MEM_RESERVE_REGION, ~0U, &h));
	const gni_mem_handle_t reserved = h;
	assert_int_equal(gni_hndl_decode(&h).pages, 0);
	gni_post_descriptor_t d = put(p.a, h, start, 64);
	assert_int_equal(p.a.run(&d), ARIES_ST_MDD);

	assert_rc(SUCCESS,
		  GNI_MemRegister(p.b.nic, start + kPageBytes + 100, 10, nullptr, GNI_MEM_UPDATE_REGION, ~0U, &h));
	assert_int_equal(gni_hndl_decode(&h).pages, pages);
	assert_int_equal(gni_hndl_decode(&h).mdh, gni_hndl_decode(&reserved).mdh);
	d = put(p.a, h, start, 64);
	assert_int_equal(p.a.run(&d), ARIES_ST_TRANSLATION);
	memset(p.a.bytes, 0x5a, 64);
	d = put(p.a, h, start + kPageBytes, 64);
	assert_int_equal(p.a.run(&d), ARIES_ST_OK);
	assert_int_equal(memory[kPageBytes + 63], 0x5a);
	d = put(p.a, h, start + 2 * kPageBytes - 8, 64);
	assert_int_equal(p.a.run(&d), ARIES_ST_TRANSLATION);

	assert_rc(SUCCESS,
		  GNI_MemRegister(p.b.nic, start, pages * kPageBytes, nullptr, GNI_MEM_UPDATE_REGION, ~0U, &h));
	assert_int_equal(p.a.run(&d), ARIES_ST_OK);
	d = put(p.a, h, start + pages * kPageBytes - 64, 64);
	assert_int_equal(p.a.run(&d), ARIES_ST_OK);
	d.remote_addr++;
	assert_int_equal(p.a.run(&d), ARIES_ST_BOUNDS);

	assert_rc(INVALID_PARAM, GNI_MemDeregister(p.b.nic, const_cast<gni_mem_handle_t *>(&reserved)));
	assert_rc(INVALID_PARAM, GNI_RebuildMemHndl(&h, 1, &rebuilt));
	assert_rc(SUCCESS, GNI_MemDeregister(p.b.nic, &h));
	d = put(p.a, h, start, 64);
	assert_int_equal(p.a.run(&d), ARIES_ST_MDD);
}

MODEL_TEST(updates_refused)
{
	Pair p;
	const uint64_t start = reinterpret_cast<uintptr_t>(model::memory(1, 4 * kPageBytes));
	gni_mem_handle_t h = {};
	gni_mem_handle_t ordinary = p.b.handle;

	auto update = [&](uint64_t address, uint64_t length, gni_mem_handle_t *handle, uint32_t flags = 0,
			  gni_cq_handle_t cq = nullptr) {
		return GNI_MemRegister(p.b.nic, address, length, cq, GNI_MEM_UPDATE_REGION | flags, ~0U, handle);
	};
	assert_rc(INVALID_PARAM, update(start, 8, &h));
	assert_rc(INVALID_PARAM, update(p.b.at(0), 8, &ordinary));
	assert_rc(SUCCESS, GNI_MemRegister(p.b.nic, start + kPageBytes, 2 * kPageBytes, nullptr, GNI_MEM_RESERVE_REGION,
					   ~0U, &h));
	const gni_mem_handle_t before = h;
	assert_rc(INVALID_PARAM, update(start, 8, &h));
	assert_rc(INVALID_PARAM, update(start + 3 * kPageBytes, 8, &h));
	assert_rc(INVALID_PARAM, update(start + kPageBytes, 3 * kPageBytes, &h));
	assert_rc(INVALID_PARAM, update(start + kPageBytes, 0, &h));
	assert_rc(INVALID_PARAM, update(start + kPageBytes, 8, &h, GNI_MEM_READ_ONLY));
	assert_rc(INVALID_PARAM, update(start + kPageBytes, 8, &h, GNI_MEM_RESERVE_REGION));
	assert_rc(INVALID_PARAM, update(start + kPageBytes, 8, &h, 0, p.b.remote));
	h.qword1 ^= 1;
	assert_rc(INVALID_PARAM, update(start + kPageBytes, 8, &h));
	h.qword1 ^= 1;
	assert_true(h.qword1 == before.qword1 && h.qword2 == before.qword2);
	assert_rc(SUCCESS, update(start + kPageBytes, 8, &h));
}

/* The pieces follow each other, each in whole pages, and addresses are offsets. */
MODEL_TEST(segments)
{
	Pair p;
	unsigned char *memory = model::memory(1, 16 * kPageBytes);
	const uint64_t start = reinterpret_cast<uintptr_t>(memory);
	gni_mem_segment_t list[] = {
		{start + 8 * kPageBytes + 100, 8}, {start, 2 * kPageBytes}, {start + 4 * kPageBytes, 1}};
	gni_mem_handle_t h = {};
	uint64_t address = 1, length = 1;

	assert_rc(SUCCESS, GNI_MemRegisterSegments(p.b.nic, list, 3, p.b.remote, 0, ~0U, &h));
	assert_true(gni_hndl_intact(&h));
	assert_int_equal(gni_hndl_decode(&h).pages, 4);
	assert_int_equal(gni_hndl_decode(&h).address, 0);
	gni_mem_handle_t walk = p.b.handle;
	assert_rc(SUCCESS, GNI_MemQueryHndls(p.b.nic, -1, &walk, &address, &length));
	assert_int_equal(address, 0);
	assert_int_equal(length, 4 * kPageBytes);
	for (size_t i = 0; i < 64; i++)
		p.a.bytes[i] = static_cast<unsigned char>(i + 1);
	/* Over the border of the first and the second piece. */
	gni_post_descriptor_t d = put(p.a, h, kPageBytes - 16, 64);
	assert_int_equal(p.a.run(&d), ARIES_ST_OK);
	assert_memory_equal(memory + 9 * kPageBytes - 16, p.a.bytes, 16);
	assert_memory_equal(memory, p.a.bytes + 16, 48);
	d = put(p.a, h, 4 * kPageBytes - 64, 64);
	assert_int_equal(p.a.run(&d), ARIES_ST_OK);
	assert_memory_equal(memory + 5 * kPageBytes - 64, p.a.bytes, 64);
	d = put(p.a, h, 4 * kPageBytes, 8);
	assert_int_equal(p.a.run(&d), ARIES_ST_BOUNDS);
	/* Not by virtual address. */
	d = put(p.a, h, start, 8);
	assert_int_equal(p.a.run(&d), ARIES_ST_BOUNDS);
	/* A block transfer takes the same way. */
	gni_post_descriptor_t block = put(p.a, h, 0, 4 * kPageBytes);
	block.type = GNI_POST_RDMA_PUT;
	memset(p.a.bytes, 0x77, 4 * kPageBytes);
	assert_int_equal(p.a.run(&block), ARIES_ST_OK);
	assert_int_equal(memory[kPageBytes], 0x77);
	assert_int_equal(memory[2 * kPageBytes], 0);
	assert_rc(SUCCESS, GNI_MemDeregister(p.b.nic, &h));
	d = put(p.a, h, 0, 8);
	assert_int_equal(p.a.run(&d), ARIES_ST_MDD);
}

MODEL_TEST(segments_refused)
{
	Pair p;
	gni_mem_segment_t list[] = {{p.b.at(0), 8}, {p.b.at(kPageBytes), 8}};
	gni_mem_segment_t empty[] = {{p.b.at(0), 8}, {p.b.at(kPageBytes), 0}};
	gni_mem_segment_t elsewhere[] = {{p.b.at(0), 8}, {4096, 8}};
	gni_mem_handle_t h = {1, 2};

	assert_rc(INVALID_PARAM, GNI_MemRegisterSegments(nullptr, list, 2, nullptr, 0, ~0U, &h));
	assert_rc(INVALID_PARAM, GNI_MemRegisterSegments(p.b.nic, nullptr, 2, nullptr, 0, ~0U, &h));
	assert_rc(INVALID_PARAM, GNI_MemRegisterSegments(p.b.nic, list, 0, nullptr, 0, ~0U, &h));
	assert_rc(INVALID_PARAM, GNI_MemRegisterSegments(p.b.nic, list, 2, nullptr, 0, ~0U, nullptr));
	assert_rc(INVALID_PARAM, GNI_MemRegisterSegments(p.b.nic, list, 2, p.a.remote, 0, ~0U, &h));
	assert_rc(INVALID_PARAM, GNI_MemRegisterSegments(p.b.nic, empty, 2, nullptr, 0, ~0U, &h));
	assert_rc(INVALID_PARAM, GNI_MemRegisterSegments(p.b.nic, elsewhere, 2, nullptr, 0, ~0U, &h));
	for (uint32_t flags : {GNI_MEM_PHYS_SEGMENTS, GNI_MEM_PHYS_CONT, GNI_MEM_RESERVE_REGION, GNI_MEM_UPDATE_REGION,
			       GNI_MEM_CUDA, GNI_MEM_USE_GART, GNI_MEM_MDD_CLONE})
		assert_rc(INVALID_PARAM, GNI_MemRegisterSegments(p.b.nic, list, 2, nullptr, flags, ~0U, &h));
	assert_true(h.qword1 == 1 && h.qword2 == 2);
	assert_rc(SUCCESS, GNI_MemRegisterSegments(p.b.nic, list, 2, nullptr, GNI_MEM_READ_ONLY, ~0U, &h));
	gni_post_descriptor_t d = put(p.a, h, 0, 8);
	assert_int_equal(p.a.run(&d), ARIES_ST_ACCESS);
}

/* N04: all ranks register at the same place, and know each other's handles without asking. */
MODEL_TEST(same_handle_everywhere)
{
	Pair p;
	gni_mem_handle_t ha = {}, hb = {}, computed = {}, other = {};
	unsigned char *a = model::memory(0, kPageBytes), *b = model::memory(1, kPageBytes);

	auto reg = [](const Rank &r, unsigned char *memory, uint32_t place, gni_mem_handle_t *h) {
		return GNI_MemRegister(r.nic, reinterpret_cast<uintptr_t>(memory), kPageBytes, nullptr,
				       GNI_MEM_USE_VMDH, place, h);
	};
	assert_rc(INVALID_PARAM, reg(p.a, a, 3, &ha));
	assert_rc(INVALID_PARAM, GNI_SetMddResources(nullptr, 8));
	assert_rc(INVALID_PARAM, GNI_SetMddResources(p.a.nic, 0));
	assert_rc(SUCCESS, GNI_SetMddResources(p.a.nic, 8));
	assert_rc(INVALID_PARAM, GNI_SetMddResources(p.a.nic, 8));
	assert_rc(SUCCESS, GNI_SetMddResources(p.b.nic, 8));
	assert_rc(SUCCESS, reg(p.a, a, 3, &ha));
	assert_rc(SUCCESS, reg(p.b, b, 3, &hb));
	assert_rc(ERROR_RESOURCE, reg(p.b, b, 3, &other));
	assert_rc(INVALID_PARAM, reg(p.b, b, 8, &other));
	int yes = 0;
	assert_rc(SUCCESS, GNI_MemHndlQueryAttr(&hb, GNI_MEMHNDL_ATTR_VMDH, &yes));
	assert_int_equal(yes, 1);
	assert_int_equal(gni_hndl_mdh(&ha), 3);
	assert_int_equal(gni_hndl_mdh(&hb), 3);
	/* The handle of the own region, with own addresses: offsets from its start are what travels. */
	gni_post_descriptor_t d = put(p.a, ha, reinterpret_cast<uintptr_t>(a), 8);
	memset(p.a.bytes, 0x42, 64);
	assert_int_equal(p.a.run(&d), ARIES_ST_OK);
	assert_int_equal(b[7], 0x42);
	d.length = 64;
	d.remote_addr += 100;
	assert_int_equal(p.a.run(&d), ARIES_ST_OK);
	assert_int_equal(b[163], 0x42);
	d.type = GNI_POST_RDMA_GET;
	d.remote_addr = reinterpret_cast<uintptr_t>(a);
	d.local_mem_hndl = ha;
	d.local_addr = reinterpret_cast<uintptr_t>(a);
	assert_int_equal(p.a.run(&d), ARIES_ST_OK);
	assert_int_equal(a[0], 0x42);
	/* Another place: computed, registered by nobody, then at the first free place. */
	assert_rc(SUCCESS, GNI_RebuildMemHndl(&ha, 0, &computed));
	d = put(p.a, computed, reinterpret_cast<uintptr_t>(a), 8);
	assert_int_equal(p.a.run(&d), ARIES_ST_MDD);
	assert_rc(SUCCESS, reg(p.b, b, ~0U, &other));
	assert_int_equal(gni_hndl_mdh(&other), 0);
	assert_int_equal(p.a.run(&d), ARIES_ST_OK);
	assert_rc(SUCCESS, GNI_MemDeregister(p.b.nic, &other));
	assert_int_equal(p.a.run(&d), ARIES_ST_MDD);
	assert_rc(SUCCESS, GNI_MemDeregister(p.b.nic, &hb));
	assert_rc(INVALID_PARAM, GNI_MemDeregister(p.b.nic, &hb));
}

/* Regions of pieces have places, too: one value names them at all ranks, and offsets are the same anyway. */
MODEL_TEST(segments_at_a_place)
{
	Pair p;
	unsigned char *memory = model::memory(1, 8 * kPageBytes);
	const uint64_t start = reinterpret_cast<uintptr_t>(memory);
	gni_mem_segment_t list[] = {{start + 4 * kPageBytes, 8}, {start, kPageBytes}};
	gni_mem_handle_t h = {}, guessed = {}, other = {1, 2};

	assert_rc(INVALID_PARAM, GNI_MemRegisterSegments(p.b.nic, list, 2, nullptr, GNI_MEM_USE_VMDH, 2, &other));
	assert_rc(SUCCESS, GNI_SetMddResources(p.b.nic, 4));
	assert_rc(SUCCESS, GNI_MemRegisterSegments(p.b.nic, list, 2, nullptr, GNI_MEM_USE_VMDH, 2, &h));
	assert_int_equal(gni_hndl_mdh(&h), 2);
	assert_int_equal(gni_hndl_decode(&h).address, 0);
	assert_int_equal(gni_hndl_decode(&h).pages, 2);
	assert_rc(ERROR_RESOURCE, GNI_MemRegisterSegments(p.b.nic, list, 2, nullptr, GNI_MEM_USE_VMDH, 2, &other));
	assert_rc(INVALID_PARAM, GNI_MemRegisterSegments(p.b.nic, list, 2, nullptr, GNI_MEM_USE_VMDH, 4, &other));
	assert_true(other.qword1 == 1 && other.qword2 == 2);
	/* The index counts for nothing without the flag. */
	assert_rc(SUCCESS, GNI_MemRegisterSegments(p.b.nic, list, 2, nullptr, 0, 2, &other));
	assert_int_not_equal(gni_hndl_name(&h), gni_hndl_name(&other));
	assert_rc(SUCCESS, GNI_MemDeregister(p.b.nic, &other));
	assert_rc(SUCCESS, GNI_MemRegisterSegments(p.b.nic, list, 2, nullptr, GNI_MEM_USE_VMDH, ~0U, &other));
	assert_int_equal(gni_hndl_mdh(&other), 0);
	memset(p.a.bytes, 0x42, 64);
	gni_post_descriptor_t d = put(p.a, h, kPageBytes - 16, 64);
	assert_int_equal(p.a.run(&d), ARIES_ST_OK);
	assert_int_equal(memory[5 * kPageBytes - 1], 0x42);
	assert_int_equal(memory[47], 0x42);
	assert_int_equal(memory[48], 0);
	assert_rc(SUCCESS, GNI_RebuildMemHndl(&other, 2, &guessed));
	memset(p.a.bytes, 0x43, 64);
	d = put(p.a, guessed, 0, 64);
	assert_int_equal(p.a.run(&d), ARIES_ST_OK);
	assert_int_equal(memory[4 * kPageBytes], 0x43);
	d = put(p.a, h, 2 * kPageBytes, 8);
	assert_int_equal(p.a.run(&d), ARIES_ST_BOUNDS);
	assert_rc(SUCCESS, GNI_MemDeregister(p.b.nic, &h));
	d = put(p.a, h, 0, 8);
	assert_int_equal(p.a.run(&d), ARIES_ST_MDD);
}

} // namespace

TEST_MAIN("regions in pieces")
