# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts of a cluster reached as people reach them: by ssh, and by srun in an allocation of a Slurm that the test starts."""

import os
import shutil
import signal
import socket
import subprocess
import unittest
from pathlib import Path

from hosts_cluster import BOUND, NAMES, Hosts
from gnitest.testing import slow_tests, wait_until
from opengni import host

CLUSTER = host.TOP / "scripts/cluster"
SHAPE = ("--smp=1", "--mem=256M")
ALL = "cat /sys/class/gni/kgni0/nodes_up"


class Ssh(Hosts):
    """sshd (dropbear) on both hosts; the head is on the first one."""

    @classmethod
    def setUpClass(cls):
        for tool in ("dropbear", "dropbearkey", "ssh", "ssh-keygen"):
            if not shutil.which(tool):
                raise unittest.SkipTest(f"{tool} is not installed")
        super().setUpClass()
        folder = cls.folder
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / "id"], check=True)
        subprocess.run(["dropbearkey", "-t", "ed25519", "-f", folder / "host"], check=True, capture_output=True)
        home = folder / "home"
        home.mkdir(mode=0o700)
        shutil.copy(folder / "id.pub", home / "authorized_keys")
        for i in range(len(NAMES)):
            # only in the hosts' view of the file system: who runs this keeps his own keys
            cls.hosts.run(i, "mkdir", "-p", "-m", "700", "/root/.ssh")
            cls.hosts.run(i, "mount", "--bind", home, "/root/.ssh")
            with open(folder / f"sshd{i}", "w", encoding="ascii") as log:
                cls.hosts.start(i, "dropbear", "-F", "-E", "-s", "-r", folder / "host", "-p", f"{cls.hosts.address(i)}:2222", "-P", folder / f"pid{i}",
                                stdout=log, stderr=log)
        (folder / "config").write_text("".join(
            f"Host {name}\n HostName {cls.hosts.address(i)}\n Port 2222\n User root\n IdentityFile {folder}/id\n IdentitiesOnly yes\n"
            f" StrictHostKeyChecking no\n UserKnownHostsFile {folder}/known\n LogLevel ERROR\n" for i, name in enumerate(NAMES)), encoding="ascii")
        (folder / "hosts").write_text(cls.hosts_text("0", "1"), encoding="ascii")

    def cluster(self, *arguments, **options):
        """scripts/cluster on the first host."""
        return self.hosts.run(0, CLUSTER, *arguments, check=False, timeout=4 * BOUND, **options)

    def shape(self, config="config"):
        """Options of up and run."""
        return ("--hosts", self.folder / "hosts", "--launcher", f"ssh -F {self.folder / config}", *SHAPE)

    def test_a_program_on_two_hosts(self):
        result = self.cluster("run", *self.shape(), "--", "sh", "-c", f"uname -n; {ALL}")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(sorted(result.stdout.splitlines()), ["node 0: 0-1", "node 0: node0", "node 1: 0-1", "node 1: node1"])
        self.assert_nothing_left()

    def test_no_way_in(self):
        """A key that is not let in: one line for each host, with ssh's own words, at once."""
        text = (self.folder / "config").read_text(encoding="ascii").replace(f"{self.folder}/id", "/dev/null")
        (self.folder / "locked").write_text(text, encoding="ascii")
        result = self.cluster("run", *self.shape("locked"), "--", "true")
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertEqual(sorted(line.partition(": ")[0] for line in result.stderr.replace("scripts/cluster: ", "").splitlines()),
                         ["host alpha", "host beta"], result.stderr)
        self.assertIn("Permission denied", result.stderr)

    def test_a_connection_is_lost(self):
        name = f"ssh-{os.getpid()}"
        up = self.cluster("up", "--name", name, *self.shape(), stdin=subprocess.DEVNULL)
        self.assertEqual(up.returncode, 0, up.stderr)
        try:
            server = (self.folder / "pid1").read_text(encoding="ascii").strip()
            self.hosts.run(1, "pkill", "-KILL", "-P", server)
            self.assertTrue(wait_until(lambda: "node 1: host gone" in self.cluster("status", "--name", name).stdout, BOUND))
            self.assertTrue(wait_until(lambda: not self.left(1), BOUND), f"left on beta:\n{self.left(1)}")
            alone = self.cluster("exec", "--name", name, "--node", "0", "--", "uname", "-n")
            self.assertEqual(alone.stdout, "node0\n", alone.stderr)
        finally:
            self.cluster("down", "--name", name)
        self.assert_nothing_left()


SLURM = """\
ClusterName=opengni
SlurmctldHost={machine}({first})
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={place}/munge/socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
ReturnToService=2
StateSaveLocation={place}/state
SlurmctldPidFile={place}/ctld.pid
SlurmctldLogFile={place}/ctld.log
SlurmdPidFile={place}/%n.pid
SlurmdSpoolDir={place}/spool.%n
SlurmdLogFile={place}/%n.log
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


@unittest.skipUnless(slow_tests(), "takes two minutes")
class Slurm(Hosts):
    """A Slurm of two hosts, in the hands of the test alone."""

    @classmethod
    def setUpClass(cls):
        for tool in ("slurmctld", "slurmd", "srun", "salloc", "munged"):
            if not shutil.which(tool):
                raise unittest.SkipTest(f"{tool} is not installed: scripts/setup.sh hosts")
        super().setUpClass()
        # munged wants each folder above its files to be safe, and /tmp is not
        place = Path("/run") / f"opengni-slurm-{os.getpid()}"
        place.mkdir(mode=0o755)
        cls.addClassCleanup(shutil.rmtree, place)
        (place / "state").mkdir()
        (place / "munge").mkdir()
        (place / "munge/key").write_bytes(os.urandom(64))
        (place / "munge/key").chmod(0o600)
        machine = socket.gethostname().partition(".")[0]
        nodes = "".join(f"NodeName={name} NodeHostname={machine} NodeAddr={cls.hosts.address(i)} Port={17001 + i} CPUs=2 RealMemory=1000\n"
                        for i, name in enumerate(NAMES))
        (place / "slurm.conf").write_text(SLURM.format(machine=machine, first=cls.hosts.address(0), place=place) + nodes, encoding="ascii")
        cls.environment = {**os.environ, "SLURM_CONF": str(place / "slurm.conf")}
        cls.place = place
        cls.log = cls.enterClassContext(open(cls.folder / "slurm.log", "w+", encoding="utf-8"))  # pylint: disable=consider-using-with
        munge = [word for name in ("socket", "pid", "log", "seed") for word in (f"--{name}{'-file' * (name != 'socket')}", place / "munge" / name)]
        cls.daemon(0, "munged", "--foreground", "--force", "--key-file", place / "munge/key", *munge)
        if not wait_until((place / "munge/socket").exists, BOUND):
            raise AssertionError(cls.said())
        cls.daemon(0, "slurmctld", "-D", "-i")
        for i, name in enumerate(NAMES):
            cls.daemon(i, "slurmd", "-D", "-N", name)
        if not wait_until(lambda: cls.ask("sinfo", "-h", "-t", "idle", "-o", "%D").strip() == "2", BOUND):
            raise AssertionError(cls.said())

    @classmethod
    def daemon(cls, i, *command):
        """One of Slurm's, on a host."""
        cls.hosts.start(i, *command, stdout=cls.log, stderr=cls.log, env=cls.environment)

    @classmethod
    def said(cls):
        """By the daemons, for messages."""
        return (cls.folder / "slurm.log").read_text(encoding="utf-8", errors="replace")[-4000:]

    @classmethod
    def ask(cls, *command):
        """What a command on the first host prints."""
        return cls.hosts.run(0, *command, check=False, env=cls.environment, timeout=4 * BOUND).stdout

    def test_run_in_an_allocation(self):
        said = self.ask("salloc", "-Q", "-N2", CLUSTER, "run", "-q", "--hosts", "slurm", "-n", "3", *SHAPE, "--", "sh", "-c", f"uname -n; {ALL}")
        self.assertEqual(sorted(said.splitlines()), sorted(f"node {node}: {text}" for node in range(3) for text in (f"node{node}", "0-2")), self.said())
        self.assert_nothing_left()

    def test_join(self):
        """srun ... cluster join: the step lasts as long as the cluster."""
        name = f"slurm-{os.getpid()}"
        step = self.hosts.start(0, "srun", "-N2", "--ntasks-per-node=1", CLUSTER, "join", "--name", name, *SHAPE, env=self.environment,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        try:
            self.assertTrue(wait_until(lambda: self.ask(CLUSTER, "status", "--name", name).count(": up") == 2, BOUND, 1.0), self.said())
            self.assertEqual(sorted(self.ask(CLUSTER, "exec", "--name", name, "--", "sh", "-c", ALL).splitlines()), ["node 0: 0-1", "node 1: 0-1"])
            self.ask(CLUSTER, "down", "--name", name)
            self.assertEqual(step.wait(BOUND), 0, self.said())
        finally:
            if step.poll() is None:
                self.hosts.signal(step, signal.SIGKILL)
        self.assert_nothing_left()

    def test_a_job_that_is_cancelled(self):
        name = f"slurm-{os.getpid()}"
        step = self.hosts.start(0, "srun", "-N2", "--ntasks-per-node=1", "--job-name=opengni", CLUSTER, "join", "--name", name, *SHAPE,
                                env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        self.assertTrue(wait_until(lambda: self.ask(CLUSTER, "status", "--name", name).count(": up") == 2, BOUND, 1.0), self.said())
        self.ask("scancel", "--name=opengni")
        step.wait(BOUND)
        self.assert_nothing_left()

    def test_not_in_an_allocation(self):
        result = self.hosts.run(0, CLUSTER, "run", "--hosts", "slurm", "--", "true", check=False, env=self.environment)
        self.assertIn("SLURM_JOB_NODELIST is not set", result.stderr)
