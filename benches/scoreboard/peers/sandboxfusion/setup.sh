# The server is not on a package registry: only its client is. $SOURCES may hold a copy of its repository.
rm -rf source
git clone --quiet "${SOURCES:-https://github.com/bytedance}/SandboxFusion" source ||
  { echo "its repository cannot be cloned: put a copy called SandboxFusion into the folder that --sources names" >&2; exit 1; }
echo "$(git -C source rev-parse --short HEAD) of $(git -C source log -1 --format=%cs), locked versions" > version
# It looks for a conda above its interpreter; a virtual environment with the one folder it asks for is enough.
python3 -m venv conda
mkdir -p conda/condabin source/docs/build
python3 - <<'P' > requirements.txt
import tomllib
lock = {package["name"]: package["version"] for package in tomllib.load(open("source/poetry.lock", "rb"))["package"]}
wanted = tomllib.load(open("source/pyproject.toml", "rb"))["tool"]["poetry"]["dependencies"]
for name, version in lock.items():
    extras = wanted.get(name, {})
    extras = ",".join(extras.get("extras", [])) if isinstance(extras, dict) else ""
    if name in wanted:
        print(f"{name}[{extras}]=={version}" if extras else f"{name}=={version}")
P
python3 - <<'P' > constraints.txt
import tomllib
for package in tomllib.load(open("source/poetry.lock", "rb"))["package"]:
    print(f"{package['name']}=={package['version']}")
P
conda/bin/pip install --quiet --constraint constraints.txt --requirement requirements.txt
