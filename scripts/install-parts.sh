# SPDX-License-Identifier: GPL-2.0-or-later
# What is installed, and where: each part below $stage$prefix; sourced after lib.sh by install.sh.
#
# Set afterwards by the script that sources it: stage, prefix, release (of the kernel), module_dir, udev_dir and unit_dir
# (where modules, rules and systemd's units go, without the stage), symvers (where pkg-config finds the modules' symbols),
# strip (-s, or empty where somebody else strips).
# shellcheck shell=bash
. "$TOP/scripts/qemu-version.sh"
qemu_choose "${QEMU:-7.2}"
stage="" prefix="" release="" module_dir="" udev_dir="" unit_dir="" symvers="" strip=""

# version: that of the project; userlib/meson.build is the one place where it is written.
version() { "$TOP/scripts/version.sh"; }

# put MODE FILE PLACE: a file that must be there.
put() {
	[ -e "$2" ] || die "$2 is missing: run 'make install', which builds it first"
	install -D -m "$1" "$2" "$stage$3"
}

# put_program FILE PLACE
put_program() {
	[ -e "$1" ] || die "$1 is missing: run 'make install', which builds it first"
	# shellcheck disable=SC2086
	install -D $strip -m 755 "$1" "$stage$2"
}

# libugni, libpmi, companions, headers, pkg-config files and tools, as `make userlib` staged them for /usr.
part_userlib() {
	local file
	[ -e "$BUILD/stage/usr/lib/libugni.so.0" ] || die "$BUILD/stage is missing: run 'make install', which builds it first"
	mkdir -p "$stage$prefix"
	tar -C "$BUILD/stage/usr" -c . | tar -C "$stage$prefix" -x --no-same-owner
	for file in "$stage$prefix"/lib/pkgconfig/*.pc; do
		sed -i "s,^prefix=/usr\$,prefix=$prefix," "$file"
	done
}

# The driver's own interface, for programs that talk to /dev/kgni without libugni.
part_abi() { put 644 "$TOP/driver/include/uapi/kgni_abi.h" "$prefix/include/opengni/uapi/kgni_abi.h"; }

part_agent() {
	put 755 "$BUILD/agent/gni-agent" "$prefix/sbin/gni-agent"
	mkdir -p "$stage$prefix/bin"
	ln -sf ../sbin/gni-agent "$stage$prefix/bin/gni-kvs"
}

# Tools of the host that are programs; what is optional to build is optional here.
part_programs() {
	local file
	put_program "$BUILD/model/topo/aries-topo" "$prefix/bin/aries-topo"
	put_program "$BUILD/model/net/aries-net" "$prefix/bin/aries-net"
	put_program "$BUILD/sim/aries-sim" "$prefix/bin/aries-sim"
	for file in "$BUILD"/model/*/aries-hss "$BUILD"/model/*/aries-gateway "$BUILD/sim/aries-sim-mpi"; do
		[ ! -x "$file" ] || put_program "$file" "$prefix/bin/$(basename "$file")"
	done
}

# cluster and aprun, with the Python package that they are; Wireshark's dissector.
part_cluster() {
	local name file
	for name in cluster aprun; do
		put 755 "$TOP/scripts/$name" "$prefix/share/opengni/$name"
		mkdir -p "$stage$prefix/bin"
		ln -sf "../share/opengni/$name" "$stage$prefix/bin/$name"
	done
	for file in "$TOP"/scripts/opengni/*.py; do
		put 644 "$file" "$prefix/share/opengni/opengni/$(basename "$file")"
	done
	# What the package asks for its version; in the source tree it reads userlib/meson.build.
	printf '#!/bin/sh\necho %s\n' "$(version)" >"$stage$prefix/share/opengni/version.sh"
	chmod 755 "$stage$prefix/share/opengni/version.sh"
	# Below ~/.local it is where Wireshark looks by itself.
	put 644 "$TOP/scripts/wireshark/aries.lua" "$prefix/lib/wireshark/plugins/aries.lua"
}

part_qemu() {
	local own=""
	[ "$QEMU_VERSION" = 7.2 ] || own=qemu-$QEMU_VERSION/
	put_program "$QEMU_DIR/bin/qemu-system-x86_64" "$prefix/libexec/opengni/${own}qemu-system-x86_64"
}

# The guest: Debian's kernel, and the file system for it, for each kernel that is built; with sshd where that is.
part_images() {
	local kernel file
	for kernel in 6.1 6.12; do
		for file in "$BUILD/initramfs-$kernel.cpio" "$BUILD/initramfs-ssh-$kernel.cpio"; do
			[ ! -e "$file" ] || put 644 "$file" "$prefix/lib/opengni/images/$(basename "$file")"
		done
		if compgen -G "$stage$prefix/lib/opengni/images/*-$kernel.cpio" >/dev/null; then
			put 644 "$BUILD/kernel-$kernel/vmlinuz" "$prefix/lib/opengni/images/vmlinuz-$kernel"
		fi
	done
}

# The kernel modules for one release.
part_modules() {
	local file
	for file in "$BUILD/driver-$release/aries.ko" "$BUILD/kgni-$release"/k*.ko "$BUILD/kgni-$release"/clients/*/*.ko; do
		[[ $file != *_test.ko ]] || continue
		put 644 "$file" "$module_dir/$release/extra/$(basename "$file")"
		strip --strip-debug "$stage$module_dir/$release/extra/$(basename "$file")"
	done
}

# What makes their device usable for everybody.
part_udev() { put 644 "$TOP/driver/90-kgni.rules" "$udev_dir/90-kgni.rules"; }

# What makes a system with systemd and udev a node: the agent starts when its port comes, the host names the machine.
part_node() {
	local unit
	put 755 "$TOP/scripts/node/node-setup" "$prefix/libexec/opengni/node-setup"
	put 644 "$TOP/scripts/node/90-gni-agent.rules" "$udev_dir/90-gni-agent.rules"
	put 644 "$TOP/scripts/node/90-opengni.conf" "$prefix/lib/sysctl.d/90-opengni.conf"
	for unit in gni-agent opengni-node; do
		put 644 "$TOP/scripts/node/$unit.service.in" "$unit_dir/$unit.service"
		sed -i "s,@prefix@,$prefix," "$stage$unit_dir/$unit.service"
	done
}

# For modules outside of the tree: headers, and who tells where they are.
part_kernel_headers() {
	local headers=$stage$prefix/include/opengni/kernel
	mkdir -p "$headers"
	cp -r "$TOP/kgni/include/." "$headers/"
	put 644 "$TOP/driver/include/gni_pub.h" "$prefix/include/opengni/kernel/gni_pub.h"
	kernel_pc cray-gni 'Generic Network Interface for kernel modules' \
		"Cflags: -I\${includedir} -DCRAY_CONFIG_GHAL_ARIES -DCONFIG_CRAY_ARIES=1"
	kernel_pc cray-krca 'Nodes of the machine and their events for kernel modules' 'Requires: cray-gni'
	# what clients of GNI look for beside these; nothing of it is in a header of its own here
	kernel_pc lsb-cray-hss "Names of the machine's supervisor that clients of GNI use" 'Requires: cray-krca'
}

# kernel_pc NAME DESCRIPTION LINE: it finds its place by itself, wherever DESTDIR is.
kernel_pc() {
	mkdir -p "$stage$prefix/lib/pkgconfig"
	cat >"$stage$prefix/lib/pkgconfig/$1.pc" <<-EOF
		prefix=\${pcfiledir}/../..
		includedir=\${prefix}/include/opengni/kernel
		# another one: --define-variable=kernel=RELEASE
		kernel=$release
		symvers=$symvers

		Name: $1
		Description: $2
		Version: $(version)
		$3
	EOF
}

# The symbols of one kernel's modules.
part_symbols() {
	local place=$stage$prefix/lib/opengni/$release/Module.symvers
	mkdir -p "$(dirname "$place")"
	# third column: module, as a path, where it is installed
	sed "s,\t[^\t]*/\([^\t/]*\)\tEXPORT,\textra/\1\tEXPORT," "$BUILD"/{driver,kgni}-"$release"/Module.symvers >"$place"
}

# Manual pages and completions of bash, where they are built.
part_man() {
	local dir
	for dir in "$BUILD"/doc/man/man*; do
		[ ! -d "$dir" ] || install -D -m 644 -t "$stage$prefix/share/man/$(basename "$dir")" "$dir"/*
	done
	dir=$BUILD/doc/completion
	[ ! -d "$dir" ] || install -D -m 644 -t "$stage$prefix/share/bash-completion/completions" "$dir"/*
}

# Source of the modules as DKMS takes it; dkms.conf is added when the package is made.
part_dkms() {
	local tree
	tree=$stage$prefix/src/aries-$(version)
	put 644 "$TOP/scripts/dkms/Makefile" "${tree#"$stage"}/Makefile"
	put 755 "$TOP/scripts/dkms/keep-symbols" "${tree#"$stage"}/keep-symbols"
	put 755 "$TOP/scripts/gen-regs.py" "${tree#"$stage"}/scripts/gen-regs.py"
	(cd "$TOP" && find driver kgni -path '*/tests' -prune -o -path 'kgni/clients/[ps]*' -prune -o \
		\( -name '*.[ch]' -o -name '*.toml' -o -name Kbuild -o -name Makefile \) -print) |
		tar -C "$TOP" -c --mode=644 -T - | tar -C "$tree" -x --no-same-owner
}
