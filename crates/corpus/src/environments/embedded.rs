//! The environments and cheats the binary carries. A new folder of `task-corpus/environments/`, or a new file of
//! `task-corpus/environment_cheats/`, needs a line here; a test says so.

/// Names its folder and holds its two texts.
macro_rules! environment {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!("../../../../task-corpus/environments/", $name, "/environment.py")),
            include_str!(concat!("../../../../task-corpus/environments/", $name, "/tasks.toml")),
        )
    };
}

/// Names its folder and holds its templates.
macro_rules! templates {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../task-corpus/environments/", $name, "/templates.toml")))
    };
}

/// Names its file and holds its text.
macro_rules! cheat {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../task-corpus/environment_cheats/", $name)))
    };
}

/// Folder, source and tasks, sorted.
pub(super) const FOLDERS: &[(&str, &str, &str)] = &[
    environment!("calendar"),
    environment!("files"),
    environment!("ledger"),
    environment!("orders"),
    environment!("tickets"),
];

/// Names and templates of the environments above.
pub(super) const TEMPLATES: &[(&str, &str)] =
    &[templates!("calendar"), templates!("files"), templates!("ledger"), templates!("orders"), templates!("tickets")];

/// File names and texts, sorted.
pub(super) const CHEATS: &[(&str, &str)] = &[
    cheat!("answer_guessed.md"),
    cheat!("answer_is_the_state.md"),
    cheat!("answer_past_the_check.md"),
    cheat!("answer_that_equals.md"),
    cheat!("arguments_of_other_types.md"),
    cheat!("arguments_that_lie.md"),
    cheat!("desk_asked_for_more.md"),
    cheat!("does_not_compile.md"),
    cheat!("environment_imported.md"),
    cheat!("exit_before_the_end.md"),
    cheat!("failure_by_chance.md"),
    cheat!("failure_is_the_solution.md"),
    cheat!("failures_alike.md"),
    cheat!("failures_far_away.md"),
    cheat!("failures_missing.md"),
    cheat!("failures_repeated.md"),
    cheat!("failures_that_crash.md"),
    cheat!("failures_that_exit.md"),
    cheat!("flood.md"),
    cheat!("flood_of_calls.md"),
    cheat!("fuel_exhausted.md"),
    cheat!("fuel_of_the_desk.md"),
    cheat!("instruction_empty.md"),
    cheat!("instruction_tells_all.md"),
    cheat!("memory_exhausted.md"),
    cheat!("money_from_nowhere.md"),
    cheat!("nothing_done.md"),
    cheat!("os_exit.md"),
    cheat!("paths_that_lead_out.md"),
    cheat!("peer_replaced.md"),
    cheat!("queue_past_its_limits.md"),
    cheat!("solution_by_chance.md"),
    cheat!("solution_crashes.md"),
    cheat!("solution_exits.md"),
    cheat!("solution_without_tools.md"),
    cheat!("state_behind_the_desk.md"),
    cheat!("state_forged_in_the_report.md"),
    cheat!("state_named_not_made.md"),
    cheat!("state_undone.md"),
    cheat!("tools_replaced.md"),
    cheat!("verdict_in_a_frame.md"),
    cheat!("verdict_printed.md"),
    cheat!("verification_searched.md"),
    cheat!("verifier_always_false.md"),
    cheat!("verifier_always_true.md"),
    cheat!("verifier_by_the_clock.md"),
    cheat!("verifier_counts_calls.md"),
    cheat!("verifier_exits.md"),
    cheat!("verifier_forges_a_frame.md"),
    cheat!("verifier_hangs.md"),
    cheat!("verifier_is_blind.md"),
    cheat!("verifier_likes_done.md"),
    cheat!("verifier_likes_nothing.md"),
    cheat!("verifier_not_defined.md"),
    cheat!("verifier_raises.md"),
    cheat!("verifier_random.md"),
    cheat!("verifier_reads_its_caller.md"),
    cheat!("verifier_reads_the_solution.md"),
    cheat!("verifier_returns_an_object.md"),
    cheat!("verifier_says_one.md"),
];
