//! The targets on any toolchain: their saved corpora, and mutations of them.

mod corpora;
mod mutate;
