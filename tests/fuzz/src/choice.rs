//! Values drawn from bytes. The same bytes give the same values.

/// Integers at edges where code often fails.
const EDGES: [i64; 18] = [
    0,
    1,
    -1,
    2,
    9,
    99,
    127,
    128,
    255,
    256,
    65_536,
    -99,
    i32::MAX as i64,
    i32::MIN as i64,
    1 << 53,
    100_000_000_000,
    i64::MAX,
    i64::MIN,
];

/// Texts for which code often fails.
const TEXTS: [&str; 16] = [
    "",
    " ",
    "a",
    "0",
    "-1",
    "null",
    "\0",
    "a\0b",
    "\n",
    "\u{1f}\u{7f}",
    "é",
    "\u{202e}abc",
    "\u{feff}",
    "\u{10ffff}",
    "../../etc/passwd",
    "'; DROP TABLE booking; --",
];

/// A source of values.
pub struct Choice<'a> {
    rest: &'a [u8],
}

impl<'a> Choice<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let (taken, rest) = self.rest.split_at(self.rest.len().min(N));
        self.rest = rest;
        let mut bytes = [0; N];
        bytes[..taken.len()].copy_from_slice(taken);
        bytes
    }

    /// Draws any byte.
    pub fn byte(&mut self) -> u8 {
        self.bytes::<1>()[0]
    }

    /// Draws an index less than `end`, or 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        u32::from_le_bytes(self.bytes()) as usize % end.max(1)
    }

    /// Returns `true` in one of `cases` cases.
    pub fn one_in(&mut self, cases: usize) -> bool {
        self.below(cases) + 1 == cases
    }

    /// Draws one of `all`.
    pub fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    /// Draws an integer, most often a small one or an edge.
    pub fn integer(&mut self) -> i64 {
        match self.below(4) {
            0 => self.below(1_000) as i64,
            1 => self.pick(&EDGES),
            2 => self.pick(&EDGES).wrapping_add(i64::from(self.byte() as i8)),
            _ => i64::from_le_bytes(self.bytes()),
        }
    }

    /// Draws a number, including NaN and infinities.
    pub fn float(&mut self) -> f64 {
        match self.below(3) {
            0 => self.integer() as f64 / 100.0,
            1 => self.pick(&[
                0.0,
                -0.0,
                90.0,
                -180.0,
                f64::NAN,
                f64::INFINITY,
                f64::MIN,
                1e-310,
            ]),
            _ => f64::from_le_bytes(self.bytes()),
        }
    }

    /// Draws a text of up to some thousand characters.
    pub fn text(&mut self) -> String {
        match self.below(4) {
            0 => self.pick(&TEXTS).to_owned(),
            1 => "é".repeat(self.pick(&[1, 128, 129, 300, 301, 2_048, 2_049, 5_000])),
            2 => (0..self.below(8)).map(|_| self.pick(&TEXTS)).collect(),
            _ => (0..self.below(24))
                .map(|_| char::from(self.byte()))
                .collect(),
        }
    }

    /// Draws a value or `None`.
    pub fn maybe<T>(&mut self, draw: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (!self.one_in(3)).then(|| draw(self))
    }

    /// Draws a few values, sometimes many.
    pub fn list<T: Clone>(&mut self, mut draw: impl FnMut(&mut Self) -> T) -> Vec<T> {
        if self.one_in(24) {
            return vec![draw(self); self.below(300)];
        }
        (0..self.pick(&[1, 1, 1, 2, 2, 0, 3]))
            .map(|_| draw(self))
            .collect()
    }
}
