#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Style and static checks; one line per check, complaints below it.
#
#   lint.sh            clang-format, clang-tidy, driver (checkpatch, sparse, W=1), shellcheck, SPDX lines, kernel-doc
#   lint.sh --fix      bring C and C++ sources into form
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
formatted() { git ls-files -- 'qemu-device/**.[ch]' 'qemu-device/**.[ch]pp' 'userlib/**.[ch]' 'userlib/**.[ch]pp' 'scripts/**.[ch]pp'; }

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

format() { formatted | xargs clang-format --dry-run -Werror; }

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

spdx() {
	local file missing=0
	while read -r file; do
		case $file in
		scripts/debian/*.* | scripts/debian/c* | scripts/debian/not-installed | scripts/debian/source/*) continue ;; # copyright says it
		Documentation/ABI/* | */settings | *.md | *.toml | *.json | *.csv | *.patch | *.svg | .* | LICENSE* | COPYING*) continue ;;
		esac
		[ -s "$file" ] || continue
		head -n 3 "$file" | grep -q SPDX-License-Identifier || { echo "$file has no SPDX line" && missing=1; }
	done < <(git ls-files)
	return $missing
}

python_syntax() { git ls-files -- '*.py' scripts/cluster | xargs python3 -m py_compile; }

assertions() { git ls-files -- "selftests/*.[ch]" | xargs scripts/check-assertions.py; }

# kernel_doc: comments of public headers describe every parameter, member and value, and make manual pages without a warning.
kernel_doc() {
	local tool=$BUILD/linux-source/scripts/kernel-doc
	[ -x "$tool" ] || { echo "the kernel's kernel-doc is missing: run 'make linux-source'" && return 1; }
	git ls-files -- userlib/include driver/include kgni/include | grep '\.h$' | xargs "$tool" -Werror -none
}

if [ "$mode" = --fix ]; then
	formatted | xargs clang-format -i
	exit 0
fi
check "clang-format" format
check "SPDX lines" spdx
check "shellcheck" shell
check "python syntax" python_syntax
check "assertions in braces" assertions
if [ "$mode" != --quick ] || [ -x "$BUILD/linux-source/scripts/kernel-doc" ]; then
	check "kernel-doc of public headers" kernel_doc
fi
if [ "$mode" != --quick ]; then
	check "driver: W=1, sparse, checkpatch, sysfs ABI" "$TOP/scripts/check-driver.sh" "$(cat "$BUILD/kernel-${KERNEL:-6.1}/release")"
	check "clang-tidy: model" tidy "$BUILD/model"
	check "clang-tidy: simulator" tidy "$BUILD/sim"
	check "clang-tidy: userlib" tidy "$BUILD/userlib"
fi
exit $bad
