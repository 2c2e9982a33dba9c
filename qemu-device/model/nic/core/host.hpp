/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's operations, with a limit on what a guest can make it log. */
#ifndef ARIES_NIC_HOST_HPP
#define ARIES_NIC_HOST_HPP

#include <atomic>
#include <cstdint>

#include "aries_model.h"

namespace aries
{

class Host
{
public:
	Host(const aries_host_ops &ops, void *opaque) noexcept : ops_(ops), opaque_(opaque) {}

	/** May wait for the host's lock: call it with no lock of the model held. */
	void irq(unsigned int vector) const noexcept { ops_.irq(opaque_, vector); }
	/** printf-like, one line. Guest errors beyond a few per second are dropped. */
	void log(aries_log_level level, const char *format, ...) noexcept __attribute__((format(printf, 3, 4)));
	void trace(const char *event, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0) const noexcept
	{
		if (ops_.trace)
			ops_.trace(opaque_, event, a, b, c);
	}
	/** As aries_host_ops.uncorrectable. */
	void uncorrectable() const noexcept
	{
		if (ops_.uncorrectable)
			ops_.uncorrectable(opaque_);
	}
	/** As aries_host_ops.timer. */
	void timer(uint64_t delay_ns) const noexcept
	{
		if (ops_.timer)
			ops_.timer(opaque_, delay_ns);
	}

private:
	bool admit() noexcept;

	const aries_host_ops ops_;
	void *const opaque_;
	std::atomic<uint64_t> window_{0};
	std::atomic<uint32_t> lines_{0};
};

} // namespace aries

#endif
