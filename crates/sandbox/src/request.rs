//! A job as the harness reads it, and the check that we can run it at all.
//!
//! Layout, little-endian: mode (`S` script, `C` calls, `P` callee, `O` callee that shares its objects, `W` the program of a warmed image), seed u64, output cap u32, program (u32 length, UTF-8), and for `C` the
//! function name (the same way), u32 count of calls, and one encoded list of arguments each.

use std::collections::HashSet;

use veriplay_core::{Callee, Entry, ExecuteError, Job, Value};

use crate::wasi::files::is_plain_relative;

/// The bytes the harness fetches.
pub(crate) fn encode(job: &Job) -> Vec<u8> {
    let mode = match job.entry {
        Entry::Script => b'S',
        Entry::Calls { .. } => b'C',
    };
    let mut out = head(mode, job.seed, job, &job.program);
    if let Entry::Calls { function, arguments } = &job.entry {
        put_text(&mut out, function);
        put_count(&mut out, arguments.len());
        for list in arguments {
            put_arguments(&mut out, list);
        }
    }
    out
}

/// The bytes the harness of the job's callee fetches first.
pub(crate) fn encode_callee(job: &Job, callee: &Callee) -> Vec<u8> {
    head(if callee.shares_objects { b'O' } else { b'P' }, callee.seed, job, &callee.program)
}

/// The bytes the harness fetches where the instance becomes an image.
pub(crate) fn encode_warm(job: &Job) -> Vec<u8> {
    head(b'W', job.seed, job, &job.program)
}

fn head(mode: u8, seed: u64, job: &Job, program: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(64 + program.len());
    out.push(mode);
    out.extend_from_slice(&seed.to_le_bytes());
    out.extend_from_slice(&saturated(job.limits.output_bytes).to_le_bytes());
    put_text(&mut out, program);
    out
}

/// How many results are due.
pub(crate) fn expected_calls(job: &Job) -> usize {
    match &job.entry {
        Entry::Script => 0,
        Entry::Calls { arguments, .. } => arguments.len(),
    }
}

/// Refuses a job that cannot be run as written, whatever its program does.
///
/// # Errors
/// [`ExecuteError::BadJob`].
pub(crate) fn check(job: &Job, image_bytes: u64) -> Result<(), ExecuteError> {
    check_files(&job.files)?;
    if let Some(callee) = &job.callee {
        check_files(&callee.files)?;
        check_files(&callee.files_in(job))?;
    }
    if job.limits.memory_bytes < image_bytes {
        let allowed = job.limits.memory_bytes;
        return Err(ExecuteError::BadJob(format!(
            "memory limit of {allowed} bytes is below the image's own {image_bytes}; raise `memory_bytes`"
        )));
    }
    if job
        .callee
        .iter()
        .map(|callee| &callee.program)
        .chain([&job.program])
        .any(|text| u32::try_from(text.len()).is_err())
    {
        return Err(ExecuteError::BadJob("the program is longer than 4 GiB".to_owned()));
    }
    Ok(())
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

fn saturated(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

fn put_count(out: &mut Vec<u8>, count: usize) {
    out.extend_from_slice(&saturated(count as u64).to_le_bytes());
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_count(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

fn put_arguments(out: &mut Vec<u8>, list: &[Value]) {
    out.push(b'l');
    put_count(out, list.len());
    for value in list {
        out.extend_from_slice(&value.encode());
    }
}
