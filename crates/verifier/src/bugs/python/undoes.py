"""Whether a change of a source text undoes a part of an earlier one: in its code, however that is written."""

import collections
import difflib

BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
ENDS = (ast.Return, ast.Raise, ast.Break, ast.Continue)

# A statement without those in it, its size, and a number that stands for what it is in: for functions and classes their names, for
# other statements all that they say; and the name of the outermost definition around it.
Line = collections.namedtuple("Line", "place text size top")


def undoes(original, undone, now):
    """Whether `now` undoes a part of the change that `undone` undoes as a whole. A part is what stands together. Of what the change
    added in it a statement is gone, and what comes instead is no larger than what else is gone or changed there; and of what it took
    away there a statement is back at its place. A statement that is elsewhere in the file now is not gone, and one that was elsewhere
    is not back."""
    places = {}
    before, past, after = (lines(text, places) for text in (original, undone, now))
    was_added, was_removed = fewer(before, past), fewer(past, before)
    is_gone, is_back = fewer(before, after), fewer(after, before)
    changed = parts(before, after)
    for ours, theirs in parts(before, past):
        added, removed = list(filter(was_added, ours)), list(filter(was_removed, theirs))
        gone, back = set(filter(is_gone, added)), set(filter(is_back, removed))
        if bool(gone) == bool(added) and bool(back) == bool(removed) and (gone or back):
            if not gone or takes_out(gone, back, changed):
                return True
    return False


def takes_out(gone, back, changed):
    """Whether what changed is without the statements `gone`, and has no code in their place but `back`. What is around them counts as a whole: the
    same code could come again behind a line that stays."""
    tops = {line.top for line in gone}
    old, new = ([line for part in changed for line in part[side] if line.top in tops] for side in (0, 1))
    left = [line for line in old if line not in gone]
    return len(left) < len(old) and size(line for line in new if line not in back) <= size(left)


def size(found):
    return sum(line.size for line in found)


def fewer(one, other):
    """Tells of a line whether `other` has it less often than `one`, in its place and in the file."""
    in_place = collections.Counter(one) - collections.Counter(other)
    in_file = collections.Counter(line.text for line in one) - collections.Counter(line.text for line in other)
    return lambda line: line in in_place and line.text in in_file


def parts(one, other):
    """What differs between two lists, side by side."""
    found = difflib.SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    return [(one[start:end], other[from_:to]) for kind, start, end, from_, to in found if kind != "equal"]


def lines(text, places):
    """The statements of a text that do anything and can be reached, in their order. `places` gives each place its number."""
    found = []

    def visit(body, place, top=""):
        last = {node.name: at for at, node in enumerate(body) if isinstance(node, DEFINITIONS) and not node.decorator_list}
        for at, node in enumerate(body):
            if is_idle(node) or isinstance(node, DEFINITIONS) and last.get(node.name, at) > at:
                continue
            blocks = [(name, value) for name, value in ast.iter_fields(node) if name in BLOCKS and isinstance(value, list)]
            head = node.__class__(**dict(ast.iter_fields(node), **{name: [] for name, _ in blocks}))
            line = Line(place, ast.dump(head), sum(1 for _ in ast.walk(head)), top or getattr(node, "name", ""))
            found.append(line)
            above = node.name if isinstance(node, DEFINITIONS) else line.text
            for name, inner in blocks:
                visit(inner, places.setdefault((place, above, name), len(places) + 1), line.top)
            if isinstance(node, ENDS):
                break

    # As an import reads it: a comment may name an encoding.
    visit(ast.parse(text.encode()).body, 0)
    return found


def is_idle(node):
    return isinstance(node, ast.Pass) or isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
