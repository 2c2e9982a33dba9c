// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "meeting.h"

#include <unistd.h>

#include <cstdio>

#include "common/failure.h"
#include "common/gni.h"
#include "common/host.h"
#include "pair_kvs.h"

namespace perf
{

using tools::Deadline;
using tools::Failure;
using tools::format;

namespace
{

constexpr uint64_t magic = 0x66726570696e67; /* "gniperf" */
constexpr uint32_t version = 1;
constexpr uint32_t modes = GNI_CDM_MODE_ERR_NO_KILL | GNI_CDM_MODE_FORK_FULLCOPY;
constexpr uint64_t most_data = 8ull << 30;
constexpr double most_seconds = 7 * 86400.0;

/* Instances: one name that clients know, and names of the process's own beyond all ranks of jobs. */
constexpr uint32_t server_instance = 0x67656e;
uint32_t own_instance()
{
	return 0x40000000u | static_cast<uint32_t>(getpid());
}

static_assert(sizeof(Request) <= GNI_DATAGRAM_MAXSIZE);

/** An endpoint for datagrams; whatever is under way ends with it. */
class Talk
{
public:
	explicit Talk(gni_nic_handle_t nic) { tools::check(GNI_EpCreate(nic, nullptr, &ep_), "GNI_EpCreate"); }
	Talk(const Talk &) = delete;
	Talk &operator=(const Talk &) = delete;
	~Talk() { GNI_EpDestroy(ep_); }

	void bind(const Partner &partner) const
	{
		tools::check(GNI_EpBind(ep_, partner.address, partner.instance), "GNI_EpBind");
	}
	gni_ep_handle_t handle() const { return ep_; }

private:
	gni_ep_handle_t ep_ = nullptr;
};

Request request_of(const Options &options)
{
	Request request = {};
	request.magic = magic;
	request.version = version;
	request.delivery = options.delivery;
	request.max_size = options.max_size;
	request.least_data = options.least_data;
	request.timeout_seconds = options.timeout_seconds + options.seconds;
	request.instance = own_instance();
	return request;
}

/* The bytes are those of another process. */
void check_magic(const Request &request, const char *who)
{
	if (request.magic != magic)
		throw Failure(format("%s is no gni-perf", who));
	if (request.version != version)
		throw Failure(
			format("%s is a gni-perf of another version (%u, this is %u)", who, request.version, version));
}

Options options_of(const Options &own, const Request &request)
{
	Options options = own;
	if (request.max_size > most_data || request.least_data > most_data ||
	    !(request.timeout_seconds > 0 && request.timeout_seconds < most_seconds))
		throw Failure("it asks for more than there can be");
	options.max_size = request.max_size;
	options.least_data = request.least_data;
	options.delivery = static_cast<uint16_t>(request.delivery);
	options.timeout_seconds = request.timeout_seconds;
	return options;
}

Options ranked(const Options &options, int rank)
{
	Options out = options;
	out.place.rank = rank;
	out.place.ranks = 2;
	out.instance = own_instance() | 0x20000000u;
	return out;
}

/* One client, from its first word to its end. */
int serve_client(const Options &options, const tools::Domain &door, gni_nic_handle_t room)
{
	Talk open(door.nic());
	Request offer = request_of(options), request = {};
	Partner partner = {};
	exchange_once(open.handle(), &offer, sizeof(offer), &request, sizeof(request), UINT32_MAX, partner);
	const std::string who = format("instance 0x%x of node %u", partner.instance, partner.address);
	check_magic(request, who.c_str());
	printf("gni-perf: client: %s\n", who.c_str());
	fflush(stdout);
	Talk talk(room);
	talk.bind(partner);
	PairKvs kvs(talk.handle(), 1);
	const int status = run_rank(ranked(options_of(options, request), 1), kvs);
	printf("gni-perf: client: %s: %s\n", who.c_str(), status ? "failed" : "done");
	fflush(stdout);
	return status;
}

} // namespace

int run_client(const Options &options, uint32_t address)
{
	tools::check_node(address, options.place.device);
	const tools::Domain domain(own_instance(), options.place.cookie, modes, options.place.device);
	Request request = request_of(options), offer = {};
	Partner partner = {address, server_instance};
	{
		Talk door(domain.nic());
		door.bind(partner);
		const Deadline deadline(options.connect_seconds);
		if (!exchange_once(door.handle(), &request, sizeof(request), &offer, sizeof(offer), whole_ms(deadline),
				   partner))
			throw Failure(format("no gni-perf serves at node %u with cookie 0x%08x, or it is busy: no "
					     "answer within %g s (--connect-time)",
					     address, options.place.cookie, options.connect_seconds));
	}
	check_magic(offer, "who answers");
	Talk talk(domain.nic());
	talk.bind({address, offer.instance});
	PairKvs kvs(talk.handle(), 0);
	return run_rank(ranked(options, 0), kvs);
}

int run_server(const Options &options)
{
	const tools::Domain door(server_instance, options.place.cookie, modes, options.place.device);
	const tools::Domain room(own_instance(), options.place.cookie, modes, options.place.device);
	printf("gni-perf: serving at node %u, cookie 0x%08x: run gni-perf %u on the other node\n", door.pe(),
	       options.place.cookie, door.pe());
	fflush(stdout);
	for (;;) {
		int status = 1;
		try {
			status = serve_client(options, door, room.nic());
		} catch (const Failure &failure) {
			fprintf(stderr, "gni-perf: client: %s\n", failure.what());
			/* What has happened to the NIC would happen again at once. */
			uint32_t address = 0, cpu = 0;
			tools::check(GNI_CdmGetNicAddress(options.place.device, &address, &cpu),
				     "GNI_CdmGetNicAddress");
			usleep(100000);
		}
		if (options.once)
			return status;
	}
}

} // namespace perf
