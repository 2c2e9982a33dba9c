// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "session.hpp"

#include "codec.hpp"
#include "debug.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <unistd.h>

namespace pmi
{

namespace
{

/* Bytes of a piece of a long value: encoded it fits into a line of the service. */
constexpr size_t piece_max = 45000;

} // namespace

template <typename Act> int Session::with_store(Act &&act)
{
	try {
		act();
		return PMI_SUCCESS;
	} catch (const kvs::Error &error) {
		debug("%s", error.what());
		return PMI_FAIL;
	}
}

namespace
{

/* Never destroyed: threads may still use it while the process ends. */
alignas(Session) std::byte the_session[sizeof(Session)];

void begin_in_child()
{
	Session::get().abandon();
	new (the_session) Session;
}

[[gnu::constructor]] void loaded()
{
	new (the_session) Session;
	(void)pthread_atfork(nullptr, nullptr, begin_in_child);
}

} // namespace

Session &Session::get()
{
	return *std::launder(reinterpret_cast<Session *>(the_session));
}

void Session::abandon()
{
	if (store_)
		store_->abandon();
}

bool Session::open() const
{
	return users_ > 0 && pid_ == getpid();
}

int Session::init()
{
	if (open()) {
		users_++;
		return PMI_SUCCESS;
	}
	/* In a child that no handler of pthread_atfork() has seen: the connection is the parent's. */
	if (store_ && pid_ != getpid()) {
		store_->abandon();
		(void)store_.release();
	}
	store_.reset();
	const auto place = place_from_environment();
	if (!place)
		return PMI_FAIL;
	if (place->size > 1)
		if (int rc = with_store([&] {
			    store_ = kvs::open_store(place->service, place->job, place->rank, place->answer_ms());
		    }))
			return rc;
	place_ = *place;
	own_.clear();
	put_now_.clear();
	put_before_.clear();
	round_ = 0;
	pid_ = getpid();
	users_ = 1;
	return PMI_SUCCESS;
}

int Session::finalize()
{
	if (--users_ == 0)
		store_.reset();
	return PMI_SUCCESS;
}

int Session::put(const std::string &key, const std::string &value)
{
	if (place_.size == 1) {
		own_[key] = value_text(value);
		return PMI_SUCCESS;
	}
	return with_store([&] { store_->put(key, value_text(value)); });
}

int Session::get(const std::string &key, std::string &value, bool wait)
{
	std::optional<std::string> text;
	if (place_.size == 1) {
		if (const auto found = own_.find(key); found != own_.end())
			text = found->second;
	} else if (int rc = with_store([&] { text = store_->get(key, wait ? place_.wait_ms : 0); })) {
		return rc;
	}
	if (!text)
		return wait && place_.size > 1 ? PMI_FAIL : PMI_ERR_INVALID_KEY;
	const auto bytes = text_value(*text);
	if (!bytes) {
		debug("key %.80s has a value that libpmi has not put", key.c_str());
		return PMI_FAIL;
	}
	value = *bytes;
	return PMI_SUCCESS;
}

int Session::del(const std::string &key)
{
	if (place_.size == 1) {
		own_.erase(key);
		return PMI_SUCCESS;
	}
	return with_store([&] { store_->del(key); });
}

int Session::barrier()
{
	if (place_.size == 1)
		return PMI_SUCCESS;
	return with_store([&] { store_->barrier("pmi", place_.size, place_.wait_ms); });
}

int Session::ticket(const std::string &key, long &number)
{
	if (place_.size == 1) {
		number = static_cast<long>(++round_);
		return PMI_SUCCESS;
	}
	return with_store([&] { number = store_->add(key, 1); });
}

/* A long value goes in pieces; the first says how long all of it is. */
int Session::put_bytes(const std::string &key, const std::string &bytes)
{
	size_t at = 0, piece = 0;
	do {
		const std::string text = encode64(std::string_view(bytes).substr(at, piece_max));
		const std::string name = key + "/" + std::to_string(piece++);
		if (int rc = with_store([&] { store_->put(name, std::to_string(bytes.size()) + ":" + text); }))
			return rc;
		put_now_.push_back(name);
		at += std::min(piece_max, bytes.size() - at);
	} while (at < bytes.size());
	return PMI_SUCCESS;
}

int Session::get_bytes(const std::string &key, std::string &bytes)
{
	bytes.clear();
	for (size_t piece = 0;; piece++) {
		std::optional<std::string> text;
		const std::string name = key + "/" + std::to_string(piece);
		if (int rc = with_store([&] { text = store_->get(name, place_.wait_ms); }))
			return rc;
		if (!text) {
			debug("nobody has put %.80s within %ld ms", name.c_str(), place_.wait_ms);
			return PMI_FAIL;
		}
		const size_t colon = text->find(':');
		const auto part =
			colon == std::string::npos ? std::nullopt : decode64(std::string_view(*text).substr(colon + 1));
		if (!part)
			return PMI_FAIL;
		bytes += *part;
		const size_t whole = strtoul(text->c_str(), nullptr, 10);
		if (bytes.size() >= whole || part->empty())
			return bytes.size() == whole ? PMI_SUCCESS : PMI_FAIL;
	}
}

/* Who has seen a round's keys of all ranks knows that all have seen those of the round before. */
int Session::drop_previous()
{
	for (const std::string &key : put_before_)
		if (int rc = with_store([&] { store_->del(key); }))
			return rc;
	put_before_ = std::move(put_now_);
	put_now_.clear();
	return PMI_SUCCESS;
}

int Session::gather(const std::string &mine, std::vector<std::string> &all)
{
	all.assign(static_cast<size_t>(place_.size), mine);
	if (place_.size == 1)
		return PMI_SUCCESS;
	const std::string round = "pmi/gather/" + std::to_string(round_++) + "/";
	if (int rc = put_bytes(round + std::to_string(place_.rank), mine))
		return rc;
	for (int rank = 0; rank < place_.size; rank++)
		if (rank != place_.rank)
			if (int rc = get_bytes(round + std::to_string(rank), all[static_cast<size_t>(rank)]))
				return rc;
	return drop_previous();
}

int Session::broadcast(std::string &bytes)
{
	if (place_.size == 1)
		return PMI_SUCCESS;
	const std::string round = "pmi/gather/" + std::to_string(round_++) + "/0";
	if (place_.rank == 0) {
		if (int rc = put_bytes(round, bytes))
			return rc;
	} else if (int rc = get_bytes(round, bytes)) {
		return rc;
	}
	/* Nothing tells rank 0 that the others have read: its keys stay until the next gather. */
	return PMI_SUCCESS;
}

int copy_text(const std::string &text, char *to, int length)
{
	if (length <= 0 || text.size() >= static_cast<size_t>(length))
		return PMI_ERR_INVALID_LENGTH;
	memcpy(to, text.c_str(), text.size() + 1);
	return PMI_SUCCESS;
}

int check_key(const char *key)
{
	if (!key || !*key)
		return PMI_ERR_INVALID_KEY;
	return strnlen(key, key_max) < key_max ? PMI_SUCCESS : PMI_ERR_INVALID_KEY_LENGTH;
}

int check_value(const char *value)
{
	if (!value)
		return PMI_ERR_INVALID_VAL;
	return strnlen(value, value_max) < value_max ? PMI_SUCCESS : PMI_ERR_INVALID_VAL_LENGTH;
}

} // namespace pmi
