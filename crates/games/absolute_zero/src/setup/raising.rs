//! Generated programs for error tasks: what the generator writes runs, so its result is put where it may raise.

use veriplay_core::{Proposal, TaskType};
use veriplay_corpus::ProposalStream;

/// Uses of a result `x` that raise for some of its values: `IndexError`, `ZeroDivisionError`, `KeyError` and `ValueError`, or `TypeError` where it
/// is of another type.
const USES: [&str; 6] = ["[4, 7, 2][x]", "x[2]", "60 // (x % 4)", "{1: 5, 2: 8, 4: 3}[x]", "x.index(3)", "int(x)"];

/// The drafts of `stream` whose last line returns a result, which is used in each of these ways in turn. Whether one raises, the gate finds.
pub(super) fn drafts(stream: ProposalStream<'static>) -> impl Iterator<Item = Proposal> {
    stream.zip(USES.iter().cycle()).filter_map(|(proposal, usage)| with_use(proposal, usage))
}

fn with_use(proposal: Proposal, usage: &str) -> Option<Proposal> {
    let Proposal::Triplet { program, input, .. } = proposal else { return None };
    let (body, last) = program.trim_end().rsplit_once('\n')?;
    let result = last.strip_prefix("    return ")?;
    let program = format!("{body}\n    x = {result}\n    return {usage}");
    Some(Proposal::Triplet { task_type: TaskType::Error, program, input })
}

#[cfg(test)]
mod tests {
    use veriplay_core::Value;

    use super::*;

    #[test]
    fn the_result_of_a_program_is_used_where_it_may_raise() {
        let draft = |program: &str| {
            let (task_type, input) = (TaskType::Error, vec![Value::int(1)]);
            with_use(Proposal::Triplet { task_type, program: program.to_owned(), input }, "int(x)")
        };
        let made = draft("def f(x):\n    x = x + 1\n    return str(x)").expect("it returns a result");
        assert_eq!(made.program(), "def f(x):\n    x = x + 1\n    x = str(x)\n    return int(x)");
        assert_eq!(made.task_type(), TaskType::Error);
        assert_eq!(draft("def f(x):\n    if x:\n        return 1"), None);
    }
}
