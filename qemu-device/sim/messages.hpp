// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Messages of a node of which packets are still on the way. They are kept where they began, for that is where the last
 * response comes; a message of one packet needs none of it.
 */
#ifndef ARIES_SIM_MESSAGES_HPP
#define ARIES_SIM_MESSAGES_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace aries::sim
{

struct OpenMessage {
	uint32_t first;     ///< sequence of its first packet; the others follow
	uint32_t left;      ///< packets without a response
	uint32_t last_byte; ///< latest cycle in which data of it came
};

class OpenMessages
{
public:
	void open(uint32_t first, uint32_t packets) { messages_.push_back({first, packets, 0}); }

	/**
	 * The response of a packet has come, whose data were there in cycle @p data_there.
	 * @return the cycle in which the last byte of the message was there if this was its last response, else 0
	 */
	uint32_t close(uint32_t sequence, uint32_t data_there)
	{
		OpenMessage &message = find(sequence);
		const uint32_t last = message.last_byte = std::max(message.last_byte, data_there);

		if (--message.left)
			return 0;
		drop_closed();
		return last == FAILED ? 0 : last;
	}

	/** So many packets of the message that this one belongs to will have no response: it never ends. */
	void fail(uint32_t sequence, uint32_t packets)
	{
		OpenMessage &message = find(sequence);

		message.last_byte = FAILED;
		message.left -= packets;
		if (!message.left)
			drop_closed();
	}

	bool empty() const noexcept { return head_ == messages_.size(); }

private:
	static constexpr uint32_t FAILED = UINT32_MAX;
	static constexpr size_t KEPT = 64; // closed ones in front, before the rest moves up

	OpenMessage &find(uint32_t sequence)
	{
		const auto behind = std::upper_bound(
			messages_.begin() + static_cast<ptrdiff_t>(head_), messages_.end(), sequence,
			[](uint32_t number, const OpenMessage &message) { return number < message.first; });

		return *(behind - 1);
	}

	void drop_closed()
	{
		while (head_ < messages_.size() && !messages_[head_].left)
			head_++;
		if (head_ < KEPT || head_ * 2 < messages_.size())
			return;
		messages_.erase(messages_.begin(), messages_.begin() + static_cast<ptrdiff_t>(head_));
		head_ = 0;
	}

	std::vector<OpenMessage> messages_; // in the order of sequences
	size_t head_ = 0;
};

} // namespace aries::sim

#endif
