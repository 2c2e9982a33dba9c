#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A tree for guests that measure a network: Debian's iperf3 and ethtool, unpacked.
#
#   guest-net.sh DIR
#
# Nothing is installed on this machine.

. "$(dirname "$0")/lib.sh"

tree=${1:?usage: guest-net.sh DIR}
work=$BUILD/net
lib=usr/lib/x86_64-linux-gnu

unpack() {
	local pkg deb
	rm -rf "$work/root"
	for pkg in iperf3 libiperf0 libsctp1 ethtool libmnl0; do
		[ -n "$(candidate "$pkg")" ] || apt_update
		deb=$(download_deb "$work/download" "$pkg")
		dpkg-deb -x "$deb" "$work/root"
	done
}

if [ ! -x "$work/root/usr/bin/iperf3" ] || [ ! -x "$work/root/sbin/ethtool" ]; then unpack; fi
rm -rf "$tree"
mkdir -p "$tree"/usr/{bin,sbin,lib}
cp "$work/root/usr/bin/iperf3" "$tree/usr/bin/"
cp "$work/root/sbin/ethtool" "$tree/usr/sbin/"
cp -P "$work/root/$lib"/lib*.so* "$tree/usr/lib/"
