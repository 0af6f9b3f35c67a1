//! Measures sandboxes: [`bench`] how fast they judge, [`isolate`] what programs can do in them. Both compare Veriplay with sandboxes of others.
//!
//! [`http`] is a client that sends what no well-behaved library would.

pub mod bench;
pub mod http;
pub mod isolate;
