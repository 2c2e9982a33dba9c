// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * gni-perf: put, get, atomics and block transfers between ranks, verified and timed.
 */
#include <cstdio>
#include <exception>
#include <vector>

#include "barrier.h"
#include "channel.h"
#include "common/failure.h"
#include "common/host.h"
#include "common/output.h"
#include "job.h"
#include "meeting.h"
#include "report.h"
#include "storm.h"
#include "tests.h"

namespace perf
{

const std::vector<Test> &all_tests()
{
	static const std::vector<Test> tests = {
		{"fma-put", "FMA put, 1 B to 8 KiB", test_fma_put, true},
		{"fma-get", "FMA get, 4 B to 8 KiB", test_fma_get, true},
		{"bte-put", "block put, 4 KiB to 64 MiB", test_bte_put, true},
		{"bte-get", "block get, 4 KiB to 64 MiB", test_bte_get, true},
		{"align", "every alignment of puts and gets, by FMA and BTE", test_align, true},
		{"amo", "each 64-bit integer atomic, latency of an addition", test_amo, true},
		{"contention", "additions from both sides at once on one word", test_contention, true},
		{"events", "local, global and remote events in all combinations", test_events, true},
		{"pingpong", "half round trip of puts, polling on memory", test_pingpong, true},
		{"smsg", "short messages: half round trip and rate", test_smsg, true},
		{"msgq", "message queues of two ranks: half round trip and rate", test_msgq, true},
		{"put-lat", "FMA put to its global event, one at a time", test_put_lat, false},
		{"put-bw", "FMA puts, a window of them under way (-w, -T, -b, -D)", test_put_bw, false},
		{"get-lat", "FMA get to its global event, one at a time", test_get_lat, false},
		{"get-bw", "FMA gets, a window of them under way", test_get_bw, false},
		{"bte-put-bw", "block puts, a window of them under way", test_block_put_bw, false},
		{"bte-get-bw", "block gets, a window of them under way", test_block_get_bw, false},
		{"amo-lat", "fetching additions on one word, one at a time", test_amo_lat, false},
		{"amo-bw", "fetching additions on one word, a window of them under way", test_amo_bw, false},
		{"barrier", "barrier of all ranks through collective engines, sums and minima", nullptr, false},
		{"storm", "fetching additions of all ranks on one word, cached and not", nullptr, false},
		{"put-event", "8-byte put from the call to its global event, loops timed", test_put_event, false},
		{"post-event", "the same for an 8-byte get, a fetching add and a block put of 4 KiB", test_post_event,
		 false},
		{"bell", "block put of 4 KiB from the doorbell to its event, without the library", test_bell, false},
		{"put-remote", "half round trip of puts, polling for their remote events", test_put_remote, false},
		{"launch", "rate of 8-byte puts by FMA launch and by doorbells, one and two processors", test_launch,
		 false},
		{"bulk", "block put of 1 and 64 MiB, the same buffers again and again", test_bulk, false},
		{"floor", "null doorbell store, store into the descriptor area, system call", test_floor, false},
		{"shm", "8-byte ping-pong over an ivshmem-plain device that both nodes share", test_shm, false},
		{"attach", "guest memory of an attached, idle process", test_attach, false},
		{"calls", "binding of an endpoint; registration of 1, 4 and 16 MiB: time and system calls", test_calls,
		 false},
	};
	return tests;
}

namespace
{

/* What made a test fail may last for some transfers more. */
void say_goodbye(Caller &peer, bool passed)
{
	for (int tries = passed ? 1 : 10;; tries--) {
		try {
			peer.send(Ask::Quit, {}, passed ? 0 : 1);
			break;
		} catch (const tools::Failure &) {
			if (tries == 1)
				throw;
		}
	}
	peer.answer();
}

/* Returns false when a test failed. The partner is told the outcome in any case. */
bool run_tests(Job &job, Report &report)
{
	Caller peer(job);
	Context context = {job, peer, report, job.options()};
	bool passed = true;
	for (const Test &test : all_tests()) {
		if (job.options().tests.empty() ? !test.standard : !job.options().wants(test.name))
			continue;
		if (!test.run) /* not between pairs */
			continue;
		try {
			test.run(context);
		} catch (const tools::Failure &failure) {
			report.failed(test.name, failure.what());
			passed = false;
			break;
		}
	}
	say_goodbye(peer, passed);
	return passed;
}

std::string headline(const Job &job)
{
	const RankInfo &own = job.info(job.rank()), &other = job.info(job.partner());
	return tools::format("gni-perf: %d ranks, rank %d on node %u to rank %d on node %u, cookie 0x%08x", job.ranks(),
			     job.rank(), own.pe, job.partner(), other.pe, job.options().place.cookie);
}

bool measure(Job &job, const std::vector<Row> &of_all)
{
	const Options &options = job.options();
	Report report(options, options.place.rank == 0 && !options.quiet && options.json != "-" && options.csv != "-");
	report.headline(headline(job));
	for (const Row &row : of_all)
		if (options.place.rank == 0)
			report.add(row);
	bool passed = run_tests(job, report);
	report.finish();
	return passed;
}

} // namespace

int run_rank(const Options &options, tools::Exchange &kvs)
{
	Job job(options, kvs);
	bool passed = true;
	try {
		std::vector<Row> of_all;
		if (options.wants("barrier"))
			of_all.push_back(barrier(job, kvs));
		if (options.wants("storm"))
			of_all.push_back(storm(job, kvs));
		if (job.measures())
			passed = measure(job, of_all);
		else
			serve(job);
	} catch (const tools::Failure &failure) {
		fprintf(stderr, "gni-perf: rank %d: %s\n", options.place.rank, failure.what());
		passed = false;
	}
	/* Nobody takes memory away that another rank still uses; after a failure the others may be gone. */
	kvs.end(passed);
	return passed ? 0 : 1;
}

namespace
{

int run_in_job(const Options &options)
{
	tools::Kvs kvs(options.place, options.timeout_seconds);

	return run_rank(options, kvs);
}

int run(int argc, char **argv)
{
	Options options = parse_options(argc, argv);
	if (options.done)
		return 0;
	if (options.list) {
		for (const Test &test : all_tests())
			printf("%-12s %s%s\n", test.name, test.text, test.standard ? "" : " (only when named)");
		return 0;
	}
	if (options.local)
		return tools::run_local("gni-perf", options.place, options.local, [&](const tools::Place &place) {
			Options own = options;
			own.place = place;
			return run_in_job(own);
		});
	if (options.server)
		return run_server(options);
	if (!options.host.empty())
		return run_client(options, tools::nic_address(options.host, options.place.device));
	return run_in_job(options);
}

} // namespace

} // namespace perf

int main(int argc, char **argv)
{
	try {
		return tools::finish("gni-perf", perf::run(argc, argv));
	} catch (const tools::UsageError &error) {
		fprintf(stderr, "gni-perf: %s\n", error.what());
		return 2;
	} catch (const std::exception &error) {
		fprintf(stderr, "gni-perf: %s\n", error.what());
		return 1;
	}
}
