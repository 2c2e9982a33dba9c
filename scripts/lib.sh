# SPDX-License-Identifier: GPL-2.0-or-later
# Common to the shell scripts of this directory; sourced, not run.
# shellcheck shell=bash

set -euo pipefail
export LC_ALL=C PATH=$PATH:/usr/sbin:/sbin

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=${OPENGNI_BUILD:-$TOP/.build}
# What all trees of a user share (make cache-clean removes it); empty where nothing can be kept.
CACHE=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
case $CACHE in /*) CACHE=$CACHE/opengni ;; *) CACHE= ;; esac
nearest=$CACHE
while [ -n "$nearest" ] && [ ! -d "$nearest" ]; do nearest=${nearest%/*}; done
[ -w "${nearest:-/}" ] || CACHE=
# For compilers that run through ccache: meson and QEMU's configure use it where it is installed. The place of a tree does
# not count, so that one gets what another has compiled.
if [ -n "$CACHE" ]; then
	export CCACHE_DIR="${CCACHE_DIR:-$CACHE/ccache}" CCACHE_MAXSIZE="${CCACHE_MAXSIZE:-2G}"
	export CCACHE_BASEDIR="${CCACHE_BASEDIR:-$TOP}" CCACHE_NOHASHDIR="${CCACHE_NOHASHDIR:-1}"
fi

# die LINE: one line that names the cause and the way out, then exit 1.
die() {
	printf '%s: %s\n' "$(basename "$0")" "$*" >&2
	exit 1
}

# wrong LINE: what is wrong with the command line, then exit 2.
wrong() {
	printf '%s: %s; see %s --help\n' "$(basename "$0")" "$*" "$(basename "$0")" >&2
	exit 2
}

# takes_none "$@": for scripts without arguments.
takes_none() { [ $# -eq 0 ] || wrong "no argument '$1'"; }

# head_comment: what the script says of itself.
head_comment() { sed -n '3,/^[^#]*$/s/^# \{0,1\}//p' "$0" | sed '/./,$!d'; }

# Every script has --help and --version; another first word with a dash is one that its head names, or wrong.
case ${1:-} in
-h | --help)
	head_comment
	exit 0
	;;
-V | --version)
	echo "$(basename "$0") (OpenGNI) $("$TOP/scripts/version.sh")"
	exit 0
	;;
-*) [[ " $(head_comment) " =~ [^-a-z]"$1"[^-a-z] ]] || wrong "no option '$1'" ;;
esac

# distribution: name and version of what runs here, as 'debian 12'.
distribution() { (
	. /etc/os-release 2>/dev/null
	echo "${ID:-unknown} ${VERSION_ID:-}"
); }

# default_kernel: the guest kernel (KERNEL=) that is at hand here.
default_kernel() {
	case $(distribution) in
	'debian 13') echo 6.12 ;;
	'ubuntu 24.04') echo 6.8 ;;
	*) echo 6.1 ;;
	esac
}

# other_kernel KERNEL: the one beside it, if there is one.
other_kernel() {
	case "$(distribution) $1" in
	'debian 12 6.1') echo 6.12 ;;
	'debian 12 6.12') echo 6.1 ;;
	esac
}

# archive_hint: which entries apt should have.
archive_hint() {
	case $(distribution) in
	'debian 13') echo "are 'trixie' and 'trixie-security' main in /etc/apt/sources.list*?" ;;
	'ubuntu 24.04') echo "are 'noble' and 'noble-security' main and universe in /etc/apt/sources.list*?" ;;
	*) echo "are 'bookworm' and 'bookworm-security' main in /etc/apt/sources.list*?" ;;
	esac
}

# check_root WHAT: die unless as_root can work.
check_root() {
	[ "$(id -u)" = 0 ] || command -v sudo >/dev/null ||
		die "$1 needs root: run 'make setup' as root once, or install sudo"
}

# as_root CMD...: run as root, through sudo where needed; check_root first.
as_root() {
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# free_mib DIR: free mebibytes where DIR is or will be.
free_mib() {
	local dir=$1
	while [ ! -d "$dir" ]; do dir=$(dirname "$dir"); done
	df -Pm "$dir" | awk 'NR == 2 { print $4 }'
}

# apt_cause LOG: the reason of a failed apt call as one line.
apt_cause() {
	local log=$1 pkg
	if grep -qE "[Nn]o space left|enough free space" "$log"; then
		echo "no disk space on the file system of /var or /: free some and try again"
	elif grep -qE "Temporary failure resolving|Could not resolve|Could not connect|Unable to connect|Network is unreachable|timed out" "$log"; then
		echo "no network: apt cannot reach the mirror in /etc/apt/sources.list*"
	elif pkg=$(grep -m 1 -E '^sudo: .*(password|terminal|not allowed|not in the sudoers)' "$log"); then
		echo "$pkg: run 'make setup' as root once"
	elif grep -qE "Could not get lock|Unable to acquire|Unable to lock" "$log"; then
		echo "another apt or dpkg is running: wait for it and try again"
	elif pkg=$(grep -oE "Unable to locate package [^ ]+|Can't find a source to download version .* of '[^']+'|has no installation candidate" "$log" | head -n 1) && [ -n "$pkg" ]; then
		echo "package not found ($pkg): $(archive_hint)"
	else
		echo "apt failed: $(grep -E '^E:' "$log" | head -n 1) (all of it: $log)"
	fi
}

# need_logs: make the folder for logs.
need_logs() {
	mkdir -p "$BUILD/logs" 2>/dev/null || true
	[ -w "$BUILD/logs" ] ||
		die "cannot write to $BUILD/logs: was it built by another user before? Remove $BUILD, or set OPENGNI_BUILD"
}

# apt_update: refresh the package lists.
apt_update() {
	check_root "refreshing the package lists"
	need_logs
	as_root apt-get update >"$BUILD/logs/apt-update.log" 2>&1 || die "$(apt_cause "$BUILD/logs/apt-update.log")"
	# apt-get update exits 0 when a mirror could not be reached and old lists are used.
	if grep -qE '^(Err:|W: Failed to fetch)' "$BUILD/logs/apt-update.log" && [ -z "$(apt-cache pkgnames libc6)" ]; then
		die "$(apt_cause "$BUILD/logs/apt-update.log")"
	fi
}

# candidate PKG: the version apt would install, empty if unknown.
candidate() {
	apt-cache policy "$1" 2>/dev/null | awk '/Candidate:/ && $2 != "(none)" { print $2 }'
}

# download_deb DIR PKG[=VERSION]: fetch a package file, not installing it; prints its path.
download_deb() {
	local dir=$1 pkg=$2 log=$BUILD/logs/apt-download.log
	need_logs
	mkdir -p "$dir"
	rm -f "$dir/${pkg%%=*}"_*.deb
	if ! (cd "$dir" && apt-get download "$pkg") >"$log" 2>&1; then
		apt_update
		(cd "$dir" && apt-get download "$pkg") >"$log" 2>&1 || die "$pkg: $(apt_cause "$log")"
	fi
	ls "$dir/${pkg%%=*}"_*.deb
}
