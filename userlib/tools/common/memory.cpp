// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cinttypes>
#include <fstream>
#include <string>

#include "failure.h"

namespace tools
{

namespace
{

constexpr size_t small_page = 4096;
constexpr size_t huge_page = 2u << 20;

/* What of this process lies in huge pages, in KiB; 0 where the kernel does not tell. */
uint64_t huge_pages_kib()
{
	std::ifstream file("/proc/self/smaps_rollup");
	uint64_t kib = 0;

	for (std::string word; file >> word;) {
		if (word == "AnonHugePages:")
			file >> kib;
	}
	return kib;
}

} // namespace

Memory::Memory(size_t bytes, Pages pages) : size_(bytes), map_size_(bytes)
{
	const bool huge = pages == Pages::Huge;
	const int populate = huge ? 0 : MAP_POPULATE;

	if (huge) {
		size_ = (bytes + huge_page - 1) / huge_page * huge_page;
		map_size_ = size_ + huge_page;
	}
	map_ = mmap(nullptr, map_size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | populate, -1, 0);
	if (map_ == MAP_FAILED)
		throw Failure(format("no memory for a buffer of %zu bytes: %s", bytes, errno_text(errno)));
	data_ = static_cast<uint8_t *>(map_);
	if (!huge)
		return;
	data_ += -reinterpret_cast<uintptr_t>(map_) % huge_page;
	try {
		populate_huge();
	} catch (...) {
		munmap(map_, map_size_);
		throw;
	}
}

/* The kernel gives them at the first store, if it has some. */
void Memory::populate_huge()
{
	if (madvise(data_, size_, MADV_HUGEPAGE) != 0)
		throw Failure(format("no transparent huge pages in this kernel: %s", errno_text(errno)));
	const uint64_t before = huge_pages_kib();
	for (size_t at = 0; at < size_; at += small_page)
		static_cast<volatile uint8_t *>(data_)[at] = 0;
	const uint64_t got = huge_pages_kib() - before;
	if (got < size_ / 1024)
		throw Failure(format("the kernel has given huge pages for %" PRIu64
				     " of %zu KiB: there are no more, or "
				     "/sys/kernel/mm/transparent_hugepage/enabled says never",
				     got, size_ / 1024));
}

Memory::~Memory()
{
	munmap(map_, map_size_);
}

} // namespace tools
