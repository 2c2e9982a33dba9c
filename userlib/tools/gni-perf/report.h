// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Results as a table and as JSON.
 */
#ifndef GNI_PERF_REPORT_H
#define GNI_PERF_REPORT_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "options.h"
#include "samples.h"

namespace perf
{

/** Result of one test and size. Empty values were not measured. */
struct Row {
	std::string test;
	uint64_t size = 0;
	uint64_t transfers = 0; /* all were verified */
	std::optional<double> p50_ns;
	std::optional<double> p99_ns;
	std::optional<double> p999_ns;
	std::optional<double> min_ns;
	std::optional<double>
		first_ns; /* p50 of the first transfers to or from their places, which are in none of these */
	std::optional<double> bandwidth; /* bytes per second */
	std::optional<double> rate;      /* transfers per second */
	std::optional<double> model_ns;  /* modelled latency, mean */
	std::optional<double> traps;     /* stores that trapped, per transfer */
	std::optional<double> irqs;      /* interrupts of the NICs, per transfer */
	std::optional<double> syscalls;  /* system calls, per transfer */
	std::string note;
};

/** The rows as comma-separated values, the names of the columns first. */
std::string csv_text(const std::vector<Row> &rows);

/** A row with the percentiles of @p samples, of which @p unit are a nanosecond. */
Row timed_row(const char *name, Samples &samples, const char *note, double unit = 1);

class Report
{
public:
	/** @p prints false: rows are kept for JSON only. */
	Report(const Options &options, bool prints) : options_(options), prints_(prints) {}

	/** One line above the table. */
	void headline(const std::string &text);
	void add(const Row &row);

	/** A check without figures. */
	void passed(const std::string &test, uint64_t transfers, const std::string &note);
	void failed(const std::string &test, const std::string &text);

	/** Prints the last line and writes JSON. Throws Failure when the file cannot be written. */
	void finish();

private:
	void print(const Row &row);
	void write_json() const;
	void write_csv() const;

	const Options &options_;
	bool prints_;
	bool header_printed_ = false;
	std::string headline_;
	std::vector<Row> rows_;
	std::vector<std::pair<std::string, std::string>> failures_;
};

} // namespace perf

#endif // GNI_PERF_REPORT_H
