//! Sorts tests into four tiers by the mutants of the trusted code that fail them, as TAROT's problems have tests of four difficulties. Pure.
//!
//! # The tiers
//! Of the mutants that any test kills, a *basic* test kills more than half. An *edge* test kills one that no other test kills. Of the others, a
//! *medium* test kills a quarter or more, a *high* one fewer. A test that kills none is in no tier.

/// How many tiers there are: basic, medium, high and edge.
pub const TEST_TIERS: usize = 4;

/// Whether a code passes all tests of each tier; `None` for a tier without tests.
pub type PassedTiers = [Option<bool>; TEST_TIERS];

/// The tier of each test. `kills` says of each which mutants fail it.
pub(super) fn test_tiers(kills: &[Vec<bool>]) -> Vec<Option<usize>> {
    let mutants = kills.first().map_or(0, Vec::len);
    let killers: Vec<usize> = (0..mutants).map(|mutant| kills.iter().filter(|own| own[mutant]).count()).collect();
    kills.iter().map(|own| tier(own, &killers)).collect()
}

/// The tier of a test that kills these mutants, each of which so many tests kill.
fn tier(own: &[bool], killers: &[usize]) -> Option<usize> {
    let count = own.iter().filter(|kills| **kills).count();
    let all = killers.iter().filter(|killers| **killers > 0).count();
    let alone = own.iter().zip(killers).any(|(kills, killers)| *kills && *killers == 1);
    match (count, alone) {
        (0, _) => None,
        _ if 2 * count > all => Some(0),
        (_, true) => Some(3),
        _ if 4 * count >= all => Some(1),
        _ => Some(2),
    }
}

/// What a code that passes these tests, of these tiers, passes of each tier.
pub(super) fn passed_tiers(tiers: &[Option<usize>], passes: &[bool]) -> PassedTiers {
    let mut passed = PassedTiers::default();
    for (tier, passes) in tiers.iter().zip(passes) {
        if let Some(tier) = tier {
            passed[*tier] = Some(passed[*tier].unwrap_or(true) && *passes);
        }
    }
    passed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kills(rows: &[&str]) -> Vec<Vec<bool>> {
        rows.iter().map(|row| row.chars().map(|one| one == '1').collect()).collect()
    }

    #[test]
    fn tests_are_sorted_by_how_many_mutants_they_kill_and_whether_another_does() {
        // Half is not most, and a quarter is enough for the medium tier; the last mutant is killed by no test.
        assert_eq!(test_tiers(&kills(&["11000", "11000", "00110", "00100", "00010"])), [Some(1); 5]);
        let kills = kills(&["11100", "11000", "01000", "00011", "00000"]);
        let tiers = test_tiers(&kills);
        assert_eq!(tiers, [Some(0), Some(1), Some(2), Some(3), None]);
        let passed = passed_tiers(&tiers, &[true, false, true, true, false]);
        assert_eq!(passed, [Some(true), Some(false), Some(true), Some(true)]);
        // Most of what is killed at all, though nothing else kills it: basic, and nothing for the other tiers.
        let alone = test_tiers(&kills[..1]);
        assert_eq!(
            (alone.as_slice(), passed_tiers(&alone, &[false])),
            (&[Some(0)][..], [Some(false), None, None, None])
        );
        assert_eq!(passed_tiers(&[Some(2), Some(2)], &[true, false])[2], Some(false));
        assert_eq!(passed_tiers(&test_tiers(&[Vec::new()]), &[true]), [None; TEST_TIERS]);
    }
}
