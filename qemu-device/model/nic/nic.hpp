/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One NIC: its units and the way of an access to them. */
#ifndef ARIES_NIC_NIC_HPP
#define ARIES_NIC_NIC_HPP

#include <array>
#include <memory>
#include <mutex>
#include <string_view>

#include "nic/engines/bte.hpp"
#include "nic/engines/ce_carried.hpp"
#include "nic/engines/doorbell_poll.hpp"
#include "nic/engines/fma.hpp"
#include "nic/registers/registers.hpp"

namespace aries
{

/**
 * Threads: read() and write() from any thread; the rest from one at a time.
 * Order of locks: the register file's mutex, a descriptor's lock, the block
 * transfer engine's mutex, locks in the segment. The host's operations are
 * called with none of them held.
 */
/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): in the order of construction; there is one */
class Nic
{
public:
	/** Joins the fabric; throws Error. */
	Nic(const aries_config &cfg, const aries_host_ops &ops, void *opaque);
	~Nic();
	Nic(const Nic &) = delete;
	Nic &operator=(const Nic &) = delete;

	uint64_t read(unsigned int bar, uint64_t offset, unsigned int size) noexcept;
	void write(unsigned int bar, uint64_t offset, unsigned int size, uint64_t value) noexcept;

	void set_ram(const aries_ram *ram, size_t count);
	void set_ram_left_out(uint64_t from) noexcept { registers_.set_ram_left_out(from); }
	void set_bus_master(bool on) noexcept;
	void reset() noexcept;
	bool drained() noexcept { return registers_.drained(); }
	int wake_fd() const noexcept { return wake_.fd(); }
	void wake() noexcept;
	void timer() noexcept;
	void tick() noexcept;
	void set_fault(const char *name, uint64_t value);
	bool get_fault(std::string_view name, uint64_t &value) const noexcept;
	/** Throws if the rate is out of range. */
	void set_time_rate(double rate);
	/** Throws with file, line and cause. */
	void set_background(const std::string &what) { network_.set_background(what); }
	FabricClock &clock() noexcept { return network_.clock(); }
	/** No path ends the trace; throws with path and cause. */
	void set_trace(const char *path, uint64_t limit, uint32_t packets);
	bool tracing() const noexcept { return trace_.on(); }
	uint64_t counter(unsigned int which) noexcept { return registers_.counter(which); }
	std::string describe();

	/** For a carrier, which is a member without a host of its own: what all units share. */
	Core &core() noexcept { return core_; }
	Ce &ce() noexcept { return ce_; }

private:
	void fma_store(uint64_t offset, unsigned int size, uint64_t value) noexcept;
	void doorbell(uint32_t index, uint32_t at, unsigned int size, uint64_t value) noexcept;
	bool sits(uint32_t node) const noexcept;
	void take_place(uint32_t place);
	bool reserve(uint32_t router) noexcept;
	void tell_no_room() noexcept;
	void refresh_tables() noexcept;

	std::atomic<bool> no_room_{false}; /* for the state of a router */
	bool no_room_told_ = false;
	bool no_area_told_ = false; /* the same of our requests to other hosts */
	/* Faults of links between routers, in the order of their names, and the last value of each. */
	enum class CableFault : uint8_t { Cut, Mend, Noisy, Lanes };
	static constexpr std::array<std::string_view, 4> CABLE_FAULTS{"cut-link", "mend-link", "noisy-link",
								      "link-lanes"};
	static constexpr uint32_t NOISE_MAX = 18;
	bool set_cable(std::string_view name, uint64_t value);
	bool set_ecc(std::string_view name, uint64_t value);
	bool hit(aries_ras_memory memory, uint32_t index, bool twice) noexcept;
	void signal() noexcept;
	bool set_cable(CableFault fault, uint32_t router, uint32_t tile, uint32_t more);
	std::array<std::atomic<uint64_t>, 2> ecc_{ARIES_LINK_NONE, ARIES_LINK_NONE};
	std::array<std::atomic<uint64_t>, CABLE_FAULTS.size()> cable_{ARIES_LINK_NONE, ARIES_LINK_NONE, ARIES_LINK_NONE,
								      ARIES_LINK_NONE};
	Host host_;
	Segment segment_;
	Membership members_;
	Wake wake_;
	PeerMaps maps_;
	Network network_;
	ErrorLog errors_;
	Faults faults_;
	PacketTrace trace_;
	CounterBlock shared_counters_;
	Core core_;
	std::unique_ptr<Fmad[]> fmads_;
	Ntt ntt_;
	Orb orb_;
	Traffic traffic_;
	Hold hold_;
	Carry carry_;
	CeByArea ce_beyond_;
	Ce ce_;
	Fma fma_;
	Bte bte_;
	DoorbellPoll poll_;
	EventTimer timer_;
	RegisterFile registers_;
};

} // namespace aries

#endif
