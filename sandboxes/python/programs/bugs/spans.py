"""Source text, its tree, and edits of it by byte offsets, so that what is not changed keeps its formatting.

Trusted: it reads text and runs nothing of it. An edit is (start, end, replacement), in bytes of UTF-8.
"""

import ast
import re


class Source:
    def __init__(self, text):
        self.text = text
        self.data = text.encode()
        # The first line begins behind a byte order mark, which no edit touches.
        without_mark = text.removeprefix("\ufeff")
        self.tree = ast.parse(without_mark)
        self.starts = [len(self.data) - len(without_mark.encode())] + [found.end() for found in re.finditer(rb"\r\n|\r|\n", self.data)]
        self.parents = {}
        for node in ast.walk(self.tree):
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node

    def start(self, node):
        return self.starts[node.lineno - 1] + node.col_offset

    def end(self, node):
        return self.starts[node.end_lineno - 1] + node.end_col_offset

    def slice(self, start, end):
        return self.data[start:end].decode()

    def segment(self, node):
        return self.slice(self.start(node), self.end(node))

    def first_line(self, node):
        """The line a node starts on, from 1; its decorators count."""
        return min([node.lineno] + [found.lineno for found in getattr(node, "decorator_list", [])])

    def line_start(self, line):
        return self.starts[line - 1]

    def line_end(self, line):
        """Behind the last byte of a line, before what ends it."""
        stop = self.starts[line] if line < len(self.starts) else len(self.data)
        return self.starts[line - 1] + len(self.data[self.starts[line - 1] : stop].rstrip(b"\r\n"))

    def next_line(self, line):
        return self.starts[line] if line < len(self.starts) else len(self.data)

    def indent(self, node):
        """What stands before a statement, or None when that is more than white space."""
        before = self.slice(self.line_start(self.first_line(node)), self.starts[self.first_line(node) - 1] + node.col_offset)
        return before if not before.strip() else None

    def owns_lines(self, node):
        """Whether a statement shares its lines with nothing but comments."""
        after = self.slice(self.end(node), self.line_end(node.end_lineno)).strip()
        return self.indent(node) is not None and (not after or after.startswith("#"))

    def replace(self, node, text):
        return (self.start(node), self.end(node), text)

    def cut_lines(self, node):
        """Removes a statement with its lines."""
        return (self.line_start(self.first_line(node)), self.next_line(node.end_lineno), "")

    def remove(self, node, body):
        """Removes a statement out of its body, which becomes `pass` when nothing else is left."""
        if len(body) == 1:
            return (self.starts[self.first_line(node) - 1] + len(self.indent(node) or ""), self.end(node), "pass") if (
                getattr(node, "decorator_list", None)
            ) else self.replace(node, "pass")
        return self.cut_lines(node) if self.owns_lines(node) else self.replace(node, "pass")

    def edited(self, edits):
        data, at = b"", 0
        for start, end, text in sorted(edits):
            if start < at:
                return None
            data += self.data[at:start] + text.encode()
            at = end
        return (data + self.data[at:]).decode()
