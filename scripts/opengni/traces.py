# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces as messages for aries-sim: packet captures of NICs (Documentation/packet-trace.md) and OTF2 archives."""

import contextlib
import os
import struct
import sys
from dataclasses import dataclass, replace
from pathlib import Path

SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6
BYTE_ORDER = 0x1A2B3C4D
USER0 = 147
TRACE_HEADER = struct.Struct(">4B6I4B")       # version to kind, as packet-trace.md has them
SENT = 0
PACKET_BYTES, LEAST_BYTES = 64, 8
REQUEST_BYTES = 16                            # of its header
PUT, GET, AMO, FETCH_AMO, CQ_WRITE = range(5)
READS = (GET, FETCH_AMO)
MOST_NS = 2_000_000_000                       # of a trace that aries-sim takes
PAUSE_NS = 1_000_000                          # a pause that empties the network, for advice


class TraceError(Exception):
    """What is wrong with a trace; one line that begins with its name."""


@dataclass
class Message:
    """As aries-sim has them; the time in nanoseconds of any clock."""

    ns: int
    source: int
    target: int
    bytes: int
    get: bool


def _blocks(path, content):
    """Type and body of each block of a pcapng file, and the order of its bytes."""
    at, order, number = 0, "<", 0
    while at < len(content):
        number += 1
        cut = TraceError(f"{path}: cut off in block {number}, at byte {at} of {len(content)}")
        if len(content) - at < 12:
            raise cut
        kind = struct.unpack_from("<I", content, at)[0]
        if kind == SECTION:
            order = "<" if struct.unpack_from("<I", content, at + 8)[0] == BYTE_ORDER else ">"
            if struct.unpack_from(order + "I", content, at + 8)[0] != BYTE_ORDER:
                raise TraceError(f"{path}: not a pcapng file")
        elif number == 1:
            raise TraceError(f"{path}: not a pcapng file")
        kind, length = struct.unpack_from(order + "2I", content, at)
        if length < 12 or length % 4:
            raise TraceError(f"{path}: block {number} has a length of {length}")
        if length > len(content) - at:
            raise cut
        if struct.unpack_from(order + "I", content, at + length - 4)[0] != length:
            raise TraceError(f"{path}: block {number} has two lengths")
        yield kind, content[at + 8:at + length - 4], order
        at += length


def _check_interface(path, body, order):
    if struct.unpack_from(order + "H", body)[0] != USER0:
        raise TraceError(f"{path}: packets of link type {struct.unpack_from(order + 'H', body)[0]}, not of an Aries NIC ({USER0})")
    at = 8
    while at + 4 <= len(body):
        code, length = struct.unpack_from(order + "2H", body, at)
        if code == 9 and body[at + 4] == 9:
            return
        at += 4 + (length + 3) // 4 * 4
    raise TraceError(f"{path}: times are not in nanoseconds")


def _request(path, body, order):
    """Message, index and size of one packet; none if it is a response, or what the NIC received."""
    _, high, low, length, _ = struct.unpack_from(order + "5I", body)
    data = body[20:20 + length]
    if len(data) < TRACE_HEADER.size:
        raise TraceError(f"{path}: a packet without the header of a trace")
    version, header, direction, _, _, node, peer, _, index, packets, _, _, _, kind = TRACE_HEADER.unpack_from(data)
    if version != 1 or kind > CQ_WRITE:
        raise TraceError(f"{path}: a packet of version {version} and kind {kind}")
    flits = data[header:]
    if direction != SENT or len(flits) < REQUEST_BYTES or flits[0] >> 7:
        return None
    size = flits[REQUEST_BYTES - 1] & 0x3F or PACKET_BYTES
    return Message(high << 32 | low, node, peer, size, kind in READS), index, packets


def read_pcapng(path):
    """Messages of a capture: one for each operation, with the size of all its packets, also of those not recorded."""
    messages, running = [], {}
    for kind, body, order in _blocks(path, Path(path).read_bytes()):
        if kind == INTERFACE:
            _check_interface(path, body, order)
        if kind != PACKET:
            continue
        found = _request(path, body, order)
        if not found:
            continue
        message, index, packets = found
        key = (message.source, message.target, packets)
        if index == 0:
            size = message.bytes
            message.bytes = size if packets == 1 else packets * PACKET_BYTES
            messages.append(message)
            running[key] = message
        elif index == packets - 1 and key in running:
            running[key].bytes = (packets - 1) * PACKET_BYTES + message.bytes
    return messages


@contextlib.contextmanager
def _silence():
    """What the library of OTF2 itself says about an archive is many lines, and is not wanted."""
    sys.stderr.flush()
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)


def read_otf2(path):
    """Point to point messages of an OTF2 archive, and one-sided puts and gets; ranks are the nodes."""
    try:
        import otf2
        from _otf2 import Error
        from otf2 import events
    except ImportError as error:
        raise TraceError(f"{path}: {error}; Debian has it as python3-otf2") from error
    messages = []
    try:
        with _silence(), otf2.reader.open(str(path)) as archive:
            scale = 1e9 / archive.timer_resolution
            processes = list(dict.fromkeys(location.group for location in archive.definitions.locations))
            rank = {location: processes.index(location.group) for location in archive.definitions.locations}
            left = {location: location.number_of_events for location in archive.definitions.locations}
            for location, event in archive.events:
                left[location] -= 1
                if isinstance(event, (events.MpiSend, events.MpiIsend)):
                    peer, size, get = event.communicator.group.members[event.receiver], event.msg_length, False
                elif isinstance(event, (events.RmaPut, events.RmaGet)):
                    peer, size = event.win.comm.group.members[event.remote], event.bytes
                    get = isinstance(event, events.RmaGet)
                else:
                    continue
                target = rank[peer] if peer in rank else int(peer)
                messages.append(Message(round(event.time * scale), rank[location], target, size, get))
            # The library does not always notice that a file ends too early.
            if any(left.values()):
                raise ValueError(f"{sum(left.values())} events are missing")
    except (Error, LookupError, TypeError, ValueError, AttributeError) as error:
        raise TraceError(f"{path}: not an OTF2 archive, or not a whole one: {' '.join(str(error).split())}") from error
    return messages


def cut(messages, first=None, last=None):
    """Those from one time up to another, in seconds from the earliest of all; without one of them, from or up to the end."""
    begin = min((m.ns for m in messages), default=0)
    return [m for m in messages if (first is None or m.ns - begin >= first * 1e9) and (last is None or m.ns - begin < last * 1e9)]


def shorten_pauses(messages, most):
    """The same with at most so many nanoseconds from one message to the next: what comes behind a pause comes sooner."""
    shorter, before, left_out = [], None, 0
    for message in sorted(messages, key=lambda m: m.ns):
        if before is not None:
            left_out += max(message.ns - before - most, 0)
        before = message.ns
        shorter.append(replace(message, ns=message.ns - left_out))
    return shorter


def check_length(messages, name):
    """Raises TraceError if aries-sim would not take the trace for its length, with what can be done."""
    times = [m.ns for m in messages if m.source != m.target]
    length = max(times, default=0) - min(times, default=0)
    if length > MOST_NS:
        short = shorten_pauses([m for m in messages if m.source != m.target], PAUSE_NS)
        raise TraceError(f"{name}: {length / 1e9:.1f} s from the first message to the last, and aries-sim simulates "
                         f"{MOST_NS // 10**9} s: --from and --to take a piece of it, and --pause {PAUSE_NS / 1e6:g} "
                         f"makes {(short[-1].ns - short[0].ns) / 1e9:.3f} s of it")


def write_messages(messages, out):
    """The form that aries-sim reads. Times begin with 0; messages to itself are left out. Returns how many."""
    sent = sorted((m for m in messages if m.source != m.target), key=lambda m: m.ns)
    nodes = max((max(m.source, m.target) for m in sent), default=-1) + 1
    begin = sent[0].ns if sent else 0
    out.write(f"# aries messages 1 nodes {nodes} count {len(sent)}\nns,source,target,bytes,operation\n")
    for message in sent:
        out.write(f"{message.ns - begin},{message.source},{message.target},{max(message.bytes, LEAST_BYTES)},"
                  f"{'get' if message.get else 'put'}\n")
    return len(sent)
