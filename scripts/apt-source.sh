# SPDX-License-Identifier: GPL-2.0-or-later
# Copyright (c) 2026 The OpenGNI authors
# Source packages of Debian 12 by apt, without root and without touching the system's configuration; sourced after lib.sh.
# shellcheck shell=bash

APT_DIR=$BUILD/apt

# A copy of apt's entries for Debian 12 with deb turned into deb-src, for this
# project alone: the system's configuration stays as it is.
apt_sources() {
	local file copy parts=$APT_DIR/parts
	rm -rf "$parts"
	mkdir -p "$parts" "$APT_DIR/lists/partial"
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
		[ -e "$file" ] || continue
		copy=$parts/$(basename "$file")
		case $file in
		*.sources)
			awk -v RS= -v ORS='\n\n' '
				/(^|\n)Types:[^\n]*deb/ && /(^|\n)Components:[^\n]* main( |\n|$)/ &&
				/(^|\n)Suites:[^\n]* bookworm(-security|-updates)?( |\n|$)/' "$file" |
				sed -E 's/^Types:.*/Types: deb-src/' >"$copy"
			;;
		*)
			# One entry is: deb [options] place suite components.
			copy=${copy%.list}.list
			sed -nE '/^deb([[:space:]]+\[[^]]*\])?[[:space:]]+[^[:space:]]+[[:space:]]+bookworm(-security|-updates)?[[:space:]]([^#]*[[:space:]])?main([[:space:]]|$)/s/^deb/deb-src/p' \
				"$file" >"$copy"
			;;
		esac
		[ -s "$copy" ] || rm -f "$copy"
	done
	[ -n "$(ls "$parts")" ] ||
		die "apt has no entry for Debian 12 (bookworm) main in /etc/apt/sources.list*: add one"
}

# private_apt COMMAND...: an apt program that sees those entries only. Needs no root.
private_apt() {
	local cmd=$1
	shift
	"$cmd" -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$APT_DIR/parts" \
		-o Dir::State::lists="$APT_DIR/lists" -o Dir::Cache::srcpkgcache= -o Dir::Cache::pkgcache= \
		-o Dir::Cache::archives="$APT_DIR" -o APT::Sandbox::User= "$@"
}

# apt_run WHAT PROGRAM...: private_apt with its output in a file that apt_cause can read.
apt_run() {
	local what=$1
	shift
	private_apt "$@" >"$APT_DIR/apt.log" 2>&1 || die "$what: $(apt_cause "$APT_DIR/apt.log")"
}

# source_version PACKAGE PATTERN: the newest version that matches, empty if apt knows none.
source_version() {
	private_apt apt-cache showsrc --only-source "$1" 2>/dev/null | sed -n 's/^Version: //p' | grep -E "$2" | sort -V | tail -n 1 || true
}
