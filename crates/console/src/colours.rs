//! Colours of curves, in their order: told apart by those who cannot see red and green, too (Okabe and Ito's).

/// Red, green and blue of each.
pub const COLOURS: [(u8, u8, u8); 6] =
    [(0, 114, 178), (213, 94, 0), (0, 158, 115), (204, 121, 167), (230, 159, 0), (86, 180, 233)];
