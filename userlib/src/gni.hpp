// SPDX-License-Identifier: BSD-2-Clause
/* The public header, seen by the library itself: what it declares is exported. */
#ifndef UGNI_GNI_HPP
#define UGNI_GNI_HPP

#pragma GCC visibility push(default)
#include "gni_pub.h"
#pragma GCC visibility pop

#endif
