// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "report.h"

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <iostream>

#include "common/failure.h"
#include "common/json.h"

namespace perf
{

using tools::format;
using tools::Json;

namespace
{

std::string size_text(uint64_t size)
{
	if (size >= (1u << 20) && size % (1u << 20) == 0)
		return format("%" PRIu64 " MiB", size >> 20);
	if (size >= 1024 && size % 1024 == 0)
		return format("%" PRIu64 " KiB", size >> 10);
	return format("%" PRIu64 " B", size);
}

std::string number(std::optional<double> value, double scale, int digits)
{
	return value ? format("%.*f", digits, *value / scale) : std::string("-");
}

Json to_json(const Row &row)
{
	Json out = {{"test", row.test}, {"size", row.size}, {"transfers", row.transfers}};
	auto put = [&](const char *name, std::optional<double> value) {
		if (value)
			out.set(name, *value);
	};
	put("p50_ns", row.p50_ns);
	put("p99_ns", row.p99_ns);
	put("p99.9_ns", row.p999_ns);
	put("min_ns", row.min_ns);
	put("first_p50_ns", row.first_ns);
	put("bandwidth_bytes_per_s", row.bandwidth);
	put("rate_per_s", row.rate);
	put("modelled_ns", row.model_ns);
	put("traps_per_transfer", row.traps);
	put("irqs_per_transfer", row.irqs);
	put("syscalls_per_transfer", row.syscalls);
	if (!row.note.empty())
		out.set("note", row.note);
	return out;
}

/* "-" is standard output. */
void write_text(const std::string &path, const std::string &text)
{
	if (path == "-") {
		std::cout << text << std::flush;
		return;
	}
	std::ofstream file(path);
	file << text;
	file.close();
	if (!file)
		throw tools::Failure(format("cannot write %s", path.c_str()));
}

std::string csv_number(std::optional<double> value)
{
	return value ? format("%.10g", *value) : std::string();
}

} // namespace

std::string csv_text(const std::vector<Row> &rows)
{
	std::string text = "test,size,transfers,p50_ns,p99_ns,p99.9_ns,min_ns,bandwidth_bytes_per_s,rate_per_s,"
			   "modelled_ns,traps_per_transfer,first_p50_ns,note\n";
	for (const Row &row : rows) {
		text += format("%s,%" PRIu64 ",%" PRIu64, row.test.c_str(), row.size, row.transfers);
		for (const auto &value : {row.p50_ns, row.p99_ns, row.p999_ns, row.min_ns, row.bandwidth, row.rate,
					  row.model_ns, row.traps, row.first_ns})
			text += "," + csv_number(value);
		/* A note has commas, and never a quotation mark. */
		text += ",\"" + row.note + "\"\n";
	}
	return text;
}

Row timed_row(const char *name, Samples &samples, const char *note, double unit)
{
	Row row;
	row.test = name;
	row.p50_ns = static_cast<double>(samples.percentile(50)) / unit;
	row.p99_ns = static_cast<double>(samples.percentile(99)) / unit;
	row.p999_ns = static_cast<double>(samples.percentile(99.9)) / unit;
	row.min_ns = static_cast<double>(samples.percentile(0)) / unit;
	row.note = note;
	return row;
}

void Report::headline(const std::string &text)
{
	headline_ = text;
	if (prints_)
		printf("%s\n", text.c_str());
}

void Report::print(const Row &row)
{
	if (!header_printed_)
		printf("\n%-11s %8s %9s %11s %11s %11s %11s %11s %11s %10s %7s\n", "test", "size", "verified",
		       "first us", "p50 us", "p99 us", "p99.9 us", "MB/s", "kmsg/s", "model us", "traps");
	header_printed_ = true;
	printf("%-11s %8s %9" PRIu64 " %11s %11s %11s %11s %11s %11s %10s %7s%s%s\n", row.test.c_str(),
	       row.size ? size_text(row.size).c_str() : "-", row.transfers, number(row.first_ns, 1e3, 3).c_str(),
	       number(row.p50_ns, 1e3, 3).c_str(), number(row.p99_ns, 1e3, 3).c_str(),
	       number(row.p999_ns, 1e3, 3).c_str(), number(row.bandwidth, 1e6, 1).c_str(),
	       number(row.rate, 1e3, 2).c_str(), number(row.model_ns, 1e3, 3).c_str(), number(row.traps, 1, 2).c_str(),
	       row.note.empty() ? "" : "  ", row.note.c_str());
	fflush(stdout);
}

void Report::add(const Row &row)
{
	rows_.push_back(row);
	if (prints_)
		print(row);
}

void Report::passed(const std::string &test, uint64_t transfers, const std::string &note)
{
	Row row;
	row.test = test;
	row.transfers = transfers;
	row.note = note;
	add(row);
}

void Report::failed(const std::string &test, const std::string &text)
{
	failures_.emplace_back(test, text);
	fflush(stdout);
	fprintf(stderr, "gni-perf: rank %d: %s: %s\n", options_.place.rank, test.c_str(), text.c_str());
}

void Report::finish()
{
	uint64_t transfers = 0;
	for (const Row &row : rows_)
		transfers += row.transfers;
	if (prints_)
		printf("\n%s: %" PRIu64 " transfers verified, %zu failures\n", failures_.empty() ? "PASS" : "FAIL",
		       transfers, failures_.size());
	fflush(stdout);
	if (!options_.csv.empty())
		write_csv();
	if (!options_.json.empty())
		write_json();
}

void Report::write_csv() const
{
	write_text(options_.csv, csv_text(rows_));
}

void Report::write_json() const
{
	uint64_t transfers = 0;
	for (const Row &row : rows_)
		transfers += row.transfers;

	Json results = Json::array(), failures = Json::array();
	for (const Row &row : rows_)
		results.add(to_json(row));
	for (const auto &[test, text] : failures_)
		failures.add({{"test", test}, {"text", text}});

	const Json out = {{"program", "gni-perf"},       {"setup", headline_},
			  {"rank", options_.place.rank}, {"ranks", options_.place.ranks},
			  {"passed", failures_.empty()}, {"transfers_verified", transfers},
			  {"results", results},          {"failures", failures}};
	write_text(options_.json, out.text(2) + "\n");
}

} // namespace perf
