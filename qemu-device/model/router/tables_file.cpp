// SPDX-License-Identifier: GPL-2.0-or-later
#include "router/tables_file.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "router/routing_mode.hpp"

namespace aries::routing
{

namespace
{

constexpr uint64_t MAGIC = 0x314c425453455241; // "ARESTBL1"

struct FileHeader {
	uint64_t magic;
	uint64_t bytes;    // of the whole file
	uint64_t checksum; // of all words but this one
	uint32_t version;
	uint32_t generation;
	std::array<uint32_t, 3> shape;
	uint32_t groups;
	uint32_t routers;
	uint32_t nics;
	uint64_t made_ms;
};

constexpr size_t CHECKSUM_AT = offsetof(FileHeader, checksum);

static_assert(sizeof(FileHeader) % sizeof(uint64_t) == 0 && CHECKSUM_AT % sizeof(uint64_t) == 0);

[[noreturn]] void refuse(const std::string &what)
{
	throw std::invalid_argument(what);
}

void require(bool holds, const char *what)
{
	if (!holds)
		refuse(what);
}

/* Of whole words; each stands for its place, too. */
uint64_t checksum(std::span<const std::byte> bytes) noexcept
{
	uint64_t sum = bytes.size();

	for (size_t at = 0; at + sizeof(uint64_t) <= bytes.size(); at += sizeof(uint64_t)) {
		uint64_t word;

		std::memcpy(&word, bytes.data() + at, sizeof(word));
		sum = mix64(sum ^ (at == CHECKSUM_AT ? 0 : word));
	}
	return sum;
}

class Writer
{
public:
	template <typename T> void add(const T &value)
	{
		static_assert(std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>);
		append(&value, sizeof(value));
	}

	template <typename T> void add_list(const std::vector<T> &list)
	{
		static_assert(std::has_unique_object_representations_v<T>);
		add(static_cast<uint64_t>(list.size()));
		append(list.data(), list.size() * sizeof(T));
	}

	std::vector<std::byte> finish(FileHeader header)
	{
		bytes_.resize((bytes_.size() + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t));
		header.bytes = bytes_.size();
		std::memcpy(bytes_.data(), &header, sizeof(header));
		header.checksum = checksum(bytes_);
		std::memcpy(bytes_.data(), &header, sizeof(header));
		return std::move(bytes_);
	}

private:
	void append(const void *from, size_t size)
	{
		const auto *first = static_cast<const std::byte *>(from);

		bytes_.insert(bytes_.end(), first, first + size);
	}

	std::vector<std::byte> bytes_;
};

class Reader
{
public:
	explicit Reader(std::span<const std::byte> bytes) : left_(bytes) {}

	template <typename T> T take()
	{
		T value;

		copy(&value, sizeof(value));
		return value;
	}

	template <typename T> std::vector<T> take_list()
	{
		const auto count = take<uint64_t>();

		require(count <= left_.size() / sizeof(T), "a list in it is longer than the file");
		std::vector<T> list(count);

		copy(list.data(), count * sizeof(T));
		return list;
	}

	size_t left() const { return left_.size(); }

private:
	void copy(void *to, size_t size)
	{
		require(size <= left_.size(), "it ends too early");
		if (size)
			std::memcpy(to, left_.data(), size);
		left_ = left_.subspan(size);
	}

	std::span<const std::byte> left_;
};

void add_common(Writer &to, const Common &common)
{
	to.add(common.kind);
	to.add(common.bias);
	to.add(common.next_channel);
	to.add(common.root_rule);
	to.add(static_cast<uint8_t>(common.all_linked));
	to.add_list(common.roots);
	to.add_list(common.linked_bits);
}

void add_group(Writer &to, const GroupTables &group)
{
	to.add_list(group.entries);
	to.add_list(group.ports);
	to.add_list(group.first);
	to.add_list(group.roots);
}

/* What decide() takes for granted of a machine's tables. */
class Checks
{
public:
	explicit Checks(const topology::Wiring &wiring) : wiring_(wiring) {}

	void common(const Common &common) const;
	void group(const GroupTables &group);

private:
	void entry(uint32_t router, std::span<const uint8_t> ports, const Ports &entry, bool eject);

	const topology::Wiring &wiring_;
	std::array<std::vector<uint8_t>, 2> checked_; // how many of a router's tiles, by the first one; [to a NIC]
};

void Checks::common(const Common &common) const
{
	const size_t bits = size_t{common.groups} * common.groups;

	for (const PortKind kind : common.kind)
		require(kind <= PortKind::Global, "a tile in it is of no kind");
	for (const auto &global : common.next_channel) {
		for (const auto &root : global) {
			for (const uint8_t channel : root)
				require(channel < MAX_CHANNELS, "a virtual channel in it is none");
		}
	}
	require(common.root_rule <= RootRule::Group, "its rule of roots is none");
	require(!common.roots.empty(), "there is no router in it");
	for (const Address &root : common.roots)
		require(root.group < common.groups && root.index < wiring_.routers_of(root.group).size(),
			"a root in it is no router");
	require(common.linked_bits.size() == (bits + 63) / 64, "its list of linked groups has another length");
}

/* Tiles that lead somewhere. Most entries share a list with others: it is looked at once. */
void Checks::entry(uint32_t router, std::span<const uint8_t> ports, const Ports &entry, bool eject)
{
	require(size_t{entry.first} + entry.count <= ports.size(), "an entry of it has no tiles");
	if (!entry.count || checked_[eject][entry.first] >= entry.count)
		return;
	checked_[eject][entry.first] = entry.count;
	for (const uint8_t tile : ports.subspan(entry.first, entry.count)) {
		require(tile < wiring_.tiles(), "a tile in it is none");
		require(eject == (wiring_.far_end(router, tile).tile == topology::NOT_CONNECTED),
			eject ? "a way to a NIC in it leads to a router" : "a way in it leads nowhere");
	}
}

void Checks::group(const GroupTables &group)
{
	const size_t size = group.routers.size(), to_routers = size + wiring_.groups();
	const size_t stride = to_routers + wiring_.nodes_of(0).size();

	require(group.entries.size() == size * stride && group.first.size() == size,
		"the tables of a group in it have another length");
	for (const uint16_t root : group.roots)
		require(root < size, "a root in it is no router of its group");
	for (size_t i = 0; i < size; i++) {
		const size_t first = group.first[i], end = i + 1 < size ? group.first[i + 1] : group.ports.size();

		require(first <= end && end <= group.ports.size(), "the tiles of a router in it are not there");
		for (std::vector<uint8_t> &checked : checked_)
			checked.assign(end - first, 0);
		for (size_t at = 0; at < stride; at++)
			entry(group.routers[i], std::span(group.ports).subspan(first, end - first),
			      group.entries[i * stride + at], at >= to_routers);
	}
}

FileHeader read_header(std::span<const std::byte> bytes, const topology::Wiring &wiring)
{
	FileHeader header;

	require(bytes.size() >= sizeof(header), "it is no file of route tables");
	std::memcpy(&header, bytes.data(), sizeof(header));
	require(header.magic == MAGIC, "it is no file of route tables");
	if (header.version != TABLES_VERSION)
		refuse("it is of version " + std::to_string(header.version) + ", and this device knows " +
		       std::to_string(TABLES_VERSION));
	require(header.bytes == bytes.size(), "it has another length than it says");
	require(bytes.size() % sizeof(uint64_t) == 0 && header.checksum == checksum(bytes), "its checksum is wrong");
	require(header.groups == wiring.groups() && header.routers == wiring.routers() &&
			header.nics == wiring.nodes_of(0).size(),
		"it is for another machine");
	return header;
}

std::unique_ptr<Common> take_common(Reader &from, uint32_t groups)
{
	auto common = std::make_unique<Common>();

	common->kind = from.take<decltype(common->kind)>();
	common->bias = from.take<decltype(common->bias)>();
	common->next_channel = from.take<decltype(common->next_channel)>();
	common->root_rule = from.take<RootRule>();
	common->all_linked = from.take<uint8_t>() != 0;
	common->groups = groups;
	common->roots = from.take_list<Address>();
	common->linked_bits = from.take_list<uint64_t>();
	return common;
}

GroupTables take_group(Reader &from, std::span<const uint32_t> routers)
{
	GroupTables group;

	group.routers.assign(routers.begin(), routers.end());
	group.entries = from.take_list<Ports>();
	group.ports = from.take_list<uint8_t>();
	group.first = from.take_list<uint32_t>();
	group.roots = from.take_list<uint16_t>();
	return group;
}

} // namespace

std::vector<std::byte> encode_tables(const Tables &tables, const TablesInfo &info)
{
	FileHeader header{};
	Writer to;

	header.magic = MAGIC;
	header.version = TABLES_VERSION;
	header.generation = info.generation;
	header.shape = info.shape;
	header.groups = tables.groups();
	header.routers = tables.routers();
	header.nics = tables.nics();
	header.made_ms = info.made_ms;
	to.add(header);
	to.add_list(info.failures.links);
	to.add_list(info.failures.routers);
	add_common(to, tables.common());
	for (uint32_t g = 0; g < tables.groups(); g++)
		add_group(to, tables.group(g));
	return to.finish(header);
}

DecodedTables decode_tables(std::span<const std::byte> bytes, const topology::Wiring &wiring)
{
	const FileHeader header = read_header(bytes, wiring);
	Checks checks(wiring);
	Reader from(bytes.subspan(sizeof(header)));
	TablesInfo info{header.generation, header.shape, header.made_ms, {}};

	info.failures.links = from.take_list<uint32_t>();
	info.failures.routers = from.take_list<uint32_t>();
	std::unique_ptr<Common> common = take_common(from, header.groups);
	std::vector<GroupTables> groups;

	checks.common(*common);
	for (uint32_t g = 0; g < header.groups; g++) {
		groups.push_back(take_group(from, wiring.routers_of(g)));
		checks.group(groups.back());
	}
	require(from.left() < sizeof(uint64_t), "there is more in it than tables");
	return {std::move(info), Tables(std::move(common), std::move(groups), header.routers, header.nics)};
}

} // namespace aries::routing
