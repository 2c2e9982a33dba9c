/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gateway/news_file.hpp"
#include "fabric/segment.hpp"

#include <cstring>

namespace aries
{

namespace
{

constexpr uint64_t MAGIC = 0x3130'5357'454e'4941; /* "AINEWS01" */
constexpr uint64_t LONGEST = uint64_t(1) << 30;

struct Header {
	uint64_t magic;
	uint64_t origin_ns;
	uint64_t count;
};

} // namespace

NewsFile::NewsFile(const std::string &segment, uint64_t origin_ns)
	: file_{segment, NEWS_BESIDE, UNFINISHED_NEWS_BESIDE, "news of the network"}, origin_ns_(origin_ns)
{
}

std::vector<NetworkNews> NewsFile::load() const
{
	if (!file_.there())
		return {};
	const std::vector<std::byte> bytes = file_.read(LONGEST);
	Header head;

	if (bytes.size() < sizeof(head))
		throw Error(file_.what + " " + file_.path() + " have no header");
	memcpy(&head, bytes.data(), sizeof(head));
	if (head.magic != MAGIC || head.count != (bytes.size() - sizeof(head)) / sizeof(NetworkNews) ||
	    (bytes.size() - sizeof(head)) % sizeof(NetworkNews))
		throw Error(file_.what + " " + file_.path() + " are of another version, or not whole");
	if (head.origin_ns != origin_ns_)
		return {};
	std::vector<NetworkNews> news(head.count);

	if (head.count)
		memcpy(news.data(), bytes.data() + sizeof(head), head.count * sizeof(NetworkNews));
	return news;
}

void NewsFile::save(std::span<const NetworkNews> news) const
{
	const Header head = {MAGIC, origin_ns_, news.size()};
	std::vector<std::byte> bytes(sizeof(head) + news.size_bytes());

	memcpy(bytes.data(), &head, sizeof(head));
	if (!news.empty())
		memcpy(bytes.data() + sizeof(head), news.data(), news.size_bytes());
	file_.write(bytes);
}

} // namespace aries
