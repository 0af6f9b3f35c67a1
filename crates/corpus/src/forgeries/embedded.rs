//! The forgeries the binary carries. A new file of `task-corpus/forgeries/` needs a line here; a test says so.

/// Names its file and holds its text.
macro_rules! forgery {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../task-corpus/forgeries/", $name)))
    };
}

/// File names and texts of the problems, sorted.
pub(super) const PROBLEMS: &[(&str, &str)] = &[
    forgery!("problems/asserts.md"),
    forgery!("problems/calls.md"),
    forgery!("problems/check.md"),
    forgery!("problems/errors.md"),
    forgery!("problems/fresh.md"),
    forgery!("problems/functions.md"),
    forgery!("problems/input.md"),
    forgery!("problems/numbers.md"),
    forgery!("problems/output.md"),
    forgery!("problems/properties.md"),
    forgery!("problems/stdio.md"),
    forgery!("problems/topological.md"),
    forgery!("problems/words.md"),
];

/// File names and texts of the forgeries, sorted.
pub(super) const FILES: &[(&str, &str)] = &[
    forgery!("always_equal.md"),
    forgery!("assertion_swallowed.md"),
    forgery!("class_that_lies.md"),
    forgery!("deep_recursion.md"),
    forgery!("dict_that_equals.md"),
    forgery!("distance_zero.md"),
    forgery!("exit_at_import.md"),
    forgery!("exit_hook.md"),
    forgery!("exit_in_call.md"),
    forgery!("expected_failure.md"),
    forgery!("flood.md"),
    forgery!("generator_exit.md"),
    forgery!("generator_returned.md"),
    forgery!("hang.md"),
    forgery!("hang_at_last.md"),
    forgery!("huge_int.md"),
    forgery!("huge_value.md"),
    forgery!("items_that_equal.md"),
    forgery!("keyboard_interrupt.md"),
    forgery!("list_that_equals.md"),
    forgery!("lying_stop.md"),
    forgery!("memory_error.md"),
    forgery!("memory_error_raised.md"),
    forgery!("metaclass_that_lies.md"),
    forgery!("nested_value.md"),
    forgery!("os_exit.md"),
    forgery!("os_exit_after_output.md"),
    forgery!("skip_test.md"),
    forgery!("stop_iteration.md"),
    forgery!("stop_iteration_of_loops.md"),
    forgery!("text_that_equals.md"),
    forgery!("threads.md"),
    forgery!("truthy_comparison.md"),
    forgery!("value_of_itself.md"),
];
