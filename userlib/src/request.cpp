// SPDX-License-Identifier: BSD-2-Clause
#include "request.hpp"
#include "mapgap.hpp"

#include <sys/mman.h>

namespace ugni
{

bool RequestTable::open()
{
	void *p = mmap(nullptr, sizeof(Request) * kIds + kMapGap, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return false;
	table_ = static_cast<Request *>(p);
	return true;
}

void RequestTable::close()
{
	if (table_)
		(void)munmap(table_, sizeof(Request) * kIds + kMapGap);
	table_ = nullptr;
}

} // namespace ugni
