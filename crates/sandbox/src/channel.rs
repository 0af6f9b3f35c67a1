//! The value channel: what the guest may say over `_host.call`, and when.
//!
//! Every frame is untrusted: the guest's own program can send frames too. All it can gain is to misreport what it itself
//! returned, which it could do anyway by returning something else. A frame that is malformed, too large or out of turn
//! ends the job as `Trapped` with kind `protocol`.

use veriplay_core::{CallResult, EncodeCaps, Exit, GuestError, LimitKind, Value};

use crate::stop::Stop;

/// Bytes of a frame that carries no value: kind and message are cut to less than this by the harness.
const MAX_ERROR_FRAME: usize = 1024;

/// What the host does about a frame.
#[derive(Debug)]
pub(crate) enum Answer {
    /// Sends these bytes back.
    Bytes(Vec<u8>),
    /// Asks the job's callee this encoded request, and sends back what that says.
    Callee(Vec<u8>),
}

/// One job's side of the conversation.
#[derive(Debug, Default)]
pub(crate) struct Channel {
    request: Option<Vec<u8>>,
    fetched: bool,
    /// Whether the host is placing an answer, for which it calls the guest's allocator.
    answering: bool,
    expected_calls: usize,
    output_cap: u64,
    value_bytes: u64,
    /// Whether the job has a callee, and shares its objects with it.
    shares_objects: Option<bool>,
    /// One result for each call that ended.
    pub(crate) calls: Vec<CallResult>,
    /// What became of the program itself, where it did not come as far as its calls.
    pub(crate) failed: Option<(Exit, GuestError)>,
    /// Whether the harness said that it is done.
    pub(crate) done: bool,
}

impl Channel {
    /// A conversation about `request`, in which `expected_calls` results are due.
    pub(crate) fn new(request: Vec<u8>, expected_calls: usize, output_cap: u64) -> Self {
        Self { request: Some(request), expected_calls, output_cap, ..Self::default() }
    }

    /// Says that the job has a callee.
    pub(crate) fn set_callee(&mut self, shares_objects: bool) {
        self.shares_objects = Some(shares_objects);
    }

    /// Goes on with the conversation: about `request`, with one result due. What was said so far has been passed on, and nothing is
    /// kept of it, so that each result may be as large as the first.
    pub(crate) fn start_request(&mut self, request: Vec<u8>) {
        (self.request, self.fetched, self.done, self.value_bytes) = (Some(request), false, false, 0);
        self.calls.clear();
        self.expected_calls = 1;
    }

    /// How much of a value is read.
    pub(crate) fn caps(&self) -> EncodeCaps {
        EncodeCaps::with_bytes(usize::try_from(self.output_cap).unwrap_or(usize::MAX))
    }

    /// The largest frame worth copying out of the guest.
    pub(crate) fn max_frame(&self) -> u64 {
        self.output_cap.saturating_add(1).max(MAX_ERROR_FRAME as u64)
    }

    /// A frame of `bytes` that is too large to be read at all.
    pub(crate) fn refuse(&self, bytes: u64) -> Stop {
        Stop::exceeded(LimitKind::OutputBytes, self.output_cap, bytes)
    }

    /// Begins or ends the placing of an answer. A frame in between is refused even where it would be due: each level of frames
    /// in frames takes a native stack.
    pub(crate) fn set_answering(&mut self, answering: bool) {
        self.answering = answering;
    }

    /// Reads one frame and answers it.
    ///
    /// # Errors
    /// A frame that is not due now ends the job.
    pub(crate) fn receive(&mut self, frame: &[u8]) -> Result<Answer, Stop> {
        let Some((tag, body)) = frame.split_first() else {
            return Err(Stop::Protocol("an empty frame"));
        };
        if self.answering {
            return Err(Stop::Protocol("a frame inside a frame"));
        }
        if self.done {
            return Err(Stop::Protocol("a frame after the last one"));
        }
        match tag {
            b'J' => return self.fetch(body).map(Answer::Bytes),
            _ if !self.fetched => return Err(Stop::Protocol("a frame before the job was fetched")),
            b'Q' => return self.request(body).map(Answer::Callee),
            b'V' => self.value(body)?,
            b'X' => self.call_raised(body)?,
            b'U' => self.unencodable(body)?,
            b'O' => return Err(self.too_large(body)),
            b'R' => self.program_failed(Exit::Raised, read_error(body)?)?,
            b'C' => self.program_failed(Exit::CompileError, guest_error("CompileError", body)?)?,
            b'M' => self.program_failed(Exit::MissingEntry, guest_error("MissingEntry", body)?)?,
            b'D' => self.finish(body)?,
            _ => return Err(Stop::Protocol("a frame with an unknown tag")),
        }
        Ok(Answer::Bytes(Vec::new()))
    }

    fn fetch(&mut self, body: &[u8]) -> Result<Vec<u8>, Stop> {
        if !body.is_empty() {
            return Err(Stop::Protocol("a fetch with a body"));
        }
        self.fetched = true;
        self.request.take().ok_or(Stop::Protocol("the job was fetched twice"))
    }

    /// A request to the callee: `("call", name, arguments, keywords)`, or `("share", …)` where the two share their objects. A program
    /// that asks trusted code by copies must not come at the objects behind them.
    fn request(&self, body: &[u8]) -> Result<Vec<u8>, Stop> {
        let malformed = Stop::Protocol("a malformed request to the callee");
        let shares_objects =
            self.shares_objects.ok_or(Stop::Protocol("a request to a callee, and the job has none"))?;
        let Ok(Value::Tuple(parts)) = Value::decode(body, self.caps()) else { return Err(malformed) };
        let well_formed = match parts.as_slice() {
            [Value::Str(word), Value::Str(_), Value::List(_), Value::Dict(keywords)] => {
                !shares_objects && word == "call" && keywords.iter().all(|(key, _)| matches!(key, Value::Str(_)))
            }
            [Value::Str(word), _, _, Value::List(_), Value::Dict(_), Value::List(_), Value::List(_)] => {
                shares_objects && word == "share"
            }
            _ => false,
        };
        if well_formed { Ok(body.to_vec()) } else { Err(malformed) }
    }

    fn call_is_due(&self) -> Result<(), Stop> {
        if self.failed.is_none() && self.calls.len() < self.expected_calls {
            Ok(())
        } else {
            Err(Stop::Protocol("a result for no call"))
        }
    }

    fn value(&mut self, body: &[u8]) -> Result<(), Stop> {
        self.call_is_due()?;
        self.value_bytes += body.len() as u64;
        if self.value_bytes > self.output_cap {
            return Err(self.refuse(self.value_bytes));
        }
        self.calls.push(CallResult::Returned(body.to_vec()));
        Ok(())
    }

    fn call_raised(&mut self, body: &[u8]) -> Result<(), Stop> {
        self.call_is_due()?;
        self.calls.push(CallResult::Raised(read_error(body)?));
        Ok(())
    }

    fn unencodable(&mut self, body: &[u8]) -> Result<(), Stop> {
        self.call_is_due()?;
        self.calls.push(CallResult::Unencodable(read_text(body)?));
        Ok(())
    }

    fn too_large(&self, body: &[u8]) -> Stop {
        match self.call_is_due() {
            Ok(()) if body.is_empty() => self.refuse(self.output_cap.saturating_add(1)),
            Ok(()) => Stop::Protocol("an oversize notice with a body"),
            Err(stop) => stop,
        }
    }

    fn program_failed(&mut self, exit: Exit, error: GuestError) -> Result<(), Stop> {
        if self.failed.is_some() || !self.calls.is_empty() {
            return Err(Stop::Protocol("an error of the program, out of turn"));
        }
        self.failed = Some((exit, error));
        Ok(())
    }

    fn finish(&mut self, body: &[u8]) -> Result<(), Stop> {
        let complete = self.failed.is_some() || self.calls.len() == self.expected_calls;
        if !body.is_empty() || !complete {
            return Err(Stop::Protocol("done, with results missing"));
        }
        self.done = true;
        Ok(())
    }
}

/// A failure whose name is ours.
fn guest_error(kind: &str, body: &[u8]) -> Result<GuestError, Stop> {
    Ok(GuestError { kind: kind.to_owned(), message: read_text(body)? })
}

/// Text for people.
fn read_text(body: &[u8]) -> Result<String, Stop> {
    match std::str::from_utf8(body) {
        Ok(text) if body.len() <= MAX_ERROR_FRAME => Ok(text.to_owned()),
        _ => Err(Stop::Protocol("a malformed error frame")),
    }
}

/// One length byte, the kind, the message.
fn read_error(body: &[u8]) -> Result<GuestError, Stop> {
    let malformed = Stop::Protocol("a malformed error frame");
    if body.len() > MAX_ERROR_FRAME {
        return Err(malformed);
    }
    let (length, rest) = body.split_first().ok_or(malformed.clone())?;
    let (kind, message) = rest.split_at_checked(usize::from(*length)).ok_or(malformed.clone())?;
    match (std::str::from_utf8(kind), std::str::from_utf8(message)) {
        (Ok(kind), Ok(message)) => Ok(GuestError { kind: kind.to_owned(), message: message.to_owned() }),
        _ => Err(malformed),
    }
}
