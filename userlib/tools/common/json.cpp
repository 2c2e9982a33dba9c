// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "json.h"

#include <utility>

#include <nlohmann/json.hpp>

namespace tools
{

using Library = nlohmann::ordered_json;

struct Json::Value {
	Library is;
};

Json::Json(std::nullptr_t) : value_(new Value{nullptr}) {}
Json::Json(bool value) : value_(new Value{value}) {}
Json::Json(double value) : value_(new Value{value}) {}
Json::Json(const std::string &value) : value_(new Value{value}) {}
Json::Json(Signed number) : value_(new Value{number.value}) {}
Json::Json(Unsigned number) : value_(new Value{number.value}) {}

Json::Json(std::initializer_list<Member> members) : Json(object())
{
	for (const Member &member : members)
		set(member.name, member.value);
}

Json Json::object()
{
	Json made;
	made.value_->is = Library::object();
	return made;
}

Json Json::array()
{
	Json made;
	made.value_->is = Library::array();
	return made;
}

Json::Json(const Json &other) : value_(new Value{*other.value_}) {}
Json::Json(Json &&other) noexcept = default;
Json::~Json() = default;

Json &Json::operator=(Json other) noexcept
{
	value_ = std::move(other.value_);
	return *this;
}

void Json::set(const std::string &name, Json value)
{
	value_->is[name] = std::move(value.value_->is);
}

void Json::add(Json value)
{
	value_->is.push_back(std::move(value.value_->is));
}

std::string Json::text(int indent) const
{
	return value_->is.dump(indent, ' ', false, Library::error_handler_t::replace);
}

} // namespace tools
