/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * C interface of the Aries model: what a host (the QEMU device, a test) calls
 * and what it provides. No exception leaves the library; no call aborts.
 * Where the process has no memory left, calls fail with their text, and operations
 * with a status: TIMEOUT for a peer's memory, QUEUE_FULL for a transfer that has to wait.
 *
 * Threads: aries_nic_write() and aries_nic_read() may be called from any number
 * of threads at once and take no lock of the host. Everything else is called
 * from one thread at a time (QEMU's main loop).
 */
#ifndef ARIES_MODEL_H
#define ARIES_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ARIES_MODEL_API_VERSION 6

typedef struct aries_nic aries_nic;

enum aries_log_level {
	ARIES_LOG_GUEST_ERROR, /* the guest broke the specification */
	ARIES_LOG_WARN,
	ARIES_LOG_INFO,
};

/**
 * struct aries_host_ops - what the model needs of its host
 * @api_version: ARIES_MODEL_API_VERSION
 * @irq: raise an MSI-X vector; called from any thread
 * @log: one line without newline; called from any thread
 * @trace: an event of the named block, for the host's tracing; may be NULL; any thread
 * @timer: call aries_nic_timer() in @delay_ns nanoseconds of host time, UINT64_MAX: not at all; takes the place of
 *         what was asked for before. Called from any thread with a lock of the model held: it must not call the
 *         model, nor wait for whoever does. May be NULL: timers are as coarse as the ticks then.
 * @uncorrectable: signal an uncorrectable internal error on PCI Express. Once each time that wrong bits in a memory
 * have stopped the NIC, which serves nobody until it is reset. Called from aries_nic_wake() and aries_nic_tick() only,
 * with no lock of the model held; it may call aries_nic_reset(). May be NULL: the error event is all then
 */
struct aries_host_ops {
	uint32_t api_version;
	void (*irq)(void *opaque, unsigned int vector);
	void (*log)(void *opaque, enum aries_log_level level, const char *line);
	void (*trace)(void *opaque, const char *event, uint64_t a, uint64_t b, uint64_t c);
	void (*timer)(void *opaque, uint64_t delay_ns);
	void (*uncorrectable)(void *opaque);
};

/**
 * struct aries_config - what a NIC is created with
 * @api_version: ARIES_MODEL_API_VERSION
 * @node: node address, 0 to nodes - 1
 * @nodes: node addresses in the fabric, 1 to 256; every member must give the same
 * @fabric: path of the fabric's segment file, normally under /dev/shm; created if missing
 * @desc_area: the memory of BAR_DESC, ARIES_BAR_DESC_SIZE bytes
 * @lease_ms: silence after which a peer is checked for being alive, 50 to 60000; 0 means 500
 *
 * @machine_nodes: nodes of the machine that the fabric is a part of, up to 92,544 (T12); 0 means @nodes
 * @place: where in the machine this NIC sits: 1 + a number below @machine_nodes, that no other member has; 0 means the
 *         number @node. A member that comes back may come to another place
 *
 * @polled: whether processes may leave doorbells in the descriptor area, where a thread of the NIC looks for them, as
 *          well as store them to BAR 2
 *
 * Dragonfly shape for @machine_nodes: 4 NICs a router, @routers_per_chassis and
 * @chassis_per_group bound a group (0 means 16 and 6); groups follow.
 */
struct aries_config {
	uint32_t api_version;
	uint32_t node;
	uint32_t nodes;
	uint32_t routers_per_chassis;
	uint32_t chassis_per_group;
	uint32_t lease_ms;
	uint32_t machine_nodes;
	uint32_t place;
	bool polled;
	const char *fabric;
	void *desc_area;
};

/**
 * struct aries_ram - one piece of guest memory
 * @gpa: guest physical address of its first byte
 * @size: bytes
 * @host: where it is mapped in this process
 * @fd: file descriptor that peers map it by (shared memory), -1 if there is none
 * @fd_offset: offset of the piece in that file
 */
struct aries_ram {
	uint64_t gpa;
	uint64_t size;
	void *host;
	int fd;
	uint64_t fd_offset;
};

#define ARIES_RAM_MAX 64

/**
 * aries_nic_create() - create a NIC and join the fabric
 * @err: gets one line that names the cause and the way out when the call fails
 *
 * Return: the NIC, or NULL. Fails on a fabric of another version or size, a
 * node address or a place in use, a file that cannot be created.
 */
aries_nic *aries_nic_create(const struct aries_config *cfg, const struct aries_host_ops *ops, void *opaque, char *err,
			    size_t err_len);

/** aries_nic_destroy() - leave the fabric, free everything; waits for block transfers to stop */
void aries_nic_destroy(aries_nic *nic);

/**
 * aries_nic_set_ram() - tell the NIC the guest's memory map
 * @ram: @count pieces, at most ARIES_RAM_MAX, not overlapping
 *
 * Called before the guest runs and again when the map changes; what was
 * registered before stays valid for pieces that did not change.
 *
 * Return: 0, or -1 with a line in @err (memory that is not shared, too many pieces).
 */
int aries_nic_set_ram(aries_nic *nic, const struct aries_ram *ram, size_t count, char *err, size_t err_len);

/** No memory of the guest is out of the NIC's reach. */
#define ARIES_RAM_ALL UINT64_MAX

/**
 * aries_nic_set_ram_left_out() - tell the NIC of memory of the guest that the host did not tell it by
 * aries_nic_set_ram(): what is not shared, and what is more than ARIES_RAM_MAX pieces
 * @from: lowest guest address of it, or ARIES_RAM_ALL
 *
 * The NIC tells its driver: CTL_STATUS.PARTIAL, and an error event when there is such memory and there was none, or
 * when it begins at another address. Transfers there end with ARIES_ST_TRANSLATION.
 */
void aries_nic_set_ram_left_out(aries_nic *nic, uint64_t from);

/**
 * aries_nic_reset() - device reset (FLR, bus reset, CTL_CONTROL.RESET): revokes everything registered
 *
 * Does not wait for peers that are stopped: the reset is over when aries_nic_drained() says so.
 */
void aries_nic_reset(aries_nic *nic);

/**
 * aries_nic_set_bus_master() - PCI bus mastering; off means that nothing is read from or written to guest memory
 *
 * Accesses that began before end by themselves, see aries_nic_drained().
 */
void aries_nic_set_bus_master(aries_nic *nic, bool on);

/**
 * aries_nic_drained() - whether all accesses to guest memory have ended that began before it was taken from the NIC
 *
 * After a reset, with bus mastering off, or with another memory map the guest's memory is its own again only then. A
 * peer that is stopped (SIGSTOP, freezer, debugger) in an access keeps it from ending; aries_nic_tick() logs which.
 */
bool aries_nic_drained(aries_nic *nic);

/**
 * aries_nic_read() - guest load from a BAR
 * @bar: 0 or 2
 * @offset: bytes from the start of the BAR
 * @size: 1, 2, 4 or 8
 *
 * Return: the value; all ones for what does not exist.
 */
uint64_t aries_nic_read(aries_nic *nic, unsigned int bar, uint64_t offset, unsigned int size);

/** aries_nic_write() - guest store to a BAR; arguments as aries_nic_read() */
void aries_nic_write(aries_nic *nic, unsigned int bar, uint64_t offset, unsigned int size, uint64_t value);

/**
 * aries_nic_wake_fd() - descriptor that becomes readable when a peer wants this host's attention
 *
 * The host polls it and calls aries_nic_wake(), which drains it and raises the
 * interrupts that peers asked for.
 */
int aries_nic_wake_fd(aries_nic *nic);
void aries_nic_wake(aries_nic *nic);

/** aries_nic_timer() - what aries_host_ops.timer asked for: raises the interrupts of timers that are due */
void aries_nic_timer(aries_nic *nic);

/** aries_nic_tick() - to be called every ARIES_TICK_MS, by one thread at a time: keeps the lease, finds dead peers */
void aries_nic_tick(aries_nic *nic);
#define ARIES_TICK_MS 100

/**
 * aries_nic_set_fault() - fault injection
 * @name: "drop" (packets to lose), "drop-response" (responses to lose), "corrupt" (packets to damage), "delay-ns"
 * (added to the modelled latency), "link" (0: cut the NIC off, 1: connect), "reorder" (0 or 1: shuffle the packets of a
 * transaction), "duplicate" (packets that arrive twice); of the whole fabric "cut-link" and "mend-link" (a link between
 * routers, both directions: router * 64 + tile of either end), "noisy-link" (bit errors on it: the same + 2^32 times N
 * for one in 10^N bits, N from 2 to 18, 0 for none), "link-lanes" (the same + 2^32 times the lanes that work, 1 to 3);
 * of this NIC's memories "ecc-single" and "ecc-double" (an entry in use + 2^32 times an aries_ras_memory has one or two
 * wrong bits; of the buffer of outstanding requests it is the entry of the next request)
 *
 * Return: 0, or -1 for an unknown name or a value out of range, with a line in @err.
 */
int aries_nic_set_fault(aries_nic *nic, const char *name, uint64_t value, char *err, size_t err_len);
int aries_nic_get_fault(aries_nic *nic, const char *name, uint64_t *value);

/**
 * aries_nic_set_time_rate() - how fast modelled time goes, for the whole fabric
 * @rate: modelled ns in a ns of the host, 1e-6 to 1e3; 1 when the fabric is made
 *
 * Return: 0, or -1 for a value out of range, with a line in @err.
 */
int aries_nic_set_time_rate(aries_nic *nic, double rate, char *err, size_t err_len);
double aries_nic_time_rate(aries_nic *nic);

/**
 * aries_nic_set_hold() - whether completions wait until modelled time has come, for the whole fabric
 * @on: data is in the target's memory, results and events are there when they would be on the machine that is
 *      modelled, and a processor that sends faster than its NIC is held up; otherwise as soon as the host has done it
 *
 * Wake-ups of the host take some microseconds: set a rate at which that does not matter.
 */
void aries_nic_set_hold(aries_nic *nic, bool on);
bool aries_nic_hold(aries_nic *nic);

/**
 * aries_nic_set_background() - what others do on the network, as packets that this NIC sends meet it
 * @what: "uniform:SHARE", the path of a file of aries-sim (Documentation/simulator.md), or "" for nothing
 *
 * Every member has to be told the same.
 *
 * Return: 0, or -1 with a line in @err that names the file, the line in it and what is wrong.
 */
int aries_nic_set_background(aries_nic *nic, const char *what, char *err, size_t err_len);

#define ARIES_LINK_NONE 1480704ull /* above those of 241 groups of 96 routers */

/**
 * aries_nic_set_trace() - write this NIC's packets to a pcapng file, or stop doing so
 * @path: a regular file, created or emptied; NULL ends the trace
 * @limit: bytes that the file may have, ARIES_TRACE_LIMIT_MIN to ARIES_TRACE_LIMIT_MAX
 * @packets: packets to record of one operation, 1 to ARIES_TRACE_PACKETS_MAX: the first ones
 *
 * Records requests that this NIC sends and their responses (Documentation/packet-trace.md). While a trace is written
 * the threads that send wait for each other and for the file. A full file, a full disk or any other error ends the
 * trace, with one line to the log from the next aries_nic_tick(), and nothing else.
 *
 * Return: 0, or -1 with a line in @err that names path and cause; a trace that runs goes on then.
 */
int aries_nic_set_trace(aries_nic *nic, const char *path, uint64_t limit, uint32_t packets, char *err, size_t err_len);
/** aries_nic_tracing() - whether a trace is being written; any thread */
bool aries_nic_tracing(aries_nic *nic);

#define ARIES_TRACE_LIMIT_MIN 4096ull
#define ARIES_TRACE_LIMIT_MAX (1ull << 40)
#define ARIES_TRACE_LIMIT_DEFAULT (64ull << 20)
#define ARIES_TRACE_PACKETS_MAX (1u << 26) /* a whole block transfer */
#define ARIES_TRACE_PACKETS_DEFAULT 32u    /* all of what one FMA put can carry */

/** aries_nic_counter() - one counter (enum aries_counter) */
uint64_t aries_nic_counter(aries_nic *nic, unsigned int which);

/**
 * aries_nic_describe() - state in readable form (members, links, tables in use)
 *
 * Return: bytes that the text needs, without the final NUL; at most @len are written.
 */
size_t aries_nic_describe(aries_nic *nic, char *buf, size_t len);

#ifdef __cplusplus
}
#endif

#endif /* ARIES_MODEL_H */
