//! The files of the JavaScript and TypeScript images, as text. `veriplay-sandbox` makes the images of them.

/// The manifest: where the interpreter comes from, the sizes of its stack and heap, default limits.
pub const MANIFEST: &str = include_str!("../sandbox.toml");

/// The program that fetches a job from the host, runs it and reports. It evaluates to a function of the host's two functions and of [`NODE`].
pub const HARNESS: &str = include_str!("../harness.js");

/// The Node.js interface that programs expect. It evaluates to a function that the harness calls.
pub const NODE: &str = include_str!("../node.js");

/// The manifest of the TypeScript image: what it has beyond the JavaScript image.
pub const TYPESCRIPT_MANIFEST: &str = include_str!("../typescript.toml");

/// What takes types out of programs. It evaluates to a function of the scripts of the package that [`TYPESCRIPT_MANIFEST`] names, by their paths;
/// that returns the function that the harness calls.
pub const TYPESCRIPT: &str = include_str!("../typescript.js");

/// A program that is run as jobs are before the snapshot, so that what it makes once is in that.
pub const REHEARSED: &str = "class C { m() { return [1, 2].map(x => x * 2) } }\n\
    function f(...of) { return { a: new C().m(), b: of } }\n\
    async function g() { await 1 }\ng(); console.log('a', [1], { b: 1 })";
/// What its function is called with, as literals of Python.
pub const REHEARSED_ARGUMENTS: &str = "1, 'x', 1.5, [None, True], {'k': 1180591620717411303424}, {3, 4}, b'z'";

/// Programs with the results that they must have, by file. Each begins with a line `//! `, then a JSON object; the README lists its keys.
pub const CASES: &[(&str, &str)] = &[
    ("attacks", include_str!("../cases/attacks.js")),
    ("entries", include_str!("../cases/entries.js")),
    ("node", include_str!("../cases/node.js")),
    ("values", include_str!("../cases/values.js")),
];

/// Programs in TypeScript, with their results.
pub const TYPESCRIPT_CASES: &[(&str, &str)] = &[("typescript", include_str!("../cases/typescript.ts"))];
