// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * A cluster in this process: for each device number a NIC of the device model
 * with memory of its own, and the driver's part of sys:: above it. The user
 * library then runs end to end: every doorbell goes into the model.
 */
#ifndef UGNI_TESTS_MODEL_KERNEL_HPP
#define UGNI_TESTS_MODEL_KERNEL_HPP

#include "gni_pub.h"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace model
{

constexpr uint32_t kNodes = 2;

/** Creates the fabric and its NICs; device n is node n. */
void start(uint32_t nodes = kNodes);
void stop();

/** Memory of node @node, zeroed, page aligned plus @skew; lives until stop(). */
unsigned char *memory(uint32_t node, size_t bytes, size_t skew = 0);

/** Makes the next attaches of domain @cookie possible under @ptag, on all nodes. */
void allow(uint32_t cookie, uint8_t ptag);

/** The NIC of a node disappears, as if its machine had been killed. */
void kill(uint32_t node);

/** Fault injection (aries_nic_set_fault()): packets that the node sends. */
void fault(uint32_t node, const char *name, uint64_t value);

/** Whether completions are held until modelled time has come: what is lost is known later than its doorbell. */
void hold(bool on);

/** Calls @what with the node before each doorbell; nullptr: no more. Not while other threads ring. */
void on_doorbell(std::function<void(uint32_t)> what);

/** Counter of a NIC (enum aries_counter). */
uint64_t counter(uint32_t node, unsigned int which);
/** Whether processes leave doorbells in memory: each takes a trap at most, then. */
bool polls();

} // namespace model

#endif
