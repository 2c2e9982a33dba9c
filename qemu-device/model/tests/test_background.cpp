// SPDX-License-Identifier: GPL-2.0-or-later
/* What others do on the network: files, waits, what is left of a link, ways around the load. */
#include "cmocka_cpp.hpp"

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>

#include <unistd.h>

#include "link/timing.hpp"
#include "machine.hpp"

using namespace aries;

namespace
{

constexpr uint32_t NEAR_SLOT = 4; // a node of the next router of a chassis: one green hop
constexpr uint32_t SAMPLES = 200000;
constexpr uint64_t APART = 100000; // ns between packets that must not meet

/** A file with a text, for as long as it lives. */
class TextFile
{
public:
	explicit TextFile(const std::string &text) : path("/tmp/aries-background-" + std::to_string(getpid()))
	{
		std::ofstream(path) << text;
	}
	~TextFile() { std::remove(path.c_str()); }
	TextFile(const TextFile &) = delete;
	TextFile &operator=(const TextFile &) = delete;

	const std::string path;
};

std::string refusal(const std::string &what, uint32_t routers = 16)
{
	try {
		Background::of(what, routers);
	} catch (const std::runtime_error &error) {
		return error.what();
	}
	return "";
}

bool says(const std::string &text, const char *words)
{
	if (text.find(words) != std::string::npos)
		return true;
	print_error("\"%s\" does not say \"%s\"\n", text.c_str(), words);
	return false;
}

const std::string HEAD = "# aries link loads 1\n# routers 16 tiles 48 links 120\nrouter,tile,load,stalled\n";

TEST(files_and_shares)
{
	assert_true(Background::of("uniform:0.25", 16)->load(3, 7) == 0.25F);
	assert_true(Background::of("uniform:1", 16)->load(3, 7) == Background::MAX);
	assert_true(Background::of("uniform:0", 16)->wait(3, 7, 0) == 0);
	{
		const TextFile file(HEAD + "2,5,0.5,0.125\n15,39,1,0.5\n");
		const auto loads = Background::of(file.path, 16);

		assert_true(loads->load(2, 5) == 0.625F);
		assert_true(loads->load(15, 39) == Background::MAX);
		assert_true(loads->load(2, 6) == 0);
		assert_true(says(refusal(file.path, 17), "a machine with 16 routers, this one has 17"));
	}
	for (const char *share :
	     {"uniform:", "uniform:x", "uniform:0.5x", "uniform:-0.1", "uniform:1.5", "uniform:nan"})
		assert_true(says(refusal(share), "a share from 0 to 1"));
	assert_true(says(refusal("/nowhere/loads"), "/nowhere/loads cannot be read"));
	assert_true(says(refusal("/tmp"), "/tmp"));
	const std::pair<std::string, const char *> wrong[] = {
		{"", "ends before its columns"},
		{"# aries link loads 2\n", "line 1: it does not begin"},
		{HEAD + "16,0,0.5,0\n", "line 4: the machine has no tile 0 at a router 16"},
		{HEAD + "0,48,0.5,0\n", "no tile 48"},
		{HEAD + "0,0,0.5\n", "is no line of"},
		{HEAD + "0,0,0.5,0,1\n", "is no line of"},
		{HEAD + "0,0,1.5,0\n", "shares from 0 to 1"},
		{HEAD + "0,0,0.5,nan\n", "shares from 0 to 1"},
		{"# aries link loads 1\nrouter,tile,load\n", "line 2: the columns are not"},
	};

	for (const auto &[text, words] : wrong) {
		const TextFile file(text);

		assert_true(says(refusal(file.path), words));
	}
}

/* The mean wait is that of packets of one length that come at random: rho S / 2 (1 - rho). */
TEST(waits_are_those_of_a_queue)
{
	const double service =
		double(flit_ticks(request_flits(PacketKind::Put, 64), LINK_FACTORS[0][0])) / TICKS_PER_NS;

	for (const double load : {0.2, 0.5, 0.8, 0.95}) {
		Machine m(CHASSIS);
		const uint64_t idle = m.put8(0, NEAR_SLOT).arrive_ns - NOW;
		double sum = 0;

		m.net.set_background("uniform:" + std::to_string(load));
		for (uint32_t i = 1; i <= SAMPLES; i++) {
			const uint64_t at = NOW + i * APART;
			const Network::Transit t = m.put8(0, NEAR_SLOT, ADAPTIVE, i, at);

			assert_true(t.arrive_ns - at >= idle);
			assert_int_equal(t.hops, 1);
			sum += double(t.arrive_ns - at - idle);
		}
		/* Its own flits get what is left of the link. */
		const double own = double(flit_ticks(request_flits(PacketKind::Put, 8), LINK_FACTORS[0][0])) /
				   TICKS_PER_NS * (1 / (1 - load) - 1);
		const double mean = sum / SAMPLES - own, expected = load * service / (2 * (1 - load));

		if (mean < expected * 0.9 - 0.5 || mean > expected * 1.1 + 1.5) {
			print_error("load %g: %g ns, expected %g\n", load, mean, expected);
			assert_true(false);
		}
	}
}

/* A long stream gets what others leave of a link. */
TEST(the_rest_of_a_link_is_left)
{
	const auto took = [](const std::string &background) {
		Machine m(CHASSIS);
		uint64_t last = 0;

		m.net.set_background(background);
		for (uint32_t i = 0; i < 2000; i++)
			last = std::max(
				last,
				book(m.net, 0, NEAR_SLOT, PacketClass::Request, 100, DLV_IN_ORDER, 0, NOW).arrive_ns);
		return double(last - NOW);
	};
	const double idle = took(""), half = took("uniform:0.5"), most = took("uniform:0.9");

	assert_true(half > 1.9 * idle && half < 2.3 * idle);
	assert_true(most > 8 * idle && most < 13 * idle);
}

/* Requests that are to stay in order do, whatever each of them has to wait for (R12). */
TEST(nothing_overtakes_R12)
{
	Machine m(CHASSIS);
	uint64_t before = 0;

	m.net.set_background("uniform:0.9");
	for (uint32_t i = 0; i < 20000; i++) {
		const uint64_t at = NOW + i * 10;
		const uint64_t arrive =
			book(m.net, 0, NEAR_SLOT, PacketClass::Request, 3, DLV_IN_ORDER, 0, at).arrive_ns;

		assert_true(arrive >= before);
		before = arrive;
	}
}

/* Routers know what others do, and go around it. */
TEST(ways_lead_around_what_others_load)
{
	const DragonflyShape shape{64, 4, 4};
	std::string direct = HEAD;
	Machine m(shape);
	uint32_t detours = 0, before = 0;

	/* All links of router 0 to its neighbour in the chassis. */
	for (uint32_t tile = 0; tile < NETWORK_TILES; tile++) {
		if (m.net.topology().far_end(0, tile).router == 1 && m.net.topology().far_end(0, tile).tile != NO_TILE)
			direct += "0," + std::to_string(tile) + ",1,0\n";
	}
	const TextFile file(direct);

	for (uint32_t i = 0; i < 1000; i++)
		before += m.put8(0, NEAR_SLOT, ADAPTIVE, i, NOW + i * APART).nonminimal;
	m.net.set_background(file.path);
	for (uint32_t i = 0; i < 1000; i++)
		detours += m.put8(0, NEAR_SLOT, ADAPTIVE, i, 2000 * APART + i * APART).nonminimal;
	assert_int_equal(before, 0);
	assert_true(detours > 900);
	/* And no longer when it ends. */
	m.net.set_background("");
	assert_false(m.put8(0, NEAR_SLOT, ADAPTIVE, 1, 5000 * APART).nonminimal);
}

} // namespace

TEST_MAIN("tests")
