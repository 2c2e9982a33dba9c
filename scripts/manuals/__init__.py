# SPDX-License-Identifier: GPL-2.0-or-later
"""Manual pages, HTML and completions: made from what tools, headers and the device say of themselves."""
