/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/wake.hpp"

#include <fcntl.h>
#include <sys/socket.h>

namespace aries
{

namespace
{

constexpr int DRAIN_MAX = 256; /* datagrams at once; further ones wake the host again */

} // namespace

Wake::Wake(Segment &segment, uint32_t node)
	: segment_(segment), node_(node), socket_(segment.path(), WAKE_SOCKET, node, SOCK_NONBLOCK),
	  bells_(std::make_unique<std::atomic<int>[]>(segment.nodes()))
{
	for (uint32_t n = 0; n < segment.nodes(); n++)
		bells_[n].store(-1);
	bells_[node].store(socket_.door());
}

Wake::~Wake()
{
	for (uint32_t n = 0; n < segment_.nodes(); n++) {
		if (n != node_ && bells_[n].load() >= 0)
			close(bells_[n].load());
	}
}

/* Other threads may be about to ring, so the descriptor's number is kept for bells of this node. */
void Wake::learn(uint32_t node, Descriptor bell) noexcept
{
	const int known = bells_[node].load();

	if (known >= 0)
		dup3(bell.get(), known, O_CLOEXEC);
	else
		bells_[node].store(bell.release());
}

void Wake::raise(uint32_t node, uint32_t vectors) noexcept
{
	NodeSlot &slot = segment_.node(node);
	const int bell = bells_[node].load();

	slot.irq_vectors.fetch_or(vectors);
	/* A full socket wakes its owner anyway, and a dead one has no owner. */
	if (bell >= 0 && !slot.wake_sent.exchange(1))
		send(bell, "w", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

uint32_t Wake::take() noexcept
{
	char drain[16];

	for (int i = 0; i < DRAIN_MAX && recv(fd(), drain, sizeof(drain), MSG_DONTWAIT) >= 0; i++)
		;
	NodeSlot &slot = segment_.node(node_);

	slot.wake_sent.store(0);
	return slot.irq_vectors.exchange(0);
}

} // namespace aries
