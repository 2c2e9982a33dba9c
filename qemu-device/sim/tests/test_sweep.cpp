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

std::string csv_line(const SweepShape &shape, size_t number)
{
	std::ifstream file(shape.out + ".csv");
	std::string line;

	for (size_t i = 0; i <= number; i++)
		std::getline(file, line);
	return line;
}

/* Packets of a point that did not arrive. */
uint64_t lost(const Json &point)
{
	const Json &failures = point["result"]["failures"];

	return failures["lost_on_links"].get<uint64_t>() + failures["lost_without_way"].get<uint64_t>() +
	       failures["lost_at_nodes"].get<uint64_t>() + failures["unanswered"].get<uint64_t>();
}

TEST(values_of_axes)
{
	assert_true(parse_axis("load=0.1:0.5:0.1").values ==
		    (std::vector<std::string>{"0.1", "0.2", "0.3", "0.4", "0.5"}));
	assert_true(parse_axis("bytes=64,1024").values == (std::vector<std::string>{"64", "1024"}));
	assert_true(parse_axis("bytes=8,64:192:64").values == (std::vector<std::string>{"8", "64", "128", "192"}));
	assert_true(parse_axis("bias=0:1:2:3,-5").values == (std::vector<std::string>{"0:1:2:3", "-5"}));
	assert_true(parse_axis("fail=none,9:link:0-1+9:node:3").values ==
		    (std::vector<std::string>{"none", "9:link:0-1+9:node:3"}));
	assert_true(parse_axis("lanes=9:0-1:2").values == (std::vector<std::string>{"9:0-1:2"}));
	assert_string_equal(parse_axis("groups=2").name.c_str(), "groups");
}

/* Each combination once, the last axis fastest; the same numbers as a run alone. */
TEST(every_combination)
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
TEST(goes_on_with_what_is_there)
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

	const std::string lock = shape.out + ".lock";

	assert_false(std::filesystem::exists(lock)); // neither after a sweep nor after a refusal
	const int other_sweep = open(lock.c_str(), O_RDWR | O_CREAT, 0666);

	assert_int_equal(flock(other_sweep, LOCK_EX), 0);
	refused(small(), "another sweep writes");
	assert_true(std::filesystem::exists(lock)); // it is the other's
	close(other_sweep);
	shape.out = folder.path / "nowhere" / "out";
	refused(small(), "cannot be written");
}

/* Worst-case traffic by minimal ways: two nodes share one global link, so a load of 0.6 cannot be accepted. */
TEST(curves_end_at_saturation)
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
TEST(a_point_that_cannot_be)
{
	const Folder folder;
	const SweepShape shape = shape_in(folder, {"p=1,9999", "load=0.1,0.2"});

	assert_int_equal(sweep(small(), shape), 2);
	assert_int_equal(read(shape).size(), 2);
}

/* What fails in mid-run: a run for each value, beside what all points have. */
TEST(failures_are_an_axis)
{
	const Folder folder;
	const SweepShape shape = shape_in(folder, {"fail=none,500:link:0-1,500:link:0-1+900:node:5", "load=0.1"});
	Options options = small();

	options.shape = {"p=1", "a=4", "h=1"};
	options.set = {"rebuild_cycles=200"};
	options.run.measure = 20000;
	options.fail = {"700:link:2-3"};
	options.repair = {"9000:link:2-3"};
	assert_int_equal(sweep(options, shape), 0);

	const Json all = read(shape);

	assert_int_equal(all.size(), 3);
	assert_int_equal(csv_lines(shape), 4);
	for (size_t i = 0; i < 3; i++) {
		Options alone = options;

		set_option(alone, "fail", all[i]["point"]["fail"]);
		set_option(alone, "load", "0.1");
		assert_int_equal(alone.fail.size(), i + 1);

		const Prepared prepared = prepare(alone);
		const Result result = run(prepared.built.machine, prepared.run);

		/* All of them lose a link for a time, two another one as well, one a node. */
		assert_int_equal(prepared.run.incidents.size(), i + 2);
		assert_int_equal(result.rebuilds.empty(), false);
		assert_int_equal(all[i]["result"]["packet_hops"].get<uint64_t>(), result.statistics.hops);
		assert_int_equal(all[i]["result"]["latency"]["count"].get<uint64_t>(),
				 result.statistics.latency.count());
	}
	for (size_t i = 1; i < 3; i++)
		assert_true(all[i]["result"]["packet_hops"] != all[i - 1]["result"]["packet_hops"]);

	/* The node's packets are lost. The table has a column for it, only where something may fail. */
	assert_true(all[2]["result"]["failures"]["lost_at_nodes"].get<uint64_t>() > 0);
	assert_true(csv_line(shape, 3).find("," + std::to_string(lost(all[2])) + ",0,1,0,") != std::string::npos);
	assert_true(csv_line(shape, 0).ends_with(",mean_hops,lost,given_up,drained,stuck,seconds"));

	const SweepShape whole{.over = {"load=0.1"}, .out = folder.path / "whole", .processes = 1, .quiet = true};

	assert_int_equal(sweep(small(), whole), 0);
	assert_true(csv_line(whole, 0).ends_with(",mean_hops,drained,stuck,seconds"));

	/* A link that is not there: these points fail, the others do not. */
	const SweepShape wrong{
		.over = {"fail=none,500:link:0-9"}, .out = folder.path / "wrong", .processes = 1, .quiet = true};

	assert_int_equal(sweep(options, wrong), 1);
	assert_int_equal(read(wrong).size(), 1);
}

} // namespace

TEST_MAIN("tests")
