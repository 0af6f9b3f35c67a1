//! Names with `*`, `?` and `[…]`, as Python's `fnmatch` has them, case included.

/// Whether `pattern` matches the whole of `text`.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    // `reached[at]`: what was read of the pattern so far can end before `text[at]`.
    let mut reached = vec![false; text.len() + 1];
    reached[0] = true;
    let mut rest = pattern.as_slice();
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        if *first == '*' {
            let start = reached.iter().position(|found| *found).unwrap_or(reached.len());
            reached[start..].fill(true);
            continue;
        }
        let set = if *first == '[' { class(behind) } else { None };
        if let Some((_, length)) = set {
            rest = &behind[length..];
        }
        for at in (0..text.len()).rev() {
            let fits = match set {
                Some((members, _)) => is_in(members, text[at]),
                None => *first == '?' || *first == text[at],
            };
            reached[at + 1] = reached[at] && fits;
        }
        reached[0] = false;
    }
    reached[text.len()]
}

/// What is between the brackets, and how much of the pattern that is; `None` where they are not closed.
fn class(behind: &[char]) -> Option<(&[char], usize)> {
    // A `]` that comes first is a member.
    let mut start = usize::from(behind.first() == Some(&'!'));
    start += usize::from(behind.get(start) == Some(&']'));
    let end = start + behind.get(start..)?.iter().position(|found| *found == ']')?;
    Some((&behind[..end], end + 1))
}

fn is_in(members: &[char], found: char) -> bool {
    let (members, negated) = match members {
        ['!', members @ ..] => (members, true),
        members => (members, false),
    };
    let mut at = 0;
    let mut inside = false;
    while at < members.len() {
        match members[at..] {
            [low, '-', high, ..] => {
                inside |= (low..=high).contains(&found);
                at += 3;
            }
            [one, ..] => {
                inside |= one == found;
                at += 1;
            }
            [] => break,
        }
    }
    inside != negated
}
