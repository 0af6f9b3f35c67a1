//! `probes CLASS/NAME…`: runs these probes in our own sandbox and prints, for each, its verdict, its name and the evidence in
//! one line. `cargo xtask sabotage` builds it in a sabotaged tree: of all programs that run probes it is the quickest to build.

use std::io::Write;

use anyhow::Context;
use veriplay_corpus::probes::built_in_probes;
use veriplay_corpus::probes::run::run_probe;
use veriplay_sandbox::Image;
use xtask::probes::InProcessSandboxes;

fn main() -> anyhow::Result<()> {
    let image = Image::python()?;
    let (name, ours) = (image.name().to_owned(), InProcessSandboxes::new(image));
    let all = built_in_probes("python").context("the image has probes")?;
    for id in std::env::args().skip(1) {
        let probe = all.iter().find(|probe| probe.id() == id).with_context(|| format!("there is no probe `{id}`"))?;
        let finding = run_probe(&ours, probe, &name);
        writeln!(std::io::stdout(), "{} {id} {}", finding.verdict.word(), finding.evidence)?;
    }
    Ok(())
}
