//! The kinds of guests: how a host enters one, and how frames cross.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GuestKind {
    /// CPython, or a module of a test: it exports `turn` and `host_alloc`, and imports `host.call`.
    Python,
    /// QuickJS: see [`crate::quickjs`] and [`crate::javascript`].
    JavaScript,
}
