#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Unpack the guest kernel of KERNEL= (6.1 or 6.12) into .build/kernel-$KERNEL.
#
# Leaves there: release (a line as uname -r), vmlinuz, lib/modules/<release>.

. "$(dirname "$0")/lib.sh"
. "$TOP/scripts/kernel-release.sh"
takes_none "$@"

KERNEL=${KERNEL:-6.1}
dir=$BUILD/kernel-$KERNEL
release=$(kernel_release "$KERNEL")
headers=/usr/src/linux-headers-$release

[ -d "$headers" ] || die "headers of $release are missing: run 'make setup KERNEL=$KERNEL'"
if [ "$(cat "$dir/release" 2>/dev/null)" = "$release" ] && [ -s "$dir/vmlinuz" ] && [ -d "$dir/lib/modules/$release" ]; then
	echo "kernel $release is there"
	exit 0
fi

# The headers' version, not just the newest image: symbol versions must match.
version=$(dpkg-query -W -f='${Version}' "linux-headers-$release")
deb=$(download_deb "$BUILD/dl" "linux-image-$release=$version")
rm -rf "$dir.new"
mkdir -p "$dir.new"
dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$dir.new" --exclude='./usr/*' --exclude='./boot/System.map*' ||
	die "cannot unpack $deb: is there space left in $BUILD?"
mv "$dir.new/boot/vmlinuz-$release" "$dir.new/vmlinuz"
depmod -b "$dir.new" "$release"
echo "$release" >"$dir.new/release"
rm -rf "$dir"
mv "$dir.new" "$dir"
rm -f "$deb"
echo "kernel $release unpacked"
