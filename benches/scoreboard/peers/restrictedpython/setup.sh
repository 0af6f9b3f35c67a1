python3 -m venv venv
venv/bin/pip install --quiet RestrictedPython==9.0
