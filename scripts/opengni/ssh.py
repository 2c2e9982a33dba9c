# SPDX-License-Identifier: GPL-2.0-or-later
"""ssh to a node: through its agent, so that no port of this machine is open, with a key that the cluster is given for it."""

import asyncio
import os
import shlex
import shutil
import subprocess
import sys

from . import client, host
from .errors import ConfigError

KEY = "id_ed25519"

# Argument: the public key. What else is in authorized_keys stays.
_ADMIT = """
grep -q '^ *[0-9]*: [0-9A-F]*:0016 [0-9A-F]*:0000 0A' /proc/net/tcp /proc/net/tcp6 2>/dev/null ||
    { echo "nobody listens at port 22: boot with --ssh ('make ssh-image'), or a disk that has sshd"; exit 1; }
umask 077
mkdir -p /root/.ssh || exit 1
touch /root/.ssh/authorized_keys || exit 1
grep -qxF "$1" /root/.ssh/authorized_keys || echo "$1" >>/root/.ssh/authorized_keys
"""

# The node's end of the connection, with what there is.
_CONNECT = ("if command -v nc >/dev/null; then exec nc 127.0.0.1 22; fi; "
            "exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/22; cat <&3 & cat >&3; wait'")


def key(name):
    """Path of the cluster's private key, made at its first use."""
    path = host.RUN / name / KEY
    if not path.exists():
        made = subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", f"cluster {name}", "-f", path],
                              capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        if made.returncode:
            raise ConfigError(f"no key for the cluster: {made.stderr.strip() or made.stdout.strip()}")
    return path


def need_ssh():
    """ConfigError if this machine has no ssh."""
    for program in ("ssh", "ssh-keygen"):
        if not shutil.which(program):
            raise ConfigError(f"{program} is missing: install package openssh-client")


def options(name, number):
    """Options of ssh for a node, as 'Name value' pairs. Its host key says nothing: the way there is this machine's own."""
    tool = os.path.abspath(sys.argv[0])
    proxy = shlex.join([tool, "exec", "--name", name, "--node", str(number), "--no-label", "--", "/bin/sh", "-c", _CONNECT])
    return [("ProxyCommand", proxy.replace("%", "%%")), ("User", "root"), ("IdentityFile", str(key(name))), ("IdentitiesOnly", "yes"),
            ("StrictHostKeyChecking", "no"), ("UserKnownHostsFile", "/dev/null"), ("LogLevel", "ERROR")]


def admit(name, number):
    """Let the cluster's key in on a node; ConfigError where nobody listens."""
    public = key(name).with_suffix(".pub").read_text(encoding="ascii").strip()
    status, out, complaints = asyncio.run(client.run(name, number, ["/bin/sh", "-c", _ADMIT, "admit", public]))
    if status:
        raise ConfigError(f"node {number}: {out.strip() or complaints.strip()}")


def config(name, numbers):
    """Text for a file that ssh, scp, rsync and others take with -F."""
    lines = []
    for number in numbers:
        lines += [f"Host node{number}", *(f"    {word} {text}" for word, text in options(name, number)), ""]
    return "\n".join(lines)


def session(name, number, command):
    """Become ssh."""
    need_ssh()
    admit(name, number)
    words = [word for pair in options(name, number) for word in ("-o", "{}={}".format(*pair))]
    sys.stdout.flush()
    os.execvp("ssh", ["ssh", *words, f"node{number}", *command])
