// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * The parts of the tools that decide whether a transfer was right, without any NIC.
 */
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "common/command_line.h"
#include "common/failure.h"
#include "common/hex.h"
#include "common/json.h"
#include "common/kvs.h"
#include "common/pattern.h"
#include "common/place.h"
#include "gni-isolation/handle.h"
#include "gni-perf/layout.h"
#include "gni-perf/samples.h"

/* Last: it makes a macro of the name fail, which the standard library uses. */
extern "C" {
#include <cmocka.h>
}

namespace
{

template <class Error, class Call> bool throws(Call call)
{
	try {
		call();
	} catch (const Error &) {
		return true;
	}
	return false;
}

void each_wrong_byte_is_found(void **)
{
	for (size_t size : {1u, 7u, 8u, 9u, 64u, 100u}) {
		std::vector<uint8_t> data(size);
		tools::pattern_fill(data.data(), size, 5);
		assert_false(tools::pattern_check(data.data(), size, 5).found);
		for (size_t at = 0; at < size; at++) {
			uint8_t right = data[at];
			data[at] ^= 0x10;
			tools::Mismatch m = tools::pattern_check(data.data(), size, 5);
			assert_true(m.found);
			assert_int_equal(m.offset, at);
			assert_int_equal(m.expected, right);
			assert_int_equal(m.got, data[at]);
			data[at] = right;
		}
	}
}

/* Data of an earlier transfer must not pass for that of a later one. */
void another_seed_is_another_pattern(void **)
{
	uint8_t data[64];
	tools::pattern_fill(data, sizeof(data), 1);
	for (uint64_t seed = 2; seed < 1000; seed++)
		assert_true(tools::pattern_check(data, sizeof(data), seed).found);
}

void guards_on_both_sides(void **)
{
	constexpr size_t size = 40;
	std::vector<uint8_t> room(size + 2 * tools::guard_size);
	uint8_t *data = room.data() + tools::guard_size;
	tools::guard_fill(room.data(), room.size());
	tools::pattern_fill(data, size, 9);
	assert_false(tools::guard_check(data, size).found);
	data[-1] = 0;
	assert_int_equal(tools::guard_check(data, size).offset, -1);
	data[-1] = tools::guard_byte;
	data[size] = 0;
	assert_int_equal(tools::guard_check(data, size).offset, size);
	data[size] = tools::guard_byte;
	room.front() = 1;
	assert_int_equal(tools::guard_check(data, size).offset, -static_cast<int64_t>(tools::guard_size));
}

void slots_do_not_touch(void **)
{
	for (uint64_t size : {1u, 63u, 64u, 4096u, 8191u})
		for (uint64_t step : {0u, 1u, 5u, 63u}) {
			perf::Layout layout;
			layout.size = size;
			layout.count = 64;
			layout.align_step = step;
			for (uint64_t n = 0; n < layout.count; n++) {
				assert_true(layout.at(n) >= n * layout.stride() + tools::guard_size);
				assert_true(layout.at(n) + size + tools::guard_size <= (n + 1) * layout.stride());
			}
			assert_true(layout.fits(layout.count * layout.stride()));
			assert_false(layout.fits(layout.count * layout.stride() - 1));
		}
	perf::Layout huge;
	huge.size = ~0ull - 8;
	huge.count = ~0ull;
	assert_false(huge.fits(1u << 20));
}

void percentiles(void **)
{
	perf::Samples samples;
	assert_int_equal(samples.percentile(50), 0);
	for (uint64_t n = 100; n >= 1; n--)
		samples.add(n);
	assert_int_equal(samples.percentile(0), 1);
	assert_int_equal(samples.percentile(50), 50);
	assert_int_equal(samples.percentile(99), 99);
	assert_int_equal(samples.percentile(100), 100);
	samples.add(1000);
	assert_int_equal(samples.percentile(100), 1000);
}

void numbers(void **)
{
	assert_int_equal(tools::parse_number("64K", "x", 1 << 20), 65536);
	assert_int_equal(tools::parse_number("0x10", "x", 16), 16);
	for (const char *bad : {"", "-1", "1x", "17", "99999999999999999999", "1T"})
		assert_true(throws<tools::UsageError>([&] { tools::parse_number(bad, "x", 16); }));
}

std::string place_refused(const tools::Place &place, bool with_options)
{
	try {
		tools::check_place(place, with_options);
	} catch (const tools::UsageError &error) {
		return error.what();
	}
	return "taken";
}

/* Nobody is told to use an option that the program does not have. */
void advice_for_a_place(void **)
{
	tools::Place place;

	for (int step = 0; step < 3; step++) {
		assert_true(place_refused(place, true).find("--") != std::string::npos);
		assert_int_equal(place_refused(place, false).find("--"), std::string::npos);
		assert_true(place_refused(place, false).find("OPENGNI_") != std::string::npos);
		place.ranks = 2;
		if (step == 1)
			place.kvs = "dir:/tmp";
	}
	place.cookie = 1;
	assert_string_equal(place_refused(place, false).c_str(), "taken");
}

struct Given {
	bool flag = false, told = false;
	uint32_t number = 7;
	double seconds = 1;
	std::string text, word, maybe = "not given";
};

/* What a tool with one option of each kind reads. */
Given read_line(std::vector<const char *> words)
{
	tools::CommandLine line("tool", "Does something.", {}, "End.");
	Given given;

	line.flag("-f,--flag", "is set", given.flag);
	line.number({"-n,--number", "N", "is counted"}, given.number, 1 << 20, 1);
	line.seconds({"--seconds", "SEC", "is waited"}, given.seconds);
	line.text({"-t,--text", "WORD", "is told"}, given.text);
	line.option_or_none({"-m,--maybe", "[WORD]", "may be told"},
			    [&](const std::string &value) { given.maybe = value; });
	line.word("WORD", "where to", given.word);
	words.insert(words.begin(), "tool");
	given.told = !line.parse(static_cast<int>(words.size()), const_cast<char **>(words.data()));
	assert_int_equal(line.given("--number"), given.number != 7);
	return given;
}

std::string refusal(const std::vector<const char *> &words)
{
	try {
		read_line(words);
	} catch (const tools::UsageError &error) {
		return error.what();
	}
	return "taken";
}

void options(void **)
{
	const Given given =
		read_line({"-n", "4K", "place", "--text=-", "-f", "--seconds", "0.5", "--number=0x10", "-m"});
	assert_true(given.flag);
	assert_false(given.told);
	assert_int_equal(given.number, 16);
	assert_true(given.seconds == 0.5);
	assert_string_equal(given.text.c_str(), "-");
	assert_string_equal(given.word.c_str(), "place");
	assert_string_equal(given.maybe.c_str(), "");
	assert_string_equal(read_line({"-mCQ"}).maybe.c_str(), "CQ");
	assert_string_equal(read_line({"--maybe=A,B"}).maybe.c_str(), "A,B");
	assert_string_equal(read_line({}).maybe.c_str(), "not given");
	assert_true(read_line({"--version"}).told);
	assert_true(read_line({"-h", "-f"}).told);
}

void options_refused(void **)
{
	assert_string_equal(refusal({"-n", "0"}).c_str(), "--number must not be 0");
	assert_string_equal(refusal({"--number=2M"}).c_str(), "--number: '2M' is not a number up to 1048576");
	assert_string_equal(refusal({"--seconds", "x"}).c_str(), "--seconds: 'x' is not a time in seconds");
	assert_string_equal(refusal({"--seconds", "-1"}).c_str(), "--seconds: '-1' is not a time in seconds");
	assert_string_equal(refusal({"-Z"}).c_str(), "'-Z' is not an option; see --help");
	assert_string_equal(refusal({"--numbers=3"}).c_str(), "'--numbers=3' is not an option; see --help");
	assert_string_equal(refusal({"here", "there"}).c_str(), "'there' is one word too many; see --help");
	for (const std::string &text : {refusal({"-n"}), refusal({"--flag=1"}), refusal({"--flag=no"})})
		assert_true(text.ends_with("; see --help"));
}

/* Nothing behind the first word is an option of the tool. */
void command_behind_options(void **)
{
	const char *words[] = {"tool", "-f", "program", "-f", "--version", "x"};
	tools::CommandLine line("tool", "Starts something.", {"[OPTIONS] PROGRAM"}, "");
	std::vector<std::string> command;
	bool flag = false;

	line.flag("-f,--flag", "is set", flag);
	line.rest(command);
	assert_true(line.parse(6, const_cast<char **>(words)));
	assert_true(flag);
	assert_true(command == std::vector<std::string>({"program", "-f", "--version", "x"}));
}

void forged_handles_keep_the_rest(void **)
{
	gni_mem_handle_t handle = {0x0123000000abcdefu, 0x0000000c00000004u};
	assert_int_equal(isolation::handle_mdh(handle), 0x012);
	gni_mem_handle_t other = isolation::with_mdh(handle, 0xfed);
	assert_int_equal(isolation::handle_mdh(other), 0xfed);
	assert_true((other.qword1 & 0x000fffffffffffffu) == (handle.qword1 & 0x000fffffffffffffu));
	gni_mem_handle_t bad = isolation::with_bad_crc(other);
	assert_true(bad.qword2 != other.qword2);
	assert_true(isolation::with_mdh(bad, 0xfed).qword2 == other.qword2);
}

/* One rank in a process of its own, as a program is; what it returns is its exit status. */
int rank_of(const std::string &store, int rank)
{
	try {
		tools::Place place;
		place.rank = rank;
		place.ranks = 2;
		place.kvs = store;
		place.job = "job";
		tools::Kvs kvs(place, 20);
		const std::string own = "two words of " + std::to_string(rank), key = "from/";
		kvs.put(key + std::to_string(rank), own);
		const std::string other = kvs.get(key + std::to_string(1 - rank), tools::Deadline(20));
		const auto all = kvs.gather(100 + rank);
		kvs.barrier();
		return kvs.rank() == rank && kvs.ranks() == 2 && other == "two words of " + std::to_string(1 - rank) &&
				       all == std::vector<int>{100, 101} && !kvs.look("nobody")
			       ? 0
			       : 1;
	} catch (const std::exception &error) {
		fprintf(stderr, "rank %d: %s\n", rank, error.what());
		return 2;
	}
}

void exchange(const std::string &store)
{
	pid_t children[2];
	for (int rank = 0; rank < 2; rank++)
		if (!(children[rank] = fork()))
			_exit(rank_of(store, rank));
	for (const pid_t child : children) {
		int status = -1;
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
}

void stores(void **)
{
	char dir[] = "/tmp/test-tools.XXXXXX";
	assert_non_null(mkdtemp(dir));
	exchange(std::string("dir:") + dir);
	std::filesystem::remove_all(dir);
	exchange("tcp:127.0.0.1:" + std::to_string(20000 + getpid() % 20000));
	tools::Place place;
	place.ranks = 2;
	for (const char *bad : {"", "dir", ":x"}) {
		place.kvs = bad;
		assert_true(throws<tools::UsageError>([&] { tools::Kvs(place, 1); }));
	}
	for (const char *none : {"unix:/nowhere", "dir:", "ftp:x", "tcp:nowhere"}) {
		place.kvs = none;
		assert_true(throws<tools::Failure>([&] { tools::Kvs(place, 1); }));
	}
}

/* What another version has published is told from what this one does. */
void structures_as_words(void **)
{
	struct Place {
		uint64_t at;
		uint32_t node, rank;
	};
	const Place here = {0xfedcba9876543210, 0, 0x80};
	Place back = {};
	const std::string text = tools::to_hex(here);

	assert_int_equal(text.find_first_not_of("0123456789abcdef"), std::string::npos);
	assert_true(tools::from_hex(text, back));
	assert_memory_equal(&back, &here, sizeof(back));
	for (const std::string &other : {std::string(), text + "00", text.substr(2), "0x" + text.substr(2),
					 " 1" + text.substr(2), "1g" + text.substr(2), "-1" + text.substr(2)})
		assert_false(tools::from_hex(other, back));
}

void values_as_json(void **)
{
	using tools::Json;
	Json list = Json::array(), object = Json::object();
	list.add(UINT64_MAX);
	list.add(INT64_MIN);
	list.add(1.0);
	list.add(std::optional<uint8_t>());
	list.add(std::optional<uint8_t>(7));
	object.set("z", list);
	object.set("a", {{"true", true}, {"text", "\"\n\x01\xff\xc3\xa9"}});
	object.set("map", std::map<std::string, uint64_t>{{"n", 1}});
	object.set("z", 5);
	assert_string_equal(object.text().c_str(),
			    "{\"z\":5,\"a\":{\"true\":true,\"text\":\"\\\"\\n\\u0001\xef\xbf\xbd\xc3\xa9\"},"
			    "\"map\":{\"n\":1}}");
	assert_string_equal(list.text().c_str(), "[18446744073709551615,-9223372036854775808,1.0,null,7]");
	assert_string_equal(Json({{"x", Json()}}).text(2).c_str(), "{\n  \"x\": null\n}");
	Json copy = list;
	copy.add("more");
	assert_string_equal(Json::array().text().c_str(), "[]");
	assert_true(copy.text() != list.text());
}

} // namespace

int main()
{
	const CMUnitTest tests[] = {
		cmocka_unit_test(each_wrong_byte_is_found),
		cmocka_unit_test(another_seed_is_another_pattern),
		cmocka_unit_test(guards_on_both_sides),
		cmocka_unit_test(slots_do_not_touch),
		cmocka_unit_test(percentiles),
		cmocka_unit_test(numbers),
		cmocka_unit_test(advice_for_a_place),
		cmocka_unit_test(options),
		cmocka_unit_test(options_refused),
		cmocka_unit_test(command_behind_options),
		cmocka_unit_test(forged_handles_keep_the_rest),
		cmocka_unit_test(stores),
		cmocka_unit_test(structures_as_words),
		cmocka_unit_test(values_as_json),
	};
	return cmocka_run_group_tests(tests, nullptr, nullptr);
}
