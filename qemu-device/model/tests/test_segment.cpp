/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fabric's file: whose it is, room for it, what a large one costs. */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fabric/segment.hpp"
#include "tests/child.hpp"
#include "tests/pair.hpp"
#include "tests/scratch_mount.hpp"

using namespace aries_test;

namespace
{

std::string failure(const std::string &path, const FakeHost::Options &options = {})
{
	try {
		FakeHost host(path, 0, options);
	} catch (const std::string &text) {
		return text;
	}
	return "";
}

bool has(const std::string &text, const std::string &part)
{
	if (text.find(part) != std::string::npos)
		return true;
	print_error("\"%s\" does not say \"%s\"\n", text.c_str(), part.c_str());
	return false;
}

void write_file(const std::string &path, const std::string &data)
{
	const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data.data(), data.size()), data.size());
	close(fd);
}

std::string read_file(const std::string &path)
{
	std::string data(4 << 20, 0);
	const int fd = open(path.c_str(), O_RDONLY);

	if (fd < 0)
		return "(gone)";
	const ssize_t got = read(fd, data.data(), data.size());

	close(fd);
	data.resize(size_t(got));
	return data;
}

/* A file that is not a fabric is left as it is, however it begins. */
TEST(test_files_of_others)
{
	std::string image(1 << 20, 0);

	image.replace(1024, 16, "a file system's!");
	for (const std::string &data : {std::string("precious data"), std::string(3, 0), std::string(8, 0),
					std::string(1 << 20, 0), image, std::string("\x01\0\0\0\0\0\0\0", 8)}) {
		const std::string path = fabric_path();

		write_file(path, data);
		const std::string text = failure(path);

		assert_true(has(text, path));
		assert_true(has(text, "is not a fabric"));
		assert_true(read_file(path) == data);
	}
}

/* Whatever a member left that died, or died while it made the fabric, is made anew. */
TEST(test_files_of_the_dead)
{
	const auto word = [](uint64_t value) { return std::string(reinterpret_cast<const char *>(&value), 8); };

	for (const std::string &data :
	     {std::string(), word(aries::SEGMENT_BEING_MADE), word(aries::SEGMENT_BEING_MADE) + std::string(1 << 20, 0),
	      word(aries::SEGMENT_MAGIC) + std::string(100, 'x')}) {
		const std::string path = fabric_path();

		write_file(path, data);
		assert_string_equal(failure(path).c_str(), "");
	}
}

/* Names of sockets are made from the fabric's: a file that has such a name is not removed. */
TEST(test_file_in_place_of_the_socket)
{
	const std::string path = fabric_path();

	write_file(path + ".wake0", "precious data");
	assert_true(has(failure(path), "wake socket"));
	assert_string_equal(read_file(path + ".wake0").c_str(), "precious data");
	write_file(path + ".wake1", "precious data");
	unlink((path + ".wake0").c_str());
	assert_string_equal(failure(path).c_str(), "");
	assert_string_equal(read_file(path + ".wake1").c_str(), "precious data");
	unlink((path + ".wake1").c_str());
}

enum Outcome { DONE, REFUSED, WRONG_TEXT, NO_MOUNT };

/* Two of four members on a file system of @kib, which is full as soon as the fabric is there. */
Outcome on_small_disk(unsigned int kib)
{
	const std::string path = "/dev/shm/fabric";
	const FakeHost::Options four = {.nodes = 4};

	if (!own_namespaces() || !scratch_mount("tmpfs", "/dev/shm", "size=" + std::to_string(kib) + "k"))
		return NO_MOUNT;
	try {
		FakeHost a(path, 0, four);
		FakeHost b(path, 3, four);
		const std::string rest(4096, 'x');
		const int fd = open("/dev/shm/rest", O_RDWR | O_CREAT, 0600);

		while (write(fd, rest.data(), rest.size()) > 0)
			;
		FakeHost c(path, 1, four);

		for (unsigned int node = 0; node < 4; node++) {
			a.enable_fmad(FMAD, PTAG_A, OWNER);
			a.desc(FMAD).pe = uint16_t(node);
			a.ring(FMAD, ARIES_FMA_PUT_LINE, 8);
		}
		a.main_loop();
		b.main_loop();
		char text[4096];

		aries_nic_describe(c.nic(), text, sizeof(text));
		for (unsigned int i = 0; i < ARIES_CNT_COUNT; i++)
			c.counter(i);
		return DONE;
	} catch (const std::string &text) {
		if (text.find("no space for fabric " + path) == 0 && text.find("MiB, free are") != std::string::npos &&
		    access(path.c_str(), F_OK) < 0)
			return REFUSED;
		print_error("%u KiB: %s\n", kib, text.c_str());
		return WRONG_TEXT;
	}
}

/* There is room for all of the fabric, or the first member says that there is not: nobody meets a SIGBUS later. */
TEST(test_no_room)
{
	const unsigned int all = 4 * (sizeof(aries::NodeSlot) + 4096) / 1024 + 256;
	unsigned int refused = 0, done = 0;

	for (unsigned int kib = 4; kib < all + 256; kib += kib < 64 ? 12 : 92) {
		const pid_t child = quiet_fork();
		int status;

		if (child == 0)
			_exit(on_small_disk(kib));
		assert_int_equal(waitpid(child, &status, 0), child);
		if (!WIFEXITED(status))
			fail_msg("%u KiB: ended by signal %d", kib, WTERMSIG(status));
		if (WEXITSTATUS(status) == NO_MOUNT) {
			print_message("mounts of a process's own are not permitted here\n");
			skip();
		}
		assert_in_range(WEXITSTATUS(status), DONE, REFUSED);
		refused += WEXITSTATUS(status) == REFUSED;
		done += WEXITSTATUS(status) == DONE;
	}
	assert_true(refused > 3);
	assert_true(done > 1);
}

/* What a tick touches grows with the members that there are, not with the fabric. */
TEST(test_tick_of_a_large_fabric)
{
	const auto first_tick = [](uint32_t nodes) {
		const FakeHost host(fabric_path(), 0, {.nodes = nodes});
		rusage before, after;

		getrusage(RUSAGE_THREAD, &before);
		aries_nic_tick(host.nic());
		getrusage(RUSAGE_THREAD, &after);
		return after.ru_minflt - before.ru_minflt;
	};

	first_tick(2);
	assert_in_range(first_tick(256), 0, 64);
}

} // namespace

TEST_MAIN("tests")
