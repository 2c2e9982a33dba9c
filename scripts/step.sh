#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Run one step of the build, unless nothing that it is made from has changed.
#
#   step.sh NAME 'n/N' TITLE [-a] [-i PATH]... [-e TEXT]... [-o PATH]... -- COMMAND...
#
#   -i  a file or folder the step reads; its content counts and its name in the tree, not its time
#   -e  text that counts as well (a version, a variable)
#   -o  a file that must be there for the step to count as done
#   -a  run always
#
# Output goes to .build/logs/NAME.log; its end is shown when the step fails, all
# of it with V=1, and what seems to be the cause as the last line.
# How far it is stands behind its title at a terminal; elsewhere a line a minute tells.

. "$(dirname "$0")/lib.sh"

[ $# -ge 4 ] || wrong "NAME, n/N, TITLE and COMMAND are needed"
name=$1 number=$2 title=$3
shift 3
inputs=() extra="" outputs=() always=no
while getopts i:e:o:a opt; do
	case $opt in
	i) inputs+=("$OPTARG") ;;
	e) extra="$extra|$OPTARG" ;;
	o) outputs+=("$OPTARG") ;;
	a) always=yes ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))

# Seconds between two lines where there is no terminal.
MINUTE=${OPENGNI_STEP_MINUTE:-60}

log=$BUILD/logs/$name.log
stamp=$BUILD/stamps/$name
need_logs
mkdir -p "$BUILD/stamps"

# Without the places of tree and build folder: in a copy of both, what is up to date stays so.
placeless() {
	local text
	text=$(cat)
	text=${text//"$BUILD"/"{build}"}
	printf '%s\n' "${text//"$TOP"/"{top}"}"
}

content_hash() {
	{
		echo "$extra $*"
		[ ${#inputs[@]} -eq 0 ] ||
			find "${inputs[@]}" -name __pycache__ -prune -o -type f -print0 | xargs -0 -r sha256sum
	} | placeless | sort | sha256sum | cut -d' ' -f1
}

up_to_date() {
	local file
	[ $always = no ] && [ -z "${FORCE:-}" ] || return 1
	for file in "${outputs[@]}"; do [ -e "$file" ] || return 1; done
	[ "$(cat "$stamp" 2>/dev/null)" = "$hash" ]
}

# cause STATUS: the last line of the log that tells an error (not make's, that a command has failed); the last one if none does.
cause() {
	local line
	line=$(tr '\r' '\n' <"$log" | grep -aiE '(^|[^-_[:alnum:]])(error|fatal|failed|cannot|missing|not found|no such file|no rule to)([^[:alnum:]]|$)' |
		grep -avE '^make(\[[0-9]+\])?: \*\*\* \[|^ninja: build stopped' | tail -n 1) || true
	[ -n "$line" ] || line=$(grep -a . "$log" | tail -n 1) || line="exit status $1, and no output"
	printf '%s: %.300s\n' "$name" "$line"
}

# how_far: what the log says last: [n/m], as ninja counts, or the line itself.
how_far() {
	local last
	last=$(tail -c 4096 "$log" | tr '\r' '\n' | grep -a . | tail -n 1) || return 0
	if [[ $last =~ \[\ *([0-9]+/[0-9]+)\] ]]; then
		echo "${BASH_REMATCH[1]}"
	else
		printf '%s\n' "${last//[^[:print:]]/ }" | sed 's/^ *//' | cut -c1-60
	fi
}

# follow: tells how far the step is, until it is killed or this script has gone.
follow() {
	local text width pause=$MINUTE
	[ ! -t 1 ] || pause=1
	while :; do
		read -r -t "$pause" <&7 || true
		kill -0 $$ 2>/dev/null || return 0
		text="[$number] $title ... $(how_far)"
		if [ -t 1 ]; then
			width=$(stty size 2>/dev/null </dev/tty | cut -d' ' -f2) || true
			[ "${width:-0}" -gt 20 ] || width=80
			text="$text, $((EPOCHSECONDS - start)) s"
			printf '\r%-*.*s' $((width - 1)) $((width - 1)) "$text"
		else
			printf '%s after %d s\n' "$text" $((EPOCHSECONDS - start))
		fi
	done
}

# followed COMMAND...: runs it with its output in the log and tells how far it is; its exit status.
followed() {
	local follower="" status=0
	if [ -z "${QUIET_STEPS:-}" ]; then
		[ ! -t 1 ] || printf '[%s] %s ...' "$number" "$title"
		: >"$log"
		# a pipe that nobody writes to, to wait at: a program that sleeps would stay behind
		exec 7<> <(:)
		follow 8>&- &
		follower=$!
		# shellcheck disable=SC2064  # this follower
		trap "kill $follower 2>/dev/null || true" EXIT
	fi
	"$@" >"$log" 2>&1 </dev/null 7<&- 8>&- || status=$?
	if [ -n "$follower" ]; then
		kill "$follower" 2>/dev/null || true
		wait "$follower" 2>/dev/null || true
		[ ! -t 1 ] || printf '\r\033[K'
	fi
	return $status
}

show() { [ -n "${QUIET_STEPS:-}" ] || printf '%s\n' "$*"; }

# Two builds in one tree take turns.
exec 8>"$BUILD/stamps/$name.lock"
flock -n 8 || {
	show "[$number] $title ... waits for another build in this tree"
	flock 8
}

hash=$(content_hash "$@")
# make -n runs the lines that name $(MAKE): nothing is done then, and nothing counts as done.
flags=${MAKEFLAGS:-}
case " ${flags%% *}" in
" -"*) ;;
*n*)
	show "[$number] $title: $*"
	exit 0
	;;
esac
if up_to_date; then
	show "[$number] $title ... up to date"
	exit 0
fi
rm -f "$stamp"
start=$EPOCHSECONDS
status=0
if [ -n "${V:-}" ]; then
	show "[$number] $title: $*"
	"$@" 8>&- 2>&1 | tee "$log" || status=$?
else
	followed "$@" || status=$?
fi
elapsed=$((EPOCHSECONDS - start))
if [ $status -ne 0 ]; then
	printf '[%s] %s ... FAILED after %d s\n' "$number" "$title" "$elapsed"
	if [ -z "${V:-}" ]; then
		tail -n 30 "$log" | sed 's/^/    /'
	fi
	echo "the whole output: $log" >&2
	cause "$status" >&2
	exit 1
fi
echo "$hash" >"$stamp"
show "[$number] $title ... $elapsed s"
