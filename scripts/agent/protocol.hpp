// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Frames between the cluster tool and the agent in a guest.
 *
 * They travel over a virtio-serial port, little endian, as a 12-byte header and
 * a payload. scripts/opengni/protocol.py is the other end; both carry VERSION.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace agent
{

constexpr uint32_t VERSION = 2;
constexpr size_t HEADER_SIZE = 12;
constexpr size_t PAYLOAD_MAX = 1 << 18;

/** What a frame says; "id" names a command, or a connection for the KVS kinds. */
enum class Kind : uint16_t {
	Hello = 1,        /**< both ways: u32 VERSION, then text ("release hostname") from the guest */
	Exec = 2,         /**< to guest: u32 flags, u32 argc, u32 envc, NUL-ended cwd, argv, env ("A=b") */
	Started = 3,      /**< to host: u32 pid */
	Stdin = 4,        /**< to guest: data; an empty one closes */
	Stdout = 5,       /**< to host: data */
	Stderr = 6,       /**< to host: data */
	Exit = 7,         /**< to host: u32 code, u32 signal (one of them 0), text when it could not start */
	Signal = 8,       /**< to guest: u32 signal, sent to the command's process group */
	Resize = 9,       /**< to guest: u32 rows, u32 columns */
	KvsRequest = 10,  /**< to host: a line without newline */
	KvsReply = 11,    /**< to guest: a line without newline */
	KvsClose = 12,    /**< to host: the connection has gone */
	Poweroff = 13,    /**< to guest: stop the machine */
	StdinTaken = 14,  /**< to host: u32 bytes of input that the command has taken since the last one */
	OutputTaken = 15, /**< to guest: u32 bytes of output that the reader of an EXEC_WINDOW command has taken */
};

/** Bytes of input after which StdinTaken comes; who sends much keeps to a window of several of these. */
constexpr uint32_t STDIN_STEP = 1 << 16;

/** Exec flag: run on a pseudo terminal; everything comes as Stdout. */
constexpr uint32_t EXEC_TTY = 1;
/** Exec flag: no more than OUTPUT_WINDOW bytes of output are on their way that OutputTaken has not named. */
constexpr uint32_t EXEC_WINDOW = 2;
constexpr int64_t OUTPUT_WINDOW = 1 << 20;

inline void put32(std::string &to, uint32_t value)
{
	for (int shift = 0; shift < 32; shift += 8)
		to.push_back(static_cast<char>(value >> shift));
}

inline uint32_t get32(std::string_view from, size_t at)
{
	uint32_t value = 0;
	for (size_t i = 0; i < 4; i++)
		value |= static_cast<uint32_t>(static_cast<unsigned char>(from[at + i])) << (8 * i);
	return value;
}

/** One frame as bytes. */
inline std::string frame(Kind kind, uint32_t id, std::string_view payload)
{
	std::string out;
	out.reserve(HEADER_SIZE + payload.size());
	put32(out, static_cast<uint32_t>(payload.size()));
	put32(out, static_cast<uint32_t>(kind));
	put32(out, id);
	out.append(payload);
	return out;
}

} // namespace agent
