//! Mistakes 5, 7, 8 and 10, and the words of verdicts: `proposals.py` has programs that raise, lie about what they return, change from run to run or
//! look like something that they are not, with what becomes of each as a proposal and as an answer.
//!
//! Mistake 7: the release splices answers into scripts and lets the program's own objects decide what is equal. Here answers are parsed as literals, and
//! the host compares plain values of exact types.
//!
//! Mistake 6: the release cuts outputs to 400 characters, which makes tasks that cannot be solved. Here an output is whole or refused.

use rayon::prelude::*;
use veriplay_core::{
    Attempt, IoPair, Limits, Problem, Proposal, ProposalVerdict, Provenance, Question, Status, TaskType, Value,
};
use veriplay_tests::assert_none;
use veriplay_verifier::triplets::rules;
use veriplay_verifier::{
    AnswerRequest, ProposalGate, ProposalRequest, SignatureRequest, judge_answer, judge_proposal, signatures, waypoints,
};

use super::cases::{programs, subjects};
use super::{HONEST, abduce, answer, gate, induce, judge, propose, python, task};

#[test]
fn programs_are_proposals_and_answers_as_their_file_says() {
    let programs = programs(include_str!("proposals.py"));
    let faults = programs
        .par_iter()
        .flat_map_iter(|(claims, program)| claims.split("; ").filter_map(move |claim| fault(claim, program)));
    assert_none(faults.collect());
    assert_ne!(induce("\0", &[("3", "4")]).status, Status::Accepted, "and it is no host fault, where this panics");
    assert_eq!(induce(HONEST, &[("3", "4"), ("4", "5")]).status, Status::Accepted, "the next job is unaffected");
}

/// What becomes of a program where that is not as claimed.
fn fault(claim: &str, program: &str) -> Option<String> {
    let (is_right, found) = match claim.strip_prefix("answer ") {
        Some(ending) => check_answer(ending, program),
        None => check_proposal(claim, program),
    };
    (!is_right).then(|| format!("not `{claim}`: {found}\n{program}"))
}

fn check_answer(ending: &str, program: &str) -> (bool, String) {
    let verdict = induce(program, &[("3", "4"), ("4", "5")]);
    let found = format!("{verdict:?}");
    let is_accepted = verdict.status == Status::Accepted;
    if ending == "not accepted" {
        return (!is_accepted, found);
    }
    let (statuses, passed) = ending.strip_suffix(" 1/2").map_or((ending, 0), |statuses| (statuses, 1));
    let is_one = match statuses {
        "refused" => !is_accepted,
        statuses => statuses.split(" or ").any(|status| verdict.status.to_string() == status),
    };
    // The 4 that it is wanted to return at 3 it does not return there for those who look for its input either.
    let as_input = || abduce(program, "4", &Attempt::Arguments(vec![Value::int(3)])).status;
    (is_one && verdict.passed == passed && (passed > 0 || as_input() != Status::Accepted), found)
}

fn check_proposal(claim: &str, program: &str) -> (bool, String) {
    let (input, claim) = claim.strip_prefix("f(").and_then(|rest| rest.split_once(") ")).expect("`f(…)`");
    let judged = propose(&gate(), program, input);
    let Some(task) = judged.task else {
        let rules = claim.strip_prefix("is refused by ").unwrap_or_default();
        let is_one = rules.split(" or ").any(|rule| rule == judged.verdict.evidence.rule);
        return (is_one && judged.verdict.status == Status::Invalid, format!("{:?}", judged.verdict));
    };
    let Question::Deduction { pair, .. } = task.question else { panic!("{:?}", task.question) };
    let found = format!("= {}", pair.output);
    let output = claim.strip_suffix(", an answer").unwrap_or(claim);
    if output == claim || (output != found && output != "is taken") {
        return (output == found || output == "is taken", found);
    }
    let as_input = abduce(program, &pair.output.to_string(), &Attempt::Arguments(pair.input)).status;
    (as_input == Status::Accepted, format!("{found}, as an answer {as_input}"))
}

#[test]
fn a_verdict_is_the_same_twice() {
    for program in ["def f(x):\n    return x * 7 % 5\n", "import random\ndef f(x):\n    return random.random()\n"] {
        assert_eq!(propose(&gate(), program, "3"), propose(&gate(), program, "3"));
    }
}

/// What becomes of an error task of `program` at 3, in the words of `exceptions.py`. The release takes what stands before a colon in the last line of a
/// traceback, which a program prints as it likes. Here the name is that of the built-in type behind the exception, found by its identity, and the text
/// of the program shows that it cannot reach what finds it.
fn error_task(program: String) -> String {
    let attempt =
        Attempt::Proposal(Proposal::Triplet { task_type: TaskType::Error, program, input: vec![Value::int(3)] });
    let request = ProposalRequest { attempt: &attempt, known: false, provenance: Provenance::Seed };
    let ProposalVerdict { verdict, task, .. } = judge_proposal(python(), &gate(), &request).unwrap();
    let Some(task) = task else {
        assert_eq!(verdict.status, Status::Invalid);
        return format!("refused by {}", verdict.evidence.rule);
    };
    let Question::Error { exception, .. } = &task.question else { panic!("{:?}", task.question) };
    let status = |name: &str| answer(&task, &Attempt::Exception(name.to_owned())).status;
    assert_eq!((status(exception), status("AssertionError")), (Status::Accepted, Status::WrongAnswer));
    format!("raises {exception}")
}

#[test]
fn an_exception_has_the_name_of_its_built_in_type_and_what_could_forge_it_is_refused() {
    let faults = subjects(include_str!("exceptions.py")).into_par_iter().flat_map_iter(|subject| {
        subject.programs.into_iter().filter_map(move |(claim, program)| {
            // What each program of the subject ends with.
            let program = format!("{program}\n{}\n", subject.source);
            let found = error_task(program.clone());
            (found != claim).then(|| format!("{found}, not {claim}:\n{program}"))
        })
    });
    assert_none(faults.collect());
}

#[test]
fn a_signature_is_of_what_a_program_does_and_not_of_how_it_is_written() {
    // Neighbours in one row do the same.
    let rows: [&[&str]; 6] = [
        &[
            "def f(x):\n    return sorted(x)\n",
            "# sorts\ndef g(items):\n  items = list(items)\n  items.sort()\n  return items\n\nf = g\n",
            "def f(x):\n    out = []\n    for i in x:\n        at = 0\n        while at < len(out) and out[at] <= i: at += 1\n        out.insert(at, i)\n    return out\n",
        ],
        &["def f(x):\n    return sorted(x)[::-1]\n", "def f(x):\n    return sorted(x, reverse=True)\n"],
        &[
            "def f(x):\n    return x[0]\n",
            "def f(x):\n    if not x: raise IndexError('nothing to take')\n    return x[0]\n",
        ],
        &["def f(x):\n    if not x: raise KeyError(0)\n    return x[0]\n"],
        &[
            "class E(Exception): pass\ndef f(x): raise E\n",
            "class Other(ValueError): pass\ndef f(x): raise Other('x')\n",
        ],
        &["def f(x):\n    while True: pass\n", "def f(x):\n    n = 0\n    while n >= 0: n += 1\n"],
    ];
    let input = [Value::List(vec![Value::int(7)])];
    let programs =
        rows.iter().enumerate().flat_map(|(row, programs)| programs.iter().map(move |program| (row, *program)));
    let (of_row, requests): (Vec<usize>, Vec<_>) =
        programs.map(|(row, program)| (row, SignatureRequest { program, input: &input })).unzip();
    let signed = signatures(python(), &gate(), &requests);
    for (place, one) in signed.iter().enumerate() {
        assert!(one.is_some(), "{}", requests[place].program);
        let same = (0..signed.len()).filter(|other| signed[*other] == *one).map(|other| of_row[other]);
        let row = of_row.iter().copied().filter(|row| *row == of_row[place]);
        assert!(same.eq(row), "{}", requests[place].program);
    }
}

/// Of a program called with 5.
fn deduction(program: &str) -> Question {
    Question::Deduction {
        program: program.to_owned(),
        pair: IoPair { input: vec![Value::int(5)], output: Value::None },
    }
}

#[test]
fn waypoints_are_the_values_of_variables_in_their_order_and_nothing_where_the_call_does_not_end() {
    let program = "def f(x):\n    y = x + 10\n    out = []\n    for i in range(3):\n        out.append(double(i + y))\n    return ' '.join(out)\n\n\
                   def double(n):\n    m = n * 2\n    return str(m)\n";
    let exception = Question::Error { program: program.to_owned(), input: Vec::new(), exception: String::new() };
    let ended = [deduction(program), deduction("def f(x):\n    return x + 10\n")];
    let others =
        [deduction("def f(x):\n    while True: x += 1\n"), deduction("def f(x):\n    y = 12\n    y / 0\n"), exception];
    let found = waypoints(python(), &gate(), &ended.iter().chain(&others).collect::<Vec<_>>());
    let want = ["15", "30", "['30']", "16", "32", "['30', '32']", "17", "34", "['30', '32', '34']"];
    assert_eq!(found[..2], [Some(want.map(str::to_owned).to_vec()), Some(Vec::new())]);
    assert!(found.len() == 5 && found[2..].iter().all(Option::is_none), "{found:?}");
}

#[test]
fn text_that_evaluates_to_the_output_is_not_the_output() {
    let echo = "def f(x):\n    return x\n";
    let text = |text: &str| Attempt::Arguments(vec![Value::str(text)]);
    assert_eq!(abduce(echo, "'2'", &text("1+1")).status, Status::WrongAnswer);
    assert_eq!(abduce(echo, "'2'", &text("'2'")).status, Status::WrongAnswer);
    assert_eq!(abduce(echo, "2", &text("2")).status, Status::WrongAnswer);
    assert_eq!(abduce(echo, "'2'", &text("2")).status, Status::Accepted);
    assert_eq!(abduce("def f(x):\n    return set(x)\n", "{'c', 'a', 'b'}", &text("bacab")).status, Status::Accepted);
}

/// Looks through everything that can be reached from the stack, the harness included, for the number it is to return.
const SEARCH: &str = include_str!("search.py");

/// What the search gives, with `line` before it.
fn searched(line: &str) -> String {
    let pair = IoPair { input: vec![Value::int(7)], output: Value::int(1_000_000_007) };
    let question =
        Question::Induction { visible: vec![], hidden: vec![pair], message: String::new(), reference: String::new() };
    let mut task = task(question);
    task.limits.fuel = 4_000_000_000;
    let verdict = answer(&task, &Attempt::Program(format!("{line}\n{SEARCH}")));
    assert_eq!(verdict.status, Status::WrongAnswer, "{verdict:?}");
    verdict.evidence.detail
}

#[test]
fn the_expected_output_is_nowhere_in_the_guest() {
    assert_eq!(searched(""), "`False` instead of `1000000007`");
    // The search works: it finds the program's own copy.
    for copy in ["copy = [10 ** 9 + 7]", "copy = {'a': (10 ** 9 + 7).to_bytes(8, 'little')}", "copy = str(10 ** 9 + 7)"]
    {
        assert_eq!(searched(copy), "`True` instead of `1000000007`", "{copy}");
    }
}

#[test]
fn an_image_that_is_not_there_is_our_fault_and_no_ones_failure() {
    let pair = IoPair { input: vec![], output: Value::int(4) };
    let (task, attempt) =
        (task(Question::Abduction { program: HONEST.to_owned(), pair }), Attempt::Arguments(vec![Value::int(3)]));
    let request = AnswerRequest { task: &task, attempt: &attempt, image: "cobol", seed: 1, judge_shown: true };
    let dropped = judge_answer(python(), &request).unwrap_err();
    assert!(dropped.why.contains("`cobol`"), "{}", dropped.why);
}

/// A text of `chars` letters that names its input.
fn long(chars: usize) -> String {
    format!("def f(x):\n    return (str(x) + 'abcdefghij' * {chars})[:{chars}]\n")
}

/// The output of a proposal of such a text, or the rule that refuses it.
fn proposed(chars: usize, max_output_bytes: usize) -> Result<Value, String> {
    let judged = propose(&ProposalGate { max_output_bytes, ..gate() }, &long(chars), "7");
    match judged.task.map(|task| task.question) {
        Some(Question::Deduction { pair, .. }) => Ok(pair.output),
        _ => Err(judged.verdict.evidence.rule),
    }
}

#[test]
fn an_output_is_whole_or_refused() {
    let whole = proposed(5000, 5002).unwrap();
    assert_eq!(whole, Value::str(("7".to_owned() + &"abcdefghij".repeat(500))[..5000].to_owned()));
    assert!([5001, 200_000].iter().all(|chars| proposed(*chars, 5002) == Err(rules::OUTPUT_LENGTH.to_owned())));
}

#[test]
fn the_whole_output_is_the_right_answer_and_the_cut_one_is_not() {
    let output = proposed(1000, 2000).unwrap();
    let Value::Str(text) = &output else { panic!("{output}") };
    let cut = Value::str(format!("{}...{}", &text[..200], &text[800..]));
    let pair = IoPair { input: vec![Value::int(7)], output: output.clone() };
    let task = task(Question::Deduction { program: long(1000), pair });
    assert_eq!(answer(&task, &Attempt::Value(output)).status, Status::Accepted);
    assert_eq!(answer(&task, &Attempt::Value(cut)).status, Status::WrongAnswer);
}

#[test]
fn an_output_of_many_kilobytes_crosses_whole_in_answers_too() {
    let program = "def f(n):\n    return list(range(n))\n";
    let wanted = Value::List((0..2_000).map(Value::int).collect());
    for (argument, status) in [(2_000, Status::Accepted), (1_999, Status::WrongAnswer)] {
        let verdict = abduce(program, &wanted.to_string(), &Attempt::Arguments(vec![Value::int(argument)]));
        assert_eq!(verdict.status, status, "{verdict:?}");
    }
}

#[test]
fn an_expected_result_beyond_the_default_output_is_no_limit_for_the_right_program() {
    let judged = |problem: &Problem, program: &str| judge(problem, program, Limits::large()).status;
    let script = Problem::stdio("t", [(String::new(), "7\n".repeat(650_000))]);
    assert_eq!(judged(&script, "print('7\\n' * 650_000, end='')"), Status::Accepted);
    assert_eq!(judged(&script, "print('7\\n' * 649_999)"), Status::WrongAnswer);
    assert_eq!(judged(&script, "print('7\\n' * 3_000_000)"), Status::OutputExceeded);
    let expected = Value::List((0..200_000).map(Value::int).collect());
    let call = Problem::calls("f", [(vec![Value::int(200_000)], expected)]);
    assert_eq!(judged(&call, "def f(n):\n    return list(range(n))\n"), Status::Accepted);
    assert_eq!(judged(&call, "def f(n):\n    return list(range(1, n + 1))\n"), Status::WrongAnswer);
}
