// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Files for results. Each is whole at any time: what is written takes the place of what was there at once, at the end.
 */
#ifndef ARIES_SIM_OUTPUT_FILE_HPP
#define ARIES_SIM_OUTPUT_FILE_HPP

#include <functional>
#include <iosfwd>
#include <string>

namespace aries::sim
{

/** Throws RunError if replace_file() could not write to @p path. The file stays as it is. */
void check_writable(const std::string &path);

/**
 * The file has the text that @p write writes, or, after a RunError, its old contents. A terminal or a pipe is written
 * to directly.
 */
void replace_file(const std::string &path, const std::function<void(std::ostream &)> &write);

} // namespace aries::sim

#endif
