//! The header `Accept`.

use http::HeaderMap;
use http::header::ACCEPT;

/// Returns the weight, 0 to 1, that a client gives to a media type such as `text/html`, by the most
/// specific range that covers it. Without an `Accept` header every type has the weight 1.
pub(crate) fn quality(headers: &HeaderMap, media_type: &str) -> f32 {
    let group = media_type.split('/').next().unwrap_or_default();
    let ranked = [
        "*/*".to_owned(),
        format!("{group}/*"),
        media_type.to_owned(),
    ];
    let mut best: Option<(usize, f32)> = None;
    let mut any = false;
    let values = headers.get_all(ACCEPT).iter();
    let ranges = values.flat_map(|value| value.to_str().unwrap_or_default().split(','));
    for range in ranges.filter(|range| !range.trim().is_empty()) {
        any = true;
        let mut parts = range.split(';').map(str::trim);
        let essence = parts.next().unwrap_or_default().to_ascii_lowercase();
        let Some(rank) = ranked.iter().position(|known| *known == essence) else {
            continue;
        };
        let weight = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f32>().ok());
        if best.is_none_or(|(known, _)| rank >= known) {
            best = Some((rank, weight.unwrap_or(1.0)));
        }
    }
    match best {
        Some((_, weight)) => weight,
        None if any => 0.0,
        None => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn weight(values: &[&'static str], media_type: &str) -> f32 {
        let headers = values
            .iter()
            .map(|value| (ACCEPT, HeaderValue::from_static(value)));
        quality(&headers.collect(), media_type)
    }

    #[test]
    fn json_is_rejected_only_if_accept_header_excludes_it() {
        let accept = |values: &[&'static str]| weight(values, "application/json") > 0.0;
        assert!(accept(&[]) && accept(&["*/*"]) && accept(&["text/html, application/*;q=0.1"]));
        assert!(accept(&["application/json;q=0.5, */*;q=0"]) && accept(&["text/html", "*/*"]));
        assert!(
            !accept(&["text/html"])
                && !accept(&["application/json;q=0, */*"])
                && !accept(&["application/xml, text/*"])
        );
    }

    #[test]
    fn browsers_prefer_html_and_programs_do_not() {
        let prefers_html = |values: &[&'static str]| {
            weight(values, "text/html") > weight(values, "application/json")
        };
        let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
        assert!(prefers_html(&[browser]) && prefers_html(&["text/*"]));
        assert!(!prefers_html(&[]) && !prefers_html(&["*/*"]));
        assert!(!prefers_html(&["application/json, text/html;q=0.5"]));
    }
}
