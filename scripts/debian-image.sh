#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Make a disk with Debian 12, systemd and what makes it a node; called by 'make debian-image', which builds what goes into it.
#
#   debian-image.sh -k KERNEL_DIR [-m MODULE.ko|DIR]... [-p PACKAGE.deb]... -o OUTPUT.qcow2
#
#   -k  as fetch-kernel.sh left it: which of Debian's kernels is installed
#   -m  a module of ours, or a folder with some, put below /lib/modules/<release>/updates
#   -p  a package of ours to install
#
# The disk boots by itself: a BIOS loads GRUB from before the first partition, and GRUB finds the kernel on it. Nothing
# is mounted and no loop device is needed. Packages come from the Debian mirror that apt of this machine has. Without
# root, user namespaces are needed: mmdebstrap uses them.
#
# There are two parts. The base is Debian's packages, all that ours need among them; it is kept in .build/debian-base
# and made anew only when the list of packages, the kernel, or what configures them changes. Remove that folder to have
# Debian's newest versions. Our packages and modules are put on top of a copy each time.

. "$(dirname "$0")/lib.sh"
. "$TOP/scripts/apt-source.sh"

PARTS=$TOP/scripts/debian-image
# Beside Debian's minimal system: what boots it, what a node needs, and what makes it pleasant to look around.
PACKAGES="systemd-sysv udev kmod initramfs-tools zstd grub-pc-bin e2fsprogs iproute2 iputils-ping openssh-server
	ca-certificates procps less nano pciutils"
DISK_MIB=3072
FIRST_MIB=1 # where the partition begins; GRUB is before it
NEED_MIB=3800

kernel_dir="" modules=() packages=() output=""
while getopts k:m:p:o: opt; do
	case $opt in
	k) kernel_dir=$OPTARG ;;
	m) modules+=("$OPTARG") ;;
	p) packages+=("$OPTARG") ;;
	o) output=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
takes_none "$@"
if [ -z "$kernel_dir" ] || [ -z "$output" ]; then wrong "-k and -o are needed"; fi
release=$(cat "$kernel_dir/release") || die "$kernel_dir holds no kernel: run 'make kernel'"
[ -n "$(candidate "linux-image-$release")" ] || apt_update
[ -n "$(candidate "linux-image-$release")" ] ||
	die "apt has no package linux-image-$release: the image takes one of Debian's kernels (for a newer one remove $kernel_dir)"
for tool in mmdebstrap fakeroot mke2fs sfdisk qemu-img; do
	command -v $tool >/dev/null || die "$tool is missing: run 'scripts/setup.sh image'"
done
for file in "${modules[@]}" "${packages[@]}"; do
	[ -e "$file" ] || die "$file is missing: run 'make debian-image', which builds it first"
done
mkdir -p "$(dirname "$output")"
[ "$(free_mib "$(dirname "$output")")" -ge $NEED_MIB ] || die "no space: $(dirname "$output") needs $NEED_MIB MiB for the image"

# Who becomes another user in mmdebstrap's namespace must be able to read what is here.
work=$(mktemp -d "${TMPDIR:-/tmp}/opengni-image.XXXXXX")
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT

# debian_needs: Debian's packages that ours depend on, by name; of alternatives the first.
debian_needs() {
	local file own
	own=$(for file in "${packages[@]}"; do dpkg-deb -f "$file" Package; done)
	for file in "${packages[@]}"; do dpkg-deb -f "$file" Pre-Depends Depends | sed 's/^[A-Za-z-]*: //'; done | tr ',' '\n' |
		sed 's/|.*//; s/([^)]*)//g; s/:any//; s/[[:space:]]//g; /^$/d' | sort -u | { grep -vxF "$own" || true; }
}

# sources: the entries of this machine's apt for Debian 12, as files for mmdebstrap.
sources() {
	apt_sources bookworm deb
	mkdir "$work/sources"
	cp "$APT_DIR"/parts/* "$work/sources"
}

# base_extras: what Debian's kernel finds when it is installed, as a tree.
base_extras() {
	local tree=$work/base-extras
	install -D -m 644 "$PARTS/initramfs.conf" "$tree/etc/initramfs-tools/conf.d/opengni"
	install -D -m 755 "$PARTS/initramfs-hook" "$tree/etc/initramfs-tools/hooks/opengni"
	install -D -m 644 "$PARTS/fstab" "$tree/etc/fstab"
}

# extras: what is put beside the packages, as a tree.
extras() {
	local tree=$work/extras
	install -D -m 644 "$PARTS/grub.cfg" "$tree/boot/grub/grub.cfg"
	install -D -m 644 "$PARTS/dhcp.network" "$tree/etc/systemd/network/80-opengni.network"
	install -D -m 644 "$PARTS/modprobe.conf" "$tree/etc/modprobe.d/opengni-image.conf"
	install -D -m 644 "$PARTS/patience.conf" "$tree/etc/systemd/system.conf.d/90-opengni.conf"
	install -D -m 644 "$PARTS/ssh-host-key.service" "$tree/etc/systemd/system/ssh-host-key.service"
	mkdir -p "$tree/lib/modules/$release/updates" "$work/debs"
	if [ ${#modules[@]} -gt 0 ]; then
		find "${modules[@]}" -name '*.ko' ! -name '*_test.ko' -exec install -m 644 -t "$tree/lib/modules/$release/updates" {} +
		strip --strip-debug "$tree/lib/modules/$release/updates"/*.ko
	fi
	install -D -m 644 "$TOP/driver/90-kgni.rules" "$tree/lib/udev/rules.d/90-kgni.rules"
	if [ ${#packages[@]} -gt 0 ]; then cp "${packages[@]}" "$work/debs/"; fi
}

# Run by mmdebstrap with the new system's root as its argument.
hooks() {
	cat >"$work/early" <<-EOF
		#!/bin/sh
		set -e
		tar -C '$work/base-extras' --owner=0 --group=0 -c etc | tar -C "\$1" -x --keep-directory-symlink
	EOF
	# Who is not root may make no device nodes; mmdebstrap adds them to what it writes.
	cat >"$work/unpack" <<-EOF
		#!/bin/sh
		set -e
		tar -C "\$1" --numeric-owner --keep-directory-symlink --exclude='./dev/*' -xpf '$work/base.tar'
	EOF
	cat >"$work/late" <<-EOF
		#!/bin/sh
		set -e
		mkdir "\$1/debs"
		cp '$work'/debs/*.deb "\$1/debs/"
		chroot "\$1" sh -c 'apt-get install -qy --no-install-recommends /debs/*.deb'
		rm -rf "\$1/debs"
		# /lib is a link to usr/lib: the tree is merged into what that points to
		tar -C '$work/extras' --owner=0 --group=0 -c lib boot etc | tar -C "\$1" -x --keep-directory-symlink
		chroot "\$1" depmod $release
		chroot "\$1" update-initramfs -u -k $release
		chroot "\$1" grub-mkimage -O i386-pc -o /boot/grub/core.img -p '(hd0,msdos1)/boot/grub' \\
			biosdisk part_msdos ext2 normal configfile linux serial terminal smbios echo test ls reboot halt
		cp "\$1/usr/lib/grub/i386-pc/boot.img" "\$1/boot/grub/boot.img"
		chroot "\$1" passwd -d root
		chroot "\$1" systemctl enable systemd-networkd.service ssh-host-key.service
		chroot "\$1" systemctl mask apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer getty-static.service
		# Settings of this machine's apt, and what only this installation leaves out.
		rm -f "\$1/etc/apt/apt.conf.d/99mmdebstrap" "\$1/etc/dpkg/dpkg.cfg.d/99mmdebstrap"
		# Each machine makes its own, when it boots for the first time.
		rm -f "\$1"/etc/ssh/ssh_host_*
		: >"\$1/etc/machine-id"
		: >"\$1/etc/resolv.conf"
		echo opengni >"\$1/etc/hostname"
		printf '127.0.0.1 localhost\n::1 localhost\n' >"\$1/etc/hosts"
	EOF
	chmod 755 "$work/early" "$work/unpack" "$work/late"
}

# debstrap MODE...: mmdebstrap with what both parts have in common.
debstrap() {
	local options=()
	mapfile -t options < <(apt-config dump | grep -E '^(Acquire::(https?::(Proxy|Timeout)|Check-|Retries)[^ ]*) ".+";$' | sed 's/^/--aptopt=/')
	mmdebstrap "${options[@]}" \
		--dpkgopt=force-unsafe-io --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' "$@" "$work/sources"/* ||
		die "mmdebstrap failed: see above; can apt reach the Debian mirror, and may $(id -un) make a chroot (as root, or with user namespaces)?"
}

# base: Debian's part, in base.tar, from an earlier call if nothing that it is made from has changed.
base() {
	local include key kept
	# shellcheck disable=SC2086,SC2046  # lists of words
	include=$(printf '%s\n' $PACKAGES "linux-image-$release" $(debian_needs) | sort -u | paste -sd,)
	key=$({
		echo "$include"
		declare -f debstrap base_extras
		cat "$PARTS/initramfs.conf" "$PARTS/initramfs-hook" "$PARTS/fstab" "$work/sources"/*
	} | sha256sum | cut -c1-16)
	kept=$BUILD/debian-base/$release-$key.tar
	if [ ! -e "$kept" ]; then
		mkdir -p "$BUILD/debian-base"
		debstrap --variant=minbase --include="$include" --essential-hook="$work/early" bookworm "$work/base.tar"
		rm -f "$BUILD/debian-base/$release"-*.tar
		cp "$work/base.tar" "$kept.new"
		mv "$kept.new" "$kept"
	else
		echo "Debian's part is that of $kept"
		cp "$kept" "$work/base.tar"
	fi
	chmod 644 "$work/base.tar"
}

# ours: our packages and modules on top of it, in root.tar.
ours() {
	debstrap --variant=custom --setup-hook="$work/unpack" --customize-hook="$work/late" bookworm "$work/root.tar"
	rm "$work/base.tar"
}

# filesystem: the tree as ext4. Owners and device nodes are as in the archive, whoever runs this.
filesystem() {
	mkdir "$work/root"
	# GRUB of Debian 12 does not read a file system with its checksum's seed apart.
	# shellcheck disable=SC2016  # expanded by the shell that fakeroot starts
	fakeroot sh -ec 'tar -C "$1/root" --numeric-owner -xpf "$1/root.tar" && mke2fs -q -t ext4 -L opengni -m 1 \
		-O ^metadata_csum_seed,^orphan_file -d "$1/root" "$1/part.img" "$2M"' sh "$work" $((DISK_MIB - FIRST_MIB))
}

# disk: partition table, GRUB, partition. GRUB's first sector loads the second one, which knows how long GRUB is.
disk() {
	local gap=$((FIRST_MIB * 1024 * 1024 - 512)) grub=$work/root/boot/grub
	[ "$(stat -c %s "$grub/core.img")" -le $gap ] || die "GRUB's core is larger than the $gap bytes before the partition"
	truncate -s "${DISK_MIB}M" "$work/disk.img"
	echo "start=$((FIRST_MIB * 2048)), type=83, bootable" | sfdisk -q --label dos "$work/disk.img"
	dd if="$grub/boot.img" of="$work/disk.img" bs=440 count=1 conv=notrunc status=none
	dd if="$grub/core.img" of="$work/disk.img" bs=512 seek=1 conv=notrunc status=none
	dd if="$work/part.img" of="$work/disk.img" bs=1M seek=$FIRST_MIB conv=notrunc,sparse status=none
	qemu-img convert -O qcow2 "$work/disk.img" "$output.new"
	mv "$output.new" "$output"
}

sources
base_extras
extras
hooks
base
ours
filesystem
disk
echo "$output: $(du -m "$output" | cut -f1) MiB, Debian 12, kernel $release"
