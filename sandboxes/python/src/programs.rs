//! Programs that the verifier runs in the image, by the part of it that runs them. Each says in its docstring what it is asked and answers.

/// Rounds of codes and tests that must agree.
pub mod agreement {
    /// Finds what a code or an assertion uses that no function on plain values needs.
    pub const REACH: &str = include_str!("../programs/agreement/reach.py");
}

/// Bugs in repositories: making them, and judging repairs.
pub mod bugs {
    use include_dir::{Dir, include_dir};

    /// Finds the functions that a change of a file changes, and whether it changes more.
    pub const CHANGED: &str = include_str!("../programs/bugs/changed.py");
    /// Tells whether texts have less code than others.
    pub const CODE_SIZE: &str = include_str!("../programs/bugs/code_size.py");
    /// Finds the functions of a file, with where they begin and end.
    pub const FUNCTIONS: &str = include_str!("../programs/bugs/functions.py");
    /// Finds where test functions end and what they compare, so that the host can make some of them fail.
    pub const INVERTED_TESTS: &str = include_str!("../programs/bugs/inverted_tests.py");
    /// Finds what a changed file has beyond the original that a repair must not have.
    pub const MACHINERY: &str = include_str!("../programs/bugs/machinery.py");
    /// Runs the operators that inject bugs.
    pub const MUTATE: &str = include_str!("../programs/bugs/mutate.py");
    /// Tells whether a function whose body was removed has one again.
    pub const REWRITTEN: &str = include_str!("../programs/bugs/rewritten.py");
    /// Edits source by byte offsets. The other programs stand behind it.
    pub const SPANS: &str = include_str!("../programs/bugs/spans.py");
    /// The tools that read a repository: files, lines, a search.
    pub const TOOL_SERVER: &str = include_str!("../programs/bugs/tool_server.py");
    /// Tells whether a change undoes a part of an earlier one.
    pub const UNDOES: &str = include_str!("../programs/bugs/undoes.py");
    /// Removes test functions from a test file.
    pub const WEAKEN: &str = include_str!("../programs/bugs/weaken.py");

    static INJECTORS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/programs/bugs/injectors");

    /// The operator that injects bugs of this name, `None` where there is no such file.
    #[must_use]
    pub fn injector(name: &str) -> Option<&'static str> {
        INJECTORS.get_file(format!("{name}.py"))?.contents_utf8()
    }
}

/// Tools that a policy calls, and code that calls them.
pub mod environments {
    /// Runs an executor's code. Not trusted.
    pub const CODE: &str = include_str!("../programs/environments/code.py");
    /// Compiles the trusted sources, once a verdict.
    pub const COMPILER: &str = include_str!("../programs/environments/compiler.py");
    /// Makes calls again in a fresh environment. Trusted.
    pub const REPLAY: &str = include_str!("../programs/environments/replay.py");
    /// Starts [`CODE`] from its bytecode.
    pub const RUN: &str = include_str!("../programs/environments/run.py");
    /// An environment and what may be asked of it. Trusted.
    pub const TOOL_ENV: &str = include_str!("../programs/environments/tool_env.py");
}

/// Repositories and their own tests.
pub mod repository {
    /// Reads what a repository says of itself: settings, requirements, imports. Runs nothing of it.
    pub const INSPECT: &str = include_str!("../programs/repository/inspect_repository.py");
    /// Makes pytest ready to run.
    pub const READY_PYTEST: &str = include_str!("../programs/repository/ready_pytest.py");
    /// Runs the tests of a file.
    pub const RUNNER: &str = concat!(
        include_str!("../programs/repository/ready_pytest.py"),
        include_str!("../programs/repository/own_imports.py"),
        include_str!("../programs/repository/object_table.py"),
        include_str!("../programs/repository/split_pytest.py"),
        include_str!("../programs/repository/run_pytest.py")
    );
    /// The package's side, where tests and package run in two instances.
    pub const PACKAGE: &str = concat!(
        include_str!("../programs/repository/own_imports.py"),
        include_str!("../programs/repository/object_table.py"),
        include_str!("../programs/repository/split_package.py")
    );
    /// Imports pytest and compiles the sources of a repository, before a state of it is kept.
    pub const WARM_PYTEST: &str = include_str!("../programs/repository/warm_pytest.py");
}

/// Queries on databases, as attempts.
pub mod sql {
    /// Runs one query on one database, and returns its rows.
    pub const QUERY: &str = include_str!("../programs/sql/query.py");
}

/// Proposals of Absolute Zero.
pub mod triplets {
    /// Changes the addresses and hashes of objects, for the check of determinism.
    pub const OTHER_ADDRESSES: &str = include_str!("../programs/triplets/other_addresses.py");
    /// Finds the values that the variables of a program take in a call.
    pub const TRACE_VALUES: &str = include_str!("../programs/triplets/trace_values.py");
}
