//! The formats of responses.

use proptest::prelude::*;
use veriplay_core::{Attempt, Proposal, TaskType, Value};
use veriplay_verifier::formats::compact::{CONTROL, Compact, END, ERROR_CONTROL};
use veriplay_verifier::{FORMATS, Format, ProposalShape, format_by_name};

use crate::cases::{rows, text};
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
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/formats")).unwrap();
    let mut files: Vec<String> = folder.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    let names: Vec<String> = FORMATS.iter().map(|format| format!("{}.rs", format.name())).collect();
    assert_eq!(files, names);
}

/// The shape of a proposal that the cases ask for.
fn shape(asked: &str) -> ProposalShape<'static> {
    match asked {
        "induction" => INPUTS,
        "induction of nothing" => ProposalShape { given: None, ..INPUTS },
        other => ProposalShape { task_type: task_type(other), ..TRIPLET },
    }
}

fn task_type(name: &str) -> TaskType {
    TaskType::ALL.into_iter().find(|task_type| task_type.name() == name).unwrap()
}

fn answer(task_type: TaskType, wanted: &str) -> Attempt {
    match task_type {
        TaskType::Deduction => Attempt::Value(read(wanted)),
        TaskType::Abduction => Attempt::Arguments(arguments(wanted)),
        TaskType::Induction => Attempt::Program(wanted.to_owned()),
        TaskType::Error => Attempt::Exception(wanted.to_owned()),
    }
}

/// A program and its input, or a message and the inputs of `p`.
fn proposal(task_type: TaskType, parts: &[String]) -> Attempt {
    Attempt::Proposal(match (task_type, parts) {
        (TaskType::Induction, [message, inputs @ ..]) => {
            let inputs = inputs.iter().map(|input| arguments(input)).collect();
            Proposal::Inputs { program: "p".to_owned(), inputs, message: message.clone() }
        }
        (task_type, [program, input]) => {
            Proposal::Triplet { task_type, program: program.clone(), input: arguments(input) }
        }
        (_, parts) => panic!("{parts:?} are no program and its input"),
    })
}

#[test]
fn a_format_takes_what_its_layout_says_and_nothing_like_it() {
    for row in rows(include_str!("cases/formats.txt")) {
        let [Value::Str(format), Value::Str(asked), Value::Str(response), wanted] = row.as_slice() else {
            panic!("{row:?}")
        };
        let format = format_by_name(format).unwrap();
        if let Value::Bool(is_well_formed) = wanted {
            assert_eq!(format.is_well_formed(response), *is_well_formed, "{row:?}");
            continue;
        }
        let attempt = match asked.strip_prefix("propose ") {
            Some(asked) => format.extract_proposal(&shape(asked), response),
            None => format.extract_answer(task_type(asked), response),
        };
        match (wanted, asked.strip_prefix("propose ")) {
            (Value::List(parts), Some(asked)) => {
                let parts: Vec<String> = parts.iter().cloned().map(text).collect();
                assert_eq!(attempt, proposal(shape(asked).task_type, &parts), "{row:?}");
            }
            (Value::Str(wanted), None) => assert_eq!(attempt, answer(task_type(asked), wanted), "{row:?}"),
            _ => assert!(*wanted == Value::None && is_malformed(&attempt), "{row:?} gave {attempt:?}"),
        }
    }
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
