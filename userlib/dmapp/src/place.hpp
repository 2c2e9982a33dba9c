// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file What a PE learns from its launcher, and where its memory is; tests have places of their own. */
#pragma once

#include <cstddef>
#include <cstdint>

namespace dmapp::place
{

struct Job {
	int pe;
	int npes;
	uint32_t cookie;
	uint32_t device;
};

struct Range {
	void *start;
	size_t bytes;
};

/** Takes the place of this process in its job. Return: false if no launcher has given it one. */
bool open(Job *job);
void close();

/** @bytes of every PE, in their order; returns when all have come. */
bool allgather(void *mine, void *all, int bytes);

/** Static data of the program that can be written to; none: {nullptr, 0}. */
Range data_segment();

/** Memory for the symmetric heap, at one address on all PEs; all call it. Return: nullptr: no such place, or no memory.
 */
void *heap_map(size_t bytes);
void heap_unmap(void *heap, size_t bytes);

/** Pages of the library's own, zeroed. Return: nullptr without memory. */
void *pages(size_t bytes);
void pages_end(void *at, size_t bytes);

} // namespace dmapp::place
