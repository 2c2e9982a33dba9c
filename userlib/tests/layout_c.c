/* SPDX-License-Identifier: BSD-2-Clause */
/* The header alone, as a C program sees it. */
#include "layout.h"
