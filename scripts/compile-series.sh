#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Compiles QEMU as scripts/qemu-series.py has patched it, for x86_64 only, and runs the test that the series adds.
#
# usage: scripts/compile-series.sh
#
# It takes the tree that qemu-series.py has left, and the model as a library, as whoever applies the series has it.
# Warnings are errors, as in QEMU's own builds. Result: .build/series/build/qemu-system-x86_64; the log is
# .build/series/build.log. Environment: OPENGNI_BUILD, JOBS. Exit status: 0 it compiles and the test passes, 1 not.

. "$(dirname "$0")/lib.sh"
. "$TOP/scripts/apt-source.sh"

out=$BUILD/series
tree=$out/tree
build=$out/build
log=$out/build.log
jobs=${JOBS:-$(nproc)}
devices=configs/devices/x86_64-softmmu/aries.mak

run() {
	local what=$1
	shift
	"$@" >>"$log" 2>&1 && return
	grep -E -A3 'error:|ERROR|FAILED:|undefined reference' "$log" | cut -c1-300 | tail -n 25 >&2 || tail -n 25 "$log" >&2
	die "$what failed; the log is $log"
}

# The model as its own project installs it.
library() {
	run "building the model" "$TOP/scripts/build-meson.sh" "$out/model" "$TOP/qemu-device/model" -Dlibrary=true \
		"-Dprefix=$out/prefix" -Dlibdir=lib -- libaries-model.a
	run "installing the model" meson install -C "$out/model" --no-rebuild --tags devel,untagged
	export PKG_CONFIG_PATH=$out/prefix/lib/pkgconfig
}

# QEMU 10 wants meson 1.5: this machine's, or Debian 13's, unpacked beside the tree.
meson_of_qemu() {
	[ "$(printf '%s\n' 1.5.0 "$(meson --version)" | sort -V | head -n 1)" != 1.5.0 ] || return 0
	if [ ! -e "$out/meson/usr/bin/meson" ]; then
		apt_sources trixie deb
		apt_run "no meson for QEMU" apt-get update
		unpack_deb meson "$out/meson"
	fi
	export PYTHONPATH=$out/meson/usr/lib/python3/dist-packages
}

configure() {
	local cc=gcc cxx=g++
	if command -v ccache >/dev/null; then
		export CCACHE_BASEDIR=$out CCACHE_NOHASHDIR=1
		cc='ccache gcc'
		cxx='ccache g++'
	fi
	printf 'CONFIG_%s=y\n' Q35 PCIE_PORT ARIES_NIC >"$tree/$devices"
	rm -rf "$build"
	mkdir -p "$build"
	(cd "$build" && run "configuring QEMU" "$tree/configure" --target-list=x86_64-softmmu --without-default-features \
		--without-default-devices --with-devices-x86_64=aries --cc="$cc" --cxx="$cxx" --enable-system --enable-tcg \
		--enable-aries-model --enable-trace-backends=log --enable-werror --disable-docs --disable-tools \
		--disable-install-blobs --disable-download --audio-drv-list= --disable-debug-info)
}

takes_none "$@"
[ -d "$tree/hw/net/aries" ] || die "there is no patched tree in $tree: run scripts/qemu-series.py"
: >"$log"
library
meson_of_qemu
configure
# The device first: what is wrong with it shows before the rest is compiled.
mapfile -t objects < <(ninja -C "$build" -t targets all | sed -n 's|^\([^:]*/hw_net_aries_[^:]*\.o\):.*|\1|p')
[ ${#objects[@]} -gt 0 ] || die "QEMU is configured without the device; the log is $log"
run "compiling the device" ninja -C "$build" -k 0 -j "$jobs" "${objects[@]}"
run "compiling QEMU" ninja -C "$build" -j "$jobs" qemu-system-x86_64 tests/qtest/aries-nic-test
# Debian's source has no firmware; QEMU in its build folder looks for it here.
firmware=$build/qemu-bundle/usr/local/share/qemu
mkdir -p "$firmware"
ln -sf /usr/share/seabios/*.bin /usr/share/qemu/kvmvapic.bin "$firmware/"
run "the series' test" env QTEST_QEMU_BINARY="$build/qemu-system-x86_64" "$build/tests/qtest/aries-nic-test" --tap
grep -E '^(not )?ok ' "$log"
echo "compile-series: $build/qemu-system-x86_64, $("$build/qemu-system-x86_64" -version | head -n 1)"
