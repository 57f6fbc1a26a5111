//! Conversion of HTML, such as descriptions and remarks, to plain text.

/// Elements whose content is not shown.
const HIDDEN: [&str; 3] = ["script", "style", "head"];

/// Elements that start a new line.
const BLOCKS: [&str; 22] = [
    "br",
    "p",
    "div",
    "li",
    "ul",
    "ol",
    "tr",
    "table",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "section",
    "article",
    "header",
    "footer",
    "dt",
    "dd",
    "blockquote",
];

/// Named character references. Numeric references are computed.
const CHARACTERS: [(&str, char); 40] = [
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("nbsp", ' '),
    ("ndash", '\u{2013}'),
    ("mdash", '\u{2014}'),
    ("hellip", '\u{2026}'),
    ("lsquo", '\u{2018}'),
    ("rsquo", '\u{2019}'),
    ("ldquo", '\u{201c}'),
    ("rdquo", '\u{201d}'),
    ("bull", '\u{2022}'),
    ("middot", '\u{b7}'),
    ("deg", '\u{b0}'),
    ("euro", '\u{20ac}'),
    ("pound", '\u{a3}'),
    ("copy", '\u{a9}'),
    ("reg", '\u{ae}'),
    ("trade", '\u{2122}'),
    ("frac12", '\u{bd}'),
    ("sup2", '\u{b2}'),
    ("times", '\u{d7}'),
    ("eacute", '\u{e9}'),
    ("egrave", '\u{e8}'),
    ("ecirc", '\u{ea}'),
    ("agrave", '\u{e0}'),
    ("aacute", '\u{e1}'),
    ("acirc", '\u{e2}'),
    ("ccedil", '\u{e7}'),
    ("iacute", '\u{ed}'),
    ("ntilde", '\u{f1}'),
    ("oacute", '\u{f3}'),
    ("ocirc", '\u{f4}'),
    ("ouml", '\u{f6}'),
    ("uacute", '\u{fa}'),
    ("uuml", '\u{fc}'),
    ("auml", '\u{e4}'),
    ("szlig", '\u{df}'),
];

/// Maximum length of a character reference in bytes, without `&` and `;`. No known name is longer.
const REFERENCE_BYTES_MAX: usize = 32;

/// Returns the text of an HTML fragment: tags are removed, characters decoded, and each block is on
/// its own line without empty lines. The work is linear in the length of the fragment.
pub fn plain(html: &str) -> String {
    if is_tidy_line(html) {
        return html.to_owned();
    }
    let mut text = String::with_capacity(html.len());
    let unclosed_bytes = html.rsplit('>').next().map_or(0, str::len);
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        let (before, tag) = rest.split_at(start);
        push_decoded(&mut text, before);
        let Some((name, after)) = open_tag(tag, unclosed_bytes) else {
            text.push('<');
            rest = tag.get(1..).unwrap_or_default();
            continue;
        };
        if BLOCKS.contains(&name.trim_start_matches('/')) {
            text.push('\n');
        }
        rest = if HIDDEN.contains(&name.as_str()) {
            skip_to_end_of(&name, after)
        } else {
            after
        };
    }
    push_decoded(&mut text, rest);
    tidy(&text)
}

/// Returns the plain text, or `None` if it is empty.
pub fn optional(html: Option<&str>) -> Option<String> {
    html.map(plain).filter(|text| !text.is_empty())
}

/// Returns the name of the tag at the start (lower case, with its `/`) and the text after the tag.
/// Returns `None` if the `<` does not start a tag. The last `unclosed_bytes` of a text contain no `>`;
/// without this number, each `<` in them would cause another search to the end of the text.
fn open_tag(text: &str, unclosed_bytes: usize) -> Option<(String, &str)> {
    let inside = text.strip_prefix('<')?;
    if let Some(comment) = inside.strip_prefix("!--") {
        let after = comment.split_once("-->").map_or("", |(_, after)| after);
        return Some((String::new(), after));
    }
    let first = inside.strip_prefix('/').unwrap_or(inside).chars().next()?;
    if !first.is_ascii_alphabetic() && first != '!' {
        return None;
    }
    if text.len() <= unclosed_bytes {
        return None;
    }
    let (tag, after) = inside.split_once('>')?;
    let name = tag
        .split(|character: char| character.is_whitespace())
        .next()
        .unwrap_or_default();
    let closing = if name.starts_with('/') { "/" } else { "" };
    Some((
        format!("{closing}{}", name.trim_matches('/').to_ascii_lowercase()),
        after,
    ))
}

fn skip_to_end_of<'a>(name: &str, text: &'a str) -> &'a str {
    let mut rest = text;
    while let Some((_, tag)) = rest.split_once("</") {
        if tag
            .get(..name.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(name))
        {
            return tag.split_once('>').map_or("", |(_, after)| after);
        }
        rest = tag;
    }
    ""
}

fn push_decoded(target: &mut String, text: &str) {
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        target.push_str(before);
        match reference(after) {
            Some((character, after)) => {
                target.push(character);
                rest = after;
            }
            None => {
                target.push('&');
                rest = after;
            }
        }
    }
    target.push_str(rest);
}

/// Returns the character of the reference at the start of the text, which follows an `&`, and the
/// text after the reference.
fn reference(text: &str) -> Option<(char, &str)> {
    let mut start = text.bytes().take(REFERENCE_BYTES_MAX + 1);
    let end = start.position(|byte| byte == b';')?;
    let (name, after) = text.split_at_checked(end)?;
    Some((character(name)?, after.strip_prefix(';')?))
}

fn character(name: &str) -> Option<char> {
    let Some(number) = name.strip_prefix('#') else {
        return CHARACTERS
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, character)| *character);
    };
    let code = match number.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => number.parse().ok()?,
    };
    char::from_u32(code)
}

/// Returns whether the fragment is its own text already, as most names are: ASCII words with one space
/// between them, without tags and character references.
fn is_tidy_line(html: &str) -> bool {
    let mut last = b' ';
    for byte in html.bytes() {
        let is_usual = matches!(byte, b' '..=b'~') && byte != b'<' && byte != b'&';
        if !is_usual || (byte == b' ' && last == b' ') {
            return false;
        }
        last = byte;
    }
    last != b' ' || html.is_empty()
}

/// Replaces white space between words with one space, trims lines and removes empty ones.
fn tidy(text: &str) -> String {
    let mut tidied = String::with_capacity(text.len());
    for line in text.lines() {
        let words = line
            .split(|character: char| character.is_whitespace() || character.is_control())
            .filter(|word| !word.is_empty());
        let mut at_start = true;
        for word in words {
            match (at_start, tidied.is_empty()) {
                (true, false) => tidied.push('\n'),
                (false, _) => tidied.push(' '),
                (true, true) => {}
            }
            tidied.push_str(word);
            at_start = false;
        }
    }
    tidied
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_is_converted_to_lines_of_plain_text() {
        let cases = [
            ("", ""),
            ("Late arrival", "Late arrival"),
            (
                "<ul><li>Free breakfast</li><li>Free WiFi</li></ul>",
                "Free breakfast\nFree WiFi",
            ),
            (
                "<br/><br/>Fee: &euro;5 &amp; tax.<br/>",
                "Fee: \u{20ac}5 & tax.",
            ),
            ("<p>One</p>\n\n<P class=\"x\">Two</P>", "One\nTwo"),
            ("a<b>bold</b>c", "aboldc"),
            ("caf&eacute; &#8211; &#x41;", "caf\u{e9} \u{2013} A"),
            ("2 < 3 & 5 > 4 &unknown; &", "2 < 3 & 5 > 4 &unknown; &"),
            ("x<script>alert(1)</script>y<style>p{}</style>z", "xyz"),
            ("x<!-- a > b -->y", "xy"),
            ("&lt;b&gt;not a tag&lt;/b&gt;", "<b>not a tag</b>"),
            (
                "tabs\tand \u{a0} spaces\r\nnext\u{0}line",
                "tabs and spaces\nnext line",
            ),
            ("unclosed <b", "unclosed <b"),
            ("<i>a</i> <b <!-- c", "a <b"),
            (
                "&eacute;&#x0000000000000000000000000000000041;",
                "\u{e9}&#x0000000000000000000000000000000041;",
            ),
            ("<script>never closed", ""),
            ("cut <!-- here", "cut"),
            ("<p>One</p>\n<p class=\"a>b\">Two</p>", "One\nb\">Two"),
            ("A<br/>B<BR>C", "A\nB\nC"),
            ("&nbsp;20&#176;C, &#x1F600;", "20\u{b0}C, \u{1f600}"),
            ("R&D; &; &#xffffffff; a&#0;b", "R&D; &; &#xffffffff; a b"),
            ("2 < 3 <and> 4 > 3", "2 < 3 4 > 3"),
            ("a<script>if (1</2) {}</SCRIPT >b", "ab"),
            ("e<i>u</i>&eacute", "eu&eacute"),
        ];
        for (html, expected) in cases {
            assert_eq!(plain(html), expected, "{html}");
        }
    }

    /// Each of these took time quadratic in its length, or might. A quadratic conversion of 1 MiB
    /// would not end within the time limit of a test.
    #[test]
    fn long_malformed_html_is_converted_in_linear_time() {
        const BYTES: usize = 1 << 20;
        for unit in [
            "&",
            "<",
            "</",
            "<a",
            "<!",
            "<!--",
            "&amp",
            "&#x",
            "&#38",
            "<p>&",
            "<script",
            "<script>",
            "<script></",
            "<a href=\"",
            "\n",
            " ",
            "a",
            "<br>",
            "&amp;",
        ] {
            let html = unit.repeat(BYTES / unit.len());
            assert!(plain(&html).len() <= html.len(), "{unit}");
        }
    }

    #[test]
    fn markup_without_text_is_none() {
        assert_eq!(optional(Some("<p> &nbsp; </p>")), None);
        assert_eq!(optional(None), None);
    }
}
