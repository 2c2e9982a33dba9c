#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A tree for guests that reach each other by ssh: Debian's dropbear, unpacked, with new keys.
#
#   guest-ssh.sh DIR
#
# Nothing is installed on this machine. Every guest has the same keys: they are for one cluster of one user.

. "$(dirname "$0")/lib.sh"

[ $# = 1 ] || wrong "which folder?"
tree=$1
work=$BUILD/ssh

unpack() {
	local pkg deb
	rm -rf "$work/root"
	for pkg in dropbear-bin libtomcrypt1 libtommath1; do
		[ -n "$(candidate "$pkg")" ] || apt_update
		deb=$(download_deb "$work/download" "$pkg")
		dpkg-deb -x "$deb" "$work/root"
	done
}

# make_key FILE: an Ed25519 key in dropbear's form; prints the public half.
make_key() {
	local file=$1
	LD_LIBRARY_PATH=$work/root/usr/lib/x86_64-linux-gnu "$work/root/usr/bin/dropbearkey" -t ed25519 -f "$file" | grep '^ssh-'
}

[ -x "$work/root/usr/sbin/dropbear" ] || unpack
rm -rf "$tree"
mkdir -p "$tree"/usr/{bin,sbin,lib} "$tree/etc/dropbear" "$tree/root/.ssh"
cp "$work/root/usr/sbin/dropbear" "$tree/usr/sbin/"
cp "$work/root/usr/bin/dbclient" "$tree/usr/bin/"
cp -P "$work"/root/usr/lib/x86_64-linux-gnu/lib*.so* "$tree/usr/lib/"
chmod 700 "$tree/root/.ssh"
make_key "$tree/etc/dropbear/host_key" >/dev/null
make_key "$tree/root/.ssh/id_dropbear" >"$tree/root/.ssh/authorized_keys"
chmod 600 "$tree/root/.ssh/authorized_keys"

# mpirun and others call ssh with options of OpenSSH: those that mean nothing here are dropped.
cat >"$tree/usr/bin/ssh" <<'EOF'
#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
set -- "$@" --end-of-options
options=
while [ "$1" != --end-of-options ]; do
	case $1 in
	-x | -q | -n | -a) ;;
	-o) shift ;;
	-p | -l | -i) options="$options $1 $2" && shift ;;
	-*) options="$options $1" ;;
	*) break ;;
	esac
	shift
done
# What is left: host, command, and the mark at the end.
count=$#
while [ $count -gt 1 ]; do
	word=$1
	shift
	set -- "$@" "$word"
	count=$((count - 1))
done
shift
exec dbclient -y -y -i /root/.ssh/id_dropbear $options "$@"
EOF
chmod 755 "$tree/usr/bin/ssh"
