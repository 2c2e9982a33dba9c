// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "call.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace gnitrace
{

namespace
{

constexpr const char *library = "libugni.so.0";

/** What the launcher wants; written once, before the program begins. */
struct Wishes {
	bool chosen[GNI_TRACE_COUNT];
	bool times, quiet, follow;
	std::atomic<bool> off; /* in a child that is not followed */
	char file[4096];
	Counts *counts;
	Counts nowhere; /* without a file of counts */
};

Wishes wishes;

/* Where libugni lies in memory. */
std::atomic<uintptr_t> library_begin, library_end;

uint64_t now_ns(clockid_t clock)
{
	timespec t;
	clock_gettime(clock, &t);
	return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

int find_range(dl_phdr_info *info, size_t, void *inside)
{
	uintptr_t begin = UINTPTR_MAX, end = 0;
	for (int n = 0; n < info->dlpi_phnum; n++) {
		const ElfW(Phdr) &part = info->dlpi_phdr[n];
		if (part.p_type != PT_LOAD)
			continue;
		const uintptr_t at = info->dlpi_addr + part.p_vaddr;
		begin = at < begin ? at : begin;
		end = at + part.p_memsz > end ? at + part.p_memsz : end;
	}
	const auto address = reinterpret_cast<uintptr_t>(inside);
	if (address < begin || address >= end)
		return 0;
	library_begin.store(begin, std::memory_order_relaxed);
	library_end.store(end, std::memory_order_release);
	return 1;
}

bool is_of_library(const void *caller)
{
	const auto address = reinterpret_cast<uintptr_t>(caller);
	return address < library_end.load(std::memory_order_acquire) &&
	       address >= library_begin.load(std::memory_order_relaxed);
}

/* One write for each line: those of several threads and processes do not mix. */
void put(const char *line, size_t length)
{
	int fd = STDERR_FILENO;
	if (*wishes.file)
		fd = open(wishes.file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0644);
	if (fd < 0)
		return;
	(void)!write(fd, line, length);
	if (*wishes.file)
		close(fd);
}

Counts *map_counts(const char *path)
{
	const int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *p = fd < 0 ? MAP_FAILED : mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	return p == MAP_FAILED ? &wishes.nowhere : static_cast<Counts *>(p);
}

bool is_set(const char *name)
{
	const char *value = getenv(name); // NOLINT(concurrency-mt-unsafe)
	return value && strcmp(value, "1") == 0;
}

/* The program, and what it starts, sees the environment that it would have without us. */
void restore_environment()
{
	// NOLINTBEGIN(concurrency-mt-unsafe): before the program begins
	const char *before = getenv(env_preload);
	if (before)
		setenv("LD_PRELOAD", before, 1);
	else
		unsetenv("LD_PRELOAD");
	for (const char *name :
	     {env_file, env_only, env_times, env_quiet, env_follow, env_counts, env_process, env_preload})
		unsetenv(name);
	// NOLINTEND(concurrency-mt-unsafe)
}

/* A program that is linked statically hands the variables on to what it starts. */
bool is_chosen_process()
{
	const char *process = getenv(env_process); // NOLINT(concurrency-mt-unsafe)
	return process && strtol(process, nullptr, 10) == getpid();
}

void in_child()
{
	if (!wishes.follow)
		wishes.off.store(true, std::memory_order_relaxed);
}

[[gnu::constructor]] void read_wishes()
{
	const char *file = getenv(env_file);           // NOLINT(concurrency-mt-unsafe)
	(void)choose(getenv(env_only), wishes.chosen); // NOLINT(concurrency-mt-unsafe)
	wishes.times = is_set(env_times);
	wishes.quiet = is_set(env_quiet);
	wishes.follow = is_set(env_follow);
	if (file && strlen(file) < sizeof(wishes.file))
		memcpy(wishes.file, file, strlen(file) + 1);
	wishes.off = !wishes.follow && !is_chosen_process();
	wishes.counts = map_counts(getenv(env_counts)); // NOLINT(concurrency-mt-unsafe)
	if (!wishes.off)
		wishes.counts->processes++;
	pthread_atfork(nullptr, nullptr, in_child);
	if (!wishes.follow)
		restore_environment();
}

} // namespace

void Text::add(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	// NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is, one line above
	const int n = vsnprintf(bytes_ + used_, sizeof(bytes_) - used_, format, args);
	va_end(args);
	if (n > 0)
		used_ += static_cast<size_t>(n);
	if (used_ > sizeof(bytes_) - 1)
		used_ = sizeof(bytes_) - 1;
}

void show_enum(Text &t, uint64_t value, const Name *names, size_t count)
{
	for (size_t n = 0; n < count; n++)
		if (names[n].value == value) {
			t.add("%s", names[n].name);
			return;
		}
	show_hex(t, value);
}

void show_flags(Text &t, uint64_t value, const Name *names, size_t count)
{
	uint64_t left = value;
	const char *mark = "";
	for (size_t n = 0; n < count; n++) {
		const bool whole = names[n].value ? (left & names[n].value) == names[n].value : !value && !*mark;
		if (!whole)
			continue;
		t.add("%s%s", mark, names[n].name);
		mark = "|";
		left &= ~names[n].value;
	}
	if (left || !*mark)
		t.add("%s0x%llx", mark, static_cast<unsigned long long>(left));
}

void show_pointer(Text &t, const void *value)
{
	if (value)
		t.add("%p", value);
	else
		t.add("NULL");
}

void show_hex(Text &t, uint64_t value)
{
	t.add("0x%llx", static_cast<unsigned long long>(value));
}

void show_handle(Text &t, const gni_mem_handle_t &handle)
{
	t.add("{0x%llx,0x%llx}", static_cast<unsigned long long>(handle.qword1),
	      static_cast<unsigned long long>(handle.qword2));
}

void show_text(Text &t, const char *value)
{
	if (value)
		t.add("\"%.200s\"", value);
	else
		t.add("NULL");
}

void show_list(Text &t, const uint64_t *values, size_t count)
{
	for (size_t n = 0; n < count; n++)
		t.add("%s0x%llx", n ? " " : "", static_cast<unsigned long long>(values[n]));
}

void *next_function(const char *name)
{
	const int before = errno;
	void *found = dlsym(RTLD_NEXT, name);
	if (!found) {
		/* A program that opened the library itself: it stands beside, not behind us. */
		void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
		found = handle ? dlsym(handle, name) : nullptr;
	}
	if (!found) {
		fprintf(stderr, "gni-trace: no %s has %s\n", library, name);
		_exit(127);
	}
	if (!library_end.load(std::memory_order_acquire))
		dl_iterate_phdr(find_range, found);
	errno = before;
	return found;
}

Call::Call(unsigned function, const void *caller)
	: function_(function), wanted_(!wishes.off.load(std::memory_order_relaxed) && wishes.counts &&
				       wishes.chosen[function] && !is_of_library(caller)),
	  prints_(wanted_ && !wishes.quiet)
{
}

Text &Call::argument(unsigned n, const char *name)
{
	Text &t = argument_[n];
	t.clear();
	t.add("%s=", name);
	if (n >= arguments_)
		arguments_ = n + 1;
	return t;
}

Text &Call::again(unsigned n, const char *name)
{
	return argument(n, name);
}

void Call::begin()
{
	if (!wanted_)
		return;
	begun_ = true;
	if (prints_)
		day_ns_ = now_ns(CLOCK_REALTIME);
	start_ = now_ns(CLOCK_MONOTONIC);
}

void Call::end()
{
	if (!wanted_)
		return;
	errno_ = errno;
	spent_ = now_ns(CLOCK_MONOTONIC) - start_;
	Count &count = wishes.counts->functions[function_];
	count.calls.fetch_add(1, std::memory_order_relaxed);
	count.nanoseconds.fetch_add(spent_, std::memory_order_relaxed);
}

void Call::end(gni_return_t result)
{
	end();
	if (!wanted_ || result == GNI_RC_SUCCESS)
		return;
	Count &count = wishes.counts->functions[function_];
	(result == GNI_RC_NOT_DONE ? count.not_done : count.errors).fetch_add(1, std::memory_order_relaxed);
}

void Call::write_line(const char *result) const
{
	char line[4096];
	size_t used = 0;
	auto add = [&](const char *text) {
		const size_t size = strlen(text), room = sizeof(line) - 2 - used;
		memcpy(line + used, text, size < room ? size : room);
		used += size < room ? size : room;
	};
	const time_t seconds = static_cast<time_t>(day_ns_ / 1000000000u);
	tm day = {};
	Text head, tail;
	gmtime_r(&seconds, &day);
	head.add("%02d:%02d:%02d.%06u [%d/%ld] %s(", day.tm_hour, day.tm_min, day.tm_sec,
		 static_cast<unsigned>(day_ns_ % 1000000000u / 1000u), getpid(), syscall(SYS_gettid),
		 function_names[function_]);
	tail.add(") = %s", result);
	if (wishes.times)
		tail.add(" <%.6f>", static_cast<double>(spent_) / 1e9);
	add(head.c_str());
	for (unsigned n = 0; n < arguments_; n++) {
		if (n)
			add(", ");
		add(argument_[n].c_str());
	}
	add(tail.c_str());
	line[used++] = '\n';
	put(line, used);
}

void Call::finish()
{
	done_ = true;
	if (prints_)
		write_line(*result_.c_str() ? result_.c_str() : "void");
	if (wanted_)
		errno = errno_;
}

Call::~Call()
{
	if (begun_ && !done_ && prints_)
		write_line("? (the thread was cancelled)");
}

} // namespace gnitrace
