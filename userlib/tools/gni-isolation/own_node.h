// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Attacks on the attacker's own node: signing on without rights, things of other processes.
 */
#ifndef GNI_ISOLATION_OWN_NODE_H
#define GNI_ISOLATION_OWN_NODE_H

#include "stage.h"

namespace isolation
{

Outcome wrong_cookie(const Attacker &attacker);
Outcome known_cookie(const Attacker &attacker);
Outcome tag_of_other_cookie(const Attacker &attacker);
Outcome queue_of_other(const Attacker &attacker);
Outcome map_of_other(const Attacker &attacker);
Outcome no_such_node(const Attacker &attacker);

} // namespace isolation

#endif // GNI_ISOLATION_OWN_NODE_H
