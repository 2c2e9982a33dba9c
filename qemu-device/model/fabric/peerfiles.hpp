/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/* The files that guest memory is in: ours are given to peers, theirs come from them. */
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
 * A member introduces itself to those that are there when it comes, and again when its memory is in other files; they
 * introduce themselves in turn. A thread answers, so it does not matter what the host is doing. A peer that is stopped
 * when we come can answer only when it goes on: who needs its memory waits a while, the first time, and then gives up.
 */
class PeerFiles
{
public:
	/** Throws Error if the socket cannot be made. */
	PeerFiles(Segment &segment, Membership &members, Wake &wake);
	~PeerFiles();
	PeerFiles(const PeerFiles &) = delete;
	PeerFiles &operator=(const PeerFiles &) = delete;

	/** Starts to answer. Throws. */
	void serve();
	/** Introduces us to all members, and waits a while for those that live to answer. */
	void introduce() noexcept;
	/** From now on our memory is in these files, and peers are told. Throws Error. */
	void give(const aries_ram *ram, size_t count);

	/** A file of @node; nullptr and @cause if it is not there. */
	std::shared_ptr<const PeerFile> find(uint32_t node, FileId id, MapCause &cause) noexcept;
	/** Waits for what is missing. Return: whether to look again; false at once if that is of no use. */
	bool wait(uint32_t node, MapCause cause) noexcept;
	/** All of its memory was found. */
	void reached(uint32_t node) noexcept;
	/** It could not be: counted, and told once. */
	void complain(uint32_t node, MapCause cause) noexcept;

	/** From time to time: asks members that have not introduced themselves. */
	void tick(uint64_t now) noexcept;
	/** A line for the log; false if there is nothing to tell. */
	bool poll(char *line, size_t len) noexcept;
	/** The memory of @node in a few words. */
	void describe(uint32_t node, char *text, size_t len) noexcept;

private:
	struct Peer {
		uint32_t incarnation = 0; /* of what follows */
		Descriptor door;
		std::array<std::shared_ptr<const PeerFile>, ARIES_RAM_MAX> files;
		uint32_t count = 0;
		MapCause refused = MapCause::NONE; /* why some of its files are not there */
		MapCause last = MapCause::NONE;
		uint32_t told = 0;    /* a bit for each cause */
		uint32_t pending = 0; /* those that wait for poll() */
		uint64_t failures = 0;
		uint64_t asked_ns = 0;
		uint64_t patience_ns = 0; /* until when it is waited for */
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
	std::mutex mutex_; /* of all that may change */
	std::condition_variable arrived_;
	std::atomic<bool> stop_{false};
	std::atomic<uint32_t> pending_{0}; /* lines for poll() */
	std::thread thread_;
};

} // namespace aries

#endif
