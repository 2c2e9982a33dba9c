// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file A job of PEs in this process, one on each node of the model. The functions of the library act for the PE that
 * was chosen last.
 */
#pragma once

#include "cmocka_cpp.hpp"
#include "dmapp.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#define assert_dmapp(code, call) assert_int_equal(DMAPP_RC_##code, call)

namespace job
{

constexpr size_t kDataBytes = 8192;

/** Begins: fabric and nodes, then the library of each PE. */
void start(int npes, dmapp_rma_attrs_ext_t *wanted = nullptr);
void stop();

/** The calls that follow are those of this PE. */
void choose(int pe);
/** What it knows of the job. */
const dmapp_jobinfo_t &info(int pe);
/** Static data of a PE. */
unsigned char *data(int pe);
/** The node of the PE disappears. */
void kill(int pe);
/** The descriptor area of the PE reads as ones, as a driver leaves it that has reset the NIC. */
void reset(int pe);
/** Endpoints that the PE has. */
size_t endpoints(int pe);
/** Fabric and nodes alone: each PE has yet to begin. */
void prepare(int npes);
/** The library of the PE ends. */
void end(int pe);
/** It has ended. */
void ended(int pe);

/** The next init of a PE fails in this way. */
enum class Trouble { none, no_launcher, no_heap, other_fails };
void trouble(Trouble what);

} // namespace job
