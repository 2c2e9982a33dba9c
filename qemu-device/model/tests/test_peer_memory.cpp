/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How peers reach guest memory: huge pages, processes that may not look at each other, stopped ones, and liars. */
#include <algorithm>
#include <fcntl.h>
#include <fstream>
#include <linux/memfd.h>
#include <poll.h>
#include <random>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "fabric/introduction.hpp"
#include "fabric/member_socket.hpp"
#include "tests/pair.hpp"
#include "tests/peer_process.hpp"
#include "tests/scratch_mount.hpp"

using namespace aries_test;

namespace
{

constexpr unsigned int PATIENCE_MS = 20000; /* for what takes a moment unless the machine is very busy */

/** Node 1: a region for puts, with events in queue 21 that interrupt. */
void make_target(FakeHost &b)
{
	b.set_key(PTAG_B, KEY);
	b.make_cq(21, 6, OWNER, ARIES_CQ_CTL_IRQ_MASK);
	b.make_mdd(MDH, PTAG_B, b.alloc(BYTES), BYTES, BASE, ARIES_MDD_CTL_CQ_VALID_MASK | uint64_t(21) << 24);
}

uint32_t put(FakeHost &a, unsigned int events = 0)
{
	return a.ring(FMAD, ARIES_FMA_PUT_LINE, 8, events);
}

std::string describe(FakeHost &host)
{
	char text[16384];

	aries_nic_describe(host.nic(), text, sizeof(text));
	return text;
}

bool has(const std::string &text, const std::string &part)
{
	if (text.find(part) != std::string::npos)
		return true;
	print_error("\"%s\" does not say \"%s\"\n", text.c_str(), part.c_str());
	return false;
}

size_t open_descriptors()
{
	size_t count = 0;

	for (int fd = 0; fd < 4096; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/** Reserves huge pages for as long as it lives. */
class HugePages
{
public:
	explicit HugePages(unsigned int count) : before_(read()) { write(before_ + count); }
	~HugePages() { write(before_); }
	unsigned int got() const { return read() - before_; }

private:
	static constexpr const char *FILE_NAME = "/proc/sys/vm/nr_hugepages";

	static unsigned int read()
	{
		unsigned int count = 0;

		std::ifstream(FILE_NAME) >> count;
		return count;
	}
	static void write(unsigned int count) { std::ofstream(FILE_NAME) << count; }

	const unsigned int before_;
};

/* Huge pages can be mapped at their boundaries only, and a PC's memory begins with a piece of 640 KiB. */
TEST(test_huge_pages)
{
	const unsigned int pages = 2 * (LOW_BYTES + HIGH_BYTES) / (2 << 20);
	const HugePages reserved(pages);

	if (reserved.got() < pages) {
		print_message("huge pages cannot be reserved here: %u of %u\n", reserved.got(), pages);
		skip();
	}
	const FakeHost::Options options = {.memfd_flags = MFD_HUGETLB | MFD_HUGE_2MB, .legacy_hole = true};
	const std::string path = fabric_path();
	FakeHost a(path, 0, options), b(path, 1, options);

	make_target(b);
	aim_at_peer(a);
	assert_int_equal(put(a), ARIES_ST_OK);
	assert_true(has(describe(a), "member 1 alive"));
}

/** The whole life of node 1 in a child: comes, lets @then change what it is, serves. */
template <typename Then> pid_t serve(const std::string &path, Then &&then)
{
	return start_node(path, 1, {}, [&](FakeHost &b) {
		make_target(b);
		then();
	});
}

/** Puts until one arrives; false if none does. */
bool arrives(FakeHost &a)
{
	for (unsigned int ms = 0; ms < PATIENCE_MS; ms += 10) {
		a.main_loop();
		if (put(a) == ARIES_ST_OK)
			return true;
		usleep(10000);
	}
	return false;
}

/* Process numbers mean something else there, if anything. */
TEST(test_other_pid_namespace)
{
	const std::string path = fabric_path();
	const pid_t child = start_child([&](auto ready) {
		if (!own_namespaces(CLONE_NEWPID)) {
			ready();
			pause();
		}
		const pid_t inner = fork();

		if (inner == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			FakeHost b(path, 1);

			make_target(b);
			assert_int_equal(getpid(), 1);
			ready();
			for (;;)
				b.main_loop(20);
		}
		waitpid(inner, nullptr, 0);
	});

	FakeHost a(path, 0);

	if (describe(a).find("member 1 alive") == std::string::npos) {
		kill_child(child);
		print_message("process namespaces of one's own are not permitted here\n");
		skip();
	}
	aim_at_peer(a);
	assert_int_equal(put(a), ARIES_ST_OK);
	kill_child(child);
}

constexpr uid_t NOBODY = 65534;

void become_nobody()
{
	if (setgid(NOBODY) < 0 || setuid(NOBODY) < 0)
		_exit(2);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* As QEMU does with -runas: neither may open the other's descriptors or names then, whoever came first. */
TEST(test_other_user)
{
	if (getuid() != 0) {
		print_message("only root can become somebody else\n");
		skip();
	}
	for (const bool first : {false, true}) {
		const std::string path = fabric_path();
		pid_t target = first ? serve(path, become_nobody) : 0;
		int done[2];
		char step = 0;

		assert_int_equal(pipe(done), 0);
		const pid_t initiator = start_child([&](auto ready) {
			FakeHost a(path, 0);

			aim_at_peer(a);
			become_nobody();
			ready();
			while (describe(a).find("member 1 alive") == std::string::npos)
				a.main_loop(1);
			step = arrives(a) ? 'y' : 'n';
			if (write(done[1], &step, 1) == 1)
				pause();
		});

		if (!first)
			target = serve(path, become_nobody);
		assert_int_equal(read(done[0], &step, 1), 1);
		assert_int_equal(step, 'y');
		kill_child(initiator);
		kill_child(target);
		close(done[0]);
		close(done[1]);
	}
}

/* Interrupts reach such a one without waiting for its tick. */
TEST(test_interrupt_to_other_user)
{
	if (getuid() != 0) {
		print_message("only root can become somebody else\n");
		skip();
	}
	const std::string path = fabric_path();
	FakeHost b(path, 1);
	int go[2];

	assert_int_equal(pipe(go), 0);
	const pid_t initiator = start_child([&](auto ready) {
		FakeHost a(path, 0);
		char byte;

		aim_at_peer(a);
		become_nobody();
		ready();
		if (read(go[0], &byte, 1) == 1)
			put(a, ARIES_EV_REMOTE);
		pause();
	});

	make_target(b);
	b.write32(ARIES_CQI_ARM, 21);
	assert_int_equal(write(go[1], "g", 1), 1);
	pollfd pfd = {aries_nic_wake_fd(b.nic()), POLLIN, 0};

	assert_int_equal(poll(&pfd, 1, int(PATIENCE_MS)), 1);
	kill_child(initiator);
	close(go[0]);
	close(go[1]);
}

/* A peer that is stopped when we come cannot give us anything: told once, and mended when it goes on. */
TEST(test_stopped_peer)
{
	const std::string path = fabric_path();
	const pid_t child = serve(path, [] {});

	kill(child, SIGSTOP);
	assert_int_equal(waitpid(child, nullptr, WUNTRACED), child);
	FakeHost a(path, 0);

	aim_at_peer(a);
	for (unsigned int i = 0; i < 20; i++) {
		assert_int_equal(put(a), ARIES_ST_TIMEOUT);
		a.main_loop();
	}
	assert_int_equal(a.warnings, 1);
	assert_true(has(a.warning, "memory of node 1 (pid " + std::to_string(child) + ")"));
	assert_true(has(a.warning, "does not answer"));
	assert_true(has(describe(a), "memory not reached 20 times"));
	kill(child, SIGCONT);
	assert_true(arrives(a));
	assert_true(has(describe(a), "memory in 1 files"));
	assert_int_equal(a.warnings, 1);
	kill_child(child);
}

/* Memory comes and goes (a DIMM, say) while peers write to what stays. */
TEST(test_map_changes_under_traffic)
{
	Pair p;
	std::atomic<bool> stop{false};
	const int more = memfd_create("more", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_int_equal(ftruncate(more, PAGE), 0);
	assert_int_equal(fcntl(more, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	void *at = mmap(nullptr, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, more, 0);
	const aries_ram dimm = {2 * HIGH_GPA, PAGE, at, more, 0};
	unsigned int failed = 0, done = 0;
	std::thread writer([&] {
		while (!stop.load()) {
			failed += p.a.ring(FMAD, ARIES_FMA_PUT_LINE, 8) != ARIES_ST_OK;
			done++;
		}
	});

	for (unsigned int i = 0; i < 200; i++) {
		p.b.set_ram(&dimm, i % 2);
		usleep(500);
	}
	stop = true;
	writer.join();
	assert_true(done > 100);
	assert_int_equal(failed, 0);
	munmap(at, PAGE);
	close(more);
}

/* Ours is looked at before it is given away. */
TEST(test_memory_that_cannot_be_given)
{
	const auto refused = [](int fd) {
		FakeHost host(fabric_path(), 0);
		void *at = mmap(nullptr, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		const aries_ram piece = {2 * HIGH_GPA, PAGE, at, fd, 0};
		std::string why;

		try {
			host.set_ram(&piece, 1);
		} catch (const std::string &text) {
			why = text;
		}
		munmap(at, PAGE);
		close(fd);
		return why;
	};
	const int unsealed = memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_int_equal(ftruncate(unsealed, PAGE), 0);
	assert_true(has(refused(unsealed), "seal=on"));
	assert_true(has(refused(open("/dev/zero", O_RDWR)), "not a regular file"));
}

/** Somebody who has the fabric open and says that he is node 1. */
class Impostor
{
public:
	Impostor(FakeHost &victim, const std::string &path) : raw_(path), path_(path)
	{
		aries::NodeSlot &slot = raw_.node(1);

		slot.lease_ns.store(UINT64_MAX / 2);
		slot.pid.store(4711);
		/* A memory domain of node 0 serves as the model of one that puts are allowed to. */
		victim.make_mdd(MDH, PTAG_A, victim.alloc(BYTES), BYTES, BASE);
		slot.mdd[MDH].base.store(raw_.node(0).mdd[MDH].base.load());
		slot.mdd[MDH].length.store(raw_.node(0).mdd[MDH].length.load());
		slot.mdd[MDH].table.store(raw_.node(0).mdd[MDH].table.load());
		slot.mdd[MDH].ctl.store(raw_.node(0).mdd[MDH].ctl.load());
		slot.ptag_key[PTAG_A].store(raw_.node(0).ptag_key[PTAG_A].load());
		slot.ram_count = 1;
		slot.member.store(uint64_t(INCARNATION) << 32 | aries::MEMBER_ALIVE);
		slot.online.store(aries::ONLINE_ALL);
	}

	/** Publishes memory in @file from byte @offset on, and passes @fds as the files that it is in. */
	void pass(const std::vector<int> &fds, int file, uint64_t offset = 0)
	{
		const aries::MemberSocket own(path_, "other", 9, 0);
		std::vector<int> all = {own.door(), own.door()};
		aries::Introduction head;
		struct stat st = {};

		fstat(file, &st);
		raw_.node(1).ram[0] = {0, 1 << 20, uint64_t(st.st_dev), uint64_t(st.st_ino), offset};
		raw_.node(1).ram_version.fetch_add(2);
		all.insert(all.end(), fds.begin(), fds.end());
		head.node = 1;
		head.incarnation = INCARNATION;
		head.files = uint32_t(fds.size());
		send(&head, sizeof(head), all);
	}

	/** Begins to change the list of its memory, or has done so. */
	void turn() { raw_.node(1).ram_version.fetch_add(1); }
	void set_count(uint32_t count) { raw_.node(1).ram_count = count; }

	/** Any datagram to node 0's socket. */
	void send(const void *data, size_t length, const std::vector<int> &fds) const
	{
		std::vector<char> control(CMSG_SPACE(sizeof(int) * fds.size()));
		iovec iov = {const_cast<void *>(data), length};
		sockaddr_un addr = {};
		msghdr msg = {};

		addr.sun_family = AF_UNIX;
		snprintf(addr.sun_path, sizeof(addr.sun_path), "%s.%s0", path_.c_str(), aries::RAM_SOCKET);
		msg.msg_name = &addr;
		msg.msg_namelen = sizeof(addr);
		msg.msg_iov = &iov;
		msg.msg_iovlen = 1;
		if (!fds.empty()) {
			msg.msg_control = control.data();
			msg.msg_controllen = control.size();
			cmsghdr *part = CMSG_FIRSTHDR(&msg);

			part->cmsg_level = SOL_SOCKET;
			part->cmsg_type = SCM_RIGHTS;
			part->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
			memcpy(CMSG_DATA(part), fds.data(), sizeof(int) * fds.size());
		}
		const int via = socket(AF_UNIX, SOCK_DGRAM, 0);

		assert_int_equal(sendmsg(via, &msg, 0), length);
		close(via);
	}

	static constexpr uint32_t INCARNATION = 7;

private:
	RawSegment raw_;
	const std::string path_;
};

int memfd(uint64_t bytes, int seals)
{
	const int fd = memfd_create("passed", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_int_equal(ftruncate(fd, off_t(bytes)), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

/** Puts to the impostor until the log says @cause. */
bool told(FakeHost &a, const char *cause)
{
	for (unsigned int ms = 0; ms < PATIENCE_MS; ms++) {
		assert_int_equal(put(a), ARIES_ST_TIMEOUT);
		a.main_loop();
		if (a.warning.find(cause) != std::string::npos)
			return has(a.warning, "memory of node 1 (pid 4711)");
		usleep(1000);
	}
	return has(a.warning, cause);
}

/* Puts until one ends otherwise than with TIMEOUT; what it ends with. */
uint8_t reached(FakeHost &a)
{
	uint8_t status = put(a);

	for (unsigned int ms = 0; ms < PATIENCE_MS && status == ARIES_ST_TIMEOUT; ms++) {
		usleep(1000);
		status = put(a);
	}
	return status;
}

/* What cannot be memory is refused, with its cause, and what can is taken. */
TEST(test_wrong_descriptors)
{
	const std::string path = fabric_path();
	FakeHost a(path, 0);

	aim_at_peer(a);
	Impostor liar(a, path);
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	const std::string own_fd = "/proc/self/fd/";
	const int sealed = memfd(1 << 20, F_SEAL_SHRINK);
	const int read_only = open((own_fd + std::to_string(sealed)).c_str(), O_RDONLY);
	const struct {
		int fd;
		const char *cause;
	} wrong[] = {
		{ends[1], "not a regular file"},
		{memfd(1 << 20, 0), "not sealed"},
		{memfd(PAGE, F_SEAL_SHRINK), "shorter"},
		{read_only, "may not be written"},
		{memfd(1 << 20, F_SEAL_SHRINK | F_SEAL_WRITE), "may not be written"},
	};
	unsigned int warnings = a.warnings;

	for (const auto &one : wrong) {
		liar.pass({one.fd}, one.fd);
		assert_true(told(a, one.cause));
	}
	assert_int_equal(a.warnings, warnings + 4);
	liar.pass({}, sealed);
	assert_true(told(a, "has not passed a descriptor"));
	liar.pass({sealed}, sealed);
	/* Reached: there is only nothing in it. */
	assert_int_equal(reached(a), ARIES_ST_TRANSLATION);
	for (const auto &one : wrong)
		close(one.fd);
	close(ends[0]);
	close(sealed);
}

/* Nothing is mapped of a list that names what is not in the file, is longer than a list may be, or just changes. */
TEST(test_wrong_lists)
{
	constexpr unsigned int PUTS = 20;
	const std::string path = fabric_path();
	FakeHost a(path, 0);

	aim_at_peer(a);
	Impostor liar(a, path);
	const int sealed = memfd(1 << 20, F_SEAL_SHRINK);

	liar.pass({sealed}, sealed);
	assert_int_equal(reached(a), ARIES_ST_TRANSLATION);
	for (const uint64_t offset : {uint64_t(PAGE), uint64_t(1) << 20, UINT64_MAX - PAGE + 1}) {
		liar.pass({sealed}, sealed, offset);
		for (unsigned int i = 0; i < PUTS; i++)
			assert_int_equal(put(a), ARIES_ST_TIMEOUT);
		liar.pass({sealed}, sealed);
		assert_int_equal(reached(a), ARIES_ST_TRANSLATION);
	}
	liar.turn();
	assert_int_equal(put(a), ARIES_ST_TIMEOUT);
	liar.turn();
	assert_int_equal(reached(a), ARIES_ST_TRANSLATION);
	liar.set_count(ARIES_RAM_MAX + 1);
	liar.turn();
	liar.turn();
	assert_int_equal(put(a), ARIES_ST_TIMEOUT);
	close(sealed);
}

/* Datagrams of any kind, with any descriptors: nothing is kept open, and who comes next is served. */
TEST(test_garbage)
{
	const std::string path = fabric_path();
	const FakeHost::Options three = {.nodes = 3};
	FakeHost a(path, 0, three);

	aim_at_peer(a);
	Impostor liar(a, path);
	std::mt19937 random(815);
	const size_t before = open_descriptors();
	const int sealed = memfd(PAGE, F_SEAL_SHRINK), null = open("/dev/null", O_RDWR);

	for (unsigned int i = 0; i < 3000; i++) {
		aries::Introduction head;
		unsigned char bytes[100];
		std::vector<int> fds;

		for (unsigned char &byte : bytes)
			byte = uint8_t(random());
		if (random() % 2) {
			head.node = random() % 5 - 1;
			head.incarnation = random() % 3 ? Impostor::INCARNATION : random();
			head.answer = random() % 2;
			head.files = random() % 4 ? random() % 20 : random();
			memcpy(bytes, &head, sizeof(head));
		}
		for (size_t n = random() % 3 ? random() % 20 : random() % 250; fds.size() < n;)
			fds.push_back(random() % 2 ? sealed : null);
		liar.send(bytes, random() % 2 ? sizeof(head) : random() % sizeof(bytes), fds);
		if (i % 100 == 0)
			put(a);
	}
	close(sealed);
	close(null);
	FakeHost c(path, 2, three);

	aim_at_peer(c);
	c.desc(FMAD).pe = 0;
	c.desc(FMAD).mdh = MDH;
	assert_int_equal(c.ring(FMAD, ARIES_FMA_PUT_LINE, 8), ARIES_ST_OK);
	/* Of the impostor: two sockets. Of c: its own, and two on either side. */
	for (unsigned int ms = 0; ms < PATIENCE_MS && open_descriptors() > before + 16; ms++)
		usleep(1000);
	assert_in_range(open_descriptors(), before, before + 16);
}

} // namespace

TEST_MAIN("tests")
