//! The life of a worker process.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use veriplay_core::{Job, Layer};

use super::{Hello, Reply, frames, lockdown};
use crate::image::{Image, ImageSpec, ImageStore, build_alone};
use crate::pool::{Here, Pool};

/// Bytes of a frame from the parent, which is trusted: a bound on mistakes.
const MAX_ORDER: u64 = u32::MAX as u64;

/// Becomes a worker: answers the process that started this one over standard input, a socket, until it closes that.
///
/// A program that offers worker processes ([`crate::Sandbox::in_processes`]) calls this, and nothing before it, when it is
/// started with the arguments named in [`crate::WorkerProgram`].
///
/// # Errors
/// When standard input is no such socket, or the parent broke off in the middle of a frame.
pub fn serve() -> io::Result<()> {
    lockdown::close_all_but_standard()?;
    let mut pipe = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let Some(mut hello) = frames::receive::<Hello>(&mut pipe, MAX_ORDER)? else { return Ok(()) };
    let layers = std::mem::take(&mut hello.layers);
    let ready = load(&hello, layers).and_then(|pool| {
        lockdown::raise().map_err(|error| format!("cannot lock the worker down: {error}"))?;
        Ok(pool)
    });
    match ready {
        Ok(pool) => {
            frames::send(&mut pipe, &Reply::Ready)?;
            answer(&mut pipe, &pool)
        }
        Err(why) => frames::send(&mut pipe, &Reply::Fault(why)),
    }
}

fn load(hello: &Hello, layers: Vec<Layer>) -> Result<Pool<Here>, String> {
    let image = match &hello.module {
        Some(text) => build_alone(&hello.image, text).map_err(|error| error.to_string())?,
        None => cached(hello)?,
    };
    if image.digest().as_str() != hello.digest {
        return Err(format!(
            "image `{}` is another one than the parent's: is the worker another version?",
            hello.image
        ));
    }
    Ok(Pool::new(Here::new(image, hello.reset.into(), layers.into_iter().collect()), 1))
}

fn cached(hello: &Hello) -> Result<Arc<Image>, String> {
    let fail = |error: &dyn std::fmt::Display| error.to_string();
    let spec = ImageSpec::builtin(&hello.image).map_err(|error| fail(&error))?;
    let store = ImageStore::open(&hello.cache_dir).map_err(|error| fail(&error))?;
    let missing = || format!("image `{}` is not in the cache `{}`", hello.image, hello.cache_dir.display());
    store.load(&spec).ok_or_else(missing)
}

fn answer(pipe: &mut UnixStream, pool: &Pool<Here>) -> io::Result<()> {
    while let Some(job) = frames::receive::<Job>(pipe, MAX_ORDER)? {
        let reply = match pool.run(&job, true) {
            Ok(outcome) => Reply::Outcome(Box::new(outcome)),
            Err(error) => Reply::Fault(error.to_string()),
        };
        frames::send(pipe, &reply)?;
    }
    Ok(())
}
