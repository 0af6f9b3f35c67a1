//! The seed files the binary carries. A new file of `task-corpus/absolute_zero/` needs a line here; a test says so.

/// Names its file and holds its text.
macro_rules! seed {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../task-corpus/absolute_zero/", $name)))
    };
}

/// File names and texts, sorted.
pub(super) const FILES: &[(&str, &str)] = &[
    seed!("balanced_brackets.md"),
    seed!("binary_search_steps.md"),
    seed!("bubble_passes.md"),
    seed!("caesar.md"),
    seed!("change_coins.md"),
    seed!("collatz_peak.md"),
    seed!("compress_runs.md"),
    seed!("digit_sum_root.md"),
    seed!("first_repeat.md"),
    seed!("gcd_trace.md"),
    seed!("grid_paths.md"),
    seed!("group_by_length.md"),
    seed!("island_count.md"),
    seed!("josephus.md"),
    seed!("longest_increase.md"),
    seed!("matrix_spiral.md"),
    seed!("merge_intervals.md"),
    seed!("pascal_row.md"),
    seed!("prefix_tree.md"),
    seed!("rotate_until_sorted.md"),
    seed!("stack_machine.md"),
    seed!("sum_of_squares_above.md"),
    seed!("vowel_zipper.md"),
    seed!("zero.md"),
];
