// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Which version of the project a tool comes from.
 */
#ifndef TOOLS_VERSION_H
#define TOOLS_VERSION_H

namespace tools
{

/** Prints "PROGRAM (OpenGNI) VERSION", what --version of every tool does. */
void print_version(const char *program);

} // namespace tools

#endif // TOOLS_VERSION_H
