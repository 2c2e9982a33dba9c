/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packet/trace.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "link/timing.hpp"

namespace aries
{

namespace
{

constexpr uint32_t IDS = 1u << PACKET_ID_BITS;

uint32_t packets_of(uint32_t bytes)
{
	return std::max<uint32_t>(1, uint32_t((uint64_t(bytes) + PACKET_BYTES - 1) / PACKET_BYTES));
}

uint8_t bytes_of(const TracedTransaction &traced, uint32_t i)
{
	return uint8_t(std::min<uint64_t>(PACKET_BYTES, traced.bytes - uint64_t(i) * PACKET_BYTES));
}

/* Packets leave as fast as the NIC makes them (L08). */
uint64_t request_ns(const TracedTransaction &traced, uint32_t i)
{
	return traced.depart_ns + nic_busy_ns(uint64_t(i) * PACKET_BYTES);
}

/* And come back so, the last one at the time that the network gave. */
uint64_t response_ns(const TracedTransaction &traced, uint32_t i)
{
	const uint64_t behind = nic_busy_ns(uint64_t(packets_of(traced.bytes) - 1 - i) * PACKET_BYTES);

	return std::max(traced.back_ns - std::min(traced.back_ns, behind), request_ns(traced, i) + 1);
}

uint8_t *big(uint8_t *to, uint64_t value, unsigned int bytes)
{
	for (unsigned int i = bytes; i--;)
		*to++ = uint8_t(value >> 8 * i);
	return to;
}

} // namespace

void PacketTrace::start(const std::string &path, uint64_t limit, uint32_t packets)
{
	std::unique_ptr<PcapngFile> file;

	try {
		file = std::make_unique<PcapngFile>(path, "node " + std::to_string(node_), limit);
	} catch (const std::runtime_error &e) {
		throw std::runtime_error("cannot write a trace to " + path + ": " + e.what());
	}
	std::lock_guard guard(mutex_);

	path_ = path;
	report_.clear();
	report_.reserve(path.size() + 256); /* end() must not fail */
	file_ = std::move(file);
	count_ = 0;
	packets_.store(packets, std::memory_order_relaxed);
	on_.store(true, std::memory_order_relaxed);
}

void PacketTrace::stop() noexcept
{
	std::lock_guard guard(mutex_);

	on_.store(false, std::memory_order_relaxed);
	file_.reset();
}

/* The file took no more; mutex held. */
void PacketTrace::end() noexcept
{
	char why[200];

	on_.store(false, std::memory_order_relaxed);
	if (file_->limited())
		snprintf(why, sizeof(why), "its limit of %llu bytes is reached", (unsigned long long)file_->limit());
	else
		snprintf(why, sizeof(why), "%s", strerrordesc_np(file_->problem()));
	report_.append("trace ").append(path_).append(" ended: ").append(why);
	file_.reset();
}

bool PacketTrace::poll(char *line, size_t length) noexcept
{
	std::lock_guard guard(mutex_);

	if (file_ && !file_->flush())
		end();
	if (report_.empty())
		return false;
	snprintf(line, length, "%s", report_.c_str());
	report_.clear();
	return true;
}

std::string PacketTrace::describe()
{
	std::lock_guard guard(mutex_);

	if (!file_)
		return "trace off\n";
	return "trace " + path_ + " packets " + std::to_string(count_) + " bytes " + std::to_string(file_->bytes()) +
	       " of " + std::to_string(file_->limit()) + "\n";
}

void PacketTrace::write(const TracedTransaction &traced, Payload payload, void *context) noexcept
{
	const uint32_t most = packets_.load(std::memory_order_relaxed);
	const uint32_t count = std::min(packets_of(traced.bytes), most - std::min(most, traced.index));
	std::lock_guard guard(mutex_);
	bool going = file_ != nullptr;
	const uint32_t id = next_id_;

	if (!going)
		return;
	next_id_ = (id + count) % IDS;
	for (uint32_t i = 0; going && i < count; i++)
		going = write_request(traced, i, uint16_t((id + i) % IDS), payload, context);
	for (uint32_t i = 0; going && i < count && traced.back_ns; i++)
		going = write_response(traced, i, uint16_t((id + i) % IDS), payload, context);
	if (!going)
		end();
}

bool PacketTrace::write_request(const TracedTransaction &traced, uint32_t i, uint16_t id, Payload payload,
				void *context) noexcept
{
	const uint64_t at = uint64_t(i) * PACKET_BYTES;
	Request request = traced.request;
	FlitPacket flits;

	request.packet_id = id;
	request.bytes = bytes_of(traced, i);
	request.to.offset = (request.to.offset + at) & ((uint64_t(1) << OFFSET_BITS) - 1);
	if (carries_data(request.kind) && request.bytes)
		payload(context, false, at, request.bytes, request.data.data());
	return !encode(request, flits) || write_packet(traced, i, false, request_ns(traced, i), flits);
}

bool PacketTrace::write_response(const TracedTransaction &traced, uint32_t i, uint16_t id, Payload payload,
				 void *context) noexcept
{
	Response response = {traced.request.source, id, traced.request.vc, traced.status, 0, {}};
	FlitPacket flits;

	if (returns_data(traced.request.kind) && !traced.status) {
		response.bytes = uint8_t(traced.result ? traced.result : bytes_of(traced, i));
		payload(context, true, uint64_t(i) * PACKET_BYTES, response.bytes, response.data.data());
	}
	return !encode(response, flits) || write_packet(traced, i, true, response_ns(traced, i), flits);
}

bool PacketTrace::write_packet(const TracedTransaction &traced, uint32_t i, bool inbound, uint64_t ns,
			       const FlitPacket &flits) noexcept
{
	uint8_t bytes[TRACE_HEADER_BYTES + MAX_PACKET_FLITS * FLIT_BYTES];
	uint8_t *to = bytes;

	*to++ = TRACE_VERSION;
	*to++ = TRACE_HEADER_BYTES;
	*to++ = inbound;
	*to++ = uint8_t(traced.engine);
	to = big(to, traced.request.key, 4);
	to = big(to, node_, 4);
	to = big(to, traced.request.to.pe, 4);
	to = big(to, std::min<uint64_t>(traced.latency_ns, UINT32_MAX), 4);
	to = big(to, traced.index + i, 4);
	to = big(to, traced.packets, 4);
	*to++ = uint8_t(std::min<uint32_t>(traced.hops, UINT8_MAX));
	*to++ = traced.status;
	*to++ = traced.fmad;
	*to++ = uint8_t(traced.request.kind);
	for (const uint64_t flit : flits.flits())
		to = big(to, flit, FLIT_BYTES);
	if (!file_->packet(ns, inbound, {bytes, size_t(to - bytes)}))
		return false;
	count_++;
	return true;
}

} // namespace aries
