# SPDX-License-Identifier: GPL-2.0-or-later
"""One test of the host's, between two edits: what it needs is built, and nothing else, in the folders that `make check` uses as well."""

import argparse
import difflib
import json
import os
import subprocess
import sys

from opengni import host
from opengni.arguments import Parser
from opengni.errors import ClusterError, ConfigError, UsageError

# By the name of its layer: folder below .build, sources.
PROJECTS = {
    "model": ("model", "qemu-device/model"),
    "sim": ("sim", "qemu-device/sim"),
    "driver": ("driver-check", "driver/tests"),
    "kgni": ("kgni-check", "kgni/tests"),
    "userlib": ("userlib-check", "userlib"),
}
EPILOG = """examples:
  scripts/unit model/amo               a test of the model
  scripts/unit userlib                 the names of the library's tests
  scripts/unit kgni/smsg kgni/tell     two of kGNI's
"""


def _introspect(build):
    done = subprocess.run(["meson", "introspect", str(build), "--tests"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ConfigError(f"{build}: {(done.stderr or done.stdout).strip()}")
    return sorted({test["name"] for test in json.loads(done.stdout)})


def _configure(project):
    """The folder of a project, configured; the names of its tests."""
    name, source = PROJECTS[project]
    build = host.BUILD / name
    done = subprocess.run([host.TOP / "scripts/build-meson.sh", build, host.TOP / source, "--", "build.ninja"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise ConfigError(f"{source} cannot be configured:\n{done.stdout.rstrip()}")
    return build, _introspect(build)


def parse(words):
    """Names of tests by project; a project without a name has none."""
    wanted = {}
    for word in words:
        project, slash, name = word.partition("/")
        if project not in PROJECTS:
            raise UsageError(f"there is no '{project}': {', '.join(PROJECTS)}")
        wanted.setdefault(project, [])
        if slash:
            wanted[project].append(name.removeprefix("test_"))
    return wanted


def run(wanted):
    """Build and run, or list the tests of projects; the exit status."""
    status = 0
    for project, names in wanted.items():
        build, known = _configure(project)
        if not names:
            print("\n".join(f"{project}/{name}" for name in known))
            continue
        for name in names:
            if name not in known:
                near = ", ".join(f"{project}/{other}" for other in difflib.get_close_matches(name, known)) or f"scripts/unit {project} lists them"
                raise ConfigError(f"there is no test '{project}/{name}': {near}")
        sys.stdout.flush()
        # those that measure time against meson's limits would fail on a busy machine
        done = subprocess.run(["meson", "test", "-C", str(build), "--print-errorlogs", "--timeout-multiplier", "0", *names],
                              stdin=subprocess.DEVNULL, check=False,
                              env={"ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0", "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1", **os.environ})
        status = status or (1 if done.returncode else 0)
    return status


def parser():
    """The argument parser."""
    top = Parser(prog="scripts/unit", description="Build one test of those that run on this machine, with what it needs, and run it.", epilog=EPILOG,
                 formatter_class=argparse.RawDescriptionHelpFormatter)
    top.add_argument("test", nargs="+", metavar="PROJECT/TEST", help=f"the test; PROJECT is one of {', '.join(PROJECTS)}, and alone lists its tests")
    return top


def main(argv):
    """0 all passed, 1 not, or an error, 2 wrong usage."""
    args = parser().parse_args(argv)
    try:
        return run(parse(args.test))
    except ClusterError as error:
        print(f"scripts/unit: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
