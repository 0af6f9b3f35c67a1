"""Whether a change of a source text undoes a part of an earlier one: in its code, however that is written."""

import collections
import difflib

BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
ENDS = (ast.Return, ast.Raise, ast.Break, ast.Continue)

# A statement without those in it, its size, and a number that stands for what it is in: for functions and classes their names, for
# other statements all that they say; the same of their kinds alone, with its own; and the name of the outermost definition around it.
Line = collections.namedtuple("Line", "place text size kinds top")


def undoes(original, undone, now):
    """Whether `now` undoes a part of the change that `undone` undoes as a whole. A part is what stands together. Of what the change
    added in it a statement is gone, and what comes instead is no larger than what else is gone or changed there; and of what it took
    away there a statement is back at its place, unless what it put instead is all there still. A statement that is elsewhere in the
    file now is not gone, and one that was elsewhere is not back."""
    places = {}
    before, past, after = (lines(text, places) for text in (original, undone, now))
    was_added, was_removed = fewer(before, past), fewer(past, before)
    is_gone, is_back = fewer(before, after), fewer(after, before)
    changed, there = parts(before, after), set(after)
    for ours, theirs in parts(before, past):
        added, removed = list(filter(was_added, ours)), list(filter(was_removed, theirs))
        gone, back = set(filter(is_gone, added)), set(filter(is_back, removed))
        kept = [line for line in added if line not in gone and line in there]
        if gone and (back or stand_for(kept, removed)) and takes_out(gone, back, changed):
            return True
        if back and not added:
            return True
    return False


def stand_for(kept, removed):
    """Whether `kept` has a statement of the same kind, in statements of the same kinds, for each one of `removed`: what the change added
    beside them replaced none."""
    return not kinds(removed) - kinds(kept)


def takes_out(gone, back, changed):
    """Whether what changed is without the statements `gone`, and has no code in their place but `back`: none of their kinds, and none that
    is larger than what else went. What is around them counts as a whole: the same code could come again behind a line that stays."""
    tops = {line.top for line in gone}
    old, new = ([line for part in changed for line in part[side] if line.top in tops] for side in (0, 1))
    left, come = [line for line in old if line not in gone], [line for line in new if line not in back]
    is_there = (kinds(come) - kinds(left)).keys() & kinds(gone).keys()
    return len(left) < len(old) and not is_there and size(come) <= size(left)


def kinds(found):
    return collections.Counter(line.kinds for line in found)


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
    """The statements of a text that do anything and can be reached, in their order. `places` gives each place its number, whether it is
    told by texts or by kinds."""
    found = []

    def visit(body, place, around=0, top=""):
        last = {node.name: at for at, node in enumerate(body) if isinstance(node, DEFINITIONS) and not node.decorator_list}
        for at, node in enumerate(body):
            if is_idle(node) or isinstance(node, DEFINITIONS) and last.get(node.name, at) > at:
                continue
            blocks = [(name, value) for name, value in ast.iter_fields(node) if name in BLOCKS and isinstance(value, list)]
            head = node.__class__(**dict(ast.iter_fields(node), **{name: [] for name, _ in blocks}))
            kind = node.__class__.__name__
            line = Line(place, ast.dump(head), sum(1 for _ in ast.walk(head)), (around, kind), top or getattr(node, "name", ""))
            found.append(line)
            above, kind = (node.name, node.name) if isinstance(node, DEFINITIONS) else (line.text, kind)
            for name, inner in blocks:
                told = [(place, above, name), ("kinds", around, kind, name)]
                visit(inner, *(places.setdefault(key, len(places) + 1) for key in told), line.top)
            if isinstance(node, ENDS):
                break

    # As an import reads it: a comment may name an encoding.
    visit(ast.parse(text.encode()).body, 0)
    return found


def is_idle(node):
    return isinstance(node, ast.Pass) or isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
