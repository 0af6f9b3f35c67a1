//! What a JavaScript guest can call: the shim's system calls, and `env.host_call`, by which its harness sends frames. Each call costs fuel.
//!
//! The frames of the value channel go to [`Channel`](crate::channel::Channel) as they are. The interpreter's programs make no system calls, so
//! there are frames for those too; `sandboxes/javascript/harness.js` lists them. To read a frame and to reply, the host calls the guest, which may
//! send no frame meanwhile, but where it runs the jobs of promises.

use std::sync::Arc;

use veriplay_core::{Entry, ExecuteError, Job, Value};
use wasmtime::{Caller, Linker, TypedFunc, WasmParams, WasmResults};

use crate::channel::ChannelReply;
use crate::host::Host;
use crate::host_trap::HostTrap;
use crate::imports::{FRAME_BYTE, charge, make_system_linker};
use crate::quickjs::{Fixtures, QuickJs, Rejection, bytes_at, long_at, word_at};

const MODULE: &str = "env";
/// Fuel for each rejection that is looked at.
const STEP: u64 = 24;

/// Makes a linker with everything that a JavaScript guest can call.
pub(crate) fn make_linker(engine: &wasmtime::Engine) -> wasmtime::Result<Linker<Host>> {
    let mut linker = make_system_linker(engine)?;
    linker.func_wrap_async(MODULE, "host_call", |caller, arguments| Box::new(host_call(caller, arguments)))?;
    linker.func_wrap_async(MODULE, "host_promise_rejection", |caller, arguments| {
        Box::new(note_rejection(caller, arguments))
    })?;
    linker.func_wrap(MODULE, "host_get_timezone_offset", |c: Caller<'_, Host>, _: i32, _: i32| {
        charge(&c, 0).map(|()| 0_i32)
    })?;
    // Never called: the interpreter's hooks for them are off.
    linker.func_wrap(MODULE, "host_interrupt", || 0_i32)?;
    linker.func_wrap(MODULE, "host_module_normalize", |_: i32, _: i32| 0_i32)?;
    linker.func_wrap(MODULE, "host_module_load", |_: i32, _: i32| 0_i32)?;
    Ok(linker)
}

fn protocol(what: &'static str) -> wasmtime::Error {
    wasmtime::Error::new(HostTrap::Protocol(what))
}

fn interpreter(host: &Host) -> wasmtime::Result<Arc<QuickJs>> {
    host.quickjs.clone().ok_or_else(|| wasmtime::Error::msg("the module calls its host while it is being instantiated"))
}

/// Calls a function of the guest's that runs no code of the program's, so that a frame meanwhile is refused.
async fn call<P: WasmParams + Sync, R: WasmResults + Sync>(
    caller: &mut Caller<'_, Host>,
    function: &TypedFunc<P, R>,
    parameters: P,
) -> wasmtime::Result<R> {
    caller.data_mut().channel.set_answering(true);
    let result = function.call_async(&mut *caller, parameters).await?;
    caller.data_mut().channel.set_answering(false);
    Ok(result)
}

/// `env.host_call(name, name length, this, argc, argv) -> value`: one frame to the host, one back.
async fn host_call(mut caller: Caller<'_, Host>, arguments: (i32, i32, i32, i32, i32)) -> wasmtime::Result<i32> {
    let (name, name_len, _, _, argv) = arguments;
    if caller.data().channel.is_answering() {
        return Err(protocol("a frame inside a frame"));
    }
    let guest = interpreter(caller.data())?;
    let memory = caller.data().memory()?;
    let bytes = memory.data(&caller);
    let is_text = bytes_at(bytes, name, name_len)? == b"text";
    let (argument, fixtures) = (word_at(bytes, argv)?, Fixtures::read(bytes)?);
    let mut exchange = Exchange { caller: &mut caller, guest, fixtures };
    if is_text { exchange.answer_text(argument).await } else { exchange.answer_bytes(argument).await }
}

/// `env.host_promise_rejection(promise, reason, is handled)`: a promise is rejected that nothing handles, or is handled after that.
async fn note_rejection(mut caller: Caller<'_, Host>, arguments: (i32, i32, i32)) -> wasmtime::Result<()> {
    let (promise, reason, is_handled) = arguments;
    let guest = interpreter(caller.data())?;
    let memory = caller.data().memory()?;
    let identity = long_at(memory.data(&caller), promise)?;
    let promises = &mut caller.data_mut().promises;
    if is_handled == 0 {
        promises.rejected.push(Rejection { identity, promise, reason });
        return charge(&caller, 0);
    }
    let (handled, looked_at) = promises.take(identity);
    charge(&caller, looked_at.saturating_mul(STEP))?;
    for value in handled.iter().flat_map(|known| [known.promise, known.reason]).chain([promise, reason]) {
        call(&mut caller, &guest.free_value, value).await?;
    }
    Ok(())
}

/// What is to be done for a frame.
enum Reply {
    Bytes(Vec<u8>),
    /// Send back this request to compile a program: its tag in the frame's buffer, its text as a string.
    Program(Vec<u8>),
    /// Send back what is behind the frame's tag, as a string.
    Text,
    /// Send back the next bytes of standard input, once there are some.
    Input,
    RunJobs,
    /// Send back the reason of the first rejection.
    Reason,
    EndTurn,
}

/// Handles one frame, as far as that needs no guest.
fn receive(host: &mut Host, frame: &[u8]) -> Result<Reply, HostTrap> {
    let Some((tag, body)) = frame.split_first() else {
        return Err(HostTrap::Protocol("an empty frame"));
    };
    let is_system_call = matches!(tag, b'0' | b'1' | b'2' | b'f' | b'x' | b'z');
    host.called_system |= is_system_call;
    let nothing = Reply::Bytes(Vec::new());
    match tag {
        b'u' => Ok(Reply::Text),
        b'e' => Ok(Reply::Bytes(body.to_vec())),
        b'0' => Ok(Reply::Input),
        b'1' => host.wasi.stdout.write(body).map(|()| nothing),
        b'2' => host.wasi.stderr.write(body).map(|()| nothing),
        b'f' => {
            let found = std::str::from_utf8(body).ok().and_then(|path| host.wasi.read_whole_file(path));
            Ok(Reply::Bytes(found.map_or_else(|| b"0".to_vec(), |content| [b"1", content.as_slice()].concat())))
        }
        b'z' => {
            let nanoseconds = body.try_into().map_err(|_| HostTrap::Protocol("a malformed sleep"))?;
            host.wasi.sleep(f64::from_le_bytes(nanoseconds));
            Ok(nothing)
        }
        b'~' => Ok(Reply::RunJobs),
        b'?' => Ok(Reply::Reason),
        b'x' => Ok(Reply::EndTurn),
        _ if frame.len() as u64 > host.channel.max_frame() => Err(host.channel.output_exceeded(frame.len() as u64)),
        _ => match host.channel.receive(frame)? {
            ChannelReply::Bytes(reply) if matches!(reply.first(), Some(b'K' | b'k')) => Ok(Reply::Program(reply)),
            ChannelReply::Bytes(reply) => Ok(Reply::Bytes(reply)),
            ChannelReply::AskCallee(_) => Err(HostTrap::Protocol("a request to a callee, and the job has none")),
        },
    }
}

/// Where the guest has the length of a frame and the frame, and how many bytes there are.
#[derive(Debug, Clone, Copy)]
struct FrameBuffer {
    at: i32,
    room: i32,
}

impl FrameBuffer {
    /// Whether there is room for these bytes behind their length.
    fn fits(self, bytes: &[u8]) -> bool {
        bytes.len() + 4 <= self.room.cast_unsigned() as usize
    }
}

/// One frame and its reply.
struct Exchange<'a, 'b> {
    caller: &'a mut Caller<'b, Host>,
    guest: Arc<QuickJs>,
    fixtures: Fixtures,
}

impl Exchange<'_, '_> {
    /// Answers the frame that is the UTF-8 of a string.
    async fn answer_text(&mut self, argument: i32) -> wasmtime::Result<i32> {
        let at = call(self.caller, &self.guest.get_text, (argument, self.fixtures.scratch)).await?;
        let len = self.word(self.fixtures.scratch)?;
        let reply = self.receive(at, len)?;
        call(self.caller, &self.guest.free_text, at).await?;
        match reply {
            Reply::Text => Err(protocol("a text to decode that is one")),
            other => self.reply(other, None).await,
        }
    }

    /// Answers the frame in an `ArrayBuffer`, behind its length.
    async fn answer_bytes(&mut self, argument: i32) -> wasmtime::Result<i32> {
        let at = call(self.caller, &self.guest.get_bytes, (argument, self.fixtures.scratch)).await?;
        let (room, len) = (self.word(self.fixtures.scratch)?, self.word(at)?);
        let fits = room.cast_unsigned().checked_sub(4).is_some_and(|most| len.cast_unsigned() <= most);
        if at == 0 || !fits {
            return Err(protocol("a frame that is longer than its buffer"));
        }
        let at = at.wrapping_add(4);
        match self.receive(at, len)? {
            Reply::Text => call(self.caller, &self.guest.new_text, (at.wrapping_add(1), len.wrapping_sub(1))).await,
            other => self.reply(other, Some(FrameBuffer { at: at.wrapping_sub(4), room })).await,
        }
    }

    fn word(&self, at: i32) -> wasmtime::Result<i32> {
        word_at(self.caller.data().memory()?.data(&*self.caller), at)
    }

    /// Charges and handles the frame at this place.
    fn receive(&mut self, at: i32, len: i32) -> wasmtime::Result<Reply> {
        charge(self.caller, u64::from(len.cast_unsigned()).saturating_mul(FRAME_BYTE))?;
        let memory = self.caller.data().memory()?;
        let (bytes, host) = memory.data_and_store_mut(&mut *self.caller);
        let frame: &[u8] = if at == 0 { &[] } else { bytes_at(bytes, at, len)? };
        let reply = receive(host, frame).map_err(wasmtime::Error::new)?;
        let work = host.wasi.take_work();
        host.fuel.charge(work)?;
        Ok(reply)
    }

    async fn reply(&mut self, reply: Reply, buffer: Option<FrameBuffer>) -> wasmtime::Result<i32> {
        match reply {
            Reply::Bytes(reply) => self.reply_bytes(&reply, buffer).await,
            Reply::Program(request) => self.reply_program(&request, buffer).await,
            Reply::Input => {
                if let Some(pipe) = self.caller.data().wasi.awaited_input() {
                    pipe.wait().await;
                }
                let input = self.caller.data_mut().wasi.read_input();
                self.reply_bytes(&input, buffer).await
            }
            Reply::RunJobs => self.run_jobs(buffer).await,
            Reply::Reason => self.take_reason().await,
            Reply::EndTurn => self.end_turn().await,
            Reply::Text => Err(protocol("a text to decode that is none")),
        }
    }

    /// The value of a reply: `undefined` where it is empty or fits the frame's buffer, which it is written to; else an `ArrayBuffer`.
    async fn reply_bytes(&mut self, reply: &[u8], buffer: Option<FrameBuffer>) -> wasmtime::Result<i32> {
        charge(self.caller, (reply.len() as u64).saturating_mul(FRAME_BYTE))?;
        let len = i32::try_from(reply.len()).map_err(|_| protocol("the job is too large"))?;
        let fitting = buffer.filter(|buffer| buffer.fits(reply));
        if let (Some(buffer), false) = (fitting, reply.is_empty()) {
            self.write(buffer.at, &[&len.to_le_bytes(), reply].concat())?;
        }
        if fitting.is_some() || reply.is_empty() {
            return call(self.caller, &self.guest.copy_value, self.fixtures.nothing).await;
        }
        let guest = Arc::clone(&self.guest);
        self.make(reply, &guest.new_bytes).await
    }

    /// The text of a program as a string, made of it where it lies in the frame's buffer, or in a place of its own if it is too long.
    async fn reply_program(&mut self, request: &[u8], buffer: Option<FrameBuffer>) -> wasmtime::Result<i32> {
        charge(self.caller, (request.len() as u64).saturating_mul(FRAME_BYTE))?;
        let buffer = buffer.ok_or_else(|| protocol("a program that is fetched without a buffer"))?;
        let (tag, text) = request.split_at(1);
        let guest = Arc::clone(&self.guest);
        self.write(buffer.at.wrapping_add(4), tag)?;
        if !buffer.fits(request) {
            return self.make(text, &guest.new_text).await;
        }
        let at = buffer.at.wrapping_add(5);
        self.write(at, text)?;
        call(self.caller, &guest.new_text, (at, i32::try_from(text.len())?)).await
    }

    /// The value that a function of the guest's makes of these bytes, which it copies.
    async fn make(&mut self, bytes: &[u8], function: &TypedFunc<(i32, i32), i32>) -> wasmtime::Result<i32> {
        let guest = Arc::clone(&self.guest);
        let len = i32::try_from(bytes.len()).map_err(|_| protocol("the job is too large"))?;
        let at = call(self.caller, &guest.malloc, len).await?;
        self.write(at, bytes)?;
        let value = call(self.caller, function, (at, len)).await?;
        call(self.caller, &guest.free, at).await?;
        Ok(value)
    }

    fn write(&mut self, at: i32, bytes: &[u8]) -> wasmtime::Result<()> {
        let memory = self.caller.data().memory()?;
        let written = at != 0 && memory.write(&mut *self.caller, at.cast_unsigned() as usize, bytes).is_ok();
        if written { Ok(()) } else { Err(protocol("no room for a reply")) }
    }

    /// Runs the pending jobs of promises, in which the program may send frames. Replies whether a rejection is not handled; 0 throws what a job threw.
    async fn run_jobs(&mut self, buffer: Option<FrameBuffer>) -> wasmtime::Result<i32> {
        if std::mem::replace(&mut self.caller.data_mut().promises.running, true) {
            return Err(protocol("jobs of promises inside one"));
        }
        let mut has_thrown = false;
        while !has_thrown && call(self.caller, &self.guest.has_job, ()).await? != 0 {
            charge(self.caller, 0)?;
            has_thrown = self.guest.run_job.call_async(&mut *self.caller, ()).await? < 0;
        }
        let promises = &mut self.caller.data_mut().promises;
        promises.running = false;
        let is_unhandled = !promises.rejected.is_empty();
        if has_thrown { Ok(0) } else { self.reply_bytes(if is_unhandled { b"1" } else { b"0" }, buffer).await }
    }

    async fn take_reason(&mut self) -> wasmtime::Result<i32> {
        let promises = &mut self.caller.data_mut().promises;
        let Some(first) = promises.rejected.first().copied() else {
            return Err(protocol("the reason of a rejection, and there is none"));
        };
        let (_, moved) = promises.take(first.identity);
        charge(self.caller, moved.saturating_mul(STEP))?;
        call(self.caller, &self.guest.free_value, first.promise).await?;
        Ok(first.reason)
    }

    /// Throws what no handler and no `finally` of the program sees.
    async fn end_turn(&mut self) -> wasmtime::Result<i32> {
        let error = call(self.caller, &self.guest.new_error, ()).await?;
        let context = call(self.caller, &self.guest.context, ()).await?;
        let itself = long_at(self.caller.data().memory()?.data(&*self.caller), error)?;
        call(self.caller, &self.guest.make_uncatchable, (context, itself)).await?;
        call(self.caller, &self.guest.throw, error).await?;
        call(self.caller, &self.guest.free_value, error).await?;
        Ok(0)
    }
}

/// Checks that a job asks for nothing that programs in JavaScript do not have.
pub(crate) fn check_job(job: &Job) -> Result<(), ExecuteError> {
    let refuse = |what: &str| Err(ExecuteError::BadJob(format!("a job of the image `{}` {what}", job.image)));
    if job.preload.is_some() || job.callee.is_some() {
        return refuse("has neither a preload nor a callee: programs in JavaScript have no harness for these");
    }
    let Entry::Calls { arguments, .. } = &job.entry else { return Ok(()) };
    if arguments.iter().flatten().any(Value::has_object) {
        return refuse("has arguments of plain values: JavaScript has no objects of Python's classes");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::Channel;
    use crate::wasi::{Wasi, WasiSetup, bare_tree};

    const CAP: u64 = 4000;

    fn host() -> Host {
        let setup = WasiSetup { output_bytes: CAP, ..WasiSetup::default() };
        let wasi = Wasi::new(&bare_tree().unwrap(), &setup).unwrap();
        Host::new(wasi, Channel::new(b"request".to_vec(), 1, CAP), u64::MAX)
    }

    /// The refusal of the last of these frames, where it is refused.
    fn refusal(frames: &[&[u8]]) -> Option<HostTrap> {
        let mut host = host();
        let (last, first) = frames.split_last().unwrap();
        for frame in first {
            assert!(receive(&mut host, frame).is_ok(), "{frame:?}");
        }
        receive(&mut host, last).err()
    }

    #[test]
    fn a_frame_of_the_channel_is_refused_out_of_turn() {
        assert_eq!(refusal(&[b"J", b"VN", b"D"]), None);
        assert_eq!(refusal(&[b"J", b"1text", b"2text", b"VN"]), None);
        let forged: [&[&[u8]]; 8] = [
            &[b""],
            &[b"VN"],
            &[b"J", b"J"],
            &[b"J", b"D"],
            &[b"J", b"VN", b"VN"],
            &[b"J", b"VN", b"D", b"VN"],
            &[b"J", b"y"],
            &[b"z1234567"],
        ];
        for frames in forged {
            assert!(matches!(refusal(frames), Some(HostTrap::Protocol(_))), "{frames:?}");
        }
        let long = [b"V".as_slice(), &[b'N'; 5000]].concat();
        assert!(matches!(refusal(&[b"J", &long]), Some(HostTrap::Exceeded { .. })));
    }

    #[test]
    fn what_a_system_call_would_do_is_noted_as_one() {
        for (frame, is_call) in [(&b"1x"[..], true), (b"fa", true), (b"u", false), (b"ex", false), (b"~", false)] {
            let mut host = host();
            assert!(receive(&mut host, frame).is_ok());
            assert_eq!(host.called_system, is_call, "{frame:?}");
        }
    }
}
