#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Install the Debian packages the build and the tests need, those that are missing only.
#
#   scripts/setup.sh [--list] [tests] [guests] [lint] [interop] [lustre] [debug] [mpi] [figures] [doc] [deb] [image] [qemu10] [hosts]
#
# Each name adds the packages that only this purpose needs. The list is Build-Depends of scripts/debian/control.
#
# KERNEL=6.1 (default on Debian 12), 6.12 (default on Debian 13) or 6.8 (Ubuntu 24.04) selects the guest kernel whose
# headers are needed; own: none. The kernel image is not installed: fetch-kernel.sh unpacks it below .build.
#
# OPENGNI_DEBIAN=URL is a mirror of Debian where apt has none: on Ubuntu, for QEMU's source (scripts/apt-source.sh).

. "$(dirname "$0")/lib.sh"
. "$TOP/scripts/kernel-release.sh"

# Space for everything below .build (QEMU's source and objects, kernels, images, sanitizer builds).
NEED_MIB=2000

CONTROL=$TOP/scripts/debian/control
# Purposes that can be named: profiles pkg.opengni.NAME in Build-Depends there.
PURPOSES="tests guests lint interop lustre debug mpi figures doc deb image qemu10 hosts"

# packages PURPOSE...: what Build-Depends names when the profiles of these purposes and of a build by make are on. A
# package's profiles are groups in <>, of which one must hold; in a group all must, each with ! if it must be off.
packages() {
	awk -v purposes="tree $*" '
		BEGIN { count = split(purposes, list, " "); for (i = 1; i <= count; i++) on["pkg.opengni." list[i]] = 1 }
		/^#/ { next }
		/^[^ \t]/ { inside = /^Build-Depends:/; sub(/^Build-Depends:/, "") }
		inside { text = text $0 }
		function holds(group, words, n, i, off) {
			n = split(group, words, " ")
			for (i = 1; i <= n; i++) {
				off = sub(/^!/, "", words[i])
				if (off ? words[i] in on : !(words[i] in on)) return 0
			}
			return 1
		}
		END {
			count = split(text, entries, ",")
			for (i = 1; i <= count; i++) {
				n = split(entries[i], parts, "<")
				if (split(parts[1], words, " ") == 0) continue
				wanted = n == 1
				for (j = 2; j <= n; j++) { sub(/>.*/, "", parts[j]); if (holds(parts[j])) wanted = 1 }
				if (wanted) print words[1]
			}
		}' "$CONTROL" || die "cannot read $CONTROL"
}

missing() {
	# dpkg complains of names that it has never heard of: they are missing, too
	{ dpkg-query -W -f='${db:Status-Abbrev}\t${Package}\n' "$@" 2>/dev/null || true; } | awk -F'\t' -v names="$*" '
		$1 ~ /^.i/ { there[$2] = 1 }
		END { count = split(names, name, " "); for (i = 1; i <= count; i++) if (!(name[i] in there)) print name[i] }'
}

check_system() {
	local here
	here=$(distribution)
	if ! command -v apt-get >/dev/null; then
		die "$here has no apt: the build takes QEMU, kernels and headers from packages of Debian; use the Containerfile"
	fi
	case $here in
	'debian 12' | 'debian 13') ;;
	'ubuntu 24.04')
		[ -n "${OPENGNI_DEBIAN:-}" ] ||
			die "on Ubuntu the source of QEMU comes from Debian: set OPENGNI_DEBIAN to the URL of a mirror of Debian"
		;;
	*)
		[ -n "${OPENGNI_ANY_DEBIAN:-}" ] || die \
			"$here is not Debian 12 or 13 or Ubuntu 24.04 (use the Containerfile, or set OPENGNI_ANY_DEBIAN=1 to try all the same)"
		;;
	esac
	[ "$(dpkg --print-architecture)" = amd64 ] || die "amd64 is the only architecture supported"
}

check_space() {
	local have used
	mkdir -p "$BUILD" 2>/dev/null || die "cannot create $BUILD: is the directory writable?"
	have=$(free_mib "$BUILD")
	[ "$have" -lt "$NEED_MIB" ] || return 0
	# files of a build that runs may vanish while they are counted
	used=$(du -sm "$BUILD" 2>/dev/null | cut -f1) || true
	if [ $((have + used)) -lt "$NEED_MIB" ]; then
		die "no space for build files: $BUILD needs $NEED_MIB MiB, $((have + used)) MiB are free (or set OPENGNI_BUILD to another place)"
	fi
}

install() {
	local log=$BUILD/logs/apt-install.log try
	need_logs
	for try in 1 2; do
		if as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
			-o DPkg::Lock::Timeout=120 "$@" >"$log" 2>&1; then
			return
		fi
		[ $try = 1 ] && apt_update
	done
	die "$(apt_cause "$log")"
}

main() {
	local want list=no arg need purposes=""
	for arg in "$@"; do
		case " $PURPOSES --list " in
		*" $arg "*) ;;
		*) wrong "no argument '$arg'" ;;
		esac
		if [ "$arg" = --list ]; then list=yes; else purposes="$purposes $arg"; fi
	done
	check_system
	check_space
	# shellcheck disable=SC2086  # list of words
	want=$(packages $purposes) || exit 1
	[ -n "$want" ] || die "$CONTROL has no Build-Depends"
	# who brings a kernel brings its headers
	[ "$KERNEL" = own ] || want="$want linux-headers-$(kernel_release "$KERNEL")" || exit 1
	[ -z "${OPENGNI_DEBIAN:-}" ] || want="$want debian-archive-keyring"
	if [ $list = yes ]; then
		printf '%s\n' $want
		return
	fi
	# shellcheck disable=SC2086  # lists of words
	need=$(missing $want)
	if [ -z "$need" ]; then
		echo "all packages are installed"
		return
	fi
	check_root "installing ${need//$'\n'/ }"
	# shellcheck disable=SC2086
	echo "installing: "$need
	# shellcheck disable=SC2086
	install $need
}

KERNEL=${KERNEL:-$(default_kernel)}
main "$@"
