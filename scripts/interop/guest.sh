#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Put the clients that have been built into a tree for the guest, without what only builds need; then make a guest file system with it.
#
#   guest.sh     KERNEL=6.1|6.12 chooses the kernel

. "$(dirname "$0")/lib.sh"
takes_none "$@"

KERNEL=${KERNEL:-6.1}
tree=$OUT/guest
release=$(cat "$BUILD/kernel-$KERNEL/release") || die "no guest kernel: run 'make kernel'"

rm -rf "$tree"
mkdir -p "$tree/etc"
for client in ucx openmpi; do
	[ -e "$OUT/$client/.built" ] || continue
	tar -C "$OUT/$client/stage" --exclude='*.la' --exclude='*.a' --exclude='./opt/*/include' --exclude='./opt/*/share/doc' \
		--exclude='./opt/*/share/man' --exclude='*.mod' --exclude='pkgconfig' -c . | tar -C "$tree" -x
done
find "$tree" -type f \( -name '*.so*' -o -path '*/bin/*' \) -exec strip --strip-unneeded {} + 2>/dev/null || true
[ ! -d "$OUT/programs" ] || cp -r "$OUT/programs/." "$tree/"

# kGNI and ipogif carry ssh between nodes on several hosts.
kgni=$BUILD/kgni-$release
"$TOP/scripts/mkinitramfs.sh" -k "$BUILD/kernel-$KERNEL" -m "$BUILD/driver-$release/aries.ko" -m "$kgni/kgni.ko" -m "$kgni/krca.ko" -m "$kgni/clients" \
	-s "$BUILD/stage" -s "$BUILD/ssh/tree" -s "$tree" -o "$OUT/initramfs.cpio" 2>"$OUT/guest.log" || die "no guest file system; the log is $OUT/guest.log"
