/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What calls of the C interface fail with. */
#ifndef ARIES_FABRIC_ERROR_HPP
#define ARIES_FABRIC_ERROR_HPP

#include <stdexcept>

namespace aries
{

/** Failure of a call of the C interface; the text is one line with cause and way out. */
class Error : public std::runtime_error
{
public:
	using std::runtime_error::runtime_error;
};

} // namespace aries

#endif
