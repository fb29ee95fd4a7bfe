#!/usr/bin/env bash
# Check pipelines in GitHub Actions: annotations, a summary, and files for later steps. The inputs are in PROOFKA_*.
set -euo pipefail

out="${RUNNER_TEMP:?}/proofka"
mkdir -p "$out"
rm -f "$out/proofka.sarif" "$out/proofka.md"

since="${PROOFKA_SINCE:-}"
if [ -z "$since" ] && [ -n "${GITHUB_BASE_REF:-}" ]; then
  since="origin/$GITHUB_BASE_REF"
fi

arguments=(check --format github --report "$out/proofka.sarif" --comment "$out/proofka.md")
if [ -n "$since" ]; then arguments+=("--changed-since=$since"); fi
if [ -n "${PROOFKA_BASELINE:-}" ]; then arguments+=("--baseline=$PROOFKA_BASELINE"); fi
if [ -n "${PROOFKA_FAULTS:-}" ]; then arguments+=("--faults=$PROOFKA_FAULTS"); fi
if [ -n "${PROOFKA_PATH:-}" ]; then arguments+=(-- "$PROOFKA_PATH"); fi

status=0
proofka "${arguments[@]}" || status=$?

if [ -f "$out/proofka.md" ]; then
  cat "$out/proofka.md" >> "${GITHUB_STEP_SUMMARY:?}"
  echo "comment=$out/proofka.md" >> "${GITHUB_OUTPUT:?}"
fi
if [ -f "$out/proofka.sarif" ]; then
  echo "sarif=$out/proofka.sarif" >> "${GITHUB_OUTPUT:?}"
fi
echo "status=$status" >> "${GITHUB_OUTPUT:?}"
exit "$status"
