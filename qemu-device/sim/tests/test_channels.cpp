// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * No packets wait for each other for ever with the channels that are needed (P13), and they do with fewer. 100,000
 * cycles, a million with OPENGNI_SLOW=1.
 */
#include "rig.hpp"

using namespace aries;
using namespace aries::sim;

namespace
{

constexpr uint32_t WINDOW = 10000; // cycles

TrafficShape worst(Routing routing)
{
	return {.pattern = Pattern::Group,
		.operation = Operation::Put,
		.bytes = 4096,
		.load_ppm = 1000000,
		.request_mode = {routing, 0},
		.response_mode = {routing, 0}};
}

/* The least buffers that there can be. */
Parameters small_buffers(uint32_t channels)
{
	Parameters parameters;

	parameters.channel_reserve = 14;
	parameters.input_buffer = parameters.processor_buffer = 14 * 2 * channels;
	parameters.subswitch_buffer = parameters.column_buffer = 14;
	return parameters;
}

TEST(worst_case_moves_in_every_channel_P13)
{
	const uint32_t windows = slow_tests() ? 100 : 10;
	const auto machine = topology::build_canonical({.p = 2, .a = 4, .h = 2});
	routing::Policy policy = RunShape::default_policy();

	policy.channels = static_cast<uint8_t>(routing::channels_needed(policy, machine.groups));
	for (const Routing routing : {Routing::Adaptive, Routing::NonminimalHash}) {
		Rig rig(machine, worst(routing), small_buffers(policy.channels), 1, policy);
		auto before = rig.network.statistics().channel_packets;

		for (uint32_t window = 0; window < windows; window++) {
			rig.network.run(rig.network.now() + WINDOW);

			const auto &after = rig.network.statistics().channel_packets;

			for (uint32_t channel = 0; channel < policy.channels * routing::CLASSES; channel++)
				assert_true(after[channel] > before[channel]);
			before = after;
		}
	}
}

/* Without channels to climb packets block each other, and a run says so. */
TEST(one_channel_is_not_enough_P13)
{
	RunShape shape;

	shape.traffic = worst(Routing::NonminimalHash);
	shape.policy.channels = 1;
	shape.parameters = small_buffers(1);
	shape.warmup = 1000;
	shape.measure = 300000;

	const Result result = run(topology::build_canonical({.p = 2, .a = 4, .h = 2}), shape);

	assert_true(result.stuck);
	assert_false(result.drained);
}

} // namespace

TEST_MAIN("tests")
