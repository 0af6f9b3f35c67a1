"""The files that matplotlib reads its fonts and settings from. A module of the image: the library lies in a zip file, and these in a zip file in it,
where nothing can open them as files."""

import io
import os
import sys
import zipfile

PLACE = "/tmp/.matplotlib/library/matplotlib"
NEEDED = "matplotlibrc", "fonts/ttf/", "stylelib/"


def unpack(module):
    """Writes them where a module in `PLACE` looks for them, and says that it is one."""
    place = os.path.dirname(module.__file__)
    archive = zipfile.ZipFile(io.BytesIO(module.__loader__.get_data(place + "/mpl-data.zip")))
    for name in archive.namelist():
        if name.startswith(NEEDED) and not name.endswith("/"):
            path = f"{PLACE}/mpl-data/{name}"
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(archive.read(name))
    module.__file__ = PLACE + "/__init__.py"


sys.modules["_veriplay_after_import"].BEFORE["matplotlib"] = unpack
