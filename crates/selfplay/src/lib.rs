#![doc = include_str!("../README.md")]
//!
//! # Inside
//! Called by the loop in `crates/run`, which owns files, clock and worker threads. Everything here is data and pure functions: no IO and no
//! clock. One scoped thread judges a chunk of episodes while the next is sampled, and changes no result. All randomness is drawn from
//! [`randomness::generator`], seeded by (run seed, step, purpose), so a resumed run needs no generator state.
//!
//! A thing is added with one file and one line in a const slice: a reward in [`rewards::REWARDS`], an advantage in
//! [`advantages::ADVANTAGES`], a curriculum in [`curricula::CURRICULA`], a proposer factor in
//! [`proposer_factor::FACTORS`], a monitor in [`monitors::MONITORS`]. A game is a crate that implements [`game::Game`], such as those of `crates/games`.

pub mod admission;
pub mod advantages;
pub mod after_update;
pub mod behaviours;
pub mod curricula;
pub mod driver;
pub mod environment;
pub mod episode_metrics;
pub mod eval_table;
mod evaluate;
pub mod external;
pub mod facts;
pub mod game;
pub mod game_state;
mod held;
pub mod intervals;
pub mod intrinsic;
pub mod judgement;
pub mod memory;
pub mod methods;
pub mod metrics;
pub mod monitors;
pub mod multi_turn;
mod pairs;
mod pipeline;
pub mod play;
pub mod preferences;
pub mod preparation;
pub mod prompt_frames;
mod prompt_groups;
pub mod proposer_factor;
pub mod randomness;
pub mod records;
pub mod registry;
pub mod replay;
pub mod rewards;
pub mod rollout;
pub mod scoring;
pub mod self_imitation;
pub mod settings;
pub mod splits;
mod stages;
pub mod statistics;
pub mod step;
pub mod task_pool;
pub mod temperature_search;
mod training_signal;
mod waypoints;
