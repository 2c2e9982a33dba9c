// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "shared.h"

#include <fnmatch.h>

#include <cstring>

namespace gnitrace
{

const char *const function_names[GNI_TRACE_COUNT] = {
#define NAME(name) #name,
	GNI_TRACE_FUNCTIONS(NAME)
#undef NAME
};

const char *choose(const char *expression, bool (&chosen)[GNI_TRACE_COUNT])
{
	static thread_local char word[64];
	const bool others = expression && *expression == '!';
	const char *at = expression && *expression ? expression + others : "GNI_*";
	for (bool &one : chosen)
		one = others;
	for (;;) {
		const size_t length = strcspn(at, ",");
		bool any = false;
		if (length >= sizeof(word))
			return at;
		memcpy(word, at, length);
		word[length] = '\0';
		for (unsigned n = 0; n < GNI_TRACE_COUNT; n++) {
			if (fnmatch(word, function_names[n], 0) != 0)
				continue;
			chosen[n] = !others;
			any = true;
		}
		if (!any)
			return word;
		if (!at[length])
			return nullptr;
		at += length + 1;
	}
}

} // namespace gnitrace
