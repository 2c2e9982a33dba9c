#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Build Debian's UCX, as it is, against our prefix; with its gtest, whose C++ is compiled with little optimisation,
# and where warnings are no errors: a compiler newer than this UCX has more of them.

. "$(dirname "$0")/lib.sh"
takes_none "$@"

src=$OUT/ucx/src build=$OUT/ucx/build log=$OUT/ucx/build.log
stage=$OUT/ucx/stage

# The package has no configure. autogen.sh makes it, in the source.
generate() {
	cd "$src" || die "cannot enter $src"
	logged "UCX's autogen.sh" "$log" ./autogen.sh
}

configure() {
	rm -rf "$build"
	mkdir -p "$build"
	cd "$build" || die "cannot enter $build"
	PKG_CONFIG_PATH=$PREFIX/lib/pkgconfig logged "UCX's configure" "$log" "$src/contrib/configure-release" \
		--prefix=/opt/ucx --with-ugni --without-verbs --without-rdmacm --without-knem --without-xpmem --without-cuda \
		--without-rocm --without-fuse3 --without-go --without-java --disable-numa --disable-doxygen-doc --enable-mt \
		--enable-gtest "${compilers[@]}"
}

: >"$log"
[ -x "$src/configure" ] || generate
[ -e "$build/.configured" ] || { configure && touch "$build/.configured"; }
# For make, not for configure: that one forgets flags when it tries the compiler's options. CXXFLAGS are not ours to
# set: libucxperf, which is linked as C, has its -fno-exceptions there.
logged "UCX's make" "$log" make -C "$build" -j "$JOBS" BASE_CXXFLAGS='-O2 -g0 -Wno-error'
rm -rf "$stage"
logged "UCX's make install" "$log" make -C "$build" install DESTDIR="$stage"
# gtest is built to be run where it was built: in the guest LD_LIBRARY_PATH says where the libraries are.
cp "$build/test/gtest/gtest" "$stage/opt/ucx/bin/gtest"
[ -e "$stage/opt/ucx/lib/ucx/libuct_ugni.so" ] || die "UCX was built without uGNI; the log is $log"
touch "$OUT/ucx/.built"
