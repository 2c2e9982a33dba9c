// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Output of aries-info.
 */
#ifndef ARIES_INFO_PRINT_H
#define ARIES_INFO_PRINT_H

#include <string>
#include <vector>

#include "nic.h"
#include "registers.h"

namespace info
{

/** A NIC and what was read from its registers. */
struct Finding {
	Nic nic;
	std::vector<Value> registers;
	std::string error; /* why registers could not be read */
};

void print_text(const std::vector<Finding> &findings);
void print_json(const std::vector<Finding> &findings);

/** Transfer rate of a PCI Express generation, GT/s; "?" for one that is not known. */
const char *link_speed(unsigned generation);

} // namespace info

#endif // ARIES_INFO_PRINT_H
