# The system's Python: the sandboxes around a process bind the system's directories.
test -x "$PYTHON" || apt-get install --yes --no-install-recommends python3
