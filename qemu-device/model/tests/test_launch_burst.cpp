/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Launch entries share what they cost; nothing else of them may differ from
 * single operations (N10). ARIES_FUZZ_SEED repeats a run.
 */
#include <algorithm>
#include <cstdlib>
#include <random>
#include <thread>

#include <unistd.h>

#include "tests/launch_job.hpp"

using namespace aries_test;

namespace
{

constexpr uint16_t ADD = 0x008, ADD_QUIET = 0x108, CACHED_ADD = 0x018, CACHED_ADD_QUIET = 0x118, CSWAP = 0x00d,
		   CSWAP_QUIET = 0x14b, SHORT_ADD = 0x254, SHORT_ADD_QUIET = 0x354, AX_SHORT_QUIET = 0x348,
		   FP_MAX = 0x05b, UNKNOWN = 0x3ff;
constexpr uint32_t PES = 40; /* virtual nodes, ten for each node: more than a burst has room for */
constexpr unsigned int NTT = 100, LANDING = 12, READ_ONLY = 3, LAZY = 2;

/** Two fabrics alike. On one everything is launched, on the other each entry is an operation of its own. */
struct Twins {
	Job launched, single;

	Twins()
	{
		for (Job *job : {&launched, &single}) {
			for (uint32_t pe = 0; pe < PES; pe++)
				job->a().write32(ARIES_NTT_ENTRY_N(uint64_t(NTT + pe)),
						 ARIES_NTT_ENTRY_VALID_MASK | pe % Job::NODES);
			job->a().enable_fmad(Job::FMAD, Job::PTAG, Job::OWNER,
					     ARIES_FMAD_CTL_NTT_MASK | ARIES_FMAD_CTL_CACHED_AMO_MASK |
						     uint64_t(NTT) << 32 | uint64_t(PES) << 48);
			/* Not at the start of a page, and the ring's memory is not part of it. */
			job->a().make_mdd(LANDING, Job::PTAG, job->local + 40, Job::LOCAL_BYTES - 40,
					  Job::LOCAL_BASE + 40);
			job->desc().local_mdh = LANDING;
			job->desc().local_offset = Job::LOCAL_BASE + 64;
			job->desc().operand[1] = 0x1234567;
		}
	}

	void read_only(unsigned int node, bool writable_pages)
	{
		for (Job *job : {&launched, &single}) {
			job->host(node).invalidate(Job::MDH);
			job->host(node).make_mdd(Job::MDH, Job::PTAG, job->target[node], Job::BYTES, Job::BASE,
						 ARIES_MDD_CTL_READ_ONLY_MASK, writable_pages);
		}
	}

	void lazy(unsigned int node)
	{
		for (Job *job : {&launched, &single}) {
			FakeHost &host = job->host(node);

			host.write32(ARIES_CTL_CONTROL, 0);
			host.write32(ARIES_AMO_CTL, ARIES_AMO_CTL_LAZY_MASK);
			host.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_ENABLE_MASK);
		}
	}

	/* The entry as an operation of a doorbell of its own. */
	uint32_t one(const aries_launch_entry &entry, uint32_t index)
	{
		const unsigned int kind = unsigned(entry.target >> ARIES_LAUNCH_KIND_SHIFT);
		const uint16_t amo = single.window().amo;
		const uint32_t bytes = kind == ARIES_LAUNCH_PUT4 || kind == ARIES_LAUNCH_GET4 ? 4 : 8;
		const uint32_t width = (amo & 0x240) == 0x240 ? 4 : 8;
		aries_fma_desc &desc = single.desc();
		const aries_fma_desc before = desc;
		uint32_t status;

		desc.pe = uint32_t(entry.target >> ARIES_LAUNCH_PE_SHIFT) & 0x3ffff;
		desc.offset = entry.target & MASK40;
		switch (kind) {
		case ARIES_LAUNCH_PUT8:
		case ARIES_LAUNCH_PUT4:
			memcpy(single.line(), &entry.value, 8);
			status = bytes == 4 && entry.value >> 32
					 ? uint32_t(ARIES_ST_RESERVED)
					 : single.a().ring(Job::FMAD, ARIES_FMA_PUT_LINE, bytes);
			break;
		case ARIES_LAUNCH_GET8:
		case ARIES_LAUNCH_GET4:
			desc.local_offset = entry.value;
			status = single.a().ring(Job::FMAD, ARIES_FMA_GET_OP, bytes);
			break;
		case ARIES_LAUNCH_AMO:
			desc.local_offset += uint64_t(index) * 8;
			desc.operand[0] = entry.value;
			status = amo == AX_SHORT_QUIET ? uint32_t(ARIES_ST_BAD_OP)
						       : single.a().ring(Job::FMAD, ARIES_FMA_AMO_OP, width, 0, 0, amo);
			break;
		default:
			status = ARIES_ST_BAD_OP;
		}
		desc = before;
		return status;
	}

	/* Both ways of the same entries. Return: the status. */
	uint32_t play(const std::vector<aries_launch_entry> &entries, uint16_t amo, bool ring)
	{
		uint32_t index = 0, status = 0;

		launched.window().amo = single.window().amo = amo;
		for (; index < entries.size(); index++) {
			status = one(entries[index], index);
			if (status)
				break;
		}
		memcpy(ring ? launched.ring() : launched.line(), entries.data(), entries.size() * sizeof(entries[0]));
		const auto count = unsigned(entries.size());

		assert_int_equal(ring ? launched.launch_ring(count, ARIES_EV_GLOBAL)
				      : launched.launch(count, ARIES_EV_GLOBAL),
				 status);
		assert_int_equal(launched.done(), index);
		assert_int_equal(launched.a().next_event(Job::CQ).status(), status);
		return status;
	}

	void compare()
	{
		for (unsigned int n = 0; n < Job::NODES; n++) {
			assert_memory_equal(launched.host(n).ram(launched.target[n]),
					    single.host(n).ram(single.target[n]), Job::BYTES);
			for (unsigned int c : {ARIES_CNT_RX_REQUESTS, ARIES_CNT_RX_REFUSED, ARIES_CNT_AMO_CACHE_HITS,
					       ARIES_CNT_AMO_CACHE_MISSES})
				assert_int_equal(launched.host(n).counter(c), single.host(n).counter(c));
		}
		assert_memory_equal(launched.a().ram(launched.local), single.a().ram(single.local), Job::LOCAL_BYTES);
		for (unsigned int c : {ARIES_CNT_FMA_PUTS, ARIES_CNT_FMA_GETS, ARIES_CNT_FMA_AMOS,
				       ARIES_CNT_REQ_PACKETS, ARIES_CNT_REQ_FLITS, ARIES_CNT_RSP_PACKETS,
				       ARIES_CNT_RSP_FLITS, ARIES_CNT_LATENCY_OPS, ARIES_CNT_TIMEOUTS})
			assert_int_equal(launched.a().counter(c), single.a().counter(c));
	}
};

class Player
{
public:
	explicit Player(uint64_t seed) : random_(seed) {}

	uint64_t below(uint64_t n) { return random_() % n; }

	aries_launch_entry entry(unsigned int kind, unsigned int align, uint32_t pes = PES)
	{
		const uint64_t at = below(3) ? below(Job::BYTES - 8) : below(64);
		uint64_t value = random_();

		if (kind == ARIES_LAUNCH_PUT4)
			value &= UINT32_MAX;
		if (kind == ARIES_LAUNCH_GET8 || kind == ARIES_LAUNCH_GET4)
			value = Job::LOCAL_BASE + 40 + below(Job::LOCAL_BYTES - 48);
		return launch_entry(kind, uint32_t(below(pes)), Job::BASE + at / align * align, value);
	}

	/* Mostly of one kind, or of all kinds. */
	std::vector<aries_launch_entry> entries(uint16_t amo, uint32_t count)
	{
		static constexpr unsigned int GET_ALIGN = 4;
		const unsigned int usual = unsigned(below(6));
		const unsigned int amo_align = (amo & 0x240) == 0x240 ? 4 : 8;
		std::vector<aries_launch_entry> list;

		while (list.size() < count) {
			const unsigned int kind = usual && below(16) ? usual : unsigned(1 + below(5));

			list.push_back(entry(kind, kind <= ARIES_LAUNCH_PUT4  ? 1
						   : kind == ARIES_LAUNCH_AMO ? amo_align
									      : GET_ALIGN));
		}
		return list;
	}

	/*
	 * Entries that all succeed; to the read-only node only gets. Of that node, and of the end of a region, a page
	 * is known when somebody wants more than he may.
	 */
	std::vector<aries_launch_entry> good(uint32_t count, uint32_t pes)
	{
		std::vector<aries_launch_entry> list;

		while (list.size() < count) {
			const auto kind = unsigned(1 + list.size() % 5);
			const bool get = kind == ARIES_LAUNCH_GET8 || kind == ARIES_LAUNCH_GET4;
			const aries_launch_entry one = entry(kind, 8, pes);

			if (get || (one.target >> ARIES_LAUNCH_PE_SHIFT & 0x3ffff) % Job::NODES != READ_ONLY)
				list.push_back(one);
		}
		list[0] = launch_entry(ARIES_LAUNCH_GET8, READ_ONLY, Job::BASE, Job::LOCAL_BASE + 64);
		list[1] = launch_entry(ARIES_LAUNCH_GET8, 1, Job::BASE + Job::BYTES - 8,
				       Job::LOCAL_BASE + Job::LOCAL_BYTES - 8);
		list[2] = launch_entry(ARIES_LAUNCH_PUT8, 1, Job::BASE + Job::BYTES - 8, random_());
		return list;
	}

private:
	std::mt19937_64 random_;
};

uint64_t seed()
{
	const char *text = getenv("ARIES_FUZZ_SEED");
	const uint64_t value = text ? strtoull(text, nullptr, 0) : std::random_device()();

	print_message("seed %llu\n", static_cast<unsigned long long>(value));
	return value;
}

constexpr uint16_t COMMANDS[] = {ADD,       ADD_QUIET,       CACHED_ADD,     CACHED_ADD_QUIET, CSWAP,
				 SHORT_ADD, SHORT_ADD_QUIET, AX_SHORT_QUIET, FP_MAX,           UNKNOWN};

/* Nodes of all sorts: our own, one that is lazy, one that is read-only. */
TEST(as_single_operations_N10)
{
	Player player(seed());
	Twins twins;

	for (unsigned int round = 0; round < 400; round++) {
		const uint16_t amo = COMMANDS[player.below(std::size(COMMANDS))];
		const bool ring = player.below(2);

		if (round == 200)
			twins.lazy(LAZY);
		if (round == 300)
			twins.read_only(READ_ONLY, false);
		twins.play(player.entries(amo, uint32_t(1 + player.below(ring ? 400 : 128))), amo, ring);
		if (round % 20 == 0)
			twins.compare();
	}
	twins.compare();
}

/* One that fails among others that do not, at every place that matters, ends them alike. */
TEST(failure_in_the_middle)
{
	constexpr uint64_t END = Job::BASE + Job::BYTES, LOCAL_END = Job::LOCAL_BASE + Job::LOCAL_BYTES;
	const struct {
		aries_launch_entry entry;
		uint8_t status;
	} bad[] = {
		{launch_entry(ARIES_LAUNCH_GET8, 1, END - 4, Job::LOCAL_BASE + 64), ARIES_ST_BOUNDS},
		{launch_entry(ARIES_LAUNCH_GET4, 1, END, Job::LOCAL_BASE + 64), ARIES_ST_BOUNDS},
		{launch_entry(ARIES_LAUNCH_GET8, 1, Job::BASE - 8, Job::LOCAL_BASE + 64), ARIES_ST_BOUNDS},
		{launch_entry(ARIES_LAUNCH_GET8, 1, Job::BASE, LOCAL_END - 7), ARIES_ST_LOCAL_BOUNDS},
		{launch_entry(ARIES_LAUNCH_GET4, 1, Job::BASE, LOCAL_END - 3), ARIES_ST_LOCAL_BOUNDS},
		{launch_entry(ARIES_LAUNCH_GET8, 1, Job::BASE, Job::LOCAL_BASE + 39), ARIES_ST_LOCAL_BOUNDS},
		{launch_entry(ARIES_LAUNCH_GET8, 1, Job::BASE, uint64_t(1) << 40 | (Job::LOCAL_BASE + 64)),
		 ARIES_ST_RESERVED},
		{launch_entry(ARIES_LAUNCH_GET8, 1, Job::BASE + 2, Job::LOCAL_BASE + 64), ARIES_ST_ALIGN},
		{launch_entry(ARIES_LAUNCH_GET8, PES, Job::BASE, Job::LOCAL_BASE + 64), ARIES_ST_NTT},
		{launch_entry(ARIES_LAUNCH_AMO, 1, END, 1), ARIES_ST_BOUNDS},
		{launch_entry(ARIES_LAUNCH_AMO, 1, Job::BASE + 4, 1), ARIES_ST_ALIGN},
		{launch_entry(ARIES_LAUNCH_AMO, PES, Job::BASE, 1), ARIES_ST_NTT},
		{launch_entry(ARIES_LAUNCH_AMO, READ_ONLY, Job::BASE, 1), ARIES_ST_ACCESS},
		{launch_entry(ARIES_LAUNCH_PUT8, READ_ONLY, Job::BASE, 1), ARIES_ST_ACCESS},
		{launch_entry(ARIES_LAUNCH_PUT8, 1, END - 7, 1), ARIES_ST_BOUNDS},
		{launch_entry(ARIES_LAUNCH_PUT4, 1, Job::BASE, uint64_t(1) << 32), ARIES_ST_RESERVED},
		{launch_entry(0, 1, Job::BASE, 1), ARIES_ST_BAD_OP},
		{launch_entry(6, 1, Job::BASE, 1), ARIES_ST_BAD_OP},
	};
	/* Of few targets a burst keeps what it knows, of many it has to begin anew. */
	for (bool few : {false, true}) {
		Player player(1);
		Twins twins;

		twins.read_only(READ_ONLY, few);
		for (const auto &one : bad) {
			for (uint32_t at : {0u, 1u, 64u, 126u, 127u}) {
				std::vector<aries_launch_entry> list = player.good(128, few ? 12 : PES);

				list[at] = one.entry;
				const uint32_t status = twins.play(list, ADD, at % 2);

				if (status != one.status)
					print_message("%#llx at %u\n",
						      static_cast<unsigned long long>(one.entry.target), at);
				assert_int_equal(status, one.status);
				assert_int_equal(twins.launched.done(), at);
				twins.compare();
			}
		}
	}
}

/* What the descriptor says about atomics and landings. */
TEST(descriptor_of_fetches)
{
	Twins twins;
	Player player(2);
	auto both = [&](auto change) {
		change(twins.launched.desc());
		change(twins.single.desc());
	};
	const std::vector<aries_launch_entry> adds(3, launch_entry(ARIES_LAUNCH_AMO, 1, Job::BASE + 8, 5));
	const std::vector<aries_launch_entry> gets(
		3, launch_entry(ARIES_LAUNCH_GET8, 1, Job::BASE + 8, Job::LOCAL_BASE + 72));
	using Desc = aries_fma_desc &;

	assert_int_equal(twins.play(adds, ADD, false), 0);
	both([](Desc d) { d.local_offset += 4; });
	assert_int_equal(twins.play(adds, ADD, false), ARIES_ST_LOCAL_ALIGN);
	assert_int_equal(twins.play(adds, ADD_QUIET, false), 0);
	assert_int_equal(twins.play({launch_entry(ARIES_LAUNCH_AMO, 1, Job::BASE + 4, 5)}, SHORT_ADD, false), 0);
	assert_int_equal(twins.play(gets, ADD, false), 0);
	/* The second operand: what was found to be the first is replaced by it. */
	assert_int_equal(twins.play({launch_entry(ARIES_LAUNCH_AMO, 2, Job::BASE + 16, 0)}, CSWAP_QUIET, false), 0);
	assert_int_equal(twins.launched.word(2, 16), 0x1234567);
	both([](Desc d) { d.local_offset = Job::LOCAL_BASE + Job::LOCAL_BYTES - 16; });
	assert_int_equal(twins.play(adds, ADD, false), ARIES_ST_LOCAL_BOUNDS);
	assert_int_equal(twins.launched.done(), 2);
	both([](Desc d) { d.local_mdh = 13; });
	assert_int_equal(twins.play(gets, ADD, false), ARIES_ST_LOCAL_MDD);
	assert_int_equal(twins.play(adds, ADD, false), ARIES_ST_LOCAL_MDD);
	assert_int_equal(twins.play(adds, ADD_QUIET, false), 0);
	for (Job *job : {&twins.launched, &twins.single})
		job->a().make_mdd(13, Job::PTAG, job->local, Job::LOCAL_BYTES, Job::LOCAL_BASE,
				  ARIES_MDD_CTL_READ_ONLY_MASK, false);
	assert_int_equal(twins.play(gets, ADD, false), ARIES_ST_LOCAL_ACCESS);
	for (Job *job : {&twins.launched, &twins.single})
		job->a().enable_fmad(Job::FMAD, Job::PTAG, Job::OWNER);
	assert_int_equal(twins.play(adds, CACHED_ADD_QUIET, false), ARIES_ST_BAD_OP);
	twins.compare();
}

/* Two tags on one node: the entries of the one that may go on, those of the other do not. */
TEST(tags_do_not_mix)
{
	Job job;
	aries_launch_entry *other = reinterpret_cast<aries_launch_entry *>(job.a().line(2));

	job.a().set_key(30, 78);
	job.a().make_mdd(LANDING, 30, job.a().alloc(PAGE), PAGE, 0);
	job.a().enable_fmad(2, 30, Job::OWNER);
	job.a().desc(2) = job.desc();
	job.a().window(2).amo = job.window().amo = ADD;
	for (unsigned int kind : {ARIES_LAUNCH_PUT8, ARIES_LAUNCH_GET8, ARIES_LAUNCH_AMO}) {
		const bool lands = kind != ARIES_LAUNCH_PUT8;

		for (unsigned int i = 0; i < 16; i++)
			job.line()[i] = other[i] = launch_entry(kind, 1 + i % 3, Job::BASE + 8, Job::LOCAL_BASE);
		assert_int_equal(job.launch(16), 0);
		/* Memory of the other tag here, then at the target. */
		job.a().desc(2).local_mdh = Job::LOCAL_MDH;
		assert_int_equal(job.a().ring(2, ARIES_FMA_LAUNCH, 16), lands ? ARIES_ST_LOCAL_PTAG : ARIES_ST_PTAG);
		assert_int_equal(job.a().done(2), 0);
		job.a().desc(2).local_mdh = LANDING;
		job.a().desc(2).local_offset = 0;
		for (unsigned int i = 0; i < 16; i++)
			other[i].value = 0;
		assert_int_equal(job.a().ring(2, ARIES_FMA_LAUNCH, 16), ARIES_ST_PTAG);
		assert_int_equal(job.a().done(2), 0);
	}
}

/* Two processors that add to the same words: nothing is lost, no two get the same old value. */
TEST(adds_of_two_processors)
{
	constexpr uint64_t ROUNDS = 200, WORDS = 4;
	Job job;
	std::vector<std::thread> threads;
	std::vector<uint64_t> old[3];

	job.a().enable_fmad(2, Job::PTAG, Job::OWNER);
	job.a().desc(2) = job.desc();
	job.a().desc(2).local_offset += 8192;
	job.a().window(1).amo = job.a().window(2).amo = ADD;
	for (unsigned int index : {1u, 2u})
		threads.emplace_back([&, index] {
			auto *entry = reinterpret_cast<aries_launch_entry *>(job.a().line(index));

			for (uint64_t i = 0; i < 128; i++)
				entry[i] = launch_entry(ARIES_LAUNCH_AMO, uint32_t(1 + i % 3),
							Job::BASE + i % WORDS * 8, 1);
			for (uint64_t round = 0; round < ROUNDS; round++) {
				assert_int_equal(job.a().ring(index, ARIES_FMA_LAUNCH, 128), 0);
				for (uint64_t i = 0; i < 128; i += 3 * WORDS)
					old[index].push_back(job.fetched((index - 1) * 8192 + i * 8));
			}
		});
	for (std::thread &thread : threads)
		thread.join();
	uint64_t sum = 0;

	for (unsigned int n = 1; n < Job::NODES; n++)
		for (uint64_t w = 0; w < WORDS; w++)
			sum += job.word(n, w * 8);
	assert_int_equal(sum, 2 * ROUNDS * 128);
	old[0] = old[1];
	old[0].insert(old[0].end(), old[2].begin(), old[2].end());
	std::sort(old[0].begin(), old[0].end());
	assert_true(std::adjacent_find(old[0].begin(), old[0].end()) == old[0].end());
}

/* Once the landing's region is invalid no get of a batch under way writes there any more; nor where it read. */
TEST(landing_goes_away)
{
	Job job;
	const uint64_t place = job.a().alloc(2 * PAGE);
	std::atomic<bool> stop{false};
	unsigned int landed = 0;

	memset(job.host(1).ram(job.target[1]), 0xff, Job::BYTES);
	job.a().make_mdd(LANDING, Job::PTAG, place, 2 * PAGE, 0);
	job.desc().local_mdh = LANDING;
	for (uint32_t i = 0; i < 4000; i++)
		job.ring()[i] = launch_entry(ARIES_LAUNCH_GET8, 1, Job::BASE + i % 2000 * 8, i % 1000 * 8);
	std::thread thread([&job, &stop] {
		while (!stop) {
			const uint32_t status = job.launch_ring(4000);

			assert_true(status == ARIES_ST_OK || status == ARIES_ST_LOCAL_MDD);
		}
	});
	for (unsigned int round = 0; round < 100; round++) {
		const uint8_t *first = job.a().ram(place);

		for (unsigned int i = 0; i < 1000 && !__atomic_load_n(first, __ATOMIC_RELAXED); i++)
			usleep(10);
		landed += __atomic_load_n(first, __ATOMIC_RELAXED) != 0;
		assert_true(job.a().invalidate(LANDING));
		memset(job.a().ram(place), 0, 2 * PAGE);
		usleep(200);
		for (uint64_t at = 0; at < 2 * PAGE; at++)
			assert_int_equal(first[at], 0);
		job.a().make_mdd(LANDING, Job::PTAG, place, 2 * PAGE, 0);
	}
	stop = true;
	thread.join();
	assert_true(landed > 0);
}

/* L15, L16: the unit of the target takes atomics as fast as they are launched, and is done with the last a little
 * later. */
TEST(time_of_atomics_L15_L16)
{
	Job job;
	auto latency = [&](unsigned int kind, uint16_t amo, unsigned int count) {
		job.window().amo = amo;
		for (unsigned int i = 0; i < count; i++)
			job.line()[i] = launch_entry(kind, 1, Job::BASE + i % 16 * 8, Job::LOCAL_BASE);
		usleep(100); /* whatever was booked before is over */
		assert_int_equal(job.launch(count), 0);
		return job.a().counter(ARIES_CNT_LATENCY_LAST_NS);
	};

	job.a().enable_fmad(Job::FMAD, Job::PTAG, Job::OWNER, ARIES_FMAD_CTL_CACHED_AMO_MASK);
	latency(ARIES_LAUNCH_PUT8, 0, 1); /* the translation */
	latency(ARIES_LAUNCH_AMO, CACHED_ADD_QUIET, 128);
	for (unsigned int count : {1u, 128u}) {
		const uint64_t put = latency(ARIES_LAUNCH_PUT8, 0, count);

		/* 8.33 ns and 2.5 ns, in whole ones. */
		assert_int_equal(latency(ARIES_LAUNCH_AMO, ADD_QUIET, count), put + 9);
		assert_int_equal(latency(ARIES_LAUNCH_AMO, CACHED_ADD_QUIET, count), put + 3);
	}
	/* As fast as the NIC launches (L12). */
	const uint64_t one = latency(ARIES_LAUNCH_PUT8, 0, 1), many = latency(ARIES_LAUNCH_PUT8, 0, 128);

	assert_in_range(many - one, 127 * 833 / 100, 128 * 834 / 100);
	const uint64_t get = latency(ARIES_LAUNCH_GET8, 0, 1);

	assert_true(get > one);
	/* One entry takes as long as an operation by itself. */
	job.desc().offset = Job::BASE;
	usleep(100);
	assert_int_equal(job.a().ring(Job::FMAD, ARIES_FMA_GET_OP, 8), 0);
	assert_int_equal(job.a().counter(ARIES_CNT_LATENCY_LAST_NS), get);
	for (uint16_t amo : {ADD, ADD_QUIET, CACHED_ADD}) {
		const uint64_t launched = latency(ARIES_LAUNCH_AMO, amo, 1);

		usleep(100);
		assert_int_equal(job.a().ring(Job::FMAD, ARIES_FMA_AMO_OP, 8, 0, 0, amo), 0);
		assert_int_equal(job.a().counter(ARIES_CNT_LATENCY_LAST_NS), launched);
	}
	assert_in_range(latency(ARIES_LAUNCH_GET8, 0, 128) - get, 127 * 833 / 100 - 10, 128 * 834 / 100 + 10);
}

} // namespace

TEST_MAIN("launch in bursts")
