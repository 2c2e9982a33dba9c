// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file How keys and values of any bytes become words and rests of lines of the key-value service. */
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pmi
{

/** Base 64 with '-' and '_', without padding. */
std::string encode64(std::string_view bytes);

/** The other way; none if @p text is not of that form. */
std::optional<std::string> decode64(std::string_view text);

/** A key as a word of the service: as it is where the service allows it, else encoded. Different keys stay different.
 */
std::string key_word(std::string_view key);

/** A value as the rest of a line; never empty. */
std::string value_text(std::string_view value);

/** The other way; none for what value_text() did not make. */
std::optional<std::string> text_value(std::string_view text);

} // namespace pmi
