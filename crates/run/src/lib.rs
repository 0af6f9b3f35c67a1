//! A run of self-play: [`config`] and [`game_setup`] say what is played, [`play`] plays it in a [`rundir`], and [`warmup`] makes the models that it
//! starts from.
//!
//! [`model`], [`device`], [`memory`] and [`proposer`] open models, [`step_time`] estimates how long a run takes, [`executor`] and [`judged_images`]
//! are what judges, and [`suites`] measures a model on public sets, during a run or for `veriplay eval`.

pub mod builtin_configs;
pub mod config;
pub mod device;
pub mod executor;
pub mod game_setup;
pub mod judged_images;
mod kept_policies;
pub mod memory;
pub mod model;
pub mod named_files;
pub mod numbers;
pub mod passes;
pub mod play;
pub mod play_config;
pub mod programs;
pub mod proposer;
pub mod rollout_server;
pub mod rundir;
pub mod scripted_setup;
pub mod step_time;
pub mod suites;
pub mod warmup;
pub mod warmup_examples;
