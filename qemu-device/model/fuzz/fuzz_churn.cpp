/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A worker and an owner, each in a thread of its own, on two nodes: see churn.hpp. */
#include <algorithm>
#include <thread>

#include "fuzz/owner.hpp"
#include "fuzz/worker.hpp"

using namespace aries_fuzz;
using namespace aries_test;

namespace
{

/* One for the whole run: a NIC is as dear to make as thousands of operations. */
struct Fabric {
	const std::string path = fabric_path();
	Turns turns;
	FakeHost worker{path, WORKER, {.on_trace = [this](const char *event, uint64_t) { turns.at(event); }}};
	FakeHost home{path, HOME};
};

/* Nobody is in anybody's memory, and nothing waits. */
void check_quiet(FakeHost &host)
{
	FUZZ_CHECK(host.read(ARIES_BTE_STATUS, 4) == 0);
	FUZZ_CHECK(host.read(ARIES_INV_STATUS, 4) == 0);
	FUZZ_CHECK(aries_nic_drained(host.nic()));
	FUZZ_CHECK(host.guest_errors == 0);
	for (uint32_t i = 0; i < ARIES_MDD_ENTRIES; i++) {
		const bool steady = i == SOURCE_MDH || i == RESULT_MDH || i == RECEIVE_MDH;

		FUZZ_CHECK(steady || host.read(ARIES_MDD_CTL_N(uint64_t(i)), 8) == 0);
	}
	for (uint32_t i = 0; i < ARIES_CQ_ENTRIES; i++)
		FUZZ_CHECK(host.read(ARIES_CQ_CTL_N(uint64_t(i)), 8) == 0);
}

} // namespace

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static Fabric fabric;
	Input start(data, size);
	Record record;

	fabric.turns.restart(start);
	const size_t head = std::min<size_t>(size, Turns::POINTS), half = head + (size - head) / 2;
	Input works(data + head, half - head), owns(data + half, size - half);
	Owner owner(fabric.worker, fabric.home, fabric.turns, record);
	Worker worker(fabric.worker, fabric.turns, record.ops);

	owner.set_up();
	std::thread thread([&] { worker.run(works); });

	owner.run(owns);
	thread.join();
	owner.wind_up();
	for (FakeHost *host : {&fabric.worker, &fabric.home})
		check_quiet(*host);
	record.judge(fabric.worker.counter(ARIES_CNT_BTE_SENDS));
	return 0;
}
