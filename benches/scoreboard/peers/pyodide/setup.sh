command -v node >/dev/null || apt-get install --yes --no-install-recommends nodejs npm
npm install --silent --no-audit --no-fund --prefix . pyodide@314.0.7
cp "$HERE/run.mjs" run.mjs
