/* SPDX-License-Identifier: GPL-2.0-only */
/* Domains by tag and cookie, for aries_ptag.c and aries_job.c alone. */
#ifndef ARIES_PTAG_H
#define ARIES_PTAG_H

#include "aries.h"

#define ARIES_PTAG_USER_FIRST 3
#define ARIES_PTAG_USER_LAST 253
#define ARIES_PTAG_BOOT 254

struct aries_domain *aries_ptag_by_cookie(struct aries_dev *ad, u32 cookie);
struct aries_domain *aries_ptag_create(struct aries_dev *ad, u8 ptag, u32 cookie);
void aries_ptag_destroy(struct aries_dev *ad, struct aries_domain *dom);
void aries_ptag_write_limit(struct aries_dev *ad, const struct aries_domain *dom);
int aries_ptag_check(u8 ptag);

#endif /* ARIES_PTAG_H */
