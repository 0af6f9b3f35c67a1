//! Tests of the sandbox. `programs`: what programs print and end as; `state`: nothing leaks from job to job; `reproducible`: the same job has the
//! same outcome; `callees`: jobs that call another program; `interactions`: jobs whose program talks with another; `cancelled`: jobs that end
//! without an outcome; `modules`: jobs whose program is a module; `javascript`: jobs in JavaScript; `compiled`: jobs of C++ and C; `values`: what
//! crosses and what does not; `workers`: jobs in processes of their own; `frames`: guests that break the protocol; `cache`: images on disk, with
//! a guest of a few lines, so that nothing large is compiled; `archive`: the same as one file. The shim's own tests lie beside it. Files of
//! cases are read by `support::cases`.

mod archive;
mod cache;
mod callees;
mod cancelled;
mod compiled;
mod frames;
mod interactions;
mod javascript;
mod layers;
mod modules;
mod outcome_cache;
mod own_images;
mod programs;
mod reproducible;
mod state;
mod support;
mod values;
mod warmed;
mod workers;
