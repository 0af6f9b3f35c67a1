//! A patch as text, in git's form: `git apply` takes it, empty files included.

use std::fmt::{self, Display};

use super::{Change, FilePatch, Hunk, Kind, Patch};

impl Display for Patch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.files.iter().try_for_each(|file| print_file(file, f))
    }
}

impl From<Patch> for String {
    fn from(patch: Patch) -> Self {
        patch.to_string()
    }
}

fn print_file(file: &FilePatch, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let path = &file.path;
    writeln!(f, "diff --git a/{path} b/{path}")?;
    match file.change {
        Change::Created => f.write_str("new file mode 100644\n")?,
        Change::Deleted => f.write_str("deleted file mode 100644\n")?,
        Change::Modified => {}
    }
    if file.hunks.is_empty() {
        return Ok(());
    }
    // A tab ends a name with a space in it, for programs that would take what follows for a date.
    let end = if path.contains(' ') { "\t" } else { "" };
    match file.change {
        Change::Created => f.write_str("--- /dev/null\n")?,
        _ => writeln!(f, "--- a/{path}{end}")?,
    }
    match file.change {
        Change::Deleted => f.write_str("+++ /dev/null\n")?,
        _ => writeln!(f, "+++ b/{path}{end}")?,
    }
    let mut grown = 0;
    for hunk in &file.hunks {
        print_hunk(hunk, grown, f)?;
        grown += hunk.growth();
    }
    Ok(())
}

fn print_hunk(hunk: &Hunk, grown: isize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let old = range(hunk.at, hunk.old_count());
    let new = range(hunk.new_at(grown), hunk.new_count());
    writeln!(f, "@@ -{old} +{new} @@")?;
    for (kind, line) in &hunk.lines {
        let mark = match kind {
            Kind::Kept => ' ',
            Kind::Removed => '-',
            Kind::Added => '+',
        };
        writeln!(f, "{mark}{}", line.text)?;
        if !line.newline {
            f.write_str("\\ No newline at end of file\n")?;
        }
    }
    Ok(())
}

/// `start,count`: of no lines, the start is the line before them.
fn range(at: usize, count: usize) -> String {
    match count {
        0 => format!("{at},0"),
        1 => format!("{}", at + 1),
        _ => format!("{},{count}", at + 1),
    }
}
