#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Style and static checks; one line per check, complaints below it.
#
#   lint.sh            clang-format, clang-tidy, driver (checkpatch, sparse, W=1), shellcheck, kernel-doc, flake8, mypy, reuse, rooms
#   lint.sh --fix      bring C and C++ sources into form, add missing copyright lines
#   lint.sh --quick    without clang-tidy and the driver's builds

. "$(dirname "$0")/lib.sh"

mode=${1:-}
case $mode in
'' | --fix | --quick) ;;
*) wrong "no argument '$mode'" ;;
esac
bad=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cd "$TOP"

# Sources in the project's own form: the driver follows checkpatch, the selftests too.
formatted() { git ls-files -- 'qemu-device/**.[ch]' 'qemu-device/**.[ch]pp' 'userlib/**.[ch]' 'userlib/**.[ch]pp' driver/include/gni_pub.h 'scripts/**.[ch]pp'; }

check() {
	local name=$1
	shift
	if "$@" >"$log" 2>&1; then
		echo "ok      $name"
	else
		echo "FAILED  $name"
		head -n 40 "$log" | sed 's/^/    /'
		bad=1
	fi
}

# The sources are in the form that version 14 gives them; others form some lines otherwise.
FORMATTER=clang-format-14
command -v "$FORMATTER" >/dev/null || FORMATTER=clang-format
right_formatter() {
	local version
	version=$("$FORMATTER" --version | grep -oE '[0-9]+' | head -n 1)
	[ "$version" = 14 ] || {
		echo "this is clang-format ${version:-unknown}, and the sources are in the form of version 14 (Debian 12's): use that"
		return 1
	}
}

format() { right_formatter && formatted | xargs "$FORMATTER" --dry-run -Werror; }

# tidy BUILD_DIR: clang-tidy over a meson project's own C++ sources.
tidy() {
	[ -e "$1/compile_commands.json" ] || { echo "$1 is not built: run 'make all'" && return 1; }
	python3 - "$1" <<-'PY' | xargs -P "${JOBS:-2}" -n 4 clang-tidy -p "$1" --quiet 2>/dev/null | grep -E 'warning:|error:' && return 1
	import json, os, sys
	for entry in json.load(open(sys.argv[1] + "/compile_commands.json")):
	    path = os.path.normpath(os.path.join(entry["directory"], entry["file"]))
	    if path.endswith(".cpp") and "/tests/" not in path:
	        print(path)
	PY
	return 0
}

shell() { git ls-files -- 'scripts/*.sh' .ci/run | xargs shellcheck -x -P SCRIPTDIR -e SC1091,SC2086,SC2317; }

assertions() { git ls-files -- "selftests/*.[ch]" | xargs scripts/check-assertions.py; }

# kernel_doc: comments of public headers describe every parameter, member and value, and make manual pages without a warning.
kernel_doc() {
	local tool=$BUILD/linux-source/scripts/kernel-doc
	[ -x "$tool" ] || { echo "the kernel's kernel-doc is missing: run 'make linux-source'" && return 1; }
	git ls-files -- driver/include kgni/include | grep '\.h$' | xargs "$tool" -Werror -none
}

if [ "$mode" = --fix ]; then
	right_formatter || exit 1
	formatted | xargs "$FORMATTER" -i
	scripts/copyright-lines.py --fix
	exit 0
fi
check "clang-format" format
check "licences and copyright lines" scripts/copyright-lines.py
check "reuse" reuse lint
check "shellcheck" shell
check "python: flake8, mypy" scripts/lint-python.sh
check "assertions in braces" assertions
check "order of rooms in the model" scripts/check-rooms.py
if [ "$mode" != --quick ] || [ -x "$BUILD/linux-source/scripts/kernel-doc" ]; then
	check "kernel-doc of public headers" kernel_doc
fi
if [ "$mode" != --quick ]; then
	check "driver: W=1, sparse, circles, checkpatch, sysfs ABI" "$TOP/scripts/check-driver.sh" "$(cat "$BUILD/kernel-${KERNEL:-$(default_kernel)}/release")"
	check "clang-tidy: model" tidy "$BUILD/model"
	check "clang-tidy: simulator" tidy "$BUILD/sim"
	check "clang-tidy: userlib" tidy "$BUILD/userlib"
fi
exit $bad
