#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Make the guest's file system: a cpio archive that QEMU gives to the kernel.
#
#   mkinitramfs.sh -k KERNEL_DIR [-m MODULE.ko|DIR]... [-n NAME]... [-s STAGE_DIR]... [-t KSELFTEST_DIR] -o OUTPUT
#
#   -k  as fetch-kernel.sh left it (release, lib/modules)
#   -m  a module of ours, or a folder with some, put below /lib/modules/<release>/extra; the modules of the
#       kernel that they depend on come along
#   -n  one more module of the kernel, by its name, with those it depends on
#   -s  a tree copied to / (as `make install DESTDIR=...` makes it)
#   -t  tests, copied to /kselftest
#
# Shared libraries that any program in it needs are added. Not compressed: under
# emulation unpacking costs more than reading.

. "$(dirname "$0")/lib.sh"

# What a node needs to reach its console, its control channel and a disk.
BOOT_MODULES="virtio_pci virtio_console virtio_rng"
OTHER_MODULES="virtio_blk virtio_net ext4"
# Taken from the host where busybox's own is not enough: the kselftest runner
# calls timeout --foreground, modprobe/rmmod must report errors as kmod does.
HOST_PROGRAMS="/usr/bin/timeout"

kernel_dir="" stages=() modules=() tests="" output=""
while getopts k:m:n:s:t:o: opt; do
	case $opt in
	k) kernel_dir=$OPTARG ;;
	m) modules+=("$OPTARG") ;;
	n) OTHER_MODULES="$OTHER_MODULES $OPTARG" ;;
	s) stages+=("$OPTARG") ;;
	t) tests=$OPTARG ;;
	o) output=$OPTARG ;;
	*) exit 2 ;;
	esac
done
if [ -z "$kernel_dir" ] || [ -z "$output" ]; then die "-k and -o are needed"; fi
release=$(cat "$kernel_dir/release") || die "$kernel_dir holds no kernel: run 'make kernel'"
agent=$BUILD/agent/gni-agent
[ -x "$agent" ] || die "$agent is missing: run 'make agent'"
[ -x /bin/busybox ] || die "/bin/busybox is missing: run 'make setup'"

root=$(mktemp -d "$BUILD/initramfs.XXXXXX")
trap 'rm -rf "$root"' EXIT

skeleton() {
	local dir app number
	for dir in dev proc sys run tmp etc opt root home bin sbin usr/bin usr/sbin usr/lib usr/local/lib lib lib64 mnt var; do
		mkdir -p "$root/$dir"
	done
	install -m 755 "$TOP/scripts/initramfs/init" "$root/init"
	install -D -m 644 "$TOP/scripts/initramfs/fstab" "$root/etc/opengni/fstab"
	# what init copies to /dev
	mkdir -p "$root"/etc/opengni/dev/{pts,shm,hugepages}
	ln -s /proc/self/fd "$root/etc/opengni/dev/fd"
	for number in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${number%:*}" "$root/etc/opengni/dev/${number#*:}"; done
	install -m 755 /bin/busybox "$root/bin/busybox"
	for app in $(/bin/busybox --list); do
		[ "$app" = busybox ] || ln -sf /bin/busybox "$root/bin/$app"
	done
	# where the kernel looks when it wants a module itself
	ln -sf /bin/modprobe "$root/sbin/modprobe"
	install -m 755 "$agent" "$root/usr/sbin/gni-agent"
	ln -sf ../sbin/gni-agent "$root/usr/bin/gni-kvs"
	# where monitors look for it
	mkdir -p "$root/opt/cray/rca/default/bin"
	ln -s /usr/bin/rca-helper "$root/opt/cray/rca/default/bin/rca-helper"
	printf 'root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/tmp:/bin/sh\n' >"$root/etc/passwd"
	printf 'root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n' >"$root/etc/group"
}

# copy_module NAME: a module of the kernel and what it depends on; prints their places, none for what is built in.
copy_module() {
	local kind path rest to
	modprobe -d "$kernel_dir" -S "$release" --show-depends "$1" 2>/dev/null | while read -r kind path rest; do
		[ "$kind" = insmod ] || continue
		to=/lib/modules/${path##*/lib/modules/}
		mkdir -p "$root$(dirname "$to")"
		case $path in
		*.xz) to=${to%.xz} && xz -dc "$path" >"$root$to" ;;
		*.gz) to=${to%.gz} && gzip -dc "$path" >"$root$to" ;;
		*.zst) to=${to%.zst} && { zstd -qdc "$path" >"$root$to" || die "cannot unpack $path: is package zstd installed?"; } ;;
		*) cp "$path" "$root$to" ;;
		esac
		echo "$to"
	done
}

kernel_modules() {
	local name boot=()
	# that of make check-debug has everything built in
	if [ -d "$kernel_dir/lib/modules/$release/kernel" ]; then
		for name in $BOOT_MODULES; do [ -z "$(copy_module "$name")" ] || boot+=("$name"); done
		for name in $OTHER_MODULES; do copy_module "$name" >/dev/null; done
	fi
	echo "${boot[*]}" >"$root/etc/opengni/modules"
	mkdir -p "$root/lib/modules/$release/extra"
	for name in "${modules[@]}"; do
		[ -e "$name" ] || die "$name is missing: run 'make driver'"
		find "$name" -name '*.ko' -exec cp -t "$root/lib/modules/$release/extra/" {} +
	done
	# A debugger has what it needs from the build; in the node it would only be read, and kept in memory.
	find "$root/lib/modules/$release/extra" -name '*.ko' -exec strip --strip-debug {} +
	# What they need of the kernel's own; of each other's there is nothing to copy.
	find "$root/lib/modules/$release/extra" -name '*.ko' -exec modinfo -F depends {} + | tr ',' '\n' | sort -u |
		while read -r name; do copy_module "$name" >/dev/null || true; done
	cp "$kernel_dir/lib/modules/$release"/modules.{builtin,builtin.modinfo,order} "$root/lib/modules/$release/"
	depmod -b "$root" "$release"
}

trees() {
	local dir
	for dir in "${stages[@]}"; do
		# Headers, static libraries and manual pages are of no use in the guest.
		tar -C "$dir" --exclude='./usr/include' --exclude='*.a' --exclude='./usr/share/man' -c . | tar -C "$root" -x --no-same-owner
	done
	if [ -n "$tests" ]; then cp -r "$tests" "$root/kselftest"; fi
}

# The programs' shared libraries; those in the tree come first.
libraries() {
	local file lib search
	for file in $HOST_PROGRAMS; do install -D -m 755 "$file" "$root$file"; done
	search=$(find "$root/usr/lib" "$root/usr/local/lib" "$root/opt" -name '*.so*' -printf '%h\n' 2>/dev/null | sort -u | paste -sd:)
	find "$root" -path "$root/lib/modules" -prune -o -type f \( -perm -u+x -o -name '*.so*' \) -print | while read -r file; do
		LD_LIBRARY_PATH=$search ldd "$file" 2>/dev/null || true
	done | awk '$2 == "=>" && $3 ~ /^\// { print $3 } $1 ~ /^\// { print $1 } $2 == "=>" && $3 == "not" { print "missing " $1 > "/dev/stderr" }' |
		sort -u | while read -r lib; do
		case $lib in
		"$root"/*) ;;
		*) install -D -m 755 "$lib" "$root$lib" ;;
		esac
	done
	printf '%s\n' /usr/lib /usr/lib/x86_64-linux-gnu /usr/local/lib /usr/local/lib/x86_64-linux-gnu >"$root/etc/ld.so.conf"
	/sbin/ldconfig -r "$root" 2>/dev/null || true
}

skeleton
kernel_modules
trees
libraries
mkdir -p "$(dirname "$output")"
(cd "$root" && find . -print0 | LC_ALL=C sort -z | cpio -0 -o -H newc -R 0:0 --quiet --reproducible) >"$output.new" ||
	die "cannot write $output: is there space left?"
mv "$output.new" "$output"
echo "$output: $(du -m "$output" | cut -f1) MiB, kernel $release"
