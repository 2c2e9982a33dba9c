#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Install what is built, and take it back; called by 'make install' and 'make uninstall'.
#
#   install.sh DESTDIR PREFIX             install
#   install.sh --remove DESTDIR PREFIX    take back
#   install.sh --stage DIR PREFIX PART... only these parts (install-parts.sh), not stripped, for packages
#
# A prefix of the system (/usr, /usr/local, /opt and below) gets kernel modules where the kernel looks for them, and
# the udev rule. Any other prefix, $HOME/.local for example, needs no root: nothing is written outside of it.
# What was installed, and what folders were made for it, is listed in PREFIX/share/opengni/files, for --remove.

. "$(dirname "$0")/lib.sh"
. "$TOP/scripts/install-parts.sh"
KERNEL=${KERNEL:-$(default_kernel)}
umask 022

PARTS="userlib abi agent programs cluster qemu images modules udev node kernel_headers symbols man"

is_system() {
	case $prefix in
	/usr | /usr/local | /opt | /opt/*) return 0 ;;
	*) return 1 ;;
	esac
}

# Where things are that depend on the kind of prefix.
places() {
	case $prefix in
	/*[!/]) ;;
	*) die "prefix '$prefix' is not an absolute path without a slash at its end" ;;
	esac
	case $prefix in
	*[[:space:],\&\\\$]*) die "prefix '$prefix' has a character that pkg-config's files cannot hold" ;;
	esac
	module_dir=/lib/modules udev_dir=/lib/udev/rules.d unit_dir=/lib/systemd/system
	if ! is_system; then
		module_dir=$prefix/lib/modules udev_dir=$prefix/lib/udev/rules.d unit_dir=$prefix/lib/systemd/system
	fi
	release=$(cat "$BUILD/kernel-$KERNEL/release" 2>/dev/null || true)
	symvers="\${prefix}/lib/opengni/\${kernel}/Module.symvers"
}

# What was written into the list by an installation before; nothing if there was none.
listed() { cat "$destdir$prefix/share/opengni/files" 2>/dev/null || true; }

# The index of the modules of a kernel that is installed here (the guests' need not be) is the kernel's own.
update_index() {
	local dir
	[ -z "$destdir" ] && is_system && [ "$(id -u)" = 0 ] || return 0
	ldconfig
	sed -n 's,^/lib/modules/\([^/]*\)/extra/.*\.ko$,\1,p' <<<"$1" | sort -u | while read -r dir; do
		[ ! -e "/lib/modules/$dir/modules.builtin" ] || depmod "$dir" || true
	done
}

remove() {
	local list=$destdir$prefix/share/opengni/files entries entry left=0
	[ -r "$list" ] || die "nothing is installed below $prefix (no $list)"
	[ -w "$(dirname "$list")" ] || die "cannot write below $destdir$prefix: who installed it must remove it"
	entries=$(cat "$list")
	# Python's own, beside our files.
	rm -rf "$destdir$prefix/share/opengni/opengni/__pycache__"
	# The list goes last: a removal that was cut short can be done again.
	while read -r entry; do
		[[ $entry = */ || $entry = "$prefix/share/opengni/files" ]] || rm -f "$destdir$entry" || left=1
	done <<<"$entries"
	[ $left = 0 ] || die "not everything could be removed: see above, then try again"
	rm -f "$list"
	# The folders that were made for them, inner ones first, unless somebody else has put something there.
	grep '/$' <<<"$entries" | sort -r | while read -r entry; do
		rmdir "$destdir$entry" 2>/dev/null || true
	done
	update_index "$entries"
}

# What would be written through a link that leads out of DESTDIR belongs to the machine that builds.
check_root_tree() {
	local root dir place
	root=$(realpath -m "$destdir")
	staged_folders | while read -r dir; do
		place=$(realpath -m "$destdir$dir")
		[[ $place/ = "${root%/}"/* ]] ||
			die "$destdir$dir leads out of DESTDIR, to $place: make that link a relative one, or install with chroot"
	done
}

# Nothing is begun that would end in the middle.
check_writable() {
	local dir
	staged_folders | while read -r dir; do
		dir=$destdir$dir
		while [ ! -e "$dir" ]; do dir=$(dirname "$dir"); done
		[ -d "$dir" ] || die "$dir is in the way: it is not a folder"
		[ -w "$dir" ] || die "cannot write to $dir: run as root, or install below a folder of yours with prefix=\$HOME/.local"
	done
}

# A file that is not ours is not written over: it would be missing after 'make uninstall'.
check_foreign() {
	local file
	comm -23 <(staged_files | sort) <(listed | sort) | while read -r file; do
		if [ -e "$destdir$file" ] || [ -L "$destdir$file" ]; then
			die "$destdir$file is there and not from an earlier 'make install prefix=$prefix': remove it (or its package) first"
		fi
	done
}

check_space() {
	local need free
	need=$(du -sm "$stage" | cut -f1)
	free=$(free_mib "$destdir$prefix")
	[ "$free" -ge "$need" ] || die "no space: $destdir$prefix has $free MiB free, $need are needed"
}

staged_files() { (cd "$stage" && find . \( -type f -o -type l \) -printf '/%P\n'); }
staged_folders() { (cd "$stage" && find . -mindepth 1 -type d -printf '/%P\n'); }

# What an earlier installation has put there and this one does not: another kernel's modules, for example.
earlier_files() {
	local entry
	listed | while read -r entry; do
		[[ $entry = */ ]] || [ ! -e "$destdir$entry" ] || echo "$entry"
	done
}

# Folders of ours that are not there yet, or were not before the last installation.
new_folders() {
	local dir
	listed | grep '/$' || true
	# Those above the staged ones as well: all of the prefix may be new.
	staged_folders | while read -r dir; do
		[ -e "$destdir$dir" ] || echo "$dir/"
	done
}

# The parts that there are, below $stage.
make_stage() {
	local part
	[ -n "$release" ] || die "$BUILD/kernel-$KERNEL is missing: run 'make install', which builds it first"
	for part in $PARTS; do "part_$part"; done
	# The index is one of our files: depmod cannot write to where the kernel's own modules are, nor need it.
	is_system || depmod -b "$stage$prefix" "$release" 2>/dev/null || true
	list=$stage$prefix/share/opengni/files
	touch "$list"
}

# The list is there before what it names, so whatever is cut short can be taken back.
copy() {
	local top=""
	# What is above a user's own prefix belongs to somebody else, and tar would set modes there.
	is_system || top=$prefix
	mkdir -p "$destdir$prefix/share/opengni"
	cp "$list" "$destdir$prefix/share/opengni/files"
	# A folder that is a link in the target (/lib of every Debian since 12) stays one.
	tar -C "$stage$top" -c . | tar -C "$destdir$top/" -x --no-same-owner --no-overwrite-dir --keep-directory-symlink ||
		die "cannot write all below '$destdir$prefix': see above; 'make uninstall' takes back what is there"
}

install_all() {
	stage=$(mktemp -d "${TMPDIR:-/tmp}/opengni-install.XXXXXX") || die "cannot make a folder below ${TMPDIR:-/tmp}"
	trap 'rm -rf "$stage" "$stage.list"' EXIT
	chmod 755 "$stage"
	make_stage
	[ -z "$destdir" ] || check_root_tree
	check_writable
	check_foreign
	check_space
	{
		staged_files
		earlier_files
		new_folders
	} | sort -u >"$stage.list"
	mv "$stage.list" "$list"
	copy
	update_index "$(cat "$list")"
	echo "installed $(grep -vc '/$' "$list") files below $destdir$prefix"
	hints
}

# What a user must know who has not read the manual.
hints() {
	[ -z "$destdir" ] || return 0
	if ! is_system; then
		echo "kernel modules for $release: on a machine that runs it, as root: modprobe -d $prefix aries (then kgni, krca)"
		echo "device for everybody: as root, copy $udev_dir/90-kgni.rules to /etc/udev/rules.d"
		echo "programs find the library with: export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib"
	fi
	[[ :$PATH: = *:$prefix/bin:* ]] || echo "commands are in $prefix/bin, which is not in PATH"
	[ -e /usr/share/seabios/bios-256k.bin ] && [ -e /usr/share/qemu/kvmvapic.bin ] ||
		echo "QEMU's firmware is not installed: 'cluster' needs packages seabios and qemu-system-data"
}

strip=-s
case ${1:-} in
--remove)
	destdir=${2:-} prefix=${3:-/usr/local}
	places
	remove
	;;
--stage)
	[ $# -ge 4 ] || die "usage: install.sh --stage DIR PREFIX PART..."
	stage=$2 prefix=$3 destdir="" strip=""
	shift 3
	places
	# what a package manages: where DKMS has kept them when it built the modules
	symvers=${OPENGNI_SYMVERS:-$symvers}
	for part in "$@"; do
		[[ " $PARTS dkms " = *" $part "* ]] || die "no part '$part'; there are $PARTS dkms"
		"part_$part"
	done
	;;
-*) die "unknown option '$1': usage: install.sh [--remove] DESTDIR PREFIX" ;;
*)
	destdir=${1:-} prefix=${2:-/usr/local}
	places
	install_all
	;;
esac
