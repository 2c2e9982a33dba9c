/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who changes the network of a fabric from outside, as aries-net does. */
#ifndef ARIES_TESTS_OPERATOR_HPP
#define ARIES_TESTS_OPERATOR_HPP

#include "fabric/membership.hpp"
#include "fabric/observer.hpp"
#include "netlink/network.hpp"
#include "tests/cmocka_cpp.hpp"

namespace aries_test
{

class Operator
{
	aries::Observer observer_;

public:
	aries::Network net;

	explicit Operator(const std::string &path)
		: observer_(path, aries::Observer::Access::Change),
		  net({observer_.shape().machine_nodes, observer_.shape().routers_per_chassis,
		       observer_.shape().chassis_per_group},
		      observer_.network(), observer_.shape().nodes, [this](uint32_t router) {
			      return observer_.reserve_network(uint64_t{router} * aries::ROUTER_BYTES,
							       aries::ROUTER_BYTES);
		      })
	{
	}

	uint64_t now() const { return net.clock().at(aries::now_ns()); }
	void quiesce(uint64_t ns) { assert_true(net.quiesce(now(), ns)); }
};

} // namespace aries_test

#endif
