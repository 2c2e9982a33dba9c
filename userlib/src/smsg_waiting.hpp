// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Messages of which a copy is kept: those that wait for another attempt, and those that have left and may get lost
 * yet.
 */
#ifndef UGNI_SMSG_WAITING_HPP
#define UGNI_SMSG_WAITING_HPP

#include "smsg.hpp"
#include "unsettled.hpp"

namespace ugni
{

/** A message; its bytes follow. From malloc(). */
struct SmsgWaiting : Departed, gni_smsg_copy {
	Smsg *s;
	uint64_t identity; /* of its connection, when it has left */

	char *text() { return reinterpret_cast<char *>(this + 1); }
	SmsgText message() { return {{text(), bytes}, {nullptr, 0}, msg_id, tag}; }
};

/** A copy of @text, whose request is @id. @status: of the first attempt. Return: nullptr without memory */
SmsgWaiting *smsg_copy(gni_ep *ep, Smsg *s, const SmsgText &text, uint32_t id, uint32_t status);
/** The message has left, and may get lost yet: keeps a copy, if there is memory, until its event tells. */
void smsg_keep(gni_ep *ep, Smsg *s, const SmsgText &text, const SmsgPlace &place, uint32_t id);
/** @w, which was tried again, has left without an event, and counts as sent: its slot will be looked at. */
void smsg_doubt(SmsgWaiting *w);
/** A message without a copy is lost after it has left. */
void smsg_late_hole(const gni_ep *ep);

} // namespace ugni

#endif
