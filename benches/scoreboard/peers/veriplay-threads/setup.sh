# Runs a program once: the first run of all downloads CPython for WebAssembly and compiles it.
echo 'print(42)' > program.py
"$VERIPLAY" run program.py
