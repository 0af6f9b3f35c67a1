#!/usr/bin/env bash
# The step of action.yml that runs the suite: TARGET, ALLOW and ARGUMENTS are its inputs. It writes the reports, the outputs and the summary, and ends
# with the suite's exit code.
set -uo pipefail

# Where a wheel was installed, or where the action built it. Only without both, as in a test of this script, one on PATH.
program="${RUNNER_TEMP:?}/veriplay/bin/veriplay"
if [ ! -x "$program" ]; then program="$RUNNER_TEMP/veriplay-built/bin/veriplay"; fi
if [ ! -x "$program" ]; then program=veriplay; fi
reports="$(mktemp -d "$RUNNER_TEMP/isolation-XXXXXX")" || exit 1
arguments=(--json --junit "$reports/isolation.xml" --sarif "$reports/isolation.sarif" --markdown "$reports/isolation.md")
if [ -n "${TARGET:-}" ]; then arguments+=(--target "$TARGET"); fi
if [ -n "${ALLOW:-}" ]; then arguments+=(--allow "$ALLOW"); fi
while IFS= read -r argument; do
  # Blanks around it, and the carriage return of a file with such line ends, are not seen in an error.
  argument="${argument#"${argument%%[![:space:]]*}"}"
  argument="${argument%"${argument##*[![:space:]]}"}"
  if [[ "$argument" =~ ^(--[a-z-]+)[[:space:]]+(.*)$ ]]; then
    echo "::error::'arguments' has one argument a line: write '${BASH_REMATCH[1]}=${BASH_REMATCH[2]}' for '$argument'"
    exit 2
  fi
  if [ -n "$argument" ]; then arguments+=("$argument"); fi
done <<< "${ARGUMENTS:-}"

"$program" isolate "${arguments[@]}" > "$reports/isolation.json"
code=$?
echo "exit-code=$code" >> "$GITHUB_OUTPUT"
if [ -f "$reports/isolation.md" ]; then
  echo "reports=$reports" >> "$GITHUB_OUTPUT"
  cat "$reports/isolation.md" >> "$GITHUB_STEP_SUMMARY"
fi
exit "$code"
