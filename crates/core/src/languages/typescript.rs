//! TypeScript, whose types are taken out in the sandbox. SandboxFusion calls it `typescript`.

use super::ScannedLanguage;

pub(super) const TYPESCRIPT: ScannedLanguage = ScannedLanguage {
    names: &["typescript", "ts"],
    image: "typescript",
    labels: &["mts", "cts"],
    extensions: &[".ts", ".mts", ".cts"],
    is_compiled: false,
    has_lines: false,
    numbers_names: false,
    // By its long name: a program may declare `process` itself.
    arguments_push: Some("globalThis.process.argv.push"),
    literals: None,
};
