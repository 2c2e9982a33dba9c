// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "kernel.hpp"
#include "debug.hpp"

#include <cerrno>
#include <cstring>
#include <span>

namespace ugni::kernel
{

struct Meaning {
	int error;
	gni_return_t rc;
	const char *why = nullptr; /* where the errno does not say it */
};

namespace
{

/*
 * What an errno means for each request; only codes that the public function
 * documents appear. What is not listed becomes the fallback.
 */
constexpr Meaning kOpen[] = {
	{ENOENT, GNI_RC_NO_MATCH},         {ENXIO, GNI_RC_NO_MATCH},         {ENODEV, GNI_RC_NO_MATCH},
	{EACCES, GNI_RC_PERMISSION_ERROR}, {EPERM, GNI_RC_PERMISSION_ERROR}, {ENOMEM, GNI_RC_ERROR_NOMEM},
};
constexpr Meaning kAttach[] = {
	{EPERM, GNI_RC_PERMISSION_ERROR, "no such domain, or tag and cookie do not belong together"},
	{EACCES, GNI_RC_PERMISSION_ERROR},
	{EBUSY, GNI_RC_INVALID_STATE},
	{ENOSPC, GNI_RC_ERROR_RESOURCE, "no FMA descriptor is left, or the job has as many as it may"},
	{EINVAL, GNI_RC_INVALID_PARAM},
	{ENODEV, GNI_RC_NO_MATCH},
	{EINTR, GNI_RC_NOT_DONE},
	{ENOMEM, GNI_RC_ERROR_NOMEM},
	{ENXIO, GNI_RC_NO_MATCH},
};
constexpr Meaning kCqCreate[] = {
	{EINVAL, GNI_RC_INVALID_PARAM},
	{EFBIG, GNI_RC_INVALID_PARAM},
	{ENOMEM, GNI_RC_ERROR_NOMEM},
	{EPERM, GNI_RC_ERROR_RESOURCE},
};
/* A reset or the removal of the NIC has ended everything that was to be ended. */
constexpr Meaning kCqDestroy[] = {
	{EBUSY, GNI_RC_ERROR_RESOURCE},
	{EIO, GNI_RC_SUCCESS},
	{ENODEV, GNI_RC_SUCCESS},
};
constexpr Meaning kMemDeregister[] = {
	{EIO, GNI_RC_SUCCESS},
	{ENODEV, GNI_RC_SUCCESS},
};
constexpr Meaning kCqWait[] = {
	{ETIMEDOUT, GNI_RC_TIMEOUT},
	{EINTR, GNI_RC_INVALID_STATE},
	{EINVAL, GNI_RC_INVALID_PARAM},
};
constexpr Meaning kMemRegister[] = {
	{EINVAL, GNI_RC_INVALID_PARAM, "no address of this process, or no such region"},
	{ENOENT, GNI_RC_INVALID_PARAM, "no such queue, or no such place in the block of SetMddResources"},
	{EFBIG, GNI_RC_INVALID_PARAM, "more than 1 TiB, or too many segments"},
	{EFAULT, GNI_RC_INVALID_PARAM, "not all of it is mapped"},
	{EACCES, GNI_RC_PERMISSION_ERROR, "memory that is mapped read-only, without GNI_MEM_READ_ONLY"},
	{EPERM, GNI_RC_PERMISSION_ERROR, "more pinned memory than RLIMIT_MEMLOCK allows"},
	{ENOMEM, GNI_RC_ERROR_NOMEM},
	{EBUSY, GNI_RC_ERROR_RESOURCE, "the place is taken"},
	{ENOSPC, GNI_RC_ERROR_RESOURCE, "no memory domain is left, or the job has as much as it may"},
	{EBADF, GNI_RC_PERMISSION_ERROR, "another process has attached: the memory is not its own"},
};
constexpr Meaning kJob[] = {
	{EPERM, GNI_RC_PERMISSION_ERROR}, {EEXIST, GNI_RC_INVALID_STATE}, {ENOSPC, GNI_RC_ERROR_RESOURCE},
	{EBUSY, GNI_RC_INVALID_STATE},    {ENOENT, GNI_RC_NO_MATCH},      {ENODEV, GNI_RC_NO_MATCH},
	{ENOMEM, GNI_RC_ERROR_NOMEM},
};
constexpr Meaning kMddBlock[] = {
	{ENOSPC, GNI_RC_ERROR_NOMEM, "no such block is left, or the domain has a smaller one"},
	{ENOMEM, GNI_RC_ERROR_NOMEM},
	{EBUSY, GNI_RC_INVALID_PARAM, "this NIC handle has a block already"},
};
constexpr Meaning kNtt[] = {
	{EPERM, GNI_RC_PERMISSION_ERROR}, {ENOENT, GNI_RC_NO_MATCH}, {EBUSY, GNI_RC_ERROR_RESOURCE},
	{ENOSPC, GNI_RC_ERROR_RESOURCE},  {ENODEV, GNI_RC_NO_MATCH}, {ENOMEM, GNI_RC_ERROR_NOMEM},
};
constexpr Meaning kJobNtt[] = {
	{EPERM, GNI_RC_PERMISSION_ERROR}, {ENOENT, GNI_RC_NO_MATCH}, {EBUSY, GNI_RC_INVALID_STATE},
	{EOPNOTSUPP, GNI_RC_ILLEGAL_OP},  {ENODEV, GNI_RC_NO_MATCH}, {ENOMEM, GNI_RC_ERROR_NOMEM},
};
constexpr Meaning kBi[] = {
	{EPERM, GNI_RC_PERMISSION_ERROR},
};
constexpr Meaning kPtag[] = {
	{ENOENT, GNI_RC_NO_MATCH},
	{EINVAL, GNI_RC_INVALID_PARAM},
};
constexpr Meaning kResource[] = {
	{EOPNOTSUPP, GNI_RC_ERROR_RESOURCE},
};
constexpr Meaning kCeAlloc[] = {
	{EOPNOTSUPP, GNI_RC_ILLEGAL_OP},
	{ENOTTY, GNI_RC_ILLEGAL_OP},
	{ENOMEM, GNI_RC_ERROR_NOMEM},
};

constexpr Meaning kDatagramPost[] = {
	{EBUSY, GNI_RC_ERROR_RESOURCE},
	{ENOSPC, GNI_RC_ERROR_RESOURCE},
	{E2BIG, GNI_RC_SIZE_ERROR},
	{EINVAL, GNI_RC_INVALID_PARAM},
	{ENOMEM, GNI_RC_ERROR_NOMEM},
	/* ERROR_RESOURCE would be tried again for ever. */
	{EIO, GNI_RC_INVALID_STATE},
	{ENODEV, GNI_RC_NO_MATCH},
};
constexpr Meaning kDatagramTest[] = {
	{ETIMEDOUT, GNI_RC_TIMEOUT},
	{EINTR, GNI_RC_INVALID_STATE},
	{EINVAL, GNI_RC_INVALID_PARAM},
};

constexpr Meaning kSuspend[] = {
	{EPERM, GNI_RC_PERMISSION_ERROR},  {ENOENT, GNI_RC_INVALID_PARAM}, {EINVAL, GNI_RC_INVALID_PARAM},
	{EALREADY, GNI_RC_INVALID_STATE},  {ETIMEDOUT, GNI_RC_TIMEOUT},    {EINTR, GNI_RC_NOT_DONE},
	{ECANCELED, GNI_RC_INVALID_STATE},
};

/* INVALID_PARAM for a caller without privilege: the function has no code of its own for it. */
constexpr Meaning kErrSubscribe[] = {
	{EINVAL, GNI_RC_INVALID_PARAM}, {EPERM, GNI_RC_INVALID_PARAM}, {EACCES, GNI_RC_INVALID_PARAM},
	{ENOENT, GNI_RC_NO_MATCH},      {ENODEV, GNI_RC_NO_MATCH},     {ENOMEM, GNI_RC_ERROR_NOMEM},
};
constexpr Meaning kErrRead[] = {
	{EAGAIN, GNI_RC_NOT_DONE},
	{EINTR, GNI_RC_NOT_DONE},
	{ETIMEDOUT, GNI_RC_TIMEOUT},
};
constexpr Meaning kErrControl[] = {
	{EPERM, GNI_RC_PERMISSION_ERROR},
};

const Meaning *find(int error, std::span<const Meaning> table)
{
	for (const Meaning &m : table) {
		if (m.error == -error)
			return &m;
	}
	return nullptr;
}

gni_return_t meaning(const char *call, const char *what, int error, std::span<const Meaning> table,
		     gni_return_t fallback)
{
	if (error == 0)
		return GNI_RC_SUCCESS;
	const Meaning *m = find(error, table);
	const char *const why = m && m->why        ? m->why
				: error == -EIO    ? "the NIC was reset"
				: error == -ENODEV ? "the NIC was removed or does not answer"
						   : strerrordesc_np(-error);
	return refuse(m ? m->rc : fallback, call, "%s: %s (errno %d)", what, why, -error);
}

/* The end of a sleep is no refusal. */
gni_return_t waited(const char *call, const char *what, int error, std::span<const Meaning> table,
		    gni_return_t fallback)
{
	if (error != -ETIMEDOUT && error != -EINTR && error != -EAGAIN)
		return meaning(call, what, error, table, fallback);
	const Meaning *m = find(error, table);
	return m ? m->rc : nothing(fallback);
}

} // namespace

gni_return_t Plain::ask(int fd, void *argument, const char *call) const
{
	return meaning(call, name, sys::call(fd, number, argument), meanings, fallback);
}

constinit const Request<kgni_cq_create> cq_create{KGNI_IOC_CQ_CREATE, "CQ_CREATE", kCqCreate, GNI_RC_ERROR_RESOURCE};
constinit const Request<kgni_mem_register> mem_register{KGNI_IOC_MEM_REGISTER, "MEM_REGISTER", kMemRegister,
							GNI_RC_ERROR_RESOURCE};
constinit const Request<kgni_mem_segments> mem_segments{KGNI_IOC_MEM_SEGMENTS, "MEM_SEGMENTS", kMemRegister,
							GNI_RC_ERROR_RESOURCE};
constinit const Request<kgni_mem_update> mem_update{KGNI_IOC_MEM_UPDATE, "MEM_UPDATE", kMemRegister,
						    GNI_RC_ERROR_RESOURCE};
constinit const Request<kgni_job> job{KGNI_IOC_JOB, "JOB", kJob, GNI_RC_INVALID_PARAM};
constinit const Request<kgni_ntt> ntt{KGNI_IOC_NTT, "NTT", kNtt, GNI_RC_INVALID_PARAM};
constinit const Request<kgni_ntt_info> ntt_info{KGNI_IOC_NTT_INFO, "NTT_INFO", {}, GNI_RC_INVALID_PARAM};
constinit const Request<kgni_job_ntt> job_ntt{KGNI_IOC_JOB_NTT, "JOB_NTT", kJobNtt, GNI_RC_INVALID_PARAM};
constinit const Request<kgni_bi> bi{KGNI_IOC_BI, "BI", kBi, GNI_RC_INVALID_PARAM};
constinit const Request<kgni_res> resource{KGNI_IOC_RES, "RES", kResource, GNI_RC_INVALID_PARAM};
constinit const Request<kgni_ce_config> ce_config{KGNI_IOC_CE_CONFIG, "CE_CONFIG", {}, GNI_RC_INVALID_PARAM};
constinit const Request<kgni_err_subscribe> err_subscribe{KGNI_IOC_ERR_SUBSCRIBE, "ERR_SUBSCRIBE", kErrSubscribe,
							  GNI_RC_ERROR_RESOURCE};
constinit const Request<kgni_err_control> err_control{KGNI_IOC_ERR_CONTROL, "ERR_CONTROL", kErrControl,
						      GNI_RC_INVALID_PARAM};

static int sleep_in(const Uncancelled &outer, int fd, unsigned long request, void *argument)
{
	const Sleep sleep(outer);

	return sys::call(fd, request, argument);
}

gni_return_t open_device(uint32_t device, int *fd)
{
	int r = sys::open_device(device);

	*fd = r;
	if (r >= 0)
		return GNI_RC_SUCCESS;
	const Meaning *m = find(r, kOpen);
	return m ? m->rc : nothing(GNI_RC_ERROR_RESOURCE);
}

gni_return_t no_device(gni_return_t rc, const char *call, uint32_t device, int error)
{
	return refuse(rc, call, "/dev/kgni%u: %s", device, strerrordesc_np(-error));
}

gni_return_t query(int fd, kgni_query *query, const char *call)
{
	*query = {};
	query->argsz = sizeof(*query);
	query->abi_version = KGNI_ABI_VERSION;
	return meaning(call, "QUERY", sys::call(fd, KGNI_IOC_QUERY, query), {}, GNI_RC_ERROR_RESOURCE);
}

gni_return_t gone(int fd)
{
	kgni_ntt_info info{};

	info.argsz = sizeof(info);
	return sys::call(fd, KGNI_IOC_NTT_INFO, &info) == -ENODEV ? told(GNI_RC_NO_MATCH) : told(GNI_RC_INVALID_STATE);
}

gni_return_t attach(int fd, kgni_attach *attach, uint32_t driver_version, const char *call)
{
	attach->argsz = sizeof(*attach);
	attach->abi_version = KGNI_ABI_VERSION;
	const int r = sys::call(fd, KGNI_IOC_ATTACH, attach);
	if (r == -EPROTO)
		return refuse(GNI_RC_ERROR_RESOURCE, call, "the driver has ABI version %u, this library %u",
			      driver_version, KGNI_ABI_VERSION);
	return meaning(call, "ATTACH", r, kAttach, GNI_RC_ERROR_RESOURCE);
}

gni_return_t cq_destroy(int fd, uint32_t cq, const char *call)
{
	kgni_cq_destroy arg{};

	arg.argsz = sizeof(arg);
	arg.cq = cq;
	return meaning(call, "CQ_DESTROY", sys::call(fd, KGNI_IOC_CQ_DESTROY, &arg), kCqDestroy, GNI_RC_INVALID_PARAM);
}

gni_return_t cq_wait(int fd, const uint32_t *cqs, uint32_t count, uint64_t timeout_ms, uint32_t *which,
		     const Uncancelled &outer, const char *call)
{
	kgni_cq_wait arg{};

	arg.argsz = sizeof(arg);
	arg.count = count;
	arg.cqs = reinterpret_cast<uintptr_t>(cqs);
	arg.timeout_ms = timeout_ms;
	const int r = sleep_in(outer, fd, KGNI_IOC_CQ_WAIT, &arg);
	gni_return_t rc = waited(call, "CQ_WAIT", r, kCqWait, GNI_RC_ERROR_RESOURCE);
	if (rc == GNI_RC_SUCCESS)
		*which = arg.which;
	return rc;
}

gni_return_t mdd_block(int fd, uint32_t entries, const char *call)
{
	kgni_mdd_block arg{};

	arg.argsz = sizeof(arg);
	arg.entries = entries;
	return meaning(call, "MDD_BLOCK", sys::call(fd, KGNI_IOC_MDD_BLOCK, &arg), kMddBlock, GNI_RC_INVALID_PARAM);
}

gni_return_t mem_deregister(int fd, uint32_t mdh, const char *call)
{
	kgni_mem_deregister arg{};

	arg.argsz = sizeof(arg);
	arg.mdh = mdh;
	return meaning(call, "MEM_DEREGISTER", sys::call(fd, KGNI_IOC_MEM_DEREGISTER, &arg), kMemDeregister,
		       GNI_RC_INVALID_PARAM);
}

gni_return_t ptag(int fd, uint32_t cookie, uint8_t *tag, const char *call)
{
	kgni_ptag arg{};

	arg.argsz = sizeof(arg);
	arg.cookie = cookie;
	gni_return_t rc = meaning(call, "PTAG", sys::call(fd, KGNI_IOC_PTAG, &arg), kPtag, GNI_RC_ERROR_RESOURCE);
	if (rc == GNI_RC_SUCCESS)
		*tag = arg.ptag;
	return rc;
}

gni_return_t ce_alloc(int fd, uint32_t *ce, const char *call)
{
	kgni_ce_alloc arg{};

	arg.argsz = sizeof(arg);
	gni_return_t rc =
		meaning(call, "CE_ALLOC", sys::call(fd, KGNI_IOC_CE_ALLOC, &arg), kCeAlloc, GNI_RC_ERROR_RESOURCE);
	if (rc == GNI_RC_SUCCESS)
		*ce = arg.ce;
	return rc;
}

gni_return_t ce_free(int fd, uint32_t ce, const char *call)
{
	kgni_ce_free arg{};

	arg.argsz = sizeof(arg);
	arg.ce = ce;
	return meaning(call, "CE_FREE", sys::call(fd, KGNI_IOC_CE_FREE, &arg), {}, GNI_RC_INVALID_PARAM);
}

gni_return_t datagram_post(int fd, kgni_dgram_post *post, const char *call)
{
	post->argsz = sizeof(*post);
	int r = sys::call(fd, KGNI_IOC_DGRAM_POST, post);
	/* Clients poll until the result is not busy, so it is not logged. */
	if (r == -EBUSY)
		return later(GNI_RC_ERROR_RESOURCE, call, "a datagram to this instance is under way");
	return meaning(call, "DGRAM_POST", r, kDatagramPost, GNI_RC_ERROR_RESOURCE);
}

gni_return_t datagram_test(int fd, kgni_dgram_test *test, const Uncancelled &outer, const char *call)
{
	test->argsz = sizeof(*test);
	int r = sleep_in(outer, fd, KGNI_IOC_DGRAM_TEST, test);
	if (r == -ENOENT)
		return nothing(GNI_RC_NO_MATCH);
	return waited(call, "DGRAM_TEST", r, kDatagramTest, GNI_RC_NO_MATCH);
}

gni_return_t datagram_probe(int fd, kgni_dgram_probe *probe, const Uncancelled &outer, const char *call)
{
	probe->argsz = sizeof(*probe);
	int r = sleep_in(outer, fd, KGNI_IOC_DGRAM_PROBE, probe);
	if (r == -ENOENT)
		return nothing(GNI_RC_NO_MATCH);
	return waited(call, "DGRAM_PROBE", r, kDatagramTest, GNI_RC_INVALID_PARAM);
}

gni_return_t datagram_cancel(int fd, kgni_dgram_cancel *cancel, const char *call)
{
	cancel->argsz = sizeof(*cancel);
	int r = sys::call(fd, KGNI_IOC_DGRAM_CANCEL, cancel);
	if (r == -ENOENT)
		return nothing(GNI_RC_NO_MATCH);
	return meaning(call, "DGRAM_CANCEL", r, {}, GNI_RC_NO_MATCH);
}

gni_return_t suspend(int fd, kgni_suspend *suspend, const char *call)
{
	const bool resume = suspend->flags & KGNI_SUSPEND_RESUME;

	suspend->argsz = sizeof(*suspend);
	return meaning(call, "SUSPEND", sys::call(fd, KGNI_IOC_SUSPEND, suspend), kSuspend,
		       resume ? GNI_RC_INVALID_PARAM : GNI_RC_ERROR_RESOURCE);
}

gni_return_t err_read(int fd, kgni_err_read *read, const Uncancelled &outer, const char *call)
{
	read->argsz = sizeof(*read);
	return waited(call, "ERR_READ", sleep_in(outer, fd, KGNI_IOC_ERR_READ, read), kErrRead, GNI_RC_INVALID_PARAM);
}

} // namespace ugni::kernel
