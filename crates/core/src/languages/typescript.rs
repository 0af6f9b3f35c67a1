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
    literals: None,
};
