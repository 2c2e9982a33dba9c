/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests of another host in the network of their target's host: what they book there, and what they wait for. */
#include "nic/remote/inbound.hpp"
#include "tests/two_hosts.hpp"

using namespace aries_test;

namespace
{

constexpr unsigned int FETCHING_ADD = 0x008, ADD = 0x108;
constexpr unsigned int REQUESTS = 0, RESPONSES = 4; /* their first virtual channels */
constexpr double FROZEN = 1e-6;                     /* of modelled time: nothing that is booked ends by itself */

/* Flits that have left the router of @host by processor tiles, as its registers say. */
uint64_t flits_out(const FakeHost &host, unsigned int channel)
{
	uint64_t sum = 0;

	for (uint64_t tile = aries::FIRST_PROCESSOR; tile < aries::TILES; tile++)
		for (uint64_t which = channel; which < channel + 4; which++)
			sum += host.read(ARIES_RTR_COUNTER_N(tile * ARIES_RTR_ELEMENTS + ARIES_RTR_OUT_FLITS + which),
					 8);
	return sum;
}

void same_flits(const FakeHost &a, const FakeHost &b)
{
	assert_int_equal(flits_out(a, REQUESTS), flits_out(b, REQUESTS));
	assert_int_equal(flits_out(a, RESPONSES), flits_out(b, RESPONSES));
}

/* The routers of both hosts have seen the same packets, of all kinds. */
TEST(both_hosts_count_the_same)
{
	TwoHosts p;
	uint64_t before = 0;

	const auto more = [&] {
		assert_int_equal(p.event().status(), ARIES_ST_OK);
		p.wait([&] { return p.busy() == 0; });
		same_flits(p.a, p.b);
		assert_true(flits_out(p.b, REQUESTS) > before);
		before = flits_out(p.b, REQUESTS);
	};

	for (const unsigned int bytes : {8u, 64u, 2048u}) {
		assert_int_equal(p.a.ring(FMAD, ARIES_FMA_PUT_LINE, bytes, ARIES_EV_GLOBAL), ARIES_ST_OK);
		more();
		assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, bytes, ARIES_EV_GLOBAL), ARIES_ST_OK);
		more();
	}
	for (const unsigned int command : {FETCHING_ADD, ADD}) {
		assert_int_equal(p.a.ring(FMAD, ARIES_FMA_AMO_OP, 8, ARIES_EV_GLOBAL, 0, command), ARIES_ST_OK);
		more();
	}
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_CQWRITE, 0, ARIES_EV_GLOBAL), ARIES_ST_OK);
	more();
	for (const unsigned int op : {ARIES_BTE_PUT, ARIES_BTE_GET}) {
		p.a.slot(FMAD, 0) = block_transfer(op, MDH, LOCAL_MDH, BYTES);
		assert_int_equal(p.a.ring_bte(FMAD, 0), ARIES_ST_OK);
		more();
	}
	assert_true(flits_out(p.b, RESPONSES) > 0);
}

/* The request has come all the way; no response with its outcome is booked there, as on one host. */
TEST(refused_requests_arrive)
{
	TwoHosts p;

	p.desc().offset = BASE + BYTES;
	assert_int_equal(p.send(1), ARIES_ST_OK);
	assert_int_equal(p.event().status(), ARIES_ST_BOUNDS);
	assert_true(flits_out(p.b, REQUESTS) > 0);
	assert_int_equal(flits_out(p.b, RESPONSES), 0);
}

uint64_t add(TwoHosts &p, unsigned int command)
{
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_AMO_OP, 8, ARIES_EV_GLOBAL, 0, command), ARIES_ST_OK);
	assert_int_equal(p.event().status(), ARIES_ST_OK);
	p.wait([&] { return p.busy() == 0; });
	return p.a.counter(ARIES_CNT_LATENCY_LAST_NS);
}

/* Nobody on the initiator's host knows that the target's atomic unit has work from its own node. */
TEST(a_busy_target_is_waited_for)
{
	constexpr unsigned int WORK = 900; /* fewer than may be outstanding: modelled time stands still */
	TwoHosts p;
	char err[256];

	for (const FakeHost *host : {&p.a, &p.b})
		assert_int_equal(aries_nic_set_time_rate(host->nic(), FROZEN, err, sizeof(err)), 0);
	const uint64_t quiet = add(p, ADD), fetching = add(p, FETCHING_ADD);

	aim_at_peer(p.b);
	for (unsigned int i = 0; i < WORK; i++)
		assert_int_equal(p.b.ring(FMAD, ARIES_FMA_AMO_OP, 8, 0, 0, ADD), ARIES_ST_OK);
	const uint64_t work = aries::ticks_to_ns(WORK * aries::AMO_MISS_TICKS);

	/* Some of it is done while the request is on its way. */
	assert_in_range(add(p, ADD), quiet + work / 2, quiet + 2 * work);
	assert_in_range(add(p, FETCHING_ADD), fetching + work / 2, fetching + 2 * work);
}

/* The later one of both hosts' times counts. */
TEST(later_times)
{
	aries::CarriedResponse response = {};
	aries::Passage passage = {};

	passage.latency_ns = 800;
	passage.turn_ns = 5000;
	passage.back_ns = 6000;
	aries::later_turn(response, 4000, passage);
	aries::later_back(response, 4000, true, passage);
	assert_int_equal(passage.latency_ns, 800);
	response.turn_ns = 1100;
	response.back_ns = 2500;
	aries::later_turn(response, 4000, passage);
	assert_int_equal(passage.turn_ns, 5100);
	assert_int_equal(passage.latency_ns, 900);
	aries::later_back(response, 4000, false, passage);
	assert_int_equal(passage.back_ns, 6500);
	assert_int_equal(passage.latency_ns, 900);
	response.back_ns = 3000;
	aries::later_back(response, 4000, true, passage);
	assert_int_equal(passage.back_ns, 7000);
	assert_int_equal(passage.latency_ns, 1400);
	/* What has no response has none on any host. */
	passage.back_ns = 0;
	aries::later_back(response, 4000, true, passage);
	assert_int_equal(passage.back_ns, 0);
}

} // namespace

TEST_MAIN("tests")
