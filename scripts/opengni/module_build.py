# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds modules for the kernel of a cluster's nodes: driver, kGNI, clients and their tests in this tree, and folders of others."""

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
from pathlib import Path

from . import host, modules
from .config import KERNELS
from .errors import ConfigError

TELLING = re.compile(r"(^|[^-\w])(error|fatal|undefined|ERROR)([^\w]|$)")
LINES = 12
"""Of a build's output in a message."""


def _text(path):
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def kernel_tree(release):
    """The folder that modules for this kernel are built in. ConfigError if there is none."""
    kind = next((name for name in KERNELS if _text(host.BUILD / f"kernel-{name}/release") == release), None)
    if kind == "own":
        tree = host.BUILD / "kernel-own/kdir"
    elif kind == "debug":
        tree = host.BUILD / "kernel-debug/src"
    else:
        tree = Path(f"/lib/modules/{release}/build")
    if not (tree / "Makefile").exists():
        raise ConfigError(f"nothing can be built for Linux {release}: there is no {tree}; install package linux-headers-{release},"
                          " or give modules that are built (FILE.ko)")
    return tree


@contextlib.contextmanager
def _turn(*steps):
    """As the step of the build that has this name: two builds in one tree take turns."""
    (host.BUILD / "stamps").mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        for step in steps:
            fcntl.flock(stack.enter_context(open(host.BUILD / "stamps" / f"{step}.lock", "w", encoding="ascii")), fcntl.LOCK_EX)
        yield


def run_make(what, *words, log="insmod"):
    """make with these arguments. ConfigError has the last lines that tell why it has failed."""
    path = host.BUILD / "logs" / f"{log}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    env = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "V")}
    jobs = os.environ.get("JOBS") or str(host.cpus())
    done = subprocess.run(["make", "-s", f"-j{jobs}", *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, env={**env, "LC_ALL": "C"})
    path.write_bytes(done.stdout)
    if done.returncode:
        lines = done.stdout.decode("utf-8", "replace").splitlines()
        telling = [line for line in lines if TELLING.search(line) and not line.startswith("make")] or lines
        raise ConfigError(f"{what} does not build (all of it: {path}):\n" + "\n".join(f"    {line}" for line in telling[-LINES:]))


def _compiler(tree):
    """That of check-debug, whose kernel is built through ccache: another one would compile all anew."""
    return ("CC=ccache gcc",) if tree == host.BUILD / "kernel-debug/src" and shutil.which("ccache") else ()


def project(release):
    """Build the modules of this tree; Modules by name, and where there is no tree (after installation) none."""
    if host.PREFIX:
        return {}
    tree = kernel_tree(release)
    driver, kgni, gen = host.BUILD / f"driver-{release}", host.BUILD / f"kgni-{release}", host.BUILD / "gen"
    common = (f"KDIR={tree}", f"GEN={gen}", *_compiler(tree))
    with _turn("driver", "kgni"):
        run_make("the driver", "-C", host.TOP / "driver", f"BUILD={driver}", "ARIES_TESTS=m", *common)
        run_make("kGNI", "-C", host.TOP / "kgni", f"BUILD={kgni}", f"ARIES={driver}", "KGNI_TESTS=m", *common)
    return modules.below(driver, kgni)


def _interface(release):
    """Variables by which clients outside of this tree find gni_pub.h and the symbols of kgni.ko."""
    if host.PREFIX:
        raise ConfigError("folders with sources are built in the source tree of OpenGNI; give the modules (FILE.ko)")
    driver, kgni = host.BUILD / f"driver-{release}", host.BUILD / f"kgni-{release}"
    flags = f"-I{kgni / 'public'} -DCRAY_CONFIG_GHAL_ARIES"
    return (f"GNI_CFLAGS={flags}", f"GNICPPFLAGS={flags}", f"KBUILD_EXTRA_SYMBOLS={driver / 'Module.symvers'} {kgni / 'Module.symvers'}")


def folder(path, release):
    """Build the modules of a folder that has a Kbuild or Makefile for the kernel's build; Modules by name."""
    path = Path(path).resolve()
    for own in (host.TOP / "driver", host.TOP / "kgni"):
        if path == own or own in path.parents:
            raise ConfigError(f"what is in {own} is built as a whole, and elsewhere: name its modules, such as kgni")
    if not any((path / name).exists() for name in ("Kbuild", "Makefile")):
        raise ConfigError(f"{path} has neither Kbuild nor Makefile")
    tree = kernel_tree(release)
    run_make(path, "-C", tree, f"M={path}", *_interface(release), *_compiler(tree), "modules")
    found = modules.below(path)
    if not found:
        raise ConfigError(f"{path} has been built, but there is no module (FILE.ko) in it: does its Kbuild have a line 'obj-m := NAME.o'?")
    return found


def selftest(collection, name):
    """Build a test of selftests/; the path of the program. ConfigError if there is none of that name."""
    sources = host.TOP / "selftests" / collection
    if host.PREFIX or not (sources / "Makefile").exists():
        raise ConfigError(f"there is no collection of tests '{collection}' in {host.TOP / 'selftests'}")
    if not (sources / f"{name}.c").exists():
        raise ConfigError(f"there is no test '{name}' in {sources}")
    if not (host.BUILD / "linux-source/tools/testing/selftests/lib.mk").exists():
        raise ConfigError("the kernel's test harness is missing: make linux-source")
    output = host.BUILD / "selftests" / collection
    with _turn("selftests"):
        run_make(f"{collection}/{name}", "-C", sources, f"OUTPUT={output}", f"BUILD={host.BUILD}", output / name)
    return output / name
