# SPDX-License-Identifier: GPL-2.0-or-later
# Common to the scripts of the interop target; sourced.
# shellcheck shell=bash

. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=${OPENGNI_BUILD:-$TOP/.build}
. "$TOP/scripts/apt-source.sh"

OUT=$BUILD/interop

say() { printf 'interop: %s\n' "$*"; }

# logged WHAT LOG COMMAND...: its output goes to a log, whose end is shown when it fails.
logged() {
	local what=$1 log=$2
	shift 2
	if [ -n "${V:-}" ]; then
		"$@" 2>&1 | tee -a "$log" || die "$what failed; the log is $log"
	elif ! "$@" >>"$log" 2>&1 </dev/null; then
		tail -n 25 "$log" >&2
		die "$what failed; the log is $log"
	fi
}

# Where our own libraries are for the clients' configure.
export PREFIX=$OUT/prefix
JOBS=${JOBS:-2}

# For configure: through ccache where it is installed.
# shellcheck disable=SC2034  # used by those that source this
compilers=()
# shellcheck disable=SC2034
if command -v ccache >/dev/null; then compilers=(CC='ccache gcc' CXX='ccache g++'); fi
