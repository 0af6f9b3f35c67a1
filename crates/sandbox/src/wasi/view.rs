//! The guest's linear memory as the shim sees it: every pointer and length is the guest's claim, and is checked here.

use std::ops::Range;

use super::errno::{Errno, SyscallResult};

/// Scatter/gather entries one call may have.
const MAX_IOVECS: u32 = 1024;

#[derive(Debug)]
pub(crate) struct MemoryView<'a>(pub(crate) &'a mut [u8]);

impl MemoryView<'_> {
    fn range(&self, ptr: i32, len: usize) -> Result<Range<usize>, Errno> {
        let start = ptr.cast_unsigned() as usize;
        let end = start.checked_add(len).ok_or(Errno::FAULT)?;
        if end <= self.0.len() { Ok(start..end) } else { Err(Errno::FAULT) }
    }

    pub(crate) fn bytes(&self, ptr: i32, len: i32) -> Result<&[u8], Errno> {
        let range = self.range(ptr, len.cast_unsigned() as usize)?;
        Ok(&self.0[range])
    }

    /// `len` bytes at `ptr`, to be written.
    pub(crate) fn bytes_mut(&mut self, ptr: i32, len: i32) -> Result<&mut [u8], Errno> {
        let range = self.range(ptr, len.cast_unsigned() as usize)?;
        Ok(&mut self.0[range])
    }

    pub(crate) fn write(&mut self, ptr: i32, bytes: &[u8]) -> Result<(), Errno> {
        let range = self.range(ptr, bytes.len())?;
        self.0[range].copy_from_slice(bytes);
        Ok(())
    }

    pub(crate) fn write_u32(&mut self, ptr: i32, value: u32) -> Result<(), Errno> {
        self.write(ptr, &value.to_le_bytes())
    }

    pub(crate) fn write_u64(&mut self, ptr: i32, value: u64) -> Result<(), Errno> {
        self.write(ptr, &value.to_le_bytes())
    }

    /// UTF-8 text at `ptr`, no longer than a path may be.
    pub(crate) fn path(&self, ptr: i32, len: i32) -> Result<String, Errno> {
        if len.cast_unsigned() > 4096 {
            return Err(Errno::NAMETOOLONG);
        }
        let bytes = self.bytes(ptr, len)?;
        let text = std::str::from_utf8(bytes).map_err(|_| Errno::INVAL)?;
        if text.contains('\0') { Err(Errno::INVAL) } else { Ok(text.to_owned()) }
    }

    /// The checked ranges of an iovec array. Their sum fits a u32, as the call's result must.
    pub(crate) fn iovecs(&self, ptr: i32, count: i32) -> SyscallResult<Vec<Range<usize>>> {
        let count = count.cast_unsigned();
        if count > MAX_IOVECS {
            return Err(Errno::INVAL.into());
        }
        let table = self.range(ptr, count as usize * 8)?;
        let mut total = 0u32;
        let mut ranges = Vec::with_capacity(count as usize);
        for entry in self.0[table].chunks_exact(8) {
            let at = i32::from_le_bytes(entry[..4].try_into().expect("four bytes"));
            let len = u32::from_le_bytes(entry[4..].try_into().expect("four bytes"));
            total = total.checked_add(len).ok_or(Errno::INVAL)?;
            ranges.push(self.range(at, len as usize)?);
        }
        Ok(ranges)
    }
}
