#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Check the driver: W=1 build, sparse, circles among its files, a build without options of the kernel that are not needed,
# checkpatch --strict, and that every file in sysfs and debugfs is described in Documentation/ABI.
#
#   check-driver.sh [KERNEL_RELEASE]...     default: every kernel whose headers are installed

. "$(dirname "$0")/lib.sh"

checkpatch=$BUILD/linux-source/scripts/checkpatch.pl
abi=$TOP/Documentation/ABI/testing/sysfs-class-gni
debugfs=$TOP/Documentation/ABI/testing/debugfs-aries
bad=0

# report LOG NAME: show the complaints in a build log, if any.
report() {
	if grep -E 'warning:|error:' "$1"; then
		echo "check-driver: $2: complaints above" >&2
		bad=1
	else
		echo "ok   $2"
	fi
}

build_kernel() {
	local release=$1 log=$BUILD/logs/check-driver-$1.log cflags="-D__CHECK_ENDIAN__"
	command -v sparse >/dev/null || die "sparse is missing: run 'make setup'"
	make -s -C "$TOP/driver" KVER="$release" BUILD="$BUILD/check-driver-$release" ARIES_TESTS=m C=2 CF="$cflags" \
		>"$log" 2>&1 || {
		tail -n 20 "$log" >&2
		die "the driver does not build for $release (all of it: $log)"
	}
	report "$log" "W=1 and sparse, $release"
	log=$BUILD/logs/check-kgni-$release.log
	make -s -C "$TOP/kgni" KVER="$release" BUILD="$BUILD/check-kgni-$release" ARIES="$BUILD/check-driver-$release" \
		KGNI_TESTS=m C=2 CF="$cflags" >"$log" 2>&1 || {
		tail -n 20 "$log" >&2
		die "kGNI does not build for $release (all of it: $log)"
	}
	report "$log" "kGNI: W=1 and sparse, $release"
	circles "$release"
}

# circles RELEASE: no file uses one in a higher folder, and no more than two use each other.
circles() {
	if "$TOP/scripts/check-circles.py" "$BUILD/check-driver-$1" "$BUILD/check-kgni-$1" >&2; then
		echo "ok   circles, $1"
	else
		echo "check-driver: circles: complaints above" >&2
		bad=1
	fi
}

# Options that Debian's kernels have, and that the driver can do without: those who build their own kernel may have left them out.
OPTIONAL="CONTIG_ALLOC MEMCG NET_DEVLINK"
# What asks for them, or calls what does.
ASKING="core/aries_ring.o aries_dev.o aries_err.o aries_main.o aries_pci.o"

without_options() {
	local release=$1 log=$BUILD/logs/check-options-$1.log undefined=$BUILD/check-options.h
	# shellcheck disable=SC2086 # a list
	printf '#undef CONFIG_%s\n' $OPTIONAL >"$undefined.new"
	cmp -s "$undefined.new" "$undefined" || mv "$undefined.new" "$undefined"
	make -s -C "$TOP/driver" KVER="$release" BUILD="$BUILD/check-options-$release" OBJECTS="$ASKING" KCFLAGS="-include $undefined" \
		CONFIG_NET_DEVLINK= >"$log" 2>&1 || {
		tail -n 20 "$log" >&2
		die "the driver does not build for $release without $OPTIONAL (all of it: $log)"
	}
	report "$log" "without $OPTIONAL, $release"
}

style() {
	local log=$BUILD/logs/checkpatch.log clients
	mapfile -t clients < <(find "$TOP"/kgni/clients -name '*.[ch]')
	[ -x "$checkpatch" ] || "$TOP/scripts/fetch-linux-source.sh"
	# Ignored: a file list in MAINTAINERS is the kernel tree's own; version checks are what
	# aries_compat.h is for; the types of gni_pub.h are those of its user programs.
	if perl "$checkpatch" --no-tree --strict --terse --show-types --file \
		--ignore FILE_PATH_CHANGES,LINUX_VERSION_CODE,PREFER_KERNEL_TYPES \
		"$TOP"/driver/*.[ch] "$TOP"/driver/{core,obj,dgram,client,user,view}/*.[ch] "$TOP"/driver/include/aries_{compat,kapi}.h \
		"$TOP"/driver/tests/kapi/*.[ch] "$TOP"/driver/include/uapi/*.h "$TOP"/driver/gni/*.[ch] "$TOP"/kgni/*.[ch] "${clients[@]}" >"$log" 2>&1; then
		echo "ok   checkpatch --strict"
	else
		grep -E 'ERROR|WARNING|CHECK' "$log" >&2
		echo "check-driver: checkpatch: complaints above" >&2
		bad=1
	fi
}

# counter_names LIST PREFIX: the files that a list of names in aries_hw.h makes.
counter_names() {
	sed -n "/^#define $1(X)/,/^$/s,^\tX(\([A-Z0-9_]*\).*,counters/$2\1,p" "$TOP/driver/include/aries_hw.h"
}

# documented KIND FILES ENTRIES PAGE: whether both have the same names.
documented() {
	if [ "$2" = "$3" ]; then
		echo "ok   $1 files and $(basename "$4")"
	else
		diff <(echo "$2") <(echo "$3") >&2 || true
		echo "check-driver: $1 files (<) and $4 (>) differ" >&2
		bad=1
	fi
}

# Every attribute in the code has a "What:" entry, and the other way round.
sysfs_abi() {
	local code doc
	code=$({
		sed -n 's/^static DEVICE_ATTR_R[OW](\([a-z_]*\));.*/\1/p' "$TOP/driver/view/aries_sysfs.c" |
			sed 's,^pinned_pages$,resources/&,; s,^limit$\|^signal$,ras/&,'
		sed -n 's,^static ARIES_CLASS_ATTR(\([a-z_]*\).*,class/\1,p' "$TOP/driver/view/aries_sysfs.c"
		sed -n 's,^static ARIES_RES_ATTR(\([a-z_]*\).*,resources/\1,p' "$TOP/driver/view/aries_sysfs.c"
		sed -n 's/^\tX([A-Z0-9_]*, \([a-z0-9_]*\), ".*/stats\/\1/p' "$TOP/driver/include/aries_hw.h"
		sed -n '/^#define ARIES_RAS_MEMORIES/,/^$/s/^\tX([A-Z]*, \([a-z]*\), .*/ras\/\1_corrected\nras\/\1_damaged/p' \
			"$TOP/driver/include/aries_hw.h"
		counter_names ARIES_RTR_NETWORK_NAMES AR_RTR_r_c_
		counter_names ARIES_RTR_PROCESSOR_NAMES AR_RTR_PT_5_c_
		counter_names ARIES_NIC_NAMES AR_NIC_NETMON_ORB_EVENT_CNTR_
	} | sort)
	doc=$(sed -n 's,^What:.*/sys/class/gni/kgniN/,,p; s,^What:.*/sys/class/gni/\([a-z_]*\)$,class/\1,p' "$abi" | sort)
	documented sysfs "$code" "$doc" "$abi"
}

# The same for debugfs.
debugfs_abi() {
	local code doc
	code=$({
		sed -n 's/.*debugfs_create_file("\([a-z]*\)".*/\1/p' "$TOP/driver/view/aries_debugfs.c"
		sed -n 's/^\t\t{ "\([a-z]*\)", &aries_.*_fops },/\1/p' "$TOP/driver/view/aries_views.c"
	} | sort)
	doc=$(sed -n 's,^What:.*/debug/aries/kgniN/\(.\),\1,p' "$debugfs" | sort)
	documented debugfs "$code" "$doc" "$debugfs"
}

mkdir -p "$BUILD/logs"
if [ $# -eq 0 ]; then
	for dir in /lib/modules/*/build; do
		[ -e "$dir/Makefile" ] && set -- "$@" "$(basename "$(dirname "$dir")")"
	done
	[ $# -gt 0 ] || die "no kernel headers are installed: run 'make setup'"
fi
for release in "$@"; do build_kernel "$release"; done
without_options "$1"
style
sysfs_abi
debugfs_abi
exit $bad
