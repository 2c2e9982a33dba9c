/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members of a fabric: address taken, other shapes and versions, death and return. */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "fabric/layout.hpp"
#include "tests/child.hpp"
#include "tests/pair.hpp"
#include "tests/raw_segment.hpp"

using namespace aries_test;

namespace
{

std::string failure(const std::string &path, uint32_t node, const FakeHost::Options &options)
{
	try {
		FakeHost host(path, node, options);
	} catch (const std::string &text) {
		return text;
	}
	return "";
}

bool has(const std::string &text, const char *part)
{
	if (text.find(part) != std::string::npos)
		return true;
	print_error("\"%s\" does not say \"%s\"\n", text.c_str(), part);
	return false;
}

TEST(test_address_taken)
{
	const std::string path = fabric_path();
	FakeHost host(path, 0);

	assert_true(has(failure(path, 0, {}), "node address 0"));
	assert_true(has(failure(path, 0, {}), "in use"));
	assert_string_equal(failure(path, 1, {}).c_str(), "");
}

TEST(test_other_shape)
{
	const std::string path = fabric_path();
	FakeHost host(path, 0);
	const std::string text = failure(path, 1, {.nodes = 5});

	assert_true(has(text, "nodes 2"));
	assert_true(has(text, "wants 5"));
	assert_true(has(failure(path, 7, {}), "node address 7"));
	assert_true(has(failure(path, 1, {.nodes = 0}), "0"));
	assert_true(has(failure(path, 1, {.nodes = 257}), "257"));
	assert_true(has(failure(path, 1, {.lease_ms = 20}), "20"));
	assert_true(has(failure("", 1, {}), "fabric"));
	assert_true(has(failure("/proc/nowhere/x", 1, {}), "/proc/nowhere/x"));
	assert_true(has(failure("/dev/shm", 1, {}), "/dev/shm"));
}

TEST(test_other_version)
{
	const std::string path = fabric_path();
	auto patch = [&](off_t at, uint32_t value) {
		const int fd = open(path.c_str(), O_RDWR);

		assert_true(fd >= 0);
		assert_int_equal(pwrite(fd, &value, 4, at), 4);
		close(fd);
	};
	{
		FakeHost host(path, 0);

		/* Blocks of another size, name or order. */
		patch(offsetof(aries::SegmentHeader, layout), 77);
		assert_true(has(failure(path, 1, {}), "layout hash 77"));
		patch(offsetof(aries::SegmentHeader, version), 99);
		const std::string text = failure(path, 1, {});

		assert_true(has(text, "layout version 99"));
		assert_true(has(text, ("wants " + std::to_string(aries::SEGMENT_VERSION)).c_str()));
	}
	/* Left by the dead: made anew. */
	const int fd = open(path.c_str(), O_RDWR | O_CREAT, 0600);
	const uint64_t head[2] = {aries::SEGMENT_MAGIC, 99};

	assert_int_equal(write(fd, head, sizeof(head)), sizeof(head));
	close(fd);
	assert_string_equal(failure(path, 1, {}).c_str(), "");
	/* The last one out leaves nothing behind. */
	assert_int_equal(access(path.c_str(), F_OK), -1);
}

TEST(test_foreign_file)
{
	const std::string path = fabric_path();
	const int fd = open(path.c_str(), O_RDWR | O_CREAT, 0600);
	char text[] = "precious data";

	assert_int_equal(write(fd, text, sizeof(text)), sizeof(text));
	assert_true(has(failure(path, 0, {}), "not a fabric"));
	memset(text, 0, sizeof(text));
	assert_int_equal(pread(fd, text, sizeof(text), 0), sizeof(text));
	assert_string_equal(text, "precious data");
	close(fd);
	unlink(path.c_str());
}

TEST(test_unshared_memory)
{
	FakeHost host(fabric_path(), 0);
	std::vector<uint8_t> piece(PAGE);
	char err[256] = "";
	const aries_ram ram = {0, PAGE, piece.data(), -1, 0};
	aries_ram many[ARIES_RAM_MAX + 1];

	assert_int_equal(aries_nic_set_ram(host.nic(), &ram, 1, err, sizeof(err)), -1);
	assert_true(has(err, "share=on"));
	for (aries_ram &one : many)
		one = ram;
	assert_int_equal(aries_nic_set_ram(host.nic(), many, ARIES_RAM_MAX + 1, err, sizeof(err)), -1);
	assert_true(has(err, "pieces"));
}

/** A child process with a NIC at node 1 that serves, and writes if @busy, until it is killed. */
pid_t spawn(const std::string &path, bool busy)
{
	return start_child([&](auto ready) {
		FakeHost host(path, 1);

		host.set_key(PTAG_B, KEY);
		host.make_mdd(MDH, PTAG_B, host.alloc(BYTES), BYTES, BASE);
		host.enable_fmad(FMAD, PTAG_B, OWNER);
		const uint64_t big = host.alloc(8 << 20);

		host.make_mdd(MDH + 1, PTAG_B, big, 8 << 20, BASE);
		std::thread copier([&] {
			while (busy) {
				host.slot(FMAD, 0) = block_transfer(ARIES_BTE_PUT, 50, MDH + 1, 64 << 10, 0);
				host.slot(FMAD, 0).pe = 0;
				host.ring_bte(FMAD, 0);
			}
		});

		ready();
		for (;;)
			host.main_loop(20);
	});
}

/** Puts from node 0 until the status is no longer @status; returns milliseconds. */
unsigned int until_not(FakeHost &a, uint32_t status, uint32_t &last)
{
	for (unsigned int ms = 0; ms < 3000; ms++) {
		a.main_loop();
		last = a.ring(FMAD, ARIES_FMA_PUT_LINE, 8);
		if (last != status)
			return ms;
		usleep(1000);
	}
	return UINT32_MAX;
}

TEST(test_death_and_return)
{
	const std::string path = fabric_path();
	pid_t child = spawn(path, false);
	FakeHost a(path, 0);
	uint32_t last = 0;
	char text[4096];

	aim_at_peer(a);
	for (unsigned int round = 0; round < 3; round++) {
		assert_int_equal(a.ring(FMAD, ARIES_FMA_PUT_LINE, 8), ARIES_ST_OK);
		const uint64_t timeouts = a.counter(ARIES_CNT_TIMEOUTS);

		kill_child(child);
		const unsigned int ms = until_not(a, ARIES_ST_OK, last);

		assert_int_equal(last, ARIES_ST_TIMEOUT);
		assert_true(ms < 1000);
		assert_int_equal(a.ring(FMAD, ARIES_FMA_PUT_LINE, 8), ARIES_ST_TIMEOUT);
		assert_int_equal(a.counter(ARIES_CNT_TIMEOUTS), timeouts + 2);
		assert_true(aries_nic_describe(a.nic(), text, sizeof(text)) > 0);
		assert_true(has(text, "member 1 dead"));
		child = spawn(path, false);
	}
	kill_child(child);
}

/* Killed in the middle of a copy: the target's invalidation still ends, and nobody writes there any more. */
TEST(test_death_in_flight)
{
	const std::string path = fabric_path();

	for (unsigned int round = 0; round < 5; round++) {
		FakeHost a(path, 0);
		a.set_key(PTAG_A, KEY);
		const uint64_t region = a.alloc(1 << 20);

		a.make_mdd(50, PTAG_A, region, 1 << 20, BASE);
		const pid_t child = spawn(path, true);

		usleep(20000 + 7000 * round);
		kill_child(child);
		a.write32(ARIES_INV_MDD, 50);
		unsigned int ms = 0;

		for (; a.read(ARIES_INV_STATUS, 4) && ms < 3000; ms++)
			usleep(1000);
		assert_true(ms < 1000);
		memset(a.ram(region), 0x77, 1 << 20);
	}
}

/* Killed while it wrote into a queue of ours, before or after the entry itself. */
TEST(test_death_with_lock)
{
	const std::string path = fabric_path();
	const pid_t child = spawn(path, false);
	FakeHost a(path, 0);
	RawSegment raw(path);
	const uint32_t word = 2 | uint32_t(raw.node(1).member.load() >> 32) << 16;

	a.set_key(PTAG_A, KEY);
	a.enable_fmad(FMAD, PTAG_A, OWNER);
	a.make_cq(20, 6, OWNER);
	a.make_mdd(MDH, PTAG_A, a.alloc(BYTES), BYTES, BASE);
	a.desc(FMAD) = {};
	a.desc(FMAD).mdh = MDH;
	a.desc(FMAD).offset = BASE;
	a.desc(FMAD).cq = 20;
	kill_child(child);
	for (bool entry : {false, true}) {
		auto *slots =
			reinterpret_cast<uint64_t *>(a.ram(a.read(ARIES_CQ_BASE_N(20), 8) + ARIES_CQ_HEADER_BYTES));
		const uint64_t produced = a.read(ARIES_CQ_PRODUCED_N(20), 8);

		if (entry)
			slots[produced % 64] = 0x0100000000000077;
		raw.node(0).cq[20].lock.store(word);
		assert_int_equal(a.ring(FMAD, ARIES_FMA_PUT_LINE, 8, ARIES_EV_GLOBAL, 5), 0);
		assert_int_equal(raw.node(0).cq[20].lock.load(), 0);
		if (entry)
			assert_int_equal(a.next_event(20).data(), 0x77);
		assert_int_equal(a.next_event(20).tid(), 5);
		assert_false(bool(a.next_event(20)));
	}
}

/* A member that is only stopped keeps its place. */
TEST(test_stopped)
{
	const std::string path = fabric_path();
	const pid_t child = spawn(path, false);
	FakeHost a(path, 0);

	aim_at_peer(a);
	kill(child, SIGSTOP);
	for (int i = 0; i < 30; i++) {
		usleep(10000);
		a.main_loop();
		assert_int_equal(a.ring(FMAD, ARIES_FMA_PUT_LINE, 8), ARIES_ST_OK);
	}
	kill(child, SIGCONT);
	kill_child(child);
}

TEST(test_leave)
{
	const std::string path = fabric_path();
	FakeHost a(path, 0);
	{
		FakeHost b(path, 1);

		b.set_key(PTAG_B, KEY);
		b.make_mdd(MDH, PTAG_B, b.alloc(BYTES), BYTES, BASE);
		aim_at_peer(a);
		assert_int_equal(a.ring(FMAD, ARIES_FMA_PUT_LINE, 8), ARIES_ST_OK);
	}
	assert_int_equal(a.ring(FMAD, ARIES_FMA_PUT_LINE, 8), ARIES_ST_NO_NODE);
	FakeHost b(path, 1);

	assert_int_equal(b.read(ARIES_CTL_GENERATION, 4) > 1, 1);
	b.set_key(PTAG_B, KEY);
	assert_int_equal(a.ring(FMAD, ARIES_FMA_PUT_LINE, 8), ARIES_ST_MDD);
	const uint64_t gpa = b.alloc(BYTES);

	b.make_mdd(MDH, PTAG_B, gpa, BYTES, BASE);
	memset(a.line(FMAD), 0x21, 8);
	assert_int_equal(a.ring(FMAD, ARIES_FMA_PUT_LINE, 8), ARIES_ST_OK);
	assert_int_equal(*b.ram(gpa), 0x21);
}

} // namespace

TEST_MAIN("tests")
