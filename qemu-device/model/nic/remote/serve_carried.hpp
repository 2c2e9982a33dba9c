/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests that come from another host, at their target. */
#ifndef ARIES_NIC_SERVE_CARRIED_HPP
#define ARIES_NIC_SERVE_CARRIED_HPP

#include <span>
#include <vector>

#include "fabric/carry_area.hpp"
#include "nic/remote/inbound.hpp"

namespace aries
{

/**
 * Whether the fields of @request make sense, and @payload is what it carries: for all that comes from elsewhere. Who
 * may ask for what is for serve_carried() to find out, and what is in packets of collective engines for ce_sound().
 */
bool carried_sound(const CarriedRequest &request, size_t payload, uint32_t nodes) noexcept;

/**
 * Does what a sound request asks for, by the code that serves requests of this host; its source has a slot here that we
 * are the carrier of. What is refused is told to the target's owner, too.
 * @inbound: where its packets are booked
 * @payload: what it carries
 * @data: gets what comes back with the response
 */
CarriedResponse serve_carried(Core &core, Inbound &inbound, const CarriedRequest &request,
			      std::span<const uint8_t> payload, std::vector<uint8_t> &data) noexcept;

} // namespace aries

#endif
