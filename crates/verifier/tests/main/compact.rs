//! The compact format, and the table of formats.

use proptest::prelude::*;
use veriplay_core::{Attempt, Proposal, TaskType, Value};
use veriplay_verifier::formats::compact::{CONTROL, Compact, END, ERROR_CONTROL};
use veriplay_verifier::{FORMATS, Format, ProposalShape, format_by_name};

use crate::table::{arguments, read};

const TRIPLET: ProposalShape<'_> = ProposalShape { task_type: TaskType::Abduction, given: None, inputs: 0 };
const INPUTS: ProposalShape<'_> = ProposalShape { task_type: TaskType::Induction, given: Some("p"), inputs: 2 };

fn is_malformed(attempt: &Attempt) -> bool {
    matches!(attempt, Attempt::Malformed { reason } if !reason.is_empty())
}

#[test]
fn formats_are_found_by_name_and_each_file_is_registered() {
    for format in FORMATS {
        assert_eq!(format_by_name(format.name()).unwrap().name(), format.name());
    }
    assert!(format_by_name("none such").is_none());
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/formats");
    let mut files: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    let names: Vec<String> = FORMATS.iter().map(|format| format!("{}.rs", format.name())).collect();
    assert_eq!(files, names);
}

#[test]
fn answers_are_read_by_task_type() {
    let answer = |task_type, text| Compact.extract_answer(task_type, text);
    assert_eq!(answer(TaskType::Deduction, "[1, 'a']"), Attempt::Value(read("[1, 'a']")));
    assert_eq!(answer(TaskType::Deduction, "inf"), Attempt::Value(read("inf")));
    assert_eq!(answer(TaskType::Abduction, "[1], 'a'"), Attempt::Arguments(arguments("[1], 'a'")));
    let program = "def f(x):\n    return x";
    assert_eq!(answer(TaskType::Induction, program), Attempt::Program(program.to_owned()));
    assert_eq!(answer(TaskType::Error, " KeyError"), Attempt::Exception("KeyError".to_owned()));
}

#[test]
fn an_answer_that_is_more_than_an_answer_is_malformed() {
    let corpus = [
        (TaskType::Deduction, "1+1"),
        (TaskType::Deduction, "f(1)"),
        (TaskType::Deduction, "1, 2"),
        (TaskType::Deduction, "1<O>2"),
        (TaskType::Deduction, ""),
        (TaskType::Abduction, "x) or (True"),
        (TaskType::Abduction, "x=1"),
        (TaskType::Abduction, "1<I>2"),
        (TaskType::Abduction, " "),
        (TaskType::Induction, ""),
        (TaskType::Induction, "def f(x):\n    return x<P>"),
        (TaskType::Induction, "def f(x):\n    return x<|end|>"),
        (TaskType::Error, ""),
        (TaskType::Error, "KeyError: 1"),
        (TaskType::Error, "'KeyError'"),
        (TaskType::Error, "3"),
        (TaskType::Error, "KeyError<O>"),
    ];
    for (task_type, text) in corpus {
        assert!(is_malformed(&Compact.extract_answer(task_type, text)), "{task_type:?} `{text}`");
    }
}

#[test]
fn a_triplet_is_a_program_and_one_input() {
    let wanted =
        Proposal::Triplet { task_type: TaskType::Abduction, program: "p q".to_owned(), input: arguments("1, [2]") };
    assert_eq!(Compact.extract_proposal(&TRIPLET, "p q<I>1, [2]"), Attempt::Proposal(wanted));
    for text in ["p", "<I>1", "p<I>", "p<I>1<I>2", "p<O>1", "p<I>x", "p<I>1<O>2", "<R>p<I>1", " <I>1", "p<I>f(1)"] {
        assert!(is_malformed(&Compact.extract_proposal(&TRIPLET, text)), "`{text}`");
    }
    let of_type = |task_type| Compact.extract_proposal(&ProposalShape { task_type, ..TRIPLET }, "p '<E>'<I>1");
    assert!(is_malformed(&of_type(TaskType::Error)) && !is_malformed(&of_type(TaskType::Deduction)));
}

#[test]
fn an_induction_proposal_is_the_wanted_number_of_inputs() {
    let inputs = vec![arguments("1"), arguments("2, 'b'")];
    let wanted = Proposal::Inputs { program: "p".to_owned(), inputs, message: String::new() };
    assert_eq!(Compact.extract_proposal(&INPUTS, "<I>1<I>2, 'b'"), Attempt::Proposal(wanted));
    for text in ["", "<I>1", "<I>1<I>2<I>3", "1<I>2", "<I><I>2", "<I>1<I>x", "<I>1<I>2<O>3", "a<I>1<I>2"] {
        assert!(is_malformed(&Compact.extract_proposal(&INPUTS, text)), "`{text}`");
    }
    let no_program = ProposalShape { given: None, ..INPUTS };
    assert!(is_malformed(&Compact.extract_proposal(&no_program, "<I>1<I>2")));
}

#[test]
fn no_control_token_holds_another_and_all_are_ascii() {
    let all: Vec<&str> = CONTROL.iter().copied().chain(ERROR_CONTROL).chain([END]).collect();
    for (index, token) in all.iter().enumerate() {
        assert!(token.is_ascii() && token.starts_with('<') && token.ends_with('>'));
        assert!(all.iter().enumerate().all(|(other, text)| other == index || !text.contains(token)), "{token}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_is_read_or_malformed_in_every_format(text in "(<[a-zA-Z|/]{1,6}>|```[a-z]{0,6}\n|[\\[\\]0-9',f(): \n]){0,16}") {
        for format in FORMATS {
            for shape in [TRIPLET, INPUTS] {
                let attempt = format.extract_proposal(&shape, &text);
                prop_assert!(matches!(attempt, Attempt::Proposal(_)) || is_malformed(&attempt));
                let attempt = format.extract_answer(shape.task_type, &text);
                prop_assert!(matches!(attempt, Attempt::Arguments(_) | Attempt::Program(_)) || is_malformed(&attempt));
            }
            format.is_well_formed(&text);
        }
    }

    #[test]
    fn what_a_value_is_written_as_is_read_back(int in any::<i64>(), text in "[a-z' ]{0,6}") {
        let value = Value::Tuple(vec![Value::int(int), Value::str(text)]);
        prop_assert_eq!(Compact.extract_answer(TaskType::Deduction, &value.to_string()), Attempt::Value(value));
    }
}
