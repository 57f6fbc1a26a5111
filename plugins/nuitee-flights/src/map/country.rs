//! Country codes. Nuitee gives English country names.

use std::borrow::Cow;

/// Lines of a country code and a name. A country may have several names. Names have "Saint" and "and".
const COUNTRIES: &str = include_str!("countries.txt");

/// Returns the ISO 3166-1 alpha-2 code of a country's name or code, or `None` if the text is
/// neither. The names of the list may be written with "The", "St." and "&".
pub(crate) fn code(name: &str) -> Option<String> {
    let name = name.strip_prefix("The ").unwrap_or(name);
    let name = match name.strip_prefix("St. ") {
        Some(saint) => Cow::Owned(format!("Saint {saint}")),
        None => Cow::Borrowed(name),
    };
    let name = name.replace(" & ", " and ");
    let mut countries = COUNTRIES.lines().filter_map(|line| line.split_once(' '));
    let (code, _) = countries.find(|(code, known)| {
        known.eq_ignore_ascii_case(&name) || code.eq_ignore_ascii_case(&name)
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
            ("DR Congo", Some("CD")),
            ("Congo Republic", Some("CG")),
            ("Republic of Korea", Some("KR")),
            ("Kyrgyz Republic", Some("KG")),
            ("St. Lucia", Some("LC")),
            ("St. Kitts and Nevis", Some("KN")),
            ("St. Vincent & the Grenadines", Some("VC")),
            ("St. Helena", Some("SH")),
            ("St. Pierre and Miquelon", Some("PM")),
            ("United States Virgin Islands", Some("VI")),
            ("Syrian Arab Republic", Some("SY")),
            ("Lao People's Democratic Republic", Some("LA")),
            ("Lao Peoples Democratic Republic", Some("LA")),
            ("Faeroe Islands", Some("FO")),
            ("Trinidad & Tobago", Some("TT")),
            ("Atlantis", None),
            ("", None),
        ];
        for (name, expected) in cases {
            assert_eq!(code(name).as_deref(), expected, "{name}");
        }
    }
}
