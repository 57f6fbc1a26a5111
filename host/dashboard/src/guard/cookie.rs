//! The cookie of a session, of which only the digest is stored, and the cookie that binds a single
//! sign-on to the browser in which it began.

use crate::state::DashboardSettings;
use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};
use secrecy::{ExposeSecret, SecretString};

/// Time after which browsers drop the cookie: the longest duration of a session, 7 days.
const MAX_AGE_S: u32 = 7 * 24 * 3600;

/// Time after which browsers drop the cookie of a single sign-on: the longest time that it takes.
const CHALLENGE_MAX_AGE_S: u32 = 10 * 60;

/// Returns the name. The prefix `__Host-` lets no other host or path set the cookie; browsers
/// accept it only over https.
const fn cookie_name(is_https: bool) -> &'static str {
    if is_https {
        "__Host-stopover"
    } else {
        "stopover"
    }
}

const fn challenge_name(is_https: bool) -> &'static str {
    if is_https {
        "__Host-stopover-oidc"
    } else {
        "stopover-oidc"
    }
}

/// Returns the value of `Set-Cookie` that begins a session.
pub(crate) fn session_cookie(settings: &DashboardSettings, token: &SecretString) -> HeaderValue {
    let name = cookie_name(settings.is_https());
    set_cookie(settings, name, token.expose_secret(), "Strict", MAX_AGE_S)
}

/// Returns the value of `Set-Cookie` that removes the cookie.
pub(crate) fn expired_cookie(settings: &DashboardSettings) -> HeaderValue {
    set_cookie(settings, cookie_name(settings.is_https()), "", "Strict", 0)
}

/// Returns the value of `Set-Cookie` that begins a single sign-on. The provider, which is another
/// site, sends the person back, so `Strict` would keep the cookie from being sent.
pub(crate) fn challenge_cookie(settings: &DashboardSettings, value: &SecretString) -> HeaderValue {
    let (name, value) = (challenge_name(settings.is_https()), value.expose_secret());
    set_cookie(settings, name, value, "Lax", CHALLENGE_MAX_AGE_S)
}

/// Returns the value of `Set-Cookie` that removes the cookie of a single sign-on.
pub(crate) fn expired_challenge_cookie(settings: &DashboardSettings) -> HeaderValue {
    set_cookie(settings, challenge_name(settings.is_https()), "", "Lax", 0)
}

fn set_cookie(
    settings: &DashboardSettings,
    name: &str,
    value: &str,
    same_site: &str,
    max_age_s: u32,
) -> HeaderValue {
    let secure = if settings.is_https() { "; Secure" } else { "" };
    let text = format!(
        "{name}={value}; Path=/; HttpOnly; SameSite={same_site}; Max-Age={max_age_s}{secure}"
    );
    // A token has no character that a header cannot have.
    let mut header = HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(""));
    header.set_sensitive(true);
    header
}

/// Returns the token of the request's cookie. Of several cookies of the name, the first counts,
/// which is the one of the longest path.
pub(crate) fn session_token(
    settings: &DashboardSettings,
    headers: &HeaderMap,
) -> Option<SecretString> {
    cookie_value(headers, cookie_name(settings.is_https()))
}

/// Returns the challenge of the request's single sign-on.
pub(crate) fn challenge_token(
    settings: &DashboardSettings,
    headers: &HeaderMap,
) -> Option<SecretString> {
    cookie_value(headers, challenge_name(settings.is_https()))
}

fn cookie_value(headers: &HeaderMap, name: &str) -> Option<SecretString> {
    let lines = headers.get_all(COOKIE).iter();
    let mut pairs = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    let (_, value) = pairs.find(|(found, _)| *found == name)?;
    (!value.is_empty()).then(|| value.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(base_url: &str) -> DashboardSettings {
        DashboardSettings {
            base_url: base_url.to_owned(),
            trusted_proxies: Vec::new(),
        }
    }

    #[test]
    fn cookie_is_bound_to_the_host_over_https() {
        let token: SecretString = "abc".into();
        for (base_url, expected) in [
            (
                "https://dash.example.com",
                "__Host-stopover=abc; Path=/; HttpOnly; SameSite=Strict; Max-Age=604800; Secure",
            ),
            (
                "http://127.0.0.1:8082",
                "stopover=abc; Path=/; HttpOnly; SameSite=Strict; Max-Age=604800",
            ),
        ] {
            assert_eq!(session_cookie(&settings(base_url), &token), expected);
        }
    }

    #[test]
    fn token_is_read_by_the_exact_name() {
        for (line, expected) in [
            ("stopover=abc", Some("abc")),
            ("a=b; stopover=abc; stopover=def", Some("abc")),
            ("__Host-stopover=abc", None),
            ("xstopover=abc", None),
            ("stopover=", None),
            ("stopover", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(COOKIE, HeaderValue::from_static(line));
            let token = session_token(&settings("http://127.0.0.1:8082"), &headers);
            let token = token.as_ref().map(ExposeSecret::expose_secret);
            assert_eq!(token, expected, "{line}");
        }
    }
}
