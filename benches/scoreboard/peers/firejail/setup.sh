command -v firejail >/dev/null || apt-get install --yes --no-install-recommends firejail
