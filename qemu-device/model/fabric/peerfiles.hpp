/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files with guest memory: own files are passed to peers, and the peers' files are received. */
#ifndef ARIES_FABRIC_PEERFILES_HPP
#define ARIES_FABRIC_PEERFILES_HPP

#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "fabric/introduction.hpp"
#include "fabric/member_socket.hpp"
#include "fabric/membership.hpp"
#include "fabric/peerfile.hpp"
#include "fabric/wake.hpp"

namespace aries
{

/**
 * A member introduces itself to the existing members when it joins, and again when its memory is in other files; the
 * other members introduce themselves in turn. A thread answers, so that the host need not do anything. A peer that is
 * stopped when this member joins can answer only when it continues: the first operation that needs its memory waits for
 * a while, and later ones fail at once.
 */
class PeerFiles
{
public:
	/** Throws Error if the socket cannot be made. */
	PeerFiles(Segment &segment, Membership &members, Wake &wake);
	~PeerFiles();
	PeerFiles(const PeerFiles &) = delete;
	PeerFiles &operator=(const PeerFiles &) = delete;

	/** Starts the thread that answers. Throws. */
	void serve();
	/** Introduces this member to all members, and waits for a while until living members have answered. */
	void introduce() noexcept;
	/** Sets the files with our memory, and passes them to peers. Throws Error. */
	void give(const aries_ram *ram, size_t count);

	/** A file of @node; nullptr, with @cause set, if it was not passed. */
	std::shared_ptr<const PeerFile> find(uint32_t node, FileId id, MapCause &cause) noexcept;
	/** Waits for a missing file. Return: whether to call find() again; false at once if waiting cannot help. */
	bool wait(uint32_t node, MapCause cause) noexcept;
	/** All memory of @node was found. */
	void reached(uint32_t node) noexcept;
	/** Memory of @node cannot be reached: counted, and logged once for each cause. */
	void complain(uint32_t node, MapCause cause) noexcept;

	/** Called regularly: asks members that have not introduced themselves. */
	void tick(uint64_t now) noexcept;
	/** A line for the log; false if there is none. */
	bool poll(char *line, size_t len) noexcept;
	/** Describes the memory of @node in a few words. */
	void describe(uint32_t node, char *text, size_t len) noexcept;

private:
	struct Peer {
		uint32_t incarnation = 0; /* of the peer that the other members belong to */
		Descriptor door;
		std::array<std::shared_ptr<const PeerFile>, ARIES_RAM_MAX> files;
		uint32_t count = 0;
		MapCause refused = MapCause::NONE; /* why some files are missing */
		MapCause last = MapCause::NONE;
		uint32_t told = 0;    /* a bit for each cause that was logged */
		uint32_t pending = 0; /* causes that wait for poll() */
		uint64_t failures = 0;
		uint64_t asked_ns = 0;
		uint64_t patience_ns = 0; /* end of the time to wait for the peer */
	};

	void receive() noexcept;
	void take(const Introduction &head, Passed &passed) noexcept;
	bool send(uint32_t node, bool answer) noexcept;
	void ask(uint32_t node, uint64_t now, uint64_t pause_ns) noexcept;
	bool introduced(uint32_t node) const noexcept;
	bool present(uint32_t node) noexcept;

	Segment &segment_;
	Membership &members_;
	Wake &wake_;
	const uint32_t node_;
	MemberSocket socket_;
	std::unique_ptr<Peer[]> peers_;
	std::vector<Descriptor> own_;
	std::mutex mutex_; /* protects peers_ and own_ */
	std::condition_variable arrived_;
	std::atomic<bool> stop_{false};
	std::atomic<uint32_t> pending_{0}; /* lines for poll() */
	std::thread thread_;
};

} // namespace aries

#endif
