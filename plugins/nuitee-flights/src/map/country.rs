//! Country codes. Nuitee gives English country names.

/// Lines of a country code and a name. A country may have several names.
const COUNTRIES: &str = include_str!("countries.txt");

/// Returns the ISO 3166-1 alpha-2 code of a country's name or code, or `None` if the text is
/// neither.
pub(crate) fn code(name: &str) -> Option<String> {
    let name = name.strip_prefix("The ").unwrap_or(name);
    let mut countries = COUNTRIES.lines().filter_map(|line| line.split_once(' '));
    let (code, _) = countries.find(|(code, known)| {
        known.eq_ignore_ascii_case(name) || code.eq_ignore_ascii_case(name)
    })?;
    Some(code.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn country_is_found_by_its_names_and_its_code() {
        let cases = [
            ("United States", Some("US")),
            ("united kingdom", Some("GB")),
            ("The Netherlands", Some("NL")),
            ("Turkey", Some("TR")),
            ("Türkiye", Some("TR")),
            ("South Korea", Some("KR")),
            ("fr", Some("FR")),
            ("Atlantis", None),
            ("", None),
        ];
        for (name, expected) in cases {
            assert_eq!(code(name).as_deref(), expected, "{name}");
        }
    }
}
