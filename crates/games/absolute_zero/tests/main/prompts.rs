//! What prompts hold and what they must never hold; ideal answers are read back by the verifier.

use expect_test::expect_file;
use veriplay_absolute_zero::prompts::{PROMPT_FORMATS, PromptFormat, ProposerRequest, by_name, by_name_in, names};
use veriplay_absolute_zero::proposal_key;
use veriplay_core::{Attempt, IoPair, JAVASCRIPT, Prompt, Proposal, Question, Role, TaskType, Value, program_hash};
use veriplay_python::Python;
use veriplay_verifier::{FORMATS, ProposalShape, format_by_name, format_in};

use crate::support::{adds, proposal, task};

fn request<'a>(task_type: TaskType, references: Vec<&'a Question>, given: Option<&'a str>) -> ProposerRequest<'a> {
    ProposerRequest { task_type, references, given, begun: None, helpers: &[], document: None, inputs: 3 }
}

/// Every text of a format, each behind a line that says what it is.
fn texts(format: &dyn PromptFormat) -> String {
    let (reference, program) = (task(TaskType::Abduction, 1).0.question, adds(5));
    let mut texts = Vec::new();
    for task_type in TaskType::STANDARD {
        let question = task(task_type, 2).0.question;
        texts.push(("solver", task_type, format.solver_prompt(&question, &[]).text().into_owned()));
        texts.push(("answer", task_type, format.answer_text(&question)));
        texts.push(("proposal", task_type, format.proposal_text(&proposal(task_type, 4))));
    }
    for request in [
        request(TaskType::Deduction, Vec::new(), None),
        request(TaskType::Abduction, vec![&reference], None),
        request(TaskType::Induction, Vec::new(), Some(&program)),
    ] {
        texts.push(("proposer", request.task_type, format.proposer_prompt(&request).text().into_owned()));
    }
    let texts = texts.iter();
    texts.map(|(what, kind, text)| format!("== {}, {what}, {}\n{text}\n", format.name(), kind.name())).collect()
}

#[test]
fn prompts_answers_and_proposals_are_those_of_the_file() {
    let texts = ["compact", "think"].map(|name| texts(by_name(name).unwrap()));
    expect_file!["prompts.txt"].assert_eq(&texts.concat());
}

/// A secret is a value that stands nowhere else in the task.
#[test]
fn no_solver_prompt_contains_what_only_the_judge_may_see() {
    let secret = 987_654_321;
    for format in PROMPT_FORMATS {
        for task_type in TaskType::ALL {
            let mut task = task(task_type, 2);
            match &mut task.0.question {
                Question::Deduction { pair, .. } => pair.output = Value::int(secret),
                Question::Abduction { pair, .. } => pair.input = vec![Value::int(secret)],
                Question::Induction { hidden, reference, .. } => {
                    hidden[0].output = Value::int(secret);
                    hidden[1].input = vec![Value::int(secret)];
                    reference.push_str(&format!(" + {secret}"));
                }
                Question::Error { exception, .. } => *exception = format!("Error{secret}"),
            }
            let prompt = format.solver_prompt(&task.question, &[]).text().into_owned();
            assert!(!prompt.contains(&secret.to_string()), "{} {task_type:?}: {prompt}", format.name());
            if task_type != TaskType::Induction {
                assert!(format.answer_text(&task.question).contains(&secret.to_string()), "{}", format.name());
            }
        }
    }
}

fn privileged(format: &str, task_type: TaskType) -> String {
    by_name(format).unwrap().privileged_prompt(&task(task_type, 2).0.question, &[]).text().into_owned()
}

#[test]
fn a_privileged_prompt_is_the_solvers_with_the_right_answer() {
    assert_eq!(privileged("compact", TaskType::Deduction), "<R>3<D>def f(x):\n    return x + 2<I>1<O>");
    assert_eq!(privileged("compact", TaskType::Abduction), "<R>1<A>def f(x):\n    return x + 2<O>3<I>");
    assert_eq!(privileged("compact", TaskType::Induction), "<R>def f(x):\n    return x + 2<F><I>1<O>3<P>");
    assert_eq!(privileged("compact", TaskType::Error), "<R>TypeError<E>def f(x):\n    return x + 2<I>'a'<O>");
    for format in ["direct", "think"] {
        let solver = by_name(format).unwrap().solver_prompt(&task(TaskType::Deduction, 2).0.question, &[]);
        let (plain, shown) = (solver.text().into_owned(), privileged(format, TaskType::Deduction));
        assert_eq!(shown.replace("\n\nA right answer is:\n3", ""), plain);
        assert_ne!(shown, plain);
    }
}

#[test]
fn prompts_name_their_role_and_task_type() {
    for format in PROMPT_FORMATS {
        for task_type in TaskType::ALL {
            let solver = format.solver_prompt(&task(task_type, 1).question, &[]);
            assert_eq!((solver.role, solver.task_type), (Role::SOLVER, Some(task_type)));
            let proposer = format.proposer_prompt(&request(task_type, Vec::new(), Some("def f(x): return x")));
            assert_eq!((proposer.role, proposer.task_type), (Role::PROPOSER, Some(task_type)));
        }
    }
}

#[test]
fn a_proposer_of_a_program_reads_its_document_in_the_formats_of_pretrained_models() {
    let document = "def total(rows):\n    return sum(row.price for row in rows)";
    for name in ["direct", "think"] {
        for task_type in [TaskType::Deduction, TaskType::Abduction, TaskType::Error] {
            let reader = ProposerRequest { document: Some(document), ..request(task_type, Vec::new(), None) };
            let text = by_name(name).unwrap().proposer_prompt(&reader).text().into_owned();
            assert!(text.contains(document), "{name}: {text}");
        }
    }
}

#[test]
fn prompt_formats_and_the_verifiers_formats_have_the_same_names() {
    assert_eq!(FORMATS.iter().map(|format| format.name()).collect::<Vec<_>>(), names());
}

#[test]
fn the_verifier_reads_back_every_ideal_answer() {
    for format in PROMPT_FORMATS {
        let responses = format_by_name(format.name()).unwrap();
        for task_type in TaskType::ALL {
            let task = task(task_type, 2);
            let text = format.answer_text(&task.question);
            assert!(responses.is_well_formed(&text), "{text}");
            match (responses.extract_answer(task_type, &text), &task.question) {
                (Attempt::Value(value), Question::Deduction { pair, .. }) => assert_eq!(value, pair.output),
                (Attempt::Arguments(input), Question::Abduction { pair, .. }) => assert_eq!(input, pair.input),
                (Attempt::Program(program), Question::Induction { reference, .. }) => {
                    assert_eq!(program_hash(&program), program_hash(reference));
                }
                (Attempt::Exception(name), Question::Error { exception, .. }) => assert_eq!(name, *exception),
                (attempt, _) => panic!("{attempt:?} of {text}"),
            }
        }
    }
}

#[test]
fn the_verifier_reads_back_every_ideal_proposal() {
    for format in PROMPT_FORMATS {
        let responses = format_by_name(format.name()).unwrap();
        for task_type in TaskType::ALL {
            let proposal = proposal(task_type, 4);
            let text = format.proposal_text(&proposal);
            assert!(responses.is_well_formed(&text), "{text}");
            let given = (task_type == TaskType::Induction).then_some(proposal.program());
            let shape = ProposalShape { task_type, given, inputs: 3 };
            match responses.extract_proposal(&shape, &text) {
                Attempt::Proposal(read) => assert_eq!(proposal_key(&Python, &read), proposal_key(&Python, &proposal)),
                attempt => panic!("{attempt:?} of {text}"),
            }
        }
    }
}

#[test]
fn every_format_is_registered_under_its_name_and_documented() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/prompts");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let mut stems: Vec<String> = Vec::new();
    for path in files {
        let (stem, text) = (path.file_stem().unwrap().to_str().unwrap(), std::fs::read_to_string(&path).unwrap());
        for wanted in [&format!("`{stem}`"), "//! # Layout", "//! # Why", "//! # Example"] {
            assert!(text.contains(wanted), "{stem} lacks {wanted}");
        }
        stems.push(stem.to_owned());
    }
    let mut names = names();
    assert!(names.iter().all(|name| by_name(name).unwrap().name() == *name));
    stems.sort();
    names.sort_unstable();
    assert_eq!(stems, names);
}

#[test]
fn what_is_asked_in_javascript_shows_its_literals_and_ideal_responses_are_read_back() {
    let format = by_name_in(&JAVASCRIPT, "think").unwrap();
    let responses = format_in(&JAVASCRIPT, "think").unwrap();
    assert!(by_name_in(&JAVASCRIPT, "compact").is_none() && by_name_in(&JAVASCRIPT, "direct").is_none());
    let program = "function f(x, y) { return [x, y]; }".to_owned();
    let (input, output) = (vec![Value::Bool(true), Value::None], vec![Value::Bool(true), Value::None].into());
    let pair = IoPair { input: input.clone(), output };
    let deduction = Question::Deduction { program: program.clone(), pair: pair.clone() };
    let abduction = Question::Abduction { program: program.clone(), pair: pair.clone() };
    let text = |prompt: Prompt| prompt.text().into_owned();
    let asked = text(format.solver_prompt(&deduction, &[]));
    assert!(asked.contains("as a JavaScript literal") && asked.contains("```javascript\nfunction f(x, y)"), "{asked}");
    assert!(asked.contains("```input\ntrue, null\n```") && !asked.contains("[true, null]"), "{asked}");
    let asked = text(format.solver_prompt(&abduction, &[]));
    assert!(asked.contains("```output\n[true, null]\n```") && !asked.contains("\ntrue, null"), "{asked}");
    for (question, answer) in [(&deduction, "[true, null]"), (&abduction, "true, null")] {
        let shown = text(format.privileged_prompt(question, &[]));
        assert!(shown.contains(&format!("A right answer is:\n{answer}")), "{shown}");
    }
    let asked = text(format.proposer_prompt(&request(TaskType::Deduction, vec![&abduction], None)));
    assert!(asked.contains("a new JavaScript program") && asked.contains("`function f(...)`"), "{asked}");
    assert!(!asked.contains("Python") && asked.contains("<snippet_1>\n```javascript\n"), "{asked}");
    let answer = |question: &Question| responses.extract_answer(question.task_type(), &format.answer_text(question));
    assert_eq!(answer(&deduction), Attempt::Value(pair.output));
    assert_eq!(answer(&abduction), Attempt::Arguments(input.clone()));
    let proposal = Proposal::Triplet { task_type: TaskType::Abduction, program, input };
    let shape = ProposalShape { task_type: TaskType::Abduction, given: None, inputs: 0 };
    assert_eq!(responses.extract_proposal(&shape, &format.proposal_text(&proposal)), Attempt::Proposal(proposal));
}
