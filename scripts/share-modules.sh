#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Modules by which the guest kernel of KERNEL= sees folders of this machine (9p over virtio), in .build/share-RELEASE.
#
# Debian's cloud kernels have no 9p: it is built from the sources of Debian's package linux-source then; of a kernel that
# has it, its own modules are taken. 'order' there names the files in the order in which they are loaded.

. "$(dirname "$0")/lib.sh"
. "$TOP/scripts/store.sh"
takes_none "$@"

KERNEL=${KERNEL:-$(default_kernel)}
kernel=$BUILD/kernel-$KERNEL
release=$(cat "$kernel/release") || die "$kernel holds no kernel: run 'make kernel'"
out=$BUILD/share-$release
work=$BUILD/share-src-$release
log=$BUILD/logs/share-modules.log
kdir=/lib/modules/$release/build
[ "$KERNEL" != own ] || kdir=$kernel/kdir

# has NAME: whether the kernel has this module, or what it would do built in.
has() { modprobe -d "$kernel" -S "$release" --show-depends "$1" >/dev/null 2>&1; }

# get_source: net/9p and fs/9p of the kernel's source, from what trees of the user share or from the package.
get_source() {
	local pkg=linux-source-$KERNEL version key deb
	[ -n "$(candidate "$pkg")" ] || apt_update
	[ -n "$(candidate "$pkg")" ] || die "Linux $release has no 9p, and there is no package $pkg to build it from"
	version=$(dpkg-query -W -f='${Version}' "linux-headers-$release" 2>/dev/null) || true
	apt-cache madison "$pkg" | grep -qF " $version " || version=$(candidate "$pkg")
	key=$(echo "9p $pkg $version" | store_key)
	rm -rf "$work"
	mkdir -p "$work"
	if ! store_get "$key" "$work/9p.tar"; then
		[ "$(free_mib "$BUILD")" -ge 200 ] || die "no space for $pkg: $BUILD needs 200 MiB"
		deb=$(download_deb "$BUILD/dl" "$pkg=$version")
		dpkg-deb --fsys-tarfile "$deb" | tar -xO "./usr/src/$pkg.tar.xz" | xz -dc -T0 |
			tar -x -C "$work" --strip-components=1 --wildcards 'linux-source-*/net/9p/*' 'linux-source-*/fs/9p/*' ||
			die "cannot unpack $deb: is there space left in $BUILD?"
		rm -f "$deb"
		tar -c -C "$work" -f "$work/9p.tar" net fs && store_put "$key" "$work/9p.tar"
	fi
	tar -x -C "$work" -f "$work/9p.tar"
	rm -f "$work/9p.tar"
	echo "sources of $pkg $version"
}

build() {
	[ -e "$kdir/Makefile" ] || die "there is no $kdir to build modules in: run 'make setup kernel KERNEL=$KERNEL'"
	printf 'obj-m := net/9p/ fs/9p/\n' >"$work/Kbuild"
	make -s -C "$kdir" M="$work" -j "${JOBS:-$(nproc)}" CONFIG_NET_9P=m CONFIG_NET_9P_VIRTIO=m CONFIG_9P_FS=m modules >"$log" 2>&1 ||
		die "9p does not build for Linux $release: $(grep -m 1 -E 'error|ERROR' "$log" || tail -n 1 "$log") (all of it: $log)"
}

# emit NAME: the module and those that it needs, these first.
emit() {
	local file dependency kind path rest
	[ ! -e "$out.new/$1.ko" ] || return 0
	file=$(find "$work" -name "$1.ko" 2>/dev/null | head -n 1)
	if [ -n "$file" ]; then
		for dependency in $(modinfo -F depends "$file" | tr , ' '); do emit "$dependency"; done
		strip --strip-debug -o "$out.new/$1.ko" "$file"
		echo "$1.ko" >>"$out.new/order"
		return
	fi
	modprobe -d "$kernel" -S "$release" --show-depends "$1" | while read -r kind path rest; do
		[ "$kind" = insmod ] || continue
		file=$(basename "$path")
		file=${file%%.ko*}.ko
		[ ! -e "$out.new/$file" ] || continue
		case $path in
		*.xz) xz -dc "$path" ;;
		*.gz) gzip -dc "$path" ;;
		*.zst) zstd -qdc "$path" ;;
		*) cat "$path" ;;
		esac >"$out.new/$file"
		echo "$file" >>"$out.new/order"
	done
}

if [ -e "$out/order" ]; then
	echo "9p for Linux $release is there"
	exit 0
fi
need_logs
rm -rf "$out.new"
mkdir -p "$out.new"
: >"$out.new/order"
if ! has 9p || ! has 9pnet_virtio; then
	get_source
	build
fi
emit 9pnet_virtio
emit 9p
rm -rf "$out" "$work"
mv "$out.new" "$out"
echo "9p for Linux $release: $(tr '\n' ' ' <"$out/order")"
