// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "model_place.hpp"
#include "entry.hpp"
#include "model_kernel.hpp"
#include "objects.hpp"
#include "place.hpp"

#include <cstring>

namespace job
{

namespace
{

constexpr uint32_t kCookie = 0x00800000;
constexpr uint8_t kPtag = 33;

struct Pe {
	dmapp::Instance *instance = nullptr;
	dmapp_jobinfo_t info{};
	unsigned char *data = nullptr;
};

std::vector<Pe> pes;
int chosen;
Trouble expected;
/* Every PE's is filled in when the last one has come: they begin one after the other. nullptr: it has given up. */
std::vector<char *> cards;
std::vector<char> given;

} // namespace

void choose(int pe)
{
	chosen = pe;
	dmapp::current = pes.at(static_cast<size_t>(pe)).instance;
}

const dmapp_jobinfo_t &info(int pe)
{
	return pes.at(static_cast<size_t>(pe)).info;
}

unsigned char *data(int pe)
{
	return pes.at(static_cast<size_t>(pe)).data;
}

void trouble(Trouble what)
{
	expected = what;
}

void prepare(int npes)
{
	model::start(static_cast<uint32_t>(npes));
	model::allow(kCookie, kPtag);
	pes.assign(static_cast<size_t>(npes), {});
	cards.assign(static_cast<size_t>(npes), nullptr);
	given.clear();
	for (int pe = 0; pe < npes; pe++)
		pes[static_cast<size_t>(pe)].data = model::memory(static_cast<uint32_t>(pe), kDataBytes);
}

void end(int pe)
{
	choose(pe);
	assert_dmapp(SUCCESS, dmapp_finalize());
	ended(pe);
}

void ended(int pe)
{
	pes.at(static_cast<size_t>(pe)).instance = nullptr;
}

void start(int npes, dmapp_rma_attrs_ext_t *wanted)
{
	prepare(npes);
	for (int pe = 0; pe < npes; pe++) {
		Pe &mine = pes[static_cast<size_t>(pe)];

		choose(pe);
		assert_dmapp(SUCCESS, dmapp_init_ext(wanted, nullptr));
		mine.instance = dmapp::current;
	}
	for (int pe = 0; pe < npes; pe++) {
		choose(pe);
		assert_dmapp(SUCCESS, dmapp_get_jobinfo(&pes[static_cast<size_t>(pe)].info));
	}
	choose(0);
}

void stop()
{
	for (size_t pe = 0; pe < pes.size(); pe++) {
		choose(static_cast<int>(pe));
		if (dmapp::current)
			(void)dmapp_finalize();
	}
	pes.clear();
	model::stop();
}

void kill(int pe)
{
	model::kill(static_cast<uint32_t>(pe));
}

void reset(int pe)
{
	memset(pes.at(static_cast<size_t>(pe)).instance->nic()->area, 0xff, ARIES_DESC_STRIDE);
}

size_t endpoints(int pe)
{
	size_t count = 0;

	for (const gni_ep *ep = pes.at(static_cast<size_t>(pe)).instance->nic()->endpoints.first(); ep; ep = ep->next)
		count++;
	return count;
}

} // namespace job

namespace dmapp::place
{

using namespace job;

bool open(Job *j)
{
	*j = {chosen, static_cast<int>(pes.size()), kCookie, static_cast<uint32_t>(chosen)};
	return expected != Trouble::no_launcher;
}

void close()
{
	if (!cards.empty())
		cards[static_cast<size_t>(chosen)] = nullptr;
}

bool allgather(void *mine, void *all, int bytes)
{
	const auto size = static_cast<size_t>(bytes);

	given.resize(size * pes.size());
	memcpy(given.data() + size * static_cast<size_t>(chosen), mine, size);
	cards[static_cast<size_t>(chosen)] = static_cast<char *>(all);
	memset(all, 0, size * pes.size());
	for (char *each : cards) {
		if (each && static_cast<size_t>(chosen) + 1 == pes.size())
			memcpy(each, given.data(), given.size());
	}
	if (expected == Trouble::other_fails)
		static_cast<Card *>(all)->code = DMAPP_RC_NO_SPACE;
	return true;
}

Range data_segment()
{
	return {data(chosen), kDataBytes};
}

void *heap_map(size_t bytes)
{
	return expected == Trouble::no_heap || !bytes ? nullptr : model::memory(static_cast<uint32_t>(chosen), bytes);
}

void heap_unmap(void *, size_t) {}

void *pages(size_t bytes)
{
	return model::memory(static_cast<uint32_t>(chosen), bytes);
}

void pages_end(void *, size_t) {}

} // namespace dmapp::place
