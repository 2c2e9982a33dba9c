// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "debug.hpp"
#include "place.hpp"

#include <pmi.h>

#include <cstdlib>
#include <link.h>
#include <new>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace dmapp::place
{

namespace
{

/* Far from where Linux puts programs, libraries, stacks and huge allocations, and where no sanitizer has its shadow. */
constexpr uintptr_t kHeapAddress = uintptr_t{1} << 45;

uintptr_t page_bytes()
{
	return static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
}

void *map_at(void *address, size_t bytes, int more)
{
	void *p = mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | more, -1, 0);

	return p == MAP_FAILED ? nullptr : p;
}

/* The program itself comes first; pages that are read-only after its relocations do not count. */
int first_object(dl_phdr_info *info, size_t, void *result)
{
	const uintptr_t page = page_bytes();
	uintptr_t start = 0, end = 0, fixed = 0;

	for (int n = 0; n < info->dlpi_phnum; n++) {
		const ElfW(Phdr) &h = info->dlpi_phdr[n];
		const uintptr_t from = info->dlpi_addr + h.p_vaddr;

		if (h.p_type == PT_LOAD && (h.p_flags & PF_W)) {
			start = start ? start : from & ~(page - 1);
			end = (from + h.p_memsz + page - 1) & ~(page - 1);
		} else if (h.p_type == PT_GNU_RELRO) {
			fixed = (from + h.p_memsz) & ~(page - 1);
		}
	}
	if (fixed > start && fixed < end)
		start = fixed;
	// NOLINTNEXTLINE(performance-no-int-to-ptr)
	*static_cast<Range *>(result) = {reinterpret_cast<void *>(start), end - start};
	return 1;
}

} // namespace

bool open(Job *job)
{
	int spawned = 0;

	if (PMI_Init(&spawned) != PMI_SUCCESS)
		return false;
	const char *cookie = getenv("PMI_GNI_COOKIE"); // NOLINT(concurrency-mt-unsafe)
	const char *device = getenv("PMI_GNI_DEV_ID"); // NOLINT(concurrency-mt-unsafe)
	if (!cookie || PMI_Get_rank(&job->pe) != PMI_SUCCESS || PMI_Get_size(&job->npes) != PMI_SUCCESS) {
		debug("no launcher has told this process its place and a cookie");
		close();
		return false;
	}
	job->cookie = static_cast<uint32_t>(strtoul(cookie, nullptr, 0));
	job->device = device ? static_cast<uint32_t>(strtoul(device, nullptr, 0)) : 0;
	return true;
}

void close()
{
	(void)PMI_Finalize();
}

bool allgather(void *mine, void *all, int bytes)
{
	return PMI_Allgather(mine, all, bytes) == PMI_SUCCESS;
}

Range data_segment()
{
	Range found{};

	(void)dl_iterate_phdr(first_object, &found);
	return found;
}

void *heap_map(size_t bytes)
{
	Job job{};
	void *wanted = reinterpret_cast<void *>(kHeapAddress); // NOLINT(performance-no-int-to-ptr)
	void *heap = map_at(wanted, bytes, MAP_FIXED_NOREPLACE | MAP_NORESERVE);
	auto mine = static_cast<uint64_t>(heap == wanted ? bytes : 0);

	if (PMI_Get_size(&job.npes) != PMI_SUCCESS)
		mine = 0;
	std::vector<uint64_t> all(job.npes ? static_cast<size_t>(job.npes) : 1);
	bool agreed = allgather(&mine, all.data(), sizeof(mine));
	for (const uint64_t other : all)
		agreed = agreed && other == bytes;
	if (agreed)
		return heap;
	debug("the symmetric heap is not at %p with %zu bytes on all PEs", wanted, bytes);
	if (heap)
		heap_unmap(heap, bytes);
	return nullptr;
}

void heap_unmap(void *heap, size_t bytes)
{
	(void)munmap(heap, bytes);
}

void *pages(size_t bytes)
{
	return map_at(nullptr, bytes, 0);
}

void pages_end(void *at, size_t bytes)
{
	(void)munmap(at, bytes);
}

} // namespace dmapp::place
