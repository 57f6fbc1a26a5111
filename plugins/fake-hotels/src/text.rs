//! Conversion of HTML to plain text, for remarks and descriptions. It is simpler than a browser:
//! tags are removed, blocks become lines, and common entities become characters.

/// Elements that have their own lines.
const BLOCKS: [&str; 19] = [
    "address",
    "blockquote",
    "br",
    "dd",
    "div",
    "dl",
    "dt",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "ol",
    "p",
    "tr",
    "ul",
];
/// Elements whose content is not shown.
const HIDDEN: [&str; 2] = ["script", "style"];
/// Maximum length of an entity, without its `&` and `;`.
const ENTITY_CHARS_MAX: usize = 8;

/// Returns the visible text of the HTML, one line per block.
pub(crate) fn plain(html: &str) -> String {
    let mut visible = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find(['<', '&']) {
        let (before, marked) = rest.split_at(at);
        visible.push_str(before);
        let after = if marked.starts_with('<') {
            tag(marked, &mut visible)
        } else {
            entity(marked, &mut visible)
        };
        rest = after;
    }
    visible.push_str(rest);
    tidy(&visible)
}

/// Reads text that starts with `<` and returns the rest after it.
fn tag<'a>(marked: &'a str, visible: &mut String) -> &'a str {
    let inside = marked.get(1..).unwrap_or_default();
    if let Some(comment) = inside.strip_prefix("!--") {
        return comment.split_once("-->").map_or("", |(_, after)| after);
    }
    let opens = |first: char| first.is_ascii_alphabetic() || matches!(first, '/' | '!' | '?');
    let Some((content, after)) = inside.split_once('>').filter(|_| inside.starts_with(opens))
    else {
        // The `<` does not start a tag, as in "2 < 3".
        visible.push('<');
        return inside;
    };
    let name: String = content
        .trim_start_matches('/')
        .chars()
        .take_while(char::is_ascii_alphanumeric)
        .map(|letter| letter.to_ascii_lowercase())
        .collect();
    if BLOCKS.contains(&name.as_str()) {
        visible.push('\n');
    }
    if HIDDEN.contains(&name.as_str()) && !content.starts_with('/') && !content.ends_with('/') {
        return skip_to_end_of(&name, after);
    }
    after
}

/// Returns the text after the end tag of a hidden element, or nothing if there is no end tag.
fn skip_to_end_of<'a>(name: &str, mut rest: &'a str) -> &'a str {
    while let Some((_, after)) = rest.split_once("</") {
        let ends = after
            .get(..name.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(name));
        if ends {
            return after.split_once('>').map_or("", |(_, after)| after);
        }
        rest = after;
    }
    ""
}

/// Reads text that starts with `&` and returns the rest after it.
fn entity<'a>(marked: &'a str, visible: &mut String) -> &'a str {
    let inside = marked.get(1..).unwrap_or_default();
    let read = inside
        .find(';')
        .filter(|end| *end <= ENTITY_CHARS_MAX)
        .and_then(|end| Some((character(inside.get(..end)?)?, inside.get(end + 1..)?)));
    match read {
        Some((character, after)) => {
            visible.push(character);
            after
        }
        None => {
            visible.push('&');
            inside
        }
    }
}

fn character(entity: &str) -> Option<char> {
    if let Some(number) = entity.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code).filter(|character| *character != '\0');
    }
    Some(match entity {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "ndash" => '–',
        "mdash" => '—',
        "hellip" => '…',
        "lsquo" => '‘',
        "rsquo" => '’',
        "ldquo" => '“',
        "rdquo" => '”',
        "bull" => '•',
        "middot" => '·',
        "deg" => '°',
        "euro" => '€',
        "pound" => '£',
        _ => return None,
    })
}

/// Returns the text with one space between words and without empty lines.
fn tidy(text: &str) -> String {
    let mut tidied = String::with_capacity(text.len());
    for line in text.lines() {
        let mut words = line.split_whitespace().peekable();
        if words.peek().is_some() && !tidied.is_empty() {
            tidied.push('\n');
        }
        while let Some(word) = words.next() {
            tidied.push_str(word);
            if words.peek().is_some() {
                tidied.push(' ');
            }
        }
    }
    tidied
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_is_converted_to_visible_text() {
        let cases = [
            ("", ""),
            ("Plain text", "Plain text"),
            (
                "<p>Check-in from 14:00. <b>Bring a card.</b></p>",
                "Check-in from 14:00. Bring a card.",
            ),
            ("<p>One</p>\n<p class=\"a>b\">Two</p>", "One\nb\">Two"),
            ("A<br/>B<BR>C", "A\nB\nC"),
            ("<ul><li>Tea</li><li>Coffee</li></ul>", "Tea\nCoffee"),
            ("Bed &amp; breakfast &lt;3", "Bed & breakfast <3"),
            ("5&nbsp;&euro;, 20&#176;C, &#x1F600;", "5 €, 20°C, 😀"),
            (
                "R&D; &unknown; &; & &#0; &#xffffffff;",
                "R&D; &unknown; &; & &#0; &#xffffffff;",
            ),
            ("2 < 3 <and> 4 > 3", "2 < 3 4 > 3"),
            ("a<!-- hidden --> b", "a b"),
            ("a<style>p { color: red }</style>b", "ab"),
            ("a<script>if (1</2) {}</SCRIPT >b", "ab"),
            ("cut <b", "cut <b"),
            ("cut <!-- here", "cut"),
            ("cut <script>here", "cut"),
            (
                "  many \t spaces \r\n\r\n and lines ",
                "many spaces\nand lines",
            ),
            ("é<i>ü</i>&eacute", "éü&eacute"),
        ];
        for (html, expected) in cases {
            assert_eq!(plain(html), expected, "{html}");
        }
    }
}
