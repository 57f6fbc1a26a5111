//! Logo URLs, which may be paths only.

use stopover_sdk::lenient::LenientText;

/// Returns an absolute URL, or `None` if the text is neither a URL nor a path.
pub(crate) fn url(logo: &LenientText<'_>, base: &str) -> Option<String> {
    let logo = logo.as_deref()?;
    if logo.starts_with("https://") || logo.starts_with("http://") {
        return Some(logo.to_owned());
    }
    let path = logo
        .strip_prefix('/')
        .filter(|path| !path.starts_with('/'))?;
    Some(format!("{}/{path}", base.trim_end_matches('/')))
}
