#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Take the kernel's own test harness and style checker out of Debian's linux-source
# package into .build/linux-source (nothing of it is committed).

. "$(dirname "$0")/lib.sh"
. "$TOP/scripts/store.sh"
takes_none "$@"

KERNEL=${KERNEL:-$(default_kernel)}
pkg=linux-source-$KERNEL
dir=$BUILD/linux-source

if [ -x "$dir/scripts/checkpatch.pl" ] && [ -f "$dir/tools/testing/selftests/kselftest_harness.h" ]; then
	echo "$(cat "$dir/version") is there"
	exit 0
fi
have=$(free_mib "$BUILD")
[ "$have" -ge 300 ] || die "no space for $pkg: $BUILD needs 300 MiB, $have MiB are free"
[ -n "$(candidate "$pkg")" ] || apt_update
key=$({ echo "$pkg $(candidate "$pkg")" && cat "$0"; } | store_key)
mkdir -p "$BUILD/dl"
if store_get "$key" "$BUILD/dl/linux-source.tar"; then
	rm -rf "$dir" "$dir.new"
	mkdir -p "$dir.new"
	tar -x -C "$dir.new" -f "$BUILD/dl/linux-source.tar" || die "cannot unpack into $dir.new: is there space left in $BUILD?"
	rm -f "$BUILD/dl/linux-source.tar"
	mv "$dir.new" "$dir"
	echo "$(cat "$dir/version") taken from $STORE"
	exit 0
fi
deb=$(download_deb "$BUILD/dl" "$pkg")
rm -rf "$dir.new"
mkdir -p "$dir.new"
# One stream: package -> its data -> the source archive -> the few files.
dpkg-deb --fsys-tarfile "$deb" | tar -xO "./usr/src/$pkg.tar.xz" | xz -dc -T0 |
	tar -x -C "$dir.new" --strip-components=1 --wildcards --no-wildcards-match-slash \
		'linux-source-*/scripts/checkpatch.pl' 'linux-source-*/scripts/spelling.txt' \
		'linux-source-*/scripts/const_structs.checkpatch' 'linux-source-*/scripts/kernel-doc' \
		'linux-source-*/scripts/Makefile.extrawarn' 'linux-source-*/scripts/subarch.include' \
		'linux-source-*/tools/testing/selftests/lib.mk' 'linux-source-*/tools/testing/selftests/*.h' \
		'linux-source-*/tools/testing/selftests/*.sh' 'linux-source-*/tools/testing/selftests/kselftest/*' ||
	die "cannot unpack $deb: is there space left in $BUILD?"
dpkg-deb -f "$deb" Package Version | tr '\n' ' ' >"$dir.new/version"
rm -rf "$dir"
mv "$dir.new" "$dir"
rm -f "$deb"
tar -c -C "$dir" -f "$BUILD/dl/linux-source.tar" . && store_put "$key" "$BUILD/dl/linux-source.tar"
rm -f "$BUILD/dl/linux-source.tar"
echo "$(cat "$dir/version") unpacked"
