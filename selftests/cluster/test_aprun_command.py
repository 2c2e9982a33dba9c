# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/aprun as its users see it: labels, exit status, input, signals, places, and what ends an application."""

import hashlib
import signal
import subprocess
import tempfile

from gnitest.testing import ClusterCase, clock
from opengni import host

APRUN = str(host.TOP / "scripts" / "aprun")
WAIT = "while :; do sleep 0.1; done"
DOMAINS = "cat /sys/kernel/debug/aries/kgni0/domains"


class Command(ClusterCase):
    SHARES = "pair"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster.serve()

    def start(self, *words, **options):
        """aprun in the background; standard output comes by a pipe."""
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        process = subprocess.Popen([APRUN, "--cluster", self.cluster.config.name, *words], **pipes)  # pylint: disable=consider-using-with
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def aprun(self, *words, data=b"", timeout=60):
        """aprun to its end: exit status, standard output, standard error."""
        process = self.start(*words, stdin=subprocess.PIPE)
        out, error = process.communicate(data, timeout=timeout)
        return process.returncode, out.decode(), error.decode()

    def shell(self, options, script, **more):
        return self.aprun(*options.split(), "sh", "-c", script, **more)

    def nothing_left(self, name):
        """No rank runs and no domain is there; a rank is found by a word at the beginning of its script."""
        def gone():
            return all(not self.cluster.run(node, f"ps | grep [{name[0]}]{name[1:]}; {DOMAINS}").stdout for node in range(self.NODES))
        self.wait_for(gone, f"{name}: ranks or domains are left", 30.0)

    def test_labels_and_places(self):
        script = "echo at $PMI_RANK $(uname -n); echo error >&2; printf unfinished"
        code, out, error = self.shell("-n 4 -N 2 -L 1,0 -l", script)
        self.assertEqual(code, 0)
        places = {0: "node1", 1: "node1", 2: "node0", 3: "node0"}
        lines = [f"{rank}: at {rank} {node}" for rank, node in places.items()] + [f"{rank}: unfinished" for rank in places]
        self.assertEqual(sorted(out.splitlines()), sorted(lines))
        self.assertEqual(sorted(error.splitlines()), [f"{rank}: error" for rank in places])

    def test_without_labels_bytes_pass_as_they_are(self):
        code, out, error = self.shell("-n 1", "printf 'a\\n\\0b'; printf c >&2")
        self.assertEqual((code, out, error), (0, "a\n\0b", "c"))

    def test_environment_directory_and_default_places(self):
        code, out, _ = self.shell("-n 3 -e WHAT=a=b --cwd /tmp -l", "echo $WHAT $(pwd) $(uname -n)")
        self.assertEqual(code, 0)
        # two processors a node
        self.assertEqual(sorted(out.splitlines()), ["0: a=b /tmp node0", "1: a=b /tmp node0", "2: a=b /tmp node1"])

    def test_exit_status(self):
        for script, status in (("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137), ("kill -SEGV $$", 139), ("exit 255", 255)):
            self.assertEqual(self.shell("-n 1 -q", script), (status, "", ""), script)
        self.assertEqual(self.aprun("-q", "/no/such/program")[0], 127)

    def test_the_first_failure_is_told_and_ends_the_others(self):
        start = clock().now()
        code, _, error = self.shell("-n 4 -N 2", f": first-failure; [ $PMI_RANK = 2 ] && exit 9; {WAIT}")
        self.assertLess(clock().now() - start, 40)
        self.assertEqual(code, 9)
        self.assertRegex(error, r"^aprun: application \d+: rank 2 on node 1: exit status 9, then 3 more\n$")
        self.nothing_left("first-failure")

    def test_input_goes_to_rank_0(self):
        code, out, _ = self.shell("-n 2 -N 1 -l", "cat; echo end", data=b"one\ntwo\n")
        self.assertEqual(code, 0)
        self.assertEqual(sorted(out.splitlines()), ["0: end", "0: one", "0: two", "1: end"])

    def ready(self, process, ranks):
        """Waits for a line of each rank."""
        lines = [process.stdout.readline() for _ in range(ranks)]
        self.assertEqual({line.split(b":")[1].strip() for line in lines}, {b"ready"})

    def test_signals_reach_all_ranks(self):
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT):
            name = number.name[3:]
            # each rank ends well by itself, so that no one ends the others
            process = self.start("-n", "4", "-N", "2", "-l", "sh", "-c", f"trap 'echo got; exit 0' {name}; echo ready; {WAIT}")
            self.ready(process, 4)
            process.send_signal(number)
            # on standard error the shells tell of what they were waiting for
            out, _ = process.communicate(timeout=60)
            self.assertEqual(sorted(out.decode().split("\n")), ["", *(f"{rank}: got" for rank in range(4))], name)
            self.assertEqual(process.returncode, 0, name)

    def test_a_signal_that_is_not_caught_is_the_status(self):
        process = self.start("-n", "2", "-N", "1", "-l", "-q", "sh", "-c", "echo ready; exec sleep 60")
        self.ready(process, 2)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)

    def test_ranks_end_with_aprun(self):
        process = self.start("-n", "2", "-N", "1", "-l", "sh", "-c", f": orphaned-rank; echo ready; {WAIT}")
        self.ready(process, 2)
        self.assertIn("orphaned-rank", self.cluster.run(0, "ps").stdout)
        process.kill()
        self.nothing_left("orphaned-rank")

    def test_ranks_end_with_who_reads_their_output(self):
        process = self.start("-n", "2", "-N", "1", "-l", "sh", "-c", ": nobody-reads; while :; do echo ready; sleep 0.05; done")
        self.ready(process, 2)
        process.stdout.close()
        process.stdout = None
        _, error = process.communicate(timeout=60)
        self.assertEqual((process.returncode, error), (128 + signal.SIGPIPE, b""))
        self.nothing_left("nobody-reads")

    def test_time_limit(self):
        code, _, error = self.shell("-n 2 -N 1 -t 2", f": time-limit; {WAIT}")
        self.assertEqual(code, 255)
        self.assertRegex(error, r"^aprun: .*did not end within 2 s")
        self.nothing_left("time-limit")

    def test_what_cannot_be_placed(self):
        for options, pattern in (("-n 9", "9 ranks do not fit"), ("-n 1 -L 7", "no node 7|node 7")):
            code, out, error = self.shell(options, "true")
            self.assertEqual((code, out), (1, ""))
            self.assertRegex(error, f"^aprun: [^\n]*{pattern}[^\n]*\n$")

    def test_input_from_a_file(self):
        with open("/proc/version", "rb") as file:
            process = self.start("-n", "1", "cat", stdin=file)
            out, _ = process.communicate(timeout=60)
        with open("/proc/version", "rb") as file:
            self.assertEqual(out, file.read())

    def test_input_from_a_large_file(self):
        """A file cannot be polled, and more than fits into one frame is to go through."""
        data = bytes(range(256)) * 4096
        with tempfile.TemporaryFile() as file:
            file.write(data)
            file.seek(0)
            process = self.start("-n", "1", "sha256sum", stdin=file)
            out, _ = process.communicate(timeout=60)
        self.assertEqual(out.split()[0].decode(), hashlib.sha256(data).hexdigest())
