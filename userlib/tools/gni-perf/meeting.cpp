// SPDX-License-Identifier: BSD-2-Clause
#include "meeting.h"

#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstring>

#include "common/failure.h"
#include "common/host.h"

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
constexpr size_t part_room = GNI_DATAGRAM_MAXSIZE - 1;
constexpr uint64_t most_data = 8ull << 30;
constexpr double most_seconds = 7 * 86400.0;
constexpr double agree_seconds = 60; /* for a word of the other side, which has answered already */

/* Instances: one name that clients know, and names of the process's own beyond all ranks of jobs. */
constexpr uint32_t server_instance = 0x67656e;
uint32_t own_instance()
{
	return 0x40000000u | static_cast<uint32_t>(getpid());
}

static_assert(sizeof(Request) <= GNI_DATAGRAM_MAXSIZE);

const char *state_text(gni_post_state_t state)
{
	switch (state) {
	case GNI_POST_TIMEOUT:
		return "the other node does not answer";
	case GNI_POST_TERMINATED:
		return "the other side has gone";
	default:
		return "the exchange has failed";
	}
}

/** Who a datagram came from. */
struct Partner {
	uint32_t address;
	uint32_t instance;
};

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

/* Says @p mine and waits for @p theirs; false when nobody came before @p timeout_ms (all ones: no limit). */
bool exchange_once(gni_ep_handle_t ep, void *mine, size_t mine_size, void *theirs, size_t theirs_size,
		   uint32_t timeout_ms, Partner &partner)
{
	gni_post_state_t state = GNI_POST_PENDING;
	tools::check(GNI_EpPostData(ep, mine, static_cast<uint16_t>(mine_size), theirs,
				    static_cast<uint16_t>(theirs_size)),
		     "GNI_EpPostData");
	const gni_return_t rc = GNI_EpPostDataWait(ep, timeout_ms, &state, &partner.address, &partner.instance);
	if (rc == GNI_RC_TIMEOUT)
		return false;
	tools::check(rc, "GNI_EpPostDataWait");
	if (state != GNI_POST_COMPLETED)
		throw Failure(state_text(state));
	return true;
}

uint32_t whole_ms(const Deadline &deadline)
{
	return static_cast<uint32_t>(std::clamp<int64_t>(deadline.left_ms(), 1, INT32_MAX));
}

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
		throw Failure(format("%s is a gni-perf of another version (%u, this is %u)", who, request.version,
				     version));
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
	PairKvs kvs(talk.handle());
	const int status = run_rank(ranked(options_of(options, request), 1), kvs);
	printf("gni-perf: client: %s: %s\n", who.c_str(), status ? "failed" : "done");
	fflush(stdout);
	return status;
}

} // namespace

std::string part_of_text(const std::string &text, unsigned n)
{
	if (text.size() > parts_of_text * part_room)
		throw Failure(format("%zu bytes do not fit into datagrams", text.size()));
	const size_t at = std::min(text.size(), n * part_room);
	const std::string part = text.substr(at, part_room);
	return std::string(1, static_cast<char>(part.size())) + part;
}

void add_part(std::string &text, const std::string &datagram)
{
	const size_t size = datagram.empty() ? SIZE_MAX : static_cast<uint8_t>(datagram[0]);
	if (size > part_room || size + 1 > datagram.size())
		throw Failure("a datagram came that is no part of a text");
	text.append(datagram, 1, size);
}

void PairKvs::put(const std::string &key, const std::string &value)
{
	if (!pending_.empty())
		throw Failure("a second text before the first has gone");
	pending_ = key + " " + value;
	values_[key] = value;
}

void PairKvs::exchange(const Deadline &deadline)
{
	std::string text;
	for (unsigned n = 0; n < parts_of_text; n++) {
		std::string mine = part_of_text(pending_, n), theirs(GNI_DATAGRAM_MAXSIZE, '\0');
		Partner partner;
		if (!exchange_once(endpoint_, mine.data(), mine.size(), theirs.data(), theirs.size(),
				   whole_ms(deadline), partner))
			throw Failure("the other side does not say any more what was agreed");
		add_part(text, theirs);
	}
	pending_.clear();
	const size_t space = text.find(' ');
	if (space == std::string::npos)
		throw Failure("the other side says something else than was agreed");
	values_[text.substr(0, space)] = text.substr(space + 1);
}

std::string PairKvs::get(const std::string &key, const Deadline &deadline)
{
	/* Nothing tells of the end of a process that is to say something: nobody waits long for that. */
	const Deadline own(agree_seconds);
	if (!values_.count(key) && !pending_.empty())
		exchange(own.left_ms() < deadline.left_ms() ? own : deadline);
	const auto found = values_.find(key);
	if (found == values_.end())
		throw Failure(format("the other side did not say %s", key.c_str()));
	return found->second;
}

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
	PairKvs kvs(talk.handle());
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
			tools::check(GNI_CdmGetNicAddress(options.place.device, &address, &cpu), "GNI_CdmGetNicAddress");
			usleep(100000);
		}
		if (options.once)
			return status;
	}
}

} // namespace perf
