//! Runs a script in the sandbox and reads what it printed.

use std::error::Error;

use veriplay_core::Job;
use veriplay_sandbox::Sandbox;

fn main() -> Result<(), Box<dyn Error>> {
    let sandbox = Sandbox::python()?;
    let outcome = sandbox.run(&Job::script("print(sum(range(10)))"))?;
    assert_eq!(outcome.stdout, b"45\n");
    Ok(())
}
