// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file A job of PEs for each test, and memory that all of them have. */
#pragma once

#include "model_place.hpp"

#include <cstdlib>
#include <cstring>

inline int job_start(void **)
{
	setenv("XT_SYMMETRIC_HEAP_SIZE", "4m", 1);
	job::start(2);
	return 0;
}

inline int job_stop(void **)
{
	job::stop();
	return 0;
}

/** The same block of all PEs, zeroed. */
struct Symmetric {
	std::vector<unsigned char *> at;

	explicit Symmetric(size_t bytes, int npes = 2)
	{
		for (int pe = 0; pe < npes; pe++) {
			job::choose(pe);
			at.push_back(static_cast<unsigned char *>(dmapp_sheap_malloc(bytes)));
			assert_non_null(at.back());
			memset(at.back(), 0, bytes);
		}
		job::choose(0);
	}
	~Symmetric()
	{
		for (size_t pe = 0; pe < at.size(); pe++) {
			job::choose(static_cast<int>(pe));
			dmapp_sheap_free(at[pe]);
		}
		job::choose(0);
	}
	Symmetric(const Symmetric &) = delete;
	Symmetric &operator=(const Symmetric &) = delete;

	uint64_t &word(int pe, size_t n) const
	{
		return reinterpret_cast<uint64_t *>(at.at(static_cast<size_t>(pe)))[n];
	}
};

/** The descriptor that a PE has of its heap. */
inline dmapp_seg_desc_t *heap(int pe = 0)
{
	static dmapp_seg_desc_t copy;

	copy = job::info(pe).sheap_seg;
	return &copy;
}

/** The same of its static data. */
inline dmapp_seg_desc_t *data_segment(int pe = 0)
{
	static dmapp_seg_desc_t copy;

	copy = job::info(pe).data_seg;
	return &copy;
}
