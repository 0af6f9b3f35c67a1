//! Every call of the shim, by number: what tests and fuzzers drive it with.

use super::errno::SyscallResult;
use super::path::OpenFlags;
use super::view::MemoryView;
use super::{ProcessStrings, Wasi};

pub(crate) const CALLS: u8 = 31;

/// The call of number `which`, with `n` and `l` where it takes numbers.
pub(crate) fn call_by_number(
    wasi: &mut Wasi,
    view: &mut MemoryView<'_>,
    which: u8,
    n: [i32; 6],
    l: [i64; 2],
) -> SyscallResult {
    let flags = OpenFlags { oflags: n[3], rights: l[0], fdflags: n[4] };
    match which {
        0 => Wasi::strings_get(view, ProcessStrings::default().arguments, n[0], n[1]),
        1 => Wasi::strings_sizes(view, ProcessStrings::default().arguments, n[0], n[1]),
        2 => Wasi::clock_res_get(view, n[0], n[1]),
        3 => wasi.clock_time_get(view, n[0], n[1]),
        4 => wasi.random_get(view, n[0], n[1]),
        5 => wasi.poll_oneoff(view, n[0], n[1], n[2], n[3]),
        6 => wasi.fd_prestat_get(view, n[0], n[1]),
        7 => wasi.fd_prestat_dir_name(view, n[0], n[1], n[2]),
        8 => wasi.fd_close(n[0]),
        9 => wasi.fd_fdstat_get(view, n[0], n[1]),
        10 => wasi.fd_fdstat_set_flags(n[0], n[1]),
        11 => wasi.fd_filestat_get(view, n[0], n[1]),
        12 => wasi.fd_filestat_set_size(n[0], l[0]),
        13 => wasi.fd_filestat_set_times(n[0], l[0], l[1], n[1]),
        14 => wasi.fd_no_effect(n[0]),
        15 => wasi.fd_read(view, n[0], (n[1], n[2]), None, n[3]),
        16 => wasi.fd_read(view, n[0], (n[1], n[2]), Some(l[0]), n[3]),
        17 => wasi.fd_write(view, n[0], (n[1], n[2]), None, n[3]),
        18 => wasi.fd_write(view, n[0], (n[1], n[2]), Some(l[0]), n[3]),
        19 => wasi.fd_seek(view, n[0], l[0], n[1], n[2]),
        20 => wasi.fd_tell(view, n[0], n[1]),
        21 => wasi.fd_readdir(view, n[0], (n[1], n[2]), l[0], n[3]),
        22 => wasi.path_open(view, n[0], (n[1], n[2]), flags, n[5]),
        23 => wasi.path_filestat_get(view, n[0], (n[1], n[2]), n[3]),
        24 => wasi.path_filestat_set_times(view, n[0], (n[1], n[2]), (l[0], l[1]), n[3]),
        25 => wasi.path_create_directory(view, n[0], (n[1], n[2])),
        26 => wasi.path_remove_directory(view, n[0], (n[1], n[2])),
        27 => wasi.path_unlink_file(view, n[0], (n[1], n[2])),
        28 => wasi.path_rename(view, (n[0], (n[1], n[2])), (n[3], (n[4], n[5]))),
        29 => wasi.path_readlink(view, n[0], (n[1], n[2])),
        _ => wasi.fd_renumber(n[0], n[1]),
    }
}
