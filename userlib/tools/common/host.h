// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * NIC addresses of nodes that a user names.
 */
#ifndef TOOLS_HOST_H
#define TOOLS_HOST_H

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

namespace tools
{

/** "3", "0x3" and "nid00003" as a NIC address; nothing for other words, as names of hosts are. */
std::optional<uint32_t> address_of_word(const std::string &word);

/**
 * NIC address in a table of IP neighbours like /proc/net/arp.
 * @param ip dotted, as the table has it
 * @return nothing where the neighbour is not there, not complete, or its hardware address is not that of a NIC
 */
std::optional<uint32_t> address_of_neighbour(std::istream &table, const std::string &ip);

/**
 * NIC address of @p host: a word that is one, or an IP address or name of a node that IP over the fabric (ipogif)
 * reaches. Asks the network for up to two seconds. Throws Failure that says what was tried.
 * @param device whose address it is when @p host is this node
 */
uint32_t nic_address(const std::string &host, uint32_t device);

/** Throws Failure when a fabric, as sysfs shows it, has no node of this address, or that node is down. */
void check_node(uint32_t address, uint32_t device);

/** True when @p list, as "0-2,7", has @p number. */
bool in_list(const std::string &list, uint32_t number);

} // namespace tools

#endif // TOOLS_HOST_H
