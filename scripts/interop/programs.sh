#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs for the guest over the MPI library that was built: the package's own examples and ours.
#
#   programs.sh

. "$(dirname "$0")/lib.sh"
takes_none "$@"

bin=$OUT/programs/usr/bin
rm -rf "$OUT/programs"
mkdir -p "$bin" "$OUT/programs/bin"
cp /bin/bash "$OUT/programs/bin/" # a test of UCX calls it

[ -e "$OUT/openmpi/.built" ] || exit 0
mpi=$OUT/openmpi/stage/opt/openmpi

compile() {
	gcc -O2 -o "$bin/$(basename "$1" .c)" "$1" -I"$mpi/include" -L"$mpi/lib" -lmpi -Wl,-rpath,/opt/openmpi/lib \
		-Wl,-rpath-link,"$mpi/lib" || die "$1 does not build"
}

for name in hello_c ring_c connectivity_c; do compile "$OUT/openmpi/src/examples/$name.c"; done
for name in mpi-check mpi-perf; do compile "$TOP/scripts/interop/programs/$name.c"; done
