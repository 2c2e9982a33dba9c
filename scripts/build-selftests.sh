#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Build the guest's tests and lay them out as the kernel's kselftest does, in
# .build/kselftest: run_kselftest.sh, kselftest-list.txt, aries/<program>.

. "$(dirname "$0")/lib.sh"
takes_none "$@"

harness=$BUILD/linux-source/tools/testing/selftests
stage=$BUILD/kselftest
[ -f "$harness/lib.mk" ] || die "the kernel's test harness is missing: run 'make linux-source'"

command -v rsync >/dev/null || die "rsync is missing, which lays out the kernel's tests: run 'make setup' with the target that you want, or install it"

rm -rf "$stage"
mkdir -p "$stage"
for dir in "$TOP"/selftests/*/Makefile; do
	dir=$(dirname "$dir")
	name=$(basename "$dir")
	common=(-C "$dir" --no-print-directory OUTPUT="$BUILD/selftests/$name" BUILD="$BUILD")
	make "${common[@]}" -j "${JOBS:-$(nproc)}"
	make "${common[@]}" INSTALL_PATH="$stage/$name" install
	make -s "${common[@]}" COLLECTION="$name" emit_tests >>"$stage/kselftest-list.txt"
done
cp -r "$harness/kselftest" "$harness/run_kselftest.sh" "$stage/"
chmod +x "$stage/run_kselftest.sh"
