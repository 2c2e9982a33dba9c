// SPDX-License-Identifier: GPL-2.0-only
/* The first refused call on each processor, until a client reads the record. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "kgni.h"
#include "kgni_handle.h"

#define KGNI_ERRNO_TEXT 24 /* digits of 64 bits and the end of the string */

static DEFINE_PER_CPU(gni_errno_t, kgni_first);

/* A number as it is printed. Numbers that may be addresses of the kernel are hashed. */
static const char *kgni_errno_text(char text[KGNI_ERRNO_TEXT], u64 number)
{
	if (number >> 63)
		snprintf(text, KGNI_ERRNO_TEXT, "0x%p", (void *)(uintptr_t)number);
	else
		snprintf(text, KGNI_ERRNO_TEXT, "%llu", (unsigned long long)number);
	return text;
}

/** kgni_errno_set() - implementation of kgni_refuse(). Context: any. Return: @rc. */
gni_return_t kgni_errno_set(gni_return_t rc, const char *func, int line, int errno,
			    const u64 data[4])
{
	unsigned long flags;
	char text[4][KGNI_ERRNO_TEXT];
	gni_errno_t *e;

	pr_debug("%s:%d refuses with %d, errno %d: %s %s %s %s\n", func, line, rc, errno,
		 kgni_errno_text(text[0], data[0]), kgni_errno_text(text[1], data[1]),
		 kgni_errno_text(text[2], data[2]), kgni_errno_text(text[3], data[3]));
	local_irq_save(flags);
	e = this_cpu_ptr(&kgni_first);
	if (!e->valid) {
		strscpy(e->func, func, sizeof(e->func));
		e->lineno = line;
		e->errno = errno;
		e->data1 = data[0];
		e->data2 = data[1];
		e->data3 = data[2];
		e->data4 = data[3];
		e->valid = 1;
	}
	local_irq_restore(flags);
	return rc;
}

/* gni_get_errno() - take the record of this processor, see gni_pub.h. Context: any. */
gni_return_t gni_get_errno(gni_nic_handle_t nic_hndl, gni_errno_t *errno_ptr)
{
	gni_return_t rc = GNI_RC_INVALID_STATE;
	unsigned long flags;
	gni_errno_t *e;

	if (!kgni_nic_valid(nic_hndl) || !errno_ptr)
		return GNI_RC_INVALID_PARAM;
	local_irq_save(flags);
	e = this_cpu_ptr(&kgni_first);
	if (e->valid) {
		*errno_ptr = *e;
		e->valid = 0;
		rc = GNI_RC_SUCCESS;
	}
	local_irq_restore(flags);
	return rc;
}
EXPORT_SYMBOL_GPL(gni_get_errno);
