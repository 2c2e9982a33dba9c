#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Print the project's version: what userlib/meson.build says, and everything else takes from here.

sed -n "s/^  version: '\([0-9.]*\)',\$/\1/p" "$(dirname "$0")/../userlib/meson.build" | head -n 1 | grep . ||
	{ echo "version.sh: userlib/meson.build has no version" >&2; exit 1; }
