// SPDX-License-Identifier: GPL-2.0-or-later
/* Route tables as bytes: what comes back decides as what went in, and what is wrong is refused with its reason. */
#include "cmocka_cpp.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <string>

#include "router/decide.hpp"
#include "router/tables_file.hpp"
#include "topology/dragonfly_machine.hpp"

using namespace aries;
using namespace aries::routing;

namespace
{

struct Damaged {
	topology::Machine machine = topology::machine_of(Dragonfly({96, 4, 2}));
	topology::Wiring wiring{machine};
	Failures failures{{3, 17, 40}, {5}};
	TablesInfo info{7, {96, 4, 2}, 1234567, failures};

	Tables tables() const { return build_tables(machine, {}, failures).tables; }
	std::vector<std::byte> bytes() const { return encode_tables(tables(), info); }

	/** Why bytes are refused; empty if they are not. */
	std::string refused(std::span<const std::byte> from) const
	{
		try {
			decode_tables(from, wiring);
			return {};
		} catch (const std::invalid_argument &error) {
			return error.what();
		}
	}

	/** Tables with something in them changed, whose checksum is right. */
	template <typename Change> std::string refused_with(Change &&change) const
	{
		const Tables whole = tables();
		auto common = std::make_unique<Common>(whole.common());
		std::vector<GroupTables> groups;

		for (uint32_t g = 0; g < whole.groups(); g++)
			groups.push_back(whole.group(g));
		change(*common, groups);
		return refused(encode_tables(
			Tables(std::move(common), std::move(groups), whole.routers(), whole.nics()), info));
	}
};

void assert_has(const std::string &text, const char *word)
{
	if (text.find(word) == std::string::npos)
		fail_msg("'%s' has no '%s'", text.c_str(), word);
}

TEST(what_comes_back_decides_alike)
{
	const Damaged d;
	const Tables before = d.tables();
	const DecodedTables after = decode_tables(d.bytes(), d.wiring);
	std::mt19937_64 random(1);
	std::array<uint32_t, MAX_TILES> loads{};
	uint32_t ways = 0;

	assert_true(after.info == d.info);
	for (uint32_t turn = 0; turn < 20000; turn++) {
		const auto from = static_cast<uint32_t>(random() % before.routers());
		const auto to = static_cast<uint32_t>(random() % before.routers());
		Header header{before.address(to),
			      NO_ROOT,
			      static_cast<uint32_t>(random()),
			      routing_mode(static_cast<uint16_t>(random() % 64), false),
			      static_cast<uint8_t>(random() % 4),
			      0,
			      Phase::Down};
		const uint64_t word = random();

		for (uint32_t &load : loads)
			load = static_cast<uint32_t>(random() % 1000);
		const Decision a = decide(before.router(from), 40, header, LoadArray<uint32_t>{loads.data()}, word);
		const Decision b =
			decide(after.tables.router(from), 40, header, LoadArray<uint32_t>{loads.data()}, word);

		assert_int_equal(a.tile, b.tile);
		assert_true(a.root == b.root && a.channel == b.channel && a.phase == b.phase);
		ways += a.tile != NO_OUTPUT;
	}
	assert_true(ways > 10000);
}

TEST(every_damaged_word_is_seen)
{
	const Damaged d;
	std::vector<std::byte> bytes = d.bytes();

	assert_string_equal(d.refused(bytes).c_str(), "");
	for (size_t at = 0; at < bytes.size(); at++) {
		bytes[at] ^= std::byte{0x10};
		assert_true(!d.refused(bytes).empty());
		bytes[at] ^= std::byte{0x10};
	}
	for (size_t length = 0; length < bytes.size(); length += 13)
		assert_true(!d.refused(std::span(bytes).first(length)).empty());
}

TEST(reasons)
{
	const Damaged d;
	std::vector<std::byte> bytes = d.bytes();
	const uint32_t version = TABLES_VERSION + 1;
	const topology::Wiring other(topology::machine_of(Dragonfly({64, 4, 2})));

	assert_has(d.refused({}), "no file of route tables");
	assert_has(d.refused(std::span(bytes).first(bytes.size() - 8)), "another length");
	bytes[bytes.size() - 1] ^= std::byte{1};
	assert_has(d.refused(bytes), "checksum");
	std::memcpy(bytes.data() + 3 * sizeof(uint64_t), &version, sizeof(version));
	assert_has(d.refused(bytes), "version 2, and this device knows 1");
	try {
		decode_tables(d.bytes(), other);
		fail_msg("tables of another machine are taken");
	} catch (const std::invalid_argument &error) {
		assert_has(error.what(), "another machine");
	}
}

/* Bytes with the checksum that belongs to them: the third word. */
std::vector<std::byte> sealed(std::vector<std::byte> bytes)
{
	constexpr size_t AT = 2;
	std::vector<uint64_t> words(bytes.size() / sizeof(uint64_t));

	std::memcpy(words.data(), bytes.data(), bytes.size());
	words[AT] = 0;
	uint64_t sum = bytes.size();

	for (const uint64_t word : words)
		sum = mix64(sum ^ word);
	words[AT] = sum;
	std::memcpy(bytes.data(), words.data(), bytes.size());
	return bytes;
}

/* A list says more than there is, also so much that its length in bytes is small again; and a file that just ends. */
TEST(lists_that_are_longer_than_the_file)
{
	constexpr size_t FIRST = 64; /* number of failed links, four bytes each: behind the header */
	const Damaged d;
	const std::vector<std::byte> whole = d.bytes();

	assert_string_equal(d.refused(sealed(whole)).c_str(), "");
	for (const uint64_t count : {whole.size() / 4, whole.size(), uint64_t{1} << 62 | 3, UINT64_MAX}) {
		std::vector<std::byte> bytes = whole;

		std::memcpy(bytes.data() + FIRST, &count, sizeof(count));
		assert_has(d.refused(sealed(bytes)), "longer than the file");
	}
	for (uint64_t length = FIRST; length < whole.size(); length += sizeof(uint64_t)) {
		std::vector<std::byte> bytes(whole.begin(), whole.begin() + ptrdiff_t(length));

		std::memcpy(bytes.data() + sizeof(uint64_t), &length, sizeof(length));
		assert_true(!d.refused(sealed(bytes)).empty());
	}
}

/* Whoever can write the file can compute a checksum. decide() would believe each of these. */
TEST(what_decide_would_trip_over_is_refused)
{
	const Damaged d;

	assert_string_equal(d.refused_with([](Common &, auto &) {}).c_str(), "");
	assert_has(d.refused_with([](Common &c, auto &) { c.next_channel[1][1][3] = MAX_CHANNELS; }),
		   "virtual channel");
	assert_has(d.refused_with([](Common &c, auto &) { c.kind[3] = static_cast<PortKind>(9); }), "of no kind");
	assert_has(d.refused_with([](Common &c, auto &) { c.root_rule = static_cast<RootRule>(7); }), "rule of roots");
	assert_has(d.refused_with([](Common &c, auto &) { c.roots[0].group = 3; }), "no router");
	assert_has(d.refused_with([](Common &c, auto &) { c.roots[0].index = 8; }), "no router");
	assert_has(d.refused_with([](Common &c, auto &) { c.roots.clear(); }), "no router in it");
	assert_has(d.refused_with([](Common &c, auto &) { c.linked_bits.clear(); }), "linked groups");
	assert_has(d.refused_with([](Common &, auto &groups) { groups[1].roots[0] = 8; }), "of its group");
	assert_has(d.refused_with([](Common &, auto &groups) { groups[1].entries[5].first = 60000; }), "no tiles");
	assert_has(d.refused_with([](Common &, auto &groups) {
		/* Of the tiles of its router it has the last one, and one more. */
		groups[1].entries[5] = {uint16_t(groups[1].first[1] - groups[1].first[0] - 1), 2};
	}),
		   "no tiles");
	assert_has(d.refused_with([](Common &, auto &groups) { groups[1].entries.pop_back(); }), "another length");
	assert_has(d.refused_with([](Common &, auto &groups) { groups[2].first[1] = 1u << 31; }), "not there");
	assert_has(d.refused_with([](Common &, auto &groups) {
		std::fill(groups[0].ports.begin(), groups[0].ports.end(), 63);
	}),
		   "none");
	assert_has(d.refused_with([](Common &, auto &groups) {
		std::fill(groups[0].ports.begin(), groups[0].ports.end(), 44);
	}),
		   "leads nowhere");
	assert_has(d.refused_with([](Common &, auto &groups) {
		std::fill(groups[0].ports.begin(), groups[0].ports.end(), 0);
	}),
		   "leads to a router");
}

/* A router that is cut off has no entry with a tile, and yet a NIC whose packets ask it. */
TEST(a_router_that_is_cut_off_has_no_output)
{
	const topology::Machine machine = topology::machine_of(Dragonfly({96, 4, 2}));
	Failures failures;

	for (uint32_t link = 0; link < machine.links.size(); link++) {
		if (machine.links[link].end[0].router == 0 || machine.links[link].end[1].router == 0)
			failures.links.push_back(link);
	}
	const Built built = build_tables(machine, {}, failures);
	std::array<uint32_t, MAX_TILES> loads{};

	loads.fill(100);
	assert_int_equal(built.cut_routers.size(), 1);
	for (uint32_t to = 1; to < built.tables.routers(); to++) {
		for (uint16_t bits = 0; bits < 64; bits++) {
			const Header header{built.tables.address(to),
					    NO_ROOT,
					    bits * 7919u,
					    routing_mode(bits, false),
					    0,
					    0,
					    Phase::Down};

			for (uint64_t word = 1; word < 20; word++) {
				const Decision decision = decide(built.tables.router(0), 40, header,
								 LoadArray<uint32_t>{loads.data()}, mix64(word));

				assert_int_equal(decision.tile, NO_OUTPUT);
			}
		}
	}
}

} // namespace

TEST_MAIN("tests")
