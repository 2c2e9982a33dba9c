#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Install library, tools, headers, QEMU, modules and agent; called by 'make install'.
#
#   install.sh DESTDIR PREFIX
#   install.sh --remove DESTDIR PREFIX
#
# With an empty DESTDIR the module index is brought up to date as well. What was installed,
# and what folders were made for it, is listed in PREFIX/share/opengni/files, for 'install.sh --remove'.

. "$(dirname "$0")/lib.sh"

remove() {
	local list=$1/$2/share/opengni/files entry entries
	list=${list//\/\//\/}
	[ -r "$list" ] || die "nothing is installed below $2 (no $list)"
	mapfile -t entries <"$list"
	for entry in "${entries[@]}"; do
		[[ $entry = */ ]] || rm -f "$1$entry"
	done
	# The folders that were made for them, inner ones first, unless somebody else has put something there.
	printf '%s\n' "${entries[@]}" | grep '/$' | sort -r | while read -r entry; do
		rmdir "$1$entry" 2>/dev/null || true
	done
}

# What would be written through a link that leads out of DESTDIR belongs to the machine that builds.
check_root_tree() {
	local root dir place
	root=$(realpath -m "$destdir")
	(cd "$stage" && find . -type d -printf '/%P\n') | while read -r dir; do
		place=$(realpath -m "$destdir$dir")
		[[ $place/ = "${root%/}"/* ]] ||
			die "$destdir$dir leads out of DESTDIR, to $place: make that link a relative one, or install with chroot"
	done
}

# What an earlier installation has put there and this one does not: another kernel's modules, for example.
earlier_files() {
	local entry
	[ -r "$destdir$prefix/share/opengni/files" ] || return 0
	while read -r entry; do
		[[ $entry = */ ]] || [ ! -e "$destdir$entry" ] || echo "$entry"
	done <"$destdir$prefix/share/opengni/files"
}

# Folders of ours that are not there yet, or were not before the last installation.
new_folders() {
	local dir
	[ ! -r "$destdir$prefix/share/opengni/files" ] || grep '/$' "$destdir$prefix/share/opengni/files" || true
	(cd "$stage" && find . -mindepth 1 -type d -printf '/%P\n') | while read -r dir; do
		[ -e "$destdir$dir" ] || echo "$dir/"
	done
}

# For modules outside of the tree: headers, symbols of this kernel's modules, and who tells where they are.
kernel_interface() {
	local release=$1 headers=$stage$prefix/include/opengni/kernel symbols=$stage$prefix/lib/opengni/$1/Module.symvers
	mkdir -p "$headers" "$(dirname "$symbols")"
	cp -r "$TOP/kgni/include/." "$headers/"
	ln -s ../../gni_pub.h "$headers/gni_pub.h"
	# third column: module, as a path, where it is installed
	sed "s,\t[^\t]*/\([^\t/]*\)\tEXPORT,\textra/\1\tEXPORT," "$BUILD"/{driver,kgni}-"$release"/Module.symvers >"$symbols"
	pkg_config cray-gni 'Generic Network Interface for kernel modules' \
		"Cflags: -I\${includedir} -DCRAY_CONFIG_GHAL_ARIES -DCONFIG_CRAY_ARIES=1"
	pkg_config cray-krca 'Nodes of the machine and their events for kernel modules' 'Requires: cray-gni'
	# what clients of GNI look for beside these; nothing of it is in a header of its own here
	pkg_config lsb-cray-hss "Names of the machine's supervisor that clients of GNI use" 'Requires: cray-krca'
}

# pkg_config NAME DESCRIPTION LINE: it finds its place by itself, wherever DESTDIR is.
pkg_config() {
	mkdir -p "$stage$prefix/lib/pkgconfig"
	cat >"$stage$prefix/lib/pkgconfig/$1.pc" <<-EOF
		prefix=\${pcfiledir}/../..
		includedir=\${prefix}/include/opengni/kernel
		# another one: --define-variable=kernel=RELEASE
		kernel=$release
		symvers=\${prefix}/lib/opengni/\${kernel}/Module.symvers

		Name: $1
		Description: $2
		Version: $("$TOP/scripts/version.sh")
		$3
	EOF
}

if [ "${1:-}" = --remove ]; then
	remove "${2:-}" "${3:-/usr/local}"
	exit 0
fi

destdir=${1:-} prefix=${2:-/usr/local}
stage=$BUILD/install
rm -rf "$stage"

"$TOP/scripts/build-meson.sh" "$BUILD/userlib-install" "$TOP/userlib" -Dprefix="$prefix" -Dlibdir=lib -Dtests=false >/dev/null
meson install -C "$BUILD/userlib-install" --no-rebuild --quiet --destdir "$stage"
install -D -m 644 "$TOP/driver/include/uapi/kgni_abi.h" "$stage$prefix/include/opengni/uapi/kgni_abi.h"
install -D -m 755 "$BUILD/agent/gni-agent" "$stage$prefix/sbin/gni-agent"
ln -sf ../sbin/gni-agent "$stage$prefix/bin/gni-kvs"
if [ -x "$BUILD/model/topo/aries-topo" ]; then
	install -D -m 755 "$BUILD/model/topo/aries-topo" "$stage$prefix/bin/aries-topo"
fi
if [ -x "$BUILD/model/net/aries-net" ]; then
	install -D -m 755 "$BUILD/model/net/aries-net" "$stage$prefix/bin/aries-net"
fi
if [ -x "$BUILD/sim/aries-sim" ]; then
	install -D -m 755 "$BUILD/sim/aries-sim" "$stage$prefix/bin/aries-sim"
fi
if [ -x "$BUILD/sim/aries-sim-mpi" ]; then
	install -D -m 755 "$BUILD/sim/aries-sim-mpi" "$stage$prefix/bin/aries-sim-mpi"
fi
if [ -x "$BUILD/qemu/bin/qemu-system-x86_64" ]; then
	install -D -m 755 "$BUILD/qemu/bin/qemu-system-x86_64" "$stage$prefix/libexec/opengni/qemu-system-x86_64"
else
	echo "install: QEMU is not built and left out ('make qemu' builds it)"
fi
release=$(cat "$BUILD/kernel-${KERNEL:-6.1}/release")
modules=("$BUILD/driver-$release/aries.ko" "$BUILD/kgni-$release"/k*.ko "$BUILD/kgni-$release"/clients/*/*.ko)
for file in "${modules[@]}"; do
	[[ $file = *_test.ko || ! -e $file ]] || install -D -m 644 "$file" "$stage/lib/modules/$release/extra/$(basename "$file")"
done
kernel_interface "$release"
for file in "$TOP"/driver/*.rules; do
	[ ! -e "$file" ] || install -D -m 644 "$file" "$stage/lib/udev/rules.d/$(basename "$file")"
done
mkdir -p "$stage$prefix/share/opengni"
list=$stage$prefix/share/opengni/files
touch "$list"
[ -z "$destdir" ] || check_root_tree
{
	(cd "$stage" && find . \( -type f -o -type l \) -printf '/%P\n')
	earlier_files
	new_folders
} | sort -u >"$BUILD/install.files"
mv "$BUILD/install.files" "$list"

# A folder that is a link in the target (/lib of every Debian since 12) stays one.
mkdir -p "$destdir/" 2>/dev/null || true
tar -C "$stage" -c . | tar -C "$destdir/" -x --no-same-owner --no-overwrite-dir --keep-directory-symlink ||
	die "cannot write below '$destdir$prefix': run as root, or give DESTDIR="
if [ -z "$destdir" ]; then
	ldconfig
	depmod "$release" 2>/dev/null || true
fi
echo "installed $(grep -vc '/$' "$list") files below ${destdir:-/}"
