# SPDX-License-Identifier: GPL-2.0-or-later
"""What all checks of the interop target share: the report, and how clients are started on the nodes."""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import testlib  # noqa: E402,F401  (needs the path)
from opengni import host  # noqa: E402
from opengni.errors import ClusterError  # noqa: E402

OUT = host.BUILD / "interop"
MPI = "/opt/openmpi/bin"
COOKIE = 0x1234567
JOB = 77


class Report:
    """Prints checks as they end.

    PASS: as it should be. FAIL: not. NONE: cannot be asked of this build, with the reason.
    """

    def __init__(self, log):
        self.log = log
        self.count = {"PASS": 0, "FAIL": 0, "NONE": 0}

    def add(self, verdict, name, detail=""):
        """One check."""
        self.count[verdict] += 1
        line = f"{verdict}  {name}{': ' + detail if detail else ''}"
        self.log.write(line + "\n")
        print(line, flush=True)

    def note(self, text):
        """A line that is no check."""
        self.log.write(text + "\n")
        print(f"      {text}", flush=True)

    def check(self, name, function, *arguments):
        """Run a check: it returns a detail, or raises AssertionError or ClusterError."""
        start = time.monotonic()
        self.log.write(f"\n==== {name}\n")
        try:
            detail = function(*arguments)
        except (AssertionError, ClusterError) as error:
            self.add("FAIL", name, str(error).splitlines()[0] if str(error) else type(error).__name__)
            self.log.write(f"{error}\n")
        else:
            self.add("PASS", name, detail or "")
        self.log.write(f"({time.monotonic() - start:.1f} s)\n")
        self.log.flush()


class Guests:
    """The nodes, and how clients are started there."""

    def __init__(self, cluster, log):
        self.cluster, self.log = cluster, log
        self.nodes = cluster.config.nodes
        self.name = "node" if cluster.config.net else "hsn"
        """Of a node in the network that ssh takes, without its number."""

    def shell(self, node, text, timeout=120.0):
        """A command on a node that must end with 0; what it printed."""
        return self.judge(self.cluster.run(node, text, timeout=timeout))

    def aprun(self, argv, count, timeout=120.0, **options):
        """A program as aprun starts it, that must end with 0 everywhere; results of all ranks."""
        results = self.cluster.run_application(argv, count, timeout=timeout, **options)
        for result in results:
            self.judge(result)
        return results

    def judge(self, result):
        """Log what it printed and assert that it ended with 0."""
        self.log.write(result.stdout + result.stderr)
        last = (result.stderr or result.stdout or getattr(result, "error", "")).strip().splitlines()
        assert result.code == 0, f"exit status {result.code}: {last[-1] if last else ''}"
        return result.stdout

    def create_domain(self):
        """What a run by mpirun needs: the same domain on every node."""
        for node in range(self.nodes):
            self.shell(node, f"gni-domain create --job={JOB} --cookie={COOKIE}")

    def mpirun(self, options, program, nodes, ranks, timeout=300.0):
        """A program under Open MPI's own launcher, over ssh from node 0; what it printed."""
        hosts = ",".join(f"{self.name}{node}:{ranks // nodes}" for node in range(nodes))
        script = (f"export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;"
                  f" export $(gni-domain create --job={JOB} --cookie={COOKIE}); cd /root;"
                  f" exec {MPI}/mpirun --prefix /opt/openmpi --mca pml ob1 {options}"
                  f" -x PMI_GNI_PTAG -x PMI_GNI_COOKIE -host {hosts} -n {ranks} {program}")
        return self.shell(0, script, timeout)
