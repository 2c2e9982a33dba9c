// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * What becomes of a tool's output.
 */
#ifndef TOOLS_OUTPUT_H
#define TOOLS_OUTPUT_H

namespace tools
{

/**
 * Ends the output of a tool: it may be lost, as on a full disk, when the last of it is written.
 *
 * @param program name for the complaint on standard error
 * @param status what the tool would end with
 * @return status, or 1 in place of 0 if standard output could not be written
 */
int finish(const char *program, int status);

} // namespace tools

#endif // TOOLS_OUTPUT_H
