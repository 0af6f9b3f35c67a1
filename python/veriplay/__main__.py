"""``python -m veriplay`` is the program ``veriplay``."""

from __future__ import annotations

import os
import sys

from .errors import LocalServerError
from .local import find_binary


def main() -> None:
    """Becomes the program."""
    try:
        binary = find_binary()
    except LocalServerError as error:
        sys.exit(f"error: {error}")
    os.execv(binary, [binary, *sys.argv[1:]])


if __name__ == "__main__":
    main()
