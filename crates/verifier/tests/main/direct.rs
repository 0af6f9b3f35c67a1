//! The `direct` format.

use veriplay_core::{Attempt, Proposal, TaskType};
use veriplay_verifier::formats::direct::Direct;
use veriplay_verifier::{Format, ProposalShape};

use crate::table::{arguments, read};

const TRIPLET: ProposalShape<'_> = ProposalShape { task_type: TaskType::Abduction, given: None, inputs: 0 };
const INPUTS: ProposalShape<'_> = ProposalShape { task_type: TaskType::Induction, given: Some("p"), inputs: 2 };

fn is_malformed(attempt: &Attempt) -> bool {
    matches!(attempt, Attempt::Malformed { .. })
}

#[test]
fn an_answer_is_one_line_with_a_literal_or_arguments() {
    for (text, want) in [("3", "3"), (" 'a\\nb'\n", "'a\\nb'"), ("1, 2", "(1, 2)"), ("nan", "nan")] {
        assert_eq!(Direct.extract_answer(TaskType::Deduction, text), Attempt::Value(read(want)), "{text}");
    }
    assert_eq!(Direct.extract_answer(TaskType::Abduction, " 1, [2]"), Attempt::Arguments(arguments("1, [2]")));
    assert_eq!(Direct.extract_answer(TaskType::Error, "KeyError"), Attempt::Exception("KeyError".to_owned()));
    assert!(is_malformed(&Direct.extract_answer(TaskType::Error, "KeyError\nValueError")));
    for text in ["", "The value is 3", "3\n4", "f(2)", "1 + 1", "```python\n3\n```"] {
        assert!(is_malformed(&Direct.extract_answer(TaskType::Deduction, text)), "{text}");
        assert!(is_malformed(&Direct.extract_answer(TaskType::Abduction, text)), "{text}");
    }
}

#[test]
fn a_program_is_the_first_block_closed_by_its_fence_or_by_the_end() {
    let program = Attempt::Program("def f(x):\n    return x".to_owned());
    for end in ["", "\n", "\n```", "\n```\nThis returns x.\n```python\n1\n```"] {
        let text = format!("```python\ndef f(x):\n    return x{end}");
        let read = Direct.extract_answer(TaskType::Induction, &text);
        assert!(read == program || end == "\n", "{text}");
    }
    for text in ["def f(x): return x", "Here it is:\n```python\n1\n```", "```\n1\n```", "```python\n```"] {
        assert!(is_malformed(&Direct.extract_answer(TaskType::Induction, text)), "{text}");
    }
}

#[test]
fn a_triplet_is_a_block_that_ends_with_a_call() {
    let text = "```python\ndef f(x, y):\n    return x\n\nf(1, 'a)')\n```";
    let (program, input) = ("def f(x, y):\n    return x".to_owned(), arguments("1, 'a)'"));
    let want = Proposal::Triplet { task_type: TaskType::Abduction, program, input };
    assert_eq!(Direct.extract_proposal(&TRIPLET, text), Attempt::Proposal(want));
    for call in ["print(f(1))", "f(1)  # 2", "x = f(1)", "f(x)", "f()", "f(1) + f(2)"] {
        let text = format!("```python\ndef f(x):\n    return x\n\n{call}\n```");
        assert!(is_malformed(&Direct.extract_proposal(&TRIPLET, &text)), "{call}");
    }
    assert!(is_malformed(&Direct.extract_proposal(&TRIPLET, "```python\nf(1)\n```")));
}

#[test]
fn inputs_are_the_first_calls_and_a_comment_before_them_is_the_message() {
    let want = |message: &str| {
        let inputs = vec![arguments("1"), arguments("2, 3")];
        Attempt::Proposal(Proposal::Inputs { program: "p".to_owned(), inputs, message: message.to_owned() })
    };
    assert_eq!(Direct.extract_proposal(&INPUTS, "# adds\nf(1)\nf(2, 3)\nf(4)"), want("adds"));
    assert_eq!(Direct.extract_proposal(&INPUTS, "f(1)\n\nf(2, 3)\nand so on"), want(""));
    for text in ["", "# adds", "f(1)", "f(1)\n# more\nf(2, 3)", "Calls:\nf(1)\nf(2)", "f(1)\nf(y)"] {
        assert!(is_malformed(&Direct.extract_proposal(&INPUTS, text)), "{text}");
    }
}
