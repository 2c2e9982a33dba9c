// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "codec.hpp"

#include <algorithm>
#include <cstdint>

namespace pmi
{

namespace
{

constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* What the first character of a word or text says about the rest. */
constexpr char plain = '=', coded = '~', plain_word = 'k', coded_word = 'b';

bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       std::string_view("._:/-").find(c) != std::string_view::npos;
}

/* Printable, so that the line cannot be ended or trimmed by what is in it. */
bool is_text(char c)
{
	return c > ' ' && c < 0x7f;
}

int digit_of(char c)
{
	const size_t at = digits.find(c);
	return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

} // namespace

std::string encode64(std::string_view bytes)
{
	std::string out;
	out.reserve((bytes.size() * 4 + 2) / 3);
	uint32_t bits = 0;
	int have = 0;
	for (const char c : bytes) {
		bits = bits << 8 | static_cast<uint8_t>(c);
		for (have += 8; have >= 6; have -= 6)
			out.push_back(digits[bits >> (have - 6) & 63]);
	}
	if (have)
		out.push_back(digits[bits << (6 - have) & 63]);
	return out;
}

std::optional<std::string> decode64(std::string_view text)
{
	if (text.size() % 4 == 1)
		return std::nullopt;
	std::string out;
	out.reserve(text.size() * 3 / 4);
	uint32_t bits = 0;
	int have = 0;
	for (const char c : text) {
		const int digit = digit_of(c);
		if (digit < 0)
			return std::nullopt;
		bits = bits << 6 | static_cast<uint32_t>(digit);
		have += 6;
		if (have >= 8) {
			have -= 8;
			out.push_back(static_cast<char>(bits >> have));
		}
	}
	return out;
}

std::string key_word(std::string_view key)
{
	if (std::all_of(key.begin(), key.end(), is_word))
		return std::string(1, plain_word) + "." + std::string(key);
	return std::string(1, coded_word) + "." + encode64(key);
}

std::string value_text(std::string_view value)
{
	if (std::all_of(value.begin(), value.end(), is_text))
		return plain + std::string(value);
	return coded + encode64(value);
}

std::optional<std::string> text_value(std::string_view text)
{
	if (text.empty() || (text[0] != plain && text[0] != coded))
		return std::nullopt;
	if (text[0] == coded)
		return decode64(text.substr(1));
	return std::string(text.substr(1));
}

} // namespace pmi
