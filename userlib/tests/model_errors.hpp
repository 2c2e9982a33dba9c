// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Subscriptions to the error events of a node, as the driver keeps them. */
#ifndef UGNI_TESTS_MODEL_ERRORS_HPP
#define UGNI_TESTS_MODEL_ERRORS_HPP

#include "uapi/kgni_abi.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>

namespace model
{

class Node;

class ErrorEvents
{
public:
	explicit ErrorEvents(Node &node) : node_(node) {}

	/* The requests of open file @fd. Return: 0 or -errno. */
	int subscribe(int fd, kgni_err_subscribe *s, const std::map<uint32_t, uint8_t> &tags);
	int read(int fd, kgni_err_read *r);
	int control(int fd, kgni_err_control *c);
	void close(int fd);

private:
	struct Subscription {
		uint8_t mask;
		uint8_t ptag;
		uint32_t entries;
		uint32_t serial;
		uint64_t lost;
		std::deque<kgni_err_event> events;
	};
	bool drain();
	bool filled(int fd, uint32_t wanted);

	Node &node_;
	std::mutex mutex_; /* protects the rest */
	std::map<int, Subscription> subscriptions_;
};

} // namespace model

#endif
