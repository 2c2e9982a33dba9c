// SPDX-License-Identifier: GPL-2.0-or-later
#include "sweep.hpp"

#include <charconv>
#include <chrono>
#include <cmath>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sstream>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "names.hpp"
#include "output_file.hpp"
#include "sweep_csv.hpp"

namespace aries::sim
{

namespace
{

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr size_t MOST_POINTS = 100000;
constexpr double ACCEPTED = 0.95; // of what is offered, below which a network is saturated
constexpr char FAILED = '!';      // first byte from a process that could not run its point

struct Point {
	std::vector<std::string> values; // by axis
	std::string curve;               // those but the load
	std::string config;              // everything that the result depends on
	Options options;
	Json result;
	bool done = false;
	bool failed = false;
	bool running = false;
};

struct Child {
	pid_t pid;
	int fd;
	size_t point;
	std::string text;
	Clock::time_point start;
};

double number_of(const std::string &text, const std::string &axis)
{
	double value = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);

	if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
		throw RunError("'" + axis + "': '" + text + "' is not a number");
	return value;
}

std::string text_of(double value)
{
	char text[32];

	std::snprintf(text, sizeof(text), "%.9g", value);
	return text;
}

/* What happens in mid-run is a list of texts in the options; null for other names. */
std::vector<std::string> *incidents_of(Options &options, const std::string &name)
{
	return name == "fail"     ? &options.fail
	       : name == "repair" ? &options.repair
	       : name == "lanes"  ? &options.lanes
				  : nullptr;
}

/* Incidents of an axis, beside those that all points have; false if it is not about any. */
bool add_incidents(Options &options, const std::string &name, const std::string &value)
{
	std::vector<std::string> *incidents = incidents_of(options, name);
	std::istringstream list(value);
	std::string incident;

	while (incidents && value != "none" && std::getline(list, incident, '+'))
		incidents->push_back(incident);
	return incidents;
}

/* Values with colons of their own, which are no ranges. */
bool has_colons(const std::string &axis)
{
	Options options;

	return axis == "bias" || incidents_of(options, axis);
}

/* The options by which results differ: all of them but the size of memory. */
std::string config_of(const Options &options)
{
	const RunShape &run = options.run;
	Json json{{"machine", options.machine},
		  {"shape", options.shape},
		  {"jobs", options.jobs},
		  {"job", options.job},
		  {"set", options.set},
		  {"traffic", options.traffic},
		  {"operation", options.operation},
		  {"load", options.load},
		  {"mode", options.mode},
		  {"response_mode", options.response_mode},
		  {"bias", options.bias},
		  {"channels", options.channels},
		  {"fail", options.fail},
		  {"repair", options.repair},
		  {"lanes", options.lanes},
		  {"bytes", run.traffic.bytes},
		  {"flits", run.traffic.raw_flits},
		  {"shift", run.traffic.shift},
		  {"seed", run.seed},
		  {"warmup", run.warmup},
		  {"measure", run.measure},
		  {"drain", run.drain}};

	/* Only if they are said, so that sweeps which were begun before there were any go on. */
	const TrafficShape plain;

	if (run.traffic.radix != plain.radix)
		json["radix"] = run.traffic.radix;
	if (run.traffic.processes != plain.processes)
		json["processes"] = run.traffic.processes;
	if (run.traffic.compute_ns != plain.compute_ns)
		json["compute"] = run.traffic.compute_ns;
	if (!options.slow.empty())
		json["slow"] = options.slow;
	return json.dump();
}

/* Runs in a process of its own; what it writes is the result, or '!' and a line. */
std::string run_point(const Options &options)
try {
	const Prepared prepared = prepare(options);
	const auto start = Clock::now();
	const Result result = run(prepared.built.machine, prepared.run);
	std::ostringstream text;

	write_json(text, prepared.built.machine, prepared.run, result);

	Json json = Json::parse(text.str());

	json["seconds"] = std::chrono::duration<double>(Clock::now() - start).count();
	return json.dump();
} catch (const std::exception &error) {
	return FAILED + std::string(error.what());
}

void write_all(int fd, const std::string &text)
{
	for (size_t at = 0; at < text.size();) {
		const ssize_t put = write(fd, text.data() + at, text.size() - at);

		if (put <= 0)
			return;
		at += static_cast<size_t>(put);
	}
}

/* Two sweeps that write the same files would take each other's results away. */
class Lock
{
public:
	explicit Lock(const std::string &out) : path_(out + ".lock")
	{
		do {
			fd_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
			if (fd_ < 0)
				throw RunError(path_ + " cannot be written");
			if (flock(fd_, LOCK_EX | LOCK_NB)) {
				close(fd_);
				throw RunError("another sweep writes " + out + ".json");
			}
		} while (removed());
	}

	~Lock()
	{
		unlink(path_.c_str()); // while it is locked: afterwards it may be another sweep's
		close(fd_);
	}
	Lock(const Lock &) = delete;
	Lock &operator=(const Lock &) = delete;

	/* In a process that only runs a point. */
	void leave() const { close(fd_); }

private:
	/* The sweep that had the file has ended between open() and flock(), and a third may have made a new one. */
	bool removed()
	{
		struct stat mine = {}, there = {};

		if (fstat(fd_, &mine) == 0 && stat(path_.c_str(), &there) == 0 && mine.st_ino == there.st_ino &&
		    mine.st_dev == there.st_dev)
			return false;
		close(fd_);
		return true;
	}

	std::string path_;
	int fd_ = -1;
};

class Sweep
{
public:
	Sweep(const Options &options, const SweepShape &shape) : shape_(shape), lock_(shape.out), start_(Clock::now())
	{
		for (const std::string &text : shape.over) {
			axes_.push_back(parse_axis(text));
			for (size_t i = 0; i + 1 < axes_.size(); i++) {
				if (axes_[i].name == axes_.back().name)
					throw RunError("'" + axes_[i].name + "' comes twice");
			}
		}
		if (axes_.empty())
			throw RunError("a sweep needs --over NAME=VALUES");
		if (shape.until_saturated && axes_.back().name != "load")
			throw RunError("a sweep up to saturation has the load as its last --over");
		processes_ = shape.processes ? shape.processes : std::max(std::thread::hardware_concurrency(), 1u);
		make_points(options);
		resume();
		save(); // before anything is run: a place where nothing can be written is told at once
	}

	size_t run()
	{
		while (start_some() || !children_.empty())
			wait();
		save();
		return static_cast<size_t>(
			std::count_if(points_.begin(), points_.end(), [](const Point &point) { return point.failed; }));
	}

private:
	std::string name_of(const Point &point) const
	{
		std::string name;

		for (size_t i = 0; i < axes_.size(); i++)
			name += (i ? " " : "") + axes_[i].name + "=" + point.values[i];
		return name;
	}

	void make_points(const Options &options)
	{
		const uint64_t free = static_cast<uint64_t>(sysconf(_SC_AVPHYS_PAGES)) *
					      static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) >>
				      20;
		size_t count = 1;

		for (const Axis &axis : axes_) {
			count *= axis.values.size();
			if (count > MOST_POINTS)
				throw RunError("more than " + std::to_string(MOST_POINTS) + " points");
		}
		for (size_t number = 0; number < count; number++) {
			Point point{.values = {}, .curve = {}, .config = {}, .options = options, .result = {}};
			size_t left = number;

			point.values.resize(axes_.size());
			for (size_t i = axes_.size(); i-- > 0; left /= axes_[i].values.size())
				point.values[i] = axes_[i].values[left % axes_[i].values.size()];
			for (size_t i = 0; i < axes_.size(); i++) {
				set_option(point.options, axes_[i].name, point.values[i]);
				if (i + 1 < axes_.size())
					point.curve += point.values[i] + ' ';
			}
			point.config = config_of(point.options);
			if (!point.options.memory_mib)
				point.options.memory_mib = std::max<uint64_t>(free / processes_, 1);
			points_.push_back(std::move(point));
		}
	}

	/* Results of an earlier call. All of them must be of this sweep: else they would be lost. */
	void resume()
	{
		std::ifstream file(shape_.out + ".json");
		std::map<std::string, Point *> by_config;

		if (!file)
			return;
		for (Point &point : points_)
			by_config[point.config] = &point;
		try {
			for (const Json &entry : Json::parse(file)) {
				const auto found = by_config.find(entry.at("config").get<std::string>());

				if (found == by_config.end())
					throw RunError(shape_.out +
						       ".json has results of another sweep: another --out, "
						       "or the values that are missing");
				found->second->result = entry.at("result");
				found->second->done = true;
			}
		} catch (const Json::exception &) {
			throw RunError(shape_.out + ".json is not the result of a sweep");
		}
	}

	bool saturated(const Point &of) const
	{
		return std::any_of(points_.begin(), points_.end(), [&of](const Point &point) {
			return point.done && point.curve == of.curve && &point < &of &&
			       point.result["accepted"].get<double>() <
				       ACCEPTED * point.result["offered"].get<double>();
		});
	}

	bool may_start(const Point &of) const
	{
		if (of.done || of.failed || of.running)
			return false;
		if (!shape_.until_saturated)
			return true;
		return !saturated(of) && std::none_of(points_.begin(), points_.end(), [&of](const Point &point) {
			return point.running && point.curve == of.curve;
		});
	}

	bool start_some()
	{
		bool started = false;

		for (size_t i = 0; i < points_.size() && children_.size() < processes_; i++) {
			if (may_start(points_[i])) {
				start(i);
				started = true;
			}
		}
		return started;
	}

	void start(size_t number)
	{
		int ends[2];

		if (pipe(ends))
			throw RunError("no pipe for another process");

		const pid_t parent = getpid();
		const pid_t pid = fork();

		if (pid < 0)
			throw RunError("no other process can be started");
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGTERM);
			close(ends[0]);
			lock_.leave();
			if (getppid() == parent)
				write_all(ends[1], run_point(points_[number].options));
			_exit(0);
		}
		close(ends[1]);
		points_[number].running = true;
		children_.push_back({pid, ends[0], number, {}, Clock::now()});
	}

	void wait()
	{
		std::vector<pollfd> polled;

		for (const Child &child : children_)
			polled.push_back({child.fd, POLLIN, 0});
		poll(polled.data(), polled.size(), -1);
		for (size_t i = polled.size(); i-- > 0;) {
			char buffer[1 << 16];

			if (!polled[i].revents)
				continue;

			const ssize_t got = read(children_[i].fd, buffer, sizeof(buffer));

			if (got > 0) {
				children_[i].text.append(buffer, static_cast<size_t>(got));
				continue;
			}
			finish(children_[i]);
			children_.erase(children_.begin() + static_cast<ptrdiff_t>(i));
		}
	}

	void finish(const Child &child)
	{
		Point &point = points_[child.point];
		int status = 0;

		close(child.fd);
		waitpid(child.pid, &status, 0);
		point.running = false;
		if (child.text.empty() || child.text[0] == FAILED || status) {
			point.failed = true;
			std::cerr << "aries-sim: " << name_of(point) << ": "
				  << (child.text.size() > 1 ? child.text.substr(1) : "the process died") << '\n';
			return;
		}
		point.result = Json::parse(child.text);
		point.done = true;
		finished_++;
		save();
		report(point);
	}

	void report(const Point &point) const
	{
		size_t left = 0;

		if (shape_.quiet)
			return;
		for (const Point &other : points_)
			left += !other.done && !other.failed && !(shape_.until_saturated && saturated(other));

		const double passed = std::chrono::duration<double>(Clock::now() - start_).count();

		std::cerr << name_of(point) << ": accepted " << point.result["accepted"].get<double>() << " of "
			  << point.result["offered"].get<double>() << "; " << left << " of " << points_.size()
			  << " points left, at most "
			  << static_cast<uint64_t>(passed / static_cast<double>(finished_) * static_cast<double>(left))
			  << " s\n";
	}

	static void replace(const std::string &path, const std::string &text)
	{
		replace_file(path, [&text](std::ostream &file) { file << text; });
	}

	void save() const
	{
		Json all = Json::array();
		std::vector<SweepRow> rows;

		for (const Point &point : points_) {
			Json values;

			if (!point.done)
				continue;
			for (size_t i = 0; i < axes_.size(); i++)
				values[axes_[i].name] = point.values[i];
			all.push_back({{"point", values}, {"config", point.config}, {"result", point.result}});
			rows.push_back({point.values, point.result});
		}
		replace(shape_.out + ".json", all.dump(1) + "\n");

		std::vector<std::string> names;

		for (const Axis &axis : axes_)
			names.push_back(axis.name);
		replace(shape_.out + ".csv", sweep_csv(names, rows));
	}

	const SweepShape &shape_;
	Lock lock_;
	Clock::time_point start_;
	uint32_t processes_;
	std::vector<Axis> axes_;
	std::vector<Point> points_;
	std::vector<Child> children_;
	size_t finished_ = 0;
};

} // namespace

Axis parse_axis(const std::string &text)
{
	const size_t equals = text.find('=');
	Axis axis{text.substr(0, equals), {}};
	std::string value;

	if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
		throw RunError("'" + text + "': --over is NAME=VALUE,VALUE or NAME=FROM:TO:STEP");

	std::istringstream list(text.substr(equals + 1));

	while (std::getline(list, value, ',')) {
		const size_t one = value.find(':');
		const size_t two = one == std::string::npos ? one : value.find(':', one + 1);

		if (has_colons(axis.name) || two == std::string::npos) {
			axis.values.push_back(value);
			continue;
		}

		const double from = number_of(value.substr(0, one), text);
		const double to = number_of(value.substr(one + 1, two - one - 1), text);
		const double step = number_of(value.substr(two + 1), text);

		if (!(step > 0) || to < from || (to - from) / step > MOST_POINTS)
			throw RunError("'" + text +
				       "': the step is above 0, the end not below the beginning, and there are "
				       "at most " +
				       std::to_string(MOST_POINTS) + " values");
		for (uint32_t i = 0; from + i * step <= to + step * 1e-6; i++)
			axis.values.push_back(text_of(from + i * step));
	}
	return axis;
}

void set_option(Options &options, const std::string &name, const std::string &value)
{
	TrafficShape checked;
	Parameters parameters;
	std::string *const texts[] = {&options.traffic, &options.operation,     &options.load,
				      &options.mode,    &options.response_mode, &options.slow};
	const char *const names[] = {"traffic", "operation", "load", "mode", "response_mode", "slow"};

	for (size_t i = 0; i < std::size(names); i++) {
		if (name == names[i]) {
			set_traffic(checked, name, value);
			*texts[i] = value;
			return;
		}
	}
	if (set_traffic(options.run.traffic, name, value) || add_incidents(options, name, value))
		return;
	for (const ParameterInfo &info : parameter_table()) {
		if (name == info.name) {
			const std::string broken = set_parameter(parameters, name + "=" + value);

			if (!broken.empty())
				throw RunError(broken);
			options.set.push_back(name + "=" + value);
			return;
		}
	}
	if (name == "machine")
		throw RunError("'machine' is no axis: a sweep is of one machine, and of one chip");
	if (name == "bias") {
		std::istringstream list(value);
		std::string bias;

		options.bias.clear();
		while (std::getline(list, bias, ':'))
			options.bias.push_back(static_cast<int32_t>(number_of(bias, name)));
	} else if (name == "seed") {
		options.run.seed = whole_of(name, value);
	} else if (name == "channels") {
		options.channels = whole_of(name, value);
	} else if (name == "warmup") {
		options.run.warmup = whole_of(name, value);
	} else if (name == "measure") {
		options.run.measure = whole_of(name, value);
	} else {
		std::erase_if(options.shape, [&name](const std::string &text) { return text.starts_with(name + "="); });
		options.shape.push_back(name + "=" + value);
	}
}

size_t sweep(const Options &options, const SweepShape &shape)
{
	return Sweep(options, shape).run();
}

} // namespace aries::sim
