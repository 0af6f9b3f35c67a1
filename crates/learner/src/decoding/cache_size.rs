//! How many columns the cache of a device takes for some rows: what admission, interruption and joining of caches are decided by.

/// Columns of own tokens that are added, and attended to, together.
pub(super) const BLOCK: usize = 64;
/// Columns that a part of a cache ends at a multiple of, where the rows need no whole block more.
pub(super) const ALIGNED: usize = 8;

/// What is cached of a sample.
#[derive(Debug, Clone, Copy)]
pub(super) struct CachedRow {
    /// Index of its queued prompt.
    pub(super) queued: usize,
    /// How many tokens the prompt has.
    pub(super) prompt: usize,
    /// How many tokens it has drawn.
    pub(super) own: usize,
    /// How many it may draw at most.
    pub(super) most: usize,
}

/// The size of a cache of some rows, whose neighbours share their prompt.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct CacheSize {
    prompts: usize,
    /// Tokens of the longest prompt.
    pub(super) prompt: usize,
    pub(super) rows: usize,
    /// Rows of the prompt that has most.
    sharing: usize,
    /// Own tokens of the row that has most.
    pub(super) own: usize,
    /// Own tokens that a row may have at most.
    pub(super) most: usize,
    /// The queued prompt of the last row, and how many rows it has.
    last: Option<(usize, usize)>,
}

impl CacheSize {
    pub(super) fn add(&mut self, row: CachedRow) {
        let sharing = match self.last {
            Some((queued, rows)) if queued == row.queued => rows + 1,
            _ => 1,
        };
        self.prompts += usize::from(sharing == 1);
        self.prompt = self.prompt.max(row.prompt);
        self.rows += 1;
        self.sharing = self.sharing.max(sharing);
        self.own = self.own.max(row.own);
        self.most = self.most.max(row.most);
        self.last = Some((row.queued, sharing));
    }

    /// Rows that products with prompts are computed for: each prompt has as many places as the one with most rows.
    pub(super) const fn places(&self) -> usize {
        self.prompts * self.sharing
    }

    /// Columns of all prompts, and of all rows where each gets `ahead` more tokens.
    pub(super) fn columns(&self, ahead: usize) -> usize {
        self.prompts * self.prompt.next_multiple_of(ALIGNED) + self.rows * capacity(self.own + ahead, self.most)
    }
}

impl Extend<CachedRow> for CacheSize {
    fn extend<T: IntoIterator<Item = CachedRow>>(&mut self, rows: T) {
        rows.into_iter().for_each(|row| self.add(row));
    }
}

impl FromIterator<CachedRow> for CacheSize {
    fn from_iter<T: IntoIterator<Item = CachedRow>>(rows: T) -> Self {
        let mut size = Self::default();
        size.extend(rows);
        size
    }
}

/// Columns to make room for where so many are needed now, and `most` ever.
pub(super) fn capacity(needed: usize, most: usize) -> usize {
    needed.next_multiple_of(BLOCK).min(most.next_multiple_of(ALIGNED)).max(needed)
}
