// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * The two actors. The victim owns memory and looks after each attack whether it is unchanged; the attacker tells
 * through the key-value store what it got.
 */
#ifndef GNI_ISOLATION_STAGE_H
#define GNI_ISOLATION_STAGE_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/gni.h"
#include "common/kvs.h"
#include "common/place.h"

namespace isolation
{

constexpr size_t page_bytes = 4096;
constexpr size_t region_bytes = 4 * page_bytes;

/** A region of the victim, as the attacker learns of it. */
struct Target {
	uint64_t address;
	uint64_t bytes;
	gni_mem_handle_t handle;
};

/** What the victim publishes at the start. */
struct Targets {
	uint32_t pe;
	uint32_t inst_id;
	Target open;  /* read and write */
	Target other; /* another one of the same domain */
	Target read_only;
	Target stale; /* is deregistered before the attack of that name */
};

/** What an attack yielded. */
struct Outcome {
	bool right; /* refused, and the cause was named */
	std::string text;
};

/** Things that the victim does before or after an attack. */
enum class Victim { Nothing, Deregister, ExpectWrite };

/** Attacker's tools. */
class Attacker
{
public:
	Attacker(const tools::Place &place, const Targets &targets);

	const tools::Place &place() const { return place_; }
	const Targets &targets() const { return targets_; }

	/** Domain of the victim, and another one. */
	enum class Side { Same, Foreign };

	/** A transfer of @p bytes (8 for an atomic) between own memory and the target. */
	gni_post_descriptor_t describe(gni_post_type_t type, Side side, const Target &target, uint64_t address,
				       uint64_t bytes) const;

	/** Posts; the outcome is right when the NIC refused with ARIES_ST_* @p status. */
	Outcome expect_status(Side side, gni_post_descriptor_t &d, uint64_t status) const;

	/** The same with several that are right. */
	Outcome expect_one_of(Side side, gni_post_descriptor_t &d, std::span<const uint64_t> statuses) const;

	/** Posts; right when the call itself refused with @p rc or the NIC with @p status. */
	Outcome expect_refusal(Side side, gni_post_descriptor_t &d, gni_return_t rc, uint64_t status) const;

	/** Posts; right when it succeeds. */
	Outcome expect_success(Side side, gni_post_descriptor_t &d) const;

	uint8_t *memory() const { return memory_.data(); }
	const gni_mem_handle_t &handle(Side side) const;

	/** Endpoint to a node that does not exist. */
	const tools::Endpoint &nowhere() const { return nowhere_; }
	const tools::Queue &queue() const { return queue_; }

private:
	struct Result {
		gni_return_t post;  /* of the post call */
		gni_return_t event; /* of the event, if the call succeeded */
		gni_cq_entry_t entry;
	};

	Result post(Side side, gni_post_descriptor_t &d) const;

	const tools::Place &place_;
	const Targets &targets_;
	tools::Domain domain_, foreign_;
	tools::Queue queue_, foreign_queue_;
	tools::Memory memory_;
	tools::Registration registration_, foreign_registration_;
	tools::Endpoint endpoint_, foreign_endpoint_, nowhere_;
};

/** One attack. */
struct Attack {
	const char *name;
	Victim victim;
	Outcome (*run)(const Attacker &);
};

const std::vector<Attack> &attacks();

/** Owns the regions, prints TAP. Returns the exit status. */
int run_victim(const tools::Place &place, tools::Kvs &kvs, double timeout);

/** Runs the attacks. Returns the exit status. */
int run_attacker(const tools::Place &place, tools::Kvs &kvs, double timeout);

} // namespace isolation

#endif // GNI_ISOLATION_STAGE_H
