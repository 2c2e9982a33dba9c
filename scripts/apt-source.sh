# SPDX-License-Identifier: GPL-2.0-or-later
# Packages of a release of Debian, this machine's or another, by apt: without root and without touching the system's
# configuration; sourced after lib.sh.
# shellcheck shell=bash

# Of the release that apt_sources was called for last.
APT_DIR=

# apt_sources SUITE [TYPE]: make private_apt see release SUITE (bookworm, trixie), its updates and security fixes, for
# this project alone. The entries are copies of those that apt has for a release of Debian, with SUITE in place of its
# name; TYPE is deb-src (default) or deb. OPENGNI_DEBIAN=URL names a mirror where apt has no such entry, as on Ubuntu.
apt_sources() {
	local suite=$1 type=${2:-deb-src} file copy parts
	APT_DIR=$BUILD/apt/$suite-$type
	parts=$APT_DIR/parts
	rm -rf "$parts"
	mkdir -p "$parts" "$APT_DIR/lists/partial"
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
		[ -e "$file" ] || continue
		copy=$parts/$(basename "$file")
		case $file in
		*.sources) copy_stanzas "$file" "$suite" "$type" >"$copy" ;;
		*)
			copy=${copy%.list}.list
			copy_lines "$file" "$suite" "$type" >"$copy"
			;;
		esac
		[ -s "$copy" ] || rm -f "$copy"
	done
	if [ -z "$(ls "$parts")" ] && [ -n "${OPENGNI_DEBIAN:-}" ]; then
		printf '%s\n' "Types: $type" "URIs: $OPENGNI_DEBIAN" "Suites: $suite $suite-updates" "Components: main" \
			"Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg" >"$parts/opengni.sources"
	fi
	[ -n "$(ls "$parts")" ] ||
		die "apt has no entry for Debian 12 or 13 (bookworm, trixie) main in /etc/apt/sources.list*: add one, or set OPENGNI_DEBIAN to the URL of a mirror"
}

# copy_stanzas FILE SUITE TYPE: entries in deb822 form.
copy_stanzas() {
	awk -v RS= -v suite="$2" -v type="$3" '
		/(^|\n)Types:[^\n]*deb/ && /(^|\n)Components:[^\n]* main( |\n|$)/ {
			found = ""
			count = split($0, lines, "\n")
			for (i = 1; i <= count; i++) {
				if (lines[i] ~ /^Types:/) lines[i] = "Types: " type
				if (lines[i] !~ /^Suites:/) continue
				n = split(lines[i], words, " ")
				for (j = 2; j <= n; j++)
					if (words[j] ~ /^(bookworm|trixie)(-security|-updates)?$/) {
						sub(/^[a-z]+/, suite, words[j])
						found = found " " words[j]
					}
				lines[i] = "Suites:" found
			}
			if (found == "") next
			for (i = 1; i <= count; i++) print lines[i]
			print ""
		}' "$1"
}

# copy_lines FILE SUITE TYPE: entries of a line each: deb [options] place suite components.
copy_lines() {
	sed -nE "/^deb([[:space:]]+\[[^]]*\])?[[:space:]]+[^[:space:]]+[[:space:]]+(bookworm|trixie)(-security|-updates)?[[:space:]]([^#]*[[:space:]])?main([[:space:]]|\$)/{
		s/^deb/$3/
		s/([[:space:]])(bookworm|trixie)(-security|-updates)?([[:space:]])/\1$2\3\4/p
	}" "$1"
}

# private_apt COMMAND...: an apt program that sees those entries only. Needs no root.
private_apt() {
	local cmd=$1
	shift
	"$cmd" -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$APT_DIR/parts" \
		-o Dir::State::lists="$APT_DIR/lists" -o Dir::Cache::srcpkgcache= -o Dir::Cache::pkgcache= \
		-o Dir::Cache::archives="$APT_DIR" -o Acquire::Languages=none -o APT::Sandbox::User= "$@"
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

# unpack_deb PACKAGE DIR: unpack the newest PACKAGE that private_apt sees into DIR, not installing it.
unpack_deb() {
	local debs=$APT_DIR/debs
	rm -rf "$debs" "$2"
	mkdir -p "$debs" "$2"
	(cd "$debs" && apt_run "no package $1" apt-get download "$1") || exit 1
	dpkg-deb -x "$debs/$1"_*.deb "$2" || die "cannot unpack $1: is there space left in $BUILD?"
	rm -rf "$debs"
}
