// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include <cinttypes>
#include <cstring>
#include <memory>

#include "common/failure.h"
#include "common/pattern.h"
#include "stage.h"
#include "wire.h"

namespace isolation
{

using tools::format;

namespace
{

constexpr uint32_t modes = GNI_CDM_MODE_ERR_NO_KILL | GNI_CDM_MODE_FORK_FULLCOPY;
constexpr uint32_t inst_id = 0x200;

/** A registered region between two guard pages that are not registered. */
class Region
{
public:
	Region(gni_nic_handle_t nic, uint64_t seed, uint32_t flags)
		: memory_(region_bytes + 2 * page_bytes), seed_(seed),
		  registration_(nic, memory_.data() + page_bytes, region_bytes, nullptr, flags)
	{
		tools::pattern_fill(memory_.data(), memory_.size(), seed_);
	}

	Target target() const
	{
		return {reinterpret_cast<uint64_t>(memory_.data() + page_bytes), region_bytes, registration_.handle()};
	}

	void deregister() { registration_.release(); }

	/** Empty when no byte was changed. */
	std::string changed() const
	{
		tools::Mismatch m = tools::pattern_check(memory_.data(), memory_.size(), seed_);
		if (!m.found)
			return "";
		return format("byte %" PRId64 " of a region was 0x%02x and is 0x%02x", m.offset - 4096, m.expected,
			      m.got);
	}

	/** Takes the contents as they are for the right ones, after a write that was allowed. */
	bool restore()
	{
		bool was_written = !changed().empty();
		tools::pattern_fill(memory_.data(), memory_.size(), seed_);
		return was_written;
	}

private:
	tools::Memory memory_;
	uint64_t seed_;
	tools::Registration registration_;
};

class VictimMemory
{
public:
	explicit VictimMemory(const tools::Place &place)
		: domain_(inst_id, place.cookie, modes, place.device), open_(domain_.nic(), 1, GNI_MEM_READWRITE),
		  other_(domain_.nic(), 2, GNI_MEM_READWRITE), read_only_(domain_.nic(), 3, GNI_MEM_READ_ONLY),
		  stale_(domain_.nic(), 4, GNI_MEM_READWRITE)
	{
	}

	Targets targets() const
	{
		Targets t;
		memset(&t, 0, sizeof(t));
		t.pe = domain_.pe();
		t.inst_id = inst_id;
		t.open = open_.target();
		t.other = other_.target();
		t.read_only = read_only_.target();
		t.stale = stale_.target();
		return t;
	}

	void deregister() { stale_.deregister(); }
	bool restore_open() { return open_.restore(); }

	std::string changed() const
	{
		for (const Region *region : {&open_, &other_, &read_only_, &stale_})
			if (std::string text = region->changed(); !text.empty())
				return text;
		return "";
	}

private:
	tools::Domain domain_;
	Region open_, other_, read_only_, stale_;
};

void print_line(size_t number, const Attack &attack, bool ok, const std::string &text, const std::string &problem)
{
	printf("%s %zu - %s # %s%s%s\n", ok ? "ok" : "not ok", number, attack.name, text.c_str(),
	       problem.empty() ? "" : "; ", problem.c_str());
	fflush(stdout);
}

} // namespace

int run_victim(const tools::Place &place, tools::Kvs &kvs, double timeout)
{
	VictimMemory memory(place);
	Targets targets = memory.targets();
	kvs.put("iso/targets", to_hex(&targets, sizeof(targets)));
	printf("TAP version 13\n1..%zu\n", attacks().size());

	bool all = true;
	for (size_t n = 0; n < attacks().size(); n++) {
		const Attack &attack = attacks()[n];
		if (attack.victim == Victim::Deregister)
			memory.deregister();
		kvs.put(format("iso/go/%zu", n), "go");
		std::string answer = kvs.get(format("iso/done/%zu", n), tools::Deadline(timeout));
		bool right = !answer.empty() && answer[0] == '1';
		std::string problem;
		if (attack.victim == Victim::ExpectWrite && !memory.restore_open())
			problem = "an allowed write did not arrive";
		else
			problem = memory.changed();
		bool ok = right && problem.empty();
		all = all && ok;
		print_line(n + 1, attack, ok, answer.size() > 2 ? answer.substr(2) : "", problem);
	}
	return all ? 0 : 1;
}

} // namespace isolation
