#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Style and types of all Python here.
#
#   lint-python.sh            flake8 (.flake8), mypy (.mypy.ini); Debian's programs, so that all see the same complaints

. "$(dirname "$0")/lib.sh"
cd "$TOP"
for program in flake8 mypy; do
	[ -x /usr/bin/$program ] || die "$program is missing: run 'scripts/setup.sh lint'"
done
mapfile -t files < <(git ls-files -- '*.py' && git grep -lI -m 1 '^#!.*python' -- ':!*.py')
/usr/bin/flake8 "${files[@]}"
/usr/bin/mypy --config-file .mypy.ini --cache-dir "$BUILD/mypy" "${files[@]}"
