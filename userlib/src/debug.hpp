// SPDX-License-Identifier: BSD-2-Clause
/*
 * One line on stderr for what a return code cannot say, if the environment
 * variable UGNI_DEBUG is set and not "0".
 */
#ifndef UGNI_DEBUG_HPP
#define UGNI_DEBUG_HPP

namespace ugni
{

[[gnu::format(printf, 1, 2), gnu::cold]] void debug(const char *format, ...);

} // namespace ugni

#endif
