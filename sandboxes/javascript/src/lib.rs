//! The files of the JavaScript image, as text. `veriplay-sandbox` makes the image of them.

/// The manifest: where the interpreter comes from, the sizes of its stack and heap, default limits.
pub const MANIFEST: &str = include_str!("../sandbox.toml");

/// The program that fetches a job from the host, runs it and reports. It evaluates to a function of the host's two functions and of [`NODE`].
pub const HARNESS: &str = include_str!("../harness.js");

/// The Node.js interface that programs expect. It evaluates to a function that the harness calls.
pub const NODE: &str = include_str!("../node.js");

/// Programs with the results that they must have, by file. Each begins with a line `//! `, then a JSON object; the README lists its keys.
pub const CASES: &[(&str, &str)] = &[
    ("attacks", include_str!("../cases/attacks.js")),
    ("entries", include_str!("../cases/entries.js")),
    ("node", include_str!("../cases/node.js")),
    ("values", include_str!("../cases/values.js")),
];
