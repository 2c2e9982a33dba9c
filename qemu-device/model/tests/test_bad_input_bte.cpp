/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bad input to the block transfer engine: slots bit by bit, slot numbers, foreign and stale objects, sends. */
#include "tests/bad_input.hpp"

using namespace aries_test;

namespace
{

enum Op { PUT, GET, SEND, PHYS_PUT, PHYS_GET, OPS };

constexpr const char *NAMES[] = {"put", "get", "send", "put of bus memory", "get to bus memory"};
static_assert(std::size(NAMES) == OPS);

constexpr unsigned int SLOT = 5;
constexpr uint16_t CHANNEL = 0x1234;
constexpr uint32_t bit(Op op)
{
	return 1u << op;
}

constexpr uint32_t ALL = (1u << OPS) - 1, PHYS = bit(PHYS_PUT) | bit(PHYS_GET), GETS = bit(GET) | bit(PHYS_GET),
		   PUTS = ALL & ~GETS;

/** A kernel's descriptor, which may do everything, and a receive. */
struct Bench : Pair {
	Untouched memory{*this};

	Bench() { a.enable_fmad(FMAD, PTAG_A, OWNER, ARIES_FMAD_CTL_KERNEL_MASK); }

	aries_bte_desc &slot() { return a.slot(FMAD, SLOT); }
	/** The general way instead of the short one, as with any fault. */
	void slow(bool on)
	{
		char error[80];

		assert_int_equal(aries_nic_set_fault(a.nic(), "delay-ns", on, error, sizeof(error)), 0);
	}

	void prepare(unsigned int op)
	{
		constexpr uint8_t OPCODES[] = {ARIES_BTE_PUT, ARIES_BTE_GET, ARIES_BTE_SEND, ARIES_BTE_PUT,
					       ARIES_BTE_GET};
		const bool phys = PHYS >> op & 1;

		b.write64(ARIES_RMT_CTL_N(0), 0);
		b.write64(ARIES_RMT_OFFSET_N(0), BASE + 512);
		b.write32(ARIES_RMT_LENGTH_N(0), 4096);
		b.write64(ARIES_RMT_CTL_N(0), ARIES_RMT_CTL_VALID_MASK | uint64_t(PTAG_B) << 8 |
						      uint64_t(CHANNEL) << 16 | uint64_t(MDH) << 32);
		slot() = {};
		slot().pe = 1;
		slot().mdh = op == SEND ? 0 : MDH;
		slot().local_mdh = LOCAL_MDH;
		slot().offset = op == SEND ? CHANNEL : BASE + 64;
		slot().local_offset = phys ? local + 128 : BASE + 128;
		slot().length = 256;
		slot().cq = 20;
		slot().tid = 77;
		slot().op = OPCODES[op];
		slot().mode = ARIES_EV_GLOBAL;
		slot().flags = phys ? ARIES_BTE_PHYS : 0;
		memory.save();
	}

	/** Runs the slot: the status of its event, and all that belongs to it. */
	bool ended(uint32_t status)
	{
		a.ring_bte(FMAD, SLOT);
		const Event event = a.wait_event(20, status == ARIES_ST_CQ_OWNER ? 1 : 5000);

		while (b.next_event(21))
			;
		if (a.next_event(20) || !recorded(*this, status))
			return false;
		if (status == ARIES_ST_CQ_OWNER)
			return !event && memory.holds();
		return event && event.status() == status && event.tid() == slot().tid &&
		       (status == ARIES_ST_OK || memory.holds());
	}
};

const Field SLOTS[] = {
	FIELD(aries_bte_desc, pe, 1, ARIES_ST_NO_NODE, ALL, 0),
	FIELD(aries_bte_desc, mdh, ARIES_MDH_VIRTUAL | (ARIES_MDD_ENTRIES - 1), ARIES_ST_RESERVED, ALL, 0),
	FIELD(aries_bte_desc, mdh, 0, ARIES_ST_RESERVED, bit(SEND), 0),
	FIELD(aries_bte_desc, local_mdh, ARIES_MDH_VIRTUAL | (ARIES_MDD_ENTRIES - 1), ARIES_ST_LOCAL_MDD, ALL & ~PHYS,
	      PHYS),
	FIELD(aries_bte_desc, offset, MASK40, ARIES_ST_RESERVED, ALL, 0),
	FIELD(aries_bte_desc, offset, 0xffff, ARIES_ST_RESERVED, bit(SEND), 0),
	FIELD(aries_bte_desc, offset, ~3ull, ARIES_ST_ALIGN, GETS, bit(PUT) | bit(PHYS_PUT)),
	FIELD(aries_bte_desc, local_offset, MASK40, ARIES_ST_RESERVED, ALL & ~PHYS, 0),
	FIELD(aries_bte_desc, local_offset, MASK40, ARIES_ST_LOCAL_TRANSLATION, PHYS, 0), /* no memory there */
	FIELD(aries_bte_desc, local_offset, ~7ull, 0, 0, ALL),
	FIELD(aries_bte_desc, length, ~3ull, ARIES_ST_ALIGN, GETS, PUTS),
	FIELD(aries_bte_desc, cq, ARIES_CQ_ENTRIES - 1, ARIES_ST_CQ_OWNER, ALL, 0),
	FIELD(aries_bte_desc, tid, 0, 0, 0, ALL),
	FIELD(aries_bte_desc, local_event, 0, 0, 0, ALL),
	FIELD(aries_bte_desc, remote_event, 0, 0, 0, ALL),
	FIELD(aries_bte_desc, op, 3, ARIES_ST_BAD_OP, ALL, 0),
	FIELD(aries_bte_desc, mode, uint8_t(~ARIES_EV_RSVD_MASK), ARIES_ST_RESERVED, ALL, 0),
	FIELD(aries_bte_desc, flags, ARIES_BTE_FENCE | ARIES_BTE_PHYS, ARIES_ST_RESERVED, ALL, 0),
	FIELD(aries_bte_desc, dlvr_mode, uint64_t(uint16_t(~ARIES_DLV_RSVD_MASK)), ARIES_ST_RESERVED, ALL, 0),
	{"reserved", 46, 2, 0, ARIES_ST_RESERVED, ALL, 0},
	{"reserved[1..4]", 48, 8, 0, ARIES_ST_RESERVED, ALL, 0},
	{"reserved[5..8]", 56, 8, 0, ARIES_ST_RESERVED, ALL, 0},
};
static_assert(offsetof(aries_bte_desc, reserved) == 46);

TEST(test_slots)
{
	Bench bench;

	assert_complete(SLOTS, std::size(SLOTS), sizeof(aries_bte_desc));
	for (bool slow : {false, true}) {
		bench.slow(slow);
		for (unsigned int op = 0; op < OPS; op++) {
			bench.prepare(op);
			if (!bench.ended(ARIES_ST_OK))
				fail_msg("%s must go well", NAMES[op]);
		}
		const unsigned int tried = try_fields(SLOTS, std::size(SLOTS), NAMES, OPS,
						      [&](unsigned int op, size_t at, uint8_t mask, uint32_t status) {
							      bench.prepare(op);
							      flip(bench.slot(), at, mask);
							      return bench.ended(status);
						      });

		assert_true(tried > 1500);
	}
}

/* Numbers of slots that there are not: nothing is read. */
TEST(test_slot_numbers)
{
	Bench bench;

	for (unsigned int at = 6; at < 64; at++) {
		bench.prepare(PUT);
		bench.a.store(FMAD, ARIES_FMA_DOORBELL + ARIES_DB_BTE, 8, SLOT | uint64_t(1) << at);
		assert_int_equal(bench.a.status(FMAD), ARIES_ST_RESERVED);
		assert_true(recorded(bench, ARIES_ST_RESERVED));
		assert_false(bool(bench.a.next_event(20)));
		assert_true(bench.memory.holds());
	}
}

TEST(test_rights)
{
	Bench bench;
	auto refused = [&](uint32_t ops, uint32_t status, auto change) {
		for (unsigned int op = 0; op < OPS; op++) {
			if (!(ops >> op & 1))
				continue;
			for (bool slow : {false, true}) {
				bench.slow(slow);
				bench.prepare(op);
				change(bench.slot());
				if (!bench.ended(status))
					fail_msg("%s must end with %#x", NAMES[op], status);
			}
		}
	};
	const uint32_t named = ALL & ~bit(SEND), mapped = ALL & ~PHYS;

	for (uint8_t op : {0, 4, 7, 255})
		refused(ALL, ARIES_ST_BAD_OP, [op](auto &d) { d.op = op; });
	refused(ALL, ARIES_ST_LENGTH, [](auto &d) { d.length = 0; });
	const Strangers others(bench);

	refused(ALL, ARIES_ST_CQ_OWNER, [](auto &d) { d.cq = Strangers::FOREIGN_CQ; });
	refused(mapped, ARIES_ST_LOCAL_PTAG, [](auto &d) { d.local_mdh = Strangers::FOREIGN_NEAR; });
	refused(named, ARIES_ST_PTAG, [](auto &d) { d.mdh = Strangers::FOREIGN_FAR; });
	refused(ALL, ARIES_ST_CQ_OWNER, [](auto &d) { d.cq = Strangers::STALE_CQ; });
	refused(mapped, ARIES_ST_LOCAL_MDD, [](auto &d) { d.local_mdh = Strangers::STALE_NEAR; });
	refused(named, ARIES_ST_MDD, [](auto &d) { d.mdh = Strangers::STALE_FAR; });
	others.reuse();
	refused(mapped, ARIES_ST_LOCAL_BOUNDS, [](auto &d) { d.local_mdh = Strangers::STALE_NEAR; });
	refused(named, ARIES_ST_BOUNDS, [](auto &d) { d.mdh = Strangers::STALE_FAR; });
	bench.b.write64(ARIES_CQ_CTL_N(21), 0);
	refused(named, ARIES_ST_NO_CQ, [](auto &d) { d.mode |= ARIES_EV_REMOTE; });
	/* Bus addresses are the kernel's. */
	bench.a.enable_fmad(FMAD, PTAG_A, OWNER);
	refused(PHYS, ARIES_ST_LOCAL_ACCESS, [](auto &) {});
	/* The domain itself. */
	bench.b.write64(ARIES_PTAG_KEY_N(PTAG_B), 0);
	refused(bit(PUT) | bit(GET), ARIES_ST_PTAG, [](auto &) {});
	refused(bit(SEND), ARIES_ST_NO_RECEIVE, [](auto &) {});
	bench.a.write64(ARIES_PTAG_KEY_N(PTAG_A), 0);
	refused(ALL & ~PHYS, ARIES_ST_LOCAL_PTAG, [](auto &) {});
	bench.prepare(PUT);
	bench.a.disable_fmad(FMAD);
	assert_int_equal(bench.a.ring_bte(FMAD, SLOT), ARIES_ST_DISABLED);
	assert_false(bool(bench.a.wait_event(20, 1)));
}

/* Two things wrong: which of them the status tells is written down. */
TEST(test_order)
{
	using Wrong = Break<aries_bte_desc>;
	Bench bench;

	for (bool slow : {false, true}) {
		bench.slow(slow);
		try_order({Wrong{ARIES_ST_CQ_OWNER, [](auto &d) { d.cq = 999; }},
			   Wrong{ARIES_ST_RESERVED, [](auto &d) { d.reserved[3] = 1; }},
			   Wrong{ARIES_ST_BAD_OP, [](auto &d) { d.op = 7; }},
			   Wrong{ARIES_ST_LENGTH, [](auto &d) { d.length = 0; }},
			   Wrong{ARIES_ST_ALIGN, [](auto &d) { d.offset |= 1; }},
			   Wrong{ARIES_ST_NO_NODE, [](auto &d) { d.pe = 7; }},
			   Wrong{ARIES_ST_LOCAL_MDD, [](auto &d) { d.local_mdh = 99; }},
			   Wrong{ARIES_ST_LOCAL_BOUNDS, [](auto &d) { d.local_offset += BYTES; }},
			   Wrong{ARIES_ST_MDD, [](auto &d) { d.mdh = 99; }},
			   Wrong{ARIES_ST_BOUNDS, [](auto &d) { d.offset += BYTES; }}},
			  "get", [&](const Wrong &first, const Wrong &second, uint32_t status) {
				  bench.prepare(GET);
				  first.apply(bench.slot());
				  second.apply(bench.slot());
				  return bench.ended(status);
			  });
	}
}

/* What a receive names is checked when a message comes. */
TEST(test_receives)
{
	Bench bench;
	auto posted = [&](uint64_t ctl, uint64_t offset, uint32_t status) {
		bench.prepare(SEND);
		bench.b.write64(ARIES_RMT_CTL_N(0), 0);
		bench.b.write64(ARIES_RMT_OFFSET_N(0), offset);
		bench.b.write64(ARIES_RMT_CTL_N(0), ARIES_RMT_CTL_VALID_MASK | ctl);
		assert_true(bench.ended(status));
		assert_true(bench.b.read(ARIES_RMT_CTL_N(0), 8) & ARIES_RMT_CTL_VALID_MASK);
	};
	const uint64_t tag = uint64_t(PTAG_B) << 8, channel = uint64_t(CHANNEL) << 16, mdh = uint64_t(MDH) << 32;

	bench.b.make_mdd(60, PTAG_B, bench.b.alloc(PAGE), PAGE, BASE, ARIES_MDD_CTL_READ_ONLY_MASK);
	bench.b.set_key(PTAG_B + 1, KEY + 1);
	bench.b.make_mdd(61, PTAG_B + 1, bench.b.alloc(PAGE), PAGE, BASE);
	posted(tag | channel | uint64_t(60) << 32, BASE, ARIES_ST_ACCESS);
	posted(tag | channel | uint64_t(61) << 32, BASE, ARIES_ST_PTAG);
	posted(tag | channel | uint64_t(62) << 32, BASE, ARIES_ST_MDD);
	posted(tag | channel | mdh, BASE + BYTES - 255, ARIES_ST_BOUNDS);
	posted(tag | channel | mdh, BASE - 1, ARIES_ST_BOUNDS);
	posted(uint64_t(PTAG_B + 1) << 8 | channel | mdh, BASE, ARIES_ST_NO_RECEIVE);
	posted(uint64_t(255) << 8 | channel | mdh, BASE, ARIES_ST_NO_RECEIVE);
	posted(channel | mdh, BASE, ARIES_ST_NO_RECEIVE);
	for (unsigned int at = 0; at < 16; at++)
		posted(tag | (channel ^ uint64_t(1) << (16 + at)) | mdh, BASE, ARIES_ST_NO_RECEIVE);
}

} // namespace

TEST_MAIN("tests")
