use stopover_sdk::json;

use super::*;

const DAY: i64 = 86_400_000;

/// Reads the policy of a room that costs 50 euros.
fn read(tag: &str, infos: &str) -> Option<CancellationPolicy> {
    let json = format!(r#"{{"refundableTag": "{tag}", "cancelPolicyInfos": [{infos}]}}"#);
    let policies: CancellationPolicies = json::decode(json.as_bytes()).unwrap();
    cancellation_policy(&policies, 5000, "EUR")
}

#[test]
fn refundable_policy_has_sorted_penalties() {
    type Case<'a> = (&'a str, Option<&'a str>, &'a [i64]);
    let may = Some("2027-05-01");
    let cases: [Case<'_>; 7] = [
        // The time is GMT in every form.
        (
            r#"{"cancelTime": "2027-05-01", "amount": 10, "type": "amount", "timezone": "", "currency": "EUR"}"#,
            may,
            &[1000],
        ),
        (
            r#"{"cancelTime": "2027-05-01 00:00:00", "amount": 10, "timezone": "GMT", "currency": "EUR"}"#,
            may,
            &[1000],
        ),
        (
            r#"{"cancelTime": "2027-05-01T00:00:00+00:00", "amount": 10, "currency": "EUR"}"#,
            may,
            &[1000],
        ),
        (
            r#"{"cancelTime": "2027-05-01T00:00:00Z", "amount": "10.00"}"#,
            may,
            &[1000],
        ),
        // The year 1 means always.
        (
            r#"{"cancelTime": "0001-01-01T00:00:00Z", "amount": 10, "currency": "EUR"}"#,
            None,
            &[1000],
        ),
        // A penalty of zero is free, and one above the price by a minor unit is rounded.
        (
            r#"{"cancelTime": "2027-05-03", "amount": 50.01, "currency": "EUR"},
            {"cancelTime": "2027-04-30", "amount": 0, "currency": "EUR"},
            {"cancelTime": "2027-05-01", "amount": 20.005, "currency": "EUR"}"#,
            may,
            &[0, 2001, 5000],
        ),
        // The gateway leaves out what a higher penalty belongs to.
        (
            r#"{"cancelTime": "2027-05-01", "amount": 50.02, "currency": "EUR"}"#,
            may,
            &[5002],
        ),
    ];
    for (infos, first_penalty, expected) in cases {
        let policy = read("RFN", infos).unwrap();
        let free_until = first_penalty.map(|date| time::parse_timestamp(date).unwrap() - 1);
        assert_eq!((policy.refundable, policy.free_until), (true, free_until));
        let amounts = policy.penalties.iter().map(|penalty| penalty.amount);
        assert!(amounts.eq(expected.iter().copied()), "{infos}");
    }
    let always = read("RFN", cases[4].0).unwrap();
    assert_eq!(
        (always.penalties[0].start, fee_at(&always, 5000, DAY)),
        (0, 1000)
    );
}

#[test]
fn unreadable_policy_is_none() {
    for (tag, infos) in [
        ("", ""),
        ("MAYBE", ""),
        ("RFN", ""),
        ("RFN", r#"{"cancelTime": "soon", "amount": 1}"#),
        (
            "RFN",
            r#"{"cancelTime": "2027-05-01", "amount": 1, "type": "nights"}"#,
        ),
        (
            "RFN",
            r#"{"cancelTime": "2027-05-01", "amount": 1, "currency": "USD"}"#,
        ),
        ("RFN", "null"),
        ("RFN", r#"{"cancelTime": "2027-05-01", "amount": 1}, {}"#),
        ("RFN", r#"{"cancelTime": "2027-05-01", "amount": -5}"#),
        (
            "RFN",
            r#"{"cancelTime": "2027-05-01", "amount": -5, "type": "percent"}"#,
        ),
        (
            "RFN",
            r#"{"cancelTime": "2027-05-01", "amount": 101, "type": "percent"}"#,
        ),
    ] {
        assert_eq!(read(tag, infos), None, "{tag} {infos}");
    }
}

#[test]
fn non_refundable_rate_costs_total_at_any_time() {
    let info = r#"{"cancelTime": "2027-05-01", "amount": 1, "type": "amount", "currency": "EUR"}"#;
    let policy = read("NRFN", info).unwrap();
    assert_eq!(policy, CancellationPolicy::non_refundable());
    assert_eq!(fee_at(&policy, 5000, 0), 5000);
}

/// The fee between the end of the free time and the first penalty is not known to be zero.
#[test]
fn first_penalty_starts_at_the_end_of_the_free_time() {
    let first =
        r#"{"cancelTime": "1970-01-11", "amount": 5}, {"cancelTime": "1970-01-21", "amount": 50}"#;
    let later_zero = r#"{"cancelTime": "1970-01-03", "amount": 0},
        {"cancelTime": "1970-01-09", "amount": 0}, {"cancelTime": "1970-01-11", "amount": 5}"#;
    let always = r#"{"cancelTime": "0001-01-01", "amount": 5}"#;
    let never = r#"{"cancelTime": "1970-01-11", "amount": 0}"#;
    let (day, next) = (|days: i64| days * DAY, |days: i64| days * DAY + 1);
    for (tag, infos, last_free, free_until, expected) in [
        (
            "RFN",
            first,
            day(8),
            Some(day(8)),
            vec![(next(8), 500), (day(20), 5000)],
        ),
        (
            "RFN",
            first,
            day(10),
            Some(day(10) - 1),
            vec![(day(10), 500), (day(20), 5000)],
        ),
        (
            "RFN",
            first,
            day(15),
            Some(day(10) - 1),
            vec![(day(10), 500), (day(20), 5000)],
        ),
        (
            "RFN",
            later_zero,
            day(5),
            Some(day(5)),
            vec![(day(2), 0), (next(5), 500)],
        ),
        ("RFN", always, day(5), None, vec![(0, 500)]),
        ("RFN", never, day(5), Some(day(5)), vec![(day(10), 0)]),
        ("NRFN", first, day(5), None, vec![]),
    ] {
        let mut policy = read(tag, infos).unwrap();
        end_free_time(&mut policy, last_free);
        let penalties = policy.penalties.iter();
        let steps = penalties.map(|penalty| (penalty.start, penalty.amount));
        assert!(steps.eq(expected), "{tag} {infos} {last_free}");
        assert_eq!(policy.free_until, free_until, "{tag} {infos} {last_free}");
    }
}

#[test]
fn merged_penalties_are_the_sums_of_those_in_force() {
    let first = r#"{"cancelTime": "1970-01-03", "amount": 5},
        {"cancelTime": "1970-01-05", "amount": 7},
        {"cancelTime": "1970-01-05", "amount": 9}"#;
    let second = r#"{"cancelTime": "1970-01-03", "amount": 1},
        {"cancelTime": "1970-01-04", "amount": 0}"#;
    let (first, second) = (read("RFN", first).unwrap(), read("RFN", second).unwrap());
    let merged = merge(&[(&first, 5000), (&second, 5000)], "EUR");
    let penalties = merged.penalties.iter();
    let steps: Vec<_> = penalties
        .map(|penalty| (penalty.start / DAY, penalty.amount))
        .collect();
    assert_eq!(steps, [(2, 600), (3, 500), (4, 900)]);
    assert_eq!(merged.free_until, Some(2 * DAY - 1));
}

#[test]
fn one_non_refundable_room_makes_merged_policy_non_refundable() {
    let fixed = CancellationPolicy::non_refundable();
    let free = read("RFN", r#"{"cancelTime": "1970-01-03", "amount": 5}"#).unwrap();
    let merged = merge(&[(&fixed, 1000), (&free, 500)], "EUR");
    assert!(!merged.refundable);
    assert_eq!(merged.free_until, None);
    assert_eq!(fee_at(&merged, 1500, DAY), 1000);
    assert_eq!(fee_at(&merged, 1500, 2 * DAY), 1500);
    let both = merge(&[(&fixed, 1000), (&fixed, 500)], "EUR");
    assert_eq!(both, CancellationPolicy::non_refundable());
}
