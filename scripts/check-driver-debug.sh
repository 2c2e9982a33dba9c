#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Run the tests of the driver and of kGNI on a kernel with debugging aids: those of one node, then those of
# kGNI's clients between two, at last all clients at once under traffic while what they need goes and returns.
#
#   make check-debug [ARGS='[--kcsan] [PATTERN]']     only tests that match, such as kgni:failing or nodes:test_slnd
#   make check-debug ARGS=nodes:test_rounds ROUNDS=1000 [SEED=N]
#
# --kcsan: the kernel has KCSAN, which reports data races (driver/kcsan.config). Otherwise it has lockdep, KASAN, kmemleak,
# the DMA debugging code and allocations that fail (driver/debug.config).
#
# Debian's kernels have none of these, so each of the two is built from Debian's linux-source package with
# driver/guest.config and its own: the first time that takes ten minutes and 3 GiB. Not part of `make check`.
# Needs what that target makes before it: QEMU, libugni, generated headers, the test harness, packages.
#
# Exit status: 0 all tests passed and no kernel has complained; the last line says so, or what has failed.

. "$(dirname "$0")/lib.sh"

kind=debug
if [ "${1:-}" = --kcsan ]; then kind=kcsan; shift; fi
dir=$BUILD/kernel-$kind
src=$dir/src
image=$BUILD/initramfs-check-$kind.cpio
. "$TOP/scripts/qemu-version.sh"
qemu_choose "${QEMU:-7.2}"
qemu=$QEMU_DIR/bin/qemu-system-x86_64
harness=$BUILD/linux-source/tools/testing/selftests
fabric=debug-$$
pattern=${1:-}
NODES_TESTS="test_pingpong test_slnd.Traffic test_slnd.Going test_ipogif.Traffic test_ipogif.Breaks test_krca test_rounds"
declare -A AIDS=([debug]="KASAN PROVE_LOCKING DEBUG_KMEMLEAK AUXILIARY_BUS FAILSLAB FAIL_PAGE_ALLOC MEMCG NET_DEVLINK" [kcsan]="KCSAN AUXILIARY_BUS MEMCG NET_DEVLINK")
jobs=${JOBS:-$(nproc)}
SILENCE=1800 # seconds without a word after which the machine counts as stuck
cc=gcc
if command -v ccache >/dev/null; then cc='ccache gcc'; fi

for file in "$qemu" "$harness" "$BUILD/userlib/libugni.so.0" "$BUILD/agent/gni-agent"; do
	[ -e "$file" ] || die "run 'make check-debug': there is no $file"
done
mkdir -p "$dir" "$BUILD/logs"

get_source() {
	local deb
	[ ! -f "$src/Makefile" ] || return 0
	[ "$(free_mib "$dir")" -ge 3500 ] || die "no space for a kernel build: $dir needs 3500 MiB"
	deb=$(download_deb "$BUILD/dl" linux-source-6.1)
	rm -rf "$src.new" && mkdir "$src.new"
	dpkg-deb --fsys-tarfile "$deb" | tar -xO ./usr/src/linux-source-6.1.tar.xz | xz -dc -T0 |
		tar -x -C "$src.new" --strip-components=1
	mv "$src.new" "$src"
	rm -f "$deb"
}

build_kernel() {
	local log=$BUILD/logs/kernel-$kind.log option fragments=("$TOP/driver/guest.config" "$TOP/driver/$kind.config")
	echo "kernel with debugging aids (log: $log)"
	if ! cat "${fragments[@]}" | cmp -s - "$dir/config.used"; then
		make -s -C "$src" CC="$cc" tinyconfig >"$log" 2>&1
		(cd "$src" && scripts/kconfig/merge_config.sh -m .config "${fragments[@]}") >>"$log" 2>&1
		make -s -C "$src" CC="$cc" olddefconfig >>"$log" 2>&1
		for option in ${AIDS[$kind]}; do
			grep -q "^CONFIG_$option=y" "$src/.config" || die "the configuration lost $option, see $log"
		done
		cat "${fragments[@]}" >"$dir/config.used"
	fi
	make -s -C "$src" CC="$cc" -j"$jobs" bzImage modules >>"$log" 2>&1 || die "the kernel does not build, see $log"
	make -s -C "$TOP/driver" CC="$cc" -j"$jobs" KDIR="$src" BUILD="$dir/driver" ARIES_TESTS=m >>"$log" 2>&1 ||
		die "the driver does not build, see $log"
	make -s -C "$TOP/kgni" CC="$cc" -j"$jobs" KDIR="$src" BUILD="$dir/kgni" ARIES="$dir/driver" KGNI_TESTS=m >>"$log" 2>&1 ||
		die "kGNI does not build, see $log"
}

# The kernel as fetch-kernel.sh leaves others.
lay_out_kernel() {
	local release modules
	release=$(make -s -C "$src" kernelrelease)
	modules=$dir/lib/modules/$release
	mkdir -p "$modules"
	cp "$src/arch/x86/boot/bzImage" "$dir/vmlinuz"
	cp "$src"/modules.{builtin,builtin.modinfo,order} "$modules/"
	echo "$release" >"$dir/release"
	# where those who install, or build against this kernel, look for our modules
	ln -sfn "kernel-$kind/driver" "$BUILD/driver-$release"
	ln -sfn "kernel-$kind/kgni" "$BUILD/kgni-$release"
}

# The guest's tests with more patience: this kernel is slow.
build_tests() {
	local log=$BUILD/logs/kernel-$kind-tests.log name common
	rm -rf "$dir/kselftest"
	mkdir -p "$dir/harness" "$dir/kselftest"
	cp -r "$harness/lib.mk" "$harness"/*.h "$dir/harness/"
	sed -i 's/alarm(t->timeout)/alarm(20 * t->timeout)/' "$dir/harness/kselftest_harness.h"
	grep -q 'alarm(20 ' "$dir/harness/kselftest_harness.h" || die "the tests' harness keeps time in another way"
	for name in aries kgni; do
		common=(-s -C "$TOP/selftests/$name" KSELFTEST="$dir/harness" OUTPUT="$dir/tests-$name" BUILD="$BUILD")
		make "${common[@]}" -j"$jobs" >"$log" 2>&1 || die "the tests do not build, see $log"
		make "${common[@]}" INSTALL_PATH="$dir/kselftest/$name" install >>"$log" 2>&1 || die "no tests, see $log"
		make "${common[@]}" COLLECTION="$name" emit_tests | grep -- "$pattern" >>"$dir/kselftest/list" || true
	done
}

# The guest's file system with the tests, and what runs them there.
build_image() {
	mkdir -p "$dir/stage"
	cat >"$dir/stage/init-debug" <<-'INIT'
		#!/bin/sh
		export PATH=/usr/sbin:/usr/bin:/sbin:/bin
		mount -t proc none /proc; mount -t sysfs none /sys; mount -t devtmpfs none /dev
		mount -t debugfs none /sys/kernel/debug; mount -t tracefs none /sys/kernel/tracing
		mkdir /dev/hugepages && mount -t hugetlbfs none /dev/hugepages && echo 64 >/proc/sys/vm/nr_overcommit_hugepages
		exec >/dev/ttyS0 2>&1 </dev/ttyS0
		echo 1 >/proc/sys/kernel/printk
		# an interrupt at the wrong moment of an emulated boot: KASAN and lockdep are off then
		read -r tainted </proc/sys/kernel/tainted
		if [ "$tainted" != 0 ]; then echo "== tainted by the boot"; poweroff -f; fi
		modprobe aries || echo "not ok modprobe"
		while IFS=: read -r folder name; do
			echo "== $folder:$name"
			"/kselftest/$folder/$name" 2>&1 </dev/null | cut -c1-300
			dmesg -c
			cat /sys/kernel/debug/aries/kgni0/objects
		done </kselftest/list
		rmmod aries || echo "not ok rmmod"
		# what is young is not looked at, and what nobody points to is believed the second time
		for i in 1 2 3; do sleep 6; echo scan >/sys/kernel/debug/kmemleak; done
		cat /sys/kernel/debug/kmemleak
		dmesg
		echo "== end"
		poweroff -f
	INIT
	chmod +x "$dir/stage/init-debug"
	"$TOP/scripts/mkinitramfs.sh" -k "$dir" -m "$dir/driver" -m "$dir/kgni" -s "$BUILD/stage" -s "$dir/stage" \
		-t "$dir/kselftest" -o "$image"
}

run() {
	local khz
	khz=$(PYTHONPATH=$TOP/scripts python3 -c 'from opengni import host; print(host.tsc_khz() or "")')
	PYTHONPATH=$TOP/scripts:$TOP/selftests/lib python3 - "$1" "$SILENCE" "$qemu" -L /usr/share/qemu -L /usr/share/seabios -machine q35,memory-backend=mem \
		-accel tcg,thread=multi -cpu max,-erms,-fsrm -smp 2 -m 1G -object memory-backend-memfd,id=mem,size=1G,share=on \
		-nodefaults -no-user-config -display none -no-reboot -device pcie-root-port,id=rp0,chassis=1,x-speed=8,x-width=16 \
		-device aries-nic,id=nic0,bus=rp0,fabric=$fabric,node=0,nodes=2 -kernel "$src/arch/x86/boot/bzImage" \
		-initrd "$image" -append "rdinit=/init-debug console=ttyS0 tsc=reliable ${khz:+tsc_early_khz=$khz} no_timer_check norandmaps watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=120 panic=-1" -serial stdio -monitor none <<-'PYTHON' || true
		import subprocess, sys
		from gnitest import patience

		log, silence, *command = sys.argv[1:]
		with open(log, "wb") as out, subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out) as machine:
		    try:
		        patience.wait_speaking(machine, log, float(silence))
		    except patience.Silent as silent:
		        machine.kill()
		        print(silent, file=sys.stderr)
	PYTHON
	sed -i 's/\r//g' "$1"
	rm -f /dev/shm/aries-$fabric*
}

# Lines of a log that tell of a mistake, without those that the kernel makes where its own allocations are made to fail:
# entries of interrupts in /proc that are not there when they are removed, fields of trace events, and the name of
# a class that cannot be registered (6.1 loses it). A page may be registered any number of times; the DMA debugging code
# dislikes two and counts to seven. Where madvise() splits a mapping of huge pages, 6.1.192 misses a lock that it has not
# taken. Races of the kernel itself, whose report names no module, are not ours.
complaints() {
	awk '/unreferenced object/ { if (leak) print leak; leak = $0; next }
		leak && /^ / { if (/__class_register/) leak = ""; next }
		leak { print leak; leak = "" }
		{ print }
		END { if (leak) print leak }' "$1" |
		grep -E '^not ok|unreferenced object|BUG:|WARNING:|possible .* (deadlock|usage)|DMA-API: aries|blocked for more than|Oops|refcount_t:|rcu: INFO' |
		grep -vE 'BUG: KCSAN: [^][]*$' |
		grep -vE 'kernel/dma/debug.c.*add_dma_entry|cacheline tracking EEXIST' |
		grep -vE 'WARNING: .*(remove_proc_entry|event_define_fields|i_mmap_assert_write_locked)\+'
}

# Tests of one node. Return: 0 if all is well.
check_node() {
	local log=$BUILD/logs/check-$kind.log bad=0
	echo "tests on one node (log: $log)"
	for _ in 1 2 3 4 5; do
		run "$log"
		grep -q '^== tainted by the boot' "$log" || break
	done
	grep -q '^== end' "$log" || { echo "the machine did not come to the end of the tests" >&2; bad=1; }
	if complaints "$log" | grep . >&2; then bad=1; fi
	echo "$(grep -c '^ok' "$log") tests passed"
	return $bad
}

# Tests of several nodes. Return: 0 if all is well.
check_nodes() {
	local log=$BUILD/logs/check-$kind-nodes.log
	[ $# -gt 0 ] || return 0
	echo "tests on two nodes (log: $log)"
	if ! (cd "$TOP/selftests/cluster" && KERNEL=$kind OPENGNI_ROUNDS=${ROUNDS:-20} OPENGNI_SEED=${SEED:-} PYTHONPATH=$TOP/scripts:$TOP/selftests/lib python3 -m unittest -v "$@") >"$log" 2>&1; then
		grep -E '^(FAIL|ERROR|AssertionError|[a-zA-Z_.]*Error):?' "$log" >&2
		return 1
	fi
	tail -n 3 "$log" | head -n 1
}

# Everything is read before anything runs, so that this file may be edited meanwhile.
main() {
	local nodes bad=()
	get_source
	build_kernel
	lay_out_kernel
	build_tests
	mapfile -t nodes < <(tr ' ' '\n' <<<"$NODES_TESTS" | sed 's/^/nodes:/' | grep -- "$pattern" | sed 's/^nodes://')
	[ -s "$dir/kselftest/list" ] || [ ${#nodes[@]} -gt 0 ] || die "no test matches $pattern"
	build_image
	if [ -s "$dir/kselftest/list" ]; then check_node || bad+=("one node: $BUILD/logs/check-$kind.log"); fi
	check_nodes "${nodes[@]}" || bad+=("two nodes: $BUILD/logs/check-$kind-nodes.log")
	if [ ${#bad[@]} -gt 0 ]; then die "FAILED on the kernel with $kind.config, ${bad[*]}"; fi
	echo "passed on the kernel with $kind.config: no test has failed, and no kernel has complained"
}

main
