//! The `think` format.

use veriplay_core::{Attempt, Proposal, TaskType};
use veriplay_verifier::formats::think::Think;
use veriplay_verifier::{Format, ProposalShape};

use crate::table::{arguments, read};

const TRIPLET: ProposalShape<'_> = ProposalShape { task_type: TaskType::Deduction, given: None, inputs: 0 };
const INPUTS: ProposalShape<'_> = ProposalShape { task_type: TaskType::Induction, given: Some("p"), inputs: 2 };

fn answered(blocks: &str) -> String {
    format!("some thought</think>\n<answer>\n{blocks}</answer>")
}

fn block(kind: &str, content: &str) -> String {
    format!("```{kind}\n{content}\n```\n")
}

fn is_malformed(attempt: &Attempt) -> bool {
    matches!(attempt, Attempt::Malformed { .. })
}

#[test]
fn the_last_block_of_the_wanted_kind_counts() {
    let text =
        answered(&(block("output", "1") + &block("input", "7") + &block("output", "[2,\n 3]") + &block("python", "9")));
    assert_eq!(Think.extract_answer(TaskType::Deduction, &text), Attempt::Value(read("[2, 3]")));
    assert_eq!(Think.extract_answer(TaskType::Abduction, &text), Attempt::Arguments(arguments("7")));
    assert_eq!(Think.extract_answer(TaskType::Induction, &text), Attempt::Program("9".to_owned()));
    assert!(is_malformed(&Think.extract_answer(TaskType::Error, &text)));
    let text = answered(&block("output", "KeyError"));
    assert_eq!(Think.extract_answer(TaskType::Error, &text), Attempt::Exception("KeyError".to_owned()));
}

#[test]
fn a_program_keeps_its_indentation_and_a_bare_tuple_is_a_tuple() {
    let program = "def f(x):\n    return '''\n  ``` no fence of its own'''";
    let text = answered(&block("python", program));
    assert_eq!(Think.extract_answer(TaskType::Induction, &text), Attempt::Program(program.to_owned()));
    let text = answered(&block("output", "1, 2"));
    assert_eq!(Think.extract_answer(TaskType::Deduction, &text), Attempt::Value(read("(1, 2)")));
}

#[test]
fn the_last_answer_counts_and_nothing_outside_it() {
    let text = answered(&block("output", "1")) + "<answer>\n" + &block("output", "2") + "</answer>";
    assert_eq!(Think.extract_answer(TaskType::Deduction, &text), Attempt::Value(read("2")));
    let corpus = [
        block("output", "1"),
        format!("</think>{}<answer></answer>", block("output", "1")),
        answered("The output is 1"),
        answered("# Output: 1"),
        answered("```output 1 ```"),
        answered("output(1)"),
        answered(&block("output", "")),
        answered(&block("output", "1+1")),
        answered(&block("output", "f(1)")),
        answered(&block("input", "1")),
        String::new(),
    ];
    for text in corpus {
        assert!(is_malformed(&Think.extract_answer(TaskType::Deduction, &text)), "{text}");
    }
    let cut = format!("</think><answer>{}", block("output", "1"));
    assert_eq!(
        Think.extract_answer(TaskType::Deduction, &cut),
        Attempt::Value(read("1")),
        "the closing tag may end the sampling"
    );
    for text in [
        answered("```output\n1\n"),
        answered("```output\n1\n```") + "<|im_end|>",
        answered(&block("output", "1")).replace('\n', "\r\n"),
    ] {
        assert_eq!(Think.extract_answer(TaskType::Deduction, &text), Attempt::Value(read("1")), "{text}");
    }
    for label in ["py", "python3", "Python", "{.python}"] {
        let text = answered(&block(label, "x"));
        assert_eq!(Think.extract_answer(TaskType::Induction, &text), Attempt::Program("x".to_owned()), "{label}");
    }
    let text = answered(&block("input", "x) or (True"));
    assert!(is_malformed(&Think.extract_answer(TaskType::Abduction, &text)));
}

#[test]
fn proposals_are_blocks_too() {
    let text = answered(&(block("python", "p") + &block("input", "1, 'a'")));
    let wanted =
        Proposal::Triplet { task_type: TaskType::Deduction, program: "p".to_owned(), input: arguments("1, 'a'") };
    assert_eq!(Think.extract_proposal(&TRIPLET, &text), Attempt::Proposal(wanted));
    assert!(is_malformed(&Think.extract_proposal(&TRIPLET, &answered(&block("python", "p")))));
    assert!(is_malformed(&Think.extract_proposal(&TRIPLET, &answered(&block("input", "1")))));
}

#[test]
fn an_induction_proposal_is_its_last_inputs_and_a_message() {
    let inputs = |texts: &[&str]| texts.iter().map(|text| block("input", text)).collect::<String>();
    let text = answered(&(inputs(&["0", "1", "2"]) + &block("message", "think of sums")));
    let wanted = Proposal::Inputs {
        program: "p".to_owned(),
        inputs: vec![arguments("1"), arguments("2")],
        message: "think of sums".to_owned(),
    };
    assert_eq!(Think.extract_proposal(&INPUTS, &text), Attempt::Proposal(wanted));
    assert!(is_malformed(&Think.extract_proposal(&INPUTS, &answered(&inputs(&["1", "2"])))));
    assert!(is_malformed(&Think.extract_proposal(&INPUTS, &answered(&(inputs(&["1"]) + &block("message", "m"))))));
}

#[test]
fn the_frame_is_one_thought_and_one_answer() {
    let good = [
        "a</think> <answer>b</answer>",
        "<think>a</think><answer>b</answer>",
        "</think>\n\n<answer></answer>\n",
        "a</think><answer>b",
        "a</think><answer>b</answer> User: next",
    ];
    let bad = [
        "",
        "a",
        "a</think>",
        "<answer>b</answer>",
        "a</think> b <answer>c</answer>",
        "a</think><answer>b</answer><answer>c</answer>",
        "a<answer>b</answer></think><answer>c</answer>",
        "a</think></think><answer>c</answer>",
    ];
    assert!(good.iter().all(|text| Think.is_well_formed(text)));
    for text in bad {
        assert!(!Think.is_well_formed(text), "{text}");
    }
}
