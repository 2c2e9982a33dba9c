/* SPDX-License-Identifier: GPL-2.0-only */
/* Domains by tag and cookie, for callers that hold ptag_lock. */
#ifndef ARIES_PTAG_H
#define ARIES_PTAG_H

#include "aries_obj.h"

#define ARIES_PTAG_USER_FIRST 3
#define ARIES_PTAG_USER_LAST 252 /* 253 belongs to the drivers: ARIES_CHAN_PTAG */
#define ARIES_PTAG_BOOT 254

/*
 * The domain of the drivers, which no process can join, whatever its rights. The interface has
 * assigned all tags of kernel clients, so it has the last tag of users, which is never given to
 * jobs. Keys 3 to 127 of the interface are unassigned.
 */
#define ARIES_CHAN_PTAG 253
#define ARIES_CHAN_COOKIE 0x007f0000u /* pkey 127 */

/**
 * aries_ptag_reserved() - is this the tag or the cookie of the drivers, which nothing else may use?
 */
static inline bool aries_ptag_reserved(u8 ptag, u32 cookie)
{
	return ptag == ARIES_CHAN_PTAG || cookie == ARIES_CHAN_COOKIE;
}

/* aries_domain.c */
struct aries_domain *aries_ptag_by_cookie(struct aries_dev *ad, u32 cookie);
int aries_ptag_charge(struct aries_domain *dom, enum aries_res res, unsigned int count);

/* aries_ptag.c */
struct aries_domain *aries_ptag_create(struct aries_dev *ad, u8 ptag, u32 cookie);
void aries_ptag_hold(struct aries_domain *dom);
void aries_ptag_remove(struct aries_dev *ad, struct aries_domain *dom);
void aries_ptag_write_limit(struct aries_dev *ad, const struct aries_domain *dom);
int aries_ptag_check(u8 ptag);

#endif /* ARIES_PTAG_H */
