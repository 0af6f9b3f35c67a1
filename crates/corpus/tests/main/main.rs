//! The corpus, from the outside.

mod drafts;
mod forgery_files;
mod generator;
mod grammar_errors;
mod python;
mod seed_files;
mod splits;
mod task_file;
