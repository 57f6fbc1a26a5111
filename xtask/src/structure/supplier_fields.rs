//! The check that the document of a supplier names every field that its adapter reads.
//!
//! An adapter reads the fields of its `lenient_struct!`s. A document names the fields in the
//! first column of the tables below its heading "Fields".

use std::collections::BTreeSet;

use anyhow::{Result, anyhow};
use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

use super::{Finding, Rule, Tree, rules};

pub(super) fn undocumented(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (document, folders) in rules::SUPPLIER_DOCUMENTS {
        let text = tree.text(document).unwrap_or_default();
        let documented = documented_fields(&text);
        for source in &tree.files {
            if !folders.iter().any(|folder| source.starts_with(folder)) {
                continue;
            }
            let fields = tree.text(source).and_then(|text| read_fields(&text));
            let problems = match fields {
                Ok(fields) => fields
                    .iter()
                    .filter(|field| !documented.contains(field.as_str()))
                    .map(|field| format!("no table names `{field}` of {source}"))
                    .collect(),
                Err(error) => vec![format!("the fields of {source} cannot be read: {error}")],
            };
            findings.extend(problems.into_iter().map(|problem| Finding {
                rule: Rule::SupplierFields,
                place: document.to_owned(),
                problem,
            }));
        }
    }
    findings
}

/// Returns the words of code in the first column of the tables of fields.
fn documented_fields(document: &str) -> BTreeSet<&str> {
    let (_, tables) = document.split_once("\n## Fields").unwrap_or_default();
    let rows = tables.lines().filter_map(|line| line.strip_prefix('|'));
    let cells = rows.filter_map(|row| row.split('|').next());
    let code = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    code.flat_map(|code| {
        code.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
    })
    .collect()
}

/// Returns the names under which the structs of a source file read JSON.
fn read_fields(source: &str) -> Result<BTreeSet<String>> {
    // The error cannot be sent to another thread, as anyhow demands.
    let stream: TokenStream = source.parse().map_err(|error| anyhow!("{error}"))?;
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    let mut fields = BTreeSet::new();
    for window in tokens.windows(3) {
        let [TokenTree::Ident(name), _, TokenTree::Group(structs)] = window else {
            continue;
        };
        if name != "lenient_struct" {
            continue;
        }
        for tree in structs.stream() {
            match tree {
                TokenTree::Group(body) if body.delimiter() == Delimiter::Brace => {
                    fields.extend(struct_fields(body.stream()));
                }
                _ => {}
            }
        }
    }
    Ok(fields)
}

/// Returns the fields of a struct: `name` of `name: Type`, or `key` of `name: Type = "key"`.
fn struct_fields(body: TokenStream) -> Vec<String> {
    let tokens: Vec<TokenTree> = body.into_iter().collect();
    let mut fields: Vec<String> = Vec::new();
    for pair in tokens.windows(2) {
        match pair {
            // The first colon of a path such as `wire::Part` is joint.
            [TokenTree::Ident(name), TokenTree::Punct(colon)]
                if colon.as_char() == ':' && colon.spacing() == Spacing::Alone =>
            {
                fields.push(name.to_string());
            }
            [TokenTree::Punct(equals), TokenTree::Literal(key)] if equals.as_char() == '=' => {
                if let Some(field) = fields.last_mut() {
                    key.to_string().trim_matches('"').clone_into(field);
                }
            }
            _ => {}
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_under_their_json_names() {
        let source = r#"
            use stopover_sdk::lenient_struct;
            struct Other { ignored: u8 }
            lenient_struct! {
                /// A booking.
                #[derive(Debug)]
                pub(crate) struct Booking<'a, T> {
                    /// Its = "comment": not a field.
                    pub(crate) id: Essential<NonEmptyText> = "bookingId",
                    pub(crate) rooms: Part<wire::List<Room<'a>>>
                        = "bookedRooms",
                    status: Single<T>,
                }

                struct Room { name: Option<String> }
            }
        "#;
        let fields = read_fields(source).unwrap();
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        assert_eq!(fields, ["bookedRooms", "bookingId", "name", "status"]);
    }

    #[test]
    fn document_names_fields_in_the_first_column_below_its_heading() {
        let document = "# A\n| `early` | |\n## Fields of rates\nText with `text`.\n\
                        | Field | Appears as |\n|---|---|\n\
                        | `rooms[].name`, `price` `total` | `shown` | `remark` |\n";
        let fields = documented_fields(document);
        assert!(
            ["rooms", "name", "price", "total"]
                .iter()
                .all(|name| fields.contains(name))
        );
        assert!(
            ["early", "text", "shown", "remark"]
                .iter()
                .all(|name| !fields.contains(name))
        );
    }
}
