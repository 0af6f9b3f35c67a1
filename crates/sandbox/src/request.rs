//! Encodes a job for the harness, and checks that it can run.
//!
//! Each program is two requests. The first is `K` and the program's text in UTF-8, which the harness compiles; `k` is that of a script in JavaScript,
//! in which no binding is looked up later. The second says how it is run,
//! little-endian: mode (`S` script, `C` calls, `M` calls whose values may cross in the format of `marshal`, `P` callee, `O` callee that shares its objects and tells its code, `W` the program of a warmed image, `L` a preload),
//! seed u64, output cap u32, and for `C`, `M` and `L` the function name (u32 length, UTF-8), u32 count of calls, and one encoded list of arguments each, or `m`, u32 length, and the list in the
//! format of `marshal`, where the result may come in that format, too.

use std::collections::HashSet;

use veriplay_core::{Callee, Entry, ExecuteError, Interactor, Job, Limits, Preload, Value, is_plain_relative};

use crate::guest_kind::GuestKind;

pub(crate) fn encode_program(program: &str, entry: &Entry, kind: GuestKind) -> Vec<u8> {
    [&[kind.program_tag(entry)], program.as_bytes()].concat()
}

pub(crate) fn encode_request(job: &Job, kind: GuestKind) -> Vec<u8> {
    let may_marshal = kind.has_marshal() && may_marshal(job);
    let mode = match job.entry {
        Entry::Script => b'S',
        Entry::Calls { .. } if may_marshal => b'M',
        Entry::Calls { .. } => b'C',
    };
    let mut out = encode_head(mode, job.seed, job);
    if let Entry::Calls { function, arguments } = &job.entry {
        put_bytes(&mut out, function.as_bytes());
        put_count(&mut out, arguments.len());
        for list in arguments {
            let marshalled = if may_marshal { Value::list_to_marshal(list) } else { None };
            match marshalled {
                Some(marshalled) => {
                    out.push(b'm');
                    put_bytes(&mut out, &marshalled);
                }
                None => put_arguments(&mut out, list),
            }
        }
    }
    out
}

/// Whether arguments and results may cross in the format of `marshal`: where nobody runs beside the program who would be told of it. The
/// harness keeps it from hooks of audits.
const fn may_marshal(job: &Job) -> bool {
    job.preload.is_none() && job.callee.is_none()
}

pub(crate) fn encode_callee_request(job: &Job, callee: &Callee) -> Vec<u8> {
    encode_head(if callee.shares_objects { b'O' } else { b'P' }, callee.seed, job)
}

/// Encodes the request to run the program of an instance that becomes an image.
pub(crate) fn encode_warm_request(job: &Job) -> Vec<u8> {
    encode_head(b'W', job.seed, job)
}

pub(crate) fn encode_preload_request(job: &Job, preload: &Preload) -> Vec<u8> {
    let mut out = encode_head(b'L', 0, job);
    put_bytes(&mut out, preload.function.as_bytes());
    put_count(&mut out, 1);
    put_arguments(&mut out, &preload.arguments);
    out
}

fn encode_head(mode: u8, seed: u64, job: &Job) -> Vec<u8> {
    let mut out = Vec::with_capacity(64);
    out.push(mode);
    out.extend_from_slice(&seed.to_le_bytes());
    out.extend_from_slice(&saturate(job.limits.output_bytes).to_le_bytes());
    out
}

pub(crate) fn expected_calls(job: &Job) -> usize {
    match &job.entry {
        Entry::Script => 0,
        Entry::Calls { arguments, .. } => arguments.len(),
    }
}

/// Checks that a job can run as described, whatever its program does.
pub(crate) fn check_job(job: &Job, image_bytes: u64) -> Result<(), ExecuteError> {
    // A turn of an episode may have no fuel left. It ends at once.
    Limits::check_fuel(job.limits.fuel.max(*Limits::FUEL.start())).map_err(ExecuteError::BadJob)?;
    check_files(&job.files)?;
    check_arguments(&job.arguments)?;
    if let Some(interactor) = &job.interactor {
        check_interactor(job, interactor, image_bytes)?;
    }
    if let Some(path) = job.fetch.iter().find(|path| !is_plain_relative(path)) {
        return Err(ExecuteError::BadJob(format!("file path `{path}` to fetch is not a plain relative path")));
    }
    if let Some(callee) = &job.callee {
        check_files(&callee.files)?;
        check_files(&callee.files_in(job))?;
    }
    check_memory(job, image_bytes)?;
    if job
        .callee
        .iter()
        .map(|callee| &callee.program)
        .chain([&job.program])
        .chain(job.preload.iter().map(|preload| &preload.program))
        .any(|text| u32::try_from(text.len()).is_err())
    {
        return Err(ExecuteError::BadJob("the program is longer than 4 GiB".to_owned()));
    }
    Ok(())
}

/// Checks that a job may have the memory that an instance of its image has at the start.
pub(crate) fn check_memory(job: &Job, image_bytes: u64) -> Result<(), ExecuteError> {
    let allowed = job.limits.memory_bytes;
    if allowed >= image_bytes {
        return Ok(());
    }
    Err(ExecuteError::BadJob(format!(
        "memory limit of {allowed} bytes is below the {image_bytes} of the image `{}` itself; raise `memory_bytes`",
        job.image
    )))
}

/// Checks that a job is a script that an interactor can talk with, and that the interactor can run.
fn check_interactor(job: &Job, interactor: &Interactor, image_bytes: u64) -> Result<(), ExecuteError> {
    let is_plain_script = job.entry == Entry::Script && job.stdin.is_empty();
    if !is_plain_script || job.preload.is_some() || job.callee.is_some() {
        let what = "a job with an interactor must be a script without `stdin`, a preload and a callee";
        return Err(ExecuteError::BadJob(what.to_owned()));
    }
    check_job(&interactor.as_job(job), image_bytes)
}

fn check_arguments(arguments: &[String]) -> Result<(), ExecuteError> {
    let (bytes, most) = (arguments.iter().map(String::len).sum::<usize>(), Job::MOST_ARGUMENT_BYTES);
    match arguments.iter().find(|word| word.contains('\0')) {
        Some(word) => Err(ExecuteError::BadJob(format!("argument {word:?} has a zero byte, which ends one"))),
        None if bytes > most => {
            Err(ExecuteError::BadJob(format!("its arguments have {bytes} bytes, and may have {most}")))
        }
        None => Ok(()),
    }
}

fn check_files(files: &[(String, Vec<u8>)]) -> Result<(), ExecuteError> {
    let mut seen = HashSet::new();
    for (path, _) in files {
        if !is_plain_relative(path) {
            return Err(ExecuteError::BadJob(format!("file path `{path}` is not a plain relative path")));
        }
        if !seen.insert(path.as_str()) {
            return Err(ExecuteError::BadJob(format!("file `{path}` is given twice")));
        }
    }
    for (path, _) in files {
        let mut above = path.rmatch_indices('/').map(|(at, _)| &path[..at]);
        if let Some(file) = above.find(|dir| seen.contains(dir)) {
            return Err(ExecuteError::BadJob(format!("file `{file}` is also a directory of `{path}`")));
        }
    }
    Ok(())
}

fn saturate(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

fn put_count(out: &mut Vec<u8>, count: usize) {
    out.extend_from_slice(&saturate(count as u64).to_le_bytes());
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_count(out, bytes.len());
    out.extend_from_slice(bytes);
}

fn put_arguments(out: &mut Vec<u8>, list: &[Value]) {
    out.push(b'l');
    put_count(out, list.len());
    for value in list {
        out.extend_from_slice(&value.encode());
    }
}
