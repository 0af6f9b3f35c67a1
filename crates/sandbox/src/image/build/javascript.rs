//! Brings the JavaScript interpreter to where a job starts. `sandboxes/javascript/host.md` says why each step is there.

use veriplay_core::{Job, Value};
use veriplay_image_javascript::{REHEARSED, REHEARSED_ARGUMENTS};
use wasmtime::Val;

use super::{PreloadGuest, build_error};
use crate::exports::GuestSnapshot;
use crate::guest_kind::GuestKind;
use crate::image::ImageError;
use crate::image::library::LibraryModule;
use crate::image::spec::{Common, JavaScriptSpec};
use crate::quickjs::{Fixtures, bytes_at, word_at};

/// Bytes of a page of memory.
const PAGE: u64 = 1 << 16;

/// Runs the harness and some jobs in a new guest.
pub(super) fn take_snapshot(
    mut guest: PreloadGuest,
    common: &Common,
    javascript: &JavaScriptSpec,
    scripts: &[LibraryModule],
) -> Result<GuestSnapshot, ImageError> {
    let fail = |error: wasmtime::Error| build_error("starting the interpreter", format!("{error:#}"));
    guest.start_interpreter(common.headroom_bytes, javascript).map_err(fail)?;
    let translator = javascript.translator.as_ref().map(|translator| translator_text(&translator.source, scripts));
    guest.load_harness(&common.harness, &javascript.node, translator.as_deref()).map_err(fail)?;
    let arguments = Value::parse_arguments(REHEARSED_ARGUMENTS)
        .map_err(|error| build_error("running jobs before the snapshot", error.to_string()))?;
    let job = Job::calls(REHEARSED, "f", vec![arguments]);
    for _ in 0..common.rehearsals {
        guest.run_whole_job(&job, GuestKind::JavaScript)?;
    }
    guest.call::<(), ()>("qjs_run_gc", ()).map_err(fail)?;
    guest.into_snapshot()
}

/// Source text that calls the function of a translator with its scripts. JSON is JavaScript, too.
fn translator_text(source: &str, scripts: &[LibraryModule]) -> String {
    let scripts = scripts.iter().map(|script| (script.name.clone(), serde_json::Value::from(script.source.as_str())));
    let scripts = serde_json::Value::Object(scripts.collect());
    format!("({source})({scripts})")
}

impl PreloadGuest {
    fn start_interpreter(&mut self, headroom_bytes: u64, javascript: &JavaScriptSpec) -> wasmtime::Result<()> {
        let status = self.call::<(), i32>("qjs_init", ())?;
        if status != 0 {
            return Err(wasmtime::Error::msg(format!("`qjs_init` ended with status {status}")));
        }
        self.give_stack(javascript)?;
        self.call::<i32, ()>("qjs_set_gc_threshold", javascript.gc_threshold_bytes.cast_signed())?;
        self.call::<i32, ()>("qjs_set_promise_rejection_handler", 1)?;
        let headroom = i32::try_from(headroom_bytes)?;
        let room = self.malloc(headroom)?;
        self.call::<i32, ()>("wasm_free", room)
    }

    /// Gives the interpreter another stack than the module's own, and all of it but what native code may need beyond the limit.
    fn give_stack(&mut self, javascript: &JavaScriptSpec) -> wasmtime::Result<()> {
        let (size, guard) = (javascript.c_stack_bytes, javascript.c_stack_guard_bytes);
        let Some(usable) = size.checked_sub(guard).filter(|_| u64::from(size) % PAGE == 0) else {
            return Err(wasmtime::Error::msg(format!(
                "`c_stack_bytes` is `{size}`: it must be a multiple of {PAGE} and no less than `c_stack_guard_bytes`, `{guard}`"
            )));
        };
        let pages = u64::from(size) / PAGE;
        let top = (self.exports.memory.grow(&mut self.store, pages)? + pages) * PAGE;
        let pointer = self.exports.globals.iter().find(|(name, _)| name == "__stack_pointer");
        let (_, pointer) = pointer.ok_or_else(|| wasmtime::Error::msg("the module exports no `__stack_pointer`"))?;
        pointer.set(&mut self.store, Val::I32(u32::try_from(top)?.cast_signed()))?;
        let runtime = self.call::<(), i32>("qjs_get_runtime_ptr", ())?;
        self.call::<i32, ()>("JS_UpdateStackTop", runtime)?;
        self.call::<i32, ()>("qjs_set_max_stack_size", usable.cast_signed())
    }

    /// Makes the function that is called for a turn, and notes what jobs need.
    fn load_harness(&mut self, harness: &str, node: &str, translator: Option<&str>) -> wasmtime::Result<()> {
        let scratch = self.malloc(8)?;
        let nothing = self.call::<(), i32>("qjs_get_undefined", ())?;
        let harness = self.evaluate(harness, "harness.js", scratch)?;
        let node = self.evaluate(node, "node.js", scratch)?;
        let mut arguments = Vec::new();
        for name in ["text", "bytes"] {
            let (at, len) = self.place(name)?;
            arguments.push(self.call::<(i32, i32, i32), i32>("qjs_new_host_function", (at, len, 1))?);
        }
        arguments.push(node);
        if let Some(text) = translator {
            arguments.push(self.evaluate(text, "translator.js", scratch)?);
        }
        let count = i32::try_from(arguments.len())?;
        let (at, _) = self.place_bytes(&arguments.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())?;
        let turn = self.call::<(i32, i32, i32, i32), i32>("qjs_call", (harness, nothing, count, at))?;
        self.check_value(turn, "harness.js", scratch)?;
        for value in arguments.into_iter().chain([harness]) {
            self.call::<i32, ()>("qjs_free_value", value)?;
        }
        self.call::<i32, ()>("wasm_free", at)?;
        let place = Fixtures::PLACE.cast_unsigned() as usize;
        let fixtures = Fixtures { turn, nothing, scratch };
        Ok(self.exports.memory.write(&mut self.store, place, &fixtures.to_bytes())?)
    }

    /// The value of a script.
    fn evaluate(&mut self, source: &str, name: &str, scratch: i32) -> wasmtime::Result<i32> {
        let ((at, len), (name_at, _)) = (self.place(source)?, self.place(name)?);
        let value = self.call::<(i32, i32, i32, i32), i32>("qjs_eval", (at, len, name_at, 0))?;
        self.call::<i32, ()>("wasm_free", at)?;
        self.call::<i32, ()>("wasm_free", name_at)?;
        self.check_value(value, name, scratch)?;
        Ok(value)
    }

    /// Fails with what was thrown, where the value is an exception.
    fn check_value(&mut self, value: i32, name: &str, scratch: i32) -> wasmtime::Result<()> {
        if self.call::<i32, i32>("qjs_is_exception", value)? == 0 {
            return Ok(());
        }
        let thrown = self.call::<(), i32>("qjs_get_exception", ())?;
        let at = self.call::<(i32, i32), i32>("qjs_get_string_len", (thrown, scratch))?;
        let memory = self.exports.memory.data(&self.store);
        let said = String::from_utf8_lossy(bytes_at(memory, at, word_at(memory, scratch)?)?);
        Err(wasmtime::Error::msg(format!("`{name}`: {said}")))
    }

    /// Writes a text into guest memory, and a zero behind it; returns its address and length.
    fn place(&mut self, text: &str) -> wasmtime::Result<(i32, i32)> {
        let (at, len) = self.place_bytes(&[text.as_bytes(), b"\0"].concat())?;
        Ok((at, len - 1))
    }

    fn place_bytes(&mut self, bytes: &[u8]) -> wasmtime::Result<(i32, i32)> {
        let len = i32::try_from(bytes.len())?;
        let at = self.malloc(len)?;
        self.exports.memory.write(&mut self.store, at.cast_unsigned() as usize, bytes)?;
        Ok((at, len))
    }

    fn malloc(&mut self, len: i32) -> wasmtime::Result<i32> {
        match self.call::<i32, i32>("wasm_malloc", len)? {
            0 => Err(wasmtime::Error::msg(format!("there is no room for `{len}` bytes"))),
            at => Ok(at),
        }
    }
}
