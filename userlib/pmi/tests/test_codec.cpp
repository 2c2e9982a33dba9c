// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file What libpmi makes of keys, values and the launcher's variables, without a service. */
#include "../../tests/cmocka_cpp.hpp"

#include "codec.hpp"
#include "environment.hpp"

#include <string>

using namespace pmi;

TEST(base64_returns_every_length)
{
	std::string bytes;
	for (int n = 0; n < 300; n++) {
		const auto back = decode64(encode64(bytes));
		assert_true(back && *back == bytes);
		bytes.push_back(static_cast<char>(n * 37));
	}
}

TEST(base64_refuses_what_it_is_not)
{
	assert_false(decode64("A").has_value());
	assert_false(decode64("AB CD").has_value());
	assert_false(decode64("AB==").has_value());
	assert_false(decode64("AAAAA").has_value());
	assert_true(decode64("").has_value());
}

TEST(keys_stay_different)
{
	assert_string_equal("k.plain-key", key_word("plain-key").c_str());
	assert_true(key_word("a b") != key_word("a+b"));
	/* an encoded key is not the plain key that looks like it */
	assert_true(key_word("a b") != key_word(key_word("a b")));
	assert_true(key_word("a b") != key_word(encode64("a b")));
	assert_true(key_word(std::string(63, ' ')).size() <= 100);
	assert_int_equal(std::string::npos, key_word("a b\n").find_first_of(" \n"));
}

TEST(values_survive)
{
	for (const char *text : {"", "x", "~x", "=x", "two words", "line\nline", "\x80\xff", " lead", "trail "}) {
		const std::string line = value_text(text);
		assert_int_equal(std::string::npos, line.find_first_of(" \n\r"));
		const auto back = text_value(line);
		assert_true(back && *back == text);
	}
	assert_false(text_value("").has_value());
	assert_false(text_value("bare").has_value());
	assert_false(text_value("~not base 64").has_value());
}

TEST(layouts)
{
	const auto nodes = parse_layout("0x2,3x1", 3);
	assert_true(nodes && *nodes == (std::vector<int>{0, 0, 3}));
	for (const char *bad : {"", "0", "0x", "x1", "0x2", "0x4", "0x2,", ",0x3", "0x2,1x1,", "0x-1,1x4", "0x0,1x3",
				"99999999x3", "0x2 ,1x1", "0x2147483647,1x1", "0x3\n"})
		assert_false(parse_layout(bad, 3).has_value());
}

TEST(mappings)
{
	assert_string_equal("", process_mapping({}).c_str());
	assert_string_equal("(vector,(0,1,1))", process_mapping({0}).c_str());
	assert_string_equal("(vector,(0,2,4))", process_mapping({0, 0, 0, 0, 1, 1, 1, 1}).c_str());
	assert_string_equal("(vector,(0,2,2),(2,1,1))", process_mapping({0, 0, 1, 1, 2}).c_str());
	assert_string_equal("(vector,(0,1,2),(1,1,3))", process_mapping({0, 0, 1, 1, 1}).c_str());
	assert_string_equal("(vector,(2,1,1),(0,2,1))", process_mapping({2, 0, 1}).c_str());
	assert_string_equal("(vector,(0,2,1),(0,1,1))", process_mapping({0, 1, 0}).c_str());
}

TEST_MAIN("tests")
