/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Networks of two hosts that tell each other what was changed. */
#ifndef ARIES_TESTS_NETWORK_SIDES_HPP
#define ARIES_TESTS_NETWORK_SIDES_HPP

#include <optional>
#include <string>

#include "cmocka_cpp.hpp"
#include "gateway/network_news.hpp"
#include "tests/machine.hpp"

namespace aries_test
{

inline constexpr uint32_t NODES = 8;
inline constexpr uint64_t SECOND = 1'000'000'000;

/** The network of one host. */
struct Side {
	const uint32_t host;
	const aries::NewsFile *const file;
	aries::Machine machine{aries::GROUPS};
	aries::Network &net = machine.net;
	std::string said;
	std::optional<aries::SharedNetwork> knows;

	explicit Side(uint32_t host_, const aries::NewsFile *file_ = nullptr) : host(host_), file(file_) { begin(); }

	/** A gateway starts, after the one before. */
	void begin()
	{
		knows.emplace(net, NODES, host, file, [this](const std::string &line) { said += line; });
	}
	aries::SharedNetwork &shared() { return *knows; }
	std::vector<aries::NetworkNews> look() { return knows->look(); }
	void take(const std::vector<aries::NetworkNews> &news)
	{
		for (const aries::NetworkNews &one : news)
			assert_null(knows->take(one, SECOND));
		knows->keep();
	}
	aries::Network::LinkView link(uint32_t router, uint32_t tile) const { return net.link_view(router, tile, 0); }
};

struct Sides {
	Side a, b;

	explicit Sides(const aries::NewsFile *of_a = nullptr, const aries::NewsFile *of_b = nullptr)
		: a(0, of_a), b(1, of_b)
	{
	}

	/** News in both directions; nothing comes back. */
	void exchange()
	{
		const auto of_a = a.look(), of_b = b.look();

		b.take(of_a);
		a.take(of_b);
		assert_true(a.look().empty());
		assert_true(b.look().empty());
	}
	/** The hosts were parted and meet again. */
	void meet()
	{
		(void)a.look();
		(void)b.look();
		const auto of_a = a.shared().all(), of_b = b.shared().all();

		b.take(of_a);
		a.take(of_b);
		assert_true(a.look().empty());
		assert_true(b.look().empty());
	}
};

/** A tile of @router with a link, by its far end, that begins there or elsewhere. */
inline uint32_t linked_tile(const aries::Network &net, uint32_t router, bool begins)
{
	for (uint32_t tile = 0; tile < aries::NETWORK_TILES; tile++) {
		const aries::LinkEnd far = net.link_view(router, tile, 0).far;

		if (far.tile != aries::NO_TILE && (router < far.router) == begins)
			return tile;
	}
	fail_msg("router %u has no such link", router);
	return 0;
}

} // namespace aries_test

#endif
