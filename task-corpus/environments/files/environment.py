"""A workspace of text files in folders. Paths are written `folder/file.txt`, without a slash at either end; the root is
the empty path. All texts together may have 20000 characters."""

QUOTA = 20000
FOLDERS = {"", "notes", "notes/2025", "notes/2026", "reports", "reports/drafts", "data"}
FILES = {
    "README.txt": "Team workspace.\nDrafts live in reports/drafts until they are signed.\n",
    "notes/2025/kickoff.txt": "Kickoff.\nTODO: book the hall\nOwner: Mara\n",
    "notes/2025/retro.txt": "Retro.\nTODO: fewer meetings\nTODO: write tests first\n",
    "notes/2026/plan.txt": "Plan.\nStatus: open\nTODO: hire one engineer\nOwner: Tobias\n",
    "notes/2026/risks.txt": "Risks.\nStatus: closed\nOwner: Ines\n",
    "reports/q1.txt": "Q1 report\nrevenue: 1200\ncosts: 900\nsigned: yes\n",
    "reports/drafts/q2.txt": "Q2 report\nrevenue: 1500\ncosts: 1650\nsigned: yes\n",
    "reports/drafts/q3.txt": "Q3 report\nrevenue: 1800\ncosts: 1100\nsigned: no\n",
    "reports/drafts/q4.txt": "Q4 report\nrevenue: 2100\ncosts: 1700\nsigned: yes\n",
    "data/cities.csv": "city,people\nKiel,247000\nJena,111000\nUlm,128000\n",
    "data/prices.csv": "item,cents\nink,890\nnib,245\npad,1290\n",
    "data/old_prices.csv": "item,cents\nink,850\nnib,230\npad,1190\n",
}


def parent(path):
    return path.rpartition("/")[0]


def checked_path(path):
    """Raises unless `path` can name a file or a folder."""
    parts = path.split("/")
    if not all(parts) or any(part in (".", "..") or not part.isprintable() or part != part.strip() for part in parts):
        raise ValueError(f"{path!r} is no path; write `folder/file.txt`")
    if len(path) > 200:
        raise ValueError("a path has at most 200 characters")


def text_of(path):
    if path not in FILES:
        raise FileNotFoundError(f"there is no file {path!r}")
    return FILES[path]


def checked_new(path):
    """Raises unless something can be made at `path`."""
    checked_path(path)
    if path in FILES or path in FOLDERS:
        raise FileExistsError(f"{path!r} exists")
    if parent(path) not in FOLDERS:
        raise FileNotFoundError(f"there is no folder {parent(path)!r}")


def checked_quota(more):
    used = sum(map(len, FILES.values()))
    if used + more > QUOTA:
        raise OSError(f"the workspace holds {QUOTA} characters, and {used} are used")


# Tools.


def list_folder(path: str) -> list:
    """The names in a folder, sorted; folders end with a slash. The root is the empty path."""
    if path not in FOLDERS:
        raise FileNotFoundError(f"there is no folder {path!r}")
    folders = [folder.rpartition("/")[2] + "/" for folder in FOLDERS if folder and parent(folder) == path]
    return sorted(folders + [file.rpartition("/")[2] for file in FILES if parent(file) == path])


def read_file(path: str) -> str:
    """The text of a file."""
    return text_of(path)


def search(text: str) -> list:
    """The paths of all files that contain `text`, sorted."""
    return sorted(path for path, held in FILES.items() if text in held)


def write_file(path: str, text: str) -> None:
    """Writes a file, new or not. Its folder must exist."""
    if path not in FILES:
        checked_new(path)
    checked_quota(len(text) - len(FILES.get(path, "")))
    FILES[path] = text


def append_file(path: str, text: str) -> None:
    """Adds text at the end of a file that exists."""
    text_of(path)
    checked_quota(len(text))
    FILES[path] += text


def replace_text(path: str, old: str, new: str) -> int:
    """Replaces every `old` in a file by `new`; returns how many there were, and ValueError when there was none."""
    held = text_of(path)
    count = held.count(old) if old else 0
    if not count:
        raise ValueError(f"{path!r} does not contain {old!r}")
    checked_quota(count * (len(new) - len(old)))
    FILES[path] = held.replace(old, new)
    return count


def copy_file(path: str, to: str) -> None:
    """Copies a file to a path where nothing is."""
    held = text_of(path)
    checked_new(to)
    checked_quota(len(held))
    FILES[to] = held


def move_file(path: str, to: str) -> None:
    """Moves a file to a path where nothing is."""
    text_of(path)
    checked_new(to)
    FILES[to] = FILES.pop(path)


def delete_file(path: str) -> None:
    """Deletes a file."""
    text_of(path)
    del FILES[path]


def make_folder(path: str) -> None:
    """Makes a folder inside one that exists."""
    checked_new(path)
    FOLDERS.add(path)


def delete_folder(path: str) -> None:
    """Deletes a folder that is empty."""
    if path not in FOLDERS or not path:
        raise FileNotFoundError(f"there is no folder {path!r} to delete")
    if list_folder(path):
        raise OSError(f"folder {path!r} is not empty")
    FOLDERS.remove(path)


TOOLS = [
    list_folder, read_file, search, write_file, append_file, replace_text, copy_file, move_file, delete_file,
    make_folder, delete_folder,
]


def dump():
    return {"files": dict(sorted(FILES.items())), "folders": sorted(FOLDERS - {""})}


def check():
    assert "" in FOLDERS, "the root is gone"
    for path in [*FILES, *(folder for folder in FOLDERS if folder)]:
        checked_path(path)
        assert parent(path) in FOLDERS, f"{path!r} lies in no folder"
    assert not FOLDERS & set(FILES), "a file is a folder too"
    assert sum(map(len, FILES.values())) <= QUOTA, "the quota is exceeded"
