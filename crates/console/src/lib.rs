//! What the commands share: how they fail, what they say, which files they write, and how they open images and sandboxes.
//!
//! [`exit`] has the exit codes and failures with advice, [`progress`] messages and bars on stderr. [`interrupt`] turns signals into a request to
//! stop, and [`leftovers`] removes what an ended command must not leave behind. [`json_file`] and [`logfile`] write files that a kill
//! does not tear. [`image`] and [`isolation`] open what `--image` and `--workers` name, and [`programs`] both for several languages;
//! [`limits`] are the ranges of options. [`free_memory`] and [`processors`] say what the machine has left, and [`colours`] are
//! those of all charts. The binary alone decides on commands: nothing here reads the command line.

pub mod colours;
pub mod exit;
pub mod free_memory;
pub mod image;
pub mod interrupt;
pub mod isolation;
pub mod json_file;
pub mod leftovers;
pub mod limits;
pub mod logfile;
pub mod processors;
pub mod programs;
pub mod progress;
pub mod text_log;
