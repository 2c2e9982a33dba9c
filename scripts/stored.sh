#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Run a command whose results no tree of this user has yet; else take those (make cache-clean).
#
#   stored.sh -d DIR -f NAME... [-i PATH]... [-e TEXT]... -- COMMAND...
#
#   -d  the folder of the results
#   -f  a result: a file below DIR, or a pattern of the shell for some
#   -i  a file or folder they are made from; its content counts, and its name in the tree
#   -e  text that counts as well (a version, a variable); so do the command, the compiler and the distribution
#
# Where some results are there already, the command always runs: it makes what has changed from what it has. So only what
# was built from nothing is kept, and somebody who edits and builds again and again does not fill the place.

. "$(dirname "$0")/lib.sh"
. "$TOP/scripts/store.sh"

inputs=() results=() text="" dir=""
while getopts d:f:i:e: opt; do
	case $opt in
	d) dir=$OPTARG ;;
	f) results+=("$OPTARG") ;;
	i) inputs+=("$OPTARG") ;;
	e) text="$text|$OPTARG" ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
if [ -z "$dir" ] || [ ${#results[@]} -eq 0 ] || [ $# -eq 0 ]; then wrong "DIR, NAME and COMMAND are needed"; fi

key() {
	{
		printf '%s\n' "$text" "$(distribution)" "$("${CC:-gcc}" --version | head -n 1)" "$("${CXX:-g++}" --version | head -n 1)" \
			"${CFLAGS:-} ${CXXFLAGS:-} ${LDFLAGS:-} ${KCFLAGS:-}"
		printf 'result %s\n' "${results[@]}"
		# how many work at it does not matter
		sed -E 's/ -j *[0-9]+//' <<<"$*"
		find "${inputs[@]}" -name __pycache__ -prune -o -type f -print0 | xargs -0 -r sha256sum
	} | sed "s|$BUILD|{build}|g; s|$TOP|{top}|g" | sort | store_key
}

# are_there: whether each name is that of a file at least.
are_there() {
	local name
	for name in "${results[@]}"; do compgen -G "$dir/$name" >/dev/null || return 1; done
}

any_there() {
	local name
	for name in "${results[@]}"; do ! compgen -G "$dir/$name" >/dev/null || return 0; done
	return 1
}

# What is unpacked gets its place when it is whole.
take() {
	mkdir -p "$dir"
	store_get "$1" "$work/archive" && mkdir "$work/tree" && tar -x -m -f "$work/archive" -C "$work/tree" 2>/dev/null &&
		cp -a --no-target-directory -l "$work/tree" "$dir" && are_there
}

keep() {
	local names
	are_there || return 0
	mapfile -t names < <(cd "$dir" && for name in "${results[@]}"; do compgen -G "$name"; done)
	if tar -c -f "$work/archive" -C "$dir" -- "${names[@]}" 2>/dev/null; then
		store_put "$1" "$work/archive"
	else
		echo "not kept for other trees: no archive of it can be made in $work"
	fi
}

if any_there; then exec "$@"; fi
work=$(mktemp -d "$BUILD/stored.XXXXXX") || die "cannot write to $BUILD"
trap 'rm -rf "$work"' EXIT
key=$(key "$@")
if take "$key"; then
	echo "taken from $STORE"
	exit
fi
"$@"
keep "$key"
