//! Error tasks: the release takes what stands before a colon in the last line of a traceback, which a program prints as it likes. Here the name is that
//! of the built-in type behind the exception, found by its identity, and the text of the program shows that it cannot reach what finds it.

use veriplay_core::{Attempt, Proposal, ProposalVerdict, Provenance, Question, Status, TaskType, Value};
use veriplay_verifier::triplets::rules;
use veriplay_verifier::{ProposalRequest, judge_proposal};

use super::{answer, gate, python};

/// The verdict on an error task of `program` at 3.
fn propose(program: &str) -> ProposalVerdict {
    let (task_type, program, input) = (TaskType::Error, program.to_owned(), vec![Value::int(3)]);
    let attempt = Attempt::Proposal(Proposal::Triplet { task_type, program, input });
    let request = ProposalRequest { attempt: &attempt, known: false, provenance: Provenance::Seed };
    judge_proposal(python(), &gate(), &request).unwrap()
}

fn gold(program: &str) -> String {
    let judged = propose(program);
    let Some(task) = judged.task else { panic!("not Valid: {:?}\n{program}", judged.verdict) };
    let Question::Error { exception, .. } = &task.question else { panic!("{:?}", task.question) };
    let status = |name: &str| answer(&task, &Attempt::Exception(name.to_owned())).status;
    assert_eq!((status(exception), status("AssertionError")), (Status::Accepted, Status::WrongAnswer));
    exception.clone()
}

fn refused_by(program: &str) -> String {
    let ProposalVerdict { verdict, task, .. } = propose(program);
    assert!(verdict.status == Status::Invalid && task.is_none(), "taken, by {verdict:?}:\n{program}");
    verdict.evidence.rule
}

#[test]
fn the_name_is_that_of_the_built_in_type_that_is_raised() {
    let programs = [
        ("def f(x):\n    return 10 // (x - 3)\n", "ZeroDivisionError"),
        ("def f(x):\n    return {1: 2, 2: 4, 4: 5, 6: 7, 8: 9}[x]\n", "KeyError"),
        ("def f(x):\n    return x if x % 2 == 0 else x + 'a'\n", "TypeError"),
        ("import json\ndef f(x):\n    return json.loads('[' * (x % 2) or '1')\n", "ValueError"),
        ("class Odd(KeyError):\n    pass\ndef f(x):\n    if x % 2:\n        raise Odd(x)\n    return x\n", "KeyError"),
    ];
    for (program, want) in programs {
        assert_eq!(gold(program), want, "{program}");
    }
}

/// Raises `E` at odd arguments, such as that of [`propose`], and returns at others.
const RAISES: &str = "def f(x):\n    if x % 2:\n        raise E(x)\n    return x\n";

#[test]
fn a_program_cannot_forge_the_name() {
    let forgeries = [
        (
            "def made():\n    class ValueError(Exception):\n        pass\n    return ValueError\nE = made()\n",
            "Exception",
        ),
        (
            "import functools\nclass Named:\n    __name__ = 'ValueError'\nclass E(KeyError):\n    pass\n\
             try:\n    functools.wraps(Named())(E)\nexcept AttributeError:\n    pass\n",
            "KeyError",
        ),
        ("E = KeyError\nprint('ValueError: no')\n", "KeyError"),
        ("class E(KeyError):\n    def __str__(self):\n        return 'x\\nValueError: no'\n", "KeyError"),
    ];
    for (before, want) in forgeries {
        assert_eq!(gold(&format!("{before}{RAISES}")), want, "{before}");
    }
}

#[test]
fn a_program_that_reaches_what_reports_its_exception_is_refused() {
    // With the harness's table of exceptions in hand, a program can have another one reported.
    let forged = "    for cell in found.__closure__:\n        if isinstance(cell.cell_contents, dict):\n            \
                  cell.cell_contents[id(KeyError)] = 'ValueError'\n";
    let reaching = [
        "import sys\ndef reach():\n    found = sys._getframe(3).f_locals['kind_of']\n",
        "def reach():\n    try:\n        1 / 0\n    except ZeroDivisionError as error:\n        \
         found = error.__traceback__.tb_frame.f_back.f_back.f_back.f_locals['kind_of']\n",
        "def reach():\n    def walk():\n        yield me.gi_frame.f_back.f_back.f_back.f_back.f_locals['kind_of']\n    \
         me = walk()\n    found = next(me)\n",
        "import gc\ndef reach():\n    found = gc.get_referents(reach)[0]\n",
    ];
    for reach in reaching {
        let program = format!("{reach}{forged}def E(x):\n    reach()\n    return KeyError(x)\n{RAISES}");
        assert_eq!(refused_by(&program), rules::REACHES, "{program}");
    }
}

#[test]
fn every_way_to_what_is_not_known_to_be_harmless_is_refused() {
    let ways = [
        // By a name in a text, and by a pattern.
        "g = getattr\ng(g, '__se' + 'lf__')\n",
        "import functools\nfunctools.reduce(getattr, ['__self__'], len)\n",
        "import operator\noperator.attrgetter('__self__')(len)\n",
        "import string\nstring.Formatter().get_field('0.__self__', [len], {})\n",
        "match len:\n    case object(__self__=module):\n        pass\n",
        "class Own:\n    get_field = f_back = 1\nprint(Own.f_back)\n",
        // Through modules, and their modules.
        "import _veriplay\n",
        "import enum\nenum.sys\n",
        "from enum import sys\n",
        "from random import *\n",
        "__builtins__\n",
        "import typing\ntyping.get_type_hints(len)\n",
        // Other built-in names, and classes that lie about themselves.
        "import builtins\nbuiltins.KeyError = ValueError\n",
        "eval('len')\n",
        "vars()\n",
        "class ValueError(Exception):\n    pass\n",
        "type('Odd', (KeyError,), {})\n",
        "class Text(str):\n    pass\n",
        "class Odd(KeyError):\n    pass\nOdd.__name__ = 'ValueError'\n",
        "class Kind(type):\n    def mro(kind):\n        return [kind, ValueError, *KeyError.__mro__]\n",
        "import copy\nclass Own:\n    def __reduce__(self):\n        return len, ([],)\ncopy.copy(Own())\n",
        "# coding: latin-1\n",
        // A module as a value: of a class, under a name that is not asked about, and given to an operator.
        "class Own:\n    import enum\n    _sys = 1\nOwn.enum\n",
        "def g():\n    import enum as len\n    return len\ng()\n",
        "import enum as __version__\nfound = __version__\n",
        "import enum\nclass Own:\n    def __radd__(self, other):\n        return other\nenum += Own()\n",
        // What holds a function that copies attributes by name, such as another module's globals.
        "import functools\nfunctools.wraps(len).func\n",
        "from functools import wraps as other\nother(len).func\n",
        "from functools import wraps\nfound = wraps\n",
        // Names that are free for what is the program's own lead nowhere else.
        "import typing\nclass Own:\n    types = 1\ntyping.types\n",
        "class Own:\n    types = 1\nfrom typing import types\n",
        "class Own:\n    gi_frame = 1\n(x for x in ()).gi_frame\n",
        // The library's classes by another name.
        "from collections import Counter\nother = Counter\nother.update = None\n",
        "import json\nfor other in [json.JSONEncoder]:\n    other.encode = None\n",
        "from collections import Counter, defaultdict\nother = defaultdict(Counter).default_factory\nother.update = None\n",
        "from typing import Counter\nother = Counter[str]\nother.update = None\n",
        "from collections import Counter, deque\ntry:\n    Counter.popleft\nexcept AttributeError as error:\n    \
         error.obj.update = None\n",
        "from collections import Counter\nclass Own:\n    def __ror__(self, other):\n        other.update = None\n        \
         return int\ndef g(x: Counter | Own()):\n    pass\n",
        "import warnings\nfrom collections import Counter\nwarnings.deprecated('x')(Counter)\n",
    ];
    for way in ways {
        assert_eq!(refused_by(&format!("{way}E = KeyError\n{RAISES}")), rules::REACHES, "{way}");
    }
}

#[test]
fn ordinary_programs_are_known_to_be_harmless() {
    let programs = [
        (
            "class Node:\n    def __init__(self, value, next=None):\n        self.value = value\n        self.next = next\n\
             def f(x):\n    node = Node(x, Node(1) if x % 2 else Node(1, Node(2)))\n    return node.next.next.value\n",
            "AttributeError",
        ),
        (
            "class Metre:\n    def __init__(self, length):\n        self.length = length\n    \
             def __add__(self, other):\n        return self.length + other.length\n\
             def f(x):\n    return Metre(x) + (x if x % 2 else Metre(x))\n",
            "AttributeError",
        ),
        (
            "class Odd(ValueError):\n    def __init__(self, number):\n        super().__init__(f'{number} is odd')\n        \
             self.number = number\ndef f(x):\n    if x % 2:\n        raise Odd(x)\n    return x\n",
            "ValueError",
        ),
        (
            "from collections import namedtuple\nPoint = namedtuple('Point', 'left right')\n\
             def f(x):\n    point = Point(x, (x + 1) % 2)\n    return point.left // point.right\n",
            "ZeroDivisionError",
        ),
        (
            "from collections import deque\ndef f(x):\n    queue = deque(range((x + 1) % 2))\n    return queue.popleft()\n",
            "IndexError",
        ),
        ("import math\ndef f(x):\n    return math.sqrt(-abs(x) if x % 2 else abs(x))\n", "ValueError"),
        ("def f(x):\n    return x.missing if x % 2 else x\n", "AttributeError"),
        (
            "class Sum:\n    def __init__(self, total):\n        self.total = total\n    \
             def __iadd__(self, other):\n        self.total += other\n        return self\n\
             def f(x):\n    found = Sum(x)\n    found += [] if x % 2 else 1\n    return found.total\n\
             if __name__ == '__main__':\n    print(f(2))\n",
            "TypeError",
        ),
        ("def f(x):\n    if x % 2 == 0:\n        found = x\n    return found\n", "UnboundLocalError"),
        ("def f(x):\n    return f(x) if x % 2 else x\n", "RecursionError"),
        // Names that mean something to pytest and to modules, on the program's own objects.
        (
            "class Door:\n    sections = 1\n    def __init__(self, obj, code):\n        self.obj, self.code, self.types = obj, code, [int]\n    \
             def open(self):\n        return self.types[self.code % 2] + self.obj.outcome\n\
             class Case:\n    outcome = 3\ncode = Door(Case(), 2)\n\
             def f(x):\n    code.code = x if x % 2 else 2\n    return str(code.open() if x % 2 else code.sections)\n",
            "IndexError",
        ),
        // Classes of the library as values.
        (
            "from collections import Counter, defaultdict\nclass Shop:\n    def __init__(self, sold: Counter):\n        \
             self.stock, self.count, self.name = defaultdict(Counter), 0, sold\ndef f(x):\n    \
             shop = Shop(Counter('ab'))\n    shop.stock[x].update('aab')\n    shop.count += x % 2\n    \
             return shop.stock[x].most_common(2)[shop.count * 2]\n",
            "IndexError",
        ),
        (
            "from functools import wraps\ndef twice(g):\n    @wraps(g)\n    def h(x):\n        return g(g(x))\n    return h\n\
             @twice\ndef f(x):\n    return x // (x % 2 - 1)\n",
            "ZeroDivisionError",
        ),
    ];
    for (program, want) in programs {
        assert_eq!(gold(program), want, "{program}");
    }
}

#[test]
fn what_no_solver_could_know_is_refused() {
    let random = "import random\ndef f(x):\n    raise random.choice([KeyError, ValueError, IndexError, TypeError])\n";
    assert_eq!(refused_by(random), rules::NONDETERMINISTIC);
    let in_turn = "n = 0\ndef f(x):\n    global n\n    n += 1\n    raise [KeyError, ValueError][n % 2]\n";
    assert_eq!(refused_by(in_turn), rules::NONDETERMINISTIC);
    let own = "class Odd(Exception):\n    pass\ndef f(x):\n    if x % 2:\n        raise Odd(x)\n    return x\n";
    assert_eq!(refused_by(own), rules::OWN_EXCEPTION);
    assert_eq!(refused_by("def f(x):\n    raise ValueError(x)\n"), rules::CONSTANT);
}

#[test]
fn a_program_that_does_not_raise_in_a_call_is_refused() {
    let programs = [
        ("def f(x):\n    return x + 1\n", rules::NO_EXCEPTION),
        ("def f(x):\n    return ValueError(x)\n", rules::NO_EXCEPTION),
        ("def f(x):\n    print('Traceback')\n    print('ValueError: no')\n", rules::NO_EXCEPTION),
        ("raise ValueError\n", rules::RAISES),
        ("def f(x:\n", rules::COMPILES),
        ("def g(x):\n    raise ValueError\n", rules::ENTRY),
        ("def f(x):\n    while True:\n        pass\n", rules::LIMITS),
        ("import os\ndef f(x):\n    os._exit(1)\n", rules::TRAPPED),
    ];
    for (program, rule) in programs {
        assert_eq!(refused_by(program), rule, "{program}");
    }
}
