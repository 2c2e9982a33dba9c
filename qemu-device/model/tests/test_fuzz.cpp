/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random accesses, as a hostile guest would make them: nothing crashes or
 * hangs, no byte outside of the regions changes, and after a reset all works.
 * Argument: number of accesses (default 100,000). ARIES_FUZZ_SEED repeats a run.
 */
#include <algorithm>
#include <cstdlib>
#include <random>
#include <thread>

#include "aries_regs_table.h"
#include "tests/pair.hpp"

using namespace aries_test;

namespace
{

unsigned int accesses = 100000;

struct Place {
	uint64_t offset;
	unsigned int size;
};

const std::vector<Place> &places()
{
	static const std::vector<Place> all = [] {
		std::vector<Place> list;
		auto add = [&list](uint64_t offset, unsigned int width, uint64_t count, uint64_t stride) {
			for (uint64_t i = 0; i < std::min<uint64_t>(count, 32); i++)
				list.push_back({offset + i * stride, width / 8});
		};
#define PLACE(name, offset, width, access, count, stride, reset, mask, dump, text) add(offset, width, count, stride);
		ARIES_REGISTERS(PLACE)
#undef PLACE
		return list;
	}();

	return all;
}

/** Random words that are more often small or nearly valid than not. */
class Source
{
public:
	explicit Source(uint64_t seed) : random_(seed) {}

	uint64_t operator()() { return random_(); }
	uint64_t below(uint64_t n) { return random_() % n; }
	uint64_t value()
	{
		switch (below(6)) {
		case 0:
			return random_();
		case 1:
			return below(4);
		case 2:
			return uint64_t(1) << below(64);
		case 3:
			return below(LOW_BYTES);
		case 4:
			return below(LOW_BYTES) & ~uint64_t(4095);
		default:
			return random_() >> below(64);
		}
	}

private:
	std::mt19937_64 random_;
};

/** Everything a process can write. */
void scribble(FakeHost &host, Source &source)
{
	const unsigned int index = unsigned(source.below(4));
	aries_fma_desc &desc = host.desc(index);

	desc.pe = uint32_t(source.below(8) ? source.below(2) : source.value());
	desc.mdh = uint16_t(source.below(16) ? source.below(34) : source.value());
	desc.dlvr_mode = uint16_t(source());
	desc.offset = source.below(4) ? BASE + source.below(BYTES) : source.value();
	desc.local_offset = source.below(4) ? BASE + source.below(BYTES) : source.value();
	desc.local_mdh = uint16_t(source.below(34));
	desc.cq = uint16_t(source.below(34));
	desc.reserved = source.below(64) == 0;
	desc.operand[0] = source.value();
	desc.operand[1] = source.value();
	desc.sync_offset = BASE + (source.below(BYTES) & ~uint64_t(7));
	aries_bte_desc &bte = host.slot(index, unsigned(source.below(ARIES_BTE_SLOTS)));

	bte.pe = desc.pe;
	bte.mdh = desc.mdh;
	bte.local_mdh = desc.local_mdh;
	bte.offset = desc.offset;
	bte.local_offset = desc.local_offset;
	bte.length = uint32_t(source.below(8) ? source.below(BYTES) : source.value());
	bte.cq = desc.cq;
	bte.op = uint8_t(source.below(4));
	bte.mode = uint8_t(source.below(8));
	bte.flags = uint16_t(source.below(4));
}

/* Launch entries in the line, and a window that may have scatter and a ring. */
void scribble_batch(FakeHost &host, Source &source, unsigned int index)
{
	aries_fma_window &window = host.window(index);
	auto *entry = reinterpret_cast<aries_launch_entry *>(host.line(index));

	window.pe_shift = uint8_t(source.below(8) ? 3 + source.below(8) : source());
	window.pe_bits = uint8_t(source.below(8) ? source.below(4) : source());
	window.at = uint16_t(source.below(8) ? source.below(256) : source());
	window.amo = uint16_t(source.below(8) ? source.below(0x180) : source());
	window.ring_mdh = uint16_t(source.below(8) ? LOCAL_MDH : source.value());
	window.ring_offset = source.below(4) ? BASE + (source.below(BYTES) & ~uint64_t(15)) : source.value();
	window.ring_first = uint32_t(source.below(4) ? source.below(256) : source.value());
	window.ring_entries = uint32_t(source.below(4) ? 256 + source.below(ARIES_RING_MAX) : source.value());
	for (uint64_t i = source.below(ARIES_LAUNCH_LINE); i < ARIES_LAUNCH_LINE; i++) {
		entry[i].target = (source.below(8) ? BASE + source.below(BYTES) : source.value()) |
				  source.below(source.below(8) ? 2 : 1 << 18) << ARIES_LAUNCH_PE_SHIFT |
				  source.below(source.below(8) ? 6 : 64) << ARIES_LAUNCH_KIND_SHIFT;
		entry[i].value = source.below(4) ? BASE + source.below(BYTES) : source();
	}
}

void doorbell_batch(FakeHost &host, Source &source, uint64_t base)
{
	const unsigned int index = unsigned(base / ARIES_FMA_STRIDE);
	const uint64_t ops[] = {ARIES_FMA_PUT_SCATTER, ARIES_FMA_LAUNCH, ARIES_FMA_LAUNCH_RING};

	scribble_batch(host, source, index);
	if (source.below(8) == 0)
		aries_nic_write(host.nic(), 2, base + ARIES_FMA_DOORBELL + ARIES_DB_LAUNCH + source.below(2) * 8, 8,
				source());
	aries_nic_write(host.nic(), 2, base + ARIES_FMA_DOORBELL, 8,
			source.below(source.below(8) ? 140 : 65536) << 16 | ops[source.below(3)] << 32 |
				source.below(8) << 40);
}

/* Two threads may be at one descriptor, as two of a process may. */
[[gnu::noinline]] void scribble_contribution(aries_fma_desc &desc, Source &source)
{
	desc.offset = source.below(4) | source.below(4) << 8 | (source.below(8) ? 0 : source.below(32) << 16);
	desc.local_offset &= ~uint64_t(7);
	desc.sync_value = source.below(4) ? 0 : source.value();
}

void doorbell(FakeHost &host, Source &source)
{
	const uint64_t base = source.below(source.below(16) ? 4 : 128) * ARIES_FMA_STRIDE;
	const unsigned int sizes[] = {1, 2, 4, 8};

	switch (source.below(8)) {
	case 7:
		doorbell_batch(host, source, base);
		break;
	case 6:
		scribble_contribution(host.desc(unsigned(base / ARIES_FMA_STRIDE)), source);
		aries_nic_write(host.nic(), 2, base + ARIES_FMA_DOORBELL, 8,
				uint64_t(ARIES_FMA_CE) << 32 | source.below(4) << 40 | source.below(0x40) << 48);
		break;
	case 0:
		aries_nic_write(host.nic(), 2, base + source.below(ARIES_FMA_STRIDE), sizes[source.below(4)],
				source.value());
		break;
	case 1:
		aries_nic_write(host.nic(), 2, base + ARIES_FMA_DOORBELL + ARIES_DB_BTE, 8, source.below(66));
		break;
	case 2:
		aries_nic_write(host.nic(), 2, base + ARIES_FMA_GET + source.below(8192) * 8, 8, source.value());
		break;
	default:
		aries_nic_write(host.nic(), 2, base + ARIES_FMA_DOORBELL, 8,
				source.below(2049) << 16 | source.below(13) << 32 | source.below(8) << 40 |
					(source.below(32) ? source.below(0x180) : source()) << 48);
		break;
	}
}

void control(FakeHost &host, Source &source)
{
	const Place &place = places()[source.below(places().size())];

	/* Trees that nearly make sense, among them cycles. */
	if (source.below(16) == 0) {
		const uint64_t engine = source.below(2);
		const uint64_t other = source.below(2) | source.below(2) << 18;

		host.write64(ARIES_CE_CTL_N(engine), 0);
		host.write64(ARIES_CE_PARENT_N(engine),
			     other | source.below(2) << 20 | (source.below(2) ? ARIES_CE_PARENT_VALID_MASK : 0));
		for (uint64_t i = 0; i < 2; i++)
			host.write64(ARIES_CE_CHILD_N(engine * ARIES_CE_CHILDREN + i),
				     source.below(2) | source.below(2) << 18 | (1 + source.below(2)) << 24);
		host.write64(ARIES_CE_CTL_N(engine), ARIES_CE_CTL_ENABLE_MASK | uint64_t(PTAG_A) << 8 |
							     uint64_t(OWNER) << 16 | (1 + source.below(2)) << 32);
	}
	/* Mostly leave the NIC enabled; a reset is rare. */
	if (place.offset == ARIES_CTL_CONTROL && source.below(64))
		return;
	if (source.below(3) == 0)
		aries_nic_read(host.nic(), 0, place.offset, source.below(8) ? place.size : 4);
	else
		aries_nic_write(host.nic(), 0, place.offset, place.size, source.value());
	if (source.below(16) == 0)
		aries_nic_write(host.nic(), 0, source.below(ARIES_BAR_REGS_SIZE + 64), 1u << source.below(4), source());
	host.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_ENABLE_MASK);
}

/* @ticks: this thread is the host's main loop as well; there is one */
void drive(FakeHost &host, uint64_t seed, unsigned int count, bool ticks)
{
	Source source(seed);

	for (unsigned int i = 0; i < count; i++) {
		scribble(host, source);
		if (source.below(8) == 0)
			control(host, source);
		else
			doorbell(host, source);
		if (ticks && i % 1000 == 0)
			host.main_loop();
	}
}

void works(Pair &p)
{
	memset(p.a.line(FMAD), 0x6b, 8);
	assert_int_equal(p.put(8, ARIES_EV_GLOBAL), 0);
	assert_int_equal(p.word(), 0x6b6b6b6b6b6b6b6b);
}

/* Windows and doorbells only: a process cannot reach what it has no right to. */
void test_process(void **)
{
	const char *text = getenv("ARIES_FUZZ_SEED");
	const uint64_t seed = text ? strtoull(text, nullptr, 0) : std::random_device()();
	Pair p;
	Source source(seed);
	const uint64_t fence = p.b.alloc(1 << 20);

	print_message("seed %llu\n", static_cast<unsigned long long>(seed));
	memset(p.b.ram(fence), 0x77, 1 << 20);
	for (unsigned int i = 0; i < accesses; i++) {
		scribble(p.a, source);
		doorbell(p.a, source);
		while (i % 16 == 0 && (p.a.next_event(20) || p.b.next_event(21)))
			;
	}
	for (uint64_t i = 0; i < 1 << 20; i++)
		assert_int_equal(*p.b.ram(fence + i), 0x77);
	p.a.desc(FMAD) = {};
	p.a.desc(FMAD).pe = 1;
	p.a.desc(FMAD).mdh = MDH;
	p.a.desc(FMAD).offset = BASE;
	p.a.desc(FMAD).cq = 20;
	works(p);
}

/* A guest's kernel gone mad, on both nodes at once, two threads each; then a reset. */
void test_guest(void **)
{
	const char *text = getenv("ARIES_FUZZ_SEED");
	const uint64_t seed = text ? strtoull(text, nullptr, 0) : std::random_device()();
	const std::string path = fabric_path();
	FakeHost a(path, 0), b(path, 1);
	std::vector<std::thread> threads;

	print_message("seed %llu\n", static_cast<unsigned long long>(seed));
	for (unsigned int t = 0; t < 4; t++)
		threads.emplace_back(drive, std::ref(t & 1 ? b : a), seed + t, accesses / 4, t < 2);
	for (std::thread &thread : threads)
		thread.join();
	for (FakeHost *host : {&a, &b}) {
		aries_nic_reset(host->nic());
		assert_int_equal(host->read(ARIES_CTL_STATUS, 4) & ARIES_CTL_STATUS_BUSY_MASK, 0);
		host->write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_ENABLE_MASK);
		host->set_key(3, 1);
		host->enable_fmad(1, 3, 1);
	}
	const uint64_t gpa = b.alloc(PAGE);

	b.make_mdd(1, 3, gpa, PAGE, 0);
	a.desc(1) = {};
	a.desc(1).pe = 1;
	a.desc(1).mdh = 1;
	assert_int_equal(a.ring(1, ARIES_FMA_PUT_LINE, 8), 0);
}

} // namespace

int main(int argc, char **argv)
{
	const CMUnitTest tests[] = {
		cmocka_unit_test(test_process),
		cmocka_unit_test(test_guest),
	};

	if (argc > 1)
		accesses = unsigned(strtoul(argv[1], nullptr, 0));
	return cmocka_run_group_tests(tests, nullptr, nullptr);
}
