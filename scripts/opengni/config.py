# SPDX-License-Identifier: GPL-2.0-or-later
"""What a cluster is made of, and whether it can be."""

import os
import re
import secrets
import shutil
import zlib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from . import disk, fabric, host, locks, share
from .errors import ConfigError, UsageError
from .machine import Machine

NODES_MAX = 256
MEM_MIN_MIB = 96
# QEMU itself beside the guest's memory: measured 55 MiB under TCG, with code buffer.
OVERHEAD_MIB = 64

# Those that `make` unpacks; those that `make check-debug` builds; that of KDIR=.
KERNELS = ("6.1", "6.12", "6.8", "debug", "kcsan", "own")
MODULAR_KERNELS = KERNELS[:3]
# Versions of QEMU that `make` builds, and where below host.BUILD.
QEMUS = {"7.2": "qemu", "10": "qemu-10"}
# QEMU looks for them when it boots a kernel that it is given.
FIRMWARE_FILES = ("bios-256k.bin", "linuxboot_dma.bin", "kvmvapic.bin")
# The paths of Unix sockets beside the segment are limited to 107 bytes.
FABRIC_MAX = 80
# In a cluster's folder: a claim, which its process holds.
PID = "pid"
BOOT_TIMEOUT = 90.0
# A distribution starts more than the project's own guest; on a busy host under TCG that takes minutes.
DISK_BOOT_TIMEOUT = 600.0


def kernel_image(kernel):
    """Path of the image of one of KERNELS."""
    return host.product(f"kernel-{kernel}/vmlinuz", f"lib/opengni/images/vmlinuz-{kernel}")


# $KERNEL, else the first that is there: which `make` takes depends on the distribution.
DEFAULT_KERNEL = os.environ.get("KERNEL") or next((name for name in KERNELS if kernel_image(name).exists()), KERNELS[0])
DEFAULT_QEMU = os.environ.get("QEMU") or "7.2"


def parse_size(text):
    """'512M' or '2G' or '512' as MiB."""
    match = re.fullmatch(r"(\d+)([MmGg]?)", text)
    if not match:
        raise UsageError(f"memory size '{text}' is not a number with M or G, such as 512M")
    return int(match.group(1)) * (1024 if match.group(2) in ("G", "g") else 1)


def parse_shape(text):
    """'4x2': routers per chassis x chassis per group, of the dragonfly."""
    match = re.fullmatch(r"(\d+)x(\d+)", text)
    if not match:
        raise UsageError(f"shape '{text}' is not ROUTERSxCHASSIS, such as 16x6")
    routers, chassis = (int(group) for group in match.groups())
    if not 1 <= routers <= 16 or not 1 <= chassis <= 6:
        raise UsageError(f"shape '{text}': routers per chassis go from 1 to 16, chassis per group from 1 to 6")
    return routers, chassis


@dataclass
class ClusterConfig:
    """All that a cluster is made from. validate() before use."""

    nodes: int = 2
    name: str = ""
    kernel: str = ""
    """One of KERNELS, or the path of a kernel image; empty: the disk boots itself, without one DEFAULT_KERNEL."""
    initrd: str = ""
    """Path; empty for the one that `make initramfs` makes, unless there is a disk."""
    disk: str = ""
    """Path of a raw or qcow2 image to boot from, instead of an initrd. Each node writes to a disk of its own over it."""
    keep: bool = False
    """Whether what the nodes write to their disks is there the next time (disk.folder)."""
    root: str = ""
    """The disk's root device, for a kernel that is given; empty: /dev/vda1."""
    append: str = ""
    mem_mib: int = 512
    smp: int = 2
    shape: tuple = ()
    machine: str = ""
    """A machine as aries-topo takes it, that the nodes are a part of; empty: one of as many nodes, by shape."""
    place: str = ""
    """Where on the machine the nodes sit (machine.POLICIES); empty: packed."""
    nic: dict = field(default_factory=dict)
    """More properties of aries-nic, the same on all nodes."""
    qemu: str = DEFAULT_QEMU
    """One of QEMUS, or the path of a binary."""
    qemu_args: list = field(default_factory=list)
    with_nic: bool = True
    agent: bool = True
    """Whether the guest runs gni-agent; without it commands cannot be run."""
    load_driver: bool = True
    net: bool = False
    """Whether the nodes have an Ethernet among themselves, for programs that need TCP/IP."""
    user_net: bool = False
    """Whether each node reaches the world outside through QEMU (slirp)."""
    ipogif: bool = False
    """Whether they have IP over the fabric among themselves (ipogif.ko)."""
    ssh: bool = False
    """Whether to boot the guest that has sshd, where initrd says nothing else."""
    hosts: list = field(default_factory=list)
    """Hosts that the nodes live on (hostfile.Host); empty: this one."""
    launcher: tuple = ("ssh",)
    """Command that runs another on a host: its words are followed by the host's name and that command's."""
    remote_command: str = ""
    """Path of this tool on the hosts; empty: the same as here."""
    gateway: list = field(default_factory=list)
    """More arguments of aries-gateway."""
    here: list = field(default_factory=list)
    """Of nodes on several hosts, those on this one; empty where all are."""
    host_name: str = ""
    """Of this host among several."""
    shares: list = field(default_factory=list)
    """Folders of this machine that nodes see (share.Share)."""
    boot_timeout: float = 0.0
    """Seconds a node has to boot; 0: BOOT_TIMEOUT or DISK_BOOT_TIMEOUT."""
    accel: str = ""
    accel_reason: str = "asked for"

    def __post_init__(self):
        self.name = self.name or f"run-{os.getpid()}-{secrets.token_hex(2)}"
        if not self.accel:
            self.accel, self.accel_reason = host.accelerator()
        self.boots_itself = bool(self.disk) and not self.kernel
        """Whether firmware starts what is on the disk."""
        self.kernel = self.kernel or DEFAULT_KERNEL
        self.boot_timeout = self.boot_timeout or (DISK_BOOT_TIMEOUT if self.disk else BOOT_TIMEOUT)

    @property
    def fabric(self):
        """Name of the fabric; the segment is /dev/shm/aries-<name>."""
        return fabric.name_of(self.name)

    @property
    def fabrics(self):
        """Names of the parts of the fabric: on each host of several there is one, in the order of the hosts."""
        return [fabric.name_of(self.part(index)) for index in range(len(self.hosts))] if self.hosts else [self.fabric]

    def part(self, index):
        """Name of the cluster's part on one of several hosts."""
        return f"{self.name}.h{index}"

    def fabric_of(self, node):
        """Name of the fabric where a node lives."""
        index = next((index for index, entry in enumerate(self.hosts) if node in entry.nodes), 0)
        return self.fabrics[index]

    @property
    def addresses(self):
        """Node addresses of the fabric: gateways between hosts have one, behind those of the nodes."""
        return self.nodes + bool(self.hosts or self.here)

    @property
    def dir(self):
        """Where logs and sockets of this cluster are."""
        return host.RUN / self.name

    @cached_property
    def layout(self):
        """The Machine. ConfigError if there is none like it."""
        if self.machine and self.shape:
            raise UsageError("a machine has a shape of its own: give either --machine or --shape")
        return Machine.load(self.machine) if self.machine else Machine(self.addresses, *self.shape)

    @cached_property
    def places(self):
        """The place of each node."""
        if self.place and not self.machine:
            raise UsageError("--place needs --machine: where there are as many places as nodes, node N sits at place N")
        return self.layout.places(self.place or "packed", self.nodes)

    @property
    def gateway_place(self):
        """Where gateways sit: at a place that no node has."""
        taken = set(self.places)
        wanted = [self.nodes, *range(self.layout.nodes)]
        free = next((place for place in wanted if place < self.layout.nodes and place not in taken), None)
        if free is None:
            raise ConfigError(f"{self.nodes} nodes fill the machine: gateways between hosts need a place, too")
        return free

    @property
    def net_group(self):
        """Multicast group and port on the loopback interface that stand for the wire of this cluster."""
        digest = zlib.crc32(self.fabric.encode())
        return f"239.77.{digest >> 8 & 0xff}.{digest & 0xff}:{20000 + (digest >> 16) % 40000}"

    def make_dir(self):
        """Make that folder."""
        try:
            self.dir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._no_dir(error) from None

    def _no_dir(self, error):
        return ConfigError(f"cannot make the cluster's folder {self.dir}: {error.strerror}: set {host.STATE_VARIABLE} to another place")

    def claim(self):
        """Take the name for this process and empty the folder; the locks.Claim. ConfigError if another process has the name."""
        self.make_dir()
        try:
            claim = locks.Claim(self.dir / PID)
        except OSError as error:
            raise self._no_dir(error) from None
        except ConfigError:
            raise self._running(self.owner()) from None
        try:
            for path in self.dir.iterdir():
                if path.name != PID:
                    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        except OSError as error:
            claim.release()
            raise self._no_dir(error) from None
        return claim

    def _running(self, owner):
        return ConfigError(f"cluster {self.name} is running (process {owner or 'unknown'}): end it with"
                           f" '{host.SCRIPTS}cluster down --name {self.name}', or take another --name")

    def qemu_path(self):
        """The QEMU binary to run."""
        if self.qemu in QEMUS:
            folder = "libexec/opengni" if self.qemu == "7.2" else f"libexec/opengni/qemu-{self.qemu}"
            return host.product(f"{QEMUS[self.qemu]}/bin/qemu-system-x86_64", f"{folder}/qemu-system-x86_64")
        return Path(self.qemu)

    def kernel_path(self):
        """The kernel image to boot."""
        if self.kernel in KERNELS:
            return kernel_image(self.kernel)
        return Path(self.kernel)

    def initrd_path(self):
        """The initrd to boot with, or None."""
        if self.initrd:
            return Path(self.initrd)
        if self.disk or self.kernel not in KERNELS:
            return None
        name = f"initramfs-{'ssh-' if self.ssh else ''}{self.kernel}.cpio"
        return host.product(name, f"lib/opengni/images/{name}")

    @property
    def built_release(self):
        """Release of a kernel that `make` has unpacked, '' of others."""
        try:
            return (self.kernel_path().parent / "release").read_text(encoding="ascii").strip() if self.kernel in MODULAR_KERNELS else ""
        except OSError:
            return ""

    @property
    def uses_built_image(self):
        """Whether such a kernel is booted with a file system of `make` and nothing else."""
        return bool(self.built_release) and not self.disk and not self.initrd

    def validate(self):
        """Raise ConfigError for what can be known to fail before anything is started."""
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}", self.name):
            raise UsageError(f"cluster name '{self.name}' is not 1 to 40 letters, digits, '_', '.' or '-'")
        if len(self.fabric) > FABRIC_MAX:
            raise UsageError(f"cluster name '{self.name}' has too many '_' and '.': its fabric would be {self.fabric}")
        if not 1 <= self.nodes <= NODES_MAX - (self.addresses - self.nodes):
            raise UsageError(f"{self.nodes} nodes: a fabric has 1 to {NODES_MAX} node addresses"
                             + (", one of them for gateways" if self.addresses > self.nodes else ""))
        if not 1 <= self.smp <= 64:
            raise UsageError(f"{self.smp} processors a node: 1 to 64 are possible")
        if self.mem_mib < MEM_MIN_MIB:
            raise UsageError(f"{self.mem_mib} MiB a node is too little to boot: give at least {MEM_MIN_MIB}M")
        if self.hosts:
            self._validate_hosts()
        else:
            self._validate_files()
            self._validate_disk()
            self._validate_memory()
        share.validate(self)
        _ = self.places
        owner = self.owner()
        if owner is not None:
            raise self._running(owner)
        fabric.check_free(self.fabric)

    def owner(self):
        """Number of the process that runs a cluster of this name, 0 if it has not told yet, None if there is none."""
        return locks.holder(self.dir / PID)

    def _validate_hosts(self):
        """What hosts look at themselves is left to them."""
        for option, value in (("--net", self.net), ("--ssh", self.ssh)):
            if value:
                raise UsageError(f"{option} is a network of this machine alone: nodes on several hosts have --net ipogif")
        if self.shares:
            raise UsageError("--share is about a folder of this machine, which nodes on other hosts do not see")
        if not self.with_nic or not self.agent:
            raise UsageError("--no-nic and --no-agent are for nodes on one host")
        for name in ("fabric", "node", "nodes", "place", "machine-nodes", "routers-per-chassis", "chassis-per-group"):
            if name in self.nic:
                raise UsageError(f"--nic {name} would differ from what gateways are told: the hosts file, --machine and --shape say it")
        _ = self.gateway_place

    def for_host(self, index):
        """Fields of the configuration for one of the hosts, as JSON takes them. What is found by looking around is found there."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        for name in ("hosts", "launcher", "remote_command", "accel", "accel_reason"):
            del fields[name]
        if self.boots_itself:
            fields["kernel"] = ""
        target = self.hosts[index]
        return {**fields, "name": self.part(index), "here": list(target.nodes), "host_name": target.name}

    def _validate_files(self):
        if self.kernel not in KERNELS and "/" not in self.kernel and not Path(self.kernel).exists():
            raise UsageError(f"unknown kernel '{self.kernel}': {', '.join(KERNELS)} or the path of an image")
        if self.qemu not in QEMUS and "/" not in self.qemu:
            raise UsageError(f"no QEMU '{self.qemu}': {', '.join(QEMUS)} or the path of a binary")
        target = "qemu" if self.qemu == "7.2" else f"qemu QEMU={self.qemu}" if self.qemu in QEMUS else ""
        way_out = host.missing(target, "opengni-qemu" if target == "qemu" else "") if target else "give another path"
        need = [("QEMU", self.qemu_path(), way_out)]
        if not self.boots_itself:
            need.append(("kernel", self.kernel_path(), self._way_out("kernel")))
        if self.initrd_path():
            need.append(("initrd", self.initrd_path(), self._way_out("initramfs")))
        if self.disk:
            need.append(("disk image", Path(self.disk), "give another with --disk"))
        for name in FIRMWARE_FILES if self.qemu in QEMUS else ():  # another QEMU may have its own
            if not any((folder / name).is_file() for folder in host.FIRMWARE):
                raise ConfigError(f"QEMU's firmware {name} is missing: install packages seabios and qemu-system-data")
        for what, path, way_out in need:
            if not path.is_file():
                raise ConfigError(f"{what} {path} is missing: {way_out}")
            if not os.access(path, os.R_OK):
                raise ConfigError(f"{what} {path} cannot be read")

    def _validate_disk(self):
        if not self.disk:
            for option, value in (("--keep", self.keep), ("--root", self.root)):
                if value:
                    raise UsageError(f"{option} is about a disk: give one with --disk")
            return
        if self.boots_itself:
            for option, value in (("--initrd", self.initrd), ("--root", self.root)):
                if value:
                    raise UsageError(f"{option} goes with --kernel: without it the disk's own boot loader starts its system")
        elif self.kernel in MODULAR_KERNELS and not self.initrd:
            raise ConfigError(f"--kernel {self.kernel} has the disk's driver as a module: give an --initrd with it,"
                              " or no --kernel, and the disk's own boot loader starts its system")
        disk.validate(self)

    def _way_out(self, target):
        if target == "initramfs" and self.ssh:
            target = "ssh-image"
        if self.kernel == "debug":
            return "make check-debug"
        if self.kernel == "kcsan":
            return "make check-debug ARGS=--kcsan"
        if self.kernel == "own":
            return f"make {target} KDIR=FOLDER"
        known = self.kernel in KERNELS and not (target != "kernel" and self.initrd)
        if not known:
            return "give another path"
        return host.missing(f"{target} KERNEL={self.kernel}", "opengni-image" if self.kernel == KERNELS[0] and not self.ssh else "")

    def _validate_memory(self):
        nodes = len(self.here) or self.nodes
        need = nodes * (self.mem_mib + OVERHEAD_MIB)
        have = host.available_mib()
        if have is not None and need > have:
            most = have // (self.mem_mib + OVERHEAD_MIB)
            raise ConfigError(
                f"no memory for {nodes} nodes of {self.mem_mib} MiB: {need} MiB needed, {have} MiB available"
                f" (at most {most} nodes, or less with --mem)"
            )
