# SPDX-License-Identifier: GPL-2.0-or-later
"""What scripts/cluster does with nodes that run: files, consoles, traces, QMP, properties in words, ssh, gdb, the way out."""

import http.server
import json
import os
import pty
import re
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

from gnitest.testing import Apart, ClusterCase, together, wait_until
from opengni import host

TOOL = host.TOP / "scripts" / "cluster"
DISSECTOR = host.TOP / "scripts" / "wireshark" / "aries.lua"
TIME = 300.0


class Terminal:
    """A program at a terminal of its own; what it has printed is kept."""

    def __init__(self, command):
        self.text = b""
        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, close_fds=True, start_new_session=True)
        os.close(slave)
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self):
        try:
            while data := os.read(self._master, 4096):
                self.text += data
        except OSError:  # the other end is closed
            pass

    def type(self, data):
        """Keys."""
        os.write(self._master, data)

    def end(self):
        """Exit status."""
        status = self.process.wait(TIME)
        self._thread.join(TIME)
        os.close(self._master)
        return status


@together(Apart.ETHERNET)
class Commands(ClusterCase):
    CONFIG = {"net": True, "user_net": True, "append": "opengni.console"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster.serve()
        cls.folder = Path(tempfile.mkdtemp(prefix="opengni-commands-"))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)
        super().tearDownClass()

    def tool(self, operation, *words, **options):
        """The result of scripts/cluster OPERATION on this cluster."""
        command = [TOOL, operation, "--name", self.cluster.config.name, *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, timeout=TIME, check=False, **{"stdin": subprocess.DEVNULL, **options})

    def done(self, operation, *words, **options):
        """What it prints; it must succeed."""
        result = self.tool(operation, *words, **options)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def refused(self, pattern, operation, *words, status=1):
        """One line that matches."""
        result = self.tool(operation, *words)
        self.assertEqual((result.returncode, result.stdout), (status, ""))
        self.assertRegex(result.stderr, pattern)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)

    # ---- shell

    def test_a_script_for_a_shell(self):
        self.assertEqual(self.done("shell", 1, stdin=None, input="cd /tmp; echo $0 from $(uname -n), $(pwd)\n").split(" ", 1)[1], "from node1, /tmp\n")
        self.assertEqual(self.tool("shell", 1, stdin=None, input="exit 7\necho never\n").returncode, 7)
        self.assertEqual(self.tool("shell", 1, stdin=None, input="true\nfalse\n").returncode, 1)

    def test_a_shell_at_a_terminal(self):
        terminal = Terminal([TOOL, "shell", "--name", self.cluster.config.name, "1"])
        self.wait_for(lambda: b"# " in terminal.text, lambda: f"no prompt: {terminal.text!r}", TIME)
        terminal.type(b"tty; exit 4\n")
        self.assertEqual(terminal.end(), 4, terminal.text)
        self.assertIn(b"/dev/pts/", terminal.text)

    def test_a_working_directory_that_is_not_there(self):
        result = self.tool("exec", "--node", 0, "--cwd", "/nowhere", "--", "true")
        self.assertNotEqual(result.returncode, 0)
        self.assertEqual(result.stderr, "/nowhere: No such file or directory\n")

    # ---- insmod

    def test_modules_are_loaded_anew(self):
        self.succeed(self.cluster.run(0, "modprobe ipogif queues=2 && ip addr add 10.128.0.9/16 dev ipogif0"))
        result = self.tool("insmod", "--no-build", "kgni", "check_handles=1", "--test", "aries/abi")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("node 0: loaded kgni check_handles=1, ipogif buffer_mib=", result.stderr)
        self.assertIn("node 1: loaded kgni check_handles=1\n", result.stderr)
        self.assertIn("# Totals: pass:2 fail:0", result.stdout)
        said = self.cluster.run(0, "cd /sys/module; cat kgni/parameters/check_handles ipogif/parameters/queues; ip addr show ipogif0").stdout
        self.assertRegex(said, r"(?s)^Y\n2\n.*inet 10\.128\.0\.9/16")
        holder = self.cluster.start_job("exec 3</dev/kgni0; echo open; sleep 100", nodes=[1])
        self.wait_for(lambda: self.cluster.run(1, "ls -l /proc/[0-9]*/fd | grep -q /dev/kgni0").code == 0, "the device is not open", TIME)
        self.refused(r"node 1: aries is in use by process \d+ \((sh|sleep)\)", "insmod", "--no-build", "aries")
        holder.signal(9)
        self.succeed(self.cluster.run(0, "rmmod ipogif krca"))
        self.done("exec", "--node", "all", "--", "rmmod", "kgni")

    # ---- cp

    def make_tree(self, name):
        tree = self.folder / name
        (tree / "sub" / "empty").mkdir(parents=True)
        (tree / "a file").write_text("one\n", encoding="ascii")
        (tree / "sub" / "-program").write_text("#!/bin/sh\necho two\n", encoding="ascii")
        (tree / "a file").chmod(0o640)
        (tree / "sub" / "-program").chmod(0o751)
        (tree / "sub").chmod(0o700)
        (tree / "link").symlink_to("a file")
        os.link(tree / "a file", tree / "same")
        return tree

    def test_a_folder_goes_to_all_nodes_and_comes_back(self):
        tree = self.make_tree("tree")
        self.done("cp", tree, "all:/tmp")
        for node in range(self.NODES):
            said = self.cluster.run(node, "cd /tmp/tree && stat -c '%a %U' 'a file' sub sub/-program && readlink link && sub/-program")
            self.assertEqual(said.stdout, "640 root\n700 root\n751 root\na file\ntwo\n")
        self.done("cp", "node1:/tmp/tree", self.folder / "back")
        back = self.folder / "back"
        self.assertEqual(sorted(path.relative_to(back) for path in back.rglob("*")), sorted(path.relative_to(tree) for path in tree.rglob("*")))
        self.assertEqual((back / "a file").read_text(encoding="ascii"), "one\n")
        self.assertEqual([path.stat().st_mode & 0o777 for path in (back / "a file", back / "sub", back / "sub" / "-program")],
                         [0o640, 0o700, 0o751])
        self.assertEqual(os.readlink(back / "link"), "a file")

    def test_a_folder_that_is_there_is_filled(self):
        tree = self.make_tree("again")
        self.done("cp", tree, "0:/tmp")
        self.cluster.run(0, "echo kept >/tmp/again/other")
        (tree / "a file").write_text("new\n", encoding="ascii")
        self.done("cp", tree, "0:/tmp")
        self.assertEqual(self.cluster.run(0, "cd /tmp/again && cat other link").stdout, "kept\nnew\n")
        (self.folder / "mine" / "again").mkdir(parents=True)
        (self.folder / "mine" / "again" / "own").touch()
        for _ in range(2):
            self.done("cp", "0:/tmp/again", self.folder / "mine")
        self.assertTrue((self.folder / "mine" / "again" / "own").exists())
        self.assertEqual((self.folder / "mine" / "again" / "other").read_text(encoding="ascii"), "kept\n")

    def test_much_more_than_any_buffer(self):
        # the windows in both directions are filled many times
        size = 8 << 20
        source = self.folder / "much"
        source.write_bytes(os.urandom(1 << 20) * (size >> 20))
        self.done("cp", source, "0:/tmp/much")
        self.done("cp", "0:/tmp/much", self.folder / "much.back")
        self.assertEqual((self.folder / "much.back").read_bytes(), source.read_bytes())
        self.cluster.run(0, "rm /tmp/much")

    def test_what_cannot_be_copied_is_refused_and_leaves_nothing(self):
        big = self.folder / "full"
        with open(big, "wb") as out:
            out.truncate(3 << 20)
        self.cluster.run(1, "mkdir -p /mnt/small && mount -t tmpfs -o size=1m none /mnt/small && echo old >/mnt/small/full")
        self.refused(r"node 1: .*space", "cp", big, "1:/mnt/small")
        self.assertEqual(self.cluster.run(1, "cat /mnt/small/full; ls -A /mnt/small; umount /mnt/small").stdout, "old\nfull\n")
        self.refused("node 1: there is no folder /nowhere", "cp", big, "1:/nowhere/x")
        self.refused("node 1: there is no /nowhere", "cp", "1:/nowhere", self.folder)
        self.refused("there is no /nowhere", "cp", "/nowhere", "1:/tmp")
        self.refused("there is no folder /nowhere", "cp", "1:/etc", "/nowhere/etc")
        self.refused("no node 7", "cp", big, "7:/tmp")
        self.refused("both places are on nodes", "cp", "1:/etc", "0:/tmp", status=2)
        self.refused("neither .* is on a node", "cp", big, "/tmp", status=2)
        self.refused("neither file, folder nor link", "cp", "1:/dev", self.folder / "dev")
        self.assertFalse((self.folder / "dev").exists())
        self.assertEqual([path for path in self.folder.iterdir() if path.name.startswith(".cluster-cp")], [])

    def test_input_of_a_command_is_not_kept_in_between(self):
        # a program that takes its time must not make the tool, nor the node, hold all that is meant for it
        source = self.folder / "slow"
        source.write_bytes(b"x" * (12 << 20))
        with open(source, "rb") as stream:
            said = self.done("exec", "--node", 0, "--", "sh", "-c", "sleep 2; grep VmRSS /proc/$(pidof gni-agent)/status; wc -c", stdin=stream)
        kilobytes, count = int(said.split()[1]), int(said.split()[-1])
        self.assertEqual(count, 12 << 20)
        self.assertLess(kilobytes, 10 << 10)

    def test_output_that_is_read_late_is_whole(self):
        # more than the window by less than a pipe: the program has long ended when what it has said last may come
        command = [TOOL, "exec", "--name", self.cluster.config.name, "--node", "0", "--", "sh", "-c", "head -c 1100000 /dev/zero; echo end"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as late:
            wait_until(lambda: False, 3.0)
            self.assertEqual(late.communicate(timeout=TIME)[0][-4:], b"end\n")

    # ---- console

    def test_watchers_of_a_console(self):
        command = [TOOL, "console", "--name", self.cluster.config.name, "1"]
        first, second = Terminal(command), Terminal(command)
        for watcher in (first, second):
            self.wait_for(lambda text=watcher: b"Control-]" in text.text, lambda text=watcher: f"no session: {text.text!r}", TIME)
        # the connection has been made when the hint is there: what is typed at one is seen at both
        first.type(b"echo al''one $((6 * 7))\r")
        for watcher in (first, second):
            self.wait_for(lambda text=watcher: b"alone 42" in text.text, lambda text=watcher: f"nothing on the console: {text.text!r}", TIME)
        first.type(b"\x1d")
        self.assertEqual(first.end(), 0)
        self.assertIn("alone 42", self.done("console", "--log", 1))
        self.assertIn("alone 42", self.done("log", 1))
        follower = Terminal([TOOL, "log", "-f", "--name", self.cluster.config.name])
        for node in (0, 1):
            self.cluster.run(node, f"echo followed $((40 + {node})) >/dev/console")
            line = re.compile(rf"node {node}: .*followed {40 + node}".encode())  # behind the prompt of the shell there
            self.wait_for(lambda line=line: line.search(follower.text), lambda: repr(follower.text), TIME)
        follower.process.terminate()
        follower.end()
        second.type(b"echo st''ill $((6 * 8))\r")
        self.wait_for(lambda: b"still 48" in second.text, lambda: f"the other one has ended it: {second.text!r}", TIME)
        second.type(b"\x1d")
        self.assertEqual(second.end(), 0)

    # ---- the NIC and QEMU

    def test_traces(self):
        folder = self.folder / "traces"
        said = self.done("trace", "all", "start", folder, "--packets", 4)
        self.assertEqual(said.splitlines(), [str(folder / f"node{node}.pcapng") for node in range(self.NODES)])
        self.done("exec", "--", "gni-perf", "--tests", "fma-put", "--iterations", "10")
        status = self.done("trace", "all", "status")
        self.assertRegex(status, r"node 0: trace /.*/node0.pcapng packets [1-9]\d* bytes")
        self.done("trace", "all", "stop")
        self.assertEqual(self.done("trace", 0, "status"), "node 0: trace off\n")
        shown = subprocess.run(["tshark", "-X", f"lua_script:{DISSECTOR}", "-r", folder / "node0.pcapng", "-Y", "aries.kind == 0", "-c", "20"],
                               capture_output=True, text=True, timeout=TIME, check=False).stdout
        self.assertIn("Put 64 bytes", shown)
        self.refused("cannot write a trace to /nowhere/x", "trace", 0, "start", "/nowhere/x")
        self.refused("start needs a FILE", "trace", 0, "start", status=2)

    def test_qmp(self):
        self.assertTrue(json.loads(self.done("qmp", 0, "query-status"))["running"])
        self.assertEqual(json.loads(self.done("qmp", 0, "qom-get", '{"path": "/machine/peripheral/nic0", "property": "link"}')), 1)
        self.assertGreater(len(self.done("qmp", 0, "query-qmp-schema")), 1 << 17)
        self.refused("QEMU refuses 'nonsense'", "qmp", 0, "nonsense")
        self.refused("is not JSON", "qmp", 0, "qom-get", "{x", status=2)
        self.refused("is not an object", "qmp", 0, "qom-get", "[1]", status=2)

    def test_properties_in_words(self):
        table = self.done("fault", "--list")
        for name in ("link = 1", "drop = 0", "time-rate = 1", "ecc-single = "):
            self.assertIn(name, table)
        self.assertEqual(self.done("fault", 1, "link", "down"), "0\n")
        self.assertEqual(self.cluster.get_nic(1, "link"), 0)
        self.assertEqual(self.done("fault", 1, "link", "up"), "1\n")
        self.assertEqual(self.done("fault", 1, "reorder", "on"), "1\n")
        self.assertEqual(self.done("fault", 1, "reorder", "0"), "0\n")
        self.assertEqual(self.done("fault", 1, "hold-completions", "on"), "true\n")
        self.assertEqual(self.done("fault", 1, "hold-completions", "off"), "false\n")
        self.assertEqual(self.done("fault", 1, "time-rate", "2.5"), "2.5\n")
        self.assertEqual(self.done("fault", 1, "time-rate", "1"), "1\n")
        self.assertEqual(self.done("fault", 1, "drop", "0x10"), "16\n")
        self.assertEqual(self.done("fault", 1, "drop", "0"), "0\n")
        # memory 1 by its name; what the device says shows the number that it was given
        self.refused(rf"ecc-single={(1 << 32) + 9}: entry 9 of memory 1", "fault", 1, "ecc-single", "MDD:9")
        self.refused(rf"cut-link={3 * 64 + 15}: ", "fault", 1, "cut-link", "3:15")
        self.refused(rf"noisy-link={15 + (6 << 32)}: ", "fault", 1, "noisy-link", "0:15:6")
        self.refused("'sideways' is not up, down, a number", "fault", 1, "link", "sideways")
        self.refused("'zzz' is not one of ntt, mdd", "fault", 1, "ecc-single", "zzz:9")
        self.refused("no property 'nodes'", "fault", 1, "nodes", "3")

    # ---- ssh, gdb, the way out

    def test_ssh(self):
        self.assertEqual(self.done("ssh", 1, "--", "uname -n; exit"), "node1\n")
        self.assertEqual(self.tool("ssh", 1, "--", "exit 7").returncode, 7)
        path = self.folder / "ssh_config"
        path.write_text(self.done("ssh", "--config", "all"), encoding="utf-8")
        said = subprocess.run(["ssh", "-F", path, "node0", "cat; uname -n"], input="through\n", capture_output=True, text=True, timeout=TIME, check=False)
        self.assertEqual((said.stdout, said.returncode), ("through\nnode0\n", 0), said.stderr)
        self.cluster.run(0, "kill $(pidof dropbear)")
        self.refused("node 0: nobody listens at port 22", "ssh", 0, "--", "true")

    def test_gdb_knows_the_driver_of_a_running_node(self):
        commands = ["-batch", "-ex", "info line aries_pci_probe", "-ex", "ptype struct aries_dev", "-ex", "x/i aries_pci_probe", "-ex", "detach"]
        for _ in range(2):  # and lets it go, so that the next one can
            result = self.tool("gdb", 0, "--", *commands)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stdout, r'Line \d+ of ".*aries_pci.c" starts at address 0xffffffff')
            self.assertIn("struct aries_dev {", result.stdout)
            self.assertNotIn("Cannot access", result.stdout + result.stderr)
        self.assertEqual(self.cluster.run(0, "echo goes on").stdout, "goes on\n")

    def test_guests_reach_this_machine(self):
        class Quiet(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):  # pylint: disable=arguments-differ
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            said = self.cluster.run(1, f"wget -O- http://10.0.2.2:{server.server_address[1]}/ 2>&1; ip route")
            server.shutdown()
        self.assertIn("501", said.stdout)  # what this server answers; without a way there is none
        self.assertIn("default via 10.0.2.2", said.stdout)
