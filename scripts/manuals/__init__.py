# SPDX-License-Identifier: GPL-2.0-or-later
# Copyright (c) 2026 The OpenGNI authors
"""Manual pages, HTML and completions: made from what tools, headers and the device say of themselves."""
