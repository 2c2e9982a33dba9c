# SPDX-License-Identifier: GPL-2.0-or-later
"""Output of several ranks on one terminal."""

import io
import os
import shutil
import signal
import sys


class Printer:
    """Writes ranks' output line by line, each with its label, so that lines do not mix."""

    def __init__(self, labels):
        """labels: text per rank, or None for none (then bytes pass as they come)."""
        self.labels = labels
        self.rest = {}

    def __call__(self, rank, stream, data):
        out = (sys.stdout if stream == 1 else sys.stderr).buffer
        if self.labels is None:
            out.write(data)
            out.flush()
            return
        data = self.rest.pop((rank, stream), b"") + data
        *lines, rest = data.split(b"\n")
        for line in lines:
            out.write(self.labels[rank].encode() + line + b"\n")
        out.flush()
        if rest:
            self.rest[(rank, stream)] = rest

    def close(self):
        """Print what did not end with a newline."""
        for (rank, stream), data in self.rest.items():
            out = (sys.stdout if stream == 1 else sys.stderr).buffer
            out.write(self.labels[rank].encode() + data + b"\n")
            out.flush()
        self.rest.clear()


def reader_gone():
    """Exit status when nobody reads standard output any more, as of a program that SIGPIPE has ended."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 128 + signal.SIGPIPE


def _cause(error):
    """What an OSError says, with the file; one of copying a tree has a list of (from, to, cause)."""
    if isinstance(error, shutil.Error):
        return str(error.args[0][0][2])
    files = " -> ".join(os.fsdecode(name) if isinstance(name, bytes) else str(name) for name in (error.filename, error.filename2) if name)
    return f"{files or 'the output cannot be written'}: {error.strerror or error}"


def _open_streams():
    """Streams that whoever started us has closed lead nowhere: else the next file that is opened would take their numbers."""
    while (fd := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(fd, True)
    os.close(fd)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # pylint: disable=consider-using-with


def program(main, *arguments):
    """Exit status of a script whose work main() does. What becomes of its output is found here, also of --help and --version: output
    that cannot be written is an error of one line, as on a full disk, and a reader that has gone is none. Names of files that are not
    UTF-8 are printed as they are."""
    _open_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="surrogateescape")
    try:
        try:
            status = main(*arguments)
        except SystemExit as end:
            status = end.code
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except BrokenPipeError:
        return reader_gone()
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except OSError as error:
        reader_gone()  # or the interpreter complains of what is still to be written
        print(f"{os.path.basename(sys.argv[0])}: {_cause(error)}", file=sys.stderr)
        return 1


def labels_for(placement):
    """Labels for ranks on nodes: 'node 1: ', with the rank where nodes have several."""
    if len(set(placement)) == len(placement):
        return [f"node {node}: " for node in placement]
    return [f"rank {rank} (node {node}): " for rank, node in enumerate(placement)]


def exit_status(codes):
    """One exit status for several ranks: 0 if all are 0, else the first that is not."""
    for code in codes:
        if code:
            return 128 - code if code < 0 else code
    return 0


def describe(code):
    """An exit code in words."""
    return f"ended by signal {-code}" if code < 0 else f"exit status {code}"
