// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "shm.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "common/failure.h"

namespace perf
{

using tools::Failure;
using tools::format;

namespace
{

constexpr size_t to_server = 0, to_caller = 1;

std::string first_line(const std::filesystem::path &path)
{
	std::ifstream file(path);
	std::string line;
	std::getline(file, line);
	return line;
}

std::filesystem::path find_device()
{
	std::error_code error;
	for (const auto &entry : std::filesystem::directory_iterator("/sys/bus/pci/devices", error))
		if (first_line(entry.path() / "vendor") == "0x1af4" && first_line(entry.path() / "device") == "0x1110")
			return entry.path();
	throw Failure("no ivshmem device; give each QEMU -object memory-backend-file,share=on,... and "
		      "-device ivshmem-plain,memdev=...");
}

void await(const SharedBar &bar, size_t word, uint64_t value, const tools::Deadline &deadline)
{
	volatile uint64_t *at = bar.word(word);
	if (!tools::poll_until([&] { return *at == value; }, deadline))
		throw Failure(
			format("shared memory: message %llu did not come", static_cast<unsigned long long>(value)));
}

} // namespace

SharedBar::SharedBar()
{
	std::filesystem::path device = find_device();
	/* No driver is bound, so nobody has switched the device on. */
	std::ofstream(device / "enable") << "1";
	std::string path = device / "resource2";
	int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) != 0)
		throw Failure(format("%s: %s", path.c_str(), tools::errno_text(errno)));
	size_ = static_cast<size_t>(st.st_size);
	map_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int error = errno;
	close(fd);
	if (map_ == MAP_FAILED)
		throw Failure(format("%s: cannot map: %s", path.c_str(), tools::errno_text(error)));
}

SharedBar::~SharedBar()
{
	munmap(map_, size_);
}

void shm_echo(uint64_t rounds, const tools::Deadline &deadline)
{
	SharedBar bar;
	for (uint64_t round = 1; round <= rounds; round++) {
		await(bar, to_server, round, deadline);
		*bar.word(to_caller) = round;
	}
}

void shm_ping(const SharedBar &bar, uint64_t round, const tools::Deadline &deadline)
{
	*bar.word(to_server) = round;
	await(bar, to_caller, round, deadline);
}

} // namespace perf
