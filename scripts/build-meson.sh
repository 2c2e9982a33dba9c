#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Configure (once) and build a meson project.
#
#   build-meson.sh BUILD_DIR SOURCE_DIR [-Doption=value]... [-- TARGET...]
#
# CC and CXX choose another compiler. OPENGNI_GROUPED=1: a project that can compile its sources in a few files
# (-Dgrouped=true) does: less than half the time, for trees in which nobody edits.

. "$(dirname "$0")/lib.sh"

[ $# -ge 2 ] || wrong "BUILD_DIR and SOURCE_DIR are needed"
dir=$1 source=$2
shift 2
options=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	options+=("$1")
	shift
done
[ $# -eq 0 ] || shift
if [ -n "${OPENGNI_GROUPED:-}" ] && [[ ${options[*]} != *-Dgrouped=* ]] && grep -qs "^option('grouped'" "$source/meson_options.txt"; then
	options+=(-Dgrouped=true)
fi

# Another place, other options, another compiler or another version of the project, which tools tell: start afresh.
wanted="$dir $source ${options[*]} $("${CXX:-c++}" --version | head -n 1) $("$TOP/scripts/version.sh")"
if [ ! -e "$dir/build.ninja" ] || [ "$(cat "$dir/.configured" 2>/dev/null)" != "$wanted" ]; then
	rm -rf "$dir"
	meson setup "$dir" "$source" "${options[@]}"
	echo "$wanted" >"$dir/.configured"
fi
exec ninja -C "$dir" -j "${JOBS:-$(nproc)}" "$@"
