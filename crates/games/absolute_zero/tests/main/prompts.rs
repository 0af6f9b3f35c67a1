//! What prompts hold and what they must never hold; ideal answers are read back by the verifier.

use expect_test::{Expect, expect};
use veriplay_absolute_zero::prompts::{PROMPT_FORMATS, PromptFormat, ProposerRequest, by_name, names};
use veriplay_absolute_zero::proposal_key;
use veriplay_core::{Attempt, Question, Role, TaskType, Value, program_hash};
use veriplay_verifier::{FORMATS, ProposalShape, format_by_name};

use crate::support::{adds, proposal, task};

fn compact() -> &'static dyn PromptFormat {
    by_name("compact").unwrap()
}

fn think() -> &'static dyn PromptFormat {
    by_name("think").unwrap()
}

fn request<'a>(task_type: TaskType, references: Vec<&'a Question>, given: Option<&'a str>) -> ProposerRequest<'a> {
    ProposerRequest { task_type, references, given, helpers: &[], inputs: 3 }
}

#[track_caller]
fn check(texts: &[String], expected: &Expect) {
    expected.assert_eq(&texts.join("\n--\n"));
}

#[test]
fn compact_solver_prompts_and_answers_are_control_tokens_and_values() {
    let texts = TaskType::STANDARD.map(|task_type| {
        let question = task(task_type, 2).0.question;
        compact().solver_prompt(&question, &[]).text().into_owned() + " => " + &compact().answer_text(&question)
    });
    check(
        &texts,
        &expect![[r#"
        <D>def f(x):
            return x + 2<I>1<O> => 3
        --
        <A>def f(x):
            return x + 2<O>3<I> => 1
        --
        <F><I>1<O>3<P> => def f(x):
            return x + 2"#]],
    );
}

#[test]
fn compact_proposer_prompts_show_references_or_the_given_program() {
    let references = [1, 2].map(|n| task(TaskType::Deduction, n).0.question);
    let program = adds(5);
    let texts = [
        compact().proposer_prompt(&request(TaskType::Deduction, references.iter().collect(), None)).text().into_owned(),
        compact().proposer_prompt(&request(TaskType::Abduction, Vec::new(), None)).text().into_owned(),
        compact().proposer_prompt(&request(TaskType::Induction, Vec::new(), Some(&program))).text().into_owned(),
    ];
    check(
        &texts,
        &expect![[r#"
        <R>def f(x):
            return x + 1<I>1<R>def f(x):
            return x + 2<I>1<PD>
        --
        <PA>
        --
        <PF>def f(x):
            return x + 5"#]],
    );
}

#[test]
fn compact_proposals_are_a_program_with_its_input_or_inputs() {
    let texts = TaskType::STANDARD.map(|task_type| compact().proposal_text(&proposal(task_type, 4)));
    check(
        &texts,
        &expect![[r#"
        def f(x):
            return x + 4<I>1
        --
        def f(x):
            return x + 4<I>1
        --
        <I>1<I>2<I>3"#]],
    );
}

#[test]
fn think_solver_prompts_ask_for_one_block() {
    let texts = TaskType::STANDARD
        .map(|task_type| think().solver_prompt(&task(task_type, 2).question, &[]).text().into_owned());
    check(
        &texts,
        &expect![[r#"
            A conversation between User and Assistant. The User asks for something, and the Assistant first reasons about it and then answers. The reasoning stands between <think> and </think>, the answer after it between <answer> and </answer>.
            User: Work out what the program returns for the input. Follow it step by step. Answer with one block fenced as `output` that holds the returned value as a Python literal, strings in quotes.

            Program:
            ```python
            def f(x):
                return x + 2
            ```

            Input (the arguments of `f`):
            ```input
            1
            ```

            Assistant: <think>
            --
            A conversation between User and Assistant. The User asks for something, and the Assistant first reasons about it and then answers. The reasoning stands between <think> and </think>, the answer after it between <answer> and </answer>.
            User: Find an input for which the program returns the output. Any such input is right. Answer with one block fenced as `input` that holds the arguments of `f` as Python literals, separated by commas, strings in quotes.

            Program:
            ```python
            def f(x):
                return x + 2
            ```

            Output:
            ```output
            3
            ```

            Assistant: <think>
            --
            A conversation between User and Assistant. The User asks for something, and the Assistant first reasons about it and then answers. The reasoning stands between <think> and </think>, the answer after it between <answer> and </answer>.
            User: Write the program behind these pairs of inputs and outputs. It is judged on further pairs, so find the rule and do not list cases. Answer with one block fenced as `python`.

            Rules for the program:
            - Its entry is a function named `f` with at least one parameter, and every path returns a value.
            - Parameters and results are plain values: None, bool, int, float, str, bytes, list, tuple, set, dict.
            - It is deterministic: no randomness, no clock, no files, no network, no input, no printing, and no reliance on set order.
            - Imports stand at the top; helpers may be defined inside the program.
            - It ends quickly.

            Pairs:
            ```input
            1
            ```
            ```output
            3
            ```

            Assistant: <think>"#]],
    );
}

#[test]
fn think_proposer_prompts_have_rules_criteria_and_references() {
    let reference = task(TaskType::Abduction, 1).0.question;
    let program = adds(5);
    let texts = [
        think().proposer_prompt(&request(TaskType::Abduction, vec![&reference], None)).text().into_owned(),
        think().proposer_prompt(&request(TaskType::Induction, Vec::new(), Some(&program))).text().into_owned(),
    ];
    check(
        &texts,
        &expect![[r#"
            A conversation between User and Assistant. The User asks for something, and the Assistant first reasons about it and then answers. The reasoning stands between <think> and </think>, the answer after it between <answer> and </answer>.
            User: Invent a new Python program and one input for it. A solver will see the program and its output and must find an input that gives it.

            Rules for the program:
            - Its entry is a function named `f` with at least one parameter, and every path returns a value.
            - Parameters and results are plain values: None, bool, int, float, str, bytes, list, tuple, set, dict.
            - It is deterministic: no randomness, no clock, no files, no network, no input, no printing, and no reliance on set order.
            - Imports stand at the top; helpers may be defined inside the program.
            - It ends quickly.

            The input: exactly one, the arguments of `f` as Python literals, separated by commas, strings in quotes. It stands nowhere in the program.

            Answer with one block fenced as `python` and one fenced as `input`, for example:
            ```python
            def f(name, counts):
                total = sum(counts)
                return name + str(total)
            ```
            ```input
            'ab', [1, 2]
            ```

            What counts:
            - The program runs on the input, and its result depends on the input.
            - Working backwards from the output to an input takes careful reasoning, and is possible.
            - It is new, and different from every reference there is.

            First devise a plan, then write.

            References:
            <snippet_1>
            ```python
            def f(x):
                return x + 1
            ```
            ```input
            1
            ```
            ```output
            2
            ```
            </snippet_1>

            Assistant: <think>
            --
            A conversation between User and Assistant. The User asks for something, and the Assistant first reasons about it and then answers. The reasoning stands between <think> and </think>, the answer after it between <answer> and </answer>.
            User: Choose 3 inputs for the program below, and write a message. A solver will see some of the inputs with their outputs and the message, and must write the program.

            Program:
            ```python
            def f(x):
                return x + 5
            ```

            Answer with 3 blocks fenced as `input`, each holding the arguments of one call of `f` as Python literals, separated by commas, strings in quotes, and one block fenced as `message`, which may hint at the program and must not contain it.

            What counts:
            - The program runs on every input, and the inputs differ.
            - Together they show every case of the program, and the outputs differ.
            - Finding the program is hard and possible.

            First devise a plan, then write.
            Assistant: <think>"#]],
    );
}

#[test]
fn think_answers_and_proposals_are_tagged_blocks() {
    let answers = TaskType::STANDARD.map(|task_type| think().answer_text(&task(task_type, 2).question));
    let proposals = TaskType::STANDARD.map(|task_type| think().proposal_text(&proposal(task_type, 4)));
    check(
        &[answers, proposals].concat(),
        &expect![[r#"
        I run the program on the input.</think>
        <answer>
        ```output
        3
        ```
        </answer>
        --
        I look for an input with this output.</think>
        <answer>
        ```input
        1
        ```
        </answer>
        --
        I look for a program that agrees with every pair.</think>
        <answer>
        ```python
        def f(x):
            return x + 2
        ```
        </answer>
        --
        I devise a program and an input.</think>
        <answer>
        ```python
        def f(x):
            return x + 4
        ```
        ```input
        1
        ```
        </answer>
        --
        I devise a program and an input.</think>
        <answer>
        ```python
        def f(x):
            return x + 4
        ```
        ```input
        1
        ```
        </answer>
        --
        I choose inputs that tell the program apart.</think>
        <answer>
        ```input
        1
        ```
        ```input
        2
        ```
        ```input
        3
        ```
        ```message

        ```
        </answer>"#]],
    );
}

#[test]
fn each_difficulty_criterion_belongs_to_its_own_goal() {
    let text = |task_type| think().proposer_prompt(&request(task_type, Vec::new(), None)).text().into_owned();
    let (deduction, abduction) = (text(TaskType::Deduction), text(TaskType::Abduction));
    assert!(deduction.contains("must work out the output") && deduction.contains("Working forwards"));
    assert!(abduction.contains("must find an input") && abduction.contains("Working backwards"));
    assert!(!deduction.contains("Working backwards") && !abduction.contains("Working forwards"));
    assert!(!deduction.contains("References") && text(TaskType::Deduction) == deduction);
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
                Attempt::Proposal(read) => assert_eq!(proposal_key(&read), proposal_key(&proposal)),
                attempt => panic!("{attempt:?} of {text}"),
            }
        }
    }
}

#[test]
fn every_format_is_registered_under_its_name_and_documented() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/prompts");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut stems: Vec<String> = Vec::new();
    for path in files {
        let (stem, text) = (path.file_stem().unwrap().to_str().unwrap(), std::fs::read_to_string(&path).unwrap());
        for wanted in [&format!("`{stem}`"), "//! # Layout", "//! # Why", "//! # Example"] {
            assert!(text.contains(wanted), "{stem} lacks {wanted}");
        }
        stems.push(stem.to_owned());
    }
    let mut names = veriplay_absolute_zero::prompts::names();
    assert!(names.iter().all(|name| veriplay_absolute_zero::prompts::by_name(name).unwrap().name() == *name));
    stems.sort();
    names.sort_unstable();
    assert_eq!(stems, names);
}
