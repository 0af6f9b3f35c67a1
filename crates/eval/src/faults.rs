//! Faulty rows of a file, reported on stderr: the first of each kind at once, the others as a number. A wrong file or format makes every row
//! faulty in the same way.

use std::fmt::Display;
use std::path::Path;

use veriplay_console::progress::{self, counted};

/// Kinds that are told apart. Rows of further kinds are counted together, which bounds memory and output.
const MAX_KINDS: usize = 20;

/// The faults of one file so far.
#[derive(Default)]
pub(super) struct RowFaults {
    kinds: Vec<FaultKind>,
    /// Rows of other kinds.
    others: u64,
}

struct FaultKind {
    /// The fault without its digits: rows differ in columns and numbers.
    key: String,
    /// The first fault of this kind.
    first: String,
    /// Rows of this kind that were not reported.
    more: u64,
}

impl RowFaults {
    /// Reports `row`, unless one with the same fault was.
    pub(super) fn report(&mut self, fault: &str, row: impl Display) {
        let key: String = fault.chars().filter(|char| !char.is_ascii_digit()).collect();
        if let Some(kind) = self.kinds.iter_mut().find(|kind| kind.key == key) {
            kind.more += 1;
        } else if self.kinds.len() < MAX_KINDS {
            self.kinds.push(FaultKind { key, first: fault.to_owned(), more: 0 });
            progress::say(row);
        } else {
            self.others += 1;
        }
    }

    /// Reports the rows of `path` that were only counted.
    pub(super) fn report_counts(&self, path: &Path) {
        self.counts(path).into_iter().for_each(progress::say);
    }

    fn counts(&self, path: &Path) -> Vec<String> {
        let line = |more: u64, what: &str| {
            (more > 0).then(|| format!("{}: {} with {what}", path.display(), counted(more, "more row")))
        };
        let kinds = self.kinds.iter().filter_map(|kind| line(kind.more, &format!("the same fault: {}", kind.first)));
        kinds.chain(line(self.others, "other faults")).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{MAX_KINDS, RowFaults};

    #[test]
    fn the_first_row_of_a_kind_is_named_and_the_others_are_counted() {
        let mut faults = RowFaults::default();
        for row in 0..4 {
            faults.report("no id", format!("row {row}"));
        }
        faults.report("no text", "row 4");
        assert_eq!(faults.counts(Path::new("file")), ["file: 3 more rows with the same fault: no id"]);
        (0..=MAX_KINDS).for_each(|kind| faults.report(&"x".repeat(kind), kind));
        assert_eq!(faults.counts(Path::new("file"))[1..], ["file: 3 more rows with other faults"]);
    }

    #[test]
    fn faults_that_differ_in_numbers_are_the_same() {
        let mut faults = RowFaults::default();
        faults.report("no id at column 7", "row 1");
        faults.report("no id at column 168", "row 2");
        assert_eq!(faults.counts(Path::new("file")), ["file: 1 more row with the same fault: no id at column 7"]);
    }
}
