//! WASI preview 1 error numbers, and the two ways a system call can fail.

use crate::host_trap::HostTrap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Errno(pub(crate) u16);

impl Errno {
    pub(crate) const BADF: Errno = Errno(8);
    pub(crate) const EXIST: Errno = Errno(20);
    pub(crate) const FAULT: Errno = Errno(21);
    pub(crate) const INVAL: Errno = Errno(28);
    pub(crate) const ISDIR: Errno = Errno(31);
    pub(crate) const LOOP: Errno = Errno(32);
    pub(crate) const NAMETOOLONG: Errno = Errno(37);
    pub(crate) const NFILE: Errno = Errno(41);
    pub(crate) const NOENT: Errno = Errno(44);
    pub(crate) const NOTDIR: Errno = Errno(54);
    pub(crate) const NOTEMPTY: Errno = Errno(55);
    pub(crate) const NOTSOCK: Errno = Errno(57);
    pub(crate) const NOTSUP: Errno = Errno(58);
    pub(crate) const PERM: Errno = Errno(63);
    pub(crate) const ROFS: Errno = Errno(69);
    pub(crate) const SPIPE: Errno = Errno(70);
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SyscallError {
    Errno(Errno),
    Trap(HostTrap),
}

impl From<Errno> for SyscallError {
    fn from(errno: Errno) -> Self {
        SyscallError::Errno(errno)
    }
}

impl From<HostTrap> for SyscallError {
    fn from(stop: HostTrap) -> Self {
        SyscallError::Trap(stop)
    }
}

pub(crate) type SyscallResult<T = ()> = Result<T, SyscallError>;
