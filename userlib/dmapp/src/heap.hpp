// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file The symmetric heap: PEs that allocate and free in the same order get the same places. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace dmapp
{

class Heap
{
public:
	static constexpr size_t kAlignment = 64;

	/** What the environment asks for, in whole huge pages. @text: XT_SYMMETRIC_HEAP_SIZE. Return: 0: it makes no
	 * sense. */
	static size_t bytes_of(const char *text);

	void open(void *start, size_t bytes);
	/** Return: nullptr without room. */
	void *take(size_t bytes);
	/** Return: false if @block is none that take() has given. */
	bool give(void *block);
	void *start() const { return start_; }
	size_t bytes() const { return bytes_; }

private:
	char *start_ = nullptr;
	size_t bytes_ = 0;
	std::map<size_t, size_t> free_;  /* size by offset; no two are neighbours */
	std::map<size_t, size_t> taken_; /* the same */
};

} // namespace dmapp
