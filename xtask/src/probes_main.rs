//! `probes CLASS/NAME…`: runs these probes in our own sandbox and prints, for each, its verdict, its name and the evidence in
//! one line. `cargo xtask sabotage` builds it in a sabotaged tree: of all programs that run probes it is the quickest to build.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::Write;

use anyhow::Context;
use veriplay_corpus::probes::run::run_probe;
use veriplay_corpus::probes::{Probe, ProbeLanguage};
use veriplay_sandbox::{ImageSpec, ImageStore, default_cache_dir};
use xtask::probes::InProcessSandboxes;

fn main() -> anyhow::Result<()> {
    // An image is opened for the first probe that attacks it: not everybody has what that of JavaScript is built with.
    let mut images = BTreeMap::new();
    for id in std::env::args().skip(1) {
        let (language, probe) = find(&id).with_context(|| format!("there is no probe `{id}`"))?;
        let image = language.name();
        let ours = match images.entry(image) {
            Entry::Occupied(opened) => opened.into_mut(),
            Entry::Vacant(place) => place.insert(open(language)?),
        };
        let finding = run_probe(ours, &probe, image);
        writeln!(std::io::stdout(), "{} {id} {}", finding.verdict.word(), finding.evidence)?;
    }
    Ok(())
}

/// The probe of this id, and its language.
fn find(id: &str) -> Option<(ProbeLanguage, Probe)> {
    let found = |language: ProbeLanguage| language.probes().into_iter().find(|probe| probe.id() == id);
    ProbeLanguage::ALL.into_iter().find_map(|language| Some((language, found(language)?)))
}

fn open(language: ProbeLanguage) -> anyhow::Result<InProcessSandboxes> {
    if language == ProbeLanguage::Wasm {
        return Ok(InProcessSandboxes::Modules);
    }
    let store = ImageStore::open(&default_cache_dir()?)?;
    if language == ProbeLanguage::Cpp {
        return Ok(InProcessSandboxes::Compiled(store.load_or_build_toolchain(&|_| {})?));
    }
    let image = language.name();
    let opened = store.load_or_build(&ImageSpec::builtin(image)?, &|_| {});
    Ok(InProcessSandboxes::new(opened.with_context(|| format!("there is no image `{image}`"))?))
}
