//! The value channel: the frames that a guest may send over `_host.call`, and when.
//!
//! Every frame is untrusted, because the guest's program can send frames too. It can only misreport its own results, which it could also do
//! by returning something else. A frame that is malformed, too large or out of turn ends the job as `Trapped` with kind `protocol`.

use veriplay_core::{CallResult, DecodeError, EncodeCaps, Exit, GuestError, LimitKind, Value};

use crate::host_trap::HostTrap;

/// The class of the exception by which a program ends its process.
const SYSTEM_EXIT: &str = "SystemExit";
/// The most bytes of a frame without a value. The harness cuts kind and message to less.
const MAX_ERROR_FRAME: usize = 1024;

#[derive(Debug)]
pub(crate) enum ChannelReply {
    Bytes(Vec<u8>),
    /// Send this encoded request to the job's callee, and send back its reply.
    AskCallee(Vec<u8>),
}

#[derive(Debug, Default)]
pub(crate) struct Channel {
    request: Option<Vec<u8>>,
    fetched: bool,
    /// Whether the host is writing a reply, for which it calls the guest's allocator.
    answering: bool,
    expected_calls: usize,
    output_cap: u64,
    value_bytes: u64,
    /// Whether the job has a callee, and shares its objects with it.
    shares_objects: Option<bool>,
    /// Results that come before the program runs.
    calls_before_program: usize,
    /// One result for each call that ended.
    pub(crate) calls: Vec<CallResult>,
    /// The failure of the program before its calls, if there was one.
    pub(crate) failed: Option<(Exit, GuestError)>,
    pub(crate) done: bool,
}

impl Channel {
    /// A channel for `request`, on which `expected_calls` results are due.
    pub(crate) fn new(request: Vec<u8>, expected_calls: usize, output_cap: u64) -> Self {
        Self { request: Some(request), expected_calls, output_cap, ..Self::default() }
    }

    pub(crate) fn set_callee(&mut self, shares_objects: bool) {
        self.shares_objects = Some(shares_objects);
    }

    /// Notes that the first result is due before the program runs: what it was compiled to.
    pub(crate) fn expect_code(&mut self) {
        self.calls_before_program = 1;
        self.expected_calls += 1;
    }

    /// Starts the next `request`, for which one result is due. Earlier results have been passed on and do not count against the limit.
    pub(crate) fn start_request(&mut self, request: Vec<u8>) {
        (self.request, self.fetched, self.done, self.value_bytes) = (Some(request), false, false, 0);
        self.calls.clear();
        (self.expected_calls, self.calls_before_program) = (1, 0);
    }

    pub(crate) fn caps(&self) -> EncodeCaps {
        EncodeCaps::with_bytes(usize::try_from(self.output_cap).unwrap_or(usize::MAX))
    }

    /// The largest frame that is copied out of the guest.
    pub(crate) fn max_frame(&self) -> u64 {
        self.output_cap.saturating_add(1).max(MAX_ERROR_FRAME as u64)
    }

    pub(crate) fn output_exceeded(&self, bytes: u64) -> HostTrap {
        HostTrap::exceeded(LimitKind::OutputBytes, self.output_cap, bytes)
    }

    /// Notes whether the host is writing a reply. A frame meanwhile is refused even where it is due, because each level of nested frames
    /// takes a native stack.
    pub(crate) fn set_answering(&mut self, answering: bool) {
        self.answering = answering;
    }

    pub(crate) const fn is_answering(&self) -> bool {
        self.answering
    }

    /// Handles one frame. Fails when the frame is not due now, which ends the job.
    pub(crate) fn receive(&mut self, frame: &[u8]) -> Result<ChannelReply, HostTrap> {
        let Some((tag, body)) = frame.split_first() else {
            return Err(HostTrap::Protocol("an empty frame"));
        };
        if self.answering {
            return Err(HostTrap::Protocol("a frame inside a frame"));
        }
        if self.done {
            return Err(HostTrap::Protocol("a frame after the last one"));
        }
        match tag {
            b'J' => return self.fetch_request(body).map(ChannelReply::Bytes),
            _ if !self.fetched => return Err(HostTrap::Protocol("a frame before the job was fetched")),
            b'Q' => {
                let request = self.callee_request(Value::decode(body, self.caps()))?;
                return Ok(ChannelReply::AskCallee(request.encode()));
            }
            b'q' => {
                let request = self.callee_request(Value::from_marshal(body, self.caps()))?;
                // Never the bytes of the guest themselves: `marshal.loads` takes the other side's word for them.
                return Ok(ChannelReply::AskCallee(request.to_marshal().unwrap_or_else(|| request.encode())));
            }
            b'V' => self.add_value(body)?,
            b'v' => self.add_marshalled_value(body)?,
            b'X' => self.add_exception(body)?,
            b'U' => self.add_unencodable(body)?,
            b'O' => return Err(self.oversize_trap(body)),
            b'R' => self.set_program_failure(Exit::Raised, parse_error(body)?)?,
            b'C' => self.set_program_failure(Exit::CompileError, parse_guest_error("CompileError", body)?)?,
            b'M' => self.set_program_failure(Exit::MissingEntry, parse_guest_error("MissingEntry", body)?)?,
            b'D' => self.finish(body)?,
            _ => return Err(HostTrap::Protocol("a frame with an unknown tag")),
        }
        Ok(ChannelReply::Bytes(Vec::new()))
    }

    /// The status of the `SystemExit` that ended the program, if one did. Of a number the lowest byte
    /// counts. Anything else is status 1, as in CPython: the harness quotes it, so that it does not read as a number.
    pub(crate) fn exit_code(&self) -> Option<i32> {
        match &self.failed {
            Some((Exit::Raised, GuestError { kind, message })) if *kind == SYSTEM_EXIT => {
                Some(message.parse::<i64>().map_or(1, |code| (code & 0xff) as i32))
            }
            _ => None,
        }
    }

    fn fetch_request(&mut self, body: &[u8]) -> Result<Vec<u8>, HostTrap> {
        if !body.is_empty() {
            return Err(HostTrap::Protocol("a fetch with a body"));
        }
        self.fetched = true;
        self.request.take().ok_or(HostTrap::Protocol("the job was fetched twice"))
    }

    /// Checks a request to the callee: `("call", name, arguments, keywords)`, or `("share", …)` where the two share their objects. A program
    /// whose calls to trusted code cross by copies must not reach the objects behind them.
    fn callee_request(&self, request: Result<Value, DecodeError>) -> Result<Value, HostTrap> {
        let malformed = HostTrap::Protocol("a malformed request to the callee");
        let shares_objects =
            self.shares_objects.ok_or(HostTrap::Protocol("a request to a callee, and the job has none"))?;
        let Ok(request) = request else { return Err(malformed) };
        let Value::Tuple(parts) = &request else { return Err(malformed) };
        let well_formed = match parts.as_slice() {
            [Value::Str(word), Value::Str(_), Value::List(_), Value::Dict(keywords)] => {
                !shares_objects && word == "call" && keywords.iter().all(|(key, _)| matches!(key, Value::Str(_)))
            }
            [Value::Str(word), _, _, Value::List(_), Value::Dict(_), Value::List(_), Value::List(_)] => {
                shares_objects && word == "share"
            }
            _ => false,
        };
        if well_formed { Ok(request) } else { Err(malformed) }
    }

    fn check_call_due(&self) -> Result<(), HostTrap> {
        if self.failed.is_none() && self.calls.len() < self.expected_calls {
            Ok(())
        } else {
            Err(HostTrap::Protocol("a result for no call"))
        }
    }

    fn add_value(&mut self, body: &[u8]) -> Result<(), HostTrap> {
        self.check_call_due()?;
        self.value_bytes += Value::output_cost(body);
        if self.value_bytes > self.output_cap {
            return Err(self.output_exceeded(self.value_bytes));
        }
        self.calls.push(CallResult::Returned(body.to_vec()));
        Ok(())
    }

    fn add_marshalled_value(&mut self, body: &[u8]) -> Result<(), HostTrap> {
        self.check_call_due()?;
        match Value::from_marshal(body, self.caps()) {
            Ok(value) => self.add_value(&value.encode()),
            Err(error) => {
                // Reading it took time, and no more of that is to be had than of output.
                self.value_bytes += body.len() as u64;
                if self.value_bytes > self.output_cap {
                    return Err(self.output_exceeded(self.value_bytes));
                }
                self.calls.push(CallResult::Unencodable(error.to_string()));
                Ok(())
            }
        }
    }

    fn add_exception(&mut self, body: &[u8]) -> Result<(), HostTrap> {
        self.check_call_due()?;
        self.calls.push(CallResult::Raised(parse_error(body)?));
        Ok(())
    }

    fn add_unencodable(&mut self, body: &[u8]) -> Result<(), HostTrap> {
        self.check_call_due()?;
        self.calls.push(CallResult::Unencodable(parse_text(body)?));
        Ok(())
    }

    fn oversize_trap(&self, body: &[u8]) -> HostTrap {
        match self.check_call_due() {
            Ok(()) if body.is_empty() => self.output_exceeded(self.output_cap.saturating_add(1)),
            Ok(()) => HostTrap::Protocol("an oversize notice with a body"),
            Err(stop) => stop,
        }
    }

    fn set_program_failure(&mut self, exit: Exit, error: GuestError) -> Result<(), HostTrap> {
        if self.failed.is_some() || self.calls.len() > self.calls_before_program {
            return Err(HostTrap::Protocol("an error of the program, out of turn"));
        }
        self.failed = Some((exit, error));
        Ok(())
    }

    fn finish(&mut self, body: &[u8]) -> Result<(), HostTrap> {
        let complete = self.failed.is_some() || self.calls.len() == self.expected_calls;
        if !body.is_empty() || !complete {
            return Err(HostTrap::Protocol("done, with results missing"));
        }
        self.done = true;
        Ok(())
    }
}

/// Parses an error whose kind the host names.
fn parse_guest_error(kind: &str, body: &[u8]) -> Result<GuestError, HostTrap> {
    Ok(GuestError { kind: kind.to_owned(), message: parse_text(body)? })
}

fn parse_text(body: &[u8]) -> Result<String, HostTrap> {
    match std::str::from_utf8(body) {
        Ok(text) if body.len() <= MAX_ERROR_FRAME => Ok(text.to_owned()),
        _ => Err(HostTrap::Protocol("a malformed error frame")),
    }
}

/// Parses an error: one length byte, the kind, the message.
fn parse_error(body: &[u8]) -> Result<GuestError, HostTrap> {
    let malformed = HostTrap::Protocol("a malformed error frame");
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
