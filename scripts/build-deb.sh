#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Make Debian packages of what is built; called by 'make deb', which builds it first.
#
#   build-deb.sh              packages in .build/deb, checked by lintian
#   build-deb.sh documents    make only the package of documents again, beside the others that are there
#   build-deb.sh --changelog  only print what becomes debian/changelog
#
# A package is built in a folder that has debian/ at its top, and the project has it at scripts/debian: so a tree
# is put together in .build/deb/tree. The version is userlib/meson.build's, the date that of the last commit.

. "$(dirname "$0")/lib.sh"

out=$BUILD/deb
tree=$out/tree
log=$BUILD/logs/dpkg-buildpackage.log

# The changelog has one entry: this version.
changelog() {
	local date maintainer
	date=${SOURCE_DATE_EPOCH:-$(git -C "$TOP" log -1 --format=%ct 2>/dev/null || date +%s)}
	maintainer=$(sed -n 's/^Maintainer: //p' "$TOP/scripts/debian/control")
	cat <<-EOF
		opengni ($("$TOP/scripts/version.sh")) bookworm; urgency=medium

		  * See Documentation/ for what this version has.

		 -- $maintainer  $(date -uRd "@$date")
	EOF
}

copy() { (cd "$TOP" && tar --exclude=__pycache__ --exclude='*.pyc' -c "$@") | tar -C "$tree" -x; }

copy_tree() {
	rm -rf "$out"
	mkdir -p "$tree"
	copy driver kgni userlib scripts Documentation README.md
	mv "$tree/scripts/debian" "$tree/debian"
	changelog >"$tree/debian/changelog"
}

# check FILE...: errors and warnings end it. Manual pages are built by another part of the project: what has none is only named.
check() {
	local tags complaints
	tags=$(lintian --tag-display-limit 0 --fail-on none "$@" 2>&1 | grep -E '^[EW]:' || true)
	complaints=$(grep -v ' no-manual-page ' <<<"$tags" || true)
	[ -z "$complaints" ] || die "lintian complains:"$'\n'"$complaints"
	sed -n 's/.* no-manual-page \[\(.*\)\]$/deb: no manual page for \1/p' <<<"$tags"
}

# quietly COMMAND...: in the tree; all it says is in the log, and shown if it fails.
quietly() {
	if ! (cd "$tree" && "$@") >>"$log" 2>&1; then
		grep -v '^dpkg-buildpackage: ' "$log" | tail -n 25 >&2
		die "building the packages failed; the log is $log"
	fi
}

all_packages() {
	copy_tree
	quietly dpkg-buildpackage -b -us -uc
	check "$out"/*.changes
}

# The tree is that of the packages that are there, so that what lists them all can be made anew.
documents() {
	local changes
	changes=$(echo "$out"/*.changes)
	[ -e "$changes" ] || die "there are no packages in $out yet: run 'make deb'"
	rm -rf "$tree/Documentation" "$tree/README.md"
	copy Documentation README.md
	quietly debian/rules documents
	quietly dpkg-genbuildinfo --build=binary "-O${changes%.changes}.buildinfo"
	quietly dpkg-genchanges --build=binary "-O$changes"
	check "$out"/opengni-doc_*.deb
}

what=all_packages
case ${1:-} in
'') ;;
documents) what=documents ;;
--changelog) changelog && exit ;;
*) die "unknown argument '$1': usage: build-deb.sh [documents|--changelog]" ;;
esac
for tool in dh lintian; do
	command -v $tool >/dev/null || die "$tool is missing: run 'scripts/setup.sh deb'"
done
need_logs
# Two that build in one tree take turns, whichever packages they make.
exec 9>"$BUILD/logs/deb.lock"
flock 9
: >"$log"
export OPENGNI_BUILD=$BUILD KERNEL=${KERNEL:-$(default_kernel)} DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-} parallel=${JOBS:-$(nproc)}"
# The tree is always at the same place, so that a compiler with a cache has done most of it before. debhelper gives each
# build a home of its own: the cache is not to go with it.
if [ -d /usr/lib/ccache ]; then
	CCACHE_DIR=$(ccache --get-config cache_dir)
	export CCACHE_DIR PATH=/usr/lib/ccache:$PATH
fi
# Those of the caller's make are not for the build's own.
unset MAKEFLAGS MFLAGS MAKELEVEL
$what
for file in "$out"/*.deb; do echo "$file"; done
