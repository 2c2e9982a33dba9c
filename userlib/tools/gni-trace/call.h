// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * One traced call. No memory is allocated and no lock taken, but when a function is called for the first time: calls
 * come from signal handlers and cancelled threads, too.
 */
#ifndef GNI_TRACE_CALL_H
#define GNI_TRACE_CALL_H

#define CRAY_CONFIG_GHAL_ARIES 1 /* names of all counters */

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "gni_pub.h"

#include "shared.h"

#define TRACED extern "C" [[gnu::visibility("default")]]

namespace gnitrace
{

/** Text of bounded length; what does not fit is left out. */
class Text
{
public:
	/* The rest has no value: a call that is not printed pays nothing for it. */
	Text() { bytes_[0] = '\0'; } // NOLINT(cppcoreguidelines-pro-type-member-init)
	[[gnu::format(printf, 2, 3)]] void add(const char *format, ...);
	void clear() { used_ = 0, bytes_[0] = '\0'; }
	const char *c_str() const { return bytes_; }

private:
	size_t used_ = 0;
	char bytes_[700];
};

/** A value with a name. */
struct Name {
	uint64_t value;
	const char *name;
};

void show_enum(Text &t, uint64_t value, const Name *names, size_t count);
void show_flags(Text &t, uint64_t value, const Name *names, size_t count);
template <size_t n> void show_enum(Text &t, uint64_t value, const Name (&names)[n])
{
	show_enum(t, value, names, n);
}
template <size_t n> void show_flags(Text &t, uint64_t value, const Name (&names)[n])
{
	show_flags(t, value, names, n);
}
void show_pointer(Text &t, const void *value);
void show_hex(Text &t, uint64_t value);
void show_handle(Text &t, const gni_mem_handle_t &handle);
void show_text(Text &t, const char *value);
void show_list(Text &t, const uint64_t *values, size_t count);
inline void show_number(Text &t, uint64_t value)
{
	t.add("%llu", static_cast<unsigned long long>(value));
}
inline void show_number(Text &t, int64_t value)
{
	t.add("%lld", static_cast<long long>(value));
}
inline void show_number(Text &t, uint32_t value)
{
	show_number(t, uint64_t{value});
}
inline void show_number(Text &t, int32_t value)
{
	show_number(t, int64_t{value});
}

/** The library's function of a name; the next one behind this library, however the program came by it. */
void *next_function(const char *name);

template <class Function> class Real
{
public:
	Function find(const char *name)
	{
		void *found = function_.load(std::memory_order_acquire);
		if (!found) {
			found = next_function(name);
			function_.store(found, std::memory_order_release);
		}
		return reinterpret_cast<Function>(found);
	}

private:
	std::atomic<void *> function_{nullptr};
};

class Call
{
public:
	/** @p caller: an address in the caller; libugni's own calls are counted with the call that they are part of. */
	Call(unsigned function, const void *caller);
	Call(const Call &) = delete;
	Call &operator=(const Call &) = delete;
	/** Says of a call that was not finished that its thread was cancelled. */
	~Call();

	/** True when a line is wanted. */
	bool prints() const { return prints_; }

	/** Text of argument @p n, with its name. */
	Text &argument(unsigned n, const char *name);
	/** The same, from its beginning: the call has put something there. */
	Text &again(unsigned n, const char *name);
	Text &result() { return result_; }

	void begin();
	void end();
	void end(gni_return_t result);
	/** Writes the line. */
	void finish();

private:
	void write_line(const char *result) const;

	static constexpr unsigned most_arguments = 10;
	unsigned function_;
	bool wanted_, prints_, begun_ = false, done_ = false;
	unsigned arguments_ = 0;
	int errno_ = 0;
	uint64_t start_ = 0, spent_ = 0, day_ns_ = 0;
	Text argument_[most_arguments];
	Text result_;
};

} // namespace gnitrace

#endif // GNI_TRACE_CALL_H
