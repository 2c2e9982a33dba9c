// SPDX-License-Identifier: GPL-2.0-only
/* Names of the status codes of transactions. */
#include "aries_compat.h"
#include "aries_core.h"
#include "gni_status.h"

static const char *const aries_status_names[GNI_STATUS_CODES] = {
#define ARIES_STATUS_NAME(name, word, passing) \
	[ARIES_ST_##name] = #name,
	GNI_STATUSES(ARIES_STATUS_NAME)
};

const char *aries_status_name(unsigned int code)
{
	code &= ~ARIES_ST_LOCAL;
	return code < GNI_STATUS_CODES && aries_status_names[code] ? aries_status_names[code] : "?";
}
EXPORT_SYMBOL_ARIES(aries_status_name);
