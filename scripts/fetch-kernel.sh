#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Unpack the guest kernel of KERNEL= (6.1 or 6.12; on Ubuntu 6.8) into .build/kernel-$KERNEL.
#
# Leaves there: release (a line as uname -r), vmlinuz, lib/modules/<release>.

. "$(dirname "$0")/lib.sh"
. "$TOP/scripts/kernel-release.sh"
. "$TOP/scripts/store.sh"
takes_none "$@"

KERNEL=${KERNEL:-$(default_kernel)}
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
rm -rf "$dir.new"
mkdir -p "$dir.new"
parts=("linux-image-$release")
# Ubuntu has the modules in a package of their own.
[ -z "$(candidate "linux-modules-$release")" ] || parts+=("linux-modules-$release")
mkdir -p "$BUILD/dl"
for part in "${parts[@]}"; do
	# Another tree may have downloaded it.
	key=$(echo "$part $version" | store_key)
	deb=$BUILD/dl/$part.deb
	if ! store_get "$key" "$deb"; then
		deb=$(download_deb "$BUILD/dl" "$part=$version")
		store_put "$key" "$deb"
	fi
	# Where /lib is a link to /usr/lib, some packages have their modules below the latter.
	dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$dir.new" --exclude='./usr/share/*' --exclude='./boot/System.map*' \
		--transform='s,^\./usr/lib/,./lib/,' || die "cannot unpack $deb: is there space left in $BUILD?"
	rm -f "$deb"
done
mv "$dir.new/boot/vmlinuz-$release" "$dir.new/vmlinuz"
depmod -b "$dir.new" "$release"
echo "$release" >"$dir.new/release"
rm -rf "$dir"
mv "$dir.new" "$dir"
echo "kernel $release unpacked"
