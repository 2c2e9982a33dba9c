// SPDX-License-Identifier: GPL-2.0-or-later
#include "gateway/hello.hpp"

#include <algorithm>

namespace aries::gateway
{

namespace
{

/* Writes numbers in the order of memory, and texts behind their length. */
class Writer
{
public:
	explicit Writer(FrameType type) : bytes_(FRAME_HEADER) { header_.type = type; }

	void raw(const void *data, size_t bytes)
	{
		const auto *first = static_cast<const std::byte *>(data);

		bytes_.insert(bytes_.end(), first, first + bytes);
	}
	template <typename Value> void value(const Value &value) { raw(&value, sizeof(value)); }
	void text(const std::string &text)
	{
		const auto length = uint8_t(std::min<size_t>(text.size(), UINT8_MAX));

		value(length);
		raw(text.data(), length);
	}

	std::vector<std::byte> finish(const FabricKey &key)
	{
		header_.body = uint32_t(bytes_.size() - FRAME_HEADER);
		std::memcpy(bytes_.data(), &header_, sizeof(header_));
		key.sign(bytes_);
		return std::move(bytes_);
	}

private:
	FrameHeader header_;
	std::vector<std::byte> bytes_;
};

/* A read beyond the end makes this and all later reads fail. */
class Reader
{
public:
	explicit Reader(Bytes bytes) : left_(bytes) {}

	template <typename Value> void value(Value &value)
	{
		if (const Bytes bytes = take(sizeof(value)); !bytes.empty())
			std::memcpy(&value, bytes.data(), sizeof(value));
	}
	void text(std::string &text)
	{
		uint8_t length = 0;

		value(length);
		const Bytes bytes = take(length);

		text.assign(reinterpret_cast<const char *>(bytes.data()), bytes.size());
		good_ = good_ &&
			std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= ' ' && c != 127; });
	}
	void blob(std::vector<std::byte> &blob)
	{
		uint16_t length = 0;

		value(length);
		const Bytes bytes = take(length <= APPLICATION_MOST ? length : SIZE_MAX);

		blob.assign(bytes.begin(), bytes.end());
	}
	bool good() const { return good_; }
	bool all_good() const { return good_ && left_.empty(); }

private:
	Bytes take(size_t bytes)
	{
		good_ = good_ && bytes <= left_.size();
		if (!good_)
			return {};
		const Bytes taken = left_.first(bytes);

		left_ = left_.subspan(bytes);
		return taken;
	}

	Bytes left_;
	bool good_ = true;
};

std::string overlap(const NodeRange &a, const NodeRange &b)
{
	return NodeRange{std::max(a.first, b.first), std::min(a.last, b.last)}.text();
}

} // namespace

std::vector<std::byte> frame_of(const Hello &hello, const FabricKey &key)
{
	const Identity &from = hello.from;
	const auto application = uint16_t(from.application.size());
	Writer writer(FrameType::Hello);

	writer.text(from.host.name);
	writer.text(hello.to);
	writer.value(hello.nonce);
	writer.value(hello.echo);
	writer.value(hello.session);
	writer.value(from.boot);
	writer.text(from.host.address);
	writer.value(from.host.port);
	writer.value(from.host.nodes.first);
	writer.value(from.host.nodes.last);
	writer.text(from.shape);
	writer.value(application);
	writer.raw(from.application.data(), application);
	return writer.finish(key);
}

std::vector<std::byte> frame_of(const Refuse &refuse, const FabricKey &key)
{
	Writer writer(FrameType::Refuse);

	writer.text(refuse.from);
	writer.text(refuse.to);
	writer.value(refuse.echo);
	writer.value(refuse.code);
	writer.text(refuse.text);
	return writer.finish(key);
}

std::optional<Hello> parse_hello(Bytes body)
{
	Reader reader(body);
	Hello hello;
	Identity &from = hello.from;

	reader.text(from.host.name);
	reader.text(hello.to);
	reader.value(hello.nonce);
	reader.value(hello.echo);
	reader.value(hello.session);
	reader.value(from.boot);
	reader.text(from.host.address);
	reader.value(from.host.port);
	reader.value(from.host.nodes.first);
	reader.value(from.host.nodes.last);
	reader.text(from.shape);
	reader.blob(from.application);
	if (!reader.all_good())
		return {};
	return hello;
}

std::optional<Refuse> parse_refuse(Bytes body)
{
	Reader reader(body);
	Refuse refuse;

	reader.text(refuse.from);
	reader.text(refuse.to);
	reader.value(refuse.echo);
	reader.value(refuse.code);
	reader.text(refuse.text);
	if (!reader.all_good() || refuse.code == Refusal::None || refuse.code > Refusal::Shape)
		return {};
	return refuse;
}

std::optional<std::pair<std::string, std::string>> parse_names(Bytes body)
{
	Reader reader(body);
	std::pair<std::string, std::string> names;

	reader.text(names.first);
	reader.text(names.second);
	if (!reader.good())
		return {};
	return names;
}

std::pair<Refusal, std::string> judge(const Hello &hello, const Identity &self, const Host *known)
{
	const Host &host = hello.from.host;
	const std::string &name = host.name;

	if (name == self.host.name)
		return {Refusal::Twice, "another gateway, of " + host.where() + ", calls itself " + name +
						" as that of " + self.host.where() + " does"};
	if (!known || hello.to != self.host.name)
		return {Refusal::Stranger,
			"the hosts file of " + (known ? name : self.host.name) + " has " +
				(known ? "'" + hello.to + "' at the address of " + self.host.name : "no host " + name)};
	if (hello.from.shape != self.shape)
		return {Refusal::Shape, name + " is of the fabric '" + hello.from.shape + "', " + self.host.name +
						" of '" + self.shape + "'"};
	if (host.nodes.overlaps(self.host.nodes))
		return {Refusal::Nodes, "nodes " + overlap(host.nodes, self.host.nodes) + " are at " + name +
						" and at " + self.host.name};
	if (host.nodes != known->nodes)
		return {Refusal::Nodes, name + " has nodes " + host.nodes.text() + ", the hosts file of " +
						self.host.name + " says " + known->nodes.text()};
	if (host.address != known->address || host.port != known->port)
		return {Refusal::Address, name + " is at " + host.where() + ", the hosts file of " + self.host.name +
						  " says " + known->where()};
	return {Refusal::None, {}};
}

} // namespace aries::gateway
