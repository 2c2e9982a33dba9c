# SPDX-License-Identifier: GPL-2.0-or-later
"""The file that names a fabric's hosts, as aries-gateway reads it: a name, an address and node addresses on each line."""

import dataclasses
import ipaddress
import os
import re
import socket
from pathlib import Path

from .errors import ConfigError

PORT = 7741
"""Where a gateway listens if the file does not say."""
HOSTS_MOST = 1024
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_LOCAL = ("localhost",)


@dataclasses.dataclass(frozen=True)
class Host:
    """A line of the file."""

    name: str
    """What the launcher is told, too."""
    address: str
    """Numeric, IPv4 or IPv6."""
    port: int
    first: int
    last: int
    """Node addresses, both included."""

    @property
    def nodes(self):
        """Addresses of its nodes."""
        return range(self.first, self.last + 1)

    @property
    def where(self):
        """Address and port as one word, as in the file."""
        return f"[{self.address}]:{self.port}" if ":" in self.address else f"{self.address}:{self.port}"

    @property
    def line(self):
        """The line of the file."""
        return f"{self.name} {self.where} {self.first}-{self.last}\n"

    @property
    def is_here(self):
        """Whether this is the local machine, by its name."""
        own = socket.gethostname()
        return self.name in (*_LOCAL, own, own.split(".")[0], os.environ.get("SLURMD_NODENAME"))


def _where(text):
    """(address, port) from a word of the file; ValueError."""
    match = re.fullmatch(r"\[(.*)\](?::(\d+))?", text) or re.fullmatch(r"([^:]*):(\d+)", text)
    address, port = (match.group(1), match.group(2)) if match else (text, None)
    number = int(port) if port else PORT
    parsed = ipaddress.ip_address(address)
    if parsed.is_unspecified:
        raise ValueError("is every address: give the one that the other hosts reach")
    if not 1 <= number <= 65535:
        raise ValueError(f"has port {number}, not one of 1 to 65535")
    return str(parsed), number


def _host(words):
    """The host that the words of a line describe; ValueError."""
    if len(words) != 3:
        raise ValueError(f"a host has a name, an address and nodes (alpha 10.0.0.1:7741 0-3), not {len(words)} word{'s'[:len(words) != 1]}")
    name, where, nodes = words
    if not _NAME.fullmatch(name):
        raise ValueError(f"'{name}' is no name of a host: letters, digits, '-', '.', '_', at most 63, and no '-' in front")
    try:
        address, port = _where(where)
    except ValueError as error:
        raise ValueError(f"'{where}' {error}" if str(error).startswith(("is every", "has port")) else
                         f"'{where}' is no address: write 10.0.0.1, 10.0.0.1:7741, fd00::1 or [fd00::1]:7741") from None
    match = re.fullmatch(r"(\d{1,6})(?:-(\d{1,6}))?", nodes)
    if not match:
        raise ValueError(f"'{nodes}' are no nodes: write 4-7 or 4")
    first, last = int(match.group(1)), int(match.group(2) or match.group(1))
    if first > last:
        raise ValueError(f"'{nodes}' ends before it begins")
    return Host(name, address, port, first, last)


def _compare(host, others):
    for other in others:
        if host.name == other.name:
            raise ValueError(f"host {host.name} is there twice")
        if (host.address, host.port) == (other.address, other.port):
            raise ValueError(f"{host.where} is the address of {other.name}, too")
        if host.first <= other.last and other.first <= host.last:
            raise ValueError(f"nodes {host.first}-{host.last} of {host.name}: some of them are those of {other.name}")


def parse(text, name):
    """The hosts in the order of the text; together they have nodes 0 to N - 1. ConfigError names file, line and cause."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            host = _host(words)
            _compare(host, found)
        except ValueError as error:
            raise ConfigError(f"{name}:{number}: {error}") from None
        found.append(host)
    if not 1 <= len(found) <= HOSTS_MOST:
        raise ConfigError(f"{name} names {len(found)} hosts: a fabric has 1 to {HOSTS_MOST}")
    expected = 0
    for host in sorted(found, key=lambda host: host.first):
        if host.first != expected:
            raise ConfigError(f"{name}: node {expected} is on no host: a cluster has all nodes from 0 on")
        expected = host.last + 1
    return found


def read(path):
    """Hosts of a file."""
    try:
        return parse(Path(path).read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"hosts file {path} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def count(hosts):
    """Number of nodes on all hosts together."""
    return sum(len(host.nodes) for host in hosts)
