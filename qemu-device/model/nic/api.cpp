/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The C interface: no exception passes it. */
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>

#include "nic/nic.hpp"

struct aries_nic {
	aries::Nic nic;
};

namespace
{

void explain(char *err, size_t len, const char *text)
{
	if (err && len)
		snprintf(err, len, "%s", text);
}

/** Runs @call; an exception becomes a line in @err and the value @failed. */
template <typename R, typename F> R guarded(char *err, size_t len, R failed, F &&call) noexcept
{
	try {
		return call();
	} catch (const std::exception &e) {
		explain(err, len, e.what());
	} catch (...) {
		explain(err, len, "unexpected failure of the model");
	}
	return failed;
}

} // namespace

extern "C" {

aries_nic *aries_nic_create(const aries_config *cfg, const aries_host_ops *ops, void *opaque, char *err, size_t err_len)
{
	return guarded(err, err_len, static_cast<aries_nic *>(nullptr), [&] {
		if (!cfg || !ops || ops->api_version != ARIES_MODEL_API_VERSION || !ops->irq)
			throw aries::Error("the host's operations do not fit this model: rebuild the host");
		return new aries_nic{{*cfg, *ops, opaque}};
	});
}

void aries_nic_destroy(aries_nic *nic)
{
	delete nic;
}

int aries_nic_set_ram(aries_nic *nic, const aries_ram *ram, size_t count, char *err, size_t err_len)
{
	return guarded(err, err_len, -1, [&] {
		nic->nic.set_ram(ram, count);
		return 0;
	});
}

void aries_nic_set_ram_left_out(aries_nic *nic, uint64_t from)
{
	nic->nic.set_ram_left_out(from);
}

void aries_nic_reset(aries_nic *nic)
{
	nic->nic.reset();
}

bool aries_nic_drained(aries_nic *nic)
{
	return nic->nic.drained();
}

void aries_nic_set_bus_master(aries_nic *nic, bool on)
{
	nic->nic.set_bus_master(on);
}

uint64_t aries_nic_read(aries_nic *nic, unsigned int bar, uint64_t offset, unsigned int size)
{
	return nic->nic.read(bar, offset, size);
}

void aries_nic_write(aries_nic *nic, unsigned int bar, uint64_t offset, unsigned int size, uint64_t value)
{
	nic->nic.write(bar, offset, size, value);
}

int aries_nic_wake_fd(aries_nic *nic)
{
	return nic->nic.wake_fd();
}

void aries_nic_wake(aries_nic *nic)
{
	nic->nic.wake();
}

void aries_nic_tick(aries_nic *nic)
{
	nic->nic.tick();
}

void aries_nic_timer(aries_nic *nic)
{
	nic->nic.timer();
}

int aries_nic_set_fault(aries_nic *nic, const char *name, uint64_t value, char *err, size_t err_len)
{
	return guarded(err, err_len, -1, [&] {
		nic->nic.set_fault(name, value);
		return 0;
	});
}

int aries_nic_get_fault(aries_nic *nic, const char *name, uint64_t *value)
{
	return name && nic->nic.get_fault(name, *value) ? 0 : -1;
}

int aries_nic_set_time_rate(aries_nic *nic, double rate, char *err, size_t err_len)
{
	return guarded(err, err_len, -1, [&] {
		nic->nic.set_time_rate(rate);
		return 0;
	});
}

double aries_nic_time_rate(aries_nic *nic)
{
	return nic->nic.clock().rate();
}

void aries_nic_set_hold(aries_nic *nic, bool on)
{
	nic->nic.clock().set_holds(on);
}

bool aries_nic_hold(aries_nic *nic)
{
	return nic->nic.clock().holds();
}

int aries_nic_set_background(aries_nic *nic, const char *what, char *err, size_t err_len)
{
	return guarded(err, err_len, -1, [&] {
		nic->nic.set_background(what ? what : "");
		return 0;
	});
}

int aries_nic_set_trace(aries_nic *nic, const char *path, uint64_t limit, uint32_t packets, char *err, size_t err_len)
{
	return guarded(err, err_len, -1, [&] {
		nic->nic.set_trace(path, limit, packets);
		return 0;
	});
}

bool aries_nic_tracing(aries_nic *nic)
{
	return nic->nic.tracing();
}

uint64_t aries_nic_counter(aries_nic *nic, unsigned int which)
{
	return nic->nic.counter(which);
}

size_t aries_nic_describe(aries_nic *nic, char *buf, size_t len)
{
	return guarded(nullptr, 0, size_t(0), [&] {
		const std::string text = nic->nic.describe();

		if (len) {
			const size_t bytes = std::min(len - 1, text.size());

			memcpy(buf, text.data(), bytes);
			buf[bytes] = 0;
		}
		return text.size();
	});
}

} // extern "C"
