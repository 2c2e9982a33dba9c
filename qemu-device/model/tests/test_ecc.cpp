/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/* Errors in the NIC's tables: one bit is put right and counted, two refuse the entry until it is written anew. */
#include <string>

#include "nic/ecc.hpp"
#include "tests/pair.hpp"

using namespace aries_test;

namespace
{

constexpr unsigned int V = 2; /* descriptor with virtual node addresses */
constexpr unsigned int NTT = 100;
constexpr uint64_t WHOLE_NTT = ARIES_NTT_ENTRY_VALID_MASK | 1;

struct Table {
	aries_ras_memory memory;
	uint32_t index;
	uint32_t status; /* of a put that needs the entry when it has two wrong bits */
};

constexpr Table TABLES[] = {
	{ARIES_RAS_NTT, NTT, ARIES_ST_LOCAL_ECC},
	{ARIES_RAS_MDD, MDH, ARIES_ST_ECC},
	{ARIES_RAS_FMAD, V, ARIES_ST_LOCAL_ECC},
};

/** Node 0 puts to virtual node 0, which is node 1; each put needs an entry of each table. */
struct Rig : Pair {
	Rig()
	{
		a.enable_fmad(V, PTAG_A, OWNER, ARIES_FMAD_CTL_NTT_MASK | uint64_t(NTT) << 32 | uint64_t(1) << 48);
		a.write32(ARIES_NTT_ENTRY_N(NTT), WHOLE_NTT);
		a.desc(V) = {};
		a.desc(V).mdh = MDH;
		a.desc(V).offset = BASE;
	}

	/** The node that has a table of the ones above. */
	FakeHost &owner(const Table &table) { return table.memory == ARIES_RAS_MDD ? b : a; }

	uint32_t put() { return a.ring(V, ARIES_FMA_PUT_LINE, 8); }

	bool hit(const Table &table, bool twice = false)
	{
		char err[256];

		return aries_nic_set_fault(owner(table).nic(), twice ? "ecc-double" : "ecc-single",
					   uint64_t(table.memory) << 32 | table.index, err, sizeof(err)) == 0;
	}

	uint64_t corrected(const Table &table) { return owner(table).read(ARIES_RAS_CORRECTED_N(table.memory), 8); }
	uint64_t damaged(const Table &table) { return owner(table).read(ARIES_RAS_DAMAGED_N(table.memory), 8); }
	uint64_t first(const Table &table) { return owner(table).read(ARIES_RAS_FIRST_N(table.memory), 8); }
	uint64_t entry(const Table &table)
	{
		switch (table.memory) {
		case ARIES_RAS_NTT:
			return a.read(ARIES_NTT_ENTRY_N(NTT), 4);
		case ARIES_RAS_MDD:
			return b.read(ARIES_MDD_CTL_N(MDH), 8);
		default:
			return a.read(ARIES_FMAD_CTL_N(V), 8);
		}
	}
};

/** Takes the events of a node; those of the tables' ECC go into @info of the last, their number is returned. */
unsigned int events(FakeHost &host, uint64_t code, uint8_t category, uint64_t (&info)[4])
{
	unsigned int count = 0;

	while (host.read(ARIES_ERR_COUNT, 4)) {
		const uint64_t event = host.read(ARIES_ERR_EVENT, 8);

		if (aries::field(event, ARIES_ERR_EVENT_CODE_MASK) == code) {
			assert_int_equal(aries::field(event, ARIES_ERR_EVENT_CATEGORY_MASK), category);
			for (uint32_t i = 0; i < 4; i++)
				info[i] = host.read(ARIES_ERR_INFO_N(i), 8);
			count++;
		}
		host.write32(ARIES_ERR_POP, 1);
	}
	return count;
}

void one_bit_is_put_right(void **)
{
	for (const Table &table : TABLES) {
		Rig rig;
		const uint64_t whole = rig.entry(table);
		uint64_t info[4];

		assert_int_equal(rig.put(), ARIES_ST_OK);
		assert_int_equal(rig.first(table), 0);
		assert_true(rig.hit(table));
		assert_int_equal(rig.entry(table), whole);
		assert_int_equal(rig.corrected(table), 0);
		for (int i = 0; i < 3; i++)
			assert_int_equal(rig.put(), ARIES_ST_OK);
		assert_int_equal(rig.corrected(table), 1);
		assert_int_equal(rig.damaged(table), 0);
		assert_int_equal(rig.entry(table), whole);
		assert_int_equal(rig.first(table) & ~ARIES_RAS_FIRST_SYNDROME_MASK,
				 ARIES_RAS_FIRST_VALID_MASK | table.index);
		assert_int_equal(events(rig.owner(table), ARIES_RAS_SINGLE + table.memory, 0x01, info), 0);
		for (const Table &other : TABLES)
			assert_int_equal(rig.corrected(other), other.memory == table.memory ? 1 : 0);
	}
}

void two_bits_refuse_the_entry_until_it_is_written(void **)
{
	for (const Table &table : TABLES) {
		Rig rig;
		const uint64_t whole = rig.entry(table);
		uint64_t info[4] = {};

		assert_true(rig.hit(table, true));
		assert_int_equal(rig.entry(table), whole);
		for (int i = 0; i < 3; i++)
			assert_int_equal(rig.put(), table.status);
		assert_int_equal(rig.damaged(table), 3);
		assert_int_equal(rig.corrected(table), 0);
		assert_int_equal(rig.first(table) & ~ARIES_RAS_FIRST_SYNDROME_MASK,
				 ARIES_RAS_FIRST_VALID_MASK | ARIES_RAS_FIRST_DOUBLE_MASK | table.index);
		assert_int_equal(events(rig.owner(table), ARIES_RAS_DOUBLE + table.memory, 0x02, info), 3);
		assert_int_equal(info[1], table.index);
		assert_int_equal(info[2], 3);
		assert_int_equal(info[3], aries::ecc_syndrome(table.index, true));
		/* An error of one bit more does not make it better. */
		assert_true(rig.hit(table));
		assert_int_equal(rig.put(), table.status);
		/* What has nothing to do with the entry goes on. */
		rig.desc().mdh = 10;
		rig.b.make_mdd(10, PTAG_B, rig.target, BYTES, BASE);
		assert_int_equal(rig.Pair::put(8), ARIES_ST_OK);
		/* The driver writes it anew. */
		if (table.memory == ARIES_RAS_MDD) {
			assert_true(rig.b.invalidate(MDH));
			rig.b.make_mdd(MDH, PTAG_B, rig.target, BYTES, BASE);
		} else if (table.memory == ARIES_RAS_NTT) {
			rig.a.write32(ARIES_NTT_ENTRY_N(NTT), uint32_t(whole));
		} else {
			rig.a.write64(ARIES_FMAD_CTL_N(V), whole);
		}
		assert_int_equal(rig.put(), ARIES_ST_OK);
		assert_int_equal(rig.damaged(table), 4);
	}
}

/* Block transfers and the initiator's own memory look at the same tables. */
void every_way_to_an_entry_meets_its_error(void **)
{
	Rig rig;
	const Table local{ARIES_RAS_MDD, LOCAL_MDH, ARIES_ST_LOCAL_ECC};
	char err[256];

	rig.desc().dlvr_mode = 0;
	assert_int_equal(aries_nic_set_fault(rig.a.nic(), "ecc-double", uint64_t(local.memory) << 32 | local.index, err,
					     sizeof(err)),
			 0);
	assert_int_equal(rig.amo(0x008, 1), ARIES_ST_LOCAL_ECC);
	assert_int_equal(rig.a.read(ARIES_RAS_DAMAGED_N(ARIES_RAS_MDD), 8), 1);

	aries_bte_desc &desc = rig.a.slot(FMAD, 0);

	desc = {};
	desc.op = ARIES_BTE_PUT;
	desc.pe = 1;
	desc.mdh = MDH;
	desc.offset = BASE;
	desc.local_mdh = LOCAL_MDH;
	desc.local_offset = BASE;
	desc.length = 4096;
	desc.cq = 20;
	desc.mode = ARIES_EV_GLOBAL;
	rig.a.ring_bte(FMAD, 0);
	(void)rig.a.wait_event(20, 2000);
	assert_int_equal(rig.a.read(ARIES_RAS_DAMAGED_N(ARIES_RAS_MDD), 8), 2);
	/* The descriptor itself. */
	assert_true(rig.hit({ARIES_RAS_FMAD, FMAD, 0}));
	assert_int_equal(rig.Pair::put(8), ARIES_ST_OK);
	assert_true(rig.hit({ARIES_RAS_FMAD, FMAD, 0}, true));
	assert_int_equal(rig.Pair::put(8), ARIES_ST_LOCAL_ECC);
	rig.a.ring_bte(FMAD, 0);
	assert_int_equal(rig.a.read(ARIES_RAS_DAMAGED_N(ARIES_RAS_FMAD), 8), 2);
}

void threshold_makes_an_event_of_several(void **)
{
	for (const Table &table : TABLES) {
		Rig rig;
		uint64_t info[4] = {};

		rig.owner(table).write32(ARIES_RAS_THRESHOLD_N(table.memory), 3);
		for (int i = 0; i < 8; i++) {
			assert_true(rig.hit(table));
			assert_int_equal(rig.put(), ARIES_ST_OK);
		}
		assert_int_equal(rig.corrected(table), 8);
		assert_int_equal(events(rig.owner(table), ARIES_RAS_SINGLE + table.memory, 0x01, info), 2);
		assert_int_equal(info[1], table.index);
		assert_int_equal(info[2], 6);
	}
}

void the_first_error_is_kept_until_it_is_cleared(void **)
{
	Rig rig;
	const Table table = TABLES[0];

	rig.hit(table);
	rig.put();
	const uint64_t kept = rig.first(table);

	rig.hit(table, true);
	rig.put();
	assert_int_equal(rig.first(table), kept);
	assert_false(kept & ARIES_RAS_FIRST_DOUBLE_MASK);
	rig.a.write64(ARIES_RAS_FIRST_N(table.memory), 0);
	assert_int_equal(rig.first(table), kept);
	rig.a.write64(ARIES_RAS_FIRST_N(table.memory), ARIES_RAS_FIRST_VALID_MASK);
	assert_int_equal(rig.first(table), 0);
	rig.put();
	assert_true(rig.first(table) & ARIES_RAS_FIRST_DOUBLE_MASK);
	/* A reset begins anew. */
	rig.a.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_RESET_MASK);
	assert_int_equal(rig.first(table), 0);
	assert_int_equal(rig.corrected(table), 0);
	assert_int_equal(rig.damaged(table), 0);
}

/* A descriptor with errors is in use all the same. */
void what_is_hit_is_not_free(void **)
{
	Rig rig;
	const uint64_t ctl = rig.entry(TABLES[1]);
	const uint64_t before = rig.b.counter(ARIES_CNT_GUEST_ERRORS);

	assert_true(rig.hit(TABLES[1], true));
	aries_nic_write(rig.b.nic(), 0, ARIES_MDD_CTL_N(MDH), 8, ctl);
	aries_nic_write(rig.b.nic(), 0, ARIES_MDD_CTL_N(MDH), 8, 0);
	assert_int_equal(rig.b.counter(ARIES_CNT_GUEST_ERRORS) - before, 2);
	assert_int_equal(rig.put(), ARIES_ST_ECC);
}

void only_entries_in_use_can_be_hit(void **)
{
	Rig rig;
	char err[256] = "";

	assert_false(rig.hit({ARIES_RAS_NTT, NTT + 1, 0}));
	assert_false(rig.hit({ARIES_RAS_MDD, MDH + 1, 0}, true));
	assert_false(rig.hit({ARIES_RAS_FMAD, 77, 0}));
	for (const uint64_t value :
	     {uint64_t(3) << 32, uint64_t(2) << 32 | 128, uint64_t(4096), uint64_t(1) << 32 | 4096}) {
		assert_int_equal(aries_nic_set_fault(rig.a.nic(), "ecc-double", value, err, sizeof(err)), -1);
		assert_non_null(strstr(err, "is not there"));
	}
	assert_int_equal(rig.put(), ARIES_ST_OK);
}

/* Every pair of bits has a syndrome of its own sort: never that of one wrong bit at the same place, never none. */
void syndromes_tell_the_place(void **)
{
	for (uint32_t i = 0; i < 64; i++) {
		const uint8_t one = aries::ecc_syndrome(i, false), two = aries::ecc_syndrome(i, true);

		assert_in_range(one, 3, 71);
		assert_false(std::has_single_bit(one));
		assert_int_not_equal(two, 0);
		assert_int_not_equal(one, two);
		assert_int_equal(one, aries::ecc_syndrome(i + 64, false));
		for (uint32_t k = 0; k < i; k++)
			assert_int_not_equal(one, aries::ecc_syndrome(k, false));
	}
}

} // namespace

int main()
{
	const CMUnitTest tests[] = {
		cmocka_unit_test(one_bit_is_put_right),
		cmocka_unit_test(two_bits_refuse_the_entry_until_it_is_written),
		cmocka_unit_test(every_way_to_an_entry_meets_its_error),
		cmocka_unit_test(threshold_makes_an_event_of_several),
		cmocka_unit_test(the_first_error_is_kept_until_it_is_cleared),
		cmocka_unit_test(what_is_hit_is_not_free),
		cmocka_unit_test(only_entries_in_use_can_be_hit),
		cmocka_unit_test(syndromes_tell_the_place),
	};

	return cmocka_run_group_tests_name("ecc", tests, nullptr, nullptr);
}
