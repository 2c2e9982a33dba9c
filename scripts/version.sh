#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Print the version of the project; its one place is userlib/meson.build.
#
#   version.sh
case ${1:-} in
'' | -V | --version) ;;
-h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0" && exit 0 ;;
*) echo "version.sh: no argument '$1': see version.sh --help" >&2 && exit 2 ;;
esac
exec sed -n "s/^  version: '\([0-9][0-9.]*\)',.*/\1/p;T;q" "$(dirname "$0")/../userlib/meson.build"
