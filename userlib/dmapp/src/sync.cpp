// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file Completion. */
#include "entry.hpp"

using namespace dmapp;

dmapp_return_t dmapp_syncid_wait(dmapp_syncid_handle_t *syncid)
{
	return enter([&](Instance &i) { return i.wait(syncid); });
}

dmapp_return_t dmapp_syncid_test(dmapp_syncid_handle_t *syncid, int *flag)
{
	return enter([&](Instance &i) { return i.test(syncid, flag); });
}

dmapp_return_t dmapp_gsync_wait(void)
{
	return enter([](Instance &i) { return i.gsync_wait(); });
}

dmapp_return_t dmapp_gsync_test(int *flag)
{
	return enter([&](Instance &i) { return i.gsync_test(flag); });
}

dmapp_return_t dmapp_progress(void)
{
	return enter([](Instance &i) {
		i.flush();
		i.progress();
		return DMAPP_RC_SUCCESS;
	});
}
