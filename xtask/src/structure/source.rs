//! Readers of source text. They recognise enough of Rust to find imports, public types and
//! re-exports, and cost less time than a parser.

/// Returns the code of a Rust file. Comments and literals are blank, inline test modules are
/// removed.
pub(super) fn code(text: &str) -> String {
    without_test_modules(&blank_comments_and_literals(text))
}

fn blank_comments_and_literals(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['/', '"', '\'']) {
        let (before, from) = rest.split_at(at);
        code.push_str(before);
        let length = if from.starts_with("//") {
            from.find('\n').unwrap_or(from.len())
        } else if from.starts_with("/*") {
            block_comment_length(from)
        } else if from.starts_with('"') {
            string_length(from, raw_string_hashes(&code))
        } else if from.starts_with('\'') {
            character_length(from)
        } else {
            // A division.
            code.push('/');
            rest = from.get(1..).unwrap_or_default();
            continue;
        };
        let (blanked, after) = from.split_at(length);
        code.extend(blanked.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        rest = after;
    }
    code.push_str(rest);
    code
}

/// Returns the length of a block comment. Block comments nest.
fn block_comment_length(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(found) = text
        .get(at..)
        .and_then(|rest| rest.find(['/', '*']).map(|found| at + found))
    {
        let rest = text.get(found..).unwrap_or_default();
        if rest.starts_with("/*") {
            depth += 1;
            at = found + 2;
        } else if rest.starts_with("*/") {
            depth = depth.saturating_sub(1);
            at = found + 2;
            if depth == 0 {
                return at;
            }
        } else {
            at = found + 1;
        }
    }
    text.len()
}

/// Returns the number of `#` of a raw string if the code before a quote begins one.
fn raw_string_hashes(before: &str) -> Option<usize> {
    let prefix = before.trim_end_matches('#');
    prefix.ends_with('r').then_some(before.len() - prefix.len())
}

fn string_length(text: &str, raw_hashes: Option<usize>) -> usize {
    let content = text.get(1..).unwrap_or_default();
    if let Some(hashes) = raw_hashes {
        let end = format!("\"{}", "#".repeat(hashes));
        return content
            .find(&end)
            .map_or(text.len(), |at| 1 + at + end.len());
    }
    let mut escaped = false;
    for (at, character) in content.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 2,
            _ => {}
        }
    }
    text.len()
}

/// Returns the length of a character literal, or 1 for the quote of a lifetime.
fn character_length(text: &str) -> usize {
    let content = text.get(1..).unwrap_or_default();
    let mut characters = content.chars();
    match (characters.next(), characters.next()) {
        (Some('\\'), Some(escaped)) => {
            let from = 1 + escaped.len_utf8();
            let end = content.get(from..).and_then(|rest| rest.find('\''));
            end.map_or(1, |end| 1 + from + end + 1)
        }
        (Some(character), Some('\'')) => 2 + character.len_utf8(),
        _ => 1,
    }
}

/// Removes `#[cfg(test)] mod name { … }`.
fn without_test_modules(code: &str) -> String {
    const ATTRIBUTE: &str = "#[cfg(test)]";
    let mut kept = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find(ATTRIBUTE) {
        let (before, from) = rest.split_at(at);
        kept.push_str(before);
        let after = from.get(ATTRIBUTE.len()..).unwrap_or_default();
        rest = match test_module_length(after) {
            Some(length) => after.get(length..).unwrap_or_default(),
            None => after,
        };
    }
    kept.push_str(rest);
    kept
}

fn test_module_length(text: &str) -> Option<usize> {
    let module = text.trim_start().strip_prefix("mod ")?;
    let body = module.trim_start_matches(is_name_character).trim_start();
    if !body.starts_with('{') {
        return None;
    }
    let start = text.len() - body.len();
    let mut depth = 0_usize;
    for (at, character) in body.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(start + at + 1);
                }
            }
            _ => {}
        }
    }
    Some(text.len())
}

fn is_name_character(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

/// Returns the paths behind `crate::` and `super::`, relative to the crate's root. A path
/// may end in an item of a module.
pub(super) fn imports(code: &str, module: &[String]) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for (keyword, base) in [("crate", &[] as &[String]), ("super", parent(module))] {
        for (at, _) in code.match_indices(keyword) {
            let (before, from) = code.split_at(at);
            let begins_path = !before.ends_with(is_name_character) && !before.ends_with("::");
            let after = from.get(keyword.len()..).unwrap_or_default();
            if let (true, Some(mut tree)) = (begins_path, after.strip_prefix("::")) {
                let mut base = base;
                while let Some(next) = tree.strip_prefix("super::") {
                    base = parent(base);
                    tree = next;
                }
                read_tree(tree, base, &mut paths);
            }
        }
    }
    paths
}

fn parent(module: &[String]) -> &[String] {
    module.split_last().map_or(&[], |(_, parent)| parent)
}

/// Reads a path or a list of paths behind `::` and adds each. Returns the text behind it.
fn read_tree<'a>(text: &'a str, base: &[String], paths: &mut Vec<Vec<String>>) -> &'a str {
    let text = text.trim_start();
    if let Some(mut list) = text.strip_prefix('{') {
        loop {
            list = list.trim_start();
            if list.is_empty() {
                return list;
            }
            if let Some(after) = list.strip_prefix('}') {
                return after;
            }
            list = match list.find([',', '{', '}']) {
                // Skips a separator.
                Some(0) => list.get(1..).unwrap_or_default(),
                _ => skip_alias(read_tree(list, base, paths)),
            };
        }
    }
    let after = text.trim_start_matches(is_name_character);
    let name = text.get(..text.len() - after.len()).unwrap_or_default();
    let mut path = base.to_vec();
    if name.is_empty() || name == "self" {
        paths.push(path);
        return text.strip_prefix('*').unwrap_or(after);
    }
    path.push(name.to_owned());
    // `<` begins generic arguments, as in `parse::<u8>()`.
    if let Some(tree) = after.strip_prefix("::")
        && !tree.starts_with('<')
    {
        return read_tree(tree, &path, paths);
    }
    paths.push(path);
    after
}

/// Skips `as name` behind an entry of a list.
fn skip_alias(text: &str) -> &str {
    let end = text.find([',', '{', '}']).unwrap_or(text.len());
    text.get(end..).unwrap_or_default()
}

/// Returns the names of types that are visible outside of their module. A name that is a macro's
/// variable is left out.
pub(super) fn public_types(code: &str) -> Vec<&str> {
    code.lines()
        .filter_map(|line| {
            let item = after_visibility(line)?;
            let item = item.strip_prefix("unsafe ").unwrap_or(item);
            let (keyword, name) = item.split_once(' ')?;
            let end = name
                .find(|character| !is_name_character(character))
                .unwrap_or(name.len());
            let is_type = matches!(keyword, "struct" | "enum" | "union" | "trait" | "type");
            let name = name.get(..end)?;
            (is_type && !name.is_empty()).then_some(name)
        })
        .collect()
}

/// Returns the lines that re-export an item of a `host_` crate.
pub(super) fn re_exports(code: &str) -> Vec<&str> {
    code.lines()
        .filter(|line| {
            after_visibility(line)
                .and_then(|item| {
                    item.strip_prefix("use ")
                        .or_else(|| item.strip_prefix("extern crate "))
                })
                .is_some_and(|path| path.trim_start_matches("::").starts_with("host_"))
        })
        .map(str::trim)
        .collect()
}

/// Returns the text after `pub` or `pub(…)` at the beginning of a line.
fn after_visibility(line: &str) -> Option<&str> {
    let after = line.trim_start().strip_prefix("pub")?;
    match after.strip_prefix('(') {
        Some(restricted) => restricted.split_once(") ").map(|(_, item)| item),
        None => after.strip_prefix(' '),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imported(code: &str) -> Vec<String> {
        let module = ["booking".to_owned(), "steps".to_owned()];
        imports(code, &module)
            .iter()
            .map(|path| path.join("::"))
            .collect()
    }

    #[test]
    fn comments_and_literals_are_blank() {
        let text = "a /* b /* c */ d */ e // f\n\"g \\\" h\" i r#\"j \" k\"# '\"' l 'm n/o";
        let code = code(text);
        let words: Vec<_> = code.split_whitespace().collect();
        assert_eq!(words, ["a", "e", "i", "r#", "l", "m", "n/o"]);
        assert_eq!(code.lines().count(), 2);
    }

    #[test]
    fn characters_and_lifetimes_are_distinguished() {
        let code = code(r"f('{', '\'', '\u{7b}', 'ä'); fn g<'a>(x: &'a str) {}");
        assert_eq!(code.matches('{').count(), 1);
        assert!(code.contains("a>(x: & a str)"));
    }

    #[test]
    fn test_modules_are_removed_and_following_code_is_kept() {
        let code = code("a();\n#[cfg(test)]\nmod tests { fn b() { c(\"}\") } }\nd();");
        assert_eq!(
            code.split_whitespace().collect::<Vec<_>>(),
            ["a();", "d();"]
        );
    }

    #[test]
    fn imports_are_read_relative_to_the_root_of_the_crate() {
        for (code, expected) in [
            (
                "use crate::{a::{B, c::D as E, self}, f};\nuse crate::g::*;",
                &["a::B", "a::c::D", "a", "f", "g"][..],
            ),
            (
                "crate::a::f(1); let x: crate::b::T<u8> = crate::c::g::<u8>();",
                &["a::f", "b::T", "c::g"],
            ),
            (
                "use super::policy::P; use super::super::id::{self, Q}; use super::R;",
                &["booking::policy::P", "id", "id::Q", "booking::R"],
            ),
            ("my_crate::a; superb::b; crate_name::c", &[]),
        ] {
            assert_eq!(imported(code), expected, "{code}");
        }
    }

    #[test]
    fn public_types_are_found_at_every_visibility() {
        let code = "pub struct A<T>(T);\n    pub(crate) enum B {\npub(in crate::x) trait C: D {}\n\
                    struct E;\npub fn f() {}\npub type G = u8;\npub(super) unsafe trait H {}\n\
                    pub struct $name;";
        assert_eq!(public_types(code), ["A", "B", "C", "G", "H"]);
    }

    #[test]
    fn re_exports_of_host_crates_are_found() {
        let code = "pub use host_domain::A;\nuse host_domain::B;\npub(crate) use ::host_storage::C;\n\
                    pub use crate::host_name;\npub extern crate host_runtime;";
        assert_eq!(re_exports(code).len(), 3);
    }
}
