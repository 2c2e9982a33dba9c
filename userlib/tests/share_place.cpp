// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "share_place.hpp"
#include "kernel.hpp"

#include <cstdlib>
#include <filesystem>

namespace
{

char place[] = "/dev/shm/ugni-test-share.XXXXXX";
bool made;

void clear()
{
	std::error_code ignored;

	for (const auto &entry : std::filesystem::directory_iterator(place, ignored))
		std::filesystem::remove_all(entry.path(), ignored);
}

void remove()
{
	std::error_code ignored;

	std::filesystem::remove_all(place, ignored);
}

} // namespace

void own_share_place()
{
	if (!made) {
		if (!mkdtemp(place))
			abort();
		made = true;
		ugni::sys::share_directory = place;
		(void)atexit(remove);
	}
	clear();
}
