#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A tree for guests that use a network: Debian's iperf3, ethtool and NFS server, unpacked.
#
#   guest-net.sh DIR
#
# Nothing is installed on this machine.

. "$(dirname "$0")/lib.sh"

[ $# = 1 ] || wrong "which folder?"
tree=$1
work=$BUILD/net
lib=lib/x86_64-linux-gnu

# The programs, and the libraries that a minimal Debian has not.
PACKAGES="iperf3 libiperf0 libsctp1 ethtool libmnl0
	nfs-kernel-server libtirpc3 libtirpc-common libwrap0 libgssapi-krb5-2 libkrb5-3 libk5crypto3 libkrb5support0 libcom-err2 libkeyutils1"

unpack() {
	local pkg deb
	rm -rf "$work/root"
	for pkg in $PACKAGES; do
		[ -n "$(candidate "$pkg")" ] || apt_update
		deb=$(download_deb "$work/download" "$pkg")
		dpkg-deb -x "$deb" "$work/root"
	done
}

if [ ! -x "$work/root/usr/bin/iperf3" ] || [ ! -x "$work/root/sbin/ethtool" ] || [ ! -x "$work/root/usr/sbin/exportfs" ]; then unpack; fi
rm -rf "$tree"
# Where the NFS server keeps what it exports, and its kernel half what clients have open.
mkdir -p "$tree"/usr/{bin,sbin,lib} "$tree/etc" "$tree/var/lib/nfs/v4recovery"
cp "$work/root/usr/bin/iperf3" "$tree/usr/bin/"
cp "$work/root/sbin/ethtool" "$work/root/usr/sbin/"{exportfs,rpc.nfsd,rpc.mountd} "$tree/usr/sbin/"
cp "$work/root/etc/netconfig" "$tree/etc/"
cp -P "$work/root/usr/$lib"/lib*.so* "$work/root/$lib"/lib*.so* "$tree/usr/lib/"
# exportfs asks for both
touch "$tree/etc/exports" "$tree/var/lib/nfs/etab"
