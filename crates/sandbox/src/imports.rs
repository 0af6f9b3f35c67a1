//! The functions that a guest can call: the shim's, and the value channel. Each call costs fuel.

use wasmtime::{Caller, Linker};

use crate::channel::ChannelReply;
use crate::host::Host;
use crate::host_trap::HostTrap;
use crate::wasi::Wasi;
use crate::wasi::errno::{Errno, SyscallError, SyscallResult};
use crate::wasi::path::OpenFlags;
use crate::wasi::pipe::pass_turn;
use crate::wasi::view::MemoryView;

/// Fuel per byte of a frame, which the host copies, decodes and compares.
pub(crate) const FRAME_BYTE: u64 = 16;
const MODULE: &str = "wasi_snapshot_preview1";
/// Fuel of a host call, so that a loop of calls is not cheaper than a loop of instructions.
const CALL_FUEL: u64 = 800;

/// Charges a host call: the base price, and `work` for what it did.
pub(crate) fn charge(caller: &Caller<'_, Host>, work: u64) -> wasmtime::Result<()> {
    caller.data().fuel.charge(CALL_FUEL.saturating_add(work))
}

/// Runs one system call. `Ok` carries the error number, `Err` ends the job.
fn run_syscall(
    mut caller: Caller<'_, Host>,
    call: impl FnOnce(&mut Wasi, &mut MemoryView<'_>) -> SyscallResult,
) -> wasmtime::Result<i32> {
    let memory = caller.data().memory()?;
    let (bytes, host) = memory.data_and_store_mut(&mut caller);
    host.called_system = true;
    let result = call(&mut host.wasi, &mut MemoryView(bytes));
    let work = host.wasi.take_work();
    match result {
        Err(SyscallError::Trap(stop)) => Err(wasmtime::Error::new(stop)),
        Err(SyscallError::Errno(errno)) => charge(&caller, work).map(|()| i32::from(errno.0)),
        Ok(()) => charge(&caller, work).map(|()| 0),
    }
}

type C<'a> = Caller<'a, Host>;

/// Gives a linker system calls: of each its name, its arguments, and what answers it.
macro_rules! add_system_calls {
    ($linker:ident: $($name:ident($($argument:tt: $ty:ty),*) => $answer:expr;)*) => {
        $($linker.func_wrap(MODULE, stringify!($name), |c: C<'_>, $($argument: $ty),*| run_syscall(c, $answer))?;)*
    };
}

/// Makes a linker with everything that a Python guest can call.
pub(crate) fn make_linker(engine: &wasmtime::Engine) -> wasmtime::Result<Linker<Host>> {
    let mut linker = make_system_linker(engine)?;
    linker.func_wrap_async("host", "call", |caller, frame| Box::new(host_call(caller, frame)))?;
    Ok(linker)
}

/// Makes a linker with the shim alone: a program that is a module has no value channel.
pub(crate) fn make_system_linker(engine: &wasmtime::Engine) -> wasmtime::Result<Linker<Host>> {
    let mut linker = Linker::new(engine);
    add_system_calls! { linker:
        args_get(pointers: i32, buffer: i32) =>
            |wasi, view| Wasi::strings_get(view, &wasi.arguments(), pointers, buffer);
        args_sizes_get(count: i32, size: i32) =>
            |wasi, view| Wasi::strings_sizes(view, &wasi.arguments(), count, size);
        environ_get(pointers: i32, buffer: i32) =>
            |wasi, view| Wasi::strings_get(view, wasi.strings.environment, pointers, buffer);
        environ_sizes_get(count: i32, size: i32) =>
            |wasi, view| Wasi::strings_sizes(view, wasi.strings.environment, count, size);
        clock_res_get(id: i32, out: i32) => |_, view| Wasi::clock_res_get(view, id, out);
        clock_time_get(id: i32, _: i64, out: i32) => |wasi, view| wasi.clock_time_get(view, id, out);
        random_get(ptr: i32, len: i32) => |wasi, view| wasi.random_get(view, ptr, len);
        sched_yield() => |_, _| Ok(());

        fd_prestat_get(fd: i32, out: i32) => |wasi, view| wasi.fd_prestat_get(view, fd, out);
        fd_prestat_dir_name(fd: i32, out: i32, len: i32) => |wasi, view| wasi.fd_prestat_dir_name(view, fd, out, len);
        fd_close(fd: i32) => |wasi, _| wasi.fd_close(fd);
        fd_renumber(from: i32, to: i32) => |wasi, _| wasi.fd_renumber(from, to);
        fd_fdstat_get(fd: i32, out: i32) => |wasi, view| wasi.fd_fdstat_get(view, fd, out);
        fd_fdstat_set_flags(fd: i32, flags: i32) => |wasi, _| wasi.fd_fdstat_set_flags(fd, flags);
        fd_filestat_get(fd: i32, out: i32) => |wasi, view| wasi.fd_filestat_get(view, fd, out);
        fd_filestat_set_size(fd: i32, size: i64) => |wasi, _| wasi.fd_filestat_set_size(fd, size);
        fd_filestat_set_times(fd: i32, atime: i64, mtime: i64, flags: i32) =>
            |wasi, _| wasi.fd_filestat_set_times(fd, atime, mtime, flags);
        fd_advise(fd: i32, _: i64, _: i64, _: i32) => |wasi, _| wasi.fd_no_effect(fd);
        fd_fdstat_set_rights(fd: i32, _: i64, _: i64) => |wasi, _| wasi.fd_no_effect(fd);
        fd_allocate(_: i32, _: i64, _: i64) => |_, _| Err(Errno::NOTSUP.into());
        proc_raise(_: i32) => |_, _| Err(Errno::NOTSUP.into());
        fd_datasync(fd: i32) => |wasi, _| wasi.fd_no_effect(fd);
        fd_sync(fd: i32) => |wasi, _| wasi.fd_no_effect(fd);

        fd_pread(fd: i32, iovs: i32, count: i32, at: i64, out: i32) =>
            |wasi, view| wasi.fd_read(view, fd, (iovs, count), Some(at), out);
        fd_write(fd: i32, iovs: i32, count: i32, out: i32) =>
            |wasi, view| wasi.fd_write(view, fd, (iovs, count), None, out);
        fd_pwrite(fd: i32, iovs: i32, count: i32, at: i64, out: i32) =>
            |wasi, view| wasi.fd_write(view, fd, (iovs, count), Some(at), out);
        fd_seek(fd: i32, delta: i64, whence: i32, out: i32) => |wasi, view| wasi.fd_seek(view, fd, delta, whence, out);
        fd_tell(fd: i32, out: i32) => |wasi, view| wasi.fd_tell(view, fd, out);
        fd_readdir(fd: i32, buffer: i32, len: i32, cookie: i64, out: i32) =>
            |wasi, view| wasi.fd_readdir(view, fd, (buffer, len), cookie, out);

        path_open(
            fd: i32, _: i32, ptr: i32, len: i32, oflags: i32, rights: i64, _: i64, fdflags: i32, out: i32
        ) => |wasi, view| wasi.path_open(view, fd, (ptr, len), OpenFlags { oflags, rights, fdflags }, out);
        path_filestat_get(fd: i32, _: i32, ptr: i32, len: i32, out: i32) =>
            |wasi, view| wasi.path_filestat_get(view, fd, (ptr, len), out);
        path_filestat_set_times(fd: i32, _: i32, ptr: i32, len: i32, atime: i64, mtime: i64, flags: i32) =>
            |wasi, view| wasi.path_filestat_set_times(view, fd, (ptr, len), (atime, mtime), flags);
        path_create_directory(fd: i32, ptr: i32, len: i32) =>
            |wasi, view| wasi.path_create_directory(view, fd, (ptr, len));
        path_remove_directory(fd: i32, ptr: i32, len: i32) =>
            |wasi, view| wasi.path_remove_directory(view, fd, (ptr, len));
        path_unlink_file(fd: i32, ptr: i32, len: i32) => |wasi, view| wasi.path_unlink_file(view, fd, (ptr, len));
        path_rename(fd: i32, ptr: i32, len: i32, new_fd: i32, new_ptr: i32, new_len: i32) =>
            |wasi, view| wasi.path_rename(view, (fd, (ptr, len)), (new_fd, (new_ptr, new_len)));
        path_readlink(fd: i32, ptr: i32, len: i32, _: i32, _: i32, _: i32) =>
            |wasi, view| wasi.path_readlink(view, fd, (ptr, len));

        // There are no links, and no open descriptor is a socket.
        path_link(_: i32, _: i32, _: i32, _: i32, _: i32, _: i32, _: i32) => |_, _| Err(Errno::PERM.into());
        path_symlink(_: i32, _: i32, _: i32, _: i32, _: i32) => |_, _| Err(Errno::PERM.into());
        sock_accept(fd: i32, _: i32, _: i32) => |wasi, _| wasi.no_socket(fd);
        sock_recv(fd: i32, _: i32, _: i32, _: i32, _: i32, _: i32) => |wasi, _| wasi.no_socket(fd);
        sock_send(fd: i32, _: i32, _: i32, _: i32, _: i32) => |wasi, _| wasi.no_socket(fd);
        sock_shutdown(fd: i32, _: i32) => |wasi, _| wasi.no_socket(fd);
    }
    linker.func_wrap(MODULE, "proc_exit", |c: C<'_>, code: i32| -> wasmtime::Result<()> {
        // What was charged without a look at what is left: the end is too late for that.
        c.data().fuel.charge(0)?;
        Err(wasmtime::Error::new(HostTrap::ProcExit(code)))
    })?;
    linker.func_wrap_async(MODULE, "fd_read", |caller, arguments| Box::new(fd_read(caller, arguments)))?;
    linker.func_wrap_async(MODULE, "poll_oneoff", |caller, arguments| Box::new(poll_oneoff(caller, arguments)))?;
    Ok(linker)
}

/// Reads, once there is something to read.
async fn fd_read(mut c: C<'_>, (fd, iovs, count, out): (i32, i32, i32, i32)) -> wasmtime::Result<i32> {
    let memory = c.data().memory()?;
    let (bytes, host) = memory.data_and_store_mut(&mut c);
    if let Some(pipe) = host.wasi.awaited_by_read(&MemoryView(bytes), fd, (iovs, count)) {
        pipe.wait().await;
    }
    run_syscall(c, |wasi, view| wasi.fd_read(view, fd, (iovs, count), None, out))
}

/// Looks what is ready, once there is something or there is a timeout.
async fn poll_oneoff(mut c: C<'_>, (subs, events, count, out): (i32, i32, i32, i32)) -> wasmtime::Result<i32> {
    let memory = c.data().memory()?;
    let (bytes, host) = memory.data_and_store_mut(&mut c);
    match host.wasi.awaited_by_poll(&MemoryView(bytes), subs, count) {
        Some((_, true)) => pass_turn().await,
        Some((pipe, false)) => pipe.wait().await,
        None => {}
    }
    run_syscall(c, |wasi, view| wasi.poll_oneoff(view, subs, events, count, out))
}

/// `host.call(ptr, len, out_ptr_ptr, out_len_ptr)`: one frame to the host, one back. 0 = answered, −2 = bad pointers.
async fn host_call(
    mut caller: Caller<'_, Host>,
    (ptr, len, out_ptr, out_len): (i32, i32, i32, i32),
) -> wasmtime::Result<i32> {
    const REFUSED: i32 = -2;
    let memory = caller.data().memory()?;
    let frame_bytes = u64::from(len.cast_unsigned());
    // A frame that is refused below is not read.
    let read_bytes = frame_bytes.min(caller.data().channel.max_frame());
    charge(&caller, read_bytes.saturating_mul(FRAME_BYTE))?;
    let (bytes, host) = memory.data_and_store_mut(&mut caller);
    let start = ptr.cast_unsigned() as usize;
    let Some(frame) = bytes.get(start..start.saturating_add(len.cast_unsigned() as usize)) else {
        return Ok(REFUSED);
    };
    if frame_bytes > host.channel.max_frame() {
        return Err(wasmtime::Error::new(host.channel.output_exceeded(frame_bytes)));
    }
    let reply = match host.channel.receive(frame).map_err(wasmtime::Error::new)? {
        ChannelReply::Bytes(reply) => reply,
        ChannelReply::AskCallee(request) => ask_callee(host, request)?,
    };
    let alloc = host.alloc.clone().ok_or_else(|| wasmtime::Error::msg("the guest has no allocator yet"))?;
    let reply_len =
        i32::try_from(reply.len()).map_err(|_| wasmtime::Error::new(HostTrap::Protocol("the job is too large")))?;
    caller.data_mut().channel.set_answering(true);
    let at = alloc.call_async(&mut caller, reply_len).await?;
    caller.data_mut().channel.set_answering(false);
    let view = &mut MemoryView(memory.data_mut(&mut caller));
    let wrote = at != 0
        && view.write(at, &reply).is_ok()
        && view.write(out_ptr, &at.to_le_bytes()).is_ok()
        && view.write(out_len, &reply_len.to_le_bytes()).is_ok();
    Ok(if wrote { 0 } else { REFUSED })
}

/// Calls the job's callee on this thread and returns the frame of its reply.
fn ask_callee(host: &mut Host, request: Vec<u8>) -> wasmtime::Result<Vec<u8>> {
    let caps = host.channel.caps();
    let ask = host.ask_callee.as_mut().ok_or(HostTrap::Protocol("a request to a callee, and the job has none"));
    let answer = ask.map_err(wasmtime::Error::new)?(request, caps).map_err(wasmtime::Error::msg)?;
    answer.ok_or(wasmtime::Error::new(HostTrap::Callee))
}
