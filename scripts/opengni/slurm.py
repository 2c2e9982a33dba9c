# SPDX-License-Identifier: GPL-2.0-or-later
"""The hosts of an allocation of Slurm."""

import os
import re
import socket
import subprocess

from .errors import ConfigError
from .hostfile import Host

LAUNCHER = "srun --overlap --nodes=1 --ntasks=1 --mem=0 --input=all --nodelist"
WORD = "slurm"
"""Given instead of a hosts file."""
PORT_FIRST, PORTS = 20000, 10000
"""Ports that gateways of jobs listen at, by the job's number: jobs may share hosts."""


def _scontrol(*words):
    try:
        result = subprocess.run(["scontrol", *words], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise ConfigError("scontrol is missing: is this a host of Slurm?") from None
    if result.returncode:
        raise ConfigError(f"scontrol {' '.join(words)}: {(result.stderr or result.stdout).strip()}")
    return result.stdout


def _address(name):
    """Numeric address of a host. Slurm's table may have a name in its place."""
    match = re.search(r"\bNodeAddr=(\S+)", _scontrol("show", "node", name, "-o"))
    known = match.group(1) if match else name
    try:
        return socket.getaddrinfo(known, None, type=socket.SOCK_STREAM)[0][4][0]
    except OSError as error:
        raise ConfigError(f"host {name} has the address {known}: {error.strerror}") from None


def hosts(count=None):
    """The allocation's hosts, with @count nodes divided among them; one on each if that is not given."""
    listed, job = os.environ.get("SLURM_JOB_NODELIST"), os.environ.get("SLURM_JOB_ID", "")
    if not listed or not job.isdigit():
        raise ConfigError(f"--hosts {WORD} is for an allocation of Slurm (salloc, sbatch, srun), and SLURM_JOB_NODELIST is not set")
    names = _scontrol("show", "hostnames", listed).split()
    count = len(names) if count is None else count
    if count < len(names):
        raise ConfigError(f"{count} nodes on {len(names)} hosts: each needs one at least")
    first = [count * i // len(names) for i in range(len(names) + 1)]
    port = PORT_FIRST + int(job) % PORTS
    return [Host(name, _address(name), port, first[i], first[i + 1] - 1) for i, name in enumerate(names)]
