# SPDX-License-Identifier: GPL-2.0-or-later
"""What can go wrong, each as one line that names the cause and the way out."""


class ClusterError(Exception):
    """Anything the user should read; str() is the line."""


class ConfigError(ClusterError):
    """A wrong option, a missing file, too little memory: found before anything started."""


class UsageError(ConfigError):
    """A command line that cannot be meant, whatever is there to run it: exit status 2."""


class NodeError(ClusterError):
    """A node did not boot, died or does not answer."""
