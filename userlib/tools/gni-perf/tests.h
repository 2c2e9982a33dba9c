// SPDX-License-Identifier: BSD-2-Clause
/**
 * @file
 * The tests of gni-perf. Each runs on the measuring rank of a pair and tells the serving one what to do.
 */
#ifndef GNI_PERF_TESTS_H
#define GNI_PERF_TESTS_H

#include <vector>

#include "options.h"

namespace perf
{

class Job;
class Caller;
class Report;

/** What a test works with. */
struct Context {
	Job &job;
	Caller &peer;
	Report &report;
	const Options &options;
};

struct Test {
	const char *name;
	const char *text;
	void (*run)(Context &); /* throws Failure; nullptr: all ranks take part, before the pairs' tests */
	bool standard;          /* runs when no tests are named */
};

/** In the order in which they run. */
const std::vector<Test> &all_tests();

void test_fma_put(Context &context);
void test_fma_get(Context &context);
void test_bte_put(Context &context);
void test_bte_get(Context &context);
void test_align(Context &context);
void test_amo(Context &context);
void test_contention(Context &context);
void test_events(Context &context);
void test_pingpong(Context &context);
void test_smsg(Context &context);
void test_msgq(Context &context);
void test_floor(Context &context);
void test_put_event(Context &context);
void test_post_event(Context &context);
void test_bell(Context &context);
void test_launch(Context &context);
void test_bulk(Context &context);
void test_shm(Context &context);
void test_attach(Context &context);
void test_calls(Context &context);
void test_put_remote(Context &context);
void test_put_lat(Context &context);
void test_put_bw(Context &context);
void test_get_lat(Context &context);
void test_get_bw(Context &context);
void test_block_put_bw(Context &context);
void test_block_get_bw(Context &context);
void test_amo_lat(Context &context);
void test_amo_bw(Context &context);

} // namespace perf

#endif // GNI_PERF_TESTS_H
