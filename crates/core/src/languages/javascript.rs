//! JavaScript, with a part of Node.js's interface. SandboxFusion calls it `nodejs`.

use super::ScannedLanguage;

pub(super) const JAVASCRIPT: ScannedLanguage = ScannedLanguage {
    names: &["javascript", "nodejs", "js"],
    image: "javascript",
    labels: &["node", "node.js", "ecmascript", "mjs"],
    extensions: &[".js", ".mjs"],
    is_compiled: false,
};
