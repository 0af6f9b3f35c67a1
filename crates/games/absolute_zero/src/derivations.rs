//! Derivations: easier variants of tasks, made of them by a program and judged by the gate as proposals are.

use serde::{Deserialize, Serialize};
use veriplay_core::{IoPair, Proposal, Provenance, Question, Task, TaskType, Value};

/// A task made of another one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Derivation {
    /// The kind of both tasks, which reports look for.
    pub task_type: TaskType,
    /// What the gate shall judge.
    pub proposal: Proposal,
    /// The origin of the task it is made of, and so its own.
    pub provenance: Provenance,
}

/// Easier variants of a task: its program without the last statement, and its input with texts and lists of half the length. An induction task has
/// the first alone. Not all of them are tasks: the gate refuses what does not run.
pub fn easier_variants(task: &Task) -> Vec<Derivation> {
    let (question, provenance) = (&task.question, &task.provenance);
    let task_type = question.task_type();
    let shorter = without_last_statement(question.program());
    let proposals: Vec<Proposal> = match question {
        Question::Deduction { program, pair: IoPair { input, .. } }
        | Question::Abduction { program, pair: IoPair { input, .. } }
        | Question::Error { program, input, .. } => {
            let triplet = |program, input| Proposal::Triplet { task_type, program, input };
            let smaller: Vec<Value> = input.iter().map(half).collect();
            let is_smaller = smaller != *input;
            let shorter = shorter.map(|shorter| triplet(shorter, input.clone()));
            shorter.into_iter().chain(is_smaller.then(|| triplet(program.clone(), smaller))).collect()
        }
        Question::Induction { visible, hidden, .. } => {
            let inputs = visible.iter().chain(hidden).map(|pair| pair.input.clone()).collect();
            // A message would be about the whole program.
            let variant = shorter.map(|program| Proposal::Inputs { program, inputs, message: String::new() });
            variant.into_iter().collect()
        }
    };
    let derivation = |proposal| Derivation { task_type, proposal, provenance: provenance.clone() };
    proposals.into_iter().map(derivation).collect()
}

/// The program without its last line, `return …`: it returns what the line before assigned. Where that is all that it returned, the assignment goes.
/// `None` where there are no such lines.
fn without_last_statement(program: &str) -> Option<String> {
    let (rest, last) = program.trim_end().rsplit_once('\n')?;
    let returned = last.strip_prefix("    return ")?;
    let (head, line) = rest.rsplit_once('\n')?;
    let (target, value) = line.split_once("= ")?;
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let name = target.trim_start().trim_end_matches(|c: char| !is_part(c));
    if name.is_empty() || !name.chars().all(is_part) {
        return None;
    }
    Some(if returned == name {
        format!("{head}\n    return {name}")
    } else if target == format!("    {name} ") {
        format!("{head}\n    return {value}")
    } else {
        format!("{rest}\n    return {name}")
    })
}

/// A text or a list without its second half, and any other value as it is.
fn half(value: &Value) -> Value {
    match value {
        Value::List(items) => Value::List(items[..items.len().div_ceil(2)].to_vec()),
        Value::Str(text) => Value::Str(text.chars().take(text.chars().count().div_ceil(2)).collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use veriplay_core::Limits;

    use super::*;

    #[test]
    fn the_last_statement_is_dropped_where_what_is_left_can_be_returned() {
        for (program, want) in [
            ("x = x + 1\n    return x * 2", Some("return x + 1")),
            ("x = x + 1\n    x = x[::-1]\n    return sum(x)\n", Some("x = x + 1\n    return x[::-1]")),
            ("x = x + 1\n    x = x * 2\n    return x", Some("x = x + 1\n    return x")),
            ("n = 1\n    n += x\n    return n * n", Some("n = 1\n    n += x\n    return n")),
            ("if x > 2:\n        x = x * 2\n    return -x", Some("if x > 2:\n        x = x * 2\n    return x")),
            ("return x", None),
            ("if x:\n        return 1\n    return 2", None),
            ("x[0] = 1\n    return x", None),
            ("print(x)\n    return x", None),
            ("x = 1\n    if x:\n        return 2", None),
            ("return (x +\n        1)", None),
        ] {
            let whole = |body: &str| format!("def f(x):\n    {body}");
            assert_eq!(without_last_statement(&whole(program)), want.map(whole), "{program}");
        }
    }

    fn task(question: Question) -> Task {
        let provenance = Provenance::Proposed { step: 3, index: 7 };
        Task { family: "test".to_owned(), language: None, question, limits: Limits::small(), provenance }
    }

    fn triplet(program: &str, text: &str) -> Proposal {
        let (task_type, program) = (TaskType::Deduction, program.to_owned());
        Proposal::Triplet { task_type, program, input: vec![Value::str(text)] }
    }

    #[test]
    fn variants_keep_the_kind_and_the_origin_of_their_task() {
        let program = "def f(x):\n    x = x + 'a'\n    return x[0]".to_owned();
        let pair = |text: &str| IoPair { input: vec![Value::str(text)], output: Value::str("b") };
        let deduction = task(Question::Deduction { program: program.clone(), pair: pair("bcd") });
        let [shorter, smaller]: [Derivation; 2] = easier_variants(&deduction).try_into().expect("two of them");
        let without = "def f(x):\n    return x + 'a'";
        assert_eq!((shorter.proposal, smaller.proposal), (triplet(without, "bcd"), triplet(&program, "bc")));
        assert_eq!((shorter.task_type, shorter.provenance), (TaskType::Deduction, deduction.provenance));
        let induction = task(Question::Induction {
            visible: vec![pair("b")],
            hidden: vec![pair("bc")],
            message: "the first letter".to_owned(),
            reference: program,
        });
        let inputs = vec![vec![Value::str("b")], vec![Value::str("bc")]];
        let [variant]: [Derivation; 1] = easier_variants(&induction).try_into().expect("one of them");
        assert_eq!(variant.proposal, Proposal::Inputs { program: without.to_owned(), inputs, message: String::new() });
        let number = IoPair { input: vec![Value::int(3)], output: Value::int(3) };
        let least = task(Question::Abduction { program: "def f(x):\n    return x".to_owned(), pair: number });
        assert!(easier_variants(&least).is_empty());
    }
}
