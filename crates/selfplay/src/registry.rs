//! Lists of what a configuration names: declared once each, with the lookups that all of them have.

use std::ops::Deref;

/// A method of a registry, or one of one's own.
pub enum Method<T: ?Sized + 'static> {
    /// One that a registry has.
    Registered(&'static T),
    /// Any other one, such as a program outside or one with settings.
    Own(Box<T>),
}

impl<T: ?Sized> Deref for Method<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Registered(method) => method,
            Self::Own(method) => method,
        }
    }
}

/// Declares a list of trait objects, `by_name` and `names`.
#[macro_export]
macro_rules! registry {
    ($(#[$doc:meta])* $list:ident: [$trait:path] = [$($item:expr),* $(,)?]) => {
        $(#[$doc])*
        pub const $list: &[&dyn $trait] = &[$($item),*];

        /// The entry of that name.
        pub fn by_name(name: &str) -> Option<&'static dyn $trait> {
            $list.iter().copied().find(|entry| entry.name() == name)
        }

        /// All names, in the order of the list.
        pub fn names() -> Vec<&'static str> {
            $list.iter().map(|entry| entry.name()).collect()
        }
    };
}

pub use crate::registry;
