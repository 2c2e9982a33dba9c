#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Build Debian's Open MPI, as it is, against our prefix: the parts that a run over btl/ugni needs.
#
# Debian's patches touch files that Makefile.in is made from; what the package carries of those is newer
# for make, so that nothing is generated anew.

. "$(dirname "$0")/lib.sh"
takes_none "$@"

src=$OUT/openmpi/src build=$OUT/openmpi/build log=$OUT/openmpi/build.log
stage=$OUT/openmpi/stage

prepare() {
	find "$src" -name aclocal.m4 -exec touch {} +
	sleep 1
	find "$src" \( -name configure -o -name Makefile.in -o -name '*config.h.in' \) -exec touch {} +
	sleep 1
	touch "$src/.prepared"
}

configure() {
	rm -rf "$build"
	mkdir -p "$build"
	cd "$build" || die "cannot enter $build"
	# --with-libevent and so on: what the package brings along, so that no other package has to be installed.
	PKG_CONFIG_PATH=$PREFIX/lib/pkgconfig logged "Open MPI's configure" "$log" "$src/configure" \
		--prefix=/opt/openmpi --with-ugni --with-libevent=internal --with-hwloc=internal --with-pmix=internal \
		--without-verbs --without-ucx --without-ofi --without-psm --without-psm2 --without-slurm --without-tm \
		--without-cma --without-xpmem --with-alps=no \
		--disable-mpi-fortran --disable-oshmem --disable-man-pages --disable-io-romio --disable-debug-symbols \
		--disable-libompitrace --enable-wrapper-rpath --disable-silent-rules \
		CFLAGS=-O2 CXXFLAGS=-O2 "${compilers[@]}"
}

: >"$log"
[ -e "$src/.prepared" ] || prepare
[ -e "$build/.configured" ] || { configure && touch "$build/.configured"; }
logged "Open MPI's make" "$log" make -C "$build" -j "$JOBS"
rm -rf "$stage"
logged "Open MPI's make install" "$log" make -C "$build" install DESTDIR="$stage"
[ -e "$stage/opt/openmpi/lib/openmpi/mca_btl_ugni.so" ] || die "Open MPI was built without uGNI; the log is $log"
touch "$OUT/openmpi/.built"
