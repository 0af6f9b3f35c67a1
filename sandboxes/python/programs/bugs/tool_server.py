"""The tools that look: files under a path, lines of a file, a search. What they look at is the job's own tree.

Trusted: files are text here, and nothing of them is run. A pattern is the policy's: what it costs is the job's fuel.
"""

import os
import re

ROOT = "/work"
# Made by interpreters and version control: no part of a repository's text.
LEFT_OUT = {".git", ".hg", ".svn", "__pycache__"}


def desk(tool, path, arguments, chars):
    """("done", text) or ("refused", why)."""
    where = os.path.join(ROOT, path) if path else ROOT
    if not os.path.exists(where):
        return ("refused", "there is no `" + path + "`")
    try:
        return ("done", {"list": listed, "read": read, "search": searched}[tool](where, *arguments, chars))
    except Refused as why:
        return ("refused", str(why))


class Refused(Exception):
    pass


def files(where):
    if os.path.isfile(where):
        yield where
    for directory, names, found in os.walk(where):
        names[:] = sorted(name for name in names if name not in LEFT_OUT)
        for name in sorted(found):
            yield os.path.join(directory, name)


def name_of(file):
    return file[len(ROOT) + 1 :]


def bounded(lines, chars, what):
    """The lines that fit, and how many do not."""
    kept, used, left = [], 0, 0
    for line in lines:
        used += len(line) + 1
        if used <= chars and not left:
            kept.append(line)
        else:
            left += 1
    return "\n".join(kept + ["… and " + str(left) + " more " + what] * (left > 0))


def listed(where, chars):
    return bounded([name_of(file) for file in files(where)], chars, "files") or "There are no files."


def text_of(file):
    with open(file, "rb") as source:
        data = source.read()
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def lines_of(text):
    """Lines as an edit and a patch have them: ended by a line feed alone."""
    return text.split("\n")[: -1 if text.endswith("\n") else None]


def read(where, first, last, chars):
    if os.path.isdir(where):
        raise Refused("`" + (name_of(where) or ".") + "` is a directory; list it")
    text = text_of(where)
    if text is None:
        raise Refused("`" + name_of(where) + "` is no text")
    lines = lines_of(text)
    if first > max(len(lines), 1):
        raise Refused("`" + name_of(where) + "` has " + str(len(lines)) + " lines")
    shown = [str(number) + ": " + line for number, line in enumerate(lines, 1) if first <= number <= last]
    return bounded(shown, chars, "lines of these") + "\n(the file has " + str(len(lines)) + " lines)"


def searched(where, pattern, is_expression, chars):
    try:
        wanted = re.compile(pattern if is_expression else re.escape(pattern))
    except (re.error, OverflowError, RecursionError) as error:
        raise Refused("the pattern is no regular expression: " + str(error)) from None
    found = []
    for file in files(where):
        for number, line in enumerate(lines_of(text_of(file) or ""), 1):
            if wanted.search(line):
                found.append(name_of(file) + ":" + str(number) + ": " + line)
    return bounded(found, chars, "lines") or "Nothing was found."
