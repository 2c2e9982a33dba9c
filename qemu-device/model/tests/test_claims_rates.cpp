/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rates that are promised of the NIC, in modelled time: each test is named after the claim that it checks. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fabric/membership.hpp"
#include "link/timing.hpp"
#include "netlink/network.hpp"
#include "tests/launch_job.hpp"
#include "tests/pair.hpp"

using namespace aries_test;

namespace
{

constexpr uint64_t REGION = 8 << 20;
constexpr double NIC_RATE = 10.24; /* bytes in a nanosecond: 64 in five cycles of 800 MHz */
constexpr unsigned int FADD = 0x008, FADD_C = 0x018, ADD_C = 0x118;

/** Two NICs of a machine of @p nodes, the second one at @p node, with regions for long block transfers. */
struct Stream {
	static constexpr unsigned int NEAR = 100, FAR = 101;

	std::string path = fabric_path();
	FakeHost a, b;
	uint32_t there;

	explicit Stream(uint32_t nodes = 2, uint32_t node = 1)
		: a(path, 0, {.nodes = nodes}), b(path, node, {.nodes = nodes}), there(node)
	{
		a.set_key(PTAG_A, KEY);
		b.set_key(PTAG_B, KEY);
		a.enable_fmad(FMAD, PTAG_A, OWNER);
		a.make_cq(20, 6, OWNER);
		a.make_mdd(NEAR, PTAG_A, a.alloc(REGION), REGION, BASE);
		b.make_mdd(FAR, PTAG_B, b.alloc(REGION), REGION, BASE);
	}

	/** Modelled time of one block transfer, from the doorbell until all of it is in memory. */
	uint64_t run(unsigned int op, uint64_t bytes, unsigned int dlvr_mode = 0)
	{
		const uint64_t before = a.counter(ARIES_CNT_LATENCY_NS);
		aries_bte_desc &d = a.slot(FMAD, 0);

		d = {};
		d.pe = there;
		d.mdh = FAR;
		d.local_mdh = NEAR;
		d.offset = d.local_offset = BASE;
		d.length = uint32_t(bytes);
		d.cq = 20;
		d.op = uint8_t(op);
		d.mode = ARIES_EV_GLOBAL;
		d.dlvr_mode = uint16_t(dlvr_mode);
		assert_int_equal(a.ring_bte(FMAD, 0), ARIES_ST_OK);
		const Event event = a.wait_event(20, 20000);

		assert_true(bool(event));
		assert_int_equal(event.status(), ARIES_ST_OK);
		return a.counter(ARIES_CNT_LATENCY_NS) - before;
	}
	double rate(unsigned int op, uint64_t bytes, unsigned int dlvr_mode = 0)
	{
		return double(bytes) / double(run(op, bytes, dlvr_mode));
	}
};

/* L08: 64 bytes in five cycles, so a long stream comes to 10.24 GB/s, and no transfer is faster. */
TEST(l08_nic_takes_64_bytes_in_5_cycles)
{
	for (unsigned int op : {ARIES_BTE_PUT, ARIES_BTE_GET}) {
		/* Of one burst, one chunk, several, and more than one thread would carry. */
		for (uint64_t bytes : {uint64_t(65536), uint64_t(1 << 20), uint64_t(3 << 20), REGION}) {
			Stream s;
			const uint64_t ns = s.run(op, bytes), quiet = op == ARIES_BTE_PUT ? 790 : 1590;

			assert_in_range(ns, bytes * 100 / 1024 + quiet, bytes * 100 / 1024 + quiet + 50);
		}
	}
}

/* L08: so does each of many, one after the other, though the host may be faster and the network still busy. */
TEST(l08_transfers_do_not_wait_for_those_before)
{
	for (unsigned int op : {ARIES_BTE_PUT, ARIES_BTE_GET}) {
		Stream s;
		const uint64_t quiet = op == ARIES_BTE_PUT ? 790 : 1590;

		for (unsigned int n = 0; n < 60; n++) {
			const uint64_t bytes = n % 3 ? 1 << 20 : 256 << 10, ns = s.run(op, bytes);

			assert_in_range(ns, bytes * 100 / 1024 + quiet - 50, bytes * 100 / 1024 + quiet + 50);
		}
		for (unsigned int n = 0; n < 500; n++)
			assert_in_range(s.run(op, 4096), quiet - 50, 400 + quiet + 50);
	}
}

/* L08: an FMA operation of many packets keeps to it as well. */
TEST(l08_fma_keeps_to_the_nics_rate)
{
	Pair p;
	auto latency = [&](unsigned int op, unsigned int bytes) {
		assert_int_equal(p.a.ring(FMAD, op, bytes), ARIES_ST_OK);
		const uint64_t ns = p.a.counter(ARIES_CNT_LATENCY_LAST_NS);

		usleep(100);
		return ns;
	};
	const uint64_t put8 = latency(ARIES_FMA_PUT_LINE, 8), get8 = latency(ARIES_FMA_GET_OP, 8);

	assert_in_range(latency(ARIES_FMA_PUT_LINE, 2048), put8 + 31 * 25 / 4, put8 + 32 * 25 / 4 + 5);
	assert_in_range(latency(ARIES_FMA_GET_OP, 65472), get8 + 1022 * 25 / 4 - 5, get8 + 1023 * 25 / 4 + 10);
}

/* When the last of @packets has passed its NIC. */
uint64_t stream_tail(aries::NicPace &from, aries::NicPace &to, uint64_t packets, uint64_t ticks, uint64_t at)
{
	return aries::book_stream(from, to, packets, ticks, at) + packets * ticks;
}

/* L08: what several engines send at once shares the rate. */
TEST(l08_streams_share_the_nics_rate)
{
	auto nic = std::make_unique<aries::NicPace[]>(3);
	uint64_t last = 0;

	/* Two targets, two threads. */
	for (unsigned int burst = 0; burst < 200; burst++)
		last = std::max(last, stream_tail(nic[0], nic[1 + burst % 2], 1024, aries::INJECT_TICKS, 5000));
	assert_int_equal(last, 5000 + 200 * 1024 * aries::INJECT_TICKS);
	assert_int_equal(uint64_t(200) * 65536 * 100 * aries::TICKS_PER_NS / (last - 5000), 1024);
	/* To itself a NIC sends as fast: its data is booked once. */
	nic = std::make_unique<aries::NicPace[]>(1);
	for (unsigned int burst = 0; burst < 200; burst++)
		last = stream_tail(nic[0], nic[0], 1024, aries::INJECT_TICKS, 5000);
	assert_int_equal(last, 5000 + 200 * 1024 * aries::INJECT_TICKS);
}

/* L09: up to 10 GB/s in one direction, the more the longer the transfer. */
TEST(l09_unidirectional_bandwidth_is_10_gb_per_s)
{
	double last = 0;

	for (uint64_t bytes = 64; bytes <= REGION; bytes *= 4) {
		Stream s;
		const double rate = s.rate(ARIES_BTE_PUT, bytes);

		assert_true(rate > last && rate < NIC_RATE);
		last = rate;
	}
	assert_true(last > 0.998 * NIC_RATE); /* 8 MiB take 790 ns more than their packets */
}

/* L09 counts for the NIC: a single link on the way, without detours, leaves 0.64 of its 5.25 GB/s (P06). */
TEST(l09_one_link_is_slower_than_the_nic)
{
	constexpr unsigned int IN_ORDER = 0x0003;
	Stream s(8, 4);
	const double rate = s.rate(ARIES_BTE_PUT, REGION, IN_ORDER);

	assert_true(rate > 3.55 && rate < 3.61);
}

/* L10: streams both ways come to 15 GB/s at a NIC, 7.5 each; also if each goes to a node of its own. */
TEST(l10_bidirectional_bandwidth_is_15_gb_per_s)
{
	constexpr uint64_t BURSTS = 500, PACKETS = 1024;

	for (unsigned int there : {1u, 2u}) {
		auto nic = std::make_unique<aries::NicPace[]>(3);
		uint64_t out = 0, in = 0;

		for (unsigned int burst = 0; burst < BURSTS; burst++) {
			out = stream_tail(nic[0], nic[1], PACKETS, aries::INJECT_TICKS, 0);
			in = stream_tail(nic[there], nic[0], PACKETS, aries::INJECT_TICKS, 0);
		}
		for (uint64_t ticks : {out, in}) {
			const double rate = double(BURSTS * PACKETS * 64) * aries::TICKS_PER_NS / double(ticks);

			assert_true(rate > 7.45 && rate < 7.55);
		}
	}
}

/** The network's memory of a fabric, as a member sees it. */
class Shared
{
public:
	explicit Shared(const std::string &path)
	{
		const int fd = open(path.c_str(), O_RDWR);
		struct stat st;

		assert_true(fd >= 0 && fstat(fd, &st) == 0);
		size_ = size_t(st.st_size);
		base_ = static_cast<uint8_t *>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
		assert_true(base_ != MAP_FAILED);
		close(fd);
		const auto *head = reinterpret_cast<const aries::SegmentHeader *>(base_);

		network_ = std::make_unique<aries::Network>(
			aries::DragonflyShape{head->nodes, head->routers_per_chassis, head->chassis_per_group},
			base_ + aries::SEGMENT_NODES_OFFSET + head->nodes * head->node_stride);
	}
	~Shared() { munmap(base_, size_); }
	/** Something keeps a NIC busy for @ns from now on. */
	static void keep(aries::TileState &tile, uint64_t ns) { tile.busy = aries::ns_to_ticks(aries::now_ns() + ns); }
	aries::NicPace &nic(uint32_t node) { return network_->pace(node); }
	/** The longest time for which a tile is booked that NICs 0 and 1 send through. */
	uint64_t inject_load(uint64_t now) const
	{
		uint64_t load = 0;

		for (uint32_t tile = 0; tile < 4; tile++)
			load = std::max(load, network_->load_ns(0, aries::FIRST_INJECT + tile, now));
		return load;
	}

private:
	uint8_t *base_;
	size_t size_;
	std::unique_ptr<aries::Network> network_;
};

/* A response takes its time of the tiles from the issue of its request on, and closes none until it comes. */
TEST(general_way_closes_no_tile)
{
	constexpr unsigned int IN_ORDER = 0x0003; /* not the short way of neighbours */
	Pair p;
	Shared shared(p.path);

	p.desc().dlvr_mode = IN_ORDER;
	for (unsigned int n = 0; n < 500; n++) {
		assert_int_equal(p.put(8), ARIES_ST_OK);
		assert_true(shared.inject_load(aries::now_ns()) <= aries::SEND_NS + 50);
	}
}

/* L08, L10: long transfers wait for what the NICs at both ends are doing, in the direction that counts. */
TEST(l10_transfers_wait_for_both_nics)
{
	constexpr uint64_t WAIT = 1000000000, BYTES = 65536;

	for (uint32_t far : {0u, 1u}) {
		for (unsigned int op : {ARIES_BTE_PUT, ARIES_BTE_GET}) {
			const bool sends = (op == ARIES_BTE_PUT) != far;
			Stream s;
			Shared shared(s.path);
			auto waits = [&] { return s.run(op, BYTES) > WAIT / 2; };

			assert_false(waits());
			Shared::keep(shared.nic(far).inject, WAIT);
			assert_int_equal(waits(), sends);
			shared.nic(far).inject.busy = 0;
			shared.nic(0).data.busy = shared.nic(1).data.busy = 0;
			usleep(1000);
			assert_false(waits());
			/* The channel has sent what it had a WAIT from now. */
			Shared::keep(shared.nic(far).data, 2 * WAIT);
			assert_true(waits());
		}
	}
}

/* L15: atomics wait for the unit of their target, and for no other. */
TEST(l15_atomics_wait_for_the_unit)
{
	constexpr uint64_t WAIT = 1000000000;

	Pair p;
	Shared shared(p.path);
	auto waits = [&] {
		assert_int_equal(p.amo(FADD, 1), ARIES_ST_OK);
		return p.a.counter(ARIES_CNT_LATENCY_LAST_NS) > WAIT / 2;
	};

	Shared::keep(shared.nic(0).amo, WAIT);
	assert_false(waits());
	Shared::keep(shared.nic(1).amo, WAIT);
	assert_true(waits());
}

/* L08: of what is sent at once only a single packet passes by a NIC that is busy sending; others wait for their turn.
 */
TEST(l08_short_streams_wait_for_the_nic)
{
	constexpr uint64_t WAIT = 1000000000;

	Pair p;
	Shared shared(p.path);
	auto waits = [&](unsigned int bytes) {
		Shared::keep(shared.nic(0).inject, WAIT);
		assert_int_equal(p.put(bytes), ARIES_ST_OK);
		return p.a.counter(ARIES_CNT_LATENCY_LAST_NS) > WAIT / 2;
	};

	assert_false(waits(64));
	assert_true(waits(65));
	assert_true(waits(2048));
}

/* L12: launched puts leave a NIC 120 million times a second, whoever they are for. */
TEST(l12_launch_rate_is_120_million_per_s)
{
	Job job;
	auto last = [&](unsigned int entries) {
		for (unsigned int i = 0; i < entries; i++)
			job.line()[i] = {(Job::BASE + 8 * i) | uint64_t(1) << ARIES_LAUNCH_PE_SHIFT |
						 uint64_t(ARIES_LAUNCH_PUT8) << ARIES_LAUNCH_KIND_SHIFT,
					 i};
		usleep(100);
		assert_int_equal(job.launch(entries), ARIES_ST_OK);
		return job.a().counter(ARIES_CNT_LATENCY_LAST_NS);
	};
	const uint64_t two = last(2), all = last(128);

	assert_in_range((all - two) * 100 / 126, 825, 840);
}

/* L12, L16: the unit is done with launched atomics right behind the last one, and waits for nobody in between. */
TEST(l16_unit_keeps_up_with_launches)
{
	Job job;
	Shared shared(job.path);
	auto add = [&](unsigned int entries) {
		for (unsigned int i = 0; i < entries; i++)
			job.line()[i] = launch_entry(ARIES_LAUNCH_AMO, 1, Job::BASE + 8 * i, 1);
		assert_int_equal(job.launch(entries), ARIES_ST_OK);
	};

	job.window().amo = 0x100 | FADD;
	add(1); /* the translation is there */
	usleep(100);
	add(128);
	uint64_t done = 0;

	for (const aries::TileState &lane : shared.nic(1).amo_lane)
		done = std::max(done, lane.busy.load());
	const uint64_t last = aries::ticks_to_ns(shared.nic(0).inject.busy) + aries::ROUTER_NS;

	assert_int_equal(done, aries::ns_to_ticks(last) + aries::AMO_MISS_TICKS);
	/* A unit that is busy is waited for. */
	Shared::keep(shared.nic(1).amo, 1000000000);
	add(16);
	assert_true(job.a().counter(ARIES_CNT_LATENCY_LAST_NS) > 500000000);
}

/* L15: 400 million atomics in a second on words of the cache, of all threads together. */
TEST(l15_amo_unit_takes_an_operation_in_2_cycles)
{
	for (unsigned int lanes : {1u, 4u}) {
		auto nic = std::make_unique<aries::NicPace>();
		uint64_t last = 0;

		for (unsigned int i = 0; i < 10000; i++)
			last = std::max(last, aries::book_atomic(*nic, i % lanes, aries::AMO_HIT_TICKS, 777));
		/* The first one of each lane shares with nobody. */
		assert_in_range(last, (10000 - lanes) * 160, 10000 * 160);
		/* Nothing waits later. */
		assert_int_equal(aries::book_atomic(*nic, 2, aries::AMO_HIT_TICKS, 777 + last), 160);
	}
}

/* L15, L16, N12: a hit saves the read of host memory, lazily or not; other commands never do. */
TEST(l16_miss_reads_host_memory)
{
	Pair p;
	auto latency = [&](unsigned int code, uint64_t at) {
		p.desc().offset = BASE + at;
		usleep(100);
		assert_int_equal(p.amo(code, 1), ARIES_ST_OK);
		return p.a.counter(ARIES_CNT_LATENCY_LAST_NS);
	};

	p.a.enable_fmad(FMAD, PTAG_A, OWNER, ARIES_FMAD_CTL_CACHED_AMO_MASK);
	for (unsigned int lazy : {0u, 1u}) {
		p.b.write32(ARIES_CTL_CONTROL, 0);
		p.b.write32(ARIES_AMO_CTL, lazy);
		p.b.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_ENABLE_MASK);
		assert_true(lazy || p.put(8) == ARIES_ST_OK); /* the translation is there */
		const uint64_t miss = latency(FADD_C, 64 + 8 * lazy), hit = latency(FADD_C, 64 + 8 * lazy);
		const uint64_t other = latency(FADD, 256), again = latency(FADD, 256);

		assert_in_range(miss - hit, aries::HOST_READ_NS + 5, aries::HOST_READ_NS + 7);
		/* One that returns nothing has read no memory for its answer. */
		const uint64_t quiet = latency(ADD_C, 128 + 8 * lazy), found = latency(ADD_C, 128 + 8 * lazy);

		assert_in_range(quiet - found, 5, 7);
		assert_int_equal(other, miss);
		assert_int_equal(again, miss);
		/* A page whose entry is not in the cache of translations; its neighbour's then is. */
		const uint64_t walk = latency(FADD, 40960 + 4096 * lazy) - miss;

		assert_int_equal(walk, lazy ? 0 : 20 - 9);
	}
}

} // namespace

TEST_MAIN("claims on rates")
