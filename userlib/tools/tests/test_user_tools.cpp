// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * The parts of gni-info, gni-domain, gni-perf and gni-trace that need no NIC.
 */
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/failure.h"
#include "common/host.h"
#include "gni-domain/list.h"
#include "gni-info/device.h"
#include "gni-info/watch.h"
#include "gni-perf/pair_kvs.h"
#include "gni-perf/report.h"
#include "gni-trace/shared.h"

/* Last: it makes a macro of the name fail, which the standard library uses. */
extern "C" {
#include <cmocka.h>
}

namespace
{

namespace fs = std::filesystem;

template <class Call> bool fails(Call call)
{
	try {
		call();
	} catch (const tools::Failure &) {
		return true;
	}
	return false;
}

/** A folder like /sys/class/gni, for a while. */
class Sysfs
{
public:
	Sysfs()
	{
		char name[] = "/tmp/test-sysfs.XXXXXX";
		assert_non_null(mkdtemp(name));
		root_ = name;
	}
	Sysfs(const Sysfs &) = delete;
	Sysfs &operator=(const Sysfs &) = delete;
	~Sysfs() { fs::remove_all(root_); }

	void write(const std::string &path, const std::string &text) const
	{
		fs::create_directories(fs::path(root_ + "/" + path).parent_path());
		std::ofstream(root_ + "/" + path) << text;
	}
	const std::string &root() const { return root_; }

private:
	std::string root_;
};

void a_device_as_sysfs_shows_it(void **)
{
	const Sysfs sysfs;
	assert_true(gniinfo::device_numbers(sysfs.root() + "/none").empty());
	sysfs.write("kgni10/address", "0x2a\n");
	sysfs.write("kgni2/address", "0x3\n");
	sysfs.write("kgni2/state", "up\n");
	sysfs.write("kgni2/uevent", "MAJOR=1\n");
	sysfs.write("kgni2/stats/errors", "7\n");
	sysfs.write("kgni2/stats/fma_puts", "18446744073709551615\n");
	sysfs.write("kgni2/stats/silent", "");
	sysfs.write("kgni2/resources/cq_used", "4\n");
	sysfs.write("kgni2/ras/odd", "4 pieces\n");
	sysfs.write("kgnix/address", "0x9\n");
	const std::vector<uint32_t> both = {2, 10};
	assert_true(gniinfo::device_numbers(sysfs.root()) == both);
	const gniinfo::Device device = gniinfo::read_device(2, sysfs.root());
	assert_string_equal(device.attributes.at("address").c_str(), "0x3");
	assert_int_equal(device.attributes.count("uevent"), 0);
	assert_int_equal(device.stats.size(), 2);
	assert_true(device.stats.at("fma_puts") == UINT64_MAX);
	assert_int_equal(device.resources.at("cq_used"), 4);
	assert_true(device.ras.empty());
	assert_true(fails([&] { gniinfo::read_device(3, sysfs.root()); }));
}

void rates_of_what_has_changed(void **)
{
	const gniinfo::Counters before = {{"a", 10}, {"b", 5}, {"c", 9}, {"latency_last_ns", 1}};
	const gniinfo::Counters now = {{"a", 30}, {"b", 5}, {"c", 2}, {"d", 4}, {"e", 1}, {"latency_last_ns", 900}};
	const auto all = gniinfo::rates(before, now, 2);
	assert_int_equal(all.size(), 2);
	assert_string_equal(all[0].name.c_str(), "c"); /* gone back: first, and without a rate */
	assert_false(all[0].per_second.has_value());
	assert_string_equal(all[1].name.c_str(), "a");
	assert_true(*all[1].per_second == 10);
}

void cookies_that_the_environment_names(void **)
{
	setenv("PMI_GNI_COOKIE", "7:0x10:7", 1);
	setenv("OPENGNI_COOKIE", "16", 1);
	const std::vector<uint32_t> wanted = {7, 16};
	assert_true(gniinfo::cookies_of_environment() == wanted);
	for (const char *bad : {"x", "1:", "0", "4294967296", ":", "1,2"}) {
		setenv("PMI_GNI_COOKIE", bad, 1);
		assert_true(fails([] { gniinfo::cookies_of_environment(); }) == (strcmp(bad, "1:") != 0));
	}
	unsetenv("PMI_GNI_COOKIE");
	unsetenv("OPENGNI_COOKIE");
}

void words_of_views(void **)
{
	auto context = domain::words_of_line("pid 12 state suspended owner 3 ptag 4 inst 9 comm \"a program\"");
	assert_string_equal(context["state"].c_str(), "suspended");
	assert_string_equal(context["ptag"].c_str(), "4");
	assert_string_equal(context["comm"].c_str(), "a program");
	auto job = domain::words_of_line("ptag 3 job 0 (implicit) attached 2 suspended mdd 1/4095 transfers -0");
	assert_string_equal(job["job"].c_str(), "0");
	assert_string_equal(job["attached"].c_str(), "2");
	assert_string_equal(job["mdd"].c_str(), "1/4095");
	assert_true(domain::words_of_line("").empty());
}

void addresses_of_nodes(void **)
{
	assert_int_equal(tools::address_of_word("17").value(), 17);
	assert_int_equal(tools::address_of_word("0x1f").value(), 31);
	assert_int_equal(tools::address_of_word("nid00017").value(), 17);
	for (const char *other : {"", "nid", "0x", "17x", "-1", "node1", "4294967296", "10.128.0.1"})
		assert_false(tools::address_of_word(other).has_value());

	const char *table = "IP address       HW type     Flags       HW address            Mask     Device\n"
			    "10.128.0.2       0x1         0x2         00:01:01:00:01:02     *        ipogif0\n"
			    "10.128.0.3       0x1         0x0         00:00:00:00:00:00     *        ipogif0\n"
			    "192.168.1.1      0x1         0x2         52:54:00:12:34:56     *        eth0\n";
	auto found = [&](const char *ip) {
		std::istringstream text(table);
		return tools::address_of_neighbour(text, ip);
	};
	assert_int_equal(found("10.128.0.2").value(), 0x102);
	for (const char *other : {"10.128.0.3", "192.168.1.1", "10.128.0.20", "IP"})
		assert_false(found(other).has_value());

	assert_true(tools::in_list("0-2,7", 2) && tools::in_list("0-2,7", 7) && tools::in_list("5", 5));
	assert_false(tools::in_list("0-2,7", 3) || tools::in_list("", 0) || tools::in_list("-", 0));
}

void texts_in_datagrams(void **)
{
	const size_t most = perf::parts_of_text * (GNI_DATAGRAM_MAXSIZE - 1);
	for (size_t size : {size_t{0}, size_t{1}, size_t{127}, size_t{128}, size_t{200}, most}) {
		std::string text(size, 'x'), back;
		for (size_t n = 0; n < size; n++)
			text[n] = static_cast<char>('a' + n % 26);
		for (unsigned n = 0; n < perf::parts_of_text; n++) {
			std::string part = perf::part_of_text(text, n);
			assert_true(part.size() <= GNI_DATAGRAM_MAXSIZE);
			part.resize(GNI_DATAGRAM_MAXSIZE); /* as it arrives */
			perf::add_part(back, part);
		}
		assert_string_equal(back.c_str(), text.c_str());
	}
	assert_true(fails([&] { perf::part_of_text(std::string(most + 1, 'x'), 0); }));
	std::string text;
	/* None, one that says more than it has, one that says more than there can be. */
	for (const std::string &bad :
	     {std::string(), std::string("\x04") + "abc", std::string("\xff") + std::string(255, 'x')})
		assert_true(fails([&] { perf::add_part(text, bad); }));
	assert_true(text.empty());
}

void rows_as_csv(void **)
{
	perf::Row row;
	row.test = "put-bw";
	row.size = 8;
	row.transfers = 3;
	row.p999_ns = 1500.5;
	row.note = "window 4, both ways";
	const std::string text = perf::csv_text({row});
	const std::string second = text.substr(text.find('\n') + 1);
	assert_string_equal(second.c_str(), "put-bw,8,3,,,1500.5,,,,,,,\"window 4, both ways\"\n");
	const std::string first = text.substr(0, text.find('\n'));
	/* As many columns; the note has one comma of its own. */
	assert_int_equal(std::count(first.begin(), first.end(), ',') + 1,
			 std::count(second.begin(), second.end(), ','));
}

unsigned count(const bool (&chosen)[GNI_TRACE_COUNT])
{
	return static_cast<unsigned>(std::count(std::begin(chosen), std::end(chosen), true));
}

void functions_that_are_chosen(void **)
{
	bool chosen[GNI_TRACE_COUNT];
	assert_null(gnitrace::choose("GNI_PostFma,GNI_Smsg*", chosen));
	assert_true(count(chosen) > 5);
	for (unsigned n = 0; n < GNI_TRACE_COUNT; n++) {
		const char *name = gnitrace::function_names[n];
		assert_int_equal(chosen[n], strcmp(name, "GNI_PostFma") == 0 || strncmp(name, "GNI_Smsg", 8) == 0);
	}
	const unsigned some = count(chosen);
	assert_null(gnitrace::choose("!GNI_PostFma,GNI_Smsg*", chosen));
	assert_int_equal(count(chosen), GNI_TRACE_COUNT - some);
	assert_null(gnitrace::choose("", chosen));
	for (unsigned n = 0; n < GNI_TRACE_COUNT; n++)
		assert_int_equal(chosen[n], gnitrace::function_names[n][0] == 'G');
	assert_string_equal(gnitrace::choose("GNI_PostFma,GNI_Nothing", chosen), "GNI_Nothing");
	assert_non_null(gnitrace::choose("GNI_PostFma,", chosen));
	assert_non_null(gnitrace::choose("!", chosen));
	assert_non_null(gnitrace::choose(std::string(100, 'x').c_str(), chosen));
}

} // namespace

int main()
{
	const CMUnitTest tests[] = {
		cmocka_unit_test(a_device_as_sysfs_shows_it),
		cmocka_unit_test(rates_of_what_has_changed),
		cmocka_unit_test(cookies_that_the_environment_names),
		cmocka_unit_test(words_of_views),
		cmocka_unit_test(addresses_of_nodes),
		cmocka_unit_test(texts_in_datagrams),
		cmocka_unit_test(rows_as_csv),
		cmocka_unit_test(functions_that_are_chosen),
	};
	return cmocka_run_group_tests(tests, nullptr, nullptr);
}
