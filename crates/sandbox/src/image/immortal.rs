//! Makes the objects of a snapshot immortal, as CPython has its own (PEP 683).
//!
//! Every use of an object counts a reference, in the object itself. Jobs use functions, modules and strings from all over the heap, and each
//! page that a job writes is copied by the kernel and restored after it. The count of an immortal object is not written. The objects of
//! a snapshot are alive in every job anyway.
//!
//! A program can see it: `sys.getrefcount` of such an object is a number of ten digits, and after `gc.unfreeze()` the collector
//! leaves the object out.

/// The count of an immortal object where a pointer has 32 bits: `_Py_IMMORTAL_INITIAL_REFCNT` of CPython 3.14 and later.
pub(super) const IMMORTAL: u32 = 5 << 28;
/// Above the count of any object that is not, and below any address: the first word of a freed object is one, or zero.
const MAX_COUNT: u32 = 64 << 10;
/// Bytes of an object's head: its count and the address of its type.
const HEAD: usize = 8;

/// Gives the count `immortal` to those objects of `memory` that are still where `alive` has them: pairs of the address of an object and of its
/// type, in little-endian words of 32 bits.
/// Fails when most of them are not there, so that a head must be laid out in another way, or the interpreter has made none of them immortal by that count.
pub(super) fn make_immortal(memory: &mut [u8], alive: &[u8], immortal: u32) -> Result<(), String> {
    let (pairs, _) = alive.as_chunks::<HEAD>();
    let (mut found, mut has_count) = (0, false);
    for pair in pairs {
        let (at, kind) = words(pair);
        let Some(head) = memory.get_mut(at as usize..).and_then(|rest| rest.first_chunk_mut::<HEAD>()) else {
            continue;
        };
        let (count, kind_there) = words(head);
        if kind_there != kind {
            continue;
        }
        found += 1;
        has_count |= count == immortal;
        if (1..MAX_COUNT).contains(&count) {
            head[..4].copy_from_slice(&immortal.to_le_bytes());
        }
    }
    if found * 2 <= pairs.len() {
        let all = pairs.len();
        return Err(format!("{found} of {all} objects are where CPython says: is its `PyObject` another one?"));
    }
    if immortal <= MAX_COUNT || !has_count {
        return Err(format!(
            "no object of the interpreter has the count {immortal:#x}: is `immortal_count` that of its version?"
        ));
    }
    Ok(())
}

fn words(head: &[u8; HEAD]) -> (u32, u32) {
    let [a, b, c, d, e, f, g, h] = *head;
    (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(count: u32, kind: u32) -> [u8; HEAD] {
        [count.to_le_bytes(), kind.to_le_bytes()].concat().try_into().unwrap()
    }

    #[test]
    fn what_is_alive_becomes_immortal_and_nothing_else() {
        // Alive, freed, immortal already by either count, of another type by now, and not mentioned.
        let before = [pair(3, 77), pair(70_000, 77), pair(IMMORTAL, 77), pair(7 << 28, 77), pair(3, 78), pair(3, 77)];
        let alive: Vec<u8> = (0..5).flat_map(|index| pair(index * 8, 77)).collect();
        let mut memory = before.concat();
        make_immortal(&mut memory, &alive, IMMORTAL).unwrap();
        let after = [pair(IMMORTAL, 77), before[1], before[2], before[3], before[4], before[5]];
        assert_eq!(memory, after.concat());
    }

    #[test]
    fn a_count_that_the_interpreter_does_not_use_is_refused() {
        for count in [0, 3, IMMORTAL] {
            let mut memory = [pair(3, 77), pair(7 << 28, 77)].concat();
            let alive = [pair(0, 77), pair(8, 77)].concat();
            let refused = make_immortal(&mut memory, &alive, count).unwrap_err();
            assert!(refused.contains("`immortal_count`"), "{refused}");
        }
    }

    #[test]
    fn a_memory_of_other_objects_is_refused() {
        let alive: Vec<u8> = [pair(0, 77), pair(8, 77), pair(1 << 30, 77)].concat();
        let refused = make_immortal(&mut [pair(1, 77), pair(1, 78)].concat(), &alive, IMMORTAL).unwrap_err();
        assert!(refused.starts_with("1 of 3 objects"), "{refused}");
    }
}
