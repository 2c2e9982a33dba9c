# SPDX-License-Identifier: GPL-2.0-or-later
# Which kernel release KERNEL= means; sourced after lib.sh.
# shellcheck shell=bash

# kernel_meta KERNEL: the package here that always depends on the newest image.
kernel_meta() {
	case "$(distribution) $1" in
	'debian 13 6.12') echo linux-image-cloud-amd64 ;;
	'debian 13 '*) die "Debian 13 has no kernel '$1': KERNEL=6.12" ;;
	'ubuntu 24.04 6.8') echo linux-image-virtual ;;
	'ubuntu 24.04 '*) die "Ubuntu 24.04 has no kernel '$1': KERNEL=6.8" ;;
	*' 6.1') echo linux-image-cloud-amd64 ;;
	*' 6.12') echo linux-image-6.12-cloud-amd64 ;;
	*) die "unknown kernel '$1': KERNEL=6.1 or KERNEL=6.12" ;;
	esac
}

# kernel_release KERNEL: release (as in uname -r) of the guest kernel.
#
# A kernel unpacked before is kept as long as its headers are still installed, so
# that an update of the archive does not rebuild everything behind one's back.
kernel_release() {
	local meta release
	meta=$(kernel_meta "$1") || exit 1
	release=$(cat "$BUILD/kernel-$1/release" 2>/dev/null || true)
	if [ -n "$release" ] && [ -d "/usr/src/linux-headers-$release" ]; then
		echo "$release"
		return
	fi
	[ -n "$(candidate "$meta")" ] || apt_update
	release=$(apt-cache depends "$meta" 2>/dev/null | sed -n 's/^ *Depends: linux-image-\([0-9].*\)$/\1/p' | head -n 1)
	[ -n "$release" ] || die "package not found ($meta): $(archive_hint)"
	echo "$release"
}
