// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file The symmetric heap and registered memory. */
#include "entry.hpp"

using namespace dmapp;

void *dmapp_sheap_malloc(size_t bytes)
{
	void *block = nullptr;

	(void)enter([&](Instance &i) {
		block = i.heap_take(bytes);
		return DMAPP_RC_SUCCESS;
	});
	return block;
}

void dmapp_sheap_free(void *ptr)
{
	(void)enter([&](Instance &i) { return !ptr || i.heap_give(ptr) ? DMAPP_RC_SUCCESS : DMAPP_RC_INVALID_PARAM; });
}

dmapp_return_t dmapp_mem_register(void *addr, uint64_t length, dmapp_seg_desc_t *seg)
{
	return enter([&](Instance &i) { return i.register_memory(addr, length, seg); });
}

dmapp_return_t dmapp_mem_unregister(dmapp_seg_desc_t *seg)
{
	return enter([&](Instance &i) { return i.unregister_memory(seg); });
}

/* By the key, which is what names memory. */
dmapp_return_t dmapp_segdesc_compare(dmapp_seg_desc_t *a, dmapp_seg_desc_t *b, int *flag)
{
	if (!a || !b || !flag)
		return DMAPP_RC_INVALID_PARAM;
	*flag = 1;
	for (size_t n = 0; n < sizeof(a->key) / sizeof(a->key[0]); n++)
		*flag = *flag && a->key[n] == b->key[n];
	return DMAPP_RC_SUCCESS;
}
