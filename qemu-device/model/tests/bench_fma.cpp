/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Host nanoseconds of the model for single operations. Prints; asserts nothing about time. */
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "fabric/membership.hpp"
#include "tests/fake_host.hpp"

using namespace aries_test;

namespace
{

constexpr unsigned int ROUNDS = 20;

/* @parts: of one call, each of which is an operation */
template <typename F> void measure(const char *what, F &&call, unsigned int calls = 20000, unsigned int parts = 1)
{
	double best = 1e9;

	for (unsigned int r = 0; r < ROUNDS; r++) {
		const auto start = std::chrono::steady_clock::now();

		for (unsigned int i = 0; i < calls; i++)
			call();
		const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;

		best = std::min(best, took.count() / calls / parts);
	}
	printf("%-44s %8.1f ns\n", what, best);
}

/* Batches of puts, each an entry's time; to one place, over a page, and over all of the region of 4 MiB. */
void launches(FakeHost &a, uint32_t pe)
{
	auto *entry = reinterpret_cast<aries_launch_entry *>(a.line(1));

	for (uint64_t reach : {uint64_t(8), PAGE, uint64_t(4 << 20)}) {
		for (unsigned int count : {1u, 16u, 128u}) {
			char what[64];
			uint64_t random = 1;

			for (unsigned int i = 0; i < count; i++) {
				random = random * 6364136223846793005u + 1442695040888963407u;
				entry[i] = {((random >> 20) % reach & ~uint64_t(7)) | uint64_t(pe) << 40 |
						    uint64_t(ARIES_LAUNCH_PUT8) << 58,
					    random};
			}
			snprintf(what, sizeof(what), "launch %u puts of 8 B in %llu B, each", count,
				 static_cast<unsigned long long>(reach));
			measure(
				what, [&] { a.ring(1, ARIES_FMA_LAUNCH, count); }, 20000 / count, count);
		}
	}
}

/* Puts by a doorbell each from threads with a descriptor each, to places of their own: nothing of it is shared. */
void together(FakeHost &a, unsigned int count)
{
	constexpr unsigned int calls = 100000;
	double best = 1e9;

	for (unsigned int r = 0; r < ROUNDS; r++) {
		std::atomic<unsigned int> ready{0};
		std::vector<std::thread> threads;
		std::array<double, 4> took{};

		for (unsigned int t = 0; t < count; t++) {
			threads.emplace_back([&, t] {
				ready++;
				while (ready < count)
					;
				const auto start = std::chrono::steady_clock::now();

				for (unsigned int i = 0; i < calls; i++)
					a.ring(t + 1, ARIES_FMA_PUT_LINE, 8);
				took[t] = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() -
										   start)
						  .count();
			});
		}
		for (auto &thread : threads)
			thread.join();
		best = std::min(best, *std::max_element(took.begin(), took.end()) / calls);
	}
	printf("put 8 B, %u threads at once, one's                %8.1f ns\n", count, best);
}

/*
 * What a block put of @bytes cannot do without: the copy, one reading of the clock, and the locked instructions by
 * which it takes its descriptor, its channel and room in the buffer of outstanding requests, and visits either side.
 */
void block_floor(const void *from, void *to, uint64_t bytes)
{
	struct alignas(64) Line {
		std::atomic<uint64_t> word{0};
	};
	static std::array<Line, 9> locked;
	volatile uint64_t clock = 0;

	measure("floor of a block put 4 KiB", [&] {
		for (Line &line : locked)
			line.word.fetch_add(1);
		clock = aries::now_ns();
		memcpy(to, from, bytes);
	});
}

} // namespace

int main()
{
	const std::string path = fabric_path();
	FakeHost a(path, 0), b(path, 1);
	const uint64_t bytes = 4 << 20;
	const uint64_t target = b.alloc(bytes), local = a.alloc(bytes);

	a.set_key(3, 1);
	b.set_key(3, 1);
	a.enable_fmad(1, 3, 5);
	a.make_cq(0, 10, 5);
	b.make_mdd(1, 3, target, bytes, 0);
	a.make_mdd(2, 3, local, bytes, 0);
	aries_fma_desc &desc = a.desc(1);

	desc = {};
	desc.pe = 1;
	desc.mdh = 1;
	desc.local_mdh = 2;
	measure("null doorbell", [&] { a.store(1, ARIES_FMA_DOORBELL + ARIES_DB_NULL, 8, 0); });
	measure("put 8 B, no event", [&] { a.ring(1, ARIES_FMA_PUT_LINE, 8); });
	measure("put 8 B, global event", [&] {
		a.ring(1, ARIES_FMA_PUT_LINE, 8, ARIES_EV_GLOBAL);
		a.next_event(0);
	});
	desc.sync_offset = 4096;
	measure("put 24 B and a flag, local event", [&] {
		a.ring(1, ARIES_FMA_PUT_SYNC, 24, ARIES_EV_LOCAL);
		a.next_event(0);
	});
	measure("put 64 B, global event", [&] {
		a.ring(1, ARIES_FMA_PUT_LINE, 64, ARIES_EV_GLOBAL);
		a.next_event(0);
	});
	measure("put 2 KiB, global event", [&] {
		a.ring(1, ARIES_FMA_PUT_LINE, 2048, ARIES_EV_GLOBAL);
		a.next_event(0);
	});
	measure("get 64 B", [&] { a.ring(1, ARIES_FMA_GET_OP, 64); });
	measure("fetching add", [&] { a.ring(1, ARIES_FMA_AMO_OP, 8, 0, 0, 0x008); });
	a.enable_fmad(2, 3, 5);
	a.desc(2) = a.desc(1);
	a.desc(2).offset += 65536;
	together(a, 1);
	together(a, 2);
	launches(a, 1);
	aries_bte_desc &slot = a.slot(1, 0);

	slot = {};
	slot.pe = 1;
	slot.mdh = 1;
	slot.local_mdh = 2;
	slot.length = 4096;
	slot.op = ARIES_BTE_PUT;
	measure("block put 4 KiB", [&] { a.ring_bte(1, 0); });
	block_floor(a.ram(local), b.ram(target), slot.length);
	slot.length = 65536;
	measure(
		"block put 64 KiB", [&] { a.ring_bte(1, 0); }, 2000);
	slot.cq = 0;
	slot.mode = ARIES_EV_GLOBAL;
	for (uint32_t length : {256u << 10, 1u << 20, 4u << 20}) {
		char what[64];

		slot.length = length;
		snprintf(what, sizeof(what), "block put %u KiB, to its event", length >> 10);
		measure(
			what,
			[&] {
				a.ring_bte(1, 0);
				while (!a.next_event(0))
					;
			},
			50);
		snprintf(what, sizeof(what), "memcpy of %u KiB", length >> 10);
		measure(
			what, [&] { memcpy(b.ram(target), a.ram(local), length); }, 50);
	}
	return 0;
}
