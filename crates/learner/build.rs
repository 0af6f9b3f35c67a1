//! With the feature `cuda`: compiles the kernels of `cuda/` to PTX, for the card that `CUDA_COMPUTE_CAP` names or that is here.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "cuda")]
    kernels();
}

/// Tensor cores multiply bfloat16, and shared memory is filled past the registers, from this generation on.
#[cfg(feature = "cuda")]
const OLDEST: usize = 80;

#[cfg(feature = "cuda")]
fn kernels() {
    let capability = cudaforge::detect_compute_cap().map_or(OLDEST, |found| found.base());
    assert!(
        capability >= OLDEST,
        "the kernels of veriplay-learner want compute capability {OLDEST} or higher (A100, RTX 30, or later), and this is {capability}: set \
         `CUDA_COMPUTE_CAP`, or build without the feature `cuda`"
    );
    let builder = cudaforge::KernelBuilder::new().source_dir("cuda").watch(["cuda"]).arg("-std=c++17").arg("-O3");
    builder.build_ptx().unwrap_or_else(|error| panic!("building crates/learner/cuda: {error}"));
}
