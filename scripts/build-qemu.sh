#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Builds QEMU from Debian's source package with the Aries NIC in it.
#
# usage: scripts/build-qemu.sh [--print]
#   --print   only print the path of the binary
#
# Result: .build/qemu/bin/qemu-system-x86_64, of QEMU 10 .build/qemu-10/bin/qemu-system-x86_64.
# Nothing is done when nothing has changed. Environment:
#   QEMU       version: 7.2 (default; Debian 12's) or 10 (Debian 13's)
#   OPENGNI_BUILD  where build products go (default: .build)
#   QEMU_DSC   a downloaded .dsc of that version to use instead of asking apt
#   ARIES_MODEL_BUILD  a build directory of the model to link, instead of one that this script keeps
#   JOBS       parallel compilations (default: processors)
#   V=1        show the output of the tools
#
# Exit status: 0 built or up to date, 1 failed (one line on stderr says why).

. "$(dirname "$0")/lib.sh"
. "$TOP/scripts/apt-source.sh"
. "$TOP/scripts/qemu-version.sh"
. "$TOP/scripts/store.sh"

qemu_choose "${QEMU:-7.2}"
out=$QEMU_DIR
gen=$BUILD/gen
# Where the model is built. An edit of it costs one source in the folder that `make model` and scripts/unit use; who has none wants QEMU
# alone, and gets the library from a few files, in half the time.
model=${ARIES_MODEL_BUILD:-$BUILD/model}
model_options=()
if ! [ -e "$model/build.ninja" ] && [ -z "${ARIES_MODEL_BUILD:-}" ]; then
	model=$BUILD/model-grouped
	model_options=(-Dgrouped=true)
fi
src=$out/src
build=$out/build
bin=$out/bin/qemu-system-x86_64
log=$out/build.log
patches=$TOP/qemu-device/patches/$QEMU_SERIES
jobs=${JOBS:-$(nproc)}

say() { printf 'qemu: %s\n' "$*"; }

# run WHAT COMMAND...: runs it with its output in the log; on failure shows the end of it.
run() {
	local what=$1
	shift
	if [ -n "${V:-}" ]; then
		"$@" 2>&1 | tee -a "$log" || die "$what failed; the log is $log"
	elif ! "$@" >>"$log" 2>&1; then
		tail -n 25 "$log" >&2
		if grep -q 'No space left on device' "$log"; then
			die "$what failed: no space left on the disk that holds $out"
		fi
		die "$what failed; the log is $log"
	fi
}

# need COMMAND PACKAGE: COMMAND must succeed, else PACKAGE is missing.
missing=()
need() { eval "$1" >/dev/null 2>&1 || missing+=("$2"); }

check_packages() {
	need 'command -v gcc' gcc
	need 'command -v g++' g++
	need 'command -v python3' python3
	need 'command -v meson' meson
	need 'command -v ninja' ninja-build
	need 'command -v dpkg-source' dpkg-dev
	need 'command -v patch' patch
	need 'command -v pkg-config' pkg-config
	need 'pkg-config --exists glib-2.0' libglib2.0-dev
	need 'pkg-config --exists pixman-1' libpixman-1-dev
	need 'echo "#include <libfdt.h>" | gcc -E -' libfdt-dev
	need 'echo "#include <cap-ng.h>" | gcc -E -' libcap-ng-dev
	need 'echo "#include <attr/attributes.h>" | gcc -E -' libattr1-dev
	need 'pkg-config --exists slirp' libslirp-dev
	need 'test -e /usr/share/seabios/bios-256k.bin' seabios
	need 'test -e /usr/share/qemu/kvmvapic.bin' qemu-system-data
	[ "$QEMU_VERSION" = 7.2 ] || need 'python3 -c "import ensurepip, venv"' python3-venv
	[ ${#missing[@]} -eq 0 ] || die "missing packages, install them with: apt-get install ${missing[*]}"
}

check_space() {
	local free
	free=$(free_mib "$out")
	[ "$free" -ge 1300 ] || die "no space for QEMU's source and objects: $out has $free MiB free, 1300 are needed"
}

# ---- source ----

# Prints the .dsc to build from, fetching it if need be.
find_source() {
	local version
	if [ -n "${QEMU_DSC:-}" ]; then
		[ -r "$QEMU_DSC" ] || die "no source for QEMU: QEMU_DSC=$QEMU_DSC cannot be read"
		echo "$QEMU_DSC"
		return
	fi
	mkdir -p "$out/download"
	if ! compgen -G "$out/download/qemu_$QEMU_SERIES*.dsc" >/dev/null; then
		say "fetching Debian's source package" >&2
		apt_sources "$QEMU_SUITE"
		apt_run "no source for QEMU" apt-get update
		version=$(source_version qemu "^1:${QEMU_SERIES/./\\.}[.+]")
		[ -n "$version" ] ||
			die "no source for QEMU: apt knows no qemu $QEMU_SERIES; set QEMU_DSC to a qemu_$QEMU_SERIES*.dsc"
		cd "$out/download" || die "cannot enter $out/download"
		apt_run "no source for QEMU" apt-get source --download-only --only-source "qemu=$version"
	fi
	compgen -G "$out/download/qemu_$QEMU_SERIES*.dsc" | sort -V | tail -n 1
}

unpack() {
	local dsc=$1 patch
	rm -rf "$src"
	say "unpacking $(basename "$dsc")"
	run "unpacking $dsc" dpkg-source --no-copy -x "$dsc" "$src"
	for patch in "$patches"/*.patch; do
		run "applying $(basename "$patch")" patch -d "$src" -p1 --no-backup-if-mismatch -i "$patch"
	done
	sed -i "s|^subdir('9pfs')|subdir('9pfs')\nsubdir('aries')|" "$src/hw/meson.build"
	sed -i "s|^source 9pfs/Kconfig|source 9pfs/Kconfig\nsource aries/Kconfig|" "$src/hw/Kconfig"
	sed -i "s|^    'hw/9pfs',|    'hw/9pfs',\n    'hw/aries',|" "$src/meson.build"
	if ! { grep -q "subdir('aries')" "$src/hw/meson.build" && grep -q 'source aries/' "$src/hw/Kconfig" &&
		grep -q "'hw/aries'" "$src/meson.build"; }; then
		die "QEMU's build files are not as expected in $dsc"
	fi
	cp "$TOP/qemu-device/qemu/devices.mak" "$src/configs/devices/x86_64-softmmu/aries.mak"
}

# hw/aries: links to our files, to the headers they include and to the model's build
# directory (the archive is a thin one: it has to be reached through its own directory).
link_device() {
	local dir=$src/hw/aries file
	mkdir -p "$dir"
	find "$dir" -xtype l -delete
	for file in "$TOP"/qemu-device/qemu/{Kconfig,meson.build,trace-events,*.[ch]} \
		"$TOP"/driver/include/aries_hw.h "$TOP"/qemu-device/model/include/aries_model.h \
		"$gen"/aries_regs.h "$gen"/aries_regs_table.h; do
		[ "$(readlink "$dir/$(basename "$file")")" = "$file" ] || ln -sfn "$file" "$dir/$(basename "$file")"
	done
	ln -sfn "$model" "$dir/model"
}

# ---- build ----

# QEMU 10 wants a newer meson than Debian 12 has: Debian 13's, unpacked beside it.
get_meson() {
	local need=1.5.0 have
	[ "$QEMU_VERSION" != 7.2 ] || return 0
	have=$(meson --version)
	if [ "$(printf '%s\n' "$need" "$have" | sort -V | head -n 1)" = "$need" ]; then
		return 0
	fi
	if [ ! -e "$out/meson/usr/bin/meson" ]; then
		say "meson $have is older than $need: fetching Debian 13's"
		apt_sources trixie deb
		apt_run "no meson for QEMU" apt-get update
		unpack_deb meson "$out/meson"
	fi
	export PYTHONPATH=$out/meson/usr/lib/python3/dist-packages
}

# ccache keeps what was compiled with a precompiled header if it may (its manual, "Precompiled headers").
keep_precompiled() { export CCACHE_PCH_EXTSUM=1 CCACHE_SLOPPINESS=pch_defines,time_macros; }

configure() {
	local cc=gcc cxx=g++ own=()
	if command -v ccache >/dev/null; then
		# Lets builds in different places share what was compiled.
		export CCACHE_BASEDIR=$out CCACHE_NOHASHDIR=1
		keep_precompiled
		cc='ccache gcc'
		cxx='ccache g++'
	fi
	rm -rf "$build"
	mkdir -p "$build"
	case $QEMU_VERSION in
	7.2) own=(--with-git-submodules=ignore) ;;
	*) own=(--disable-install-blobs --disable-download) ;;
	esac
	say "configuring"
	(cd "$build" && run "configuring QEMU" "$src/configure" --target-list=x86_64-softmmu \
		--without-default-features --without-default-devices --with-devices-x86_64=aries \
		--cc="$cc" --cxx="$cxx" --enable-system --enable-tcg --enable-kvm --enable-virtfs --enable-attr \
		--enable-cap-ng --enable-vhost-user --enable-slirp --enable-trace-backends=log --disable-docs --disable-tools \
		"--extra-cflags=-fpch-preprocess -Wno-invalid-pch" --disable-werror --audio-drv-list= "${own[@]}" --disable-debug-info)
}

build_model() {
	[ -z "${ARIES_MODEL_BUILD:-}" ] || return 0
	run "building the model" "$TOP/scripts/build-meson.sh" "$model" "$TOP/qemu-device/model" "${model_options[@]}" -- libaries-model.a
	[ "$model" = "$BUILD/model-grouped" ] || rm -rf "$BUILD/model-grouped"
}

# osdep.h, which every source includes first, compiled once with the flags of sources for any machine and once with those for
# this one: GCC takes that in its place. Nothing it is made from changes once QEMU is configured.
precompile() {
	local header=$src/include/qemu/osdep.h source command
	rm -rf "$header.gch"
	run "making headers" ninja -C "$build" config-poison.h
	mkdir "$header.gch"
	for source in util_thread-pool target_i386_cpu; do
		command=$(ninja -C "$build" -t commands qemu-system-x86_64 |
			sed -nE "s/^(ccache )?(.*) -MD -MQ .* -o [^ ]*[./]$source\\.c\\.o -c .*/\\2/p" | tail -n 1)
		[ -n "$command" ] || { say "osdep.h is read for each source: no command compiles $source"; continue; }
		run "compiling osdep.h" bash -c "cd '$build' && $command -x c-header -o '$header.gch/$source' -c '$header'"
		# What ccache goes by, for the file itself is another one each time.
		run "reading osdep.h" bash -c "cd '$build' && $command -E -P -o '$header.gch/$source.sum' '$header'"
	done
}

is_stamp() { [ "$(cat "$1" 2>/dev/null)" = "$2" ]; }

# Hash of all that source tree and configuration are made from, and of their place: a
# configured tree that was moved or copied would regenerate itself where it came from.
tree_stamp() {
	{
		echo "$out"
		cat "$dsc" "$TOP/qemu-device/qemu/devices.mak" "$patches"/*.patch
		declare -f unpack configure precompile get_meson
		gcc --version | head -n 1
	} | sha256sum | cut -d' ' -f1
}

# ninja with a line for every hundredth part; the rest goes to the log.
compile() {
	local status=0
	keep_precompiled
	if [ -n "${V:-}" ]; then
		ninja -C "$build" -j "$jobs" qemu-system-x86_64 2>&1 | tee -a "$log" || status=$?
	else
		NINJA_STATUS='[%f/%t] ' ninja -C "$build" -j "$jobs" qemu-system-x86_64 2>&1 | tee -a "$log" |
			awk -F'[][/ ]+' '/^\[[0-9]+\/[0-9]+\]/ { if ($2 * 100 >= $3 * next_part) { next_part = int($2 * 100 / $3) + 1;
				printf "qemu: compiling [%d/%d]\n", $2, $3; fflush() } }' || status=$?
	fi
	[ $status -eq 0 ] && return
	grep -E -A3 'error:|FAILED:|undefined reference' "$log" | tail -n 25 >&2 || true
	! grep -q 'No space left on device' "$log" || die "no space left on the disk that holds $out"
	die "compiling failed; the log is $log"
}

# Key of the binary among a user's files: all that it is made from, and what it runs on. Debian's firmware package is
# made from the source that a build would get.
binary_key() {
	{
		cd "$TOP"
		find qemu-device/qemu "${patches#"$TOP/"}" qemu-device/model driver/include \
			\( -name __pycache__ -o -path qemu-device/model/tests \) -prune -o -type f -print0 |
			LC_ALL=C sort -z | xargs -0 sha256sum
		sha256sum scripts/{build-qemu,build-meson,qemu-version}.sh scripts/{gen-regs,unity}.py
		if [ -n "${QEMU_DSC:-}" ]; then cat "$QEMU_DSC"; else candidate qemu-system-data; fi
		distribution
		gcc --version | head -n 1
		printf '%s\n' "${CC:-}" "${CXX:-}" "${CFLAGS:-}" "${CXXFLAGS:-}" "${LDFLAGS:-}"
	} | store_key
}

# install_binary FILE: a copy, so that the last good binary stays usable while a build is going on or has failed.
install_binary() {
	"$1" -version >/dev/null || return
	install -m 755 "$1" "$bin.new" || die "cannot write to $out/bin"
	mv -f "$bin.new" "$bin"
}

# from_store KEY: the binary that another tree has built, if it runs here.
from_store() {
	store_get "$1" "$out/stored" || return
	chmod +x "$out/stored"
	local status=0
	install_binary "$out/stored" 2>>"$log" || status=$?
	rm -f "$out/stored"
	[ $status -eq 0 ] && say "taken from $STORE"
}

main() {
	local dsc tree key model_build
	if [ "${1:-}" = --print ]; then
		echo "$bin"
		return
	fi
	takes_none "$@"
	check_packages
	mkdir -p "$out/bin" "$gen" || die "cannot write to $out"
	exec 9>"$out/lock"
	flock -n 9 || { say "waiting for another build"; flock 9; }
	: >"$log"
	key=$(binary_key)
	if [ -z "${ARIES_MODEL_BUILD:-}" ] && from_store "$key"; then
		say "ready: $bin"
		return
	fi
	run "generating the register headers" python3 "$TOP/scripts/gen-regs.py" "$TOP/driver/include/aries_regs.toml" "$gen"
	# The network and one processor are busy with QEMU's source and its configuration, the other one has the model meanwhile.
	build_model &
	model_build=$!
	trap wait EXIT
	dsc=$(find_source)
	tree=$(tree_stamp)
	get_meson
	if ! is_stamp "$out/tree.stamp" "$tree"; then
		check_space
		rm -f "$out/tree.stamp"
		unpack "$dsc"
		link_device
		configure
		precompile
		echo "$tree" >"$out/tree.stamp"
	fi
	link_device
	wait "$model_build"
	compile
	if ! cmp -s "$build/qemu-system-x86_64" "$bin"; then
		install_binary "$build/qemu-system-x86_64" || die "the binary does not run; the log is $log"
	fi
	[ -n "${ARIES_MODEL_BUILD:-}" ] || store_put "$key" "$bin"
	say "ready: $bin"
}

main "$@"; exit
