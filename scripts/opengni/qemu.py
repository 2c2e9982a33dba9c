# SPDX-License-Identifier: GPL-2.0-or-later
"""The QEMU command line of one node."""

import shlex

from . import disk, host, kernel_image, share
from .errors import ConfigError

AGENT_PORT = "org.opengni.agent"
# Linux on x86 cuts off what is longer, without a word.
KERNEL_WORDS_MAX = 2047


def _machine(config):
    # TCG copies byte by byte for "rep movsb", so the guest must not use it. FSRM has to go with ERMS: a Linux that finds
    # only FSRM, which QEMU 10 has, takes a memmove() without a loop for less than 32 bytes, and dies at boot.
    cpu = "host" if config.accel == "kvm" else "max,-erms,-fsrm"
    accel = "kvm" if config.accel == "kvm" else "tcg,thread=multi"
    size = f"{config.mem_mib}M"
    return [
        # Firmware and kernel look for disks, keyboard and the like and wait for answers, a tenth of a boot; a node has none of them.
        "-machine", "q35,memory-backend=ram,sata=off,smbus=off,i8042=off", "-accel", accel, "-cpu", cpu, "-smp", str(config.smp), "-m", size,
        # Peers put and get by mapping this memory: so it must be shared.
        "-object", f"memory-backend-memfd,id=ram,size={size},share=on",
        "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
        *(word for folder in host.FIRMWARE for word in ("-L", str(folder))),
    ]


def _nic(config, node):
    if not config.with_nic:
        return []
    props = {"fabric": config.fabric, "node": node, "nodes": config.addresses}
    place = config.places[node]
    if config.machine:
        props.update(config.layout.properties, place=place)
    elif config.shape:
        props["routers-per-chassis"], props["chassis-per-group"] = config.shape
    props.update(config.nic)
    text = ",".join(f"{key}={value}" for key, value in props.items())
    return [
        # Hot-plug by the root port itself: with ACPI's the link looks down after a bus reset, and AER recovery fails.
        "-global", "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off",
        "-device", "pcie-root-port,id=rp0,chassis=1,x-speed=8,x-width=16",
        "-device", f"aries-nic,id=nic0,bus=rp0,{text}",
    ]


def _ethernet(config, node):
    if not config.net:
        return []
    mac = f"52:54:00:4e:{node >> 8:02x}:{node & 0xff:02x}"
    return [
        "-netdev", f"socket,id=net0,mcast={config.net_group},localaddr=127.0.0.1",
        "-device", f"virtio-net-pci,netdev=net0,mac={mac},romfile=",
    ]


def _user_network(config, node):
    if not config.user_net:
        return []
    mac = f"52:54:00:4f:{node >> 8:02x}:{node & 0xff:02x}"
    return ["-netdev", "user,id=user0", "-device", f"virtio-net-pci,netdev=user0,mac={mac},romfile="]


def kernel_arguments(config, node):
    """What a node's kernel and system are told."""
    words = ["quiet", "panic=-1", f"opengni.node={node}", f"opengni.nodes={config.nodes}"]
    if config.accel == "tcg":
        # Without it two TCG processors make the guest give up the TSC, and a clock read costs five times more.
        # On a busy host ten timer interrupts may take longer than the kernel's test of the timer is patient: it panics.
        # Nobody listens at an emulated processor's side channels, and to fend that off takes a fifth of a network driver's time.
        # The kernel's own tests of its ciphers, at each boot of a node, take a tenth of the boot's processor time.
        # QEMU 7.2 translates a program anew for each address that it runs at, which is most of what a short program costs, and a page that
        # has been run at thousands of addresses takes seconds for each byte that is stored to it later.
        words += ["tsc=reliable", "no_timer_check", "mitigations=off", "cryptomgr.notests", "norandmaps"]
        # QEMU's counter is the host's. A kernel that measures it while the host is busy may take it for a hundred times slower, and then
        # a second of that node, with all its time-outs, is over in ten milliseconds.
        if rate := host.tsc_khz():
            words.append(f"tsc_early_khz={rate}")
        # A busy host may leave an emulated processor without time for longer than the kernel's watchdogs take for a hang.
        words += ["watchdog_thresh=60", "rcupdate.rcu_cpu_stall_timeout=120"]
    if config.disk and not config.boots_itself:
        words.append(f"root={config.root or '/dev/vda1'} rw")
    if not config.load_driver:
        words.append("opengni.noload")
        if config.disk:  # there it is udev that loads it
            words.append("modprobe.blacklist=aries")
    if config.net:
        words.append("opengni.net")
    if config.user_net:
        words.append("opengni.user-net")
    if config.ipogif:
        words.append("opengni.ipogif")
    if config.machine or config.shape:
        words.append(f"opengni.places={config.layout.places_word(config.places)}")
    if config.append:
        words.append(config.append)
    return " ".join(words)


def _system(config, node):
    """What is booted, and the words for it."""
    words = kernel_arguments(config, node)
    if config.boots_itself:
        # The disk's boot loader has the kernel's command line: what reaches it, or the system, is in the machine's own description.
        return ["-smbios", f"type=11,value={words.replace(',', ',,')}"]
    words = f"console=ttyS0 {words}"
    if len(words) > KERNEL_WORDS_MAX:
        raise ConfigError(f"the kernel would be told {len(words)} bytes, and takes {KERNEL_WORDS_MAX}: give less with --append")
    line = ["-kernel", str(kernel_image.to_boot(config.kernel_path())), "-append", words]
    return line + (["-initrd", str(config.initrd_path())] if config.initrd_path() else [])


def command(config, node, paths):
    """Arguments for one node; paths: node.Paths."""
    line = [str(config.qemu_path()), *_machine(config), *_nic(config, node), *_system(config, node)]
    line += disk.arguments(config, node) + share.arguments(config)
    line += _ethernet(config, node) + _user_network(config, node)
    # Whoever reads or types along comes through the socket; the log is written in any case.
    line += ["-chardev", f"socket,id=console,path={paths.serial},server=on,wait=off,logfile={paths.console},logappend=off",
             "-serial", "chardev:console", "-device", "virtio-rng-pci"]
    line += ["-qmp", f"unix:{paths.qmp},server=on,wait=off"]
    line += [
        "-device", "virtio-serial-pci",
        "-chardev", f"socket,id=agent,path={paths.agent},server=on,wait=off",
        "-device", f"virtserialport,chardev=agent,name={AGENT_PORT}",
    ]
    return line + list(config.qemu_args)


def printable(line):
    """The command line as text that a shell takes."""
    return shlex.join(line)
