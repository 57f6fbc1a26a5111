use jiff::civil::Date as Civil;
use jiff::{Timestamp, ToSpan};
use proptest::prelude::*;

use super::*;

#[test]
fn timestamp_is_parsed_from_all_formats() {
    let noon = 1_731_672_000_000;
    let cases = [
        ("2024-11-15", noon - 43_200_000),
        ("2024-11-15 12:00:00", noon),
        ("2024-11-15T12:00", noon),
        ("2024-11-15T12:00:00Z", noon),
        ("2024-11-15T12:00:00.5Z", noon + 500),
        ("2024-11-15T12:00:00.123456789+00:00", noon + 123),
        ("2024-11-15T14:00:00+02:00", noon),
        ("2024-11-15T07:30:00-0430", noon),
        ("2024-11-15 12:00:00 GMT", noon),
    ];
    for (text, expected) in cases {
        assert_eq!(parse_timestamp(text), Some(expected), "{text}");
    }
}

#[test]
fn invalid_timestamp_returns_none() {
    let cases = [
        "",
        "2024-02-30",
        "2023-02-29",
        "2024-13-01",
        "2024-00-01",
        "0000-01-01",
        "2024-11-15X12:00",
        "2024-11-15T24:00:00Z",
        "2024-11-15T12:60:00Z",
        "2024-11-15T12",
        "2024-11-15T12:00:00+99:00",
        "2024-11-15T12:00:00Zulu",
        "15/11/2024",
        "+024-11-15",
        "2024-11-1\u{e9}",
    ];
    for text in cases {
        assert_eq!(parse_timestamp(text), None, "{text}");
    }
}

#[test]
fn local_time_ignores_offset() {
    assert_eq!(
        parse_local_time("2024-11-15T23:05:59+09:00").as_deref(),
        Some("2024-11-15T23:05")
    );
    assert_eq!(parse_local_time("2024-11-15"), None);
}

#[test]
fn duration_is_converted_to_minutes() {
    let cases = [
        ("PT8H5M", Some(485)),
        ("PT02H26M", Some(146)),
        ("PT45M", Some(45)),
        ("PT0S", Some(0)),
        ("PT119S", Some(1)),
        ("P1D", Some(1_440)),
        ("P1DT15H35M", Some(2_375)),
        ("", None),
        ("P", None),
        ("PT", None),
        ("P1DT", None),
        ("8H5M", None),
        ("PT5M8H", None),
        ("PT+5M", None),
        ("PTM", None),
        ("P1M", None),
        ("P1W", None),
        ("PT1.5H", None),
        ("PT5", None),
        ("P99999D", None),
    ];
    for (text, expected) in cases {
        assert_eq!(parse_duration_minutes(text), expected, "{text}");
    }
}

#[test]
fn age_is_whole_years_between_dates() {
    let cases = [
        ("2019-06-14", "2027-06-13", Some(7)),
        ("2019-06-14", "2027-06-14T10:00", Some(8)),
        ("2028-01-01", "2027-06-14", None),
        ("x", "2027-06-14", None),
    ];
    for (birthday, day, expected) in cases {
        assert_eq!(age_on(birthday, day), expected, "{birthday} {day}");
    }
}

#[test]
fn http_date_is_parsed() {
    assert_eq!(
        parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT"),
        Some(784_111_777_000)
    );
    assert_eq!(parse_http_date("06 Nov 1994"), None);
}

#[test]
fn every_date_matches_jiff() {
    let mut date = Civil::constant(1, 1, 1);
    let mut days = parse_date("0001-01-01").unwrap();
    while date < Civil::constant(9999, 12, 31) {
        let text = date.to_string();
        assert_eq!(parse_date(&text), Some(days), "{text}");
        assert_eq!(format_date(days).as_deref(), Some(text.as_str()));
        date += 1.day();
        days += 1;
    }
    assert_eq!(parse_date("1970-01-01"), Some(0));
    assert_eq!(format_date(days + 1), None);
}

proptest! {
    #[test]
    fn timestamps_match_jiff(seconds in -62_000_000_000_i64..253_000_000_000) {
        let expected = Timestamp::from_second(seconds).unwrap().to_string();
        prop_assert_eq!(parse_timestamp(&expected), Some(seconds * 1000));
    }

    #[test]
    fn parsing_never_panics(text in "\\PC{0,40}") {
        let _ = (parse_timestamp(&text), parse_local_time(&text), parse_http_date(&text), parse_duration_minutes(&text));
    }
}
