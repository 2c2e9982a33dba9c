// SPDX-License-Identifier: GPL-2.0-or-later
/** @file An endpoint of libfabric for datagrams that arrive in order while a connection lasts (FI_EP_RDM). */
#ifndef ARIES_GATEWAY_ENDPOINT_HPP
#define ARIES_GATEWAY_ENDPOINT_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

namespace aries::gateway
{

/** Closes an object of libfabric. */
template <typename Object> struct CloseFid {
	void operator()(Object *object) const noexcept { fi_close(&object->fid); }
};
template <typename Object> using Fid = std::unique_ptr<Object, CloseFid<Object>>;

struct EndpointOptions {
	std::string provider = "tcp"; ///< a provider's name, as libfabric's fi_info lists it
	std::string address;          ///< to bind to: a numeric address, IPv4 or IPv6
	uint16_t port = 0;
	size_t longest = 0;     ///< bytes of the longest datagram
	uint32_t receives = 64; ///< datagrams that may arrive between two polls without waiting in the provider
};

/**
 * Has neither a thread nor a lock: its user serialises the calls. It binds to the address in its options and to no
 * other one.
 */
class Endpoint
{
public:
	using Peer = fi_addr_t;

	/** Throws Error: no such provider, address not of this host, port in use. */
	explicit Endpoint(const EndpointOptions &options);
	~Endpoint();
	Endpoint(const Endpoint &) = delete;
	Endpoint &operator=(const Endpoint &) = delete;

	/** Makes a peer that can be sent to. Throws Error if the address is not valid. */
	Peer insert(const std::string &address, uint16_t port);
	/** Ends the connection with a peer: datagrams under way to the peer may be lost. */
	void remove(Peer peer) noexcept;

	/**
	 * Sends a copy of @bytes; the caller may reuse its memory on return. Return: false if there is no room at the
	 * moment, or no way to the peer, and then nothing was sent. True does not mean that the datagram arrives.
	 */
	bool send(Peer peer, std::span<const std::byte> bytes) noexcept;

	/**
	 * Calls @visit(span) with each datagram that has arrived, at most @most; the bytes are valid during the call.
	 * Return: number of completions of any kind.
	 */
	template <typename Visit> size_t poll(size_t most, Visit &&visit)
	{
		size_t done = 0;

		for (; done < most; done++) {
			const Arrival arrival = next();

			if (!arrival.any)
				break;
			if (!arrival.buffer)
				continue;
			visit(std::span<const std::byte>(arrival.buffer, arrival.bytes));
			post(arrival.buffer);
		}
		return done;
	}

	/** Readable when poll() should be called, if may_sleep() has said true since the last poll. */
	int fd() const noexcept { return fd_; }
	bool may_sleep() noexcept;

	/** Number of sends that ended with an error: connections that were lost or refused. */
	uint64_t failures() const noexcept { return failures_; }
	const std::string &provider() const noexcept { return provider_; }

private:
	struct FreeInfo {
		void operator()(fi_info *info) const noexcept { fi_freeinfo(info); }
	};
	struct Arrival {
		bool any;
		std::byte *buffer; // null: not a datagram
		size_t bytes;
	};

	void open(const EndpointOptions &options);
	Arrival next() noexcept;
	Arrival failed() noexcept;
	Arrival completed(void *context, uint64_t flags, size_t bytes) noexcept;
	void post(std::byte *buffer) noexcept;
	void post_owed() noexcept;
	bool is_receive(const std::byte *buffer) const noexcept;

	size_t longest_;
	std::unique_ptr<std::byte[]> receives_;
	size_t receive_bytes_;
	std::vector<std::byte *> owed_; // buffers that are to be posted again
	std::vector<std::unique_ptr<std::byte[]>> sends_;
	std::vector<std::byte *> free_sends_;
	std::string provider_;
	uint64_t failures_ = 0;
	int fd_ = -1;

	std::unique_ptr<fi_info, FreeInfo> info_;
	Fid<fid_fabric> fabric_;
	Fid<fid_domain> domain_;
	Fid<fid_av> addresses_;
	Fid<fid_cq> queue_;
	Fid<fid_ep> endpoint_;
};

} // namespace aries::gateway

#endif
