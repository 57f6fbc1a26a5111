//! The command line that repeats an API call.

use host_domain::request_log::{LoggedBodies, LoggedRequest};

/// Returns a command line that sends a call again, with a key from the environment. Masked parts
/// must be filled in first.
pub(super) fn curl(
    api_url: &str,
    request: &LoggedRequest,
    bodies: Option<&LoggedBodies>,
) -> String {
    let url = quoted(&format!("{api_url}{}", request.path));
    let mut lines = vec![
        format!("curl -X {} {url}", request.method),
        "-H \"x-api-key: $STOPOVER_API_KEY\"".to_owned(),
    ];
    // The repetition is a call of its own. Operations that need no key ignore it.
    if request.method == "POST" {
        lines.push("-H \"x-idempotency-key: $(uuidgen)\"".to_owned());
    }
    if !request.user.is_empty() {
        lines.push(format!(
            "-H {}",
            quoted(&format!("x-user-id: {}", request.user))
        ));
    }
    if let Some(body) = bodies.and_then(|bodies| bodies.request.text.as_deref()) {
        lines.push("-H 'content-type: application/json'".to_owned());
        lines.push(format!("--data {}", quoted(body)));
    }
    lines.join(" \\\n  ")
}

/// Returns a text as one word of a shell, whatever it contains.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_its_word() {
        assert_eq!(quoted("a 'b' $(c)"), r"'a '\''b'\'' $(c)'");
    }
}
