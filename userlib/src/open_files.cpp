// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "open_files.hpp"

#include <atomic>
#include <cstdint>
#include <pthread.h>
#include <unistd.h>

namespace ugni::sys
{

namespace
{

constexpr int kMostFiles = 1 << 16; /* more stay open in a child */

constinit std::atomic<uint64_t> open_files[kMostFiles / 64] = {};
constinit pthread_once_t child_handler = PTHREAD_ONCE_INIT;

void close_all()
{
	for (int first = 0; first < kMostFiles; first += 64) {
		for (uint64_t left = open_files[first / 64].exchange(0); left; left &= left - 1)
			(void)::close(first + __builtin_ctzll(left));
	}
}

} // namespace

void open_files_add(int fd)
{
	(void)pthread_once(&child_handler, [] { (void)pthread_atfork(nullptr, nullptr, close_all); });
	if (fd < kMostFiles)
		open_files[fd / 64].fetch_or(uint64_t{1} << (fd % 64));
}

void open_files_remove(int fd)
{
	if (fd >= 0 && fd < kMostFiles)
		open_files[fd / 64].fetch_and(~(uint64_t{1} << (fd % 64)));
}

} // namespace ugni::sys
