//! Paths of this dashboard that a request may name as the next page.

/// A path with its query that stays on this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LocalPath(String);

impl LocalPath {
    /// Returns the path, or `/` if the text could lead to another host.
    pub(crate) fn parse(text: &str) -> Self {
        let is_local = text.starts_with('/')
            && !text.starts_with("//")
            && text.bytes().all(|byte| byte.is_ascii_graphic())
            && !text.contains('\\');
        Self(if is_local { text } else { "/" }.to_owned())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_of_another_host_becomes_the_overview() {
        for text in ["/", "/keys", "/keys?mode=test&a=%2F%2Fb", "/a//b"] {
            assert_eq!(LocalPath::parse(text).as_str(), text);
        }
        for text in [
            "",
            "keys",
            "//evil.example",
            "///evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "/\t/evil.example",
            "/\n/evil.example",
            "/ /evil.example",
            " //evil.example",
            "https://evil.example",
            "https:evil.example",
            "javascript:alert(1)",
            "/ä",
        ] {
            assert_eq!(LocalPath::parse(text).as_str(), "/", "{text:?}");
        }
    }
}
