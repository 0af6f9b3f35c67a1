# run.sh FOLDER FILE SECONDS BYTES: runs a Python file in CPython for WASI. The program is an argument, so that no directory need be shared.
# Ten thousand million units of fuel are about a second.
exec "$1/wasmtime" run --allow-precompiled -W "fuel=${3}0000000000,max-memory-size=$4" "$1/python.cwasm" -I -c "$(cat "$2")"
