#!/usr/bin/env bash
# The tests of the Python package: against the real program and the real, unmodified frameworks. Run it from anywhere.
#
# It makes its own environment in python/.venv, or in VERIPLAY_PYTHON_VENV, and builds the program, unless VERIPLAY_TEST_BIN names one.
# VERIPLAY_RAY=1 adds the pool on a local Ray cluster, in an environment of its own: 300 MB more, and a minute.
# VERIPLAY_TRACKIO=1 adds trackio, which imports what a run writes for it, in an environment of its own: 200 MB more, and a minute.
# VERIPLAY_TORCH=1 adds the frameworks that need torch (verl, TRL, verifiers), in an environment of their own: 6 GB more. With
# PYTHONPATH=CLONE, a clone of github.com/THUDM/slime, it runs slime too.
# Arguments go to pytest.
set -euo pipefail
cd "$(dirname "$0")"

export VERIPLAY_TEST_BIN="${VERIPLAY_TEST_BIN:-$(
  cargo build --workspace --bin veriplay --locked --message-format json-render-diagnostics |
    python3 -c 'import json, sys
rows = (json.loads(line) for line in sys.stdin)
print([row["executable"] for row in rows if row.get("executable") and row["target"]["name"] == "veriplay"][-1])'
)}"

# environment FOLDER REQUIREMENTS…: makes it, again where the requirements have changed.
environment() {
  local folder="$1" stamp
  shift
  stamp="$(cat "$@" | sha256sum)"
  if [ "$(cat "$folder/stamp" 2>/dev/null)" != "$stamp" ]; then
    python3 -m venv --clear "$folder"
    for requirements in "$@"; do
      # What is named with a comment `--no-deps` is installed without what it depends on.
      grep -v '# --no-deps' "$requirements" > "$folder/deps.txt"
      grep '# --no-deps' "$requirements" > "$folder/alone.txt" || true
      "$folder/bin/python" -m pip install --quiet --disable-pip-version-check -r "$folder/deps.txt"
      if [ -s "$folder/alone.txt" ]; then
        "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$folder/alone.txt"
      fi
    done
    echo "$stamp" > "$folder/stamp"
  fi
}

light="${VERIPLAY_PYTHON_VENV:-$PWD/.venv}"
environment "$light" tests/requirements-test.txt tests/requirements-light.txt
"$light/bin/ruff" format --check --quiet veriplay tests examples
"$light/bin/ruff" check --quiet veriplay tests examples
"$light/bin/mypy" --cache-dir "$light/mypy"
PYTHONDONTWRITEBYTECODE=1 "$light/bin/python" -m pytest -p no:cacheprovider "$@"

if [ -n "${VERIPLAY_RAY:-}" ]; then
  environment "$light-ray" tests/requirements-test.txt tests/requirements-ray.txt
  PYTHONDONTWRITEBYTECODE=1 "$light-ray/bin/python" -m pytest -p no:cacheprovider tests/test_ray.py "$@"
fi

if [ -n "${VERIPLAY_TRACKIO:-}" ]; then
  environment "$light-trackio" tests/requirements-test.txt tests/requirements-trackio.txt
  PYTHONDONTWRITEBYTECODE=1 "$light-trackio/bin/python" -m pytest -p no:cacheprovider tests/test_trackio.py "$@"
fi

if [ -n "${VERIPLAY_TORCH:-}" ]; then
  environment "$light-torch" tests/requirements-test.txt tests/requirements-torch.txt
  PYTHONDONTWRITEBYTECODE=1 "$light-torch/bin/python" -m pytest -p no:cacheprovider tests/torch_frameworks.py tests/torch_decoding.py "$@"
fi
