// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * JSON that a tool prints. Only json.cpp includes the library that makes it, whose headers take long to compile.
 */
#ifndef TOOLS_JSON_H
#define TOOLS_JSON_H

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace tools
{

/** A value; members of an object keep the order in which they were set. */
class Json
{
public:
	struct Member;

	Json(std::nullptr_t = nullptr);
	Json(bool value);
	Json(double value);
	Json(const std::string &value);
	Json(const char *value) : Json(std::string(value)) {}
	template <std::signed_integral Number> Json(Number value) : Json(Signed{value}) {}
	template <std::unsigned_integral Number> Json(Number value) : Json(Unsigned{value}) {}
	/** null if there is none */
	template <typename Value> Json(const std::optional<Value> &value) : Json(value ? Json(*value) : Json()) {}
	/** an object */
	Json(std::initializer_list<Member> members);
	template <typename Value> Json(const std::map<std::string, Value> &members) : Json(object())
	{
		for (const auto &[name, value] : members)
			set(name, value);
	}
	static Json object();
	static Json array();

	Json(const Json &other);
	Json(Json &&other) noexcept;
	Json &operator=(Json other) noexcept;
	~Json();

	/** Sets a member of an object. */
	void set(const std::string &name, Json value);
	/** Adds an element to an array. */
	void add(Json value);

	/**
	 * @param indent spaces for each level; below 0: all in one line
	 * Bytes that are no UTF-8 become U+FFFD.
	 */
	std::string text(int indent = -1) const;

private:
	struct Signed {
		int64_t value;
	};
	struct Unsigned {
		uint64_t value;
	};
	struct Value;

	Json(Signed number);
	Json(Unsigned number);

	std::unique_ptr<Value> value_;
};

/** Of an object. */
struct Json::Member {
	std::string name;
	Json value;
};

} // namespace tools

#endif // TOOLS_JSON_H
