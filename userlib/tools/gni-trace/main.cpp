// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * gni-trace: runs a program and prints its calls of the GNI interface.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "common/command_line.h"
#include "common/failure.h"
#include "common/output.h"
#include "shared.h"

namespace gnitrace
{

namespace
{

using tools::Failure;
using tools::format;
using tools::UsageError;
namespace fs = std::filesystem;

enum Exit { exit_ok = 0, exit_failed = 1, exit_usage = 2, exit_not_run = 126, exit_not_found = 127 };

constexpr const char *library = "libgni-trace.so";
constexpr const char *footer = "A line: time of day (UTC) [process/thread] FUNCTION(arguments) = result. What a call "
			       "has put behind a pointer\n"
			       "stands in [ ]; of an array the first element is shown.\n"
			       "Exit status: that of PROGRAM, which is ended by a signal if PROGRAM was; 127 there is "
			       "no PROGRAM, 126 it cannot be\n"
			       "run, 1 gni-trace itself failed, 2 wrong usage.";

struct Options {
	std::string file, only;
	bool summary = false, both = false, times = false, follow = false;
	std::vector<std::string> program;
};

/* Beside an installed launcher, and in a folder of a build. */
std::string library_path()
{
	std::error_code error;
	const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
	for (const fs::path &path : {folder.parent_path() / TOOLS_LIBDIR / library, folder / library})
		if (fs::exists(path, error))
			return path;
	throw Failure(format("%s is not beside %s", library, folder.c_str()));
}

/** The file of counts, which goes with this object. */
class CountsFile
{
public:
	CountsFile()
	{
		for (const char *folder : {"/dev/shm", "/tmp"}) {
			path_ = format("%s/gni-trace.XXXXXX", folder);
			const int fd = mkostemp(path_.data(), O_CLOEXEC);
			if (fd < 0)
				continue;
			void *p = MAP_FAILED;
			if (ftruncate(fd, sizeof(Counts)) == 0)
				p = mmap(nullptr, sizeof(Counts), PROT_READ, MAP_SHARED, fd, 0);
			close(fd);
			if (p != MAP_FAILED) {
				counts_ = static_cast<const Counts *>(p);
				return;
			}
			unlink(path_.c_str());
		}
		throw Failure("no place for a file of counts in /dev/shm or /tmp");
	}
	CountsFile(const CountsFile &) = delete;
	CountsFile &operator=(const CountsFile &) = delete;
	~CountsFile()
	{
		unlink(path_.c_str());
		munmap(const_cast<Counts *>(counts_), sizeof(Counts));
	}

	const char *path() const { return path_.c_str(); }
	const Counts &counts() const { return *counts_; }

private:
	std::string path_;
	const Counts *counts_ = nullptr;
};

void set(const char *name, const std::string &value)
{
	if (setenv(name, value.c_str(), 1) != 0) // NOLINT(concurrency-mt-unsafe)
		throw Failure("no memory for the environment");
}

void set_environment(const Options &options, const CountsFile &counts)
{
	const char *before = getenv("LD_PRELOAD"); // NOLINT(concurrency-mt-unsafe)
	const std::string path = library_path();
	if (before)
		set(env_preload, before);
	set("LD_PRELOAD", before && *before ? path + ":" + before : path);
	set(env_counts, counts.path());
	if (!options.file.empty())
		set(env_file, fs::absolute(options.file));
	if (!options.only.empty())
		set(env_only, options.only);
	set(env_times, options.times ? "1" : "0");
	set(env_quiet, options.summary && !options.both ? "1" : "0");
	set(env_follow, options.follow ? "1" : "0");
}

/* In the child. */
[[noreturn]] void run_program(const std::vector<std::string> &program)
{
	std::vector<char *> argv;
	set(env_process, std::to_string(getpid()));
	argv.reserve(program.size() + 1);
	for (const std::string &word : program)
		argv.push_back(const_cast<char *>(word.c_str()));
	argv.push_back(nullptr);
	execvp(argv[0], argv.data());
	const int error = errno;
	fprintf(stderr, "gni-trace: %s: %s\n", argv[0], tools::errno_text(error));
	_exit(error == ENOENT ? exit_not_found : exit_not_run);
}

/* Waits for the program, which gets the terminal's signals itself. */
int wait_for(pid_t pid)
{
	int status = 0;
	for (const int number : {SIGINT, SIGQUIT})
		(void)signal(number, SIG_IGN);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			throw Failure(format("cannot wait for the program: %s", tools::errno_text(errno)));
	return status;
}

void print_summary(const Counts &counts, FILE *out)
{
	std::vector<unsigned> order;
	uint64_t calls = 0, not_done = 0, errors = 0, total = 0;
	for (unsigned n = 0; n < GNI_TRACE_COUNT; n++) {
		const Count &c = counts.functions[n];
		if (!c.calls)
			continue;
		order.push_back(n);
		calls += c.calls, not_done += c.not_done, errors += c.errors, total += c.nanoseconds;
	}
	std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
		return counts.functions[a].nanoseconds > counts.functions[b].nanoseconds;
	});
	auto row = [&](uint64_t ns, uint64_t number, uint64_t waits, uint64_t failed, const char *name) {
		fprintf(out, "%6.2f %11.6f %11.3f %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %s\n",
			total ? 100.0 * static_cast<double>(ns) / static_cast<double>(total) : 0.0,
			static_cast<double>(ns) / 1e9,
			number ? static_cast<double>(ns) / 1e3 / static_cast<double>(number) : 0.0, number, waits,
			failed, name);
	};
	fprintf(out, "%6s %11s %11s %9s %9s %9s %s\n", "% time", "seconds", "us/call", "calls", "not done", "errors",
		"function");
	for (const unsigned n : order) {
		const Count &c = counts.functions[n];
		row(c.nanoseconds, c.calls, c.not_done, c.errors, function_names[n]);
	}
	row(total, calls, not_done, errors, "total");
}

void report(const Options &options, const Counts &counts)
{
	uint64_t calls = 0;
	for (const Count &c : counts.functions)
		calls += c.calls;
	const char *name = options.program[0].c_str();
	if (!counts.processes)
		fprintf(stderr, "gni-trace: %s has loaded no tracer: is it linked statically, or set-user-id%s?\n",
			name, options.follow ? "" : ", or do its children make the calls (-f)");
	else if (!calls)
		fprintf(stderr, "gni-trace: no call was seen: %s made none%s, or it is linked with libugni.a%s\n", name,
			options.only.empty() ? "" : " of those of -e",
			options.follow ? "" : ", or its children make them (-f)");
	if (!options.summary && !options.both)
		return;
	FILE *out = options.file.empty() ? stderr : fopen(options.file.c_str(), "ae");
	if (!out)
		throw Failure(format("%s: %s", options.file.c_str(), tools::errno_text(errno)));
	print_summary(counts, out);
	if (out != stderr && fclose(out) != 0)
		throw Failure(format("cannot write %s", options.file.c_str()));
}

/* As the program has ended. */
int end_alike(int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	const rlimit no_core = {0, 0};
	setrlimit(RLIMIT_CORE, &no_core);
	(void)signal(WTERMSIG(status), SIG_DFL);
	(void)raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

int trace(const Options &options)
{
	bool chosen[GNI_TRACE_COUNT];
	if (const char *nothing = choose(options.only.c_str(), chosen))
		throw UsageError(format("-e: '%s' names no function of the interface", nothing));
	if (!options.file.empty()) {
		const int fd = open(options.file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		if (fd < 0)
			throw Failure(format("%s: %s", options.file.c_str(), tools::errno_text(errno)));
		close(fd);
	}
	int status = 0;
	{
		const CountsFile counts;
		set_environment(options, counts);
		fflush(nullptr);
		const pid_t pid = fork();
		if (pid < 0)
			throw Failure(format("cannot start a process: %s", tools::errno_text(errno)));
		if (pid == 0)
			run_program(options.program);
		status = wait_for(pid);
		const bool not_run =
			WIFEXITED(status) && WEXITSTATUS(status) >= exit_not_run && !counts.counts().processes;
		if (!not_run)
			report(options, counts.counts());
	}
	return end_alike(status);
}

int run(int argc, char **argv)
{
	tools::CommandLine line("gni-trace", "Runs a program and prints its calls of the GNI interface.",
				{"[OPTIONS] PROGRAM [ARGUMENTS]"}, footer);
	Options options;

	line.text({"-o,--output", "FILE", "file for lines and summary (standard error)"}, options.file);
	line.text({"-e,--only", "LIST",
		   "functions, with commas between them; * and ? are wildcards, a leading ! means all others (GNI_*: "
		   "all but\n"
		   "the accessors gni_*)"},
		  options.only);
	line.flag("-c,--summary", "counts, errors and times of each function at the end, no lines", options.summary);
	line.flag("-C,--both", "lines, and the summary at the end", options.both);
	line.flag("-T,--times", "time spent in each call, in seconds", options.times);
	line.flag("-f,--follow", "processes that the program starts, too", options.follow);
	line.rest(options.program);
	if (!line.parse(argc, argv))
		return exit_ok;
	if (!options.program.empty() && options.program[0] == "--")
		options.program.erase(options.program.begin());
	if (options.program.empty())
		throw UsageError("name a program; see --help");
	if (options.program[0].empty() || options.program[0][0] == '-')
		throw UsageError(format("'%s' is not an option; see --help", options.program[0].c_str()));
	return trace(options);
}

} // namespace

} // namespace gnitrace

int main(int argc, char **argv)
{
	try {
		return tools::finish("gni-trace", gnitrace::run(argc, argv));
	} catch (const tools::UsageError &error) {
		fprintf(stderr, "gni-trace: %s\n", error.what());
		return gnitrace::exit_usage;
	} catch (const std::exception &error) {
		fprintf(stderr, "gni-trace: %s\n", error.what());
		return gnitrace::exit_failed;
	}
}
