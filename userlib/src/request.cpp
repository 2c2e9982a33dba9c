// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "request.hpp"
#include "ground.hpp"

#include <sys/mman.h>

namespace ugni
{

bool RequestTable::open()
{
	void *p = ground_new(kBytes);

	if (!p)
		return false;
	(void)madvise(p, kBytes, MADV_DONTFORK);
	table_ = static_cast<Request *>(p);
	return true;
}

void RequestTable::close()
{
	/* A thread that is late finds the requests that it knows. */
	if (table_)
		ground_leave(table_, kBytes);
}

void RequestTable::mend()
{
	uint32_t free = 0;

	for (uint32_t id = 1; id < fresh_ && id < kIds; id++)
		free += !table_[id].state;
	if (free == free_.length)
		return;
	free_ = {};
	for (uint32_t id = 1; id < fresh_ && id < kIds; id++) {
		if (!table_[id].state)
			give(id);
	}
}

} // namespace ugni
