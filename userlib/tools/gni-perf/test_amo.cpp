// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * 64-bit atomics: what each does, how long one takes, and no lost update when both sides use one word.
 */
#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstring>

#include "channel.h"
#include "common/failure.h"
#include "contend.h"
#include "job.h"
#include "report.h"
#include "tests.h"

namespace perf
{

using tools::Failure;
using tools::format;

namespace
{

enum class Rule { Add, And, Or, Xor, Ax, Cswap, Swap, Min, Max };

struct Atomic {
	const char *name;
	gni_fma_cmd_type_t command;
	Rule rule;
	bool fetches;
};

const Atomic atomics[] = {
	{"FADD", GNI_FMA_ATOMIC_FADD, Rule::Add, true},
	{"FAND", GNI_FMA_ATOMIC_FAND, Rule::And, true},
	{"FOR", GNI_FMA_ATOMIC_FOR, Rule::Or, true},
	{"FXOR", GNI_FMA_ATOMIC_FXOR, Rule::Xor, true},
	{"FAX", GNI_FMA_ATOMIC_FAX, Rule::Ax, true},
	{"CSWAP", GNI_FMA_ATOMIC_CSWAP, Rule::Cswap, true},
	{"ADD", GNI_FMA_ATOMIC_ADD, Rule::Add, false},
	{"AND", GNI_FMA_ATOMIC_AND, Rule::And, false},
	{"OR", GNI_FMA_ATOMIC_OR, Rule::Or, false},
	{"XOR", GNI_FMA_ATOMIC_XOR, Rule::Xor, false},
	{"AX", GNI_FMA_ATOMIC_AX, Rule::Ax, false},
	{"2_FAND", GNI_FMA_ATOMIC2_FAND, Rule::And, true},
	{"2_FOR", GNI_FMA_ATOMIC2_FOR, Rule::Or, true},
	{"2_FXOR", GNI_FMA_ATOMIC2_FXOR, Rule::Xor, true},
	{"2_FSWAP", GNI_FMA_ATOMIC2_FSWAP, Rule::Swap, true},
	{"2_FAX", GNI_FMA_ATOMIC2_FAX, Rule::Ax, true},
	{"2_FCSWAP", GNI_FMA_ATOMIC2_FCSWAP, Rule::Cswap, true},
	{"2_FIMIN", GNI_FMA_ATOMIC2_FIMIN, Rule::Min, true},
	{"2_FIMAX", GNI_FMA_ATOMIC2_FIMAX, Rule::Max, true},
	{"2_FIADD", GNI_FMA_ATOMIC2_FIADD, Rule::Add, true},
	{"2_AND", GNI_FMA_ATOMIC2_AND, Rule::And, false},
	{"2_OR", GNI_FMA_ATOMIC2_OR, Rule::Or, false},
	{"2_XOR", GNI_FMA_ATOMIC2_XOR, Rule::Xor, false},
	{"2_SWAP", GNI_FMA_ATOMIC2_SWAP, Rule::Swap, false},
	{"2_AX", GNI_FMA_ATOMIC2_AX, Rule::Ax, false},
	{"2_CSWAP", GNI_FMA_ATOMIC2_CSWAP, Rule::Cswap, false},
	{"2_IMIN", GNI_FMA_ATOMIC2_IMIN, Rule::Min, false},
	{"2_IMAX", GNI_FMA_ATOMIC2_IMAX, Rule::Max, false},
	{"2_IADD", GNI_FMA_ATOMIC2_IADD, Rule::Add, false},
};

uint64_t apply(Rule rule, uint64_t m, uint64_t a, uint64_t b)
{
	switch (rule) {
	case Rule::Add:
		return m + a;
	case Rule::And:
		return m & a;
	case Rule::Or:
		return m | a;
	case Rule::Xor:
		return m ^ a;
	case Rule::Ax:
		return (m & a) ^ b;
	case Rule::Cswap:
		return m == a ? b : m;
	case Rule::Swap:
		return a;
	case Rule::Min:
		return static_cast<int64_t>(m) < static_cast<int64_t>(a) ? m : a;
	case Rule::Max:
		return static_cast<int64_t>(m) > static_cast<int64_t>(a) ? m : a;
	}
	return 0;
}

struct Operands {
	uint64_t word, a, b;
};

const Operands cases[] = {{0x123456789abcdef0, 0xff00ff00ff00ff00, 0x5555aaaa5555aaaa},
			  {0x8000000000000001, 0x8000000000000001, 42}, /* compare and swap finds its value */
			  {0xffffffffffffffff, 1, 0xdeadbeef},          /* wraps; -1 against 1 */
			  {0, 0x8000000000000000, 7}};

constexpr size_t result_at = 256;
constexpr uint64_t untouched = 0x7e57da7a7e57da7a;

void check_one(Context &context, const Atomic &atomic, const Operands &x)
{
	Job &job = context.job;
	context.peer.call(Ask::SetWord, {}, x.word);
	memcpy(job.data() + result_at, &untouched, sizeof(untouched));
	gni_post_descriptor_t d = job.atomic(job.partner(), atomic.command, x.a, x.b, result_at);
	job.execute(job.partner(), d);

	uint64_t fetched, wanted = atomic.fetches ? x.word : untouched;
	memcpy(&fetched, job.data() + result_at, sizeof(fetched));
	uint64_t word = context.peer.call(Ask::GetWord).value;
	uint64_t result = apply(atomic.rule, x.word, x.a, x.b);
	if (fetched != wanted)
		throw Failure(format("%s of 0x%" PRIx64 ", operands 0x%" PRIx64 " 0x%" PRIx64 ": fetched 0x%" PRIx64
				     ", expected 0x%" PRIx64,
				     atomic.name, x.word, x.a, x.b, fetched, wanted));
	if (word != result)
		throw Failure(format("%s of 0x%" PRIx64 ", operands 0x%" PRIx64 " 0x%" PRIx64 ": word 0x%" PRIx64
				     ", expected 0x%" PRIx64,
				     atomic.name, x.word, x.a, x.b, word, result));
}

/* Additions with their sum checked at the end. */
Row time_additions(Context &context, const char *name, gni_fma_cmd_type_t command)
{
	Job &job = context.job;
	uint64_t count = context.options.iterations;
	context.peer.call(Ask::SetWord, {}, 0);
	Samples samples;
	tools::CounterDelta model(job.stats(), "latency_ns"), ops(job.stats(), "latency_ops"),
		traps(job.stats(), "fma_traps");
	uint64_t begin = tools::now_ns();
	for (uint64_t n = 0; n < count; n++) {
		gni_post_descriptor_t d = job.atomic(job.partner(), command, 3, 0, result_at);
		uint64_t start = tools::now_ns();
		job.execute(job.partner(), d);
		samples.add(tools::now_ns() - start);
	}
	double seconds = static_cast<double>(tools::now_ns() - begin) / 1e9;

	Row row;
	row.test = name;
	row.size = 8;
	row.transfers = count;
	row.p50_ns = samples.percentile(50);
	row.p99_ns = samples.percentile(99);
	row.min_ns = samples.percentile(0);
	row.rate = static_cast<double>(count) / seconds;
	if (model.value() && ops.value() && *ops.value())
		row.model_ns = static_cast<double>(*model.value()) / static_cast<double>(*ops.value());
	if (traps.value())
		row.traps = static_cast<double>(*traps.value()) / static_cast<double>(count);
	uint64_t sum = context.peer.call(Ask::GetWord).value;
	if (sum != 3 * count)
		throw Failure(format("%s: sum %" PRIu64 ", expected %" PRIu64, name, sum, 3 * count));
	return row;
}

/* The fetched values of both sides together are every number from 0 to 2 count - 1, once. */
void check_fetched(Context &context, uint64_t count)
{
	Job &job = context.job;
	std::vector<uint64_t> values(2 * count);
	memcpy(values.data(), job.data() + contend_values, count * 8);
	gni_post_descriptor_t d =
		job.transfer(GNI_POST_RDMA_GET, job.partner(), contend_values, contend_values, count * 8);
	job.execute(job.partner(), d);
	memcpy(values.data() + count, job.data() + contend_values, count * 8);
	std::sort(values.begin(), values.end());
	for (uint64_t n = 0; n < values.size(); n++)
		if (values[n] != n)
			throw Failure(format("the additions returned %" PRIu64 " where %" PRIu64 " was expected: %s",
					     values[n], n, values[n] < n ? "a value came twice" : "one is missing"));
}

} // namespace

void test_amo(Context &context)
{
	uint64_t checked = 0;
	for (const Atomic &atomic : atomics)
		for (const Operands &operands : cases) {
			check_one(context, atomic, operands);
			checked++;
		}
	context.report.passed("amo", checked, format("%zu commands", std::size(atomics)));
	context.report.add(time_additions(context, "amo-fadd", GNI_FMA_ATOMIC_FADD));
	context.report.add(time_additions(context, "amo-add", GNI_FMA_ATOMIC_ADD));
}

void test_contention(Context &context)
{
	Job &job = context.job;
	uint64_t count = std::min<uint64_t>(uint64_t{10} * context.options.iterations, contend_max);
	auto *word = reinterpret_cast<uint64_t *>(job.control() + control_amo);
	std::atomic_ref<uint64_t>(*word).store(0);

	context.peer.send(Ask::Contend, {}, count);
	uint64_t start = tools::now_ns();
	contend(job, job.rank(), count);
	context.peer.answer();
	double seconds = static_cast<double>(tools::now_ns() - start) / 1e9;

	uint64_t sum = std::atomic_ref<uint64_t>(*word).load();
	if (sum != 2 * count)
		throw Failure(format("%" PRIu64 " additions gave %" PRIu64 ": updates were lost", 2 * count, sum));
	check_fetched(context, count);
	Row row;
	row.test = "amo-both";
	row.size = 8;
	row.transfers = 2 * count;
	row.rate = static_cast<double>(2 * count) / seconds;
	row.note = "both sides on one word, no lost update";
	context.report.add(row);
}

} // namespace perf
