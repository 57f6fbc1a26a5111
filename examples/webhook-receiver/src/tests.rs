//! Signature verification with the test vectors shared by all verifiers.

use super::is_genuine;
use serde_json::Value;

#[test]
fn verification_matches_vectors() {
    let vectors = include_str!("../../verify/vectors.json");
    let vectors: Vec<Value> = serde_json::from_str(vectors).unwrap();
    let own = vectors.iter().filter(|vector| vector["scheme"] == "svc");
    let mut genuine = 0;
    for vector in own {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let secrets = ["whsec_another".to_owned(), text(&vector["secret"])];
        let header = text(&vector["headers"]["svc-signature"]);
        let body = text(&vector["body"]);
        let now_s = vector["now"].as_u64().unwrap();
        let found = is_genuine(&secrets, &header, body.as_bytes(), now_s);
        assert_eq!(found, vector["genuine"], "{}", vector["name"]);
        genuine += u32::from(found);
    }
    assert!(genuine > 0);
}
