//! Recognition of card numbers in texts. The API refuses them, and no record contains them.

use std::ops::RangeInclusive;

const DIGITS: RangeInclusive<usize> = 13..=19;

/// Returns whether a text contains 13 to 19 digits with the check digit of a card number, in one
/// run or in groups separated by a space or hyphen.
pub fn contains_card_number(text: &str) -> bool {
    let is_part = |character: char| character.is_ascii_digit() || " -".contains(character);
    let mut runs = text.split(|character| !is_part(character));
    runs.any(|run| {
        let groups: Vec<&str> = run.split([' ', '-']).collect();
        (0..groups.len()).any(|first| begins_with_card_number(groups.get(first..)))
    })
}

/// Returns whether the digits of the first groups are those of a card number.
fn begins_with_card_number(groups: Option<&[&str]>) -> bool {
    let mut digits = String::new();
    let groups = groups.into_iter().flatten();
    for group in groups.take_while(|group| !group.is_empty()) {
        digits.push_str(group);
        // A long text may have very many groups.
        if digits.len() > *DIGITS.end() {
            return false;
        }
        if DIGITS.contains(&digits.len()) && passes_luhn_check(&digits) {
            return true;
        }
    }
    false
}

/// Returns whether digits pass the Luhn check, in which every second digit from the right counts
/// double.
fn passes_luhn_check(digits: &str) -> bool {
    let values = digits.chars().rev().filter_map(|digit| digit.to_digit(10));
    let sum: u32 = values
        .enumerate()
        .map(|(at, value)| match (at % 2, value * 2) {
            (0, _) => value,
            (_, double) if double > 9 => double - 9,
            (_, double) => double,
        })
        .sum();
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn card_numbers_are_detected_in_every_grouping() {
        for text in [
            "4242424242424242",
            "tok_4242424242424242",
            "4242-4242-4242-4242",
            "3782-822463-10005",
            "x6011111111111117x",
            "12-4242424242424242-12",
            "4222222222222",
            "6304000000000000000",
        ] {
            assert!(contains_card_number(text), "{text}");
        }
    }

    #[test]
    fn tokens_are_not_detected_as_card_numbers() {
        for text in [
            "tok_visa",
            "4242424242424241",
            "tok_1PabcD2eZvKYlo2C",
            "424242424242",
            "42424242424242424242",
            "pm_4242_4242_4242_4242",
            "",
        ] {
            assert!(!contains_card_number(text), "{text}");
        }
    }

    /// The test would not end if the time grew with the square of the length.
    #[test]
    fn time_is_linear_in_the_length_of_a_text() {
        let many_groups = "1 ".repeat(1 << 20);
        assert!(!contains_card_number(&many_groups));
    }
}
