// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Calls that prepare transfers: endpoints, and registration by size, with its system calls.
 */
#include <array>
#include <cinttypes>
#include <cstring>

#include "common/failure.h"
#include "job.h"
#include "report.h"
#include "syscalls.h"
#include "tests.h"

namespace perf
{

namespace
{

using tools::check;
using tools::Failure;
using tools::format;

constexpr size_t mib = 1u << 20;
constexpr std::array<size_t, 3> region_sizes = {1 * mib, 4 * mib, 16 * mib};

Row time_binding(Context &context)
{
	constexpr unsigned together = 64; /* pairs of calls to one reading of the clock */
	Job &job = context.job;
	const RankInfo &there = job.info(job.partner());
	gni_ep_handle_t ep = nullptr;
	check(GNI_EpCreate(job.nic(), job.source().handle(), &ep), "GNI_EpCreate");
	uint64_t failures = 0;
	Samples samples;
	for (uint64_t batch = 0; batch < uint64_t{10} * context.options.iterations; batch++) {
		uint64_t start = tools::now_ns();
		for (unsigned n = 0; n < together; n++) {
			failures += GNI_EpBind(ep, there.pe, there.inst_id) != GNI_RC_SUCCESS;
			failures += GNI_EpUnbind(ep) != GNI_RC_SUCCESS;
		}
		samples.add((tools::now_ns() - start) * 1000 / together);
	}
	GNI_EpDestroy(ep);
	if (failures)
		throw Failure(format("%" PRIu64 " calls to bind or unbind an endpoint failed", failures));
	Row row = timed_row("ep-bind", samples, "GNI_EpBind and GNI_EpUnbind together", 1000);
	row.transfers = samples.count() * together;
	return row;
}

gni_return_t register_memory(gni_nic_handle_t nic, const tools::Memory &memory, gni_mem_handle_t &handle)
{
	return GNI_MemRegister(nic, reinterpret_cast<uint64_t>(memory.data()), memory.size(), nullptr,
			       GNI_MEM_READWRITE, -1, &handle);
}

Row time_registration(Context &context, size_t bytes)
{
	gni_nic_handle_t nic = context.job.nic();
	const uint64_t times = 10 + context.options.iterations / 4;
	tools::Memory memory(bytes);
	memset(memory.data(), 1, memory.size());
	Samples samples;
	for (uint64_t n = 0; n < times; n++) {
		gni_mem_handle_t handle;
		uint64_t start = tools::now_ns();
		check(register_memory(nic, memory, handle), "GNI_MemRegister");
		samples.add(tools::now_ns() - start);
		check(GNI_MemDeregister(nic, &handle), "GNI_MemDeregister");
	}
	Row row = timed_row("register", samples, "GNI_MemRegister of memory that is there");
	row.size = bytes;
	row.transfers = times;
	return row;
}

/* A process of its own makes the call: one cannot trace oneself. */
double registration_calls(const Context &context, size_t bytes)
{
	const tools::Place &place = context.options.place;
	return count_syscalls([&](auto begin, auto end) {
		tools::Domain domain(0x2000u + static_cast<uint32_t>(place.rank), place.cookie, 0, place.device);
		tools::Memory memory(bytes);
		memset(memory.data(), 1, memory.size());
		gni_mem_handle_t handle;
		begin();
		gni_return_t rc = register_memory(domain.nic(), memory, handle);
		end();
		check(rc, "GNI_MemRegister");
		check(GNI_MemDeregister(domain.nic(), &handle), "GNI_MemDeregister");
	});
}

} // namespace

void test_calls(Context &context)
{
	context.report.add(time_binding(context));
	for (size_t bytes : region_sizes) {
		Row row = time_registration(context, bytes);
		row.syscalls = registration_calls(context, bytes);
		row.note += format(", system calls: %.0f", *row.syscalls);
		context.report.add(row);
	}
}

} // namespace perf
