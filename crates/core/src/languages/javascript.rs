//! JavaScript, with a part of Node.js's interface. SandboxFusion calls it `nodejs`.

mod literals;

use super::ScannedLanguage;
pub(super) use literals::JavaScriptLiterals;

/// JavaScript, whose calls take and return plain values.
pub const JAVASCRIPT: ScannedLanguage = ScannedLanguage {
    names: &["javascript", "nodejs", "js"],
    image: "javascript",
    labels: &["node", "node.js", "ecmascript", "mjs"],
    extensions: &[".js", ".mjs", ".cjs"],
    is_compiled: false,
    has_lines: false,
    numbers_names: true,
    // By its long name: a program may declare `process` itself.
    arguments_push: Some("globalThis.process.argv.push"),
    literals: Some(&JavaScriptLiterals),
};
