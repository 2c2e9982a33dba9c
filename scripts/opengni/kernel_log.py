# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest's kernel says in its log."""

COMPLAINTS = ("BUG:", "WARNING:", "Oops", "general protection", "Call Trace:", "refcount_t:", "hung task", "blocked for more than", "rcu: INFO")
"""Words that say that something is wrong with it or with the driver."""


def complains(line):
    """Whether a line says that something is wrong with the kernel."""
    return any(word in line for word in COMPLAINTS)
