/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The packet trace of a NIC. The format is described in Documentation/packet-trace.md. */
#ifndef ARIES_PACKET_TRACE_HPP
#define ARIES_PACKET_TRACE_HPP

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "packet/packet.hpp"
#include "packet/pcapng.hpp"

namespace aries
{

inline constexpr uint32_t TRACE_HEADER_BYTES = 32;
inline constexpr uint8_t TRACE_VERSION = 1;

/** Who made the packets. */
enum class TraceEngine : uint8_t { Fma = 1, Bte = 2 };

/** Requests that left at once, their responses, and what became of them. */
struct TracedTransaction {
	Request request;  /* what all have in common; offset is the first one's, bytes and packet_id are not used */
	uint32_t bytes;   /* payload of all together */
	uint32_t result;  /* bytes that each response of an atomic returns */
	uint32_t index;   /* of the first packet in its operation */
	uint32_t packets; /* of the operation */
	TraceEngine engine;
	uint8_t fmad;   /* FMA descriptor */
	uint8_t status; /* ARIES_ST_* */
	uint32_t hops;
	uint64_t latency_ns;
	uint64_t depart_ns; /* the first request leaves */
	uint64_t back_ns;   /* the last response is there; 0: there is none */
};

/**
 * Off, it costs the reader of on() one load and a branch. On, packets are
 * written under a mutex by the thread that sends them: it nests inside all
 * other locks of the model, and nothing is called with it but the file.
 */
class PacketTrace
{
public:
	explicit PacketTrace(uint32_t node) noexcept : node_(node) {}

	bool on() const noexcept { return on_.load(std::memory_order_relaxed); }
	/** Whether packet @index of an operation is recorded. */
	bool wants(uint64_t index) const noexcept { return on() && index < packets_.load(std::memory_order_relaxed); }

	/**
	 * Starts a trace; one that runs ends when the new one has started.
	 * @limit: bytes of the file
	 * @packets: packets recorded of one operation
	 * Throws std::runtime_error that names path and cause.
	 */
	void start(const std::string &path, uint64_t limit, uint32_t packets);
	void stop() noexcept;

	/**
	 * Writes the buffer to the file; to be called now and then.
	 * @line: gets one line when the trace has ended by itself since the last call
	 * Return: whether there is such a line.
	 */
	bool poll(char *line, size_t length) noexcept;
	std::string describe();

	/**
	 * Records requests, and responses if there were any.
	 * @payload: void(bool response, uint64_t at, uint32_t bytes, uint8_t *to), copies payload of all together
	 */
	template <typename F> void record(const TracedTransaction &traced, F &&payload) noexcept
	{
		write(
			traced,
			[](void *context, bool response, uint64_t at, uint32_t bytes, uint8_t *to) {
				(*static_cast<std::remove_reference_t<F> *>(context))(response, at, bytes, to);
			},
			&payload);
	}

private:
	using Payload = void (*)(void *context, bool response, uint64_t at, uint32_t bytes, uint8_t *to);

	void write(const TracedTransaction &traced, Payload payload, void *context) noexcept;
	bool write_request(const TracedTransaction &traced, uint32_t i, uint16_t id, Payload payload,
			   void *context) noexcept;
	bool write_response(const TracedTransaction &traced, uint32_t i, uint16_t id, Payload payload,
			    void *context) noexcept;
	bool write_packet(const TracedTransaction &traced, uint32_t i, bool inbound, uint64_t ns,
			  const FlitPacket &flits) noexcept;
	void end() noexcept;

	const uint32_t node_;
	std::atomic<bool> on_{false};
	std::atomic<uint32_t> packets_{0};

	std::mutex mutex_; /* for what follows */
	std::unique_ptr<PcapngFile> file_;
	std::string path_;
	std::string report_; /* why it ended; told once */
	uint64_t count_ = 0;
	uint32_t next_id_ = 0;
};

} // namespace aries

#endif
