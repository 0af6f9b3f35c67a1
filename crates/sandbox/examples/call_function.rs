//! Calls a function of an untrusted program and reads its values; what fails says where.

use std::error::Error;

use veriplay_core::{Job, OutcomeError, Value};
use veriplay_sandbox::Sandbox;

const PROGRAM: &str = "def area(width, height):\n    return {'area': width * height}\n";

fn main() -> Result<(), Box<dyn Error>> {
    let sandbox = Sandbox::python()?;
    let value = sandbox.run(&Job::call(PROGRAM, "area", [3.into(), 4.into()]))?.value()?;
    assert_eq!(value, Value::parse_repr("{'area': 12}")?);

    let failed = sandbox.run(&Job::call(PROGRAM, "area", [3.into()]))?;
    let Err(OutcomeError::Call { error, .. }) = failed.value() else { return Err("one argument is missing".into()) };
    assert_eq!(error.kind, "TypeError");
    Ok(())
}
