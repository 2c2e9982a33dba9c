#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# make interop: fetch clients of GNI, build them as they are against our libraries, run them in virtual machines.
#
#   run.sh [PART]...     ratio, ucx, openmpi, gtest, start (default: all of these), as run.py knows them
#   LUSTRE=DIR run.sh lustre [--nodes N] [--seconds S]      LNet over gnilnd, from a Lustre tree of yours; lustre.py
#
# Everything is below .build/interop; what was built is used again unless our headers have changed.

. "$(dirname "$0")/lib.sh"

NEED_MIB=2500
clients=()
case " $* " in
*" ucx "* | *" gtest "* | "  ") clients+=(ucx) ;;
esac
case " $* " in
*" openmpi "* | *" ratio "* | "  ") clients+=(openmpi) ;;
esac
here=$TOP/scripts/interop

if [ "${1:-}" = lustre ]; then
	shift
	mkdir -p "$OUT"
	say "building LNet and gnilnd (log $OUT/lustre-${KERNEL:-6.1}/build.log)"
	"$here/build-lustre.sh"
	exec "$here/lustre.py" "$@"
fi

# Our libraries under a prefix; a client is built anew when a header has changed.
prefix() {
	local before after
	before=$(headers)
	logged "libraries" "$OUT/prefix.log" "$TOP/scripts/build-meson.sh" "$BUILD/userlib-interop" "$TOP/userlib" -Dprefix="$PREFIX" \
		-Dlibdir=lib -Dtests=false -Dtools=false
	logged "libraries" "$OUT/prefix.log" meson install -C "$BUILD/userlib-interop" --no-rebuild --quiet
	after=$(headers)
	[ "$before" = "$after" ] || rm -f "$OUT"/*/.built "$OUT"/*/build/.configured
}

headers() { find "$PREFIX/include" -type f -print0 2>/dev/null | sort -z | xargs -0 -r cat | sha256sum; }

mkdir -p "$OUT" "$PREFIX/include"
have=$(free_mib "$OUT")
used=$(du -sm "$OUT" | cut -f1)
[ $((have + used)) -ge "$NEED_MIB" ] || die "no space for the clients: $OUT needs $NEED_MIB MiB, $have MiB are free"

prefix
[ ${#clients[@]} -eq 0 ] || "$here/fetch.sh" "${clients[@]}"
failed=()
for client in "${clients[@]}"; do
	[ -e "$OUT/$client/.built" ] && continue
	say "building $client (log $OUT/$client/build.log)"
	start=$(date +%s)
	if "$here/build-$client.sh"; then
		say "$client built in $(($(date +%s) - start)) s"
	else
		failed+=("$client")
	fi
done
"$here/programs.sh"
"$TOP/scripts/guest-ssh.sh" "$BUILD/ssh/tree" >"$OUT/ssh.log" 2>&1 || die "no ssh for the guests; the log is $OUT/ssh.log"
"$here/guest.sh"
status=0
"$here/run.py" "$@" || status=$?
[ ${#failed[@]} -eq 0 ] || { say "not built: ${failed[*]}" && status=1; }
exit $status
