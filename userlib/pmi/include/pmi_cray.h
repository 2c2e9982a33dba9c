/* SPDX-License-Identifier: BSD-2-Clause */
/* Another name of pmi.h. */
#ifndef PMI_CRAY_H_INCLUDED
#define PMI_CRAY_H_INCLUDED

#include <pmi.h>

#endif
