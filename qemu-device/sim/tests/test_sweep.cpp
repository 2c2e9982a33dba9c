// SPDX-License-Identifier: GPL-2.0-or-later
/* Sweeps: the points, their file, going on with what is there, the end of a curve. */
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <unistd.h>

#include "rig.hpp"
#include "sweep.hpp"

using namespace aries;
using namespace aries::sim;

namespace
{

using Json = nlohmann::ordered_json;

/* A folder that goes away. */
struct Folder {
	Folder()
	{
		std::string name = (std::filesystem::temp_directory_path() / "sweep-XXXXXX").string();

		assert_non_null(mkdtemp(name.data()));
		path = name;
	}
	~Folder() { std::filesystem::remove_all(path); }
	Folder(const Folder &) = delete;
	Folder &operator=(const Folder &) = delete;

	std::filesystem::path path;
};

Options small()
{
	Options options;

	options.shape = {"p=1", "a=2", "h=1"};
	options.operation = "raw";
	options.run.warmup = 200;
	options.run.measure = 2000;
	return options;
}

SweepShape shape_in(const Folder &folder, std::vector<std::string> over)
{
	return {.over = std::move(over), .out = folder.path / "out", .processes = 2, .quiet = true};
}

Json read(const SweepShape &shape)
{
	std::ifstream file(shape.out + ".json");

	return Json::parse(file);
}

size_t csv_lines(const SweepShape &shape)
{
	std::ifstream file(shape.out + ".csv");
	std::string line;
	size_t lines = 0;

	while (std::getline(file, line))
		lines++;
	return lines;
}

void values_of_axes(void **)
{
	assert_true(parse_axis("load=0.1:0.5:0.1").values ==
		    (std::vector<std::string>{"0.1", "0.2", "0.3", "0.4", "0.5"}));
	assert_true(parse_axis("bytes=64,1024").values == (std::vector<std::string>{"64", "1024"}));
	assert_true(parse_axis("bytes=8,64:192:64").values == (std::vector<std::string>{"8", "64", "128", "192"}));
	assert_true(parse_axis("bias=0:1:2:3,-5").values == (std::vector<std::string>{"0:1:2:3", "-5"}));
	assert_string_equal(parse_axis("groups=2").name.c_str(), "groups");
}

/* Each combination once, the last axis fastest; the same numbers as a run alone. */
void every_combination(void **)
{
	const Folder folder;
	const SweepShape shape = shape_in(folder, {"mode=minimal,adaptive", "outstanding=1,9", "load=0.1,0.2"});

	assert_int_equal(sweep(small(), shape), 0);

	const Json all = read(shape);

	assert_int_equal(all.size(), 8);
	assert_int_equal(csv_lines(shape), 9);
	assert_string_equal(all[0]["point"].dump().c_str(), R"({"mode":"minimal","outstanding":"1","load":"0.1"})");
	assert_string_equal(all[1]["point"].dump().c_str(), R"({"mode":"minimal","outstanding":"1","load":"0.2"})");
	assert_string_equal(all[7]["point"].dump().c_str(), R"({"mode":"adaptive","outstanding":"9","load":"0.2"})");

	Options alone = small();

	set_option(alone, "mode", "adaptive");
	set_option(alone, "outstanding", "9");
	set_option(alone, "load", "0.2");

	const Prepared prepared = prepare(alone);
	const Result result = run(prepared.built.machine, prepared.run);

	assert_int_equal(all[7]["result"]["latency"]["count"].get<uint64_t>(), result.statistics.latency.count());
	assert_int_equal(all[7]["result"]["packet_hops"].get<uint64_t>(), result.statistics.hops);
}

/* What is there is not run again, and stays as it is; a point that was lost is. */
void goes_on_with_what_is_there(void **)
{
	const Folder folder;
	SweepShape shape = shape_in(folder, {"load=0.1,0.2"});

	assert_int_equal(sweep(small(), shape), 0);

	Json all = read(shape);

	all[0]["result"]["seconds"] = 12345;
	all.erase(1);
	std::ofstream(shape.out + ".json") << all;
	shape.over = {"load=0.1,0.2,0.3"};
	assert_int_equal(sweep(small(), shape), 0);
	all = read(shape);
	assert_int_equal(all.size(), 3);
	assert_int_equal(all[0]["result"]["seconds"].get<int>(), 12345);
	assert_true(all[1]["result"]["seconds"].get<double>() < 12345);

	/* Of another sweep: refused, and left alone. */
	const auto refused = [&](const Options &options, const char *part) {
		std::string said;

		try {
			sweep(options, shape);
		} catch (const RunError &error) {
			said = error.what();
		}
		if (said.find(part) == std::string::npos)
			fail_msg("said \"%s\", not \"%s\"", said.c_str(), part);
	};
	Options other = small();

	other.run.seed = 2;
	refused(other, "of another sweep");
	assert_true(read(shape) == all);
	std::filesystem::resize_file(shape.out + ".json", 100);
	refused(small(), "is not the result of a sweep");

	const int other_sweep = open((shape.out + ".lock").c_str(), O_RDWR);

	assert_int_equal(flock(other_sweep, LOCK_EX), 0);
	refused(small(), "another sweep writes");
	close(other_sweep);
	shape.out = folder.path / "nowhere" / "out";
	refused(small(), "cannot be written");
}

/* Worst-case traffic by minimal ways: two nodes share one global link, so a load of 0.6 cannot be accepted. */
void curves_end_at_saturation(void **)
{
	const Folder folder;
	SweepShape shape = shape_in(folder, {"mode=minimal,nonminimal", "load=0.2:1:0.2"});
	Options options = small();

	options.traffic = "group";
	shape.until_saturated = true;
	assert_int_equal(sweep(options, shape), 0);

	const Json all = read(shape);
	std::map<std::string, double> highest;

	for (const Json &entry : all)
		highest[entry["point"]["mode"]] = entry["result"]["offered"].get<double>();
	assert_true(highest["minimal"] > 0.5 && highest["minimal"] < 0.7);
	assert_true(all.size() < 10);
}

/* One point fails, the others do not. */
void a_point_that_cannot_be(void **)
{
	const Folder folder;
	const SweepShape shape = shape_in(folder, {"p=1,9999", "load=0.1,0.2"});

	assert_int_equal(sweep(small(), shape), 2);
	assert_int_equal(read(shape).size(), 2);
}

} // namespace

int main()
{
	const CMUnitTest tests[] = {
		cmocka_unit_test(values_of_axes),
		cmocka_unit_test(every_combination),
		cmocka_unit_test(goes_on_with_what_is_there),
		cmocka_unit_test(curves_end_at_saturation),
		cmocka_unit_test(a_point_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, nullptr, nullptr);
}
