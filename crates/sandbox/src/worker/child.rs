//! The life of a worker process.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;

use veriplay_core::{Job, Layer};

use super::{Hello, Origin, Reply, frames, lockdown};
use crate::exports::State;
use crate::image::{Image, ImageSpec, ImageStore, Named, build_alone};
use crate::memory::Baseline;
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
    let image = match &hello.from {
        Origin::Module(text) => {
            let image = build_alone(&hello.image.name, text).map_err(|error| error.to_string())?;
            the_parents(image, &hello.image)?
        }
        Origin::Cache => cached(&hello.image, &hello.cache_dir)?,
        Origin::Warmed { of, state } => warmed(&*cached(of, &hello.cache_dir)?, &hello.image, state)?,
    };
    Ok(Pool::new(Here::new(image, hello.reset.into(), layers.into_iter().collect()), 1))
}

/// `image`, if it is the one that the parent means.
fn the_parents(image: Arc<Image>, named: &Named) -> Result<Arc<Image>, String> {
    let other = || format!("image `{}` is another one than the parent's: is the worker another version?", named.name);
    if image.digest() == &named.digest { Ok(image) } else { Err(other()) }
}

fn cached(named: &Named, cache_dir: &Path) -> Result<Arc<Image>, String> {
    let fail = |error: &dyn std::fmt::Display| error.to_string();
    let name = &named.name;
    let spec = ImageSpec::builtin(name).map_err(|error| fail(&error))?;
    let store = ImageStore::open(cache_dir).map_err(|error| fail(&error))?;
    let image = store.load(&spec);
    let missing = || format!("image `{name}` is not in the cache `{}`", cache_dir.display());
    the_parents(image.ok_or_else(missing)?, named)
}

/// The image that the parent has made of `image`, whose memory is this process's standard output.
fn warmed(image: &Image, named: &Named, state: &State) -> Result<Arc<Image>, String> {
    let memory = io::stdout().as_fd().try_clone_to_owned().map(File::from);
    let baseline = memory.and_then(Baseline::shared).map_err(|error| error.to_string())?;
    let image = image.with_state(named.clone(), baseline, state.clone());
    image.map(Arc::new).map_err(|error| error.to_string())
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
