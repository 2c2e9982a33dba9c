/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bad input to windows and FMA launch: the window structure, control words, launch entries, the ring (N08 to N10). */
#include "tests/bad_input.hpp"

using namespace aries_test;

namespace
{

constexpr uint64_t RING_AT = 32 * 1024;
constexpr uint32_t ENTRIES = 4;
constexpr uint16_t CODE_FADD = 0x008;

enum Op { PUT_STORE, GET_STORE, SCATTER, LAUNCH, LAUNCH_AMO, RING, RING_AMO, LAUNCH_STORE, PLAIN, OPS };

constexpr const char *NAMES[] = {"put window", "get window",          "scatter",      "launch",   "launched atomic",
				 "ring",       "ring with an atomic", "launch store", "plain put"};
static_assert(std::size(NAMES) == OPS);

constexpr uint32_t ALL = (1u << OPS) - 1;
constexpr uint32_t WINDOWS = on({PUT_STORE, GET_STORE, SCATTER});
constexpr uint32_t RINGS = on({RING, RING_AMO});
constexpr uint32_t AMOS = on({LAUNCH_AMO, RING_AMO});

constexpr aries_launch_entry put8(uint64_t at = 64)
{
	return {(BASE + at) | uint64_t(1) << ARIES_LAUNCH_PE_SHIFT |
			uint64_t(ARIES_LAUNCH_PUT8) << ARIES_LAUNCH_KIND_SHIFT,
		0x5a5a};
}

struct Bench : Pair {
	Untouched memory{*this};

	aries_fma_window &window() { return a.window(FMAD); }

	void prepare(aries_launch_entry entry = put8(), bool atomic = false)
	{
		if (atomic) {
			entry.target &= ~ARIES_LAUNCH_KIND_MASK;
			entry.target |= uint64_t(ARIES_LAUNCH_AMO) << ARIES_LAUNCH_KIND_SHIFT;
		}
		desc() = {};
		desc().pe = 1;
		desc().mdh = MDH;
		desc().offset = BASE;
		desc().local_mdh = LOCAL_MDH;
		desc().local_offset = BASE + 1024;
		desc().cq = 20;
		window() = {};
		window().ring_mdh = LOCAL_MDH;
		window().ring_offset = BASE + RING_AT;
		window().ring_first = 1;
		window().ring_entries = ENTRIES;
		window().amo = CODE_FADD;
		for (uint32_t i = 0; i < ENTRIES; i++) {
			memcpy(a.line(FMAD) + i * sizeof(entry), &entry, sizeof(entry));
			memcpy(a.ram(local + RING_AT) + i * sizeof(entry), &entry, sizeof(entry));
		}
		memory.save();
	}

	/** Window stores and launch stores have their status from the end of the transaction. */
	uint32_t close() { return a.ring(FMAD, ARIES_FMA_CLOSE, 0, ARIES_EV_GLOBAL); }

	uint32_t launch_store(const aries_launch_entry &entry)
	{
		a.store(FMAD, ARIES_FMA_DOORBELL + ARIES_DB_LAUNCH, 8, entry.target);
		a.store(FMAD, ARIES_FMA_DOORBELL + ARIES_DB_LAUNCH + 8, 8, entry.value);
		return close();
	}
	uint32_t get_store(uint64_t word, uint64_t at = 64)
	{
		a.store(FMAD, ARIES_FMA_GET + at, 8, word);
		return close();
	}

	uint32_t ring(unsigned int op)
	{
		switch (op) {
		case PUT_STORE:
			a.store(FMAD, ARIES_FMA_PUT + 64, 8, 1);
			return close();
		case GET_STORE:
			return get_store((BASE + 2048) | uint64_t(7) << ARIES_GETW_LEN_SHIFT);
		case SCATTER:
			return a.ring(FMAD, ARIES_FMA_PUT_SCATTER, 8, ARIES_EV_GLOBAL);
		case LAUNCH:
		case LAUNCH_AMO:
			return a.ring(FMAD, ARIES_FMA_LAUNCH, 2, ARIES_EV_GLOBAL);
		case RING:
		case RING_AMO:
			return a.ring(FMAD, ARIES_FMA_LAUNCH_RING, 2, ARIES_EV_GLOBAL);
		case LAUNCH_STORE:
			return launch_store(put8());
		default:
			return put(8, ARIES_EV_GLOBAL);
		}
	}

	bool ended(uint32_t got, uint32_t status)
	{
		const Event event = a.next_event(20);

		return got == status && event && event.status() == status && !a.next_event(20) &&
		       recorded(*this, status) && (status == ARIES_ST_OK || memory.holds());
	}
};

const Field WINDOW[] = {
	FIELD(aries_fma_window, pe_shift, 0, 0, 0, ALL), /* no bits of the address for it to place */
	FIELD(aries_fma_window, pe_bits, 0, ARIES_ST_RESERVED, WINDOWS, ALL & ~WINDOWS),
	FIELD(aries_fma_window, at, 0x7fff, 0, 0, ALL),
	FIELD(aries_fma_window, amo, 0x3ff, ARIES_ST_BAD_OP, AMOS, ALL & ~AMOS),
	FIELD(aries_fma_window, ring_mdh, ARIES_MDD_ENTRIES - 1, ARIES_ST_RESERVED, RINGS, ALL & ~RINGS),
	FIELD(aries_fma_window, ring_offset, MASK40, ARIES_ST_RESERVED, RINGS, ALL & ~RINGS),
	FIELD(aries_fma_window, ring_offset, ~15ull, ARIES_ST_LOCAL_ALIGN, RINGS, ALL & ~RINGS),
	FIELD(aries_fma_window, ring_first, ENTRIES - 1, ARIES_ST_RESERVED, RINGS, ALL & ~RINGS),
	FIELD(aries_fma_window, ring_entries, 0xffff, ARIES_ST_RESERVED, RINGS, ALL & ~RINGS),
};

TEST(test_window_structure)
{
	Bench bench;
	auto prepare = [&](unsigned int op) { bench.prepare(put8(), AMOS >> op & 1); };

	for (unsigned int op = 0; op < OPS; op++) {
		prepare(op);
		if (!bench.ended(bench.ring(op), ARIES_ST_OK))
			fail_msg("%s must go well", NAMES[op]);
	}
	assert_complete(WINDOW, std::size(WINDOW), sizeof(aries_fma_window));
	const unsigned int tried = try_fields(WINDOW, std::size(WINDOW), NAMES, OPS,
					      [&](unsigned int op, size_t at, uint8_t mask, uint32_t status) {
						      prepare(op);
						      flip(bench.window(), at, mask);
						      return bench.ended(bench.ring(op), status);
					      });

	assert_true(tried > 900);
}

/* Every shape that the two bytes can name. */
TEST(test_shapes)
{
	Bench bench;

	bench.prepare();
	for (unsigned int shift = 0; shift < 256; shift++) {
		for (unsigned int bits = 0; bits < 256; bits++) {
			const bool sound = !bits || (shift >= 3 && shift + bits <= 16);

			bench.window().pe_shift = uint8_t(shift);
			bench.window().pe_bits = uint8_t(bits);
			if (bench.a.ring(FMAD, ARIES_FMA_PUT_SCATTER, 0) !=
			    (sound ? uint32_t(ARIES_ST_OK) : uint32_t(ARIES_ST_RESERVED)))
				fail_msg("shift %u, bits %u", shift, bits);
		}
	}
}

/* A line beyond the end of the window; pieces that reach into the next node's part. */
TEST(test_ends_of_windows)
{
	Bench bench;

	for (unsigned int bytes : {1u, 8u, 2048u}) {
		bench.prepare();
		bench.window().at = uint16_t(ARIES_FMA_WINDOW - bytes + 1);
		assert_true(bench.ended(bench.a.ring(FMAD, ARIES_FMA_PUT_SCATTER, bytes, ARIES_EV_GLOBAL),
					bytes == 1 ? ARIES_ST_OK : ARIES_ST_LENGTH));
	}
	bench.prepare();
	bench.window().pe_shift = 4;
	bench.window().pe_bits = 1;
	for (unsigned int at = 9; at < 16; at++) {
		bench.a.store(FMAD, ARIES_FMA_PUT + at, 8, 1);
		assert_true(bench.ended(bench.close(), ARIES_ST_ALIGN));
	}
}

/* Control words of the get window. */
TEST(test_control_words)
{
	Bench bench;
	const uint64_t get8 = (BASE + 2048) | uint64_t(7) << ARIES_GETW_LEN_SHIFT;

	bench.prepare();
	for (unsigned int bit = 0; bit < 64; bit++) {
		if (ARIES_GETW_RSVD_MASK >> bit & 1)
			assert_true(bench.ended(bench.get_store(get8 | uint64_t(1) << bit), ARIES_ST_RESERVED));
	}
	for (unsigned int bytes = 1; bytes <= 128; bytes++) {
		const uint64_t word = (BASE + 2048) | uint64_t(bytes - 1) << ARIES_GETW_LEN_SHIFT;
		const uint32_t status = bytes > 64 ? ARIES_ST_LENGTH : bytes % 4 ? ARIES_ST_ALIGN : ARIES_ST_OK;

		bench.memory.save();
		if (!bench.ended(bench.get_store(word), status))
			fail_msg("%u bytes", bytes);
	}
	for (unsigned int misaligned = 1; misaligned < 8; misaligned++) {
		bench.prepare();
		bench.desc().offset += misaligned;
		assert_true(bench.ended(bench.get_store(get8), misaligned % 4 ? ARIES_ST_ALIGN : ARIES_ST_OK));
		bench.prepare();
		bench.desc().offset += misaligned;
		assert_true(bench.ended(bench.get_store(get8 | uint64_t(CODE_FADD) << ARIES_GETW_AMO_SHIFT),
					ARIES_ST_ALIGN));
		bench.prepare();
		assert_true(
			bench.ended(bench.get_store((get8 + misaligned) | uint64_t(CODE_FADD) << ARIES_GETW_AMO_SHIFT),
				    ARIES_ST_LOCAL_ALIGN));
	}
	bench.prepare();
	assert_true(bench.ended(bench.get_store(get8 | uint64_t(0x3ff) << ARIES_GETW_AMO_SHIFT), ARIES_ST_BAD_OP));
}

/* An entry as line, ring and store take it, with and without the short way of puts. */
TEST(test_entries)
{
	Bench bench;
	char err[64];
	constexpr uint64_t NODE = uint64_t(1) << ARIES_LAUNCH_PE_SHIFT;
	auto refused = [&](const aries_launch_entry &entry, uint32_t status, const char *what) {
		for (bool slow : {false, true}) {
			aries_nic_set_fault(bench.a.nic(), "delay-ns", slow, err, sizeof(err));
			bench.prepare(entry);
			if (!bench.ended(bench.ring(LAUNCH), status) || bench.a.done(FMAD) != (status ? 0 : 2))
				fail_msg("launch: %s", what);
			bench.prepare(entry);
			if (!bench.ended(bench.ring(RING), status) || bench.a.done(FMAD) != (status ? 0 : 2))
				fail_msg("ring: %s", what);
			bench.prepare(entry);
			if (!bench.ended(bench.launch_store(entry), status))
				fail_msg("store: %s", what);
		}
		aries_nic_set_fault(bench.a.nic(), "delay-ns", 0, err, sizeof(err));
	};
	auto entry = [](unsigned int kind, uint64_t offset, uint64_t value) {
		return aries_launch_entry{offset | NODE | uint64_t(kind) << ARIES_LAUNCH_KIND_SHIFT, value};
	};

	for (unsigned int kind = 0; kind < 64; kind++) {
		const uint64_t value = kind == ARIES_LAUNCH_GET8 || kind == ARIES_LAUNCH_GET4 ? BASE + 512 : 1;

		refused(entry(kind, BASE, value),
			kind >= ARIES_LAUNCH_PUT8 && kind <= ARIES_LAUNCH_AMO ? ARIES_ST_OK : ARIES_ST_BAD_OP, "kind");
	}
	for (unsigned int kind : {ARIES_LAUNCH_PUT8, ARIES_LAUNCH_GET8, ARIES_LAUNCH_AMO}) {
		for (unsigned int bit = 1; bit < 18; bit++) {
			aries_launch_entry bad = entry(kind, BASE, BASE + 512);

			bad.target |= NODE << bit;
			refused(bad, ARIES_ST_NO_NODE, "node");
		}
	}
	for (unsigned int bit = 32; bit < 64; bit++)
		refused(entry(ARIES_LAUNCH_PUT4, BASE, uint64_t(1) << bit), ARIES_ST_RESERVED, "upper half of 4 bytes");
	for (unsigned int bit = 40; bit < 64; bit++) {
		for (unsigned int kind : {ARIES_LAUNCH_GET8, ARIES_LAUNCH_GET4})
			refused(entry(kind, BASE, (BASE + 512) | uint64_t(1) << bit), ARIES_ST_RESERVED,
				"local offset");
	}
	for (unsigned int misaligned = 1; misaligned < 8; misaligned++) {
		refused(entry(ARIES_LAUNCH_PUT8, BASE + misaligned, 1), ARIES_ST_OK, "puts may be anywhere");
		refused(entry(ARIES_LAUNCH_AMO, BASE + misaligned, 1), ARIES_ST_ALIGN, "atomic");
		refused(entry(ARIES_LAUNCH_GET8, BASE + misaligned, BASE + 512),
			misaligned % 4 ? ARIES_ST_ALIGN : ARIES_ST_OK, "get");
	}
	refused(entry(ARIES_LAUNCH_PUT8, BASE + BYTES - 7, 1), ARIES_ST_BOUNDS, "end of the region");
	refused(entry(ARIES_LAUNCH_PUT4, BASE - 4, 1), ARIES_ST_BOUNDS, "start of the region");
	refused(entry(ARIES_LAUNCH_GET8, BASE, BASE + BYTES - 4), ARIES_ST_LOCAL_BOUNDS, "end of the local region");
}

/* The ring's memory: foreign, stale, shorter than it claims, without a page. */
TEST(test_ring_memory)
{
	Bench bench;
	auto refused = [&](uint32_t status, auto change) {
		bench.prepare();
		change(bench.window());
		assert_true(bench.ended(bench.ring(RING), status));
		assert_int_equal(bench.a.done(FMAD), 0);
	};

	bench.a.set_key(PTAG_A + 1, KEY + 1);
	bench.a.make_mdd(50, PTAG_A + 1, bench.a.alloc(PAGE), PAGE, BASE);
	refused(ARIES_ST_LOCAL_PTAG, [](auto &w) { w.ring_mdh = 50, w.ring_offset = BASE; });
	refused(ARIES_ST_LOCAL_MDD, [](auto &w) { w.ring_mdh = 51; });
	refused(ARIES_ST_LOCAL_BOUNDS, [](auto &w) { w.ring_offset = BASE + BYTES - 32; });
	refused(ARIES_ST_LOCAL_BOUNDS, [](auto &w) { w.ring_offset = BASE - 32; });
	refused(ARIES_ST_RESERVED, [](auto &w) { w.ring_entries = 0; });
	refused(ARIES_ST_RESERVED, [](auto &w) { w.ring_entries = ARIES_RING_MAX + 1; });
	refused(ARIES_ST_RESERVED, [](auto &w) { w.ring_first = w.ring_entries; });
	refused(ARIES_ST_RESERVED, [](auto &w) { w.ring_mdh = ARIES_MDH_VIRTUAL; });
	refused(ARIES_ST_LENGTH, [](auto &w) { w.ring_entries = 1, w.ring_first = 0; });
	/* A page that is not there; a region that was. */
	const uint64_t page = bench.a.alloc(PAGE);
	auto *pte = reinterpret_cast<uint64_t *>(bench.a.ram(bench.a.make_mdd(52, PTAG_A, page, PAGE, BASE)));

	*pte = 0;
	refused(ARIES_ST_LOCAL_TRANSLATION, [](auto &w) { w.ring_mdh = 52, w.ring_offset = BASE; });
	assert_true(bench.a.invalidate(52));
	refused(ARIES_ST_LOCAL_MDD, [](auto &w) { w.ring_mdh = 52, w.ring_offset = BASE; });
	/* More entries than a doorbell may name, of a ring that has them. */
	bench.prepare();
	bench.window().ring_entries = ARIES_RING_MAX;
	assert_int_equal(bench.a.ring(FMAD, ARIES_FMA_LAUNCH_RING, ARIES_LAUNCH_MAX + 1, 0), ARIES_ST_LENGTH);
	assert_true(bench.memory.holds());
}

} // namespace

TEST_MAIN("tests")
