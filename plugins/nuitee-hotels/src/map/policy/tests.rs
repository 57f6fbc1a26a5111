use stopover_sdk::json;

use super::*;

const DAY: i64 = 86_400_000;

fn policies(json: &str) -> CancellationPolicies {
    json::decode(json.as_bytes()).unwrap()
}

fn policy(refundable: bool, penalties: &[(i64, i64)]) -> CancellationPolicy {
    let penalties: Vec<Penalty> = penalties
        .iter()
        .map(|(start, amount)| Penalty {
            start: *start,
            amount: *amount,
            currency: "EUR".to_owned(),
        })
        .collect();
    CancellationPolicy {
        refundable,
        free_until: free_until(&penalties),
        penalties,
        restrictions: Vec::new(),
    }
}

#[test]
fn cancel_time_is_gmt_in_every_form() {
    let forms = [
        r#"{"cancelTime": "2027-05-01", "amount": 10, "type": "amount", "timezone": "", "currency": "EUR"}"#,
        r#"{"cancelTime": "2027-05-01 00:00:00", "amount": 10, "type": "amount", "timezone": "GMT", "currency": "EUR"}"#,
        r#"{"cancelTime": "2027-05-01T00:00:00+00:00", "amount": 10, "type": "amount", "currency": "EUR"}"#,
        r#"{"cancelTime": "2027-05-01T00:00:00Z", "amount": "10.00"}"#,
    ];
    let start = time::parse_timestamp("2027-05-01T00:00:00Z").unwrap();
    for form in forms {
        let json = format!(r#"{{"refundableTag": "RFN", "cancelPolicyInfos": [{form}]}}"#);
        let read = cancellation_policy(&policies(&json), 5000, "EUR").unwrap();
        assert!(read.refundable);
        assert_eq!(read.free_until, Some(start - 1), "{form}");
        assert_eq!(read.penalties[0].amount, 1000, "{form}");
    }
}

#[test]
fn unreadable_policy_is_none() {
    let cases = [
        r#"{"refundableTag": "", "cancelPolicyInfos": []}"#,
        r#"{"refundableTag": "MAYBE", "cancelPolicyInfos": []}"#,
        r#"{"refundableTag": "RFN", "cancelPolicyInfos": [{"cancelTime": "soon", "amount": 1}]}"#,
        r#"{"refundableTag": "RFN", "cancelPolicyInfos": [{"cancelTime": "2027-05-01", "amount": 1, "type": "nights"}]}"#,
        r#"{"refundableTag": "RFN", "cancelPolicyInfos": [{"cancelTime": "2027-05-01", "amount": 1, "currency": "USD"}]}"#,
    ];
    for json in cases {
        assert_eq!(
            cancellation_policy(&policies(json), 5000, "EUR"),
            None,
            "{json}"
        );
    }
}

#[test]
fn non_refundable_rate_costs_total_at_any_time() {
    let json = r#"{"refundableTag": "NRFN", "cancelPolicyInfos":
        [{"cancelTime": "2027-05-01", "amount": 1, "type": "amount", "currency": "EUR"}]}"#;
    let read = cancellation_policy(&policies(json), 5000, "EUR").unwrap();
    assert_eq!(read, CancellationPolicy::non_refundable());
    assert_eq!(fee_at(&read, 5000, 0), 5000);
}

#[test]
fn penalties_are_sorted_and_capped_and_zero_penalty_is_free() {
    let json = r#"{"refundableTag": "RFN", "cancelPolicyInfos": [
        {"cancelTime": "2027-05-03", "amount": 99.999, "currency": "EUR"},
        {"cancelTime": "2027-05-01", "amount": 0, "currency": "EUR"},
        {"cancelTime": "2027-05-02", "amount": 20.005, "currency": "EUR"}]}"#;
    let read = cancellation_policy(&policies(json), 5000, "EUR").unwrap();
    let amounts: Vec<_> = read
        .penalties
        .iter()
        .map(|penalty| penalty.amount)
        .collect();
    assert_eq!(amounts, [0, 2001, 5000]);
    let second = time::parse_timestamp("2027-05-02").unwrap();
    assert_eq!(read.free_until, Some(second - 1));
}

#[test]
fn merged_penalties_are_sum_of_rooms() {
    let one = policy(true, &[(DAY, 100), (3 * DAY, 1000)]);
    let two = policy(true, &[(2 * DAY, 500)]);
    let merged = merge(&[(&one, 1000), (&two, 500)], "EUR");
    let steps: Vec<_> = merged
        .penalties
        .iter()
        .map(|penalty| (penalty.start / DAY, penalty.amount))
        .collect();
    assert_eq!(steps, [(1, 100), (2, 600), (3, 1500)]);
    assert_eq!(merged.free_until, Some(DAY - 1));
    assert!(merged.refundable);
}

#[test]
fn one_non_refundable_room_makes_merged_policy_non_refundable() {
    let fixed = CancellationPolicy::non_refundable();
    let free = policy(true, &[(2 * DAY, 500)]);
    let merged = merge(&[(&fixed, 1000), (&free, 500)], "EUR");
    assert!(!merged.refundable);
    assert_eq!(merged.free_until, None);
    assert_eq!(fee_at(&merged, 1500, DAY), 1000);
    assert_eq!(fee_at(&merged, 1500, 2 * DAY), 1500);
    let both = merge(&[(&fixed, 1000), (&fixed, 500)], "EUR");
    assert_eq!(both, CancellationPolicy::non_refundable());
}

#[test]
fn cancel_time_in_year_one_means_always() {
    let json = r#"{"refundableTag": "RFN", "cancelPolicyInfos":
        [{"cancelTime": "0001-01-01T00:00:00Z", "amount": 10, "currency": "EUR"}]}"#;
    let read = cancellation_policy(&policies(json), 5000, "EUR").unwrap();
    assert_eq!((read.penalties[0].start, read.free_until), (0, None));
    assert_eq!(fee_at(&read, 5000, DAY), 1000);
}
