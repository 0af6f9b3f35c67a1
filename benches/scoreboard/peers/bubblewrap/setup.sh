command -v bwrap >/dev/null || apt-get install --yes --no-install-recommends bubblewrap
bwrap --unshare-all --ro-bind / / true || { echo "this machine does not let bubblewrap make namespaces" >&2; exit 1; }
