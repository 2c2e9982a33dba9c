/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bad input to address translation: page entries, directories, tables, virtual handles, virtual nodes, stale names. */
#include "tests/bad_input.hpp"

using namespace aries_test;

namespace
{

constexpr unsigned int LARGE = 30, NEAR = 31, VIRTUAL = 3; /* VIRTUAL: descriptor with virtual node addresses */
constexpr uint64_t PTE_ADDRESS = ARIES_PTE_ADDR_MASK;
constexpr uint64_t PTE_RESERVED = ~(ARIES_PTE_VALID | ARIES_PTE_WRITE | ARIES_PTE_ADDR_MASK);

static_assert(PTE_RESERVED == ARIES_PTE_RSVD_MASK);

uint64_t &word_at(const FakeHost &host, uint64_t gpa)
{
	return *reinterpret_cast<uint64_t *>(host.ram(gpa));
}

/** Changes an entry of a table as a driver does that changes one in use. */
void set_entry(const FakeHost &host, unsigned int mdh, uint64_t gpa, uint64_t value)
{
	word_at(host, gpa) = value;
	host.write32(ARIES_INV_PTES, mdh);
	while (host.read(ARIES_INV_STATUS, 4))
		;
}

/** All ways to reach a page: the status of each. */
struct Reach : Pair {
	Untouched memory{*this};
	uint64_t near_table = 0, near = 0;

	Reach()
	{
		near = a.alloc(PAGE);
		near_table = a.make_mdd(NEAR, PTAG_A, near, PAGE, BASE);
	}

	uint32_t bte(unsigned int op, unsigned int mdh, unsigned int local_mdh)
	{
		a.slot(FMAD, 0) = block_transfer(op, mdh, local_mdh, 64);
		a.ring_bte(FMAD, 0);
		return a.wait_event(20, 5000).status();
	}

	/** Remote accesses to the first page of @mdh, reads then writes. */
	void far(unsigned int mdh, uint32_t read_status, uint32_t write_status)
	{
		desc().mdh = uint16_t(mdh);
		memory.save();
		assert_int_equal(put(8), write_status);
		assert_int_equal(put(0), ARIES_ST_OK); /* looks at no page */
		assert_int_equal(amo(0x108, 1), write_status);
		assert_int_equal(bte(ARIES_BTE_PUT, mdh, LOCAL_MDH), write_status);
		desc().local_mdh = NEAR;
		assert_int_equal(a.ring(FMAD, ARIES_FMA_GET_OP, 64), read_status);
		assert_int_equal(bte(ARIES_BTE_GET, mdh, NEAR), read_status);
		desc().local_mdh = LOCAL_MDH;
		assert_true(write_status == ARIES_ST_OK || memory.holds());
	}

	/** Local accesses through NEAR. */
	void local_side(uint32_t read_status, uint32_t write_status)
	{
		memory.save();
		desc().local_mdh = NEAR;
		assert_int_equal(a.ring(FMAD, ARIES_FMA_GET_OP, 8), write_status);
		assert_int_equal(amo(0x008, 0), write_status);
		assert_int_equal(bte(ARIES_BTE_GET, MDH, NEAR), write_status);
		assert_int_equal(bte(ARIES_BTE_PUT, MDH, NEAR), read_status);
		desc().local_mdh = LOCAL_MDH;
	}
};

TEST(test_page_entries)
{
	Reach p;
	const uint64_t far = word_at(p.b, p.table), near = word_at(p.a, p.near_table);

	p.far(MDH, ARIES_ST_OK, ARIES_ST_OK);
	p.local_side(ARIES_ST_OK, ARIES_ST_OK);
	for (unsigned int bit = 0; bit < 64; bit++) {
		if (!(PTE_RESERVED >> bit & 1))
			continue;
		set_entry(p.b, MDH, p.table, far | uint64_t(1) << bit);
		p.far(MDH, ARIES_ST_TRANSLATION, ARIES_ST_TRANSLATION);
		set_entry(p.a, NEAR, p.near_table, near | uint64_t(1) << bit);
		set_entry(p.b, MDH, p.table, far);
		p.local_side(ARIES_ST_LOCAL_TRANSLATION, ARIES_ST_LOCAL_TRANSLATION);
		set_entry(p.a, NEAR, p.near_table, near);
	}
	/* Not present, not writable, not memory. */
	set_entry(p.b, MDH, p.table, far & ~ARIES_PTE_VALID);
	p.far(MDH, ARIES_ST_TRANSLATION, ARIES_ST_TRANSLATION);
	set_entry(p.b, MDH, p.table, far & ~ARIES_PTE_WRITE);
	p.far(MDH, ARIES_ST_OK, ARIES_ST_ACCESS);
	for (uint64_t address : {LOW_BYTES, HIGH_GPA - PAGE, HIGH_GPA + HIGH_BYTES, PTE_ADDRESS}) {
		set_entry(p.b, MDH, p.table, address | ARIES_PTE_VALID | ARIES_PTE_WRITE);
		p.far(MDH, ARIES_ST_TRANSLATION, ARIES_ST_TRANSLATION);
	}
	set_entry(p.b, MDH, p.table, far);
	set_entry(p.a, NEAR, p.near_table, near & ~ARIES_PTE_VALID);
	p.local_side(ARIES_ST_LOCAL_TRANSLATION, ARIES_ST_LOCAL_TRANSLATION);
	set_entry(p.a, NEAR, p.near_table, near & ~ARIES_PTE_WRITE);
	p.local_side(ARIES_ST_OK, ARIES_ST_LOCAL_ACCESS);
	set_entry(p.a, NEAR, p.near_table, near);
	p.far(MDH, ARIES_ST_OK, ARIES_ST_OK);
	p.local_side(ARIES_ST_OK, ARIES_ST_OK);
}

TEST(test_directories)
{
	Reach p;
	const uint64_t directory = p.b.read(ARIES_MDD_TABLE_N(MDH), 8), good = word_at(p.b, directory);

	for (unsigned int bit = 0; bit < 64; bit++) {
		if (!(PTE_RESERVED >> bit & 1))
			continue;
		set_entry(p.b, MDH, directory, good | uint64_t(1) << bit);
		p.far(MDH, ARIES_ST_TRANSLATION, ARIES_ST_TRANSLATION);
	}
	for (uint64_t bad : {good & ~ARIES_PTE_VALID, LOW_BYTES | ARIES_PTE_VALID, PTE_ADDRESS | ARIES_PTE_VALID}) {
		set_entry(p.b, MDH, directory, bad);
		p.far(MDH, ARIES_ST_TRANSLATION, ARIES_ST_TRANSLATION);
	}
	/* A directory entry's own WRITE is not read: the page's counts. */
	set_entry(p.b, MDH, directory, good | ARIES_PTE_WRITE);
	p.far(MDH, ARIES_ST_OK, ARIES_ST_OK);
}

/* One level of large pages, whose entries hold any page address; tables that are nowhere. */
TEST(test_large_pages)
{
	Reach p;
	const uint64_t pages = p.b.alloc(PAGE), memory = p.b.alloc(64 * 1024);
	auto &entry = word_at(p.b, pages);
	auto publish = [&](uint64_t table) {
		assert_true(p.b.invalidate(LARGE));
		p.b.write64(ARIES_MDD_BASE_N(LARGE), BASE);
		p.b.write64(ARIES_MDD_LENGTH_N(LARGE), PAGE);
		p.b.write64(ARIES_MDD_TABLE_N(LARGE), table);
		p.b.write64(ARIES_MDD_CTL_N(LARGE),
			    ARIES_MDD_CTL_VALID_MASK | uint64_t(PTAG_B) << 8 | uint64_t(16) << 16);
		assert_true(p.b.read(ARIES_MDD_CTL_N(LARGE), 8) & ARIES_MDD_CTL_VALID_MASK);
	};
	const uint64_t good = (memory - BASE % 65536 + 65536) | ARIES_PTE_VALID | ARIES_PTE_WRITE;

	entry = good;
	publish(pages);
	p.far(LARGE, ARIES_ST_OK, ARIES_ST_OK);
	for (unsigned int bit = 0; bit < 64; bit++) {
		if (!(PTE_RESERVED >> bit & 1))
			continue;
		set_entry(p.b, LARGE, pages, good | uint64_t(1) << bit);
		p.far(LARGE, ARIES_ST_TRANSLATION, ARIES_ST_TRANSLATION);
	}
	entry = good;
	for (uint64_t table : {LOW_BYTES, HIGH_GPA - 8, HIGH_GPA + HIGH_BYTES, UINT64_MAX & ~uint64_t(7)}) {
		publish(table);
		p.far(LARGE, ARIES_ST_TRANSLATION, ARIES_ST_TRANSLATION);
	}
	publish(pages);
	p.far(LARGE, ARIES_ST_OK, ARIES_ST_OK);
}

/* The first byte outside of the region at both ends, for every way and every length of a packet. */
TEST(test_bounds)
{
	Reach p;

	for (uint32_t bytes = 1; bytes <= 64; bytes++) {
		p.desc().mdh = MDH;
		p.desc().offset = BASE + BYTES - bytes;
		assert_int_equal(p.put(bytes), ARIES_ST_OK);
		p.desc().offset++;
		assert_int_equal(p.put(bytes), ARIES_ST_BOUNDS);
		p.desc().offset = (BASE - 1) & MASK40;
		assert_int_equal(p.put(bytes), ARIES_ST_BOUNDS);
	}
	/* A put without data: at the end it is inside, behind it outside. */
	p.desc().offset = BASE + BYTES;
	assert_int_equal(p.put(0), ARIES_ST_OK);
	p.desc().offset++;
	assert_int_equal(p.put(0), ARIES_ST_BOUNDS);
	p.desc().offset = BASE;
	for (uint64_t bad : {BASE - 4, BASE + BYTES - 4, BASE + BYTES, MASK40 & ~uint64_t(3), uint64_t(0)}) {
		p.desc().local_offset = bad;
		assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, 8), ARIES_ST_LOCAL_BOUNDS);
	}
}

/* Virtual handles: every index from the end of the block on, foreign and stale blocks; local handles likewise. */
TEST(test_virtual_handles)
{
	Reach p;
	constexpr unsigned int COUNT = 3;
	const auto block = [](unsigned int ptag, unsigned int first) {
		return ARIES_VMDH_CTL_VALID_MASK | uint64_t(ptag) << 8 | uint64_t(first) << 16 | uint64_t(COUNT) << 32;
	};
	auto drained = [](const FakeHost &host) {
		while (host.read(ARIES_INV_STATUS, 4))
			;
	};

	/* What lies behind the block is the domain's, too, and not reached by it. */
	p.b.make_mdd(MDH + COUNT, PTAG_B, p.b.alloc(PAGE), PAGE, BASE);
	p.a.make_mdd(NEAR + COUNT, PTAG_A, p.a.alloc(PAGE), PAGE, BASE);
	p.b.write64(ARIES_VMDH_CTL_N(0), block(PTAG_B, MDH));
	p.a.write64(ARIES_VMDH_CTL_N(0), block(PTAG_A, NEAR));
	for (unsigned int index = 0; index < ARIES_MDD_ENTRIES; index++) {
		p.desc().mdh = uint16_t(ARIES_MDH_VIRTUAL | index);
		assert_int_equal(p.put(8), index ? ARIES_ST_MDD : ARIES_ST_OK);
		p.desc().mdh = MDH;
		p.desc().local_mdh = uint16_t(ARIES_MDH_VIRTUAL | index);
		assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, 8), index ? ARIES_ST_LOCAL_MDD : ARIES_ST_OK);
	}
	p.desc().mdh = ARIES_MDH_VIRTUAL;
	p.desc().local_mdh = ARIES_MDH_VIRTUAL;
	/* Somebody else's block is not found, and one of ours that names another's memory opens nothing. */
	p.b.write64(ARIES_VMDH_CTL_N(0), 0);
	drained(p.b);
	p.b.set_key(PTAG_B + 1, KEY + 1);
	p.b.write64(ARIES_VMDH_CTL_N(0), block(PTAG_B + 1, MDH));
	assert_int_equal(p.put(8), ARIES_ST_MDD);
	p.b.make_mdd(200, PTAG_B + 1, p.b.alloc(PAGE), PAGE, BASE);
	p.b.write64(ARIES_VMDH_CTL_N(1), block(PTAG_B, 200));
	assert_int_equal(p.put(8), ARIES_ST_PTAG);
	p.a.write64(ARIES_VMDH_CTL_N(0), 0);
	drained(p.a);
	p.desc().mdh = MDH;
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, 8), ARIES_ST_LOCAL_MDD);
	p.a.set_key(PTAG_A + 1, KEY + 1);
	p.a.make_mdd(201, PTAG_A + 1, p.a.alloc(PAGE), PAGE, BASE);
	p.a.write64(ARIES_VMDH_CTL_N(0), block(PTAG_A, 201));
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, 8), ARIES_ST_LOCAL_PTAG);
}

/* Virtual nodes: one past the domain's part, one past the table, unmapped, cleared, too many replaced. */
TEST(test_virtual_nodes)
{
	Reach p;
	auto part = [&](uint64_t base, uint64_t size) {
		p.a.enable_fmad(VIRTUAL, PTAG_A, OWNER, ARIES_FMAD_CTL_NTT_MASK | base << 32 | size << 48);
		p.a.desc(VIRTUAL) = p.desc();
	};
	auto put_to = [&](uint32_t pe) {
		p.a.desc(VIRTUAL).pe = pe;
		return p.a.ring(VIRTUAL, ARIES_FMA_PUT_LINE, 8);
	};
	const uint32_t here = ARIES_NTT_ENTRY_VALID_MASK | 1;

	for (uint64_t log2 = 0; log2 < 8; log2++) {
		p.a.write32(ARIES_NTT_CONFIG, uint32_t(log2));
		p.a.write32(ARIES_NTT_ENTRY_N(7), here);
		p.a.write32(ARIES_NTT_ENTRY_N(8), here); /* next to the domain's part */
		part(7, 1);
		assert_int_equal(put_to(0), ARIES_ST_OK);
		for (unsigned int bit = unsigned(log2); bit < 32; bit++)
			assert_int_equal(put_to(uint32_t(1) << bit), ARIES_ST_NTT);
		for (uint32_t size = 0; size < 256; size++) {
			p.a.write32(ARIES_NTT_REPLACE_N(7), 1 | size << 18);
			assert_int_equal(put_to(0), size > 1u << log2 ? ARIES_ST_NTT : ARIES_ST_OK);
		}
		p.a.write32(ARIES_NTT_REPLACE_N(7), 0);
		p.a.write32(ARIES_NTT_ENTRY_N(7), 1); /* an address, but not valid */
		assert_int_equal(put_to(0), ARIES_ST_NTT);
		for (unsigned int bit = 1; bit < 18; bit++) {
			p.a.write32(ARIES_NTT_ENTRY_N(7), ARIES_NTT_ENTRY_VALID_MASK | uint32_t(1) << bit);
			assert_int_equal(put_to(0), ARIES_ST_NO_NODE);
		}
		/* A part that reaches beyond the table. */
		p.a.write32(ARIES_NTT_ENTRY_N(ARIES_NTT_ENTRIES - 1), here);
		part(ARIES_NTT_ENTRIES - 1, 0xffff);
		assert_int_equal(put_to(0), ARIES_ST_OK);
		assert_int_equal(put_to(1u << log2), ARIES_ST_NTT);
		part(0xffff, 0xffff);
		assert_int_equal(put_to(0), ARIES_ST_NTT);
		part(7, 0);
		assert_int_equal(put_to(0), ARIES_ST_NTT);
	}
	/* Block transfers go through the same table. */
	p.a.write32(ARIES_NTT_CONFIG, 0);
	part(7, 1);
	p.a.slot(VIRTUAL, 0) = block_transfer(ARIES_BTE_PUT, MDH, LOCAL_MDH, 8, 0);
	assert_int_equal(p.a.ring_bte(VIRTUAL, 0), ARIES_ST_NTT);
}

} // namespace

TEST_MAIN("tests")
