/* SPDX-License-Identifier: GPL-2.0-only */
/* Refused calls: what they return, and the record of the first one on each processor. */
#ifndef KGNI_ERRNO_H
#define KGNI_ERRNO_H

#include <linux/types.h>

#include "gni_pub.h"

gni_return_t kgni_errno_set(gni_return_t rc, const char *func, int line, int errno,
			    const u64 data[4]);

/**
 * kgni_refuse() - refuse a call, and record why
 * @rc: what it returns
 * @err: positive errno that describes the reason
 * @...: up to four numbers that explain it
 *
 * The record is for gni_get_errno(); dynamic debug prints each refusal. Context: any. Return: @rc.
 */
#define kgni_refuse(rc, err, ...) \
	kgni_errno_set(rc, __func__, __LINE__, err, (const u64[4]) { __VA_ARGS__ })

#endif
