# SPDX-License-Identifier: GPL-2.0-or-later
# Files that all trees of a user share, by a key that says what each was made from; sourced after lib.sh.
# shellcheck shell=bash

STORE=${CACHE:+$CACHE/files}
# Mebibytes that the files may take together; what was used last stays.
STORE_MIB=${OPENGNI_STORE_MIB:-1000}

# store_key: the key for all that is said on standard input.
store_key() { sha256sum | cut -d' ' -f1; }

# store_get KEY FILE: the stored file of that key in FILE; fails, without a word, if there is none. An entry's name ends
# with the hash of its content: one that is not what was put there, after a crash for example, is removed.
store_get() {
	local entry
	[ -n "$STORE" ] && [ -z "${FORCE:-}" ] || return 1
	for entry in "$STORE/$1".*; do
		if ! [ -f "$entry" ] || ! cp "$entry" "$2.stored" 2>/dev/null; then continue; fi
		if [ "$(sha256sum <"$2.stored" | cut -d' ' -f1)" = "${entry##*.}" ]; then
			touch "$entry" 2>/dev/null || true
			mv -f "$2.stored" "$2"
			return
		fi
		rm -f "$entry" "$2.stored"
	done
	return 1
}

# store_put KEY FILE: keeps a copy of FILE. It gets its name when it is whole; one that cannot be kept is told, and no error.
store_put() {
	local new
	[ -n "$STORE" ] || return 0
	mkdir -p "$STORE" 2>/dev/null || return 0
	new=$(mktemp "$STORE/.new.XXXXXX" 2>/dev/null) || return 0
	if cp "$2" "$new" 2>/dev/null; then
		mv -f "$new" "$STORE/$1.$(sha256sum <"$new" | cut -d' ' -f1)"
		store_prune
	else
		echo "not kept for other trees: no copy of it can be made in $STORE"
	fi
	rm -f "$new"
}

# store_prune: removes what was used longest ago until the rest is small enough, and what was cut off days ago.
store_prune() {
	local entry size bytes=0
	find "$STORE" -name ".new.*" -mtime +1 -delete
	find "$STORE" -type f -not -name ".new.*" -printf '%T@ %s %p\n' | sort -rn | while read -r _ size entry; do
		bytes=$((bytes + size))
		[ $bytes -le $((STORE_MIB << 20)) ] || rm -f "$entry"
	done
}
