#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Take a kernel that somebody has built for the guest, into .build/kernel-own, as fetch-kernel.sh leaves Debian's.
#
#   own-kernel.sh FOLDER      a folder in which 'make bzImage modules' has been done ('make run KDIR=FOLDER')
#
# Leaves there: release, vmlinuz, lib/modules/<release>, and links to vmlinux and to the folder (kdir).

. "$(dirname "$0")/lib.sh"

[ $# = 1 ] || wrong "which folder?"
kdir=$1
dir=$BUILD/kernel-own
log=$BUILD/logs/own-kernel.log

# What cannot be done without; driver/guest.config has more that a guest is better with.
NEEDED="64BIT MODULES PCI PCI_MSI TTY SERIAL_8250_CONSOLE BLK_DEV_INITRD BINFMT_ELF BINFMT_SCRIPT PROC_FS SYSFS DEVTMPFS TMPFS
	DEBUG_FS NET UNIX INET EPOLL SIGNALFD VIRTIO_PCI VIRTIO_CONSOLE AUXILIARY_BUS CRC32"

check_tree() {
	local file
	[ -d "$kdir" ] || die "there is no folder $kdir"
	[ -n "$release" ] || die "$kdir is no kernel tree that has been built: it has no include/generated/utsrelease.h"
	for file in arch/x86/boot/bzImage Module.symvers .config; do
		[ -e "$kdir/$file" ] || die "$kdir has no $file: run 'make bzImage modules' there"
	done
}

check_config() {
	local option lacking=""
	for option in $NEEDED; do
		grep -q "^CONFIG_$option=[ym]" "$kdir/.config" || lacking="$lacking CONFIG_$option"
	done
	[ -z "$lacking" ] || die "the kernel in $kdir lacks$lacking: add $TOP/driver/guest.config to its configuration and build it again"
}

# fresh: whether what is there was taken from this tree as it is now.
fresh() {
	[ "$(readlink "$dir/kdir")" = "$kdir" ] && [ "$(cat "$dir/stamp" 2>/dev/null)" = "$1" ]
}

stamp() { stat -c '%Y %s' "$kdir/arch/x86/boot/bzImage" "$kdir/Module.symvers" "$kdir/modules.order" 2>/dev/null; }

take() {
	local release=$1 modules=$dir.new/lib/modules/$1 file
	rm -rf "$dir.new"
	mkdir -p "$modules"
	need_logs
	make -s -C "$kdir" modules_install INSTALL_MOD_PATH="$dir.new" INSTALL_MOD_STRIP=1 DEPMOD=true >"$log" 2>&1 ||
		die "modules of $kdir cannot be installed: $(tail -n 1 "$log") (all of it: $log)"
	rm -f "$modules/build" "$modules/source"
	for file in builtin builtin.modinfo order; do
		[ -e "$modules/modules.$file" ] || cp "$kdir/modules.$file" "$modules/" 2>/dev/null || : >"$modules/modules.$file"
	done
	depmod -b "$dir.new" "$release" 2>/dev/null || die "depmod does not take the modules of $kdir"
	cp "$kdir/arch/x86/boot/bzImage" "$dir.new/vmlinuz"
	ln -s "$kdir" "$dir.new/kdir"
	ln -s "$kdir/vmlinux" "$dir.new/vmlinux"
	echo "$release" >"$dir.new/release"
}

# As the kernel itself will say, and modules.
release=$(sed -n 's/^.define UTS_RELEASE "\(.*\)"/\1/p' "$kdir/include/generated/utsrelease.h" 2>/dev/null) || true
check_tree
check_config
state=$(stamp)
if fresh "$state"; then
	echo "kernel $release of $kdir is there"
	exit 0
fi
take "$release"
echo "$state" >"$dir.new/stamp"
rm -rf "$dir"
mv "$dir.new" "$dir"
echo "kernel $release taken from $kdir"
