// SPDX-License-Identifier: BSD-2-Clause
#include "kernel.hpp"
#include "debug.hpp"

#include <cerrno>
#include <cstring>
#include <span>

namespace ugni::kernel
{

namespace
{

struct Meaning {
	int error;
	gni_return_t rc;
};

/*
 * What an errno means for each request; only codes that the public function
 * documents appear. What is not listed becomes the fallback.
 */
constexpr Meaning kOpen[] = {
	{ENOENT, GNI_RC_NO_MATCH},         {ENXIO, GNI_RC_NO_MATCH},         {ENODEV, GNI_RC_NO_MATCH},
	{EACCES, GNI_RC_PERMISSION_ERROR}, {EPERM, GNI_RC_PERMISSION_ERROR}, {ENOMEM, GNI_RC_ERROR_NOMEM},
};
constexpr Meaning kAttach[] = {
	{EPERM, GNI_RC_PERMISSION_ERROR}, {EACCES, GNI_RC_PERMISSION_ERROR}, {EBUSY, GNI_RC_INVALID_STATE},
	{ENOSPC, GNI_RC_ERROR_RESOURCE},  {EINVAL, GNI_RC_INVALID_PARAM},    {ENODEV, GNI_RC_NO_MATCH},
	{EINTR, GNI_RC_NOT_DONE},         {ENOMEM, GNI_RC_ERROR_NOMEM},      {ENXIO, GNI_RC_NO_MATCH},
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
	{EINVAL, GNI_RC_INVALID_PARAM}, {ENOENT, GNI_RC_INVALID_PARAM},    {EFBIG, GNI_RC_INVALID_PARAM},
	{EFAULT, GNI_RC_INVALID_PARAM}, {EACCES, GNI_RC_PERMISSION_ERROR}, {EPERM, GNI_RC_PERMISSION_ERROR},
	{ENOMEM, GNI_RC_ERROR_NOMEM},   {EBADF, GNI_RC_PERMISSION_ERROR},
};
constexpr Meaning kJob[] = {
	{EPERM, GNI_RC_PERMISSION_ERROR}, {EEXIST, GNI_RC_INVALID_STATE}, {ENOSPC, GNI_RC_ERROR_RESOURCE},
	{EBUSY, GNI_RC_INVALID_STATE},    {ENOENT, GNI_RC_NO_MATCH},      {ENODEV, GNI_RC_NO_MATCH},
	{ENOMEM, GNI_RC_ERROR_NOMEM},
};
constexpr Meaning kMddBlock[] = {
	{ENOSPC, GNI_RC_ERROR_NOMEM},
	{ENOMEM, GNI_RC_ERROR_NOMEM},
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
	{EBUSY, GNI_RC_ERROR_RESOURCE}, {ENOSPC, GNI_RC_ERROR_RESOURCE}, {E2BIG, GNI_RC_SIZE_ERROR},
	{EINVAL, GNI_RC_INVALID_PARAM}, {ENOMEM, GNI_RC_ERROR_NOMEM},
};
constexpr Meaning kDatagramTest[] = {
	{ETIMEDOUT, GNI_RC_TIMEOUT},
	{EINTR, GNI_RC_INVALID_STATE},
	{EINVAL, GNI_RC_INVALID_PARAM},
};

constexpr Meaning kSuspend[] = {
	{EPERM, GNI_RC_PERMISSION_ERROR}, {ENOENT, GNI_RC_INVALID_PARAM}, {EINVAL, GNI_RC_INVALID_PARAM},
	{EALREADY, GNI_RC_INVALID_STATE}, {ETIMEDOUT, GNI_RC_TIMEOUT},    {EINTR, GNI_RC_NOT_DONE},
	{ECANCELED, GNI_RC_INVALID_STATE},
};

/* INVALID_PARAM for who is not privileged: the function has no code of its own for it. */
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

gni_return_t meaning(const char *what, int error, std::span<const Meaning> table, gni_return_t fallback)
{
	if (error == 0)
		return GNI_RC_SUCCESS;
	gni_return_t rc = fallback;
	for (const Meaning &m : table) {
		if (m.error == -error) {
			rc = m.rc;
			break;
		}
	}
	if (rc != GNI_RC_TIMEOUT && rc != GNI_RC_INVALID_STATE && rc != GNI_RC_NOT_DONE)
		debug("%s: errno %d (%s)", what, -error,
		      error == -EIO	 ? "the NIC was reset"
		      : error == -ENODEV ? "the NIC was removed or does not answer"
					 : strerrordesc_np(-error));
	return rc;
}

} // namespace

static int sleep_in(const Uncancelled &outer, int fd, unsigned long request, void *argument)
{
	const Sleep sleep(outer);

	return sys::call(fd, request, argument);
}

gni_return_t open_device(uint32_t device, int *fd)
{
	int r = sys::open_device(device);

	if (r >= 0) {
		*fd = r;
		return GNI_RC_SUCCESS;
	}
	return meaning("open of the device", r, kOpen, GNI_RC_ERROR_RESOURCE);
}

gni_return_t query(int fd, kgni_query *query)
{
	*query = {};
	query->argsz = sizeof(*query);
	query->abi_version = KGNI_ABI_VERSION;
	return meaning("QUERY", sys::call(fd, KGNI_IOC_QUERY, query), {}, GNI_RC_ERROR_RESOURCE);
}

gni_return_t gone(int fd)
{
	kgni_ntt_info info{};

	info.argsz = sizeof(info);
	return sys::call(fd, KGNI_IOC_NTT_INFO, &info) == -ENODEV ? GNI_RC_NO_MATCH : GNI_RC_INVALID_STATE;
}

gni_return_t attach(int fd, kgni_attach *attach, uint32_t driver_version)
{
	attach->argsz = sizeof(*attach);
	attach->abi_version = KGNI_ABI_VERSION;
	const int r = sys::call(fd, KGNI_IOC_ATTACH, attach);
	if (r == -EPROTO) {
		debug("the driver has ABI version %u, this library %u", driver_version, KGNI_ABI_VERSION);
		return GNI_RC_ERROR_RESOURCE;
	}
	return meaning("ATTACH", r, kAttach, GNI_RC_ERROR_RESOURCE);
}

gni_return_t cq_create(int fd, kgni_cq_create *cq)
{
	cq->argsz = sizeof(*cq);
	return meaning("CQ_CREATE", sys::call(fd, KGNI_IOC_CQ_CREATE, cq), kCqCreate, GNI_RC_ERROR_RESOURCE);
}

gni_return_t cq_destroy(int fd, uint32_t cq)
{
	kgni_cq_destroy arg{};

	arg.argsz = sizeof(arg);
	arg.cq = cq;
	return meaning("CQ_DESTROY", sys::call(fd, KGNI_IOC_CQ_DESTROY, &arg), kCqDestroy, GNI_RC_INVALID_PARAM);
}

gni_return_t cq_wait(int fd, const uint32_t *cqs, uint32_t count, uint64_t timeout_ms, uint32_t *which,
		     const Uncancelled &outer)
{
	kgni_cq_wait arg{};

	arg.argsz = sizeof(arg);
	arg.count = count;
	arg.cqs = reinterpret_cast<uintptr_t>(cqs);
	arg.timeout_ms = timeout_ms;
	const int r = sleep_in(outer, fd, KGNI_IOC_CQ_WAIT, &arg);
	gni_return_t rc = meaning("CQ_WAIT", r, kCqWait, GNI_RC_ERROR_RESOURCE);
	if (rc == GNI_RC_SUCCESS)
		*which = arg.which;
	return rc;
}

gni_return_t mem_register(int fd, kgni_mem_register *mem)
{
	mem->argsz = sizeof(*mem);
	return meaning("MEM_REGISTER", sys::call(fd, KGNI_IOC_MEM_REGISTER, mem), kMemRegister, GNI_RC_ERROR_RESOURCE);
}

gni_return_t mem_segments(int fd, kgni_mem_segments *mem)
{
	mem->argsz = sizeof(*mem);
	return meaning("MEM_SEGMENTS", sys::call(fd, KGNI_IOC_MEM_SEGMENTS, mem), kMemRegister, GNI_RC_ERROR_RESOURCE);
}

gni_return_t mdd_block(int fd, uint32_t entries)
{
	kgni_mdd_block arg{};

	arg.argsz = sizeof(arg);
	arg.entries = entries;
	return meaning("MDD_BLOCK", sys::call(fd, KGNI_IOC_MDD_BLOCK, &arg), kMddBlock, GNI_RC_INVALID_PARAM);
}

gni_return_t mem_update(int fd, kgni_mem_update *mem)
{
	mem->argsz = sizeof(*mem);
	return meaning("MEM_UPDATE", sys::call(fd, KGNI_IOC_MEM_UPDATE, mem), kMemRegister, GNI_RC_ERROR_RESOURCE);
}

gni_return_t mem_deregister(int fd, uint32_t mdh)
{
	kgni_mem_deregister arg{};

	arg.argsz = sizeof(arg);
	arg.mdh = mdh;
	return meaning("MEM_DEREGISTER", sys::call(fd, KGNI_IOC_MEM_DEREGISTER, &arg), kMemDeregister,
		       GNI_RC_INVALID_PARAM);
}

gni_return_t job(int fd, kgni_job *job)
{
	job->argsz = sizeof(*job);
	return meaning("JOB", sys::call(fd, KGNI_IOC_JOB, job), kJob, GNI_RC_INVALID_PARAM);
}

gni_return_t ntt(int fd, kgni_ntt *ntt)
{
	ntt->argsz = sizeof(*ntt);
	return meaning("NTT", sys::call(fd, KGNI_IOC_NTT, ntt), kNtt, GNI_RC_INVALID_PARAM);
}

gni_return_t ntt_info(int fd, kgni_ntt_info *info)
{
	info->argsz = sizeof(*info);
	return meaning("NTT_INFO", sys::call(fd, KGNI_IOC_NTT_INFO, info), {}, GNI_RC_INVALID_PARAM);
}

gni_return_t job_ntt(int fd, kgni_job_ntt *job)
{
	job->argsz = sizeof(*job);
	return meaning("JOB_NTT", sys::call(fd, KGNI_IOC_JOB_NTT, job), kJobNtt, GNI_RC_INVALID_PARAM);
}

gni_return_t bi(int fd, kgni_bi *bi)
{
	bi->argsz = sizeof(*bi);
	return meaning("BI", sys::call(fd, KGNI_IOC_BI, bi), kBi, GNI_RC_INVALID_PARAM);
}

gni_return_t ptag(int fd, uint32_t cookie, uint8_t *tag)
{
	kgni_ptag arg{};

	arg.argsz = sizeof(arg);
	arg.cookie = cookie;
	gni_return_t rc = meaning("PTAG", sys::call(fd, KGNI_IOC_PTAG, &arg), kPtag, GNI_RC_ERROR_RESOURCE);
	if (rc == GNI_RC_SUCCESS)
		*tag = arg.ptag;
	return rc;
}

gni_return_t resource(int fd, kgni_res *res)
{
	res->argsz = sizeof(*res);
	return meaning("RES", sys::call(fd, KGNI_IOC_RES, res), kResource, GNI_RC_INVALID_PARAM);
}

gni_return_t ce_alloc(int fd, uint32_t *ce)
{
	kgni_ce_alloc arg{};

	arg.argsz = sizeof(arg);
	gni_return_t rc = meaning("CE_ALLOC", sys::call(fd, KGNI_IOC_CE_ALLOC, &arg), kCeAlloc, GNI_RC_ERROR_RESOURCE);
	if (rc == GNI_RC_SUCCESS)
		*ce = arg.ce;
	return rc;
}

gni_return_t ce_config(int fd, kgni_ce_config *config)
{
	config->argsz = sizeof(*config);
	return meaning("CE_CONFIG", sys::call(fd, KGNI_IOC_CE_CONFIG, config), {}, GNI_RC_INVALID_PARAM);
}

gni_return_t ce_free(int fd, uint32_t ce)
{
	kgni_ce_free arg{};

	arg.argsz = sizeof(arg);
	arg.ce = ce;
	return meaning("CE_FREE", sys::call(fd, KGNI_IOC_CE_FREE, &arg), {}, GNI_RC_INVALID_PARAM);
}

gni_return_t datagram_post(int fd, kgni_dgram_post *post)
{
	post->argsz = sizeof(*post);
	int r = sys::call(fd, KGNI_IOC_DGRAM_POST, post);
	/* Busy is what clients poll for. */
	if (r == -EBUSY)
		return GNI_RC_ERROR_RESOURCE;
	return meaning("DGRAM_POST", r, kDatagramPost, GNI_RC_ERROR_RESOURCE);
}

gni_return_t datagram_test(int fd, kgni_dgram_test *test, const Uncancelled &outer)
{
	test->argsz = sizeof(*test);
	int r = sleep_in(outer, fd, KGNI_IOC_DGRAM_TEST, test);
	if (r == -ENOENT)
		return GNI_RC_NO_MATCH;
	return meaning("DGRAM_TEST", r, kDatagramTest, GNI_RC_NO_MATCH);
}

gni_return_t datagram_probe(int fd, kgni_dgram_probe *probe, const Uncancelled &outer)
{
	probe->argsz = sizeof(*probe);
	int r = sleep_in(outer, fd, KGNI_IOC_DGRAM_PROBE, probe);
	if (r == -ENOENT)
		return GNI_RC_NO_MATCH;
	return meaning("DGRAM_PROBE", r, kDatagramTest, GNI_RC_INVALID_PARAM);
}

gni_return_t datagram_cancel(int fd, kgni_dgram_cancel *cancel)
{
	cancel->argsz = sizeof(*cancel);
	int r = sys::call(fd, KGNI_IOC_DGRAM_CANCEL, cancel);
	if (r == -ENOENT)
		return GNI_RC_NO_MATCH;
	return meaning("DGRAM_CANCEL", r, {}, GNI_RC_NO_MATCH);
}

gni_return_t suspend(int fd, kgni_suspend *suspend)
{
	const bool resume = suspend->flags & KGNI_SUSPEND_RESUME;

	suspend->argsz = sizeof(*suspend);
	return meaning("SUSPEND", sys::call(fd, KGNI_IOC_SUSPEND, suspend), kSuspend,
		       resume ? GNI_RC_INVALID_PARAM : GNI_RC_ERROR_RESOURCE);
}

gni_return_t err_subscribe(int fd, kgni_err_subscribe *subscribe)
{
	subscribe->argsz = sizeof(*subscribe);
	return meaning("ERR_SUBSCRIBE", sys::call(fd, KGNI_IOC_ERR_SUBSCRIBE, subscribe), kErrSubscribe,
		       GNI_RC_ERROR_RESOURCE);
}

gni_return_t err_read(int fd, kgni_err_read *read, const Uncancelled &outer)
{
	read->argsz = sizeof(*read);
	return meaning("ERR_READ", sleep_in(outer, fd, KGNI_IOC_ERR_READ, read), kErrRead, GNI_RC_INVALID_PARAM);
}

gni_return_t err_control(int fd, kgni_err_control *control)
{
	control->argsz = sizeof(*control);
	return meaning("ERR_CONTROL", sys::call(fd, KGNI_IOC_ERR_CONTROL, control), kErrControl, GNI_RC_INVALID_PARAM);
}

} // namespace ugni::kernel
