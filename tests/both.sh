#!/usr/bin/env bash
# The suite in two processes side by side, each with a database server of its own; then what failed, once more and by
# itself: real processes and browsers miss a deadline on a crowded machine.
set -uo pipefail
first=(tests/accounts tests/actions tests/cases tests/clients tests/conformance tests/running_e2e tests/vendors)
log=.test-data/first.log
mkdir -p .test-data

run() {
  TEST_DATA_DIR="$PWD/.test-data/$1" pytest -m "not slow" -o "cache_dir=.pytest_cache/$1" "${@:2}"
}
again() {
  run "$1" --last-failed --last-failed-no-failures none "${@:2}"
}

run first "${first[@]}" > "$log" 2>&1 &
running=$!
run second tests "${first[@]/#/--ignore=}"
second=$?
wait $running
first_ended=$?
cat "$log"
[ $first_ended = 0 ] || again first "${first[@]}" || exit
[ $second = 0 ] || again second tests "${first[@]/#/--ignore=}"
