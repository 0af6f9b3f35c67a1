//! The tasks that clients have sent, by the digest of their rows. The least recently used are dropped first.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use veriplay_core::Digest;

/// A row, and the bytes that it counts for.
struct Kept<T> {
    item: Arc<T>,
    bytes: u64,
    used: u64,
}

/// A map that stays below a number of bytes.
pub(crate) struct TaskStore<T> {
    items: HashMap<Digest, Kept<T>>,
    /// The digests by the moment of their last use.
    order: BTreeMap<u64, Digest>,
    bytes: u64,
    most: u64,
    clock: u64,
}

impl<T> TaskStore<T> {
    pub(crate) fn new(most: u64) -> Self {
        Self { items: HashMap::new(), order: BTreeMap::new(), bytes: 0, most, clock: 0 }
    }

    pub(crate) fn get(&mut self, digest: &Digest) -> Option<Arc<T>> {
        let kept = self.items.get_mut(digest)?;
        self.clock += 1;
        self.order.remove(&kept.used);
        kept.used = self.clock;
        self.order.insert(self.clock, digest.clone());
        Some(Arc::clone(&kept.item))
    }

    /// Keeps an item, unless one of that digest is kept already; returns the one that is kept. Others are dropped to make room. One that has
    /// no room at all is kept until the next one comes.
    pub(crate) fn insert(&mut self, digest: &Digest, item: Arc<T>, bytes: u64) -> Arc<T> {
        if let Some(kept) = self.get(digest) {
            return kept;
        }
        while self.bytes.saturating_add(bytes) > self.most && self.drop_oldest() {}
        self.clock += 1;
        self.bytes += bytes;
        self.order.insert(self.clock, digest.clone());
        self.items.insert(digest.clone(), Kept { item: Arc::clone(&item), bytes, used: self.clock });
        item
    }

    /// Counts an item, if it is kept, as used and for other bytes than before; others are dropped to make room.
    pub(crate) fn recharge(&mut self, digest: &Digest, item: &Arc<T>, bytes: u64) {
        if !self.get(digest).is_some_and(|kept| Arc::ptr_eq(&kept, item)) {
            return;
        }
        if let Some(kept) = self.items.get_mut(digest) {
            self.bytes = self.bytes - kept.bytes + bytes;
            kept.bytes = bytes;
        }
        while self.bytes > self.most && self.items.len() > 1 && self.drop_oldest() {}
    }

    /// Drops the item of that digest, unless another one has taken its place.
    pub(crate) fn remove_this(&mut self, digest: &Digest, item: &Arc<T>) {
        if self.items.get(digest).is_some_and(|kept| Arc::ptr_eq(&kept.item, item)) {
            self.remove(digest);
        }
    }

    fn remove(&mut self, digest: &Digest) {
        if let Some(kept) = self.items.remove(digest) {
            self.order.remove(&kept.used);
            self.bytes -= kept.bytes;
        }
    }

    fn drop_oldest(&mut self) -> bool {
        let Some(oldest) = self.order.values().next().cloned() else { return false };
        self.remove(&oldest);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(name: &str) -> Digest {
        Digest::of(name.as_bytes())
    }

    #[test]
    fn the_least_recently_used_items_make_room() {
        let mut store = TaskStore::new(10);
        for name in ["a", "b", "c"] {
            store.insert(&digest(name), Arc::new(name), 3);
        }
        assert!(store.get(&digest("a")).is_some());
        store.insert(&digest("d"), Arc::new("d"), 3);
        let mut there = |name| store.get(&digest(name)).is_some();
        assert_eq!([there("a"), there("b"), there("c"), there("d")], [true, false, true, true]);
        store.insert(&digest("large"), Arc::new("large"), 11);
        assert!(store.get(&digest("large")).is_some() && store.get(&digest("a")).is_none());
        store.insert(&digest("e"), Arc::new("e"), 1);
        assert!(store.get(&digest("large")).is_none());
        assert_eq!((store.bytes, store.items.len(), store.order.len()), (1, 1, 1));
    }

    #[test]
    fn an_item_is_kept_once() {
        let mut store = TaskStore::new(10);
        let first = store.insert(&digest("a"), Arc::new(1), 3);
        let second = store.insert(&digest("a"), Arc::new(2), 3);
        assert!(Arc::ptr_eq(&first, &second));
        assert_eq!(store.bytes, 3);
        store.remove_this(&digest("a"), &Arc::new(1));
        assert!(store.get(&digest("a")).is_some(), "another item of that digest stays");
        store.recharge(&digest("a"), &first, 8);
        store.recharge(&digest("a"), &Arc::new(1), 1);
        store.insert(&digest("b"), Arc::new(3), 2);
        assert_eq!((store.bytes, store.items.len()), (10, 2));
        store.recharge(&digest("a"), &first, 9);
        assert_eq!((store.bytes, store.items.len()), (9, 1), "the one that was not used of late is dropped");
        store.recharge(&digest("a"), &first, 11);
        assert_eq!((store.bytes, store.items.len()), (11, 1), "one that has no room stays until the next one comes");
        store.remove_this(&digest("a"), &first);
        store.remove_this(&digest("a"), &first);
        assert_eq!((store.bytes, store.order.len()), (0, 0));
    }
}
