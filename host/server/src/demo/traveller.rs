//! The people of the sample data.

/// Travellers: first and last name, sex in the form of a passport.
const TRAVELLERS: &[(&str, &str, &str)] = &[
    ("Ada", "Lovelace", "F"),
    ("Alan", "Turing", "M"),
    ("Grace", "Hopper", "F"),
    ("Konrad", "Zuse", "M"),
    ("Hedy", "Lamarr", "F"),
];

/// Returns one of the travellers, in turn.
pub(super) fn traveller(number: usize) -> (&'static str, &'static str, &'static str) {
    let mut travellers = TRAVELLERS.iter().copied().cycle();
    travellers.nth(number).unwrap_or_default()
}
