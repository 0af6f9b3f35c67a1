//! The image's pytest beside pytest 9.2, whose result of each case stands in `pytest_cases.py`.

use veriplay_core::{Limits, Status, TestCode, TestStyle, Trust, Verdict};

use super::{LONG, judge_by_tests};

const CASES: &str = include_str!("pytest_cases.py");
/// What split trust may refuse: an exception group does not cross, and numpy changes the filters of warnings as it is imported.
const MAY_NOT_CROSS: &[&str] = &["raises_group", "raises_generic_group", "approx_array", "approx_array_far"];

fn judged(trust: Trust, source: &str, program: &str) -> Verdict {
    let style = TestStyle::Functions(format!("import pytest\nfrom solution import *\n{source}"));
    judge_by_tests(TestCode::new(trust, style), program, Limits { fuel: 20_000_000_000, ..LONG })
}

/// Whether a verdict matches the case. Where no test is run, none has passed.
fn agrees(verdict: &Verdict, expected: &str) -> bool {
    match expected {
        "failed" => matches!(verdict.status, Status::WrongAnswer | Status::RuntimeError),
        "skipped" => verdict.status == Status::WrongAnswer,
        "unjudgeable" => verdict.status == Status::Unjudgeable,
        passed => {
            let count = passed.strip_prefix("passed ").and_then(|count| count.parse().ok());
            verdict.status == Status::Accepted
                && count.is_some_and(|count| (count, count) == (verdict.passed, verdict.total))
        }
    }
}

#[test]
fn test_code_is_judged_as_pytest_judges_it() {
    let mut sections = CASES.split("# == ").skip(1).map(|section| section.split_once('\n').unwrap());
    let (_, program) = sections.next().unwrap();
    let cases: Vec<(&str, &str, &str)> = sections
        .map(|(header, source)| {
            let (name, expected) = header.split_once(": ").unwrap();
            (name, expected, source)
        })
        .collect();
    assert!(cases.len() > 180, "{}", cases.len());
    let mut wrong = Vec::new();
    for (name, expected, source) in cases {
        for trust in [Trust::Shared, Trust::Split] {
            let verdict = judged(trust, source, program);
            let may_not_cross = trust == Trust::Split && MAY_NOT_CROSS.contains(&name);
            let refused = may_not_cross && verdict.status == Status::Unjudgeable;
            if !(refused || agrees(&verdict, expected)) {
                wrong.push(format!(
                    "{name} ({trust:?}) is not `{expected}`: {:?} {:?}",
                    verdict.status, verdict.evidence
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Under shared trust the program's own imports end the same way.
#[test]
fn a_package_that_the_tests_ask_for_and_the_image_lacks_is_not_the_programs_fault() {
    for source in ["import hypothesis\ndef test(): assert f()", "def test():\n    import hypothesis\n    assert f()"] {
        let verdict = judged(Trust::Split, source, "def f(): return True");
        assert_eq!(verdict.status, Status::Unjudgeable, "{:?}", verdict.evidence);
        assert!(verdict.evidence.detail.contains("hypothesis"), "{:?}", verdict.evidence);
    }
    let verdict = judged(Trust::Split, "def test(): assert f()", "def f():\n    import hypothesis");
    assert_eq!(verdict.status, Status::RuntimeError, "{:?}", verdict.evidence);
}

/// A case that is skipped by a mark stands beside one that the program made skip: the source does not show that nobody runs it.
#[test]
fn a_mark_that_the_program_may_have_made_does_not_leave_a_case_out() {
    let skipped = "@pytest.mark.parametrize('x', [pytest.param(1, marks=pytest.mark.skip), 2])";
    let made = [
        "@pytest.mark.parametrize('x', [pytest.param(1, marks=[] if f() else pytest.mark.skip), 2])".to_owned(),
        "@pytest.mark.parametrize('x', [pytest.param(1, marks=pytest.mark.skip), *f()])".to_owned(),
        "@pytest.mark.parametrize('x', [pytest.param(1, marks=pytest.mark.skip), pytest.param(2, **f())])".to_owned(),
        format!("@pytest.mark.parametrize('y', [1, 2][:f()])\n{skipped}"),
        format!("@pytest.mark.parametrize('y', **{{'argvalues': [1, 2][:f()]}})\n{skipped}"),
        format!("@(pytest.mark.parametrize('y', [1]) if f() else pytest.mark.skip)\n{skipped}"),
    ];
    for decorators in made {
        let arguments = if decorators.contains("'y'") { "x, y=1" } else { "x" };
        let source = format!("{decorators}\ndef test({arguments}): assert f()\ndef test_always(): assert callable(f)");
        for trust in [Trust::Shared, Trust::Split] {
            let verdict = judged(trust, &source, "def f(): return 0");
            assert_ne!(verdict.status, Status::Accepted, "{source} ({trust:?}): {:?}", verdict.evidence);
        }
    }
}

/// As above, of marks that look like those which leave a test out: the program has a part in each.
#[test]
fn a_skip_that_the_program_may_have_made_does_not_leave_a_test_out() {
    let skipped = [
        // A test that is marked when it is there already.
        "def test(): assert f()\nif not f(): test = pytest.mark.skip(test)",
        "def test(): assert f()\nmarked = pytest.mark.skipif(not f(), reason='')(test)",
        "def test(): assert f()\ntest.pytestmark = [] if f() else [pytest.mark.skip]",
        "mark = pytest\ndef test(): assert f()\nmark.mark.skipif(not f(), reason='')(test)",
        "import unittest\nclass T(unittest.TestCase):\n    def test(self): assert f()\nT.test.__unittest_skip__ = not f()",
        // A value that is changed, or is another's by then.
        "CASES = [1]\nif not f(): CASES[:] = []\n@pytest.mark.parametrize('x', CASES)\ndef test(x): assert f()",
        "CASES = [1]\nSAME = CASES\nif not f(): SAME.clear()\n@pytest.mark.parametrize('x', CASES)\ndef test(x): assert f()",
        "GONE = False\nif not f(): GONE = True\n@pytest.mark.skipif(GONE, reason='')\ndef test(): assert f()",
        "globals()['GONE'] = not f()\nif 0: GONE = 1\n@pytest.mark.skipif(GONE, reason='')\ndef test(): assert f()",
        "@pytest.mark.skipif(GONE, reason='')\ndef test(): assert f()\nGONE = True",
        "@pytest.mark.skipif(int(1), reason='')\ndef test(): assert f()",
        // What is only called so.
        "def skip(found): return found if f() else pytest.mark.skip(found)\n@skip\ndef test(): assert f()",
        "import sys\n@pytest.mark.skipif(not sys.modules['solution'].f(), reason='')\ndef test(): assert f()",
        "import importlib\n@pytest.mark.skipif(not importlib.import_module('solution').f(), reason='')\ndef test(): assert f()",
        "class TestA:\n    pytestmark = [] if f() else pytest.mark.skip\n    def test(self): assert f()",
        "class TestA:\n    if not f(): pytestmark = pytest.mark.skip\n    def test(self): assert f()",
        "pytestmark = [] if f() else pytest.mark.skip\nclass TestA:\n    def test(self): assert f()",
        "@pytest.mark.skipif(not f(), reason='')\nclass TestBase:\n    def test(self): assert f()\nclass TestA(TestBase): pass",
        "if not f():\n    @pytest.mark.skip\n    def test(): assert f()\nelse:\n    def test(): assert f()",
        // Names that the source does not show.
        "@pytest.mark.parametrize('row', [rows for rows in rows])\ndef test(row): assert f()",
        "@pytest.mark.skipif(not [GONE for GONE in [GONE]][0], reason='')\ndef test(): assert f()\nGONE = 1",
        "import unittest\nclass T(unittest.TestCase):\n    __unittest_skip__ = not f()\n    def test(self): assert f()",
        "import unittest\n@unittest.skip('')\nclass Base(unittest.TestCase):\n    def test(self): assert f()\n\
         class T(Base):\n    __unittest_skip__ = not f()",
        "import unittest\nclass Plain(unittest.TestCase): pass\n@unittest.skip('')\nclass Skipped(unittest.TestCase): pass\n\
         Base = Plain if f() else Skipped\nclass T(Base):\n    def test(self): assert f()",
        "class Plain: pass\n@pytest.mark.skip\nclass Skipped: pass\nclass TestA(Plain if f() else Skipped):\n    def test(self): assert f()",
        "@pytest.mark.skip\ndef later(): pass\ndef real(): assert f()\ntest = real if f() else later",
        "def later(): pytest.skip('')\ndef real(): assert f()\ntest = real if f() else later",
        "import functools\ndef needs(found):\n    @pytest.mark.skipif(not f(), reason='')\n    @functools.wraps(found)\n    \
         def run(): found()\n    return run\ndef test(): assert f()\ntest = needs(test)",
        "import functools\ndef needs(found):\n    @pytest.mark.skip\n    @functools.wraps(found)\n    def run(): found()\n    \
         return found if f() else run\n@needs\ndef test(): assert f()",
        "def order(rows):\n    if not f(): rows.clear()\n    return [1]\nROWS = [1]\n@pytest.mark.parametrize('x', order(ROWS))\n\
         def test_a(x): pass\n@pytest.mark.parametrize('x', ROWS)\ndef test(x): assert f()",
        "ROWS = [1]\n@pytest.mark.skipif(bool(f() or ROWS.clear()), reason='')\ndef test_a(): pass\n\
         @pytest.mark.parametrize('x', ROWS)\ndef test(x): assert f()",
        "from pytest import *\ndef test(): assert f()\nif not f(): mark.skip(test)",
        "import importlib\ndef test(): assert f()\nif not f(): importlib.import_module('pytest').mark.skip(test)",
        "def test(): assert f()\nif not f(): exec('pytest.mark.skip(test)')",
        "class TestA:\n    def test(self): assert f()\nif not f(): setattr(TestA, 'pytestmark', pytest.mark.skip)",
        "import unittest\nclass Meta(type):\n    __unittest_skip__ = not f()\n\
         class T(unittest.TestCase, metaclass=Meta):\n    def test(self): assert f()",
        // Skips that the program takes away, or makes by what marks and modules keep.
        "@pytest.mark.skip\ndef test(): assert f()\nif f(): test.pytestmark = []",
        "import unittest\n@unittest.skip('')\nclass T(unittest.TestCase):\n    def test(self): assert f()\nif f(): T.__unittest_skip__ = False",
        "def on(found):\n    if f(): found.pytestmark = []\n    return found\n@on\n@pytest.mark.skip\ndef test(): assert f()",
        "import unittest\nclass Base(unittest.TestCase):\n    def skipTest(self, why):\n        if not f(): super().skipTest(why)\n\
         class T(Base):\n    def test(self):\n        self.skipTest('')\n        assert f()",
        "needs = pytest.mark.skipif(condition=False, reason='')\nneeds.kwargs['condition'] = not f()\n@needs\ndef test(): assert f()",
        "over = pytest.mark.parametrize('n', [])\nover.args[1].extend(rows)\n@over\ndef test(n): assert f()",
        "import math\nmath.works = f()\n@pytest.mark.skipif(not math.works, reason='')\ndef test(): assert f()",
        "import sys\nON = True\nsys.modules[__name__].ON = f()\n@pytest.mark.skipif(not ON, reason='')\ndef test(): assert f()",
        "import sys\n@pytest.mark.skipif(sys.platform != 'linux', reason='')\ndef test(): assert f()",
        // A test that skips itself, behind something that the program has a part in.
        "def test():\n    if not f(): pytest.skip()\n    assert f()",
        "def test():\n    f()\n    pytest.skip()",
        "@pytest.fixture\ndef one():\n    if not f(): pytest.skip()\ndef test(one): assert f()",
        "import unittest\nclass T(unittest.TestCase):\n    def setUp(self):\n        if not f(): self.skipTest('')\n    def test(self): assert f()",
    ];
    let mut wrong = Vec::new();
    for source in skipped {
        let source = format!("{source}\ndef test_always(): assert callable(f)\n");
        for trust in [Trust::Shared, Trust::Split] {
            let verdict = judged(trust, &source, "GONE = True\nrows = []\ndef int(x): return True\ndef f(): return 0");
            if verdict.status == Status::Accepted {
                wrong.push(format!("{source} ({trust:?}): {:?}", verdict.evidence));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn tests_that_take_the_program_away_or_import_it_lazily_are_no_fault_of_the_program() {
    let source = "import sys\nsys.modules.pop('solution')\nimport solution\ndef test(): assert solution.f()";
    let verdict = judged(Trust::Split, source, "def f(): return 1");
    assert_eq!(verdict.status, Status::Unjudgeable, "{:?}", verdict.evidence);
    let lazy = "lazy from solution import f\nlazy import json\ndef test(): assert f() and json.dumps(1) == '1'";
    let verdict = judged(Trust::Split, lazy, "def f(): return 1");
    assert_eq!(verdict.status, Status::Accepted, "{:?}", verdict.evidence);
}

#[test]
fn tests_that_do_not_compile_are_no_fault_of_the_program() {
    for trust in [Trust::Split, Trust::Shared] {
        let verdict = judged(trust, "def test(: assert f()", "def f(): return 1");
        assert_eq!(verdict.status, Status::Unjudgeable, "{:?}", verdict.evidence);
        assert!(verdict.evidence.detail.contains("the tests do not compile: SyntaxError"), "{:?}", verdict.evidence);
        let style = TestStyle::Check { function: "f".to_owned(), source: "def chek(f): assert f()".to_owned() };
        let verdict = judge_by_tests(TestCode::new(trust, style), "def f(): return 1", LONG);
        assert_eq!(verdict.status, Status::Unjudgeable, "{:?}", verdict.evidence);
    }
}

/// What a library does as it is loaded is no doing of the tests'.
#[test]
fn tests_may_use_parts_of_numpy() {
    for source in [
        "from numpy.testing import assert_allclose\ndef test(): assert_allclose(f([1.0]), [1.0])",
        "import numpy as np\ndef test(): assert abs(np.linalg.norm(f([3, 4])) - 5) < 1e-9",
        "import numpy as np\ndef test():\n    np.random.seed(0)\n    xs = np.random.randint(0, 9, 5).tolist()\n    assert f(xs) == xs",
    ] {
        let verdict = judged(Trust::Split, source, "def f(x): return x");
        assert_eq!(verdict.status, Status::Accepted, "{source}: {:?}", verdict.evidence);
    }
    // A seed is the tests' own: what the program draws by it, nobody can say.
    let source = "import numpy as np\ndef test():\n    np.random.seed(0)\n    assert f() == np.random.rand()";
    let verdict = judged(Trust::Split, source, "import numpy as np\ndef f(): return np.random.rand()");
    assert_eq!(verdict.status, Status::Unjudgeable, "{:?}", verdict.evidence);
}

/// A tree is as deep as an expression is long. What is too deep for the compiler is no fault of the program's.
#[test]
fn long_expressions_are_judged_or_unjudgeable() {
    let sum = |terms: usize| {
        format!("def test(): assert {} == {terms}", (0..terms).map(|_| "f()").collect::<Vec<_>>().join(" + "))
    };
    for trust in [Trust::Shared, Trust::Split] {
        let verdict = judged(trust, &sum(1200), "def f(): return 1");
        assert_eq!(verdict.status, Status::Accepted, "{trust:?} {:?}", verdict.evidence);
        let verdict = judged(trust, &sum(60_000), "def f(): return 1");
        assert_eq!(verdict.status, Status::Unjudgeable, "{trust:?} {:?}", verdict.evidence);
    }
}

/// What the program has no part in, or could move, says nothing of it.
#[test]
fn tests_of_no_name_of_the_programs_and_of_what_it_moves_are_unjudgeable() {
    let verdict_of = |source: &str, program: &str| {
        judge_by_tests(TestCode::new(Trust::Split, TestStyle::Functions(source.to_owned())), program, LONG)
    };
    let case = "import unittest\nclass Test(unittest.TestCase):\n    def test(self):\n        ";
    for (source, program) in [
        ("def test(): assert frozendict(a=1)['a'] == 1", "def frozen(): pass"),
        ("def test(): assert repr(sentinel('NONE')) == 'NONE'", "pass"),
        (&format!("{case}self.assertEquals(f(1), 1)"), "def f(x): return x"),
        ("def test():\n    xs = [2, 1]\n    assert f(xs) == sorted(xs)", "def f(xs):\n    xs.clear()\n    return []"),
    ] {
        let verdict = verdict_of(source, program);
        assert_eq!(verdict.status, Status::Unjudgeable, "{source}: {:?}", verdict.evidence);
    }
    let verdict = verdict_of("def test(): assert frozendict(a=1) == 1", "def frozendict(a): return a");
    assert_eq!(verdict.status, Status::Accepted, "{:?}", verdict.evidence);
}
