// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Floor of block transfers: what the host's memcpy() reaches between two shared mappings, as the guests' memory is.
 * Prints one line per size: bytes, median nanoseconds of one copy.
 */
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace
{

uint64_t now_ns()
{
	timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

char *shared_memory(size_t bytes)
{
	int fd = memfd_create("hostcopy", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, static_cast<off_t>(bytes)) != 0) {
		perror("hostcopy: memfd");
		exit(1);
	}
	void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (p == MAP_FAILED) {
		perror("hostcopy: mmap");
		exit(1);
	}
	return static_cast<char *>(p);
}

} // namespace

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: hostcopy BYTES...\n");
		return 2;
	}
	for (int n = 1; n < argc; n++) {
		size_t bytes = strtoull(argv[n], nullptr, 0);
		if (!bytes) {
			fprintf(stderr, "hostcopy: '%s' is not a size\n", argv[n]);
			return 2;
		}
		char *from = shared_memory(bytes), *to = shared_memory(bytes);
		size_t rounds = std::clamp<size_t>((size_t(1) << 30) / bytes, 11, 1001);
		std::vector<uint64_t> times;
		for (size_t round = 0; round < rounds; round++) {
			memset(from, static_cast<int>(round), 64);
			uint64_t start = now_ns();
			memcpy(to, from, bytes);
			times.push_back(now_ns() - start);
			if (to[0] != from[0])
				return 1;
		}
		std::nth_element(times.begin(), times.begin() + static_cast<ptrdiff_t>(rounds / 2), times.end());
		printf("%zu %llu\n", bytes, static_cast<unsigned long long>(times[rounds / 2]));
		munmap(from, bytes);
		munmap(to, bytes);
	}
	return 0;
}
