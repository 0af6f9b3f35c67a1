//! The functions that a guest can call: the shim's, and the value channel. Each call costs fuel.

use wasmtime::{Caller, Linker};

use crate::channel::ChannelReply;
use crate::host::Host;
use crate::host_trap::HostTrap;
use crate::wasi::errno::{Errno, SyscallError, SyscallResult};
use crate::wasi::path::OpenFlags;
use crate::wasi::pipe::pass_turn;
use crate::wasi::view::MemoryView;
use crate::wasi::{ARGS, ENVIRON, Wasi};

/// Fuel per byte of a frame, which the host copies, decodes and compares.
const FRAME_BYTE: u64 = 16;
const MODULE: &str = "wasi_snapshot_preview1";
/// Fuel of a host call, so that a loop of calls is not cheaper than a loop of instructions.
const CALL_FUEL: u64 = 800;

/// Charges a host call: the base price, and `work` for what it did.
fn charge(caller: &Caller<'_, Host>, work: u64) -> wasmtime::Result<()> {
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

fn add_process(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    linker.func_wrap(MODULE, "args_get", |c: C<'_>, pointers: i32, buffer: i32| {
        run_syscall(c, |_, view| Wasi::strings_get(view, &ARGS, pointers, buffer))
    })?;
    linker.func_wrap(MODULE, "args_sizes_get", |c: C<'_>, count: i32, size: i32| {
        run_syscall(c, |_, view| Wasi::strings_sizes(view, &ARGS, count, size))
    })?;
    linker.func_wrap(MODULE, "environ_get", |c: C<'_>, pointers: i32, buffer: i32| {
        run_syscall(c, |_, view| Wasi::strings_get(view, &ENVIRON, pointers, buffer))
    })?;
    linker.func_wrap(MODULE, "environ_sizes_get", |c: C<'_>, count: i32, size: i32| {
        run_syscall(c, |_, view| Wasi::strings_sizes(view, &ENVIRON, count, size))
    })?;
    linker.func_wrap(MODULE, "clock_res_get", |c: C<'_>, id: i32, out: i32| {
        run_syscall(c, |_, view| Wasi::clock_res_get(view, id, out))
    })?;
    linker.func_wrap(MODULE, "clock_time_get", |c: C<'_>, id: i32, _precision: i64, out: i32| {
        run_syscall(c, |wasi, view| wasi.clock_time_get(view, id, out))
    })?;
    linker.func_wrap(MODULE, "random_get", |c: C<'_>, ptr: i32, len: i32| {
        run_syscall(c, |wasi, view| wasi.random_get(view, ptr, len))
    })?;
    linker.func_wrap_async(MODULE, "poll_oneoff", |caller, arguments| Box::new(poll_oneoff(caller, arguments)))?;
    linker.func_wrap(MODULE, "sched_yield", |c: C<'_>| run_syscall(c, |_, _| Ok(())))?;
    linker.func_wrap(MODULE, "proc_exit", |_: C<'_>, code: i32| -> wasmtime::Result<()> {
        Err(wasmtime::Error::new(HostTrap::ProcExit(code)))
    })?;
    Ok(())
}

fn add_descriptors(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    linker.func_wrap(MODULE, "fd_prestat_get", |c: C<'_>, fd: i32, out: i32| {
        run_syscall(c, |wasi, view| wasi.fd_prestat_get(view, fd, out))
    })?;
    linker.func_wrap(MODULE, "fd_prestat_dir_name", |c: C<'_>, fd: i32, out: i32, len: i32| {
        run_syscall(c, |wasi, view| wasi.fd_prestat_dir_name(view, fd, out, len))
    })?;
    linker.func_wrap(MODULE, "fd_close", |c: C<'_>, fd: i32| run_syscall(c, |wasi, _| wasi.fd_close(fd)))?;
    linker.func_wrap(MODULE, "fd_fdstat_get", |c: C<'_>, fd: i32, out: i32| {
        run_syscall(c, |wasi, view| wasi.fd_fdstat_get(view, fd, out))
    })?;
    linker.func_wrap(MODULE, "fd_fdstat_set_flags", |c: C<'_>, fd: i32, flags: i32| {
        run_syscall(c, |wasi, _| wasi.fd_fdstat_set_flags(fd, flags))
    })?;
    linker.func_wrap(MODULE, "fd_filestat_get", |c: C<'_>, fd: i32, out: i32| {
        run_syscall(c, |wasi, view| wasi.fd_filestat_get(view, fd, out))
    })?;
    linker.func_wrap(MODULE, "fd_filestat_set_size", |c: C<'_>, fd: i32, size: i64| {
        run_syscall(c, |wasi, _| wasi.fd_filestat_set_size(fd, size))
    })?;
    linker.func_wrap(MODULE, "fd_filestat_set_times", |c: C<'_>, fd: i32, atime: i64, mtime: i64, flags: i32| {
        run_syscall(c, |wasi, _| wasi.fd_filestat_set_times(fd, atime, mtime, flags))
    })?;
    linker.func_wrap(MODULE, "fd_advise", |c: C<'_>, fd: i32, _: i64, _: i64, _: i32| {
        run_syscall(c, |wasi, _| wasi.fd_no_effect(fd))
    })?;
    for name in ["fd_datasync", "fd_sync"] {
        linker.func_wrap(MODULE, name, |c: C<'_>, fd: i32| run_syscall(c, |wasi, _| wasi.fd_no_effect(fd)))?;
    }
    Ok(())
}

fn add_transfers(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    linker.func_wrap_async(MODULE, "fd_read", |caller, arguments| Box::new(fd_read(caller, arguments)))?;
    linker.func_wrap(MODULE, "fd_pread", |c: C<'_>, fd: i32, iovs: i32, count: i32, at: i64, out: i32| {
        run_syscall(c, |wasi, view| wasi.fd_read(view, fd, (iovs, count), Some(at), out))
    })?;
    linker.func_wrap(MODULE, "fd_write", |c: C<'_>, fd: i32, iovs: i32, count: i32, out: i32| {
        run_syscall(c, |wasi, view| wasi.fd_write(view, fd, (iovs, count), None, out))
    })?;
    linker.func_wrap(MODULE, "fd_pwrite", |c: C<'_>, fd: i32, iovs: i32, count: i32, at: i64, out: i32| {
        run_syscall(c, |wasi, view| wasi.fd_write(view, fd, (iovs, count), Some(at), out))
    })?;
    linker.func_wrap(MODULE, "fd_seek", |c: C<'_>, fd: i32, delta: i64, whence: i32, out: i32| {
        run_syscall(c, |wasi, view| wasi.fd_seek(view, fd, delta, whence, out))
    })?;
    linker.func_wrap(MODULE, "fd_tell", |c: C<'_>, fd: i32, out: i32| {
        run_syscall(c, |wasi, view| wasi.fd_tell(view, fd, out))
    })?;
    linker.func_wrap(MODULE, "fd_readdir", |c: C<'_>, fd: i32, buffer: i32, len: i32, cookie: i64, out: i32| {
        run_syscall(c, |wasi, view| wasi.fd_readdir(view, fd, (buffer, len), cookie, out))
    })?;
    Ok(())
}

fn add_paths(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    linker.func_wrap(
        MODULE,
        "path_open",
        |c: C<'_>, fd: i32, _: i32, ptr: i32, len: i32, oflags: i32, rights: i64, _: i64, fdflags: i32, out: i32| {
            run_syscall(c, |wasi, view| {
                wasi.path_open(view, fd, (ptr, len), OpenFlags { oflags, rights, fdflags }, out)
            })
        },
    )?;
    linker.func_wrap(MODULE, "path_filestat_get", |c: C<'_>, fd: i32, _: i32, ptr: i32, len: i32, out: i32| {
        run_syscall(c, |wasi, view| wasi.path_filestat_get(view, fd, (ptr, len), out))
    })?;
    linker.func_wrap(
        MODULE,
        "path_filestat_set_times",
        |c: C<'_>, fd: i32, _: i32, ptr: i32, len: i32, atime: i64, mtime: i64, flags: i32| {
            run_syscall(c, |wasi, view| wasi.path_filestat_set_times(view, fd, (ptr, len), (atime, mtime), flags))
        },
    )?;
    linker.func_wrap(MODULE, "path_create_directory", |c: C<'_>, fd: i32, ptr: i32, len: i32| {
        run_syscall(c, |wasi, view| wasi.path_create_directory(view, fd, (ptr, len)))
    })?;
    linker.func_wrap(MODULE, "path_remove_directory", |c: C<'_>, fd: i32, ptr: i32, len: i32| {
        run_syscall(c, |wasi, view| wasi.path_remove_directory(view, fd, (ptr, len)))
    })?;
    linker.func_wrap(MODULE, "path_unlink_file", |c: C<'_>, fd: i32, ptr: i32, len: i32| {
        run_syscall(c, |wasi, view| wasi.path_unlink_file(view, fd, (ptr, len)))
    })?;
    linker.func_wrap(
        MODULE,
        "path_rename",
        |c: C<'_>, fd: i32, ptr: i32, len: i32, new_fd: i32, new_ptr: i32, new_len: i32| {
            run_syscall(c, |wasi, view| wasi.path_rename(view, (fd, (ptr, len)), (new_fd, (new_ptr, new_len))))
        },
    )?;
    linker.func_wrap(MODULE, "path_readlink", |c: C<'_>, fd: i32, ptr: i32, len: i32, _: i32, _: i32, _: i32| {
        run_syscall(c, |wasi, view| wasi.path_readlink(view, fd, (ptr, len)))
    })?;
    Ok(())
}

/// Adds calls that always fail: links and sockets.
fn add_refused(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    let refuse = |c: C<'_>| run_syscall(c, |_, _| Err(Errno::PERM.into()));
    linker.func_wrap(
        MODULE,
        "path_link",
        move |c: C<'_>, _: i32, _: i32, _: i32, _: i32, _: i32, _: i32, _: i32| refuse(c),
    )?;
    linker.func_wrap(MODULE, "path_symlink", move |c: C<'_>, _: i32, _: i32, _: i32, _: i32, _: i32| refuse(c))?;
    linker.func_wrap(MODULE, "sock_accept", |c: C<'_>, fd: i32, _: i32, _: i32| refuse_socket(c, fd))?;
    linker.func_wrap(MODULE, "sock_recv", |c: C<'_>, fd: i32, _: i32, _: i32, _: i32, _: i32, _: i32| {
        refuse_socket(c, fd)
    })?;
    linker.func_wrap(MODULE, "sock_send", |c: C<'_>, fd: i32, _: i32, _: i32, _: i32, _: i32| refuse_socket(c, fd))?;
    linker.func_wrap(MODULE, "sock_shutdown", |c: C<'_>, fd: i32, _: i32| refuse_socket(c, fd))?;
    Ok(())
}

/// Fails, because no open descriptor is a socket.
fn refuse_socket(c: C<'_>, fd: i32) -> wasmtime::Result<i32> {
    run_syscall(c, |wasi, _| wasi.no_socket(fd))
}

/// Makes a linker with everything that a guest can call.
pub(crate) fn make_linker(engine: &wasmtime::Engine) -> wasmtime::Result<Linker<Host>> {
    let mut linker = Linker::new(engine);
    add_process(&mut linker)?;
    add_descriptors(&mut linker)?;
    add_transfers(&mut linker)?;
    add_paths(&mut linker)?;
    add_refused(&mut linker)?;
    linker.func_wrap_async("host", "call", |caller, frame| Box::new(host_call(caller, frame)))?;
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
