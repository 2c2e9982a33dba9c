// SPDX-License-Identifier: GPL-2.0-or-later
#include "gateway/endpoint.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <rdma/fi_cm.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

#include "fabric/segment.hpp"

namespace aries::gateway
{

namespace
{

constexpr size_t MOST_SENDS = 64; // long datagrams that wait in the provider, over all peers

/* Bytes from one receive buffer to the next: buffers start on cache lines. */
size_t stride(size_t longest)
{
	return (longest + 63) / 64 * 64;
}

void check(int result, const std::string &what)
{
	if (result < 0)
		throw Error(what + ": " + fi_strerror(-result));
}

/*
 * Has datagrams of all sizes take the same way through ofi_rxm. Datagrams beyond its eager limit are fetched by the
 * receiver; they would complete after shorter datagrams that were sent later, and are slower here. A limit that the
 * user has set stays.
 */
void set_eager_limit(size_t longest)
{
	setenv("FI_OFI_RXM_EAGER_LIMIT", std::to_string(longest).c_str(), 0); // NOLINT(concurrency-mt-unsafe)
}

} // namespace

Endpoint::Endpoint(const EndpointOptions &options)
	: longest_(options.longest), receive_bytes_(stride(options.longest) * options.receives)
{
	open(options);
	receives_ = std::make_unique_for_overwrite<std::byte[]>(receive_bytes_);
	for (uint32_t i = 0; i < options.receives; i++)
		owed_.push_back(&receives_[i * stride(longest_)]);
	post_owed();
}

Endpoint::~Endpoint() = default;

void Endpoint::open(const EndpointOptions &options)
{
	const std::unique_ptr<fi_info, FreeInfo> hints(fi_allocinfo());
	const std::string port = std::to_string(options.port);
	fi_info *found = nullptr;

	if (!hints)
		throw std::bad_alloc();
	set_eager_limit(options.longest);
	hints->caps = FI_MSG;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->domain_attr->mr_mode = 0;
	hints->tx_attr->msg_order = FI_ORDER_SAS;
	hints->rx_attr->msg_order = FI_ORDER_SAS;
	hints->fabric_attr->prov_name = strdup(options.provider.c_str());

	const int result = fi_getinfo(FI_VERSION(1, 17), options.address.c_str(), port.c_str(),
				      FI_SOURCE | FI_NUMERICHOST, hints.get(), &found);

	if (result)
		throw Error("libfabric's provider " + options.provider + " has no endpoint at " + options.address +
			    " (" + fi_strerror(-result) + "): is it an address of this host? fi_info lists providers");
	info_.reset(found);
	provider_ = info_->fabric_attr->prov_name;
	if (info_->ep_attr->max_msg_size < longest_)
		throw Error("libfabric's provider " + provider_ + " takes no datagrams of " + std::to_string(longest_) +
			    " bytes");

	fid_fabric *fabric = nullptr;
	fid_domain *domain = nullptr;
	fid_av *addresses = nullptr;
	fid_cq *queue = nullptr;
	fid_ep *endpoint = nullptr;
	fi_av_attr av = {};
	fi_cq_attr cq = {};

	check(fi_fabric(info_->fabric_attr, &fabric, nullptr), "fi_fabric");
	fabric_.reset(fabric);
	check(fi_domain(fabric, info_.get(), &domain, nullptr), "fi_domain");
	domain_.reset(domain);
	av.type = FI_AV_MAP;
	check(fi_av_open(domain, &av, &addresses, nullptr), "fi_av_open");
	addresses_.reset(addresses);
	cq.format = FI_CQ_FORMAT_MSG;
	cq.wait_obj = FI_WAIT_FD;
	check(fi_cq_open(domain, &cq, &queue, nullptr), "fi_cq_open: a queue that a process can sleep on");
	queue_.reset(queue);
	check(fi_control(&queue->fid, FI_GETWAIT, &fd_), "the completion queue's descriptor");
	check(fi_endpoint(domain, info_.get(), &endpoint, nullptr), "cannot listen at " + options.address + ":" + port);
	endpoint_.reset(endpoint);
	check(fi_ep_bind(endpoint, &addresses->fid, 0), "fi_ep_bind");
	check(fi_ep_bind(endpoint, &queue->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
	check(fi_enable(endpoint), "cannot listen at " + options.address + ":" + port);
}

Endpoint::Peer Endpoint::insert(const std::string &address, uint16_t port)
{
	Peer peer = FI_ADDR_UNSPEC;
	const int result =
		fi_av_insertsvc(addresses_.get(), address.c_str(), std::to_string(port).c_str(), &peer, 0, nullptr);

	if (result != 1)
		throw Error(address + ":" + std::to_string(port) + " is no address for libfabric's provider " +
			    provider_);
	return peer;
}

void Endpoint::remove(Peer peer) noexcept
{
	fi_av_remove(addresses_.get(), &peer, 1, 0);
}

bool Endpoint::send(Peer peer, std::span<const std::byte> bytes) noexcept
{
	if (bytes.size() <= info_->tx_attr->inject_size)
		return fi_inject(endpoint_.get(), bytes.data(), bytes.size(), peer) == 0;
	if (free_sends_.empty()) {
		if (sends_.size() >= MOST_SENDS)
			return false;
		sends_.push_back(std::make_unique_for_overwrite<std::byte[]>(longest_));
		free_sends_.push_back(sends_.back().get());
	}

	std::byte *copy = free_sends_.back();

	std::memcpy(copy, bytes.data(), bytes.size());
	if (fi_send(endpoint_.get(), copy, bytes.size(), nullptr, peer, copy))
		return false;
	free_sends_.pop_back();
	return true;
}

bool Endpoint::is_receive(const std::byte *buffer) const noexcept
{
	return buffer >= receives_.get() && buffer < receives_.get() + receive_bytes_;
}

Endpoint::Arrival Endpoint::completed(void *context, uint64_t flags, size_t bytes) noexcept
{
	auto *buffer = static_cast<std::byte *>(context);

	if (!buffer)
		return {true, nullptr, 0};
	if (is_receive(buffer))
		return {true, flags & FI_RECV ? buffer : nullptr, bytes};
	free_sends_.push_back(buffer);
	return {true, nullptr, 0};
}

Endpoint::Arrival Endpoint::failed() noexcept
{
	fi_cq_err_entry error = {};

	if (fi_cq_readerr(queue_.get(), &error, 0) != 1)
		return {false, nullptr, 0};
	failures_++;
	auto *buffer = static_cast<std::byte *>(error.op_context);

	if (buffer && is_receive(buffer))
		post(buffer);
	else if (buffer)
		free_sends_.push_back(buffer);
	return {true, nullptr, 0};
}

Endpoint::Arrival Endpoint::next() noexcept
{
	fi_cq_msg_entry entry = {};

	if (!owed_.empty())
		post_owed();
	const ssize_t result = fi_cq_read(queue_.get(), &entry, 1);

	if (result == -FI_EAVAIL)
		return failed();
	if (result != 1)
		return {false, nullptr, 0};
	return completed(entry.op_context, entry.flags, entry.len);
}

void Endpoint::post(std::byte *buffer) noexcept
{
	if (fi_recv(endpoint_.get(), buffer, longest_, nullptr, FI_ADDR_UNSPEC, buffer))
		owed_.push_back(buffer);
}

void Endpoint::post_owed() noexcept
{
	for (size_t left = owed_.size(); left; left--) {
		std::byte *buffer = owed_.back();

		owed_.pop_back();
		post(buffer);
		if (!owed_.empty() && owed_.back() == buffer)
			return; /* the provider has no room yet */
	}
}

bool Endpoint::may_sleep() noexcept
{
	fid *queue = &queue_->fid;

	return fi_trywait(fabric_.get(), &queue, 1) == 0;
}

} // namespace aries::gateway
