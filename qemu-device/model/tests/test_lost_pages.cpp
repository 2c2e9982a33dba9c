/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages of a peer's memory that cannot be had: whoever accesses them gets an error and lives on, as does the node that
 * they belong to.
 */
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

#include "tests/launch_job.hpp"
#include "tests/pair.hpp"
#include "tests/scratch_mount.hpp"
#include "tests/tree.hpp"
#include "tests/two_hosts.hpp"

using namespace aries_test;

namespace
{

constexpr const char *FOLDER = "/mnt";
constexpr const char *RAM = "/mnt/ram";
constexpr const char *FILLER = "/mnt/filler";
constexpr unsigned int FAR_MDH = 40, FAR_CQ = 30;
constexpr uint64_t FAR_BYTES = HIGH_BYTES / 2, FAR_QUEUE = HIGH_GPA + FAR_BYTES;

struct Mistake {
	unsigned int line;
};

void check(bool right, unsigned int line)
{
	if (!right)
		throw Mistake{line};
}
#define CHECK(right) check(right, __LINE__)

/** The oldest error event of @host is for an access that has failed; takes all. */
bool told_of_loss(FakeHost &host)
{
	const uint64_t code = host.read(ARIES_ERR_EVENT, 8) & 0xffff;

	while (host.read(ARIES_ERR_EVENT, 8))
		host.write32(ARIES_ERR_POP, 1);
	return code == ARIES_ST_TRANSLATION;
}

/** Node 1 has its memory in a file. Its high piece is a hole of that, with a region and the memory of a queue. */
struct Sparse : Regions {
	std::string path = fabric_path();
	FakeHost a, b;

	Sparse() : a(path, 0), b(path, 1, {.ram_file = RAM})
	{
		prepare(a, b, *this);
		b.make_mdd(FAR_MDH, PTAG_B, HIGH_GPA, FAR_BYTES, BASE,
			   ARIES_MDD_CTL_CQ_VALID_MASK | uint64_t(21) << 24);
	}

	uint32_t block(unsigned int op, unsigned int mdh, uint64_t bytes)
	{
		a.slot(FMAD, 0) = block_transfer(op, mdh, LOCAL_MDH, bytes);
		CHECK(a.ring_bte(FMAD, 0) == ARIES_ST_OK);
		return a.wait_event(20, 20000).status();
	}
	/** A put into what is there. */
	bool rest_works()
	{
		static uint64_t value;

		a.desc(FMAD).mdh = MDH;
		*reinterpret_cast<uint64_t *>(a.line(FMAD)) = ++value;
		return a.ring(FMAD, ARIES_FMA_PUT_LINE, 8) == ARIES_ST_OK &&
		       *reinterpret_cast<uint64_t *>(b.ram(target)) == value;
	}
	/** An error event of each side for the access that has failed; takes them. */
	bool told()
	{
		const bool here = told_of_loss(a), there = told_of_loss(b);

		return here && there;
	}
};

using Operation = std::function<uint32_t(Sparse &)>;

uint32_t ring(Sparse &s, unsigned int op, unsigned int bytes, unsigned int amo = 0)
{
	const uint32_t status = s.a.ring(FMAD, op, bytes, ARIES_EV_GLOBAL, 0, amo);

	CHECK(s.a.next_event(20).status() == status);
	return status;
}

const struct {
	const char *name;
	Operation run;
} operations[] = {
	{"put", [](Sparse &s) { return ring(s, ARIES_FMA_PUT_LINE, 8); }},
	{"put of two pages",
	 [](Sparse &s) {
		 s.a.desc(FMAD).offset = BASE + PAGE - 8;
		 return ring(s, ARIES_FMA_PUT_LINE, 64);
	 }},
	{"put with flag",
	 [](Sparse &s) {
		 s.a.desc(FMAD).sync_offset = BASE + 64;
		 return ring(s, ARIES_FMA_PUT_SYNC, 8);
	 }},
	{"get", [](Sparse &s) { return ring(s, ARIES_FMA_GET_OP, 8); }},
	{"atomic", [](Sparse &s) { return ring(s, ARIES_FMA_AMO_OP, 8, 0x008); }},
	{"short block put", [](Sparse &s) { return s.block(ARIES_BTE_PUT, FAR_MDH, PAGE); }},
	{"short block get", [](Sparse &s) { return s.block(ARIES_BTE_GET, FAR_MDH, PAGE); }},
	{"block put", [](Sparse &s) { return s.block(ARIES_BTE_PUT, FAR_MDH, BYTES); }},
	{"block get", [](Sparse &s) { return s.block(ARIES_BTE_GET, FAR_MDH, BYTES); }},
	{"launched put",
	 [](Sparse &s) {
		 auto *entry = reinterpret_cast<aries_launch_entry *>(s.a.line(FMAD));

		 entry[0] = launch_entry(ARIES_LAUNCH_PUT8, 1, BASE, 1);
		 return ring(s, ARIES_FMA_LAUNCH, 1);
	 }},
};

/** All operations fail, each with its errors, and what is left of the memory is as before. */
void all_fail(Sparse &s)
{
	CHECK(s.rest_works());
	s.told();
	for (const auto &[name, run] : operations) {
		s.a.desc(FMAD).mdh = FAR_MDH;
		s.a.desc(FMAD).offset = BASE;
		const uint32_t status = run(s);

		if (status != ARIES_ST_TRANSLATION)
			print_error("%s: status %#x\n", name, status);
		CHECK(status == ARIES_ST_TRANSLATION);
		CHECK(s.told());
		s.a.desc(FMAD).offset = BASE;
		CHECK(s.rest_works());
	}
}

/** Writes until there is no space. */
void fill_up()
{
	const int fd = open(FILLER, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	const std::string block(PAGE, 'x');

	CHECK(fd >= 0);
	while (write(fd, block.data(), block.size()) > 0)
		;
	close(fd);
}

template <typename Hosts = Sparse, typename Body> Outcome with_small_disk(Body &&body)
{
	if (!own_namespaces() || !scratch_mount("tmpfs", FOLDER, "size=4M"))
		return NO_MOUNT;
	try {
		Hosts hosts;

		body(hosts);
		return PASSED;
	} catch (const Mistake &mistake) {
		print_error("line %u\n", mistake.line);
	} catch (const std::string &text) {
		print_error("%s\n", text.c_str());
	}
	return WRONG;
}

TEST(test_full_disk)
{
	pass_in_child([] {
		return with_small_disk([](Sparse &s) {
			fill_up();
			all_fail(s);
			/* With space again all of the memory is there, and no zeros of an earlier failure are in front
			 * of it. */
			CHECK(unlink(FILLER) == 0);
			s.a.desc(FMAD).mdh = FAR_MDH;
			*reinterpret_cast<uint64_t *>(s.a.line(FMAD)) = 0x1234;
			CHECK(s.a.ring(FMAD, ARIES_FMA_PUT_LINE, 8) == ARIES_ST_OK);
			CHECK(*reinterpret_cast<uint64_t *>(s.b.ram(HIGH_GPA)) == 0x1234);
		});
	});
}

TEST(test_truncated_file)
{
	pass_in_child([] {
		return with_small_disk([](Sparse &s) {
			CHECK(s.rest_works());
			CHECK(truncate(RAM, off_t(LOW_BYTES)) == 0);
			s.a.desc(FMAD).mdh = FAR_MDH;
			CHECK(s.a.ring(FMAD, ARIES_FMA_PUT_LINE, 8) == ARIES_ST_TRANSLATION);
			CHECK(s.told());
			/* What is published is longer than the file: nobody maps it any more, and nobody dies. */
			s.a.desc(FMAD).mdh = FAR_MDH;
			CHECK(s.a.ring(FMAD, ARIES_FMA_GET_OP, 8) == ARIES_ST_TIMEOUT);
			CHECK(truncate(RAM, off_t(LOW_BYTES + HIGH_BYTES)) == 0);
			for (unsigned int i = 0; i < 100 && !s.rest_works(); i++) {
				s.a.main_loop(20);
				s.b.main_loop(20);
			}
			CHECK(s.rest_works());
		});
	});
}

/* The ring of a queue has no memory: events are lost, writes to it fail. */
TEST(test_queue)
{
	pass_in_child([] {
		return with_small_disk([](Sparse &s) {
			s.b.place_cq(FAR_CQ, FAR_QUEUE, 6, OWNER);
			s.b.make_mdd(FAR_MDH + 1, PTAG_B, s.target, BYTES, BASE,
				     ARIES_MDD_CTL_CQ_VALID_MASK | uint64_t(FAR_CQ) << 24);
			fill_up();
			s.a.desc(FMAD).mdh = FAR_MDH + 1;
			CHECK(s.a.ring(FMAD, ARIES_FMA_CQWRITE, 0) == ARIES_ST_TRANSLATION);
			CHECK(s.told());
			CHECK(s.a.ring(FMAD, ARIES_FMA_PUT_LINE, 8, ARIES_EV_REMOTE | ARIES_EV_GLOBAL) == ARIES_ST_OK);
			CHECK(s.a.next_event(20).remote_overrun());
			CHECK(s.rest_works());
		});
	});
}

constexpr struct {
	unsigned int op, amo;
} small_operations[] = {{ARIES_FMA_PUT_LINE, 0}, {ARIES_FMA_GET_OP, 0}, {ARIES_FMA_AMO_OP, 0x008}};

/* Completions are held: the error comes in modelled time, by the event, or by the doorbell that waits for data. */
TEST(test_held)
{
	pass_in_child([] {
		return with_small_disk([](Sparse &s) {
			char err[256];

			fill_up();
			CHECK(aries_nic_set_time_rate(s.a.nic(), 1e-3, err, sizeof(err)) == 0);
			aries_nic_set_hold(s.a.nic(), true);
			s.a.desc(FMAD).mdh = FAR_MDH;
			for (const auto &[op, amo] : small_operations) {
				CHECK(s.a.ring(FMAD, op, 8, ARIES_EV_GLOBAL, 0, amo) == ARIES_ST_OK);
				CHECK(s.a.wait_event(20, 20000).status() == ARIES_ST_TRANSLATION);
				CHECK(s.told());
			}
			CHECK(s.a.ring(FMAD, ARIES_FMA_GET_OP, 8) == ARIES_ST_TRANSLATION);
			CHECK(s.told());
			CHECK(s.block(ARIES_BTE_GET, FAR_MDH, BYTES) == ARIES_ST_TRANSLATION);
			CHECK(s.told());
			aries_nic_set_hold(s.a.nic(), false);
			CHECK(s.rest_works());
		});
	});
}

/** Node 1 is on another host, where the gateway accesses its memory. */
struct SparseBeyond : TwoHosts {
	SparseBeyond() : TwoHosts(RAM) { b.make_mdd(FAR_MDH, PTAG_B, HIGH_GPA, FAR_BYTES, BASE); }
};

TEST(test_gateway)
{
	pass_in_child([] {
		return with_small_disk<SparseBeyond>([](SparseBeyond &s) {
			static uint64_t value;
			const auto rest_works = [&s] {
				s.desc().mdh = MDH;
				return s.send(++value) == ARIES_ST_OK && s.event().status() == ARIES_ST_OK &&
				       s.there() == value;
			};

			fill_up();
			CHECK(rest_works());
			for (const auto &[op, amo] : small_operations) {
				s.desc().mdh = FAR_MDH;
				CHECK(s.a.ring(FMAD, op, 8, ARIES_EV_GLOBAL, 0, amo) == ARIES_ST_OK);
				CHECK(s.event().status() == ARIES_ST_TRANSLATION);
				CHECK(told_of_loss(s.a) && told_of_loss(s.b));
				CHECK(rest_works());
			}
			for (const unsigned int op : {ARIES_BTE_PUT, ARIES_BTE_GET}) {
				s.a.slot(FMAD, 0) = block_transfer(op, FAR_MDH, LOCAL_MDH, BYTES);
				CHECK(s.a.ring_bte(FMAD, 0) == ARIES_ST_OK);
				CHECK(s.event().status() == ARIES_ST_TRANSLATION);
				CHECK(told_of_loss(s.a) && told_of_loss(s.b));
				CHECK(rest_works());
			}
		});
	});
}

/** A tree of two nodes; node 1 has its memory in a file. */
struct SparseTree {
	static constexpr uint16_t IADD = 0x15;

	std::string path = fabric_path();
	Member root{path, 0, 2}, leaf{path, 1, 2, 100, RAM};

	SparseTree()
	{
		leaf.host.make_mdd(FAR_MDH, PTAG_A, HIGH_GPA, FAR_BYTES, BASE);
		CHECK(root.engine(0, {{ENDPOINT, 0}, {ENDPOINT, 1}}));
	}
	/**
	 * Both contribute, node 0 last, which stores both results; that of node 1 goes to @mdh, where it has left its
	 * mark before @between.
	 */
	template <typename Between> void reduce(unsigned int mdh, Between &&between)
	{
		aries_fma_desc &far = leaf.prepare(0, 0, 1);

		far.local_mdh = uint16_t(mdh);
		far.operand[0] = 40;
		CHECK(leaf.ring(IADD, ARIES_EV_LOCAL) == ARIES_ST_OK);
		between();
		root.prepare(0, 0, 0).operand[0] = 2;
		CHECK(root.ring(IADD, ARIES_EV_LOCAL) == ARIES_ST_OK);
		CHECK(root.result().result[0] == 42);
		CHECK(root.host.wait_event(ENDPOINT_CQ, 20000).status() == ARIES_ST_OK);
	}
};

TEST(test_collective)
{
	pass_in_child([] {
		return with_small_disk<SparseTree>([](SparseTree &s) {
			s.reduce(FAR_MDH, [] {
				CHECK(truncate(RAM, off_t(LOW_BYTES)) == 0);
				CHECK(truncate(RAM, off_t(LOW_BYTES + HIGH_BYTES)) == 0);
				fill_up();
			});
			CHECK(s.leaf.host.wait_event(ENDPOINT_CQ, 20000).status() == ARIES_ST_TRANSLATION);
			CHECK(told_of_loss(s.leaf.host));
			s.reduce(LOCAL_MDH, [] {});
			CHECK(s.leaf.host.wait_event(ENDPOINT_CQ, 20000).status() == ARIES_ST_OK);
			CHECK(s.leaf.result().result[0] == 42);
		});
	});
}

/* The thread that accesses has SIGBUS blocked, as those of hosts have. */
TEST(test_blocked_signals)
{
	pass_in_child([] {
		return with_small_disk([](Sparse &s) {
			sigset_t all;
			uint32_t status = 0;

			fill_up();
			s.a.desc(FMAD).mdh = FAR_MDH;
			sigfillset(&all);
			pthread_sigmask(SIG_SETMASK, &all, nullptr);
			std::thread([&] { status = s.a.ring(FMAD, ARIES_FMA_PUT_LINE, 8); }).join();
			CHECK(status == ARIES_ST_TRANSLATION);
		});
	});
}

/* Faults elsewhere are those of the handler that was there before, and without one they end the process. */
TEST(test_other_faults)
{
	const auto fault = [] {
		const int fd = memfd_create("short", MFD_CLOEXEC);
		auto *at =
			static_cast<volatile uint8_t *>(mmap(nullptr, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));

		*at = 1;
	};

	signal(SIGBUS, SIG_DFL); /* not that of a sanitizer */
	const pid_t child = quiet_fork();
	int status;

	if (child == 0) {
		if (with_small_disk([&](Sparse &s) {
			    CHECK(s.rest_works());
			    fault();
		    }) == NO_MOUNT)
			_exit(0);
		abort();
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status))
		skip(); /* no mounts here */
	assert_int_equal(WTERMSIG(status), SIGBUS);
	pass_in_child([] {
		signal(SIGBUS, [](int) { _exit(PASSED); });
		return with_small_disk([](Sparse &s) {
			       CHECK(s.rest_works());
			       raise(SIGBUS);
		       }) == NO_MOUNT
			       ? NO_MOUNT
			       : WRONG;
	});
}

} // namespace

TEST_MAIN("tests")
