//! Telephone numbers, which Nuitee takes in two parts. Nuitee reports an invalid number as an
//! internal failure, so numbers are checked here first.

use stopover_sdk::{Refusal, RefusalReason};

/// Country codes of two digits. The codes `1` and `7` have one digit, all others have three. No
/// code is a prefix of another.
const TWO_DIGITS: [&str; 44] = [
    "20", "27", "30", "31", "32", "33", "34", "36", "39", "40", "41", "43", "44", "45", "46", "47",
    "48", "49", "51", "52", "53", "54", "55", "56", "57", "58", "60", "61", "62", "63", "64", "65",
    "66", "81", "82", "84", "86", "90", "91", "92", "93", "94", "95", "98",
];

/// Prefixes that no country code has.
const UNASSIGNED: [&str; 4] = ["0", "28", "83", "89"];

/// Minimum and maximum length of a number within a country, in digits.
const NATIONAL_DIGITS: std::ops::RangeInclusive<usize> = 4..=13;

/// Splits an E.164 number into country code and national number, without the `+`.
///
/// # Errors
/// The text is not an E.164 number.
pub(crate) fn split(phone: &str) -> Result<(&str, &str), Refusal> {
    let invalid = || {
        let message = "the contact's telephone number is not an international number that starts with + and a country code";
        Refusal::new(RefusalReason::Invalid, message)
    };
    let digits = phone.strip_prefix('+').ok_or_else(invalid)?;
    let is_number = digits.len() <= 15 && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number || UNASSIGNED.iter().any(|code| digits.starts_with(code)) {
        return Err(invalid());
    }
    let starts_with_any = |codes: &[&str]| codes.iter().any(|code| digits.starts_with(code));
    let code_digits = if starts_with_any(&["1", "7"]) {
        1
    } else if starts_with_any(&TWO_DIGITS) {
        2
    } else {
        3
    };
    let (code, national) = digits.split_at_checked(code_digits).ok_or_else(invalid)?;
    if NATIONAL_DIGITS.contains(&national.len()) {
        Ok((code, national))
    } else {
        Err(invalid())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phone_number_is_split_after_country_code() {
        let cases = [
            ("+33670355364", Some(("33", "670355364"))),
            ("+12125550100", Some(("1", "2125550100"))),
            ("+79161234567", Some(("7", "9161234567"))),
            ("+905321234567", Some(("90", "5321234567"))),
            ("+982112345678", Some(("98", "2112345678"))),
            ("+385911234567", Some(("385", "911234567"))),
            ("+971501234567", Some(("971", "501234567"))),
            ("+2903000", Some(("290", "3000"))),
            ("33670355364", None),
            ("+", None),
            ("+44", None),
            ("+44 20 7946 0000", None),
            ("+0123456789", None),
            ("+28912345678", None),
            ("+3312", None),
            ("+1234567890123456", None),
            ("+33\u{666}70355364", None),
        ];
        for (phone, expected) in cases {
            assert_eq!(split(phone).ok(), expected, "{phone}");
        }
    }
}
