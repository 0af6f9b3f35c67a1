//! Generated programs with the values they return: executed, and kept where they make a good task.

use std::collections::{BTreeMap, HashSet};

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use veriplay_console::exit::{ExitCode, Failure, ResultExt, bad_value, check_counts};
use veriplay_console::progress::{self, counted};
use veriplay_core::{CallResult, EncodeCaps, Execute, ExecuteError, Exit, IoPair, Job, Limits, Value, program_hash};
use veriplay_corpus::{CorpusError, GeneratedProgram, Grammar, InputKind, Split};

/// Which programs are generated and kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataConfig {
    /// Programs drawn for each family; repeated, held-out and trivial ones are dropped.
    pub programs: BTreeMap<String, usize>,
    /// Family weights of solver examples.
    pub solver_mix: BTreeMap<String, f64>,
    /// Family weights of proposer examples.
    pub proposer_mix: BTreeMap<String, f64>,
    /// Inputs executed for each program.
    pub inputs: usize,
    /// As [`ProgramFilter::max_output_chars`].
    pub max_output_chars: usize,
    /// As [`ProgramFilter::min_distinct_outputs`].
    pub min_distinct_outputs: usize,
    /// Limits of each execution.
    pub limits: Limits,
}

impl DataConfig {
    /// Rejects values of which no example can be made.
    pub fn check(&self) -> Result<(), Failure> {
        let distinct = self.min_distinct_outputs as u64;
        check_counts(&[("data.inputs", self.inputs as u64), ("data.min_distinct_outputs", distinct)])?;
        for (key, mix) in [("data.solver_mix", &self.solver_mix), ("data.proposer_mix", &self.proposer_mix)] {
            if let Some((family, weight)) = mix.iter().find(|(_, weight)| !(weight.is_finite() && **weight >= 0.0)) {
                return Err(bad_value(&format!("{key}.{family}"), weight, "a number that is not negative"));
            }
            if !self.programs.keys().any(|family| has_weight(mix, family)) {
                let named = mix.keys().cloned().collect::<Vec<_>>().join(", ");
                let known = self.programs.keys().cloned().collect::<Vec<_>>().join("`, `");
                let want = "a table that gives a family of `data.programs` a weight above 0; they are";
                return Err(bad_value(key, &named, &format!("{want} `{known}`")));
            }
        }
        Ok(())
    }

    const fn filter(&self) -> ProgramFilter {
        ProgramFilter { max_output_chars: self.max_output_chars, min_distinct_outputs: self.min_distinct_outputs }
    }
}

fn has_weight(mix: &BTreeMap<String, f64>, family: &str) -> bool {
    mix.get(family).is_some_and(|weight| *weight > 0.0)
}

/// When a program makes a good task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramFilter {
    /// Longest output, in characters of its `repr`; inputs with longer ones are left out.
    pub max_output_chars: usize,
    /// Fewest distinct outputs over the inputs.
    pub min_distinct_outputs: usize,
}

/// Where programs are run: the image, and what runs jobs in it.
#[derive(Clone, Copy)]
pub struct ProgramRunner<'a> {
    /// Name of the image that programs run in.
    pub image: &'a str,
    /// The executor that runs them there.
    pub execute: &'a dyn Execute,
}

/// A program and what it returned for each input.
#[derive(Debug, Clone)]
pub struct ExecutedProgram {
    /// The text of the program.
    pub program: String,
    /// What it takes.
    pub kind: InputKind,
    /// Each input with what it returned.
    pub pairs: Vec<IoPair>,
}

impl ExecutedProgram {
    /// Runs a generated program on inputs; `None` where it makes no good task.
    pub fn make(
        filter: &ProgramFilter,
        limits: Limits,
        generated: GeneratedProgram,
        inputs: Vec<Vec<Value>>,
        runner: ProgramRunner<'_>,
    ) -> Result<Option<Self>, ExecuteError> {
        let pairs = execute_on(filter, limits, &generated.program, inputs, runner)?;
        Ok(pairs.map(|pairs| Self { program: generated.program, kind: generated.input_kind, pairs }))
    }
}

/// Executed programs by family.
pub struct ProgramPools {
    families: BTreeMap<String, Vec<ExecutedProgram>>,
}

impl ProgramPools {
    /// Generates and executes programs. Only those of [`Split::Train`] are kept.
    pub fn build(
        config: &DataConfig,
        grammar: &Grammar,
        seed: u64,
        runner: ProgramRunner<'_>,
    ) -> Result<Self, Failure> {
        let bar = progress::bar(config.programs.values().sum::<usize>() as u64, "programs");
        let mut families = BTreeMap::new();
        for (index, (family, count)) in config.programs.iter().enumerate() {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(u64::MAX - index as u64);
            let drafts = drafts(grammar, family, *count, config.inputs, &mut rng).or_fail(ExitCode::Input)?;
            let executed: Result<Vec<Option<ExecutedProgram>>, ExecuteError> = drafts
                .into_par_iter()
                .map(|(program, inputs)| {
                    bar.inc(1);
                    ExecutedProgram::make(&config.filter(), config.limits, program, inputs, runner)
                })
                .collect();
            families.insert(family.clone(), executed.or_fail(ExitCode::Host)?.into_iter().flatten().collect());
        }
        bar.finish_and_clear();
        let pools = Self { families };
        let size =
            |(family, pool): (&String, &Vec<_>)| format!("{} of family `{family}`", counted(pool.len(), "program"));
        progress::say(pools.families.iter().map(size).collect::<Vec<_>>().join(", "));
        let is_used = |family: &str| has_weight(&config.solver_mix, family) || has_weight(&config.proposer_mix, family);
        let is_empty = |family: &String| pools.families[family].is_empty() && is_used(family);
        if let Some((family, drawn)) = config.programs.iter().find(|(family, _)| is_empty(family)) {
            let what =
                format!("configuration key `data.programs.{family}` is `{drawn}`: none of them makes an example");
            let hint =
                "draw more, raise `data.limits.fuel` or `data.max_output_chars`, or lower `data.min_distinct_outputs`";
            return Err(Failure::message(ExitCode::Input, what).hint(hint));
        }
        Ok(pools)
    }

    /// One program by family weight.
    pub fn draw(&self, rng: &mut impl Rng, mix: &BTreeMap<String, f64>) -> &ExecutedProgram {
        let weighted: Vec<(&String, &f64)> =
            mix.iter().filter(|(family, _)| self.families.contains_key(*family)).collect();
        let (family, _) = weighted.choose_weighted(rng, |(_, weight)| **weight).expect("the mix names pools");
        self.families[*family].choose(rng).expect("no pool is empty")
    }
}

/// A program and the argument lists to run it on.
type Draft = (GeneratedProgram, Vec<Vec<Value>>);

/// Distinct programs of the training split, each with inputs to run.
fn drafts(
    grammar: &Grammar,
    family: &str,
    count: usize,
    inputs: usize,
    rng: &mut ChaCha8Rng,
) -> Result<Vec<Draft>, CorpusError> {
    let mut seen = HashSet::new();
    let mut drafts = Vec::new();
    for _ in 0..count {
        let generated = grammar.program(rng, family)?;
        let argument_lists = grammar.inputs(rng, generated.input_kind, inputs);
        let fresh = seen.insert(program_hash(&generated.program));
        if fresh && grammar.split_of(&generated.program) == Split::Train {
            drafts.push((generated, argument_lists));
        }
    }
    Ok(drafts)
}

/// The values that a program's `f` returns for inputs; `None` where it makes no good task.
pub fn execute_on(
    filter: &ProgramFilter,
    limits: Limits,
    program: &str,
    inputs: Vec<Vec<Value>>,
    runner: ProgramRunner<'_>,
) -> Result<Option<Vec<IoPair>>, ExecuteError> {
    let job = Job { image: runner.image.to_owned(), limits, ..Job::calls(program, "f", inputs.clone()) };
    let outcome = runner.execute.execute(&job)?;
    if outcome.exit != Exit::Returned {
        return Ok(None);
    }
    let caps = EncodeCaps::with_bytes(limits.output_bytes as usize);
    let mut pairs = Vec::new();
    for (input, call) in inputs.into_iter().zip(&outcome.calls) {
        if let CallResult::Returned(bytes) = call
            && let Ok(output) = Value::decode(bytes, caps)
            && output.to_string().chars().count() <= filter.max_output_chars
        {
            pairs.push(IoPair { input, output });
        }
    }
    let distinct: HashSet<String> = pairs.iter().map(|pair| pair.output.to_string()).collect();
    let keep = distinct.len() >= filter.min_distinct_outputs;
    Ok(keep.then_some(pairs))
}
