//! The shim under hostile arguments, and its file tree against a model.

use std::sync::Arc;

use proptest::prelude::*;
use veriplay_core::{LimitKind, is_plain_relative};

use super::any_call::{CALLS, call_by_number};
use super::errno::{Errno, SyscallError, SyscallResult};
use super::files::{FileContent, NodeKind};
use super::path::OpenFlags;
use super::pipe::Pipe;
use super::view::MemoryView;
use super::{AtCap, Wasi, WasiSetup, base_tree};
use crate::host_trap::HostTrap;

const MEMORY: usize = 1 << 16;
const READ: i64 = 1 << 1;
const WRITE: i64 = 1 << 6;
const CREATE: i32 = 1;

fn wasi(seed: u64) -> Wasi {
    let files = [("given".to_owned(), b"content".to_vec()), ("dir/inner".to_owned(), vec![7; 100])];
    let base = base_tree("/usr/local/lib/lib.zip", Arc::new(vec![1; 5000])).unwrap();
    let setup = WasiSetup {
        seed,
        stdin: b"input",
        files: &files,
        output_bytes: 1000,
        at_stdout_cap: AtCap::End,
        file_bytes: 10_000,
        sleep_fuel: 3_000_000_000,
        ..WasiSetup::default()
    };
    Wasi::new(&base, &setup).unwrap()
}

/// Guest memory with a path at 0 and an iovec over `[1000, 1000 + len)` at 512.
struct TestGuest {
    memory: Vec<u8>,
    wasi: Wasi,
}

impl TestGuest {
    fn new() -> Self {
        Self { memory: vec![0; MEMORY], wasi: wasi(1) }
    }

    fn call(&mut self, call: impl FnOnce(&mut Wasi, &mut MemoryView<'_>) -> SyscallResult) -> SyscallResult {
        call(&mut self.wasi, &mut MemoryView(&mut self.memory))
    }

    /// What a call that succeeds is charged in addition to its base price.
    fn work(&mut self, call: impl FnOnce(&mut Wasi, &mut MemoryView<'_>) -> SyscallResult) -> u64 {
        self.wasi.take_work();
        self.call(call).unwrap();
        self.wasi.take_work()
    }

    fn mkdir(&mut self, path: &str) {
        let path = self.path(path);
        self.call(|wasi, view| wasi.path_create_directory(view, 3, path)).unwrap();
    }

    /// What renaming `from` to `to` is charged.
    fn rename_work(&mut self, from: &str, to: &str) -> u64 {
        let from = self.path(from);
        let end = 200 + to.len();
        self.memory[200..end].copy_from_slice(to.as_bytes());
        let to = (200, i32::try_from(to.len()).unwrap());
        self.work(|wasi, view| wasi.path_rename(view, (3, from), (3, to)))
    }

    fn path(&mut self, path: &str) -> (i32, i32) {
        self.memory[..path.len()].copy_from_slice(path.as_bytes());
        (0, i32::try_from(path.len()).unwrap())
    }

    fn open(&mut self, path: &str, oflags: i32, rights: i64) -> Result<i32, SyscallError> {
        let path = self.path(path);
        let flags = OpenFlags { oflags, rights, fdflags: 0 };
        self.call(|wasi, view| wasi.path_open(view, 3, path, flags, 600))?;
        Ok(self.i32_at(600))
    }

    fn i32_at(&self, at: usize) -> i32 {
        i32::from_le_bytes(self.memory[at..at + 4].try_into().unwrap())
    }

    fn iovec(&mut self, len: usize) {
        self.memory[512..516].copy_from_slice(&1000u32.to_le_bytes());
        self.memory[516..520].copy_from_slice(&u32::try_from(len).unwrap().to_le_bytes());
    }

    fn write(&mut self, fd: i32, bytes: &[u8]) -> SyscallResult {
        self.iovec(bytes.len());
        self.memory[1000..1000 + bytes.len()].copy_from_slice(bytes);
        self.call(|wasi, view| wasi.fd_write(view, fd, (512, 1), None, 600))
    }

    fn read(&mut self, fd: i32, len: usize) -> Result<Vec<u8>, SyscallError> {
        self.iovec(len);
        self.call(|wasi, view| wasi.fd_read(view, fd, (512, 1), None, 600))?;
        let got = usize::try_from(self.i32_at(600)).unwrap();
        Ok(self.memory[1000..1000 + got].to_vec())
    }
}

#[test]
fn a_pipe_gives_what_is_there_has_no_places_and_takes_what_is_written() {
    let (input, output) = (Pipe::default(), Pipe::default());
    let mut guest = TestGuest::new();
    guest.wasi.join(input.clone(), output.clone());
    assert_eq!((input.available(), output.available()), (None, None));
    input.write(b"abcde");
    assert_eq!(guest.read(0, 2).unwrap(), b"ab");
    let again = guest.open("/dev/stdin", 0, READ).unwrap();
    assert_eq!(guest.read(again, 9).unwrap(), b"cde");
    assert_eq!(errno(guest.call(|wasi, view| wasi.fd_seek(view, 0, 0, 0, 600))), Errno::SPIPE);
    assert_eq!(errno(guest.call(|wasi, view| wasi.fd_tell(view, 0, 600))), Errno::SPIPE);
    guest.iovec(1);
    assert_eq!(errno(guest.call(|wasi, view| wasi.fd_read(view, 0, (512, 1), Some(0), 600))), Errno::SPIPE);
    assert_eq!(errno(guest.write(0, b"x")), Errno::BADF);
    guest.write(1, b"out").unwrap();
    guest.write(2, b"error").unwrap();
    assert_eq!((output.available(), guest.wasi.stdout.bytes.as_slice()), (Some(3), b"out".as_slice()));
    guest.call(|wasi, _| wasi.fd_close(1)).unwrap();
    assert_eq!((output.read(&mut [0; 9]), output.available()), (3, Some(0)));
    // What is beyond the cap does not cross.
    let mut guest = TestGuest::new();
    guest.wasi.join(input, output.clone());
    assert!(matches!(guest.write(1, &[7; 1001]), Err(SyscallError::Trap(_))));
    assert_eq!(output.available(), Some(1000));
}

fn errno<T: std::fmt::Debug>(answer: Result<T, SyscallError>) -> Errno {
    match answer {
        Err(SyscallError::Errno(errno)) => errno,
        other => panic!("{other:?}"),
    }
}

/// Numbers a hostile guest passes: small ones, the ends of memory, the ends of the type, anything.
fn number() -> impl Strategy<Value = i32> {
    let end = i32::try_from(MEMORY).unwrap();
    prop_oneof![
        4 => 0..8i32,
        2 => (end - 80)..(end + 8),
        2 => prop_oneof![Just(i32::MIN), Just(i32::MAX), Just(-1), Just(-8), Just(i32::MAX - 7)],
        1 => any::<i32>(),
    ]
}

fn long() -> impl Strategy<Value = i64> {
    prop_oneof![0..64i64, Just(i64::MIN), Just(i64::MAX), Just(-1), any::<i64>()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_arguments_make_a_call_panic(
        calls in prop::collection::vec((0..CALLS, prop::array::uniform6(number()), prop::array::uniform2(long())), 1..150),
        text in "[a-c/.]{0,64}",
    ) {
        let mut guest = TestGuest::new();
        guest.memory[..text.len()].copy_from_slice(text.as_bytes());
        for (which, n, l) in calls {
            // Whatever is answered, the next call must be answered too.
            let _ = guest.call(|wasi, view| call_by_number(wasi, view, which, n, l));
        }
        guest.wasi.take_work();
        prop_assert!(guest.wasi.stdout.bytes.len() <= 1000);
    }

    #[test]
    fn a_file_holds_what_a_model_of_it_holds(steps in prop::collection::vec((0..5u8, 0..600usize, any::<u8>()), 1..15)) {
        let mut guest = TestGuest::new();
        let fd = guest.open("/work/model", CREATE, READ | WRITE).unwrap();
        let (mut model, mut at) = (Vec::new(), 0);
        for (what, n, byte) in steps {
            match what {
                0 => {
                    guest.call(|wasi, view| wasi.fd_seek(view, fd, i64::try_from(n).unwrap(), 0, 600)).unwrap();
                    at = n;
                }
                1 => {
                    guest.call(|wasi, _| wasi.fd_filestat_set_size(fd, i64::try_from(n).unwrap())).unwrap();
                    model.resize(n, 0);
                }
                2 => {
                    let got = guest.read(fd, n).unwrap();
                    let expected = model.get(at..).unwrap_or_default();
                    prop_assert!(got == expected[..expected.len().min(n)]);
                    at += got.len();
                }
                _ => {
                    guest.write(fd, &vec![byte; n]).unwrap();
                    if n > 0 {
                        model.resize(model.len().max(at + n), 0);
                        model[at..at + n].fill(byte);
                    }
                    at += n;
                }
            }
        }
        guest.call(|wasi, view| wasi.fd_seek(view, fd, 0, 0, 600)).unwrap();
        prop_assert!(guest.read(fd, 20_000).unwrap() == model);
    }

    #[test]
    fn a_path_stays_inside_the_tree(path in "(/|[.]{1,2}|work|given|dir|etc){1,12}") {
        let mut guest = TestGuest::new();
        if let Ok(fd) = guest.open(&path, 0, READ)
            && let Ok(content) = guest.read(fd, 100)
        {
            prop_assert!(content == b"content" || content.iter().all(|byte| *byte == 7), "{path} {content:?}");
        }
    }

    #[test]
    fn only_plain_relative_paths_name_files_of_a_job(path in "[a/.\0]{0,8}") {
        let parts = path.split('/');
        let plain = !path.contains('\0') && parts.clone().all(|part| !matches!(part, "" | "." | ".."));
        prop_assert_eq!(is_plain_relative(&path), plain);
    }
}

#[test]
fn a_pointer_past_the_end_is_a_fault_and_nothing_is_written() {
    let mut guest = TestGuest::new();
    let end = i32::try_from(MEMORY).unwrap();
    let before = guest.memory.clone();
    for ptr in [end - 7, end, i32::MAX, -1, i32::MIN] {
        assert_eq!(errno(guest.call(|wasi, view| wasi.clock_time_get(view, 0, ptr))), Errno::FAULT, "{ptr}");
        assert_eq!(errno(guest.call(|wasi, view| wasi.random_get(view, ptr, 100))), Errno::FAULT, "{ptr}");
        assert_eq!(errno(guest.call(|wasi, view| wasi.fd_write(view, 1, (ptr, 1), None, 600))), Errno::FAULT, "{ptr}");
    }
    assert_eq!(guest.memory, before);
}

#[test]
fn huge_counts_and_overlapping_vectors_are_refused_or_harmless() {
    let mut guest = TestGuest::new();
    assert_eq!(errno(guest.call(|wasi, view| wasi.fd_write(view, 1, (0, 1025), None, 600))), Errno::INVAL);
    assert_eq!(errno(guest.call(|wasi, view| wasi.fd_write(view, 1, (0, -1), None, 600))), Errno::INVAL);
    // Two vectors of 2 GiB each: their sum does not fit the result.
    guest.memory[508..512].copy_from_slice(&(1u32 << 31).to_le_bytes());
    guest.memory[516..520].copy_from_slice(&(1u32 << 31).to_le_bytes());
    assert!(guest.call(|wasi, view| wasi.fd_write(view, 1, (504, 2), None, 600)).is_err());
    // A read into the vector table itself.
    guest.memory[512..516].copy_from_slice(&512u32.to_le_bytes());
    guest.memory[516..520].copy_from_slice(&5u32.to_le_bytes());
    guest.call(|wasi, view| wasi.fd_read(view, 0, (512, 1), None, 600)).unwrap();
    assert_eq!(&guest.memory[512..517], b"input");
}

#[test]
fn output_is_kept_up_to_its_cap_and_the_byte_after_it_ends_the_job() {
    let mut guest = TestGuest::new();
    guest.write(1, &[b'a'; 600]).unwrap();
    let stop = HostTrap::exceeded(LimitKind::OutputBytes, 1000, 1200);
    assert_eq!(guest.write(1, &[b'b'; 600]), Err(SyscallError::Trap(stop)));
    assert_eq!((guest.wasi.stdout.bytes.len(), guest.wasi.stdout.truncated), (1000, true));
    // Nobody takes stderr for a result.
    guest.write(2, &[b'c'; 1000]).unwrap();
    assert!(!guest.wasi.stderr.truncated);
    guest.write(2, b"d").unwrap();
    assert_eq!((guest.wasi.stderr.bytes.len(), guest.wasi.stderr.truncated), (1000, true));
}

#[test]
fn files_weigh_what_they_hold_and_removing_them_gives_it_back() {
    let mut guest = TestGuest::new();
    for _ in 0..20 {
        let fd = guest.open("/tmp/big", CREATE, WRITE).unwrap();
        guest.write(fd, &[1; 9000]).unwrap();
        let path = guest.path("/tmp/big");
        guest.call(|wasi, view| wasi.path_unlink_file(view, 3, path)).unwrap();
        guest.call(|wasi, _| wasi.fd_close(fd)).unwrap();
    }
    let fd = guest.open("/tmp/big", CREATE, WRITE).unwrap();
    assert!(matches!(
        guest.write(fd, &[1; 10_000]),
        Err(SyscallError::Trap(HostTrap::Exceeded { limit: LimitKind::FileBytes, allowed: 10_000, .. }))
    ));
    assert!(matches!(guest.call(|wasi, _| wasi.fd_filestat_set_size(fd, i64::MAX)), Err(SyscallError::Trap(_))));
}

#[test]
fn empty_files_are_not_free() {
    let mut guest = TestGuest::new();
    let stopped = (0..100).find_map(|n| guest.open(&format!("/tmp/{n}"), CREATE, WRITE).err());
    assert!(
        matches!(stopped, Some(SyscallError::Trap(HostTrap::Exceeded { limit: LimitKind::FileBytes, .. }))),
        "{stopped:?}"
    );
}

#[test]
fn the_image_is_read_only_and_the_jobs_files_are_its_own() {
    let mut guest = TestGuest::new();
    assert_eq!(errno(guest.open("/usr/local/lib/lib.zip", 0, READ | WRITE)), Errno::ROFS);
    assert_eq!(errno(guest.open("/new", CREATE, WRITE)), Errno::ROFS);
    assert_eq!(errno(guest.open("/etc/passwd", 0, READ)), Errno::NOENT);
    let path = guest.path("/usr/local/lib/lib.zip");
    assert_eq!(errno(guest.call(|wasi, view| wasi.path_unlink_file(view, 3, path))), Errno::ROFS);
    let fd = guest.open("/work/given", 0, READ | WRITE).unwrap();
    guest.write(fd, b"CON").unwrap();
    guest.call(|wasi, view| wasi.fd_seek(view, fd, 0, 0, 600)).unwrap();
    assert_eq!(guest.read(fd, 100).unwrap(), b"CONtent");
    assert_eq!(
        wasi(1).tree.read_at(wasi(1).tree.resolve(0, "/work/given").unwrap().node.unwrap(), 0, &mut [0; 9]),
        Ok(7)
    );
}

#[test]
fn a_directory_is_listed_whole_whatever_the_buffer() {
    for len in [29, 30, 64, 1000] {
        let mut guest = TestGuest::new();
        let fd = guest.open("/work", 2, READ).unwrap();
        let (mut cookie, mut names) = (0i64, Vec::new());
        loop {
            guest.call(|wasi, view| wasi.fd_readdir(view, fd, (1000, len), cookie, 600)).unwrap();
            let used = usize::try_from(guest.i32_at(600)).unwrap();
            let mut at = 0;
            while at + 24 <= used {
                let name_len = usize::try_from(guest.i32_at(1000 + at + 16)).unwrap();
                if at + 24 + name_len > used {
                    break;
                }
                cookie = i64::from(guest.i32_at(1000 + at));
                names.push(String::from_utf8(guest.memory[1024 + at..1024 + at + name_len].to_vec()).unwrap());
                at += 24 + name_len;
            }
            if used < usize::try_from(len).unwrap() || at == 0 {
                break;
            }
        }
        assert_eq!(names, [".", "..", "dir", "given"], "buffer of {len}");
    }
}

#[test]
fn directories_move_but_not_into_themselves_and_only_empty_ones_go_away() {
    let mut guest = TestGuest::new();
    let dir = guest.path("/work/dir");
    assert_eq!(errno(guest.call(|wasi, view| wasi.path_remove_directory(view, 3, dir))), Errno::NOTEMPTY);
    assert_eq!(errno(guest.call(|wasi, view| wasi.path_unlink_file(view, 3, dir))), Errno::ISDIR);
    guest.memory[100..114].copy_from_slice(b"/work/dir/deep");
    assert_eq!(errno(guest.call(|wasi, view| wasi.path_rename(view, (3, dir), (3, (100, 14))))), Errno::INVAL);
    guest.memory[100..110].copy_from_slice(b"/tmp/moved");
    guest.call(|wasi, view| wasi.path_rename(view, (3, dir), (3, (100, 10)))).unwrap();
    assert!(guest.open("/tmp/moved/inner", 0, READ).is_ok());
    assert_eq!(errno(guest.open("/work/dir/inner", 0, READ)), Errno::NOENT);
}

#[test]
fn time_moves_by_reading_and_by_sleeping_and_starts_with_the_seed() {
    let mut guest = TestGuest::new();
    let now = |guest: &mut TestGuest| {
        guest.call(|wasi, view| wasi.clock_time_get(view, 1, 600)).unwrap();
        u64::from_le_bytes(guest.memory[600..608].try_into().unwrap())
    };
    let (a, b) = (now(&mut guest), now(&mut guest));
    assert_eq!(b - a, 50_000);
    // One subscription: the monotonic clock, an hour from now.
    guest.memory[16] = 1;
    guest.memory[24..32].copy_from_slice(&3_600_000_000_000u64.to_le_bytes());
    guest.call(|wasi, view| wasi.poll_oneoff(view, 0, 1000, 1, 600)).unwrap();
    assert_eq!((guest.i32_at(600), now(&mut guest) - b), (1, 3_600_000_050_000));
    assert_eq!(wasi(1).clock.stamp(), wasi(1).clock.stamp());
    assert_ne!(wasi(1).clock.stamp(), wasi(2).clock.stamp());
}

#[test]
fn the_random_source_is_its_seed() {
    let draw = |seed| {
        let mut guest = TestGuest { memory: vec![0; 64], wasi: wasi(seed) };
        guest.call(|wasi, view| wasi.random_get(view, 0, 64)).unwrap();
        guest.memory
    };
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
}

#[test]
fn descriptors_run_out_and_come_back() {
    let mut guest = TestGuest::new();
    let full = std::iter::repeat_with(|| guest.open("/work/given", 0, READ)).find_map(Result::err);
    assert_eq!(full, Some(SyscallError::Errno(Errno::NFILE)));
    guest.call(|wasi, _| wasi.fd_close(100)).unwrap();
    assert_eq!(guest.open("/work/given", 0, READ), Ok(100));
    assert_eq!(errno(guest.call(|wasi, _| wasi.fd_close(1 << 20))), Errno::BADF);
}

#[test]
fn bytes_that_the_host_clears_are_charged_and_those_it_drops_are_not() {
    let mut guest = TestGuest::new();
    let fd = guest.open("/tmp/f", CREATE, READ | WRITE).unwrap();
    assert_eq!(guest.work(|wasi, _| wasi.fd_filestat_set_size(fd, 9000)), 9000);
    assert_eq!(guest.work(|wasi, _| wasi.fd_filestat_set_size(fd, 9000)), 0);
    assert_eq!(guest.work(|wasi, _| wasi.fd_filestat_set_size(fd, 100)), 0);
    // One byte, and the gap before it; then one byte in its place, which is all that is charged beside the vector.
    guest.iovec(1);
    let far = guest.work(|wasi, view| wasi.fd_write(view, fd, (512, 1), Some(8000), 600));
    let near = guest.work(|wasi, view| wasi.fd_write(view, fd, (512, 1), Some(8000), 600));
    assert_eq!(far - near, 8001 - 100);
    // The job's own file is copied when it is first written, and never again.
    let given = guest.open("/work/dir/inner", 0, READ | WRITE).unwrap();
    let first = guest.work(|wasi, view| wasi.fd_write(view, given, (512, 1), Some(0), 600));
    let second = guest.work(|wasi, view| wasi.fd_write(view, given, (512, 1), Some(0), 600));
    assert_eq!(first - second, 100);
}

#[test]
fn a_shortened_file_gives_its_room_back() {
    let mut guest = TestGuest::new();
    let fd = guest.open("/tmp/f", CREATE, READ | WRITE).unwrap();
    guest.call(|wasi, _| wasi.fd_filestat_set_size(fd, 9000)).unwrap();
    guest.call(|wasi, _| wasi.fd_filestat_set_size(fd, 10)).unwrap();
    let node = guest.wasi.fds.get(fd).unwrap().node().unwrap();
    let NodeKind::File(FileContent::Owned(bytes)) = &guest.wasi.tree.node(node).unwrap().kind else {
        panic!("no file")
    };
    assert!(bytes.capacity() < 9000, "{}", bytes.capacity());
    assert_eq!(guest.read(fd, 100).unwrap(), [0; 10]);
}

#[test]
fn a_descriptor_takes_the_number_of_another_and_closes_what_was_there() {
    let mut guest = TestGuest::new();
    let (one, other) = (guest.open("/tmp/one", CREATE, READ | WRITE), guest.open("/tmp/other", CREATE, WRITE));
    let (one, other) = (one.unwrap(), other.unwrap());
    guest.call(|wasi, _| wasi.fd_filestat_set_size(one, 3)).unwrap();
    guest.call(|wasi, _| wasi.fd_renumber(one, other)).unwrap();
    assert_eq!(guest.read(other, 9).unwrap(), [0; 3]);
    guest.call(|wasi, _| wasi.fd_renumber(other, other)).unwrap();
    // As `freopen` puts a file in the place of standard input.
    guest.call(|wasi, _| wasi.fd_renumber(other, 0)).unwrap();
    for (from, to, why) in
        [(one, 0, Errno::BADF), (0, other, Errno::BADF), (0, 3, Errno::NOTSUP), (3, 0, Errno::NOTSUP)]
    {
        assert_eq!(errno(guest.call(|wasi, _| wasi.fd_renumber(from, to))), why, "{from} {to}");
    }
}

#[test]
fn renaming_a_directory_costs_by_its_depth_and_not_by_what_is_in_it() {
    let mut guest = TestGuest::new();
    guest.mkdir("/tmp/few");
    guest.mkdir("/tmp/many");
    for n in 0..20 {
        let fd = guest.open(&format!("/tmp/many/{n}"), CREATE, WRITE).unwrap();
        guest.call(|wasi, _| wasi.fd_close(fd)).unwrap();
    }
    assert_eq!(guest.rename_work("/tmp/many", "/tmp/abcd"), guest.rename_work("/tmp/few", "/tmp/abcde"));
    // By name both are two levels deep; from a directory that is deeper there is more to walk.
    guest.mkdir("/tmp/abcde/a");
    guest.mkdir("/tmp/abcde/a/b");
    let shallow = guest.rename_work("/tmp/abcd", "/tmp/////////abcd");
    let deep = guest.rename_work("/tmp//////////abcd", "/tmp/abcde/a/b/c");
    assert!(deep > shallow + 3 * 24, "{deep} {shallow}");
}

#[test]
fn a_directory_that_moved_is_found_where_it_is() {
    let mut guest = TestGuest::new();
    guest.mkdir("/tmp/a");
    guest.mkdir("/tmp/a/b");
    guest.mkdir("/tmp/c");
    guest.rename_work("/tmp/a", "/tmp/c/a");
    let (from, to) = (guest.path("/tmp/c"), 200);
    guest.memory[200..212].copy_from_slice(b"/tmp/c/a/b/c");
    let inside = guest.call(|wasi, view| wasi.path_rename(view, (3, from), (3, (to, 12))));
    assert_eq!(errno(inside), Errno::INVAL);
    guest.rename_work("/tmp/c/a/b", "/tmp/b");
    guest.rename_work("/tmp/c", "/tmp/b/c");
    assert!(guest.open("/tmp/b/c/a", 2, READ).is_ok());
}

#[test]
fn nothing_is_put_into_a_directory_that_was_removed() {
    let mut guest = TestGuest::new();
    guest.mkdir("/tmp/a");
    let dir = guest.open("/tmp/a", 2, READ).unwrap();
    let path = guest.path("/tmp/a");
    guest.call(|wasi, view| wasi.path_remove_directory(view, 3, path)).unwrap();
    let path = guest.path("b");
    assert_eq!(errno(guest.call(|wasi, view| wasi.path_create_directory(view, dir, path))), Errno::NOENT);
    guest.memory[200..210].copy_from_slice(b"/work/dir\0");
    let moved = guest.call(|wasi, view| wasi.path_rename(view, (3, (200, 9)), (dir, path)));
    assert_eq!(errno(moved), Errno::NOENT);
    assert!(guest.open("/work/dir/inner", 0, READ).is_ok());
}

#[test]
fn entries_that_are_stepped_over_are_charged() {
    let mut guest = TestGuest::new();
    for n in 10..30 {
        let fd = guest.open(&format!("/tmp/{n}"), CREATE, WRITE).unwrap();
        guest.call(|wasi, _| wasi.fd_close(fd)).unwrap();
    }
    let dir = guest.open("/tmp", 2, READ).unwrap();
    // Room for one entry. Both are as long.
    let mut listed = |cookie| guest.work(|wasi, view| wasi.fd_readdir(view, dir, (1000, 26), cookie, 600));
    assert_eq!(listed(21) - listed(2), 19 * 24);
}

#[test]
fn each_part_of_a_path_is_charged_whether_it_is_there_or_not() {
    let mut guest = TestGuest::new();
    let mut stat = |path: &str| {
        guest.wasi.take_work();
        let path = guest.path(path);
        let _ = guest.call(|wasi, view| wasi.path_filestat_get(view, 3, path, 600));
        guest.wasi.take_work()
    };
    let (short, long, missing) = (stat("/work/dir"), stat("/work/././././dir"), stat("/none/././././dir"));
    assert_eq!(missing, long);
    assert_eq!(long - short, 4 * 400 + 8);
}

#[test]
fn vectors_subscriptions_and_random_bytes_are_charged_one_by_one() {
    let mut guest = TestGuest::new();
    let empty =
        |guest: &mut TestGuest, count| guest.work(|wasi, view| wasi.fd_write(view, 1, (8000, count), None, 600));
    assert_eq!(empty(&mut guest, 1000) - empty(&mut guest, 1), 999 * 400);
    let poll = |guest: &mut TestGuest, count| guest.work(|wasi, view| wasi.poll_oneoff(view, 8000, 20_000, count, 600));
    assert_eq!(poll(&mut guest, 64) - poll(&mut guest, 1), 63 * 400);
    assert_eq!(guest.work(|wasi, view| wasi.random_get(view, 1000, 500)), 2000);
    // What looks at nothing costs nothing beside its base price.
    assert_eq!(guest.work(|wasi, view| wasi.clock_time_get(view, 0, 600)), 0);
}

#[test]
fn standard_input_is_a_file_of_its_length() {
    const FILE: u8 = 4;
    let mut guest = TestGuest::new();
    guest.call(|wasi, view| wasi.fd_filestat_get(view, 0, 2000)).unwrap();
    assert_eq!((guest.memory[2016], guest.i32_at(2032)), (FILE, 5));
    guest.call(|wasi, view| wasi.fd_fdstat_get(view, 0, 2000)).unwrap();
    assert_eq!(guest.memory[2000], FILE);
    assert_eq!(guest.read(0, 2).unwrap(), b"in");
    guest.call(|wasi, view| wasi.fd_tell(view, 0, 600)).unwrap();
    assert_eq!(guest.i32_at(600), 2);
    guest.iovec(3);
    guest.call(|wasi, view| wasi.fd_read(view, 0, (512, 1), Some(1), 600)).unwrap();
    assert_eq!(&guest.memory[1000..1003], b"npu");
    assert_eq!(guest.read(0, 100).unwrap(), b"put");
    assert_eq!(guest.read(0, 100).unwrap(), b"");
    guest.call(|wasi, view| wasi.fd_seek(view, 0, 0, 0, 600)).unwrap();
    assert_eq!(guest.read(0, 100).unwrap(), b"input");
}

#[test]
fn standard_input_has_a_path_and_is_not_written() {
    let mut guest = TestGuest::new();
    assert_eq!(guest.read(0, 2).unwrap(), b"in");
    let fd = guest.open("/dev/stdin", 0, READ).unwrap();
    assert_eq!((guest.read(fd, 100).unwrap(), guest.read(0, 100).unwrap()), (b"input".to_vec(), b"put".to_vec()));
    assert_eq!(errno(guest.write(0, b"x")), Errno::BADF);
    assert_eq!(errno(guest.open("/dev/stdin", 0, READ | WRITE)), Errno::ROFS);
    assert_eq!(errno(guest.open("/dev/stdin", 8, READ)), Errno::ROFS);
    let path = guest.path("/dev/stdin");
    assert_eq!(errno(guest.call(|wasi, view| wasi.path_unlink_file(view, 3, path))), Errno::ROFS);
    assert_eq!(errno(guest.call(|wasi, _| wasi.fd_filestat_set_size(0, 0))), Errno::INVAL);
    guest.call(|wasi, _| wasi.fd_close(0)).unwrap();
    assert_eq!(errno(guest.read(0, 1)), Errno::BADF);
    assert_eq!(guest.open("/dev/stdin", 0, READ), Ok(0));
    assert_eq!(guest.read(0, 100).unwrap(), b"input");
}

#[test]
fn a_poll_says_how_much_input_is_left() {
    let mut guest = TestGuest::new();
    let mut ready = |read: usize| {
        guest.read(0, read).unwrap();
        // One subscription: to read descriptor 0.
        guest.memory[..48].fill(0);
        guest.memory[8] = 1;
        guest.call(|wasi, view| wasi.poll_oneoff(view, 0, 2000, 1, 600)).unwrap();
        (guest.i32_at(2008) >> 16 & 0xff, guest.i32_at(2016))
    };
    assert_eq!([ready(0), ready(3), ready(9)], [(1, 5), (1, 2), (1, 1)]);
}
