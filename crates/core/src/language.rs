//! A language that programs are written in.

use crate::Digest;

/// What the host must know of a language to read, run and compare its programs.
pub trait Language: Sync {
    /// The image that its programs run in where nobody names another one.
    fn image(&self) -> &'static str;

    /// Whether a word behind the fence of a block, in lower case, says that the block is of this language.
    fn is_label(&self, word: &str) -> bool;

    /// Names a program by what it says: equal for programs that differ at most in layout, comments and the names of their own variables.
    fn fingerprint(&self, program: &str) -> Digest;
}
