# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that are written: errors name the file, as that of a full disk does not by itself."""

import contextlib


@contextlib.contextmanager
def naming(path):
    """An OSError of what is done inside is about the file @path if it says nothing else."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise


def write_text(path, text, encoding="utf-8"):
    """Path.write_text(), with errors that name the file."""
    with naming(path):
        path.write_text(text, encoding=encoding)
