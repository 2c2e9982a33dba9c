# SPDX-License-Identifier: GPL-2.0-or-later
"""Clusters of virtual machines with Aries NICs: the library behind scripts/cluster.

    from opengni import Cluster, ClusterConfig          asyncio

Modules: config (what a cluster is made of), host (this machine), fabric (segment
files), qemu (command lines), node, cluster, job (ranks), channel and protocol
(the agent), kvs (key-value service), qmp, server and client (clusters that
outlive the command that booted them), cli.
"""

from .cluster import Cluster
from .config import ClusterConfig
from .errors import ClusterError, ConfigError, NodeError
from .job import Job, RankResult
from .node import Node, Result

__all__ = ["Cluster", "ClusterConfig", "ClusterError", "ConfigError", "Job", "Node", "NodeError", "RankResult", "Result"]
