// SPDX-License-Identifier: GPL-2.0-only
/* Errors that completion queue entries report, for people. */
#include <linux/export.h>
#include <linux/string.h>

#include "gni_entry.h"
#include "kgni.h"

/* gni_cq_error_str() - describe the status of an entry, see gni_pub.h. Context: any. */
gni_return_t gni_cq_error_str(gni_cq_entry_t entry, void *buffer, uint32_t len)
{
	char text[GNI_ENTRY_TEXT];
	u32 n;

	if (!buffer || !len)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, len);
	n = gni_entry_text(entry, text);
	if (n >= len)
		return kgni_refuse(GNI_RC_SIZE_ERROR, ENOSPC, len, n + 1);
	memcpy(buffer, text, n + 1);
	return GNI_RC_SUCCESS;
}
EXPORT_SYMBOL_GPL(gni_cq_error_str);

/* gni_cq_error_recoverable() - check whether a retry may succeed, see gni_pub.h. Context: any. */
gni_return_t gni_cq_error_recoverable(gni_cq_entry_t entry, uint32_t *recoverable)
{
	u32 status = gni_entry_status(entry);

	if (!recoverable)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL);
	if (!gni_status_name(status))
		return kgni_refuse(GNI_RC_INVALID_STATE, ENOENT, status & GNI_ENTRY_STATUS);
	*recoverable = gni_status_recoverable(status);
	return GNI_RC_SUCCESS;
}
EXPORT_SYMBOL_GPL(gni_cq_error_recoverable);
