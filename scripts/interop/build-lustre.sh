#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Build LNet, its gnilnd and its tools from a Lustre tree that the user has, as it is, against our kGNI.
#
#   LUSTRE=DIR [KERNEL=6.1|6.12|debug] build-lustre.sh
#
# The tree is copied; nothing is written into it. What newer kernels do not have and gnilnd wants is in
# lustre/gnilnd-compat.h, which the compiler is told to include first.

. "$(dirname "$0")/lib.sh"
takes_none "$@"

KERNEL=${KERNEL:-6.1}
lustre=${LUSTRE:-}
dir=$OUT/lustre-$KERNEL
src=$dir/src log=$dir/build.log configured=$dir/configure.log stage=$dir/stage modules=$dir/modules root=$dir/root
release=$(cat "$BUILD/kernel-$KERNEL/release") || die "no guest kernel: run 'make kernel'"
objects=/lib/modules/$release/build
[ "$KERNEL" != debug ] || objects=$BUILD/kernel-debug/src

[ -n "$lustre" ] || die "which Lustre? say LUSTRE=DIR, the folder of a tree that you have"
[ -e "$lustre/lnet/klnds/gnilnd/gnilnd.c" ] || die "$lustre is no Lustre tree with a gnilnd: lnet/klnds/gnilnd is missing"
[ -e "$objects/Makefile" ] || die "no headers of $release: run 'make setup'"

tree_version() { cd "$lustre" && find . -name .git -prune -o -type f -printf '%P %s %T@\n' | sort | sha256sum | cut -d' ' -f1; }

# A tree that has changed is copied and configured anew.
copy() {
	local version
	version=$(tree_version)
	[ "$(cat "$dir/version" 2>/dev/null)" != "$version" ] || return 0
	rm -rf "$src" "$configured"
	mkdir -p "$src"
	tar -C "$lustre" --exclude=.git -c . | tar -C "$src" -x --no-same-owner
	echo "$version" >"$dir/version"
}

# Headers and symbols, as an administrator would install them.
kgni() {
	rm -rf "$root"
	KERNEL=$KERNEL logged "installing kGNI" "$log" "$TOP/scripts/install.sh" --stage "$root" /usr/local modules kernel_headers symbols
	export PKG_CONFIG_PATH=$root/usr/local/lib/pkgconfig
	GNICPPFLAGS="$(pkg-config --cflags cray-gni cray-krca) -include $TOP/scripts/interop/lustre/gnilnd-compat.h"
	KBUILD_EXTRA_SYMBOLS=$(pkg-config "--define-variable=kernel=$release" --variable=symvers cray-gni)
	export GNICPPFLAGS KBUILD_EXTRA_SYMBOLS
}

configure() {
	[ ! -e "$configured" ] || return 0
	cd "$src" || die "cannot enter $src"
	[ -x configure ] || logged "Lustre's autogen.sh" "$log" sh autogen.sh
	: >"$configured.new"
	logged "Lustre's configure" "$configured.new" ./configure --enable-gni --disable-server --disable-client --disable-tests \
		--disable-manpages --without-o2ib --disable-dependency-tracking \
		"--with-linux=$(realpath -e "/lib/modules/$release/source" 2>/dev/null || realpath "$objects")" "--with-linux-obj=$(realpath "$objects")"
	grep -q '^#define HAVE_GNILND 1' config.h || die "Lustre's configure did not take our kGNI; the log is $configured.new"
	mv "$configured.new" "$configured"
}

# LNet alone: what the tree's own Kbuild says for all of Lustre is said here for its part.
build_modules() {
	local includes="-I$src/lnet/include -I$src/lustre/include -I$src/include/uapi -I$src/include"
	local warnings="-Wno-format-truncation -Wno-stringop-truncation -Wno-stringop-overflow"
	# configure has found krca, too
	! grep -q 'to use RCA in gnilnd... yes' "$configured" || GNICPPFLAGS="$GNICPPFLAGS -DGNILND_USE_RCA=1"
	# gnilnd copies 30 bytes of each caller's name, however long that is: KASAN would tell, and lockdep is off from then on
	local unchecked=()
	if [ "$KERNEL" = debug ]; then
		unchecked=(KASAN_SANITIZE=n)
		warnings+=" -include $TOP/scripts/interop/lustre/lockdep-compat.h"
	fi
	logged "LNet" "$log" make -C "$objects" "${unchecked[@]}" -j "$JOBS" "M=$src/lnet" CONFIG_LNET=m CONFIG_LNET_GNILND=m CONFIG_LNET_SELFTEST=m \
		"NOSTDINC_FLAGS=-nostdinc $includes" "KCFLAGS=-include $src/config.h $warnings" "GNICPPFLAGS=$GNICPPFLAGS" \
		SVN_CODE_REV=opengni modules
	rm -rf "$modules"
	mkdir -p "$modules"
	find "$src/lnet" -name '*.ko' -exec cp -t "$modules" {} +
	strip -g "$modules"/*.ko
}

build_tools() {
	logged "Lustre's libraries" "$log" make -C "$src/lib" -j "$JOBS"
	logged "LNet's tools" "$log" make -C "$src/lnet/utils" -j "$JOBS"
	logged "lctl" "$log" make -C "$src/lustre/utils" -j "$JOBS" lctl
	rm -rf "$stage"
	mkdir -p "$stage/usr/bin" "$stage/usr/lib" "$stage/etc"
	cp "$src"/lnet/utils/.libs/{lnetctl,lst} "$src/lustre/utils/.libs/lctl" "$stage/usr/bin/"
	find "$src" -path '*/.libs/*.so*' -exec cp -a -t "$stage/usr/lib/" {} +
	# Its reverse transfers take the number of bytes that it has copied for an error where something is not aligned.
	# A lost packet is told at once here, after a time-out on Aries: 128 attempts are over before a link is back.
	printf '%s\n' 'options lnet networks=gni' 'options kgnilnd reverse_rdma=0 max_retransmits=100000' >"$stage/etc/modprobe.conf"
}

mkdir -p "$dir"
: >"$log"
copy
kgni
configure
build_modules
build_tools
built=$BUILD/kgni-$release
"$TOP/scripts/mkinitramfs.sh" -k "$BUILD/kernel-$KERNEL" -m "$BUILD/driver-$release/aries.ko" -m "$built/kgni.ko" -m "$built/krca.ko" \
	-m "$modules" -s "$BUILD/stage" -s "$stage" -o "$dir/initramfs.cpio" >>"$log" 2>&1 ||
	die "no guest file system; the log is $log"
touch "$dir/.built"
