/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random scatter and launches against a plain reference that knows bytes and
 * nothing of NICs (N09, N10). Half of the jobs go entry by entry, half by the
 * way that shares work between entries. ARIES_FUZZ_SEED repeats a run.
 */
#include <algorithm>
#include <cstdlib>
#include <random>

#include "tests/launch_job.hpp"

using namespace aries_test;

namespace
{

constexpr unsigned int ROUNDS = 300;
constexpr uint64_t LOCAL_WORDS = 40000; /* bytes of the local region that results may go to */

struct Outcome {
	uint8_t status;
	uint32_t done;
};

/** What memory should look like. */
struct Reference {
	std::vector<uint8_t> memory[Job::NODES];
	std::vector<uint8_t> local;
	uint16_t amo = 0;

	Reference() : local(Job::LOCAL_BYTES)
	{
		for (auto &bytes : memory)
			bytes.resize(Job::BYTES);
	}

	/* Position in a region; beyond its end if it is outside. */
	static uint64_t position(uint64_t offset, uint64_t base) { return (offset - base) & MASK40; }

	uint8_t entry(const aries_launch_entry &e, uint32_t index);
	uint8_t atomic(uint32_t pe, uint64_t at, uint64_t offset, uint64_t operand, uint64_t landing);

	Outcome batch(const std::vector<aries_launch_entry> &entries)
	{
		for (uint32_t i = 0; i < entries.size(); i++) {
			const uint8_t status = entry(entries[i], i);

			if (status)
				return {status, i};
		}
		return {0, uint32_t(entries.size())};
	}

	Outcome scatter(const uint8_t *line, uint32_t bytes, uint32_t pe, uint64_t offset,
			const aries_fma_window &window)
	{
		uint32_t parts = 0;

		for (uint32_t i = 0; i < bytes; i++) {
			const uint32_t w = window.at + i, part = 1u << window.pe_shift;
			const uint32_t node = pe + w / part % (1u << window.pe_bits);
			const uint64_t at =
				position(offset + w / part / (1u << window.pe_bits) * part + w % part, Job::BASE);

			if (i == 0 || w % part == 0) {
				/* A part is one put: it fails as a whole. */
				const uint32_t length = std::min(bytes - i, part - w % part);

				if (node >= Job::NODES)
					return {ARIES_ST_NO_NODE, parts};
				if (at + length > Job::BYTES)
					return {ARIES_ST_BOUNDS, parts};
				parts++;
			}
			memory[node][at] = line[i];
		}
		return {0, bytes ? parts : 1};
	}
};

uint8_t Reference::atomic(uint32_t pe, uint64_t at, uint64_t offset, uint64_t operand, uint64_t landing)
{
	const bool fetch = amo == 0x008;
	uint64_t old;

	if (offset % 8)
		return ARIES_ST_ALIGN;
	if (fetch && landing + 8 > Job::LOCAL_BYTES)
		return ARIES_ST_LOCAL_BOUNDS;
	if (at + 8 > Job::BYTES)
		return ARIES_ST_BOUNDS;
	memcpy(&old, &memory[pe][at], 8);
	operand += old;
	memcpy(&memory[pe][at], &operand, 8);
	if (fetch)
		memcpy(&local[landing], &old, 8);
	return 0;
}

uint8_t Reference::entry(const aries_launch_entry &e, uint32_t index)
{
	const uint64_t offset = e.target & MASK40, at = position(offset, Job::BASE);
	const uint32_t pe = uint32_t(e.target >> 40 & 0x3ffff);
	const unsigned int kind = unsigned(e.target >> 58);
	const bool put = kind == ARIES_LAUNCH_PUT8 || kind == ARIES_LAUNCH_PUT4;
	const bool get = kind == ARIES_LAUNCH_GET8 || kind == ARIES_LAUNCH_GET4;
	const uint32_t bytes = kind == ARIES_LAUNCH_PUT4 || kind == ARIES_LAUNCH_GET4 ? 4 : 8;

	if (!put && !get && kind != ARIES_LAUNCH_AMO)
		return ARIES_ST_BAD_OP;
	if ((kind == ARIES_LAUNCH_PUT4 && e.value >> 32) || (get && e.value >> 40))
		return ARIES_ST_RESERVED;
	if (get && offset % 4)
		return ARIES_ST_ALIGN;
	if (pe >= Job::NODES)
		return ARIES_ST_NO_NODE;
	if (kind == ARIES_LAUNCH_AMO)
		return atomic(pe, at, offset, e.value, uint64_t(index) * 8);
	const uint64_t landing = position(e.value, Job::LOCAL_BASE);

	if (get && landing + bytes > Job::LOCAL_BYTES)
		return ARIES_ST_LOCAL_BOUNDS;
	if (at + bytes > Job::BYTES)
		return ARIES_ST_BOUNDS;
	memcpy(put ? &memory[pe][at] : &local[landing],
	       put ? reinterpret_cast<const uint8_t *>(&e.value) : &memory[pe][at], bytes);
	return 0;
}

class Player
{
public:
	Player(uint64_t seed, bool slow) : random_(seed)
	{
		job_.slow(slow);
		/* The ring's memory is not where results may go. */
		job_.a().make_mdd(12, Job::PTAG, job_.local, Job::LOCAL_BYTES, Job::LOCAL_BASE);
		job_.desc().local_mdh = 12;
	}

	void play()
	{
		for (unsigned int i = 0; i < ROUNDS; i++) {
			if (below(4) == 0)
				scatter();
			else
				launch();
			if (i % 50 == 0)
				compare();
		}
		compare();
	}

private:
	uint64_t below(uint64_t n) { return random_() % n; }

	uint64_t offset(unsigned int align, bool wild)
	{
		if (wild && below(2))
			return (Job::BASE - 16 + below(32)) & MASK40;
		if (wild)
			return Job::BASE + Job::BYTES - 16 + below(32);
		/* Often the same few words, so that order matters. */
		const uint64_t at = below(3) ? below(Job::BYTES - 8) : below(64);

		return Job::BASE + at / align * align;
	}

	aries_launch_entry entry()
	{
		const bool wild = below(1000) == 0;
		unsigned int kind =
			wild && below(3) == 0 ? unsigned(below(64)) : unsigned(1 + below(puts_only_ ? 2 : 5));
		const uint32_t pe = uint32_t(below(wild ? 6 : Job::NODES));
		const unsigned int align = wild || kind <= ARIES_LAUNCH_PUT4 ? 1 : kind == ARIES_LAUNCH_AMO ? 8 : 4;
		uint64_t value = random_();

		if (kind == ARIES_LAUNCH_PUT4 && !(wild && below(3) == 0))
			value &= UINT32_MAX;
		if (kind == ARIES_LAUNCH_GET8 || kind == ARIES_LAUNCH_GET4)
			value = wild ? value >> below(30) : Job::LOCAL_BASE + below(LOCAL_WORDS);
		return launch_entry(kind, pe, offset(align, wild && below(2)), value);
	}

	void launch()
	{
		const bool ring = below(2);
		const uint32_t count = uint32_t(1 + below(ring ? 600 : ARIES_LAUNCH_LINE));
		std::vector<aries_launch_entry> entries;
		const bool events = below(2);
		uint32_t status;

		puts_only_ = below(2);
		reference_.amo = job_.window().amo = below(2) ? 0x008 : 0x108;
		for (uint32_t i = 0; i < count; i++)
			entries.push_back(entry());
		if (ring) {
			const uint32_t size = uint32_t(count + below(2000));
			const uint32_t first = uint32_t(below(size));

			job_.window().ring_entries = size;
			job_.window().ring_first = first;
			for (uint32_t i = 0; i < count; i++)
				job_.ring()[(first + i) % size] = entries[i];
			status = job_.launch_ring(count, events ? ARIES_EV_GLOBAL : 0);
		} else {
			memcpy(job_.line(), entries.data(), count * sizeof(entries[0]));
			status = job_.launch(count, events ? ARIES_EV_GLOBAL : 0);
		}
		judge(status, reference_.batch(entries), events);
	}

	void scatter()
	{
		aries_fma_window &window = job_.window();
		const bool events = below(2);
		uint8_t line[ARIES_DESC_LINE_BYTES];

		window.pe_bits = uint8_t(1 + below(3));
		window.pe_shift = uint8_t(3 + below(13 - window.pe_bits + 1));
		window.at = uint16_t(below(below(2) ? 30000 : 200));
		for (uint8_t &byte : line)
			byte = uint8_t(random_());
		memcpy(job_.a().line(Job::FMAD), line, sizeof(line));
		const uint32_t bytes = uint32_t(below(sizeof(line) + 1)), pe = uint32_t(below(3));
		const uint64_t at = offset(1, below(40) == 0);

		job_.desc().pe = pe;
		job_.desc().offset = at;
		const uint32_t status =
			job_.a().ring(Job::FMAD, ARIES_FMA_PUT_SCATTER, bytes, events ? ARIES_EV_GLOBAL : 0);

		if (bytes)
			judge(status, reference_.scatter(line, bytes, pe, at, window), events);
		else if (events)
			assert_true(bool(job_.a().next_event(Job::CQ)));
		else
			job_.close(0); /* of nothing, perhaps to no node: what CLOSE tells is not the next batch's */
		/* Stores into the window do the same byte by byte. */
		if (bytes && status == 0 && below(4) == 0) {
			job_.desc().offset = at;
			for (uint32_t i = 0; i < bytes; i++)
				job_.a().store(Job::FMAD, window.at + i, 1, line[i]);
			job_.desc().offset = Job::BASE;
			assert_int_equal(job_.close(0), 0);
		}
	}

	void judge(uint32_t status, const Outcome &expected, bool events)
	{
		assert_int_equal(status, expected.status);
		assert_int_equal(job_.done(), expected.done);
		/* CLOSE is an empty put of its own. */
		job_.desc().offset = Job::BASE;
		if (events)
			assert_int_equal(job_.a().next_event(Job::CQ).status(), expected.status);
		else
			assert_int_equal(job_.close(0), expected.status);
		assert_false(bool(job_.a().next_event(Job::CQ)));
	}

	void compare()
	{
		for (unsigned int n = 0; n < Job::NODES; n++)
			assert_memory_equal(job_.host(n).ram(job_.target[n]), reference_.memory[n].data(), Job::BYTES);
		assert_memory_equal(job_.a().ram(job_.local), reference_.local.data(), Job::LOCAL_BYTES);
	}

	Job job_;
	Reference reference_;
	std::mt19937_64 random_;
	bool puts_only_ = false;
};

TEST(random_batches_N09_N10)
{
	const char *text = getenv("ARIES_FUZZ_SEED");
	const uint64_t seed = text ? strtoull(text, nullptr, 0) : std::random_device()();

	print_message("seed %llu\n", static_cast<unsigned long long>(seed));
	for (unsigned int i = 0; i < 8; i++) {
		Player player(seed + i / 2, i % 2);

		player.play();
	}
}

} // namespace

TEST_MAIN("tests")
