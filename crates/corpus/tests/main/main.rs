//! The corpus, from the outside.

mod python;
