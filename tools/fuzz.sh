#!/usr/bin/env bash
# Runs every fuzz program of a build directory for FUZZ_SECONDS each; stops at the first finding.
# A target's seeds lie in cpp/fuzz/corpus/NAME; what the run discovers stays under build/.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:?usage: tools/fuzz.sh BUILD_DIRECTORY}
seconds=${FUZZ_SECONDS:-60}

shopt -s nullglob
programs=("$folder"/fuzz_*)
if [ ${#programs[@]} -eq 0 ]; then
  echo "there is no fuzz target in $folder"
  exit 0
fi
for program in "${programs[@]}"; do
  [ -f "$program" ] && [ -x "$program" ] || continue
  name=${program##*/fuzz_}
  found="$folder/corpus/$name"
  mkdir -p "$found"
  folders=("$found")
  [ -d "cpp/fuzz/corpus/$name" ] && folders+=("cpp/fuzz/corpus/$name")
  echo "== $name, $seconds s"
  "$program" -max_total_time="$seconds" -timeout=10 -print_final_stats=1 \
    -artifact_prefix="$folder/finding-$name-" "${folders[@]}"
done
