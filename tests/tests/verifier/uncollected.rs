//! Tests that a runner finds and does not run, or does not find at all, pass any program. Each is here with a wrong program
//! that must be refused and a right one that must be accepted.

use veriplay_core::{Status, TestCode, TestStyle, Trust};

use super::{LONG, judge_by_tests};

const RIGHT: &str = "def f(x):\n    return x + 1";
const WRONG: &str = "def f(x):\n    return x";

fn judged(trust: Trust, style: &TestStyle, program: &str) -> Status {
    judge_by_tests(TestCode::new(trust, style.clone()), program, LONG).status
}

fn functions(source: &str) -> TestStyle {
    TestStyle::Functions(format!("import unittest\nimport pytest\nfrom solution import f\n{source}"))
}

/// Test code that does test, by any means.
fn tells_apart(style: &TestStyle) {
    for trust in [Trust::Split, Trust::Shared] {
        assert_eq!(judged(trust, style, RIGHT), Status::Accepted, "{trust:?} {style:?}");
        assert_eq!(judged(trust, style, WRONG), Status::WrongAnswer, "{trust:?} {style:?}");
    }
}

#[test]
fn a_test_that_returns_what_would_have_to_be_driven_has_not_passed() {
    let sources = [
        "async def test_a():\n    assert f(1) == 2\n",
        "def test_a():\n    yield\n    assert f(1) == 2\n",
        "async def test_a():\n    yield\n    assert f(1) == 2\n",
        "class TestA:\n    async def test_a(self):\n        assert f(1) == 2\n",
    ];
    // unittest lets these pass, and so does pytest.
    let of_unittest = [
        "class A(unittest.TestCase):\n    async def test_a(self):\n        self.assertEqual(f(1), 2)\n",
        "class A(unittest.TestCase):\n    def test_a(self):\n        yield\n        self.assertEqual(f(1), 2)\n",
    ];
    let each = |wanted: Status| move |source: &&'static str| (*source, wanted);
    let of_pytest = sources.iter().map(each(Status::RuntimeError));
    for (source, wanted) in of_pytest.chain(of_unittest.iter().map(each(Status::Unjudgeable))) {
        for program in [WRONG, RIGHT] {
            assert_eq!(judged(Trust::Split, &functions(source), program), wanted, "{source}");
        }
    }
    let check = |source: &str| TestStyle::Check { source: source.to_owned(), function: "f".to_owned() };
    assert_eq!(judged(Trust::Split, &check("async def check(c):\n    assert c(1) == 2"), WRONG), Status::RuntimeError);
    assert_eq!(
        judged(Trust::Split, &check("def check(c):\n    assert c(1) == 2\n    yield"), WRONG),
        Status::RuntimeError
    );
    tells_apart(&check("def check(c):\n    assert c(1) == 2"));
}

#[test]
fn a_test_of_no_cases_has_not_passed() {
    let tests = functions(
        "import solution\n@pytest.mark.parametrize('x', solution.CASES)\ndef test_a(x):\n    assert f(x) == x + 1\n\
         def test_b():\n    pass\n",
    );
    let with = |program: &str, cases: &str| judged(Trust::Split, &tests, &format!("{program}\nCASES = {cases}"));
    assert_eq!(with(RIGHT, "[1, 2]"), Status::Accepted);
    assert_eq!(with(WRONG, "[1, 2]"), Status::WrongAnswer);
    // A list that the program has emptied, or one that nobody has filled: the source does not say.
    assert_eq!(with(WRONG, "[]"), Status::Unjudgeable);
}

#[test]
fn inherited_tests_are_found() {
    tells_apart(&functions(
        "class Base:\n    def test_a(self):\n        assert f(1) == 2\nclass TestA(Base):\n    def test_b(self):\n        pass\n",
    ));
}

#[test]
fn what_is_set_up_for_a_class_is_there_for_its_tests() {
    tells_apart(&functions(
        "class A(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls):\n        cls.n = 2\n    \
         def test_a(self):\n        self.assertEqual(f(1), self.n)\n",
    ));
}

#[test]
fn what_stands_under_the_main_guard_is_not_run() {
    tells_apart(&functions(
        "class A(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(f(1), 2)\n\
         if __name__ == '__main__':\n    unittest.main()\n",
    ));
}

#[test]
fn a_test_is_run_although_the_program_has_its_name_too() {
    let tests = functions("def test_a():\n    assert f(1) == 2\ndef test_b():\n    pass\n");
    for trust in [Trust::Split, Trust::Shared] {
        let named = |program: &str| format!("{program}\ndef test_a():\n    pass\n");
        assert_eq!(judged(trust, &tests, &named(WRONG)), Status::WrongAnswer);
        assert_eq!(judged(trust, &tests, &named(RIGHT)), Status::Accepted);
    }
}

#[test]
fn a_function_of_the_programs_is_no_test_whatever_its_name() {
    let source = "from solution import test_it\ndef test_a():\n    assert test_it(1) == 2\n";
    let program = |body: &str| format!("def test_it(x):\n    return {body}\ndef f(x):\n    return x");
    assert_eq!(judged(Trust::Split, &functions(source), &program("x + 1")), Status::Accepted);
    assert_eq!(judged(Trust::Split, &functions(source), &program("x")), Status::WrongAnswer);
}

#[test]
fn an_exception_crosses_as_the_built_in_type_it_is_one_of() {
    let tests = functions("def test_a():\n    with pytest.raises(ValueError):\n        f(1)\n");
    let raises = |line: &str| format!("{line}\ndef f(x):\n    raise Bad('x')");
    let status = |line: &str| judged(Trust::Split, &tests, &raises(line));
    assert_eq!(status("class Bad(ValueError): pass"), Status::Accepted);
    assert_eq!(status("Bad = ValueError"), Status::Accepted);
    assert_eq!(status("class Bad(Exception): pass"), Status::RuntimeError);
    assert_eq!(status("Bad = type('ValueError', (Exception,), {})"), Status::RuntimeError);
    assert_eq!(status("Bad = type('ValueError', (TypeError,), {})"), Status::RuntimeError);
}

#[test]
fn a_change_in_place_counts_and_one_beside_a_returned_value_decides_nothing() {
    let asserts = |lines: &[&str]| TestStyle::Asserts(lines.iter().map(|line| (*line).to_owned()).collect());
    let computed = asserts(&["xs = [2, 1]\nassert f(xs) == sorted(xs)"]);
    let split = |style: &TestStyle, body: &str| judged(Trust::Split, style, &format!("def f(xs):\n    {body}"));
    assert_eq!(split(&computed, "return sorted(xs)"), Status::Accepted);
    assert_eq!(split(&computed, "xs.sort(); return xs"), Status::Accepted);
    assert_eq!(split(&computed, "xs.clear(); return []"), Status::Unjudgeable);
    let in_place = asserts(&["xs = [2, 1]\nf(xs)\nassert xs == [1, 2]"]);
    assert_eq!(split(&in_place, "xs.sort()"), Status::Accepted);
    assert_eq!(split(&in_place, "sorted(xs)"), Status::WrongAnswer);
    let left_alone = asserts(&["xs = [2, 1]\nassert f(xs) == [1, 2]\nassert xs == [2, 1]"]);
    assert_eq!(split(&left_alone, "return sorted(xs)"), Status::Accepted);
    assert_eq!(split(&left_alone, "xs.sort(); return xs"), Status::WrongAnswer);
}
