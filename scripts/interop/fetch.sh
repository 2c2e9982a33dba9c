#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Fetch and unpack Debian's source packages of the clients, as they are.
#
#   fetch.sh PACKAGE...     into .build/interop/PACKAGE/src

. "$(dirname "$0")/lib.sh"

NEED_MIB=400

fetch() {
	local pkg=$1 version dsc dir=$OUT/$1
	[ -e "$dir/src/.complete" ] && return
	mkdir -p "$dir/download"
	if ! compgen -G "$dir/download/$pkg"_*.dsc >/dev/null; then
		apt_lists
		version=$(source_version "$pkg" .)
		[ -n "$version" ] || die "apt knows no source package $pkg"
		say "fetching $pkg $version"
		cd "$dir/download" || die "cannot enter $dir/download"
		apt_run "no source for $pkg" apt-get source --download-only --only-source "$pkg=$version"
	fi
	dsc=$(compgen -G "$dir/download/${pkg}_*.dsc" | head -n 1)
	rm -rf "$dir/src"
	logged "unpacking $dsc" "$dir/unpack.log" dpkg-source --no-check -x "$dsc" "$dir/src"
	touch "$dir/src/.complete"
}

have_lists=no
apt_lists() {
	[ $have_lists = yes ] && return
	have_lists=yes
	apt_sources bookworm
	apt_run "no source packages" apt-get update
}

have=$(free_mib "$OUT")
[ "$have" -ge "$NEED_MIB" ] || die "no space for the clients' sources: $OUT needs $NEED_MIB MiB, $have MiB are free"
for name in "$@"; do fetch "$name"; done
