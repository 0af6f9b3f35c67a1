//! Texts of test code in rows: lines such as `assert f(1) == 2`, or modules of tests as pytest collects them. Called by the readers of sets that have them.

use veriplay_core::{TestCode, TestStyle, Trust};

/// Whether a text is Python that tests: it asserts at its outermost level, or defines tests, or imports what it tests.
pub(super) fn is_test_code(text: &str) -> bool {
    const STARTS: [&str; 4] = ["assert ", "assert(", "from solution import ", "import solution"];
    is_test_module(text) || text.lines().any(|line| STARTS.iter().any(|start| line.starts_with(start)))
}

/// Whether a text defines tests that somebody else must call.
pub(super) fn is_test_module(text: &str) -> bool {
    const STARTS: [&str; 3] = ["def test", "async def test", "class Test"];
    text.lines().any(|line| {
        // pytest collects the classes of unittest under any name.
        let is_of_unittest = line.starts_with("class ") && line.contains("TestCase)");
        is_of_unittest || STARTS.iter().any(|start| line.starts_with(start))
    })
}

/// The tests in `texts`. One that defines tests would pass by their definition alone, so these are collected as pytest does it.
pub(super) fn test_code(texts: &[String]) -> TestCode {
    let style = match texts.iter().any(|text| is_test_module(text)) {
        true => TestStyle::Functions(texts.join("\n")),
        false => TestStyle::Asserts(texts.to_vec()),
    };
    TestCode::new(Trust::default(), style)
}
