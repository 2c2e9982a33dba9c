/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/tables/amo_cache.hpp"

#include <algorithm>

namespace aries
{

namespace
{

/* AmoLine::place of the word in which an operand of @bytes lies. */
uint64_t place_of(uint64_t address, uint32_t bytes)
{
	return (address & ~uint64_t(AMO_CACHE_WORD - 1)) | AMO_PRESENT | (bytes < AMO_CACHE_WORD ? AMO_NARROW : 0);
}

uint64_t word_of(uint64_t place)
{
	return place & ~(AMO_TWICE | AMO_LOST_TOLD | uint64_t(AMO_CACHE_WORD - 1));
}

/* Parts of a line that are words of their own. */
struct Parts {
	uint64_t mask[2];
};

Parts parts(uint64_t place)
{
	return place & AMO_NARROW ? Parts{{UINT32_MAX, ~uint64_t(UINT32_MAX)}} : Parts{{~uint64_t(0), 0}};
}

/* @theirs where it differs from @before, else @ours, part by part. */
uint64_t merge(uint64_t place, uint64_t theirs, uint64_t before, uint64_t ours)
{
	uint64_t result = 0;

	for (uint64_t mask : parts(place).mask)
		result |= mask & ((theirs ^ before) & mask ? theirs : ours);
	return result;
}

uint64_t *word_in(const RamMap &ram, uint64_t place)
{
	return reinterpret_cast<uint64_t *>(ram.span(word_of(place), AMO_CACHE_WORD));
}

/* Readers without the lock take a line for what it is only while place is set. */
void clear(AmoLine &line)
{
	line.place.store(0);
	line.tag.store(0);
}

/** What the lock of a set protects. */
class Set
{
public:
	Set(AmoCacheSlot &slot, uint32_t number) noexcept : lock_(slot.lock[number]) {}

	std::atomic<uint32_t> &lock() noexcept { return lock_; }
	/* Each line is right at every instruction of a change, or is seen to be none; AmoLine. */
	bool repair() noexcept { return true; }

private:
	std::atomic<uint32_t> &lock_;
};

bool overlaps(const uint8_t *word, const Run &run)
{
	return word < run.host + run.bytes && run.host < word + AMO_CACHE_WORD;
}

} // namespace

bool AmoCache::use(uint32_t mdh, uint64_t offset) noexcept
{
	const uint64_t tag = name(mdh, offset);
	const uint32_t set = set_of(offset);

	if (holds(mdh, offset)) {
		slot_.hits.fetch_add(1, std::memory_order_relaxed);
		return true;
	}
	slot_.misses.fetch_add(1, std::memory_order_relaxed);
	mend_name(set, tag);
	settle_twins(set, insert(set, tag), tag);
	return false;
}

/* An empty way if there is one, else that of the word which came first. Return: the way */
uint32_t AmoCache::insert(uint32_t set, uint64_t tag) noexcept
{
	for (uint32_t way = 0; way < AMO_CACHE_WAYS; way++) {
		uint64_t empty = 0;

		if (slot_.line[set][way].tag.compare_exchange_strong(empty, tag))
			return way;
	}
	const uint32_t way = slot_.next[set].fetch_add(1) % AMO_CACHE_WAYS;
	const uint64_t before = slot_.line[set][way].tag.exchange(tag);

	if (before && before != tag)
		slot_.evictions.fetch_add(1, std::memory_order_relaxed);
	return way;
}

/* Another initiator may have brought the same word in at the same time: the lower way stays. */
void AmoCache::settle_twins(uint32_t set, uint32_t mine, uint64_t tag) noexcept
{
	for (uint32_t way = 0; way < AMO_CACHE_WAYS; way++) {
		uint64_t same = tag;

		if (way != mine && slot_.line[set][way].tag.load() == tag)
			slot_.line[set][std::max(way, mine)].tag.compare_exchange_strong(same, 0);
	}
}

void AmoCache::drop(uint32_t mdh) noexcept
{
	for (auto &set : slot_.line) {
		for (AmoLine &line : set) {
			uint64_t tag = line.tag.load(std::memory_order_relaxed);

			if (tag && mdh_of(tag) == mdh && !line.place.load())
				line.tag.compare_exchange_strong(tag, 0);
		}
	}
}

void AmoCache::reset() noexcept
{
	for (auto &set : slot_.line) {
		for (AmoLine &line : set)
			clear(line);
	}
	for (auto &next : slot_.next)
		next.store(0);
	slot_.hits.store(0);
	slot_.misses.store(0);
	slot_.evictions.store(0);
	slot_.updates.store(0);
}

void AmoCache::found(const AmoLine &line, bool twice) const noexcept
{
	if (core_)
		ecc_found(*core_, node_, ARIES_RAS_AMO, uint32_t(&line - &slot_.line[0][0]), twice,
			  uint16_t(mdh_of(line.tag.load())));
}

/* A name without contents: host memory has the value, and the command which comes here brings the name in again. */
void AmoCache::mend_name(uint32_t set, uint64_t tag) noexcept
{
	for (AmoLine &line : slot_.line[set]) {
		uint64_t there = line.tag.load(std::memory_order_relaxed);

		if (!(there & AMO_NAME_HIT) || (there & ~(AMO_NAME_HIT | AMO_NAME_TWICE)) != tag) [[likely]]
			continue;
		if (line.tag.compare_exchange_strong(there, 0))
			found(line, there & AMO_NAME_TWICE);
	}
}

/* Lock held. */
bool AmoCache::hit_contents(uint32_t number, bool twice) noexcept
{
	AmoLine &line = slot_.line[number / AMO_CACHE_WAYS][number % AMO_CACHE_WAYS];
	const uint64_t place = line.place.load();

	if (place)
		line.place.store(place | AMO_HIT | (twice ? AMO_TWICE : 0));
	return place != 0;
}

bool AmoCache::hit(uint32_t number, bool twice, Membership &members) noexcept
{
	AmoLine &line = slot_.line[number / AMO_CACHE_WAYS][number % AMO_CACHE_WAYS];
	Set block(slot_, number / AMO_CACHE_WAYS);
	const Guard lock(members, block);

	if (!lock.held())
		return false;
	if (hit_contents(number, twice))
		return true;
	uint64_t tag = line.tag.load();

	do {
		if (!tag)
			return false;
	} while (!line.tag.compare_exchange_weak(tag, tag | AMO_NAME_HIT | (twice ? AMO_NAME_TWICE : 0)));
	return true;
}

/*
 * Lock held. What wrong bits have made of a line with contents: it is whole again, or has left because memory has its
 * result.
 * @used: somebody wants the word; else a result that is lost counts once
 * Return: ARIES_ST_OK, or ARIES_ST_ECC: the result is lost
 */
uint8_t AmoCache::mend(AmoLine &line, bool used) noexcept
{
	const uint64_t place = line.place.load(std::memory_order_relaxed);

	if (!(place & AMO_HIT)) [[likely]]
		return ARIES_ST_OK;
	if (!(place & AMO_TWICE)) {
		line.place.store(place & ~AMO_HIT);
		found(line, false);
		return ARIES_ST_OK;
	}
	if (used || !(place & AMO_LOST_TOLD))
		found(line, true);
	if (line.value.load() == line.memory.load()) {
		clear(line);
		return ARIES_ST_OK;
	}
	line.place.store(place | AMO_LOST_TOLD);
	return ARIES_ST_ECC;
}

/* Lock held. The line of the word at @place, whatever its form; of place 0, an empty one. */
AmoLine *AmoCache::find(uint32_t set, uint64_t place) noexcept
{
	constexpr uint64_t FORM = AMO_NARROW | AMO_HIT | AMO_TWICE | AMO_LOST_TOLD;

	for (AmoLine &line : slot_.line[set]) {
		if ((line.place.load(std::memory_order_relaxed) & ~FORM) == (place & ~FORM))
			return &line;
	}
	return nullptr;
}

/* Lock held. Whoever dies in here leaves memory, or memory and line, with the new value. */
void AmoCache::write_back(AmoLine &line, const RamMap &ram) noexcept
{
	const uint64_t place = line.place.load(std::memory_order_relaxed);
	const uint64_t before = line.memory.load(std::memory_order_relaxed);
	const uint64_t value = line.value.load(std::memory_order_relaxed);
	uint64_t *word = word_in(ram, place);

	if (!word)
		return;
	uint64_t now = __atomic_load_n(word, __ATOMIC_ACQUIRE);
	uint64_t wanted = merge(place, now, before, value);

	while (wanted != now &&
	       !__atomic_compare_exchange_n(word, &now, wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE))
		wanted = merge(place, now, before, value);
	if (wanted != now)
		slot_.updates.fetch_add(1, std::memory_order_relaxed);
	line.value.store(wanted);
	line.memory.store(wanted);
}

/* Lock held. A line to be given away; those with a lost result stay. Return: nullptr if there are no others */
AmoLine *AmoCache::victim(uint32_t set, const RamMap &ram) noexcept
{
	for (uint32_t i = 0; i < AMO_CACHE_WAYS; i++) {
		AmoLine &line = slot_.line[set][slot_.next[set].fetch_add(1) % AMO_CACHE_WAYS];

		if (mend(line, false) != ARIES_ST_OK)
			continue;
		if (line.place.load(std::memory_order_relaxed)) {
			write_back(line, ram);
			slot_.evictions.fetch_add(1, std::memory_order_relaxed);
		}
		return &line;
	}
	return nullptr;
}

/* Lock held. Return: nullptr if there is no place for the word */
AmoLine *AmoCache::take_in(uint32_t set, uint64_t tag, uint64_t place, const uint64_t *word, const RamMap &ram) noexcept
{
	AmoLine *line = find(set, 0);

	if (!line)
		line = victim(set, ram);
	if (!line)
		return nullptr;
	const uint64_t value = __atomic_load_n(word, __ATOMIC_ACQUIRE);

	clear(*line);
	if (ram.lost()) [[unlikely]] /* its owner could not write it back either */
		return nullptr;
	line->value.store(value);
	line->memory.store(value);
	line->tag.store(tag);
	line->place.store(place);
	return line;
}

uint8_t AmoCache::run(const AmoRequest &request, const RamMap &ram, Membership &members, AmoResult &result) noexcept
{
	const AmoCommand &command = request.command;
	const uint64_t address = ram.address(request.word);
	const uint64_t place = place_of(address, command.bytes);
	const uint32_t set = set_of(address);
	const uint64_t *memory = word_in(ram, place);
	Set block(slot_, set);
	const Guard lock(members, block);

	if (!lock.held())
		return ARIES_ST_TIMEOUT;
	AmoLine *line = find(set, place);

	if (line && mend(*line, true) != ARIES_ST_OK) [[unlikely]]
		return ARIES_ST_ECC;
	if (line && !line->place.load(std::memory_order_relaxed)) [[unlikely]]
		line = nullptr;
	if (!command.cached || !memory) {
		if (line) {
			write_back(*line, ram);
			clear(*line);
		}
		result = {amo_run(command, request.word, request.first, request.second), false};
		return ARIES_ST_OK;
	}
	result.hit = line != nullptr;
	(line ? slot_.hits : slot_.misses).fetch_add(1, std::memory_order_relaxed);
	if (!line) {
		line = take_in(set, name(request.mdh, request.offset), place, memory, ram);
		if (!line) {
			result.old = amo_run(command, request.word, request.first, request.second);
			return ARIES_ST_OK;
		}
	} else if (line->place.load(std::memory_order_relaxed) != place) {
		write_back(*line, ram);
		line->place.store(place);
	}
	result.old = execute(*line, request, address % AMO_CACHE_WORD, __atomic_load_n(memory, __ATOMIC_ACQUIRE));
	return ARIES_ST_OK;
}

/* Lock held. What was stored to memory since the line looked there comes before the command. */
uint64_t AmoCache::execute(AmoLine &line, const AmoRequest &request, uint64_t at, uint64_t memory) noexcept
{
	uint64_t value = merge(line.place.load(std::memory_order_relaxed), memory,
			       line.memory.load(std::memory_order_relaxed), line.value.load(std::memory_order_relaxed));
	const uint64_t old =
		amo_run(request.command, reinterpret_cast<uint8_t *>(&value) + at, request.first, request.second);

	line.value.store(value);
	line.memory.store(memory);
	return old;
}

uint8_t AmoCache::settle(const Run *run, size_t count, bool write, const RamMap &ram, Membership &members) noexcept
{
	for (uint32_t n = 0; n < AMO_CACHE_ENTRIES; n++) {
		const uint32_t set = n / AMO_CACHE_WAYS;
		AmoLine &line = slot_.line[set][n % AMO_CACHE_WAYS];
		const uint64_t place = line.place.load(std::memory_order_acquire);
		const auto *word = place ? reinterpret_cast<const uint8_t *>(word_in(ram, place)) : nullptr;

		if (!word || std::none_of(run, run + count, [word](const Run &r) { return overlaps(word, r); }))
			continue;
		Set block(slot_, set);
		const Guard lock(members, block);

		if (!lock.held())
			return ARIES_ST_TIMEOUT;
		const bool overwritten = write && std::any_of(run, run + count, [word](const Run &r) {
						 return r.host <= word && word + AMO_CACHE_WORD <= r.host + r.bytes;
					 });

		/* Who overwrites all of a word does not need what it was. */
		if (mend(line, !overwritten) != ARIES_ST_OK) [[unlikely]] {
			if (!overwritten || word_of(line.place.load()) != word_of(place))
				return ARIES_ST_ECC;
			clear(line);
			continue;
		}
		/* Another word may have come here meanwhile. It may go as well. */
		write_back(line, ram);
		if (write)
			clear(line);
	}
	return ARIES_ST_OK;
}

void AmoCache::bury(Membership &members) noexcept
{
	for (uint32_t set = 0; set < AMO_CACHE_SETS; set++) {
		Set block(slot_, set);
		const Guard lock(members, block, Patience::NONE);
	}
}

bool AmoCache::empty(uint32_t mdh, const RamMap *ram, Membership &members, bool keep) noexcept
{
	for (uint32_t n = 0; n < AMO_CACHE_ENTRIES; n++) {
		const uint32_t set = n / AMO_CACHE_WAYS;
		AmoLine &line = slot_.line[set][n % AMO_CACHE_WAYS];

		if (!line.place.load())
			continue;
		Set block(slot_, set);
		const Guard lock(members, block);

		if (!lock.held())
			return false;
		/* All of them: a word that belongs to another domain may have been reached through this one, too. */
		if (mend(line, false) == ARIES_ST_OK && ram)
			write_back(line, *ram);
		if (!keep && (mdh == ANY || mdh_of(line.tag.load()) == mdh))
			clear(line);
	}
	return true;
}

} // namespace aries
