//! Readers of source text: they find imports, public types and re-exports in its tokens, also in
//! those of macros.

use anyhow::{Result, anyhow};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

const TEST_MODULE: [&str; 8] = ["#", "[", "cfg", "(", "test", ")", "]", "mod"];

/// Returns the tokens of a Rust file. Literals are empty, inline test modules are left out.
pub(super) fn tokens(text: &str) -> Result<Vec<String>> {
    let mut tokens = Vec::new();
    // The error cannot be sent to another thread, as anyhow demands.
    let stream = text.parse().map_err(|error| anyhow!("{error}"))?;
    flatten(stream, &mut tokens);
    // The attribute and `mod` are followed by the module's name and its body.
    while let Some(begin) = tokens.windows(TEST_MODULE.len() + 2).position(|window| {
        window
            .iter()
            .zip(TEST_MODULE)
            .all(|(token, expected)| token == expected)
            && window.last().is_some_and(|token| token == "{")
    }) {
        let length = block_length(tokens.get(begin..).unwrap_or_default());
        tokens.drain(begin..begin + length);
    }
    Ok(tokens)
}

fn flatten(stream: TokenStream, tokens: &mut Vec<String>) {
    for tree in stream {
        match tree {
            TokenTree::Ident(name) => tokens.push(name.to_string()),
            TokenTree::Punct(punctuation) => tokens.push(punctuation.to_string()),
            TokenTree::Literal(_) => tokens.push(String::new()),
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                tokens.push(open.to_owned());
                flatten(group.stream(), tokens);
                tokens.push(close.to_owned());
            }
        }
    }
}

/// Returns the number of tokens up to the end of the first block.
fn block_length(tokens: &[String]) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "{" => depth += 1,
            "}" if depth == 1 => return at + 1,
            "}" => depth -= 1,
            _ => {}
        }
    }
    tokens.len()
}

/// Returns the paths behind `crate::` and `super::`, relative to the crate's root. A path
/// may end in an item of a module.
pub(super) fn imports(tokens: &[String], module: &[String]) -> Vec<Vec<String>> {
    let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
    let mut paths = Vec::new();
    for at in 0..tokens.len() {
        let (before, from) = tokens.split_at(at);
        if before.ends_with(&[":", ":"]) {
            continue;
        }
        let (mut base, mut tree) = match from {
            ["crate", ":", ":", tree @ ..] => (&[] as &[String], tree),
            ["super", ":", ":", tree @ ..] => (parent(module), tree),
            _ => continue,
        };
        while let ["super", ":", ":", rest @ ..] = tree {
            (base, tree) = (parent(base), rest);
        }
        read_tree(tree, base, &mut paths);
    }
    paths
}

fn parent(module: &[String]) -> &[String] {
    module.split_last().map_or(&[], |(_, parent)| parent)
}

/// Reads a path or a list of paths behind `::` and adds each. Returns the tokens behind it.
fn read_tree<'a, 'b>(
    tokens: &'a [&'b str],
    base: &[String],
    paths: &mut Vec<Vec<String>>,
) -> &'a [&'b str] {
    if let ["{", list @ ..] = tokens {
        let mut list = list;
        loop {
            list = match list {
                [] => return list,
                ["}", after @ ..] => return after,
                [",", after @ ..] | ["as", _, after @ ..] => after,
                _ => read_tree(list, base, paths),
            };
        }
    }
    let [name, after @ ..] = tokens else {
        return tokens;
    };
    let mut path = base.to_vec();
    if !matches!(*name, "self" | "*") {
        path.push((*name).to_owned());
    }
    match after {
        // `<` begins generic arguments, as in `parse::<u8>()`.
        [":", ":", tree @ ..] if tree.first() != Some(&"<") => read_tree(tree, &path, paths),
        _ => {
            paths.push(path);
            after
        }
    }
}

/// Returns the names of structs, enums and traits.
pub(super) fn types(tokens: &[String]) -> Vec<&str> {
    let names = tokens.windows(2).filter_map(|pair| match pair {
        [keyword, name] if matches!(keyword.as_str(), "struct" | "enum" | "trait") => {
            Some(name.as_str())
        }
        _ => None,
    });
    names.filter(|name| *name != "$").collect()
}

/// Returns the methods and fields of types, each with the name of its type.
pub(super) fn members(tokens: &[String]) -> Vec<(&str, &str)> {
    let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
    let mut members = Vec::new();
    for (at, keyword) in tokens.iter().enumerate() {
        let (before, from) = tokens.split_at(at);
        // After other tokens, `impl` begins the type of an argument or of a result.
        let begins_item = matches!(
            before.last(),
            None | Some(&("}" | ";" | "]" | "{" | "unsafe"))
        );
        let end = from.iter().position(|token| matches!(*token, "{" | ";"));
        let (header, block) = from.split_at(end.unwrap_or(from.len()));
        let (name, is_struct) = match *keyword {
            "impl" if begins_item => (implementing_type(header), false),
            "trait" => (header.get(1).copied(), false),
            "struct" => (header.get(1).copied(), true),
            _ => continue,
        };
        let Some(name) = name else { continue };
        let mut depth = 0_usize;
        for (index, token) in block.iter().enumerate() {
            match (*token, block.get(index + 1), block.get(index + 2)) {
                ("{" | "(" | "[", ..) => depth += 1,
                ("}" | ")" | "]", ..) => depth = depth.saturating_sub(1),
                ("fn", Some(method), _) if depth == 1 => members.push((name, *method)),
                (field, Some(&":"), next) if is_struct && depth == 1 && next != Some(&":") => {
                    members.push((name, field));
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
    members
}

/// Returns the name of the type that the header of an `impl` block names: `B` in
/// `impl<T> A for crate::b::B<T>`.
fn implementing_type<'a>(header: &[&'a str]) -> Option<&'a str> {
    let mut name = None;
    let mut depth = 0_usize;
    let mut previous = "";
    for token in header.iter().copied().skip(1) {
        match token {
            "where" => break,
            "<" => depth += 1,
            // The `>` of `->` closes nothing.
            ">" if previous != "-" => depth = depth.saturating_sub(1),
            "for" if depth == 0 => name = None,
            _ if depth == 0 && token.starts_with(char::is_alphabetic) => name = Some(token),
            _ => {}
        }
        previous = token;
    }
    name
}

/// Returns the names of types that are visible outside of their module. A name that is a macro's
/// variable is left out.
pub(super) fn public_types(tokens: &[String]) -> Vec<&str> {
    let names = public_items(tokens).filter_map(|item| match *item {
        ["unsafe", "trait", name, ..]
        | ["struct" | "enum" | "union" | "trait" | "type", name, ..] => Some(name),
        _ => None,
    });
    names.filter(|name| *name != "$").collect()
}

/// Returns the `host_` crates of which an item is re-exported.
pub(super) fn re_exports(tokens: &[String]) -> Vec<&str> {
    let names = public_items(tokens).filter_map(|item| match *item {
        ["use", ":", ":", name] | ["use", name, ..] | ["extern", "crate", name, ..] => Some(name),
        _ => None,
    });
    names.filter(|name| name.starts_with("host_")).collect()
}

/// Returns the first four tokens behind each `pub` or `pub(…)`.
fn public_items(tokens: &[String]) -> impl Iterator<Item = Vec<&str>> {
    let starts = tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| *token == "pub");
    starts.map(|(at, _)| {
        let mut after = tokens.iter().skip(at + 1).map(String::as_str).peekable();
        if after.peek() == Some(&"(") {
            let _restriction = after.by_ref().find(|token| *token == ")");
        }
        after.take(4).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imported(code: &str) -> Vec<String> {
        let module = ["booking".to_owned(), "steps".to_owned()];
        let paths = imports(&tokens(code).unwrap(), &module);
        paths.iter().map(|path| path.join("::")).collect()
    }

    #[test]
    fn comments_literals_and_test_modules_are_no_code() {
        let code = "a /* b /* c */ d */ e // f\n r#\"j \" k\"# '\"' \n#[cfg(test)]\nmod tests { fn b() { c(\"}\") } }\nd";
        let mut tokens = tokens(code).unwrap();
        tokens.retain(|token| !token.is_empty());
        assert_eq!(tokens, ["a", "e", "d"]);
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
        let code = "pub struct A<T>(T);\n    pub(crate) enum B {}\npub(in crate::x) trait C: D {}\n\
                    struct E;\npub fn f() {}\npub type G = u8;\npub(super) unsafe trait H {}\n\
                    pub struct $name;";
        assert_eq!(
            public_types(&tokens(code).unwrap()),
            ["A", "B", "C", "G", "H"]
        );
    }

    #[test]
    fn re_exports_of_host_crates_are_found() {
        let code = "pub use host_domain::A;\nuse host_domain::B;\npub(crate) use ::host_storage::C;\n\
                    pub use crate::host_name;\npub extern crate host_runtime;";
        let crates = ["host_domain", "host_storage", "host_runtime"];
        assert_eq!(re_exports(&tokens(code).unwrap()), crates);
    }
}
