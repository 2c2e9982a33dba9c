// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "registration.hpp"
#include "gni_memhandle.h"

#include <cstdlib>

namespace ugni
{

Registration *RegistrationTable::place(uint32_t mdh)
{
	if (mdh >= kMdhs)
		return nullptr;
	Registration *&block = blocks_[mdh / kBlock];
	if (!block)
		block = static_cast<Registration *>(calloc(kBlock, sizeof(Registration)));
	return block ? &block[mdh % kBlock] : nullptr;
}

Registration *RegistrationTable::find(uint32_t mdh) const
{
	if (mdh >= kMdhs || !blocks_[mdh / kBlock])
		return nullptr;
	Registration *r = &blocks_[mdh / kBlock][mdh % kBlock];
	return gni_hndl_none(&r->handle) ? nullptr : r;
}

Registration *RegistrationTable::next(uint32_t mdh) const
{
	for (; mdh < kMdhs; mdh++) {
		if (Registration *r = find(mdh))
			return r;
	}
	return nullptr;
}

uint64_t RegistrationTable::address_at(const Registration &r, uint64_t offset)
{
	if (!r.pieces) {
		/* Whole pages, as the NIC sees them. */
		const gni_hndl m = gni_hndl_decode(&r.handle);

		return offset < m.pages << m.page_shift ? m.address + offset : 0;
	}
	for (const Piece *p = r.pieces; p->bytes; p++) {
		if (offset < p->bytes)
			return p->address + offset;
		offset -= p->bytes;
	}
	return 0;
}

void RegistrationTable::close(void (*end)(const Registration &))
{
	for (uint32_t mdh = 0; mdh < kMdhs; mdh++) {
		if (const Registration *r = find(mdh)) {
			end(*r);
			free(r->pieces);
		}
	}
	for (Registration *&block : blocks_) {
		free(block);
		block = nullptr;
	}
}

} // namespace ugni
