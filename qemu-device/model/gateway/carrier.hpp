/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The carrier of all nodes that live on other hosts: a gateway without its transport. */
#ifndef ARIES_GATEWAY_CARRIER_HPP
#define ARIES_GATEWAY_CARRIER_HPP

#include <array>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "fabric/futex.hpp"
#include "gateway/engines.hpp"
#include "gateway/mirror.hpp"
#include "gateway/network_news.hpp"
#include "nic/nic.hpp"
#include "nic/remote/inbound.hpp"

namespace aries
{

/** Transport for messages between gateways. It delivers each message once, and messages to one host in order. */
class CarrierWire
{
public:
	virtual ~CarrierWire() = default;

	/**
	 * Sends @header followed by @payload as one message. May be called on any thread; does not wait.
	 * Return: false if @host cannot be reached, or if there is no room for more messages in flight to it
	 */
	virtual bool send(uint32_t host, std::span<const std::byte> header, std::span<const std::byte> payload) = 0;
};

struct CarrierConfig {
	std::string fabric; /* path of the segment of this host */
	uint32_t nodes = 0; /* this and the next ones: as in aries_config */
	uint32_t machine_nodes = 0;
	uint32_t routers_per_chassis = 0, chassis_per_group = 0;
	uint32_t lease_ms = 0;
	uint32_t address = 0;                         /* the gateway's own, which no node on any host has */
	uint32_t place = 0;                           /* as in aries_config */
	uint32_t host = 0;                            /* this host's number in @hosts */
	std::vector<std::vector<uint32_t>> hosts;     /* node addresses of each host */
	std::function<void(const std::string &)> log; /* called with one line, on any thread; may be empty */
};

/**
 * A member of the segment that takes requests of its nodes for nodes of other hosts, and serves requests of other hosts
 * for its own nodes. One thread takes and sends requests, another one serves requests. Functions that the wire calls
 * only put messages into a queue.
 */
class Carrier : private CeBeyond
{
public:
	/** Joins the fabric and takes the locks of the addresses of all nodes of other hosts; throws Error. */
	Carrier(const CarrierConfig &config, CarrierWire &wire);
	~Carrier() override;
	Carrier(const Carrier &) = delete;
	Carrier &operator=(const Carrier &) = delete;

	/** Called by the wire: a complete message of another host. Any thread; does not wait. */
	void received(uint32_t host, std::span<const std::byte> message) noexcept;
	/** Called by the wire: @host can be reached from now on, and a new sequence of messages begins. */
	void up(uint32_t host) noexcept;
	/** Called by the wire: @host can no longer be reached; no earlier message will arrive any more. */
	void down(uint32_t host, const std::string &why) noexcept;

	struct Figures {
		uint64_t requests;  /* of nodes of this host to other hosts */
		uint64_t responses; /* received for these requests */
		uint64_t timeouts;  /* requests that ended because a host could not be reached */
		uint64_t served;    /* requests of other hosts that were performed here */
		uint64_t refused;   /* invalid messages */
		uint64_t open;      /* requests without a response yet */
	};
	Figures figures() noexcept;
	/** Nodes of other hosts that serve requests, as far as this host knows. Any thread. */
	std::vector<uint32_t> reachable() const;

private:
	/* A request of one of our nodes that was sent to another host. */
	struct Open {
		uint32_t host;
		uint32_t source;
		uint64_t key; /* of the source's area */
		uint16_t slot;
		bool answered; /* by this gateway: the node does not wait for the response */
		CarriedKind kind;
		uint32_t target;
		CarriedClaim claim;
		/* For a partial result, whose sender has its response already: the engine that gets the outcome. */
		CePlace engine = {};
		uint32_t serial = 0; /* of the engine's configuration */
		uint64_t sent = 0;   /* CeSlot::sent_serial */
	};
	/* A contribution of another host that waits for its outcome. */
	struct Owed {
		uint32_t host;
		uint64_t id; /* of the request on that host */
		CePlace engine;
		uint32_t index;
		bool gone = false; /* at the last check the engine did not know the contribution */
	};
	/* An engine of this host that waits for an outcome or a partial result that will not arrive. */
	struct Forsaken {
		CePlace engine;
		uint32_t serial;
	};
	/* How far a node's area has been read. */
	struct Source {
		uint64_t key = 0;
		uint32_t taken = 0;
		uint32_t answered = 0;
	};
	/* A receive on another host that a send of one of our nodes has taken. */
	struct Taken {
		uint32_t target;
		CarriedClaim claim;
	};
	struct Outgoing {
		std::vector<std::byte> header;
		std::vector<std::byte> payload;
	};
	enum class Happened : uint8_t { Message, Up, Down, Forsaken };
	struct Incoming {
		uint32_t host;
		Happened what;
		std::vector<std::byte> message; /* of Down the reason as text, of Forsaken a struct Forsaken */
	};
	struct Host {
		bool up = false;
		bool told = false;        /* the host has the whole state of our nodes since it came up */
		std::deque<Outgoing> out; /* messages that the wire has not accepted yet */
	};

	void hold_addresses();
	uint64_t key_of(uint32_t node) const noexcept;
	/* sending: carrier.cpp */
	void pump() noexcept;
	bool anything_pending() const noexcept;
	void take_pending() noexcept;
	void take(uint32_t node) noexcept;
	void take_one(uint32_t node, const Source &source, CarryArea &area, uint16_t slot);
	void issue(const Open &open, const CarriedRequest &request, std::span<const uint8_t> payload);
	void post(uint32_t host, std::span<const std::byte> header, std::span<const std::byte> payload);
	bool flush() noexcept;
	void ring() noexcept { bell().ring(); }
	Bell bell() const noexcept { return {core_.own().carry_bell, core_.own().carry_sleeping}; }
	void look_after(uint64_t now) noexcept;
	void tell_nodes();
	void tell_network();
	template <typename News> void post_news(uint32_t host, MessageKind kind, std::span<const News> news);
	/* collectives: carrier_collect.cpp */
	uint8_t carry(const CarriedRequest &request) noexcept override;
	uint8_t issue_partial(const CarriedRequest &request);
	void end_owed(const CarriedRequest &outcome);
	void take_collective(const Open &open, const CarriedRequest &request);
	void serve_collective(uint32_t host, uint64_t id, const CarriedRequest &request);
	void respond(uint32_t host, uint64_t id, CarriedResponse response, std::span<const std::byte> data);
	void come_down(const Open &open, const CarriedResponse &response) noexcept;
	void look_at_owed(uint64_t now);
	void forsake(CePlace engine, uint32_t serial) noexcept;
	void drop_collectives(uint32_t host) noexcept;
	void learn_engines(uint32_t host, std::span<const std::byte> message) noexcept;
	void learn_instances(uint32_t host, std::span<const std::byte> message) noexcept;
	int64_t age(uint64_t at_ns) const noexcept;
	uint64_t since(uint64_t age) const noexcept;
	/* messages of other hosts: carrier_serve.cpp */
	void enqueue(uint32_t host, Happened what, std::span<const std::byte> message) noexcept;
	void serve_all() noexcept;
	void handle(const Incoming &incoming) noexcept;
	void handle_message(uint32_t host, std::span<const std::byte> message) noexcept;
	void handle_up(uint32_t host) noexcept;
	void handle_down(uint32_t host, const std::string &why) noexcept;
	void learn(uint32_t host, std::span<const std::byte> message) noexcept;
	void learn_network(uint32_t host, std::span<const std::byte> message) noexcept;
	void serve(uint32_t host, std::span<const std::byte> message) noexcept;
	void settle(uint32_t host, std::span<const std::byte> message) noexcept;
	bool answer(const Open &open, CarriedResponse response, std::span<const std::byte> data) noexcept;
	void note_claim(const Open &open, const CarriedResponse &response, bool delivered) noexcept;
	void give_back(uint32_t source, const Taken &taken) noexcept;
	void drop_claims(uint32_t source) noexcept;
	void refuse(uint32_t host, const char *what) noexcept;
	void say(const std::string &line) const;

	const CarrierConfig config_;
	CarrierWire &wire_;
	std::vector<uint32_t> host_of_; /* of each address; UINT32_MAX: of none */
	std::unique_ptr<uint8_t[]> desc_area_;
	Nic nic_;
	Core &core_;
	Mirror mirror_;
	Engines engines_;
	const NewsFile news_file_;
	SharedNetwork shared_;
	Inbound inbound_; /* of the thread that serves */

	std::mutex mutex_; /* protects the members below, up to figures_ */
	std::vector<Host> hosts_;
	std::vector<NodeNews> told_; /* the state of our nodes that hosts with Host::told have */
	std::vector<Source> sources_;
	std::unordered_map<uint64_t, Open> open_;
	std::vector<std::vector<Taken>> taken_; /* of each node */
	std::unordered_map<uint64_t, Owed> owed_;
	uint64_t next_id_ = 1;
	uint64_t next_handle_ = 0;
	uint64_t owed_due_ = 0;
	Figures figures_ = {};

	std::mutex serve_mutex_; /* protects the queue of messages, and stop_serving_ */
	std::condition_variable arrived_;
	std::deque<Incoming> incoming_;
	bool stop_serving_ = false;

	std::atomic<bool> stop_{false};
	std::thread pump_;
	std::thread server_;
};

} // namespace aries

#endif
