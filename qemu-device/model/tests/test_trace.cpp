/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The packet trace: what it records, and that nothing which happens to it harms the NIC. */
#include <algorithm>
#include <csignal>
#include <thread>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/pair.hpp"
#include "tests/trace_file.hpp"

using namespace aries_test;
using aries::PacketKind;

namespace
{

constexpr uint64_t LIMIT = ARIES_TRACE_LIMIT_DEFAULT;

/** A pair of which node 0 writes a trace. */
struct Traced : Pair {
	std::string file = fabric_path() + ".pcapng";

	explicit Traced(uint32_t packets = ARIES_TRACE_PACKETS_DEFAULT, uint64_t limit = LIMIT)
	{
		assert_string_equal(start(file, limit, packets).c_str(), "");
		for (uint64_t i = 0; i < BYTES; i++) {
			*a.ram(local + i) = uint8_t(i * 7 + i / 256);
			*b.ram(target + i) = uint8_t(i * 3 + i / 256);
		}
		for (unsigned int i = 0; i < 2048; i++)
			a.line(FMAD)[i] = uint8_t(i * 5 + i / 256);
	}
	~Traced() { unlink(file.c_str()); }

	std::string start(const std::string &path, uint64_t limit, uint32_t packets) const
	{
		char err[256] = "";
		const int result = aries_nic_set_trace(a.nic(), path.c_str(), limit, packets, err, sizeof(err));

		assert_int_equal(result, *err ? -1 : 0);
		return err;
	}
	TraceFile stop() const
	{
		assert_int_equal(aries_nic_set_trace(a.nic(), nullptr, 0, 0, nullptr, 0), 0);
		assert_false(aries_nic_tracing(a.nic()));
		return TraceFile(file);
	}
	uint64_t count(unsigned int which) const { return a.counter(which); }
	unsigned int bte(unsigned int op, uint64_t bytes)
	{
		a.slot(FMAD, 0) = block_transfer(op, MDH, LOCAL_MDH, bytes, ARIES_EV_LOCAL);
		a.ring_bte(FMAD, 0);
		return a.wait_event(20, 5000).status();
	}
};

/* Header and request of one packet of the pair. */
void check_request(const TracedPacket &p, PacketKind kind, uint64_t offset, uint32_t bytes)
{
	const aries::Request r = p.request();

	assert_int_equal(p.key(), KEY);
	assert_int_equal(p.node(), 0);
	assert_int_equal(p.peer(), 1);
	assert_int_equal(p.fmad(), FMAD);
	assert_int_equal(p.kind(), kind);
	assert_int_equal(r.kind, kind);
	assert_int_equal(r.to.pe, 1);
	assert_int_equal(r.source, 0);
	assert_int_equal(r.to.mdh, MDH);
	assert_int_equal(r.to.offset, offset);
	assert_int_equal(r.bytes, bytes);
}

/* The packet that answers, with the request's id. */
aries::Response answer(const TracedPacket &request, const TracedPacket &response)
{
	const aries::Response r = response.response();

	assert_int_equal(r.packet_id, request.request().packet_id);
	assert_int_equal(r.target, 0);
	assert_int_equal(response.index(), request.index());
	assert_int_equal(response.key(), request.key());
	assert_int_equal(response.kind(), request.kind());
	assert_true(response.ns > request.ns);
	return r;
}

void test_puts_P01_P03(void **)
{
	Traced t;

	for (unsigned int bytes : {0u, 1u, 8u, 64u, 65u, 2048u})
		assert_int_equal(t.put(bytes), 0);
	const TraceFile file = t.stop();
	size_t at = 0;

	for (unsigned int bytes : {0u, 1u, 8u, 64u, 65u, 2048u}) {
		const unsigned int count = bytes ? (bytes + 63) / 64 : 1;

		for (unsigned int i = 0; i < count; i++) {
			const TracedPacket &p = file.packets.at(at + i);
			const unsigned int part = std::min(64u, bytes - i * 64);

			check_request(p, PacketKind::Put, BASE + uint64_t(i) * 64, part);
			assert_memory_equal(p.request().data.data(), t.a.line(FMAD) + size_t(i) * 64, part);
			assert_int_equal(p.index(), i);
			assert_int_equal(p.packets(), count);
			assert_int_equal(p.engine(), aries::TraceEngine::Fma);
			assert_int_equal(p.status(), 0);
			assert_int_equal(answer(p, file.packets.at(at + count + i)).bytes, 0);
		}
		at += size_t(2) * count;
	}
	assert_int_equal(file.packets.size(), at);
	assert_int_equal(file.packets.size(), t.count(ARIES_CNT_REQ_PACKETS) + t.count(ARIES_CNT_RSP_PACKETS));
	assert_int_equal(file.flits(false), t.count(ARIES_CNT_REQ_FLITS));
	assert_int_equal(file.flits(true), t.count(ARIES_CNT_RSP_FLITS));
	/* The 64-byte put. */
	assert_int_equal(file.packets[6].flits.size(), 14);
	assert_int_equal(file.packets[7].flits.size(), 1);
	assert_int_equal(file.packets.back().latency(), t.count(ARIES_CNT_LATENCY_LAST_NS));
}

void test_gets_P04(void **)
{
	Traced t;

	assert_int_equal(t.a.ring(FMAD, ARIES_FMA_GET_OP, 64), 0);
	assert_int_equal(t.a.ring(FMAD, ARIES_FMA_GET_OP, 132), 0);
	/* A window's get. */
	t.a.store(FMAD, ARIES_FMA_GET + 8, 8, uint64_t(3) << ARIES_GETW_LEN_SHIFT | BASE);
	const TraceFile file = t.stop();
	const auto &p = file.packets;

	assert_int_equal(p.size(), 2 + 6 + 2);
	check_request(p[0], PacketKind::Get, BASE, 64);
	assert_int_equal(p[0].flits.size(), 3);
	assert_int_equal(p[1].flits.size(), 12);
	assert_int_equal(answer(p[0], p[1]).bytes, 64);
	assert_memory_equal(p[1].response().data.data(), t.b.ram(t.target), 64);
	check_request(p[4], PacketKind::Get, BASE + 128, 4);
	assert_int_equal(answer(p[4], p[7]).bytes, 4);
	assert_memory_equal(p[7].response().data.data(), t.b.ram(t.target + 128), 4);
	check_request(p[8], PacketKind::Get, BASE + 8, 4);
	assert_memory_equal(p[9].response().data.data(), t.b.ram(t.target + 8), 4);
	assert_int_equal(file.flits(false), t.count(ARIES_CNT_REQ_FLITS));
	assert_int_equal(file.flits(true), t.count(ARIES_CNT_RSP_FLITS));
}

void test_atomics_and_cq_writes(void **)
{
	Traced t;
	const uint64_t old = 41, operands[] = {41, 99};

	t.word() = old;
	assert_int_equal(t.amo(0x00d, operands[0], operands[1]), 0); /* compare and swap */
	assert_int_equal(t.amo(0x108, 5), 0);                        /* add without result */
	t.desc().operand[0] = 0xaabbccddeeff;
	assert_int_equal(t.a.ring(FMAD, ARIES_FMA_CQWRITE, 0), 0);
	const TraceFile file = t.stop();
	const auto &p = file.packets;

	assert_int_equal(p.size(), 6);
	check_request(p[0], PacketKind::FetchAmo, BASE, 16);
	assert_int_equal(p[0].request().command, 0x00d);
	assert_memory_equal(p[0].request().data.data(), operands, 16);
	assert_int_equal(answer(p[0], p[1]).bytes, 8);
	assert_memory_equal(p[1].response().data.data(), &old, 8);
	check_request(p[2], PacketKind::Amo, BASE, 8);
	assert_int_equal(p[2].request().command, 0x108);
	assert_int_equal(answer(p[2], p[3]).bytes, 0);
	check_request(p[4], PacketKind::CqWrite, BASE, 6);
	assert_memory_equal(p[4].request().data.data(), "\xff\xee\xdd\xcc\xbb\xaa", 6);
	assert_int_equal(answer(p[4], p[5]).bytes, 0);
	assert_int_equal(file.flits(false), t.count(ARIES_CNT_REQ_FLITS));
	assert_int_equal(file.flits(true), t.count(ARIES_CNT_RSP_FLITS));
}

void test_refused_and_lost_P18(void **)
{
	Traced t;
	char err[64];

	t.desc().mdh = MDH + 1;
	assert_int_equal(t.put(8), ARIES_ST_MDD);
	assert_int_equal(t.a.ring(FMAD, ARIES_FMA_GET_OP, 8), ARIES_ST_MDD);
	t.desc().mdh = MDH;
	assert_int_equal(aries_nic_set_fault(t.a.nic(), "drop", 1, err, sizeof(err)), 0);
	assert_int_equal(t.put(8), ARIES_ST_TIMEOUT);
	assert_int_equal(aries_nic_set_fault(t.a.nic(), "corrupt", 1, err, sizeof(err)), 0);
	assert_int_equal(t.put(8), ARIES_ST_CRC);
	/* What the NIC itself refuses never becomes a packet. */
	t.desc().pe = 200;
	assert_int_equal(t.put(8), ARIES_ST_NO_NODE);
	t.desc().pe = 1;
	t.desc().local_mdh = LOCAL_MDH + 1;
	assert_int_equal(t.a.ring(FMAD, ARIES_FMA_GET_OP, 8), ARIES_ST_LOCAL_MDD);
	const TraceFile file = t.stop();
	const auto &p = file.packets;

	assert_int_equal(p.size(), 6);
	assert_int_equal(p[0].status(), ARIES_ST_MDD);
	for (size_t i : {0ul, 2ul}) {
		assert_int_equal(answer(p[i], p[i + 1]).status, ARIES_ST_MDD);
		assert_int_equal(p[i + 1].flits.size(), aries::ERROR_RESPONSE_FLITS);
		assert_int_equal(p[i + 1].response().bytes, 0);
	}
	assert_false(p[4].inbound);
	assert_int_equal(p[4].status(), ARIES_ST_TIMEOUT);
	assert_false(p[5].inbound);
	assert_int_equal(p[5].status(), ARIES_ST_CRC);
}

void test_block_transfers(void **)
{
	{
		Traced t;

		assert_int_equal(t.bte(ARIES_BTE_PUT, BYTES), 0);
		assert_int_equal(t.bte(ARIES_BTE_PUT, 640), 0);
		const TraceFile file = t.stop();

		assert_int_equal(file.packets.size(), 2 * ARIES_TRACE_PACKETS_DEFAULT + 2 * 10);
		for (uint32_t i = 0; i < ARIES_TRACE_PACKETS_DEFAULT; i++) {
			const TracedPacket &p = file.packets[i];

			check_request(p, PacketKind::Put, BASE + uint64_t(i) * 64, 64);
			assert_int_equal(p.engine(), aries::TraceEngine::Bte);
			assert_int_equal(p.packets(), BYTES / 64);
			assert_true(p.request().ssid >= ARIES_FMA_DESCRIPTORS);
			assert_memory_equal(p.request().data.data(), t.a.ram(t.local + size_t(i) * 64), 64);
		}
	}
	Traced t(ARIES_TRACE_PACKETS_MAX);

	assert_int_equal(t.bte(ARIES_BTE_GET, BYTES - 4), 0);
	const TraceFile file = t.stop();
	const auto &p = file.packets;

	assert_int_equal(p.size(), 2 * BYTES / 64);
	assert_int_equal(file.flits(false), t.count(ARIES_CNT_REQ_FLITS));
	assert_int_equal(file.flits(true), t.count(ARIES_CNT_RSP_FLITS));
	for (size_t i = 0; i < p.size() / 2; i++) {
		assert_int_equal(p[i].index(), i);
		const aries::Response r = answer(p[i], p[p.size() / 2 + i]);

		assert_int_equal(r.bytes, i == p.size() / 2 - 1 ? 60 : 64);
		assert_memory_equal(r.data.data(), t.b.ram(t.target + i * 64), r.bytes);
	}
}

/* More bursts than one, more chunks than one; the numbers go on. */
void test_long_block_transfer(void **)
{
	Traced t(ARIES_TRACE_PACKETS_MAX);
	constexpr uint64_t LONG = 3 << 19;
	constexpr unsigned int NEAR = 100, FAR = 101;

	t.a.make_mdd(NEAR, PTAG_A, t.a.alloc(LONG), LONG, BASE);
	t.b.make_mdd(FAR, PTAG_B, t.b.alloc(LONG), LONG, BASE);
	aries_bte_desc &d = t.a.slot(FMAD, 1);

	d = {};
	d.pe = 1;
	d.mdh = FAR;
	d.local_mdh = NEAR;
	d.offset = d.local_offset = BASE;
	d.length = LONG;
	d.cq = 20;
	d.op = ARIES_BTE_PUT;
	d.mode = ARIES_EV_LOCAL;
	t.a.ring_bte(FMAD, 1);
	assert_int_equal(t.a.wait_event(20, 5000).status(), 0);
	const TraceFile file = t.stop();
	uint32_t next = 0;

	assert_int_equal(file.packets.size(), 2 * LONG / 64);
	for (const TracedPacket &p : file.packets) {
		if (p.inbound)
			continue;
		assert_int_equal(p.index(), next);
		assert_int_equal(p.request().to.offset, BASE + uint64_t(next) * 64);
		next++;
	}
	assert_int_equal(file.flits(false), t.count(ARIES_CNT_REQ_FLITS));
}

void test_limit(void **)
{
	for (uint64_t limit : {4096ul, 100000ul}) {
		Traced t(ARIES_TRACE_PACKETS_DEFAULT, limit);

		for (unsigned int i = 0; i < 500; i++)
			assert_int_equal(t.put(64), 0);
		assert_false(aries_nic_tracing(t.a.nic()));
		const TraceFile file(t.file);

		assert_true(file.size() <= limit && file.size() > limit - 200);
		assert_int_equal(t.a.trace_lines, 0);
		aries_nic_tick(t.a.nic());
		aries_nic_tick(t.a.nic());
		assert_int_equal(t.a.trace_lines, 1);
		assert_non_null(strstr(t.a.trace_line.c_str(), t.file.c_str()));
		assert_non_null(strstr(t.a.trace_line.c_str(), std::to_string(limit).c_str()));
		/* The same again. */
		assert_string_equal(t.start(t.file, limit, 1).c_str(), "");
		assert_int_equal(t.put(64), 0);
		assert_int_equal(t.stop().packets.size(), 2);
	}
}

void test_tick_writes(void **)
{
	Traced t;

	assert_int_equal(t.put(8), 0);
	assert_int_equal(TraceFile(t.file).packets.size(), 0);
	aries_nic_tick(t.a.nic());
	assert_int_equal(TraceFile(t.file).packets.size(), 2);
	assert_true(aries_nic_tracing(t.a.nic()));
	struct stat st;

	assert_int_equal(stat(t.file.c_str(), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

void test_bad_requests(void **)
{
	Traced t;
	const std::string fifo = t.file + ".fifo";
	char err[256] = "";
	auto refused = [&](const std::string &path, const char *why, uint64_t limit = LIMIT, uint32_t packets = 1) {
		const std::string text = t.start(path, limit, packets);

		assert_non_null(strstr(text.c_str(), why));
		if (limit == LIMIT && packets == 1)
			assert_non_null(strstr(text.c_str(), path.c_str()));
	};

	assert_int_equal(mkfifo(fifo.c_str(), 0600), 0);
	refused(fifo, "not a regular file");
	refused("/dev/null", "not a regular file");
	refused("/dev/shm", "directory");
	refused("/nonexistent/x", "No such file");
	refused("", "No such file");
	refused(t.file, "another trace");
	refused("/dev/shm/x", "4095", 4095);
	refused("/dev/shm/x", "not 1099511627777", ARIES_TRACE_LIMIT_MAX + 1);
	refused("/dev/shm/x", "not 0", LIMIT, 0);
	refused("/dev/shm/x", "67108864", LIMIT, ARIES_TRACE_PACKETS_MAX + 1);
	assert_int_equal(aries_nic_set_trace(t.b.nic(), t.file.c_str(), LIMIT, 1, err, sizeof(err)), -1);
	assert_non_null(strstr(err, "another trace"));
	unlink(fifo.c_str());
	/* The first one has gone on. */
	assert_int_equal(t.put(8), 0);
	assert_int_equal(t.stop().packets.size(), 2);
}

void test_another_file_takes_over(void **)
{
	Traced t;
	const std::string first = t.file;

	assert_int_equal(t.put(8), 0);
	t.file += ".2";
	assert_string_equal(t.start(t.file, LIMIT, 1).c_str(), "");
	assert_int_equal(t.put(130), 0);
	assert_int_equal(t.stop().packets.size(), 2);
	assert_int_equal(TraceFile(first).packets.size(), 2);
	unlink(first.c_str());
}

/* A file system that takes no more: the trace ends whole, with one line, and the NIC works. */
void test_full_disk(void **)
{
	Traced t;
	rlimit before;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	const rlimit small = {20000, before.rlim_max};

	setrlimit(RLIMIT_FSIZE, &small);
	bool fine = true;
	for (unsigned int i = 0; i < 1000; i++)
		fine = fine && t.put(64) == 0;
	setrlimit(RLIMIT_FSIZE, &before);
	assert_true(fine);
	assert_false(aries_nic_tracing(t.a.nic()));
	aries_nic_tick(t.a.nic());
	aries_nic_tick(t.a.nic());
	assert_int_equal(t.a.trace_lines, 1);
	assert_non_null(strstr(t.a.trace_line.c_str(), "File too large"));
	assert_true(TraceFile(t.file).size() <= 20000);
}

/* The process may not write more than that: the trace ends before a signal would end the process. */
void test_limit_of_the_process(void **)
{
	rlimit before;

	signal(SIGXFSZ, SIG_DFL);
	getrlimit(RLIMIT_FSIZE, &before);
	const rlimit small = {20000, before.rlim_max};
	Traced t;

	assert_int_equal(t.stop().packets.size(), 0);
	setrlimit(RLIMIT_FSIZE, &small);
	const std::string started = t.start(t.file, LIMIT, 1);
	bool fine = true;

	for (unsigned int i = 0; i < 1000; i++)
		fine = fine && t.put(64) == 0;
	setrlimit(RLIMIT_FSIZE, &before);
	assert_string_equal(started.c_str(), "");
	assert_true(fine);
	aries_nic_tick(t.a.nic());
	assert_non_null(strstr(t.a.trace_line.c_str(), "20000"));
	assert_true(TraceFile(t.file).size() <= 20000);
}

void test_threads(void **)
{
	Traced t;
	std::atomic<bool> stop{false};
	std::vector<std::thread> threads;
	size_t seen = 0;

	for (unsigned int i = 10; i < 13; i++) {
		t.a.enable_fmad(i, PTAG_A, OWNER);
		t.a.desc(i) = t.desc();
		threads.emplace_back([&t, &stop, i] {
			while (!stop)
				t.a.ring(i, i == 10 ? ARIES_FMA_GET_OP : ARIES_FMA_PUT_LINE, 256);
		});
	}
	for (unsigned int i = 0; i < 50; i++) {
		aries_nic_tick(t.a.nic());
		std::this_thread::sleep_for(std::chrono::milliseconds(1));
		if (i % 10 == 9) {
			const TraceFile file = t.stop();

			seen += file.packets.size();
			for (const TracedPacket &p : file.packets)
				p.inbound ? void(p.response()) : void(p.request());
			assert_string_equal(t.start(t.file, 1 << 20, 8).c_str(), "");
		}
	}
	stop = true;
	for (std::thread &thread : threads)
		thread.join();
	assert_true(seen > 0);
}

/* What check_dissector.py expects: each kind of packet once. */
int write_sample(const char *path)
{
	Traced t;
	char err[256] = "";

	if (aries_nic_set_trace(t.a.nic(), path, LIMIT, ARIES_TRACE_PACKETS_DEFAULT, err, sizeof(err))) {
		fprintf(stderr, "%s\n", err);
		return 1;
	}
	t.word(64) = 41;
	t.put(64);
	t.a.ring(FMAD, ARIES_FMA_GET_OP, 64);
	t.desc().offset = BASE + 64;
	t.amo(0x00d, 41, 99);
	t.amo(0x108, 5);
	t.desc().operand[0] = 0xaabbccddeeff;
	t.a.ring(FMAD, ARIES_FMA_CQWRITE, 0);
	t.desc().mdh = MDH + 1;
	t.put(8);
	t.desc().mdh = MDH;
	aries_nic_set_fault(t.a.nic(), "drop", 1, err, sizeof(err));
	t.put(0);
	return t.bte(ARIES_BTE_PUT, 200);
}

} // namespace

int main(int argc, char **argv)
{
	const CMUnitTest tests[] = {
		cmocka_unit_test(test_puts_P01_P03),
		cmocka_unit_test(test_gets_P04),
		cmocka_unit_test(test_atomics_and_cq_writes),
		cmocka_unit_test(test_refused_and_lost_P18),
		cmocka_unit_test(test_block_transfers),
		cmocka_unit_test(test_long_block_transfer),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_tick_writes),
		cmocka_unit_test(test_bad_requests),
		cmocka_unit_test(test_another_file_takes_over),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_limit_of_the_process),
		cmocka_unit_test(test_threads),
	};

	if (argc == 2)
		return write_sample(argv[1]);
	return cmocka_run_group_tests_name("trace", tests, nullptr, nullptr);
}
