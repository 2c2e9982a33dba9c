// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * The way into the kernel: the only place that opens, maps and calls
 * /dev/kgniN, and the only place that turns errno into gni_return_t.
 *
 * sys:: is what a test replaces; everything above it is the same in a test.
 */
#ifndef UGNI_KERNEL_HPP
#define UGNI_KERNEL_HPP

#include "gni.hpp"
#include "guard.hpp"
#include "uapi/kgni_abi.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace ugni::sys
{

/** Opens /dev/kgni<device>. Return: descriptor, or -errno. */
int open_device(uint32_t device);
/** Return: 0 or -errno. */
int call(int fd, unsigned long request, void *argument);
/** Maps @bytes at @offset of the device, shared. Return: nullptr on failure. */
void *map(int fd, size_t bytes, bool readable, uint64_t offset);
void unmap(void *address, size_t bytes);
void close_device(int fd);
/** Milliseconds of a clock that never jumps. */
uint64_t now_ms();

/*
 * Memory shared by the processes of a node: files without permanence, private
 * to the user. Locks belong to the open file and end with it, whatever becomes
 * of the process.
 */

/** Where they are; tests have a place of their own. */
extern const char *share_directory;
/** Opens @name, and creates it if it is not there. Return: descriptor, or -errno; -EPERM: not this user's own. */
int share_open(const char *name);
/** Byte @byte, shared or exclusive. Return: 0 or -errno. */
int share_lock(int fd, uint64_t byte, bool exclusive);
void share_unlock(int fd, uint64_t byte);
/** Another open file has a lock on @byte. */
bool share_locked(int fd, uint64_t byte);
/** The file still has its name. */
bool share_named(int fd);
/** Empties the file and gives it @bytes zeros, of which @kept are there for certain. Return: 0 or -errno. */
int share_resize(int fd, uint64_t bytes, uint64_t kept);
/** Maps @bytes, for use with the NIC @device. Return: nullptr on failure. */
void *share_map(int fd, uint32_t device, size_t bytes);
void share_unmap(void *address, size_t bytes);
void share_unlink(const char *name);
void share_close(int fd);

} // namespace ugni::sys

namespace ugni::kernel
{

constexpr uint32_t kMaxDevices = 16;

/*
 * One function a request. Each fills in argsz and the ABI version itself and
 * returns a code that the public function may return; none is called on the
 * data path. Those that may sleep take the guard of the public function: the
 * thread may be cancelled while it sleeps, and nowhere else.
 *
 * A refusal is told in the name of @call, the public function: who is called by another one passes it on.
 */

/** What an errno means for a request; the tables are in kernel.cpp. */
struct Meaning;

/** A request that does not sleep: its number, and what each errno means for the caller. */
struct Plain {
	unsigned long number;
	const char *name; /* of the request, in messages */
	std::span<const Meaning> meanings;
	gni_return_t fallback; /* what no errno of the table says */

	gni_return_t ask(int fd, void *argument, const char *call) const;
};

/** A request that is its argument and nothing more. */
template <typename Argument> struct Request : Plain {
	gni_return_t operator()(int fd, Argument *argument, const char *call = __builtin_FUNCTION()) const
	{
		argument->argsz = sizeof(*argument);
		return ask(fd, argument, call);
	}
};

/** Says nothing: many look for devices that are not there. @fd: the open file, or -errno for no_device() */
gni_return_t open_device(uint32_t device, int *fd);
/** Tells that @device did not open. Return: @rc. */
gni_return_t no_device(gni_return_t rc, const char *call, uint32_t device, int error);
gni_return_t query(int fd, kgni_query *query, const char *call = __builtin_FUNCTION());
/** Why a NIC does not answer: NO_MATCH if it was removed, INVALID_STATE if it was reset. */
gni_return_t gone(int fd);
/** @driver_version: of the driver's ABI, for the error text if it differs from ours */
gni_return_t attach(int fd, kgni_attach *attach, uint32_t driver_version, const char *call = __builtin_FUNCTION());
extern const Request<kgni_cq_create> cq_create;
gni_return_t cq_destroy(int fd, uint32_t cq, const char *call = __builtin_FUNCTION());
/** One wait. INVALID_STATE: a signal came, the caller decides how to go on. */
gni_return_t cq_wait(int fd, const uint32_t *cqs, uint32_t count, uint64_t timeout_ms, uint32_t *which,
		     const Uncancelled &outer, const char *call = __builtin_FUNCTION());
extern const Request<kgni_mem_register> mem_register;
extern const Request<kgni_mem_segments> mem_segments;
gni_return_t mdd_block(int fd, uint32_t entries, const char *call = __builtin_FUNCTION());
extern const Request<kgni_mem_update> mem_update;
gni_return_t mem_deregister(int fd, uint32_t mdh, const char *call = __builtin_FUNCTION());
extern const Request<kgni_job> job;
extern const Request<kgni_ntt> ntt;
extern const Request<kgni_ntt_info> ntt_info;
extern const Request<kgni_job_ntt> job_ntt;
extern const Request<kgni_bi> bi;
gni_return_t ptag(int fd, uint32_t cookie, uint8_t *tag, const char *call = __builtin_FUNCTION());
extern const Request<kgni_res> resource;
gni_return_t ce_alloc(int fd, uint32_t *ce, const char *call = __builtin_FUNCTION());
extern const Request<kgni_ce_config> ce_config;
gni_return_t ce_free(int fd, uint32_t ce, const char *call = __builtin_FUNCTION());
gni_return_t datagram_post(int fd, kgni_dgram_post *post, const char *call = __builtin_FUNCTION());
/** One test or wait. INVALID_STATE: a signal came, the caller decides how to go on. */
gni_return_t datagram_test(int fd, kgni_dgram_test *test, const Uncancelled &outer,
			   const char *call = __builtin_FUNCTION());
/** One probe or wait, as above; NO_MATCH: none, without waiting. */
gni_return_t datagram_probe(int fd, kgni_dgram_probe *probe, const Uncancelled &outer,
			    const char *call = __builtin_FUNCTION());
gni_return_t datagram_cancel(int fd, kgni_dgram_cancel *cancel, const char *call = __builtin_FUNCTION());
gni_return_t suspend(int fd, kgni_suspend *suspend, const char *call = __builtin_FUNCTION());
extern const Request<kgni_err_subscribe> err_subscribe;
/** NOT_DONE: no event, or a signal came. */
gni_return_t err_read(int fd, kgni_err_read *read, const Uncancelled &outer, const char *call = __builtin_FUNCTION());
extern const Request<kgni_err_control> err_control;

} // namespace ugni::kernel

namespace ugni
{

/** GNI_ConfigureJob() for @call. */
gni_return_t configure_job(uint32_t device_id, uint64_t job_id, uint8_t ptag, uint32_t cookie,
			   const gni_job_limits_t *limits, const char *call);

} // namespace ugni

#endif
