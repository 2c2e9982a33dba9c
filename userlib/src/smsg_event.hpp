// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* The event of a send, on its way to the caller. */
#ifndef UGNI_SMSG_EVENT_HPP
#define UGNI_SMSG_EVENT_HPP

#include "gni.hpp"

namespace ugni
{

/**
 * Ends the send that @entry of @cq tells of and makes the entry that the caller gets; 0 if the send is not settled and
 * its event is kept back. Entries of receivers stay as they are.
 */
gni_cq_entry_t smsg_event(gni_cq *cq, gni_cq_entry_t entry);

} // namespace ugni

#endif
