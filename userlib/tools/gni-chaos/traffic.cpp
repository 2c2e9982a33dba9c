// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "traffic.h"

#include <time.h>

#include <cinttypes>
#include <cstddef>
#include <cstring>

#include "common/failure.h"
#include "common/pattern.h"

namespace chaos
{

using tools::Failure;
using tools::format;

namespace
{

constexpr size_t result_at = 0; /* in the scratch memory: what was read */
constexpr size_t source_at = 20480;
constexpr size_t fma_most = 2048;
constexpr size_t history_most = 24;

size_t pick(std::mt19937_64 &random, size_t below)
{
	return static_cast<size_t>(random() % below);
}

} // namespace

Traffic::Traffic(Session &session, int to) : session_(session), to_(to), shadow_(slot_data) {}

void Traffic::remember(std::string what)
{
	history_.push_back(std::move(what));
	if (history_.size() > history_most)
		history_.pop_front();
}

Outcome Traffic::execute(gni_post_descriptor_t &d)
{
	const uint64_t begun = tools::now_ns();
	const Outcome outcome = session_.execute(to_, d);

	remember(format("%.6f type %d of %" PRIu64 " bytes at 0x%" PRIx64 ", life %" PRIu64 ", %s after %" PRIu64 " us",
			static_cast<double>(begun) / 1e9, int(d.type), d.length,
			d.remote_addr - session_.address(to_).window, session_.address(to_).life,
			outcome == Outcome::Ok ? "ok" : "failed", (tools::now_ns() - begun) / 1000));
	return outcome;
}

Outcome Traffic::read(size_t at, size_t size)
{
	gni_post_descriptor_t d = session_.descriptor(GNI_POST_FMA_GET, to_, result_at, at, size);

	/* what is not overwritten is not taken for an answer */
	memset(session_.scratch() + result_at, 0x5a, size);
	return execute(d);
}

bool Traffic::same_life()
{
	uint64_t life = 0;

	if (read(Session::slot_at(session_.rank()) + offsetof(Slot, life), sizeof(life)) != Outcome::Ok)
		return false;
	memcpy(&life, session_.scratch() + result_at, sizeof(life));
	return life == session_.address(to_).life;
}

unsigned Traffic::complain(const std::string &what)
{
	if (same_life()) {
		std::string text = format(
			"worker %d, life %" PRIu64 ", to worker %d, life %" PRIu64 ": %s; before:", session_.rank(),
			session_.life(), to_, session_.address(to_).life, what.c_str());
		for (const std::string &step : history_)
			text += "\n    " + step;
		throw Failure(text);
	}
	unknown_ = true;
	return 0;
}

/* All of the slot is written, and what counts is read, so that everything is known again. */
bool Traffic::synchronize(std::mt19937_64 &random)
{
	const size_t at = Session::slot_at(session_.rank());
	Header header = {};
	Slot slot = {};

	tools::pattern_fill(shadow_.data(), slot_data, random());
	memcpy(session_.scratch() + source_at, shadow_.data(), slot_data);
	gni_post_descriptor_t d = session_.descriptor(GNI_POST_RDMA_PUT, to_, source_at, at + slot_head, slot_data);
	if (execute(d) != Outcome::Ok || read(at, sizeof(slot)) != Outcome::Ok)
		return false;
	memcpy(&slot, session_.scratch() + result_at, sizeof(slot));
	if (slot.life != session_.address(to_).life || read(0, sizeof(header)) != Outcome::Ok)
		return false;
	memcpy(&header, session_.scratch() + result_at, sizeof(header));
	if (header.life != session_.address(to_).life)
		return false;
	word_least_ = word_most_ = slot.word;
	remember(format("synchronized, word %" PRIu64, slot.word));
	/* Events of earlier lives do not count; those of this one may be in the queue still, unless they were lost. */
	if (events_life_ != header.life)
		events_least_ = events_most_ = 0;
	else if (overruns_ != header.overruns)
		events_least_ = session_.seen(header);
	events_life_ = header.life;
	overruns_ = header.overruns;
	unknown_ = false;
	return true;
}

unsigned Traffic::put(std::mt19937_64 &random, bool block, bool event)
{
	const size_t size = 8 * (1 + pick(random, (block ? slot_data : fma_most) / 8));
	const size_t at = 8 * pick(random, (slot_data - size) / 8 + 1);
	gni_post_descriptor_t d = session_.descriptor(block ? GNI_POST_RDMA_PUT : GNI_POST_FMA_PUT, to_, source_at,
						      Session::slot_at(session_.rank()) + slot_head + at, size);

	tools::pattern_fill(session_.scratch() + source_at, size, random());
	if (event) {
		d.cq_mode |= GNI_CQMODE_REMOTE_EVENT;
		events_most_++;
	}
	if (execute(d) != Outcome::Ok) {
		unknown_ = true;
		return 0;
	}
	events_least_ += event;
	memcpy(shadow_.data() + at, session_.scratch() + source_at, size);
	return block ? lap_block : lap_put;
}

/* What was read from @p at on against what should be there. */
Traffic::Difference Traffic::compare(size_t at, size_t size) const
{
	const uint8_t *got = session_.scratch() + result_at;
	Difference wrong;

	for (size_t i = 0; i < size; i++) {
		if (got[i] == shadow_[at + i])
			continue;
		wrong.first = wrong.bytes++ ? wrong.first : i;
		wrong.last = i;
	}
	return wrong;
}

unsigned Traffic::get(std::mt19937_64 &random, bool block)
{
	const size_t size = 8 * (1 + pick(random, (block ? slot_data : fma_most) / 8));
	const size_t at = 8 * pick(random, (slot_data - size) / 8 + 1);
	gni_post_descriptor_t d = session_.descriptor(block ? GNI_POST_RDMA_GET : GNI_POST_FMA_GET, to_, result_at,
						      Session::slot_at(session_.rank()) + slot_head + at, size);

	memset(session_.scratch() + result_at, 0x5a, size);
	if (execute(d) != Outcome::Ok)
		return 0;
	const Difference wrong = compare(at, size);
	if (wrong.bytes) {
		/* late, or wrong for good? */
		const timespec moment = {0, 100000000};
		nanosleep(&moment, nullptr);
		const bool again = execute(d) == Outcome::Ok;
		return complain(format("%s get of %zu bytes at %zu: %zu are wrong, from %zu to %zu; %zu a moment later",
				       block ? "block" : "FMA", size, at, wrong.bytes, at + wrong.first,
				       at + wrong.last, again ? compare(at, size).bytes : size_t{0}));
	}
	return lap_get;
}

unsigned Traffic::atomic()
{
	gni_post_descriptor_t d = session_.descriptor(GNI_POST_AMO, to_, result_at,
						      Session::slot_at(session_.rank()) + offsetof(Slot, word), 8);
	uint64_t before = 0;

	d.amo_cmd = GNI_FMA_ATOMIC_FADD;
	d.first_operand = 1;
	memset(session_.scratch() + result_at, 0x5a, sizeof(before));
	word_most_++;
	if (execute(d) != Outcome::Ok)
		return 0;
	memcpy(&before, session_.scratch() + result_at, sizeof(before));
	remember(format("addition returned %" PRIu64 ", expected %" PRIu64 " to %" PRIu64, before, word_least_,
			word_most_ - 1));
	if (before < word_least_ || before >= word_most_)
		return complain(format("an addition returned %" PRIu64 ", not %" PRIu64 " to %" PRIu64, before,
				       word_least_, word_most_ - 1));
	word_least_ = word_most_ = before + 1;
	return lap_atomic;
}

/* Has the other one got all events? They are in its queue when the put is over; it has to take them. */
unsigned Traffic::audit()
{
	Header header = {};

	if (read(0, sizeof(header)) != Outcome::Ok)
		return 0;
	memcpy(&header, session_.scratch() + result_at, sizeof(header));
	if (header.life != session_.address(to_).life) {
		unknown_ = true;
		return 0;
	}
	const uint64_t seen = session_.seen(header);
	if (header.overruns != overruns_) { /* a mark: they may be lost, and it was told */
		unknown_ = true;
		return 0;
	}
	if (seen > events_most_)
		return complain(
			format("%" PRIu64 " remote events, at most %" PRIu64 " were caused", seen, events_most_));
	return events_least_ && seen >= events_least_ ? unsigned{lap_event} : 0;
}

std::string Traffic::state() const
{
	return format("worker %d: life %" PRIu64 "%s, %" PRIu64 " to %" PRIu64 " remote events, %" PRIu64 " to %" PRIu64
		      " additions",
		      to_, session_.address(to_).life, unknown_ ? " (not synchronized)" : "", events_least_,
		      events_most_, word_least_, word_most_);
}

unsigned Traffic::step(std::mt19937_64 &random)
{
	if (!session_.address(to_).life)
		return 0;
	if (unknown_ && !synchronize(random))
		return 0;
	switch (pick(random, 8)) {
	case 0:
		return put(random, false, false);
	case 1:
		return put(random, false, true);
	case 2:
		return put(random, true, pick(random, 2));
	case 3:
		return get(random, false);
	case 4:
		return get(random, true);
	case 5:
		return audit();
	default:
		return atomic();
	}
}

} // namespace chaos
