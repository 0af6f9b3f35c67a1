python3 -m venv venv
venv/bin/pip install --quiet pydantic-monty==1.4.0
