//! Fuzz tests of signature verification with forged and genuine signatures.

use super::{TOLERANCE_S, is_genuine};
use fuzz::Choice;
use hmac::{Hmac, KeyInit, Mac};

const SECRETS: [&str; 2] = ["whsec_of today", "whsec_of yesterday"];
const NOW_S: u64 = 1_795_255_200;
const BODY: &[u8] = br#"{"id":"evt_1","type":"ping"}"#;
const TOKENS: &[&str] = &[
    "t=",
    "v1=",
    ",",
    "t=1795255200",
    "t=1795255199",
    "+",
    "-",
    "0",
];

fn secrets() -> Vec<String> {
    SECRETS.map(str::to_owned).to_vec()
}

/// Returns `t=<time>` followed by a `v1` for each secret.
fn header(secrets: &[&str], time: &str, body: &[u8]) -> String {
    let signed = secrets.iter().map(|secret| {
        let mac = Hmac::<sha2::Sha256>::new_from_slice(secret.as_bytes()).unwrap();
        let mac = mac.chain_update(time).chain_update(".").chain_update(body);
        format!(",v1={}", hex::encode(mac.finalize().into_bytes()))
    });
    format!("t={time}{}", signed.collect::<String>())
}

#[test]
fn forged_signature_is_rejected() {
    let time = NOW_S.to_string();
    let [old, new, both] =
        [&SECRETS[..1], &SECRETS[1..], &SECRETS[..]].map(|secrets| header(secrets, &time, BODY));
    let mut documents = fuzz::documents("svc-signature").tokens(TOKENS);
    for header in [&old, &new, &both] {
        documents = documents.seed([header.as_bytes(), b"\n", BODY].concat());
    }
    documents.check(2_000, |document| {
        let (header, body) = fuzz::lines(document);
        let header = String::from_utf8_lossy(header);
        if is_genuine(&secrets(), &header, body, NOW_S) {
            let lower = header.to_ascii_lowercase();
            let is_signed = |genuine: &String| lower.contains(&genuine[16..]);
            assert!([&old, &new].into_iter().any(is_signed), "unknown signer");
            assert!(header.contains(&format!("t={time}")), "time changed");
            assert_eq!(body, BODY, "the body was changed");
        } else {
            assert!(header != both || body != BODY, "a genuine one is rejected");
        }
    });
}

/// Chooses a signature's time, mostly close to now.
fn time(choice: &mut Choice<'_>) -> i64 {
    let now_s = NOW_S.cast_signed();
    let tolerance_s = TOLERANCE_S.cast_signed();
    match choice.below(3) {
        0 => now_s + choice.pick(&[-tolerance_s, tolerance_s]) + choice.pick(&[-1, 0, 1]),
        1 => now_s + choice.pick(&[-1, 1]) * i64::from(choice.byte()) * 2,
        _ => choice.integer(),
    }
}

#[test]
fn signature_is_genuine_within_tolerance_for_unchanged_body() {
    fuzz::values("svc-signature-of-any-body", 1_000, |choice| {
        let signed_at = time(choice);
        let signers: Vec<&str> = match choice.below(4) {
            0 => vec!["another", SECRETS[0], "a third"],
            1 => vec![SECRETS[1]],
            2 => SECRETS.to_vec(),
            _ => vec!["another"],
        };
        let mut body = choice.text().into_bytes();
        let header = header(&signers, &signed_at.to_string(), &body);
        let is_fresh = signed_at.abs_diff(NOW_S.cast_signed()) <= TOLERANCE_S;
        let is_ours = signers.iter().any(|signer| SECRETS.contains(signer));
        let found = is_genuine(&secrets(), &header, &body, NOW_S);
        assert_eq!(found, is_fresh && is_ours, "{header}");
        let length = body.len();
        if let Some(byte) = body.get_mut(choice.below(length)) {
            *byte ^= 1 << choice.below(8);
            assert!(!is_genuine(&secrets(), &header, &body, NOW_S), "{header}");
        }
    });
}
