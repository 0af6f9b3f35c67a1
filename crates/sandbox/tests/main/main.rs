//! Tests of the sandbox. `programs`: what jobs end as; `state`: nothing leaks from job to job; `values`: what crosses and
//! what does not; `frames`: a guest that forges them; `cache`: images on disk. The shim's own tests lie beside it.

mod programs;
mod support;
