/* SPDX-License-Identifier: GPL-2.0-only */
/* Datagrams by ioctl: attachments with a name of their own, and short forms of the requests. */
#ifndef DGRAM_H
#define DGRAM_H

#include "aries_test.h"

#define DGRAM_EVER (~0ull)
#define DGRAM_LONG 20000 /* ms: surely enough for what is going to happen */

/* An open file attached as instance @inst to the domain of @cookie, or a negative errno. */
static inline int dgram_attached(uint32_t cookie, uint32_t inst, struct kgni_attach *out)
{
	struct kgni_attach arg = aries_attach_arg(cookie);
	int fd;

	arg.inst_id = inst;
	fd = aries_attached_as(&arg);
	if (out)
		*out = arg;
	return fd;
}

static inline int dgram_post(int fd, uint32_t flags, uint64_t ep, uint64_t id, uint32_t pe,
			     uint32_t inst, const char *text)
{
	struct kgni_dgram_post arg = { .argsz = sizeof(arg), .flags = flags, .ep = ep, .id = id,
				       .pe = pe, .inst_id = inst };

	arg.length = (uint32_t)strlen(text);
	memcpy(arg.data, text, arg.length);
	return aries_ioctl(fd, KGNI_IOC_DGRAM_POST, &arg);
}

static inline int dgram_directed(int fd, uint64_t ep, uint32_t pe, uint32_t inst, const char *text)
{
	return dgram_post(fd, KGNI_DGRAM_ID, ep, ep + 1000, pe, inst, text);
}

static inline int dgram_wildcard(int fd, uint64_t ep, const char *text)
{
	return dgram_post(fd, KGNI_DGRAM_ID | KGNI_DGRAM_WILDCARD, ep, ep + 1000, 0, 0, text);
}

static inline int dgram_test(int fd, uint64_t ep, uint64_t timeout_ms, struct kgni_dgram_test *out)
{
	*out = (struct kgni_dgram_test){ .argsz = sizeof(*out), .flags = KGNI_DGRAM_ID, .ep = ep,
					 .id = ep + 1000, .timeout_ms = timeout_ms };
	return aries_ioctl(fd, KGNI_IOC_DGRAM_TEST, out);
}

/* Final state of a datagram that is there already or in time, -1 else. */
static inline int dgram_state(int fd, uint64_t ep, uint64_t timeout_ms)
{
	struct kgni_dgram_test t;

	return dgram_test(fd, ep, timeout_ms, &t) ? -1 : (int)t.state;
}

static inline int dgram_probe(int fd, uint64_t timeout_ms, uint64_t *id)
{
	struct kgni_dgram_probe arg = { .argsz = sizeof(arg), .flags = KGNI_DGRAM_ID,
					.timeout_ms = timeout_ms };
	int rc = aries_ioctl(fd, KGNI_IOC_DGRAM_PROBE, &arg);

	*id = arg.id;
	return rc;
}

static inline int dgram_cancel(int fd, uint64_t ep, uint32_t flags)
{
	struct kgni_dgram_cancel arg = { .argsz = sizeof(arg), .flags = flags, .ep = ep };

	if (flags & KGNI_DGRAM_ID)
		arg.id = ep + 1000;
	return aries_ioctl(fd, KGNI_IOC_DGRAM_CANCEL, &arg);
}

static inline int dgram_holds(const struct kgni_dgram_test *t, uint32_t inst, const char *text)
{
	return t->state == KGNI_DGRAM_COMPLETED && t->inst_id == inst &&
	       t->length == strlen(text) && !memcmp(t->data, text, t->length);
}

#endif /* DGRAM_H */
