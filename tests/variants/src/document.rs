//! A JSON document as it is written. Unlike [`Value`] it can repeat a member, and its scalars can be
//! numbers and texts that few parsers accept.

use serde_json::Value;

/// A value of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// A text, a number, `true`, `false` or `null`, or a whole document, as it is written.
    Written(String),
    /// A list.
    List(Vec<Node>),
    /// An object with its members in their order.
    Object(Vec<(String, Node)>),
}

/// A change of one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    /// Removes the member or the item.
    Remove,
    /// Writes this JSON in its place.
    Replace(&'static str),
    /// Writes the member once more, before itself.
    RepeatBefore(Repeated),
    /// Writes the member once more, after itself.
    RepeatAfter(Repeated),
}

/// The value of a repeated member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeated {
    Same,
    Other(&'static str),
}

impl Node {
    /// Parses a document.
    ///
    /// # Panics
    /// Panics if the text is not JSON.
    pub fn parse(text: &str) -> Self {
        let value: Value =
            serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"));
        Self::from(value)
    }

    /// Returns the value under a JSON pointer, without `null`. Of a repeated member this is the last one
    /// that is not `null`, because `null` stands for a member that is not sent.
    pub fn get(&self, pointer: &str) -> Option<&Self> {
        let Some(rest) = pointer.strip_prefix('/') else {
            return Some(self).filter(|node| !node.is_null());
        };
        let (name, rest) = split(rest);
        match self {
            Self::Object(members) => {
                let named = members.iter().rev().filter(|(member, _)| member == name);
                named.map(|(_, node)| node).find_map(|node| node.get(rest))
            }
            Self::List(items) => items.get(name.parse::<usize>().ok()?)?.get(rest),
            Self::Written(_) => None,
        }
    }

    /// Returns the text of a scalar, without quotes.
    pub fn scalar(&self) -> Option<&str> {
        match self {
            Self::Written(text) => Some(text.trim_matches('"')),
            Self::List(_) | Self::Object(_) => None,
        }
    }

    /// Returns whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Written(text) if text == "null")
    }

    /// Returns whether this is a text, which may be empty.
    pub fn is_text(&self) -> bool {
        matches!(self, Self::Written(text) if text.starts_with('"'))
    }

    /// Returns JSON pointers to all values, the document itself first.
    pub fn pointers(&self) -> Vec<String> {
        let mut pointers = Vec::new();
        self.collect_pointers(String::new(), &mut pointers);
        pointers
    }

    fn collect_pointers(&self, pointer: String, pointers: &mut Vec<String>) {
        match self {
            Self::Object(members) => {
                pointers.push(pointer.clone());
                for (name, node) in members {
                    node.collect_pointers(format!("{pointer}/{name}"), pointers);
                }
            }
            Self::List(items) => {
                pointers.push(pointer.clone());
                for (index, node) in items.iter().enumerate() {
                    node.collect_pointers(format!("{pointer}/{index}"), pointers);
                }
            }
            Self::Written(_) => pointers.push(pointer),
        }
    }

    /// Returns the document with one value changed, or `None` if the change does not apply to it: only
    /// members of objects can be repeated, and the document itself cannot be removed.
    pub fn edited(&self, pointer: &str, edit: Edit) -> Option<Self> {
        let mut changed = self.clone();
        changed.edit(pointer, edit).then_some(changed)
    }

    fn edit(&mut self, pointer: &str, edit: Edit) -> bool {
        let Some(path) = pointer.strip_prefix('/') else {
            let Edit::Replace(text) = edit else {
                return false;
            };
            *self = Self::Written(text.to_owned());
            return true;
        };
        let (name, rest) = split(path);
        match self {
            Self::Object(members) => {
                let Some(at) = members.iter().position(|(member, _)| member == name) else {
                    return false;
                };
                match (edit, rest.is_empty()) {
                    (Edit::Remove, true) => drop(members.remove(at)),
                    (Edit::RepeatBefore(with), true) => {
                        members.insert(at, repeated(&members[at], with));
                    }
                    (Edit::RepeatAfter(with), true) => {
                        members.insert(at + 1, repeated(&members[at], with));
                    }
                    _ => return members[at].1.edit(rest, edit),
                }
                true
            }
            Self::List(items) => {
                let at = name.parse().ok().filter(|at| *at < items.len());
                let Some(at) = at else { return false };
                match (edit, rest.is_empty()) {
                    (Edit::Remove, true) => drop(items.remove(at)),
                    (Edit::RepeatBefore(_) | Edit::RepeatAfter(_), true) => return false,
                    _ => return items[at].edit(rest, edit),
                }
                true
            }
            Self::Written(_) => false,
        }
    }

    /// Returns the document as JSON.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) {
        match self {
            Self::Written(written) => text.push_str(written),
            Self::List(items) => {
                text.push('[');
                for (index, item) in items.iter().enumerate() {
                    text.push_str(if index == 0 { "" } else { "," });
                    item.write(text);
                }
                text.push(']');
            }
            Self::Object(members) => {
                text.push('{');
                for (index, (name, node)) in members.iter().enumerate() {
                    text.push_str(if index == 0 { "\"" } else { ",\"" });
                    text.push_str(name);
                    text.push_str("\":");
                    node.write(text);
                }
                text.push('}');
            }
        }
    }
}

impl From<Value> for Node {
    fn from(value: Value) -> Self {
        match value {
            Value::Array(items) => Self::List(items.into_iter().map(Self::from).collect()),
            Value::Object(members) => Self::Object(
                members
                    .into_iter()
                    .map(|(name, member)| (name, Self::from(member)))
                    .collect(),
            ),
            scalar => Self::Written(scalar.to_string()),
        }
    }
}

/// Splits the path of a pointer into its first name and the pointer that remains.
fn split(path: &str) -> (&str, &str) {
    path.split_at(path.find('/').unwrap_or(path.len()))
}

fn repeated(member: &(String, Node), with: Repeated) -> (String, Node) {
    let (name, node) = member.clone();
    match with {
        Repeated::Same => (name, node),
        Repeated::Other(text) => (name, Node::Written(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = r#"{"a":[{"b":"x"},2],"c":null}"#;

    #[test]
    fn edit_changes_one_value() {
        for (pointer, edit, expected) in [
            ("/a/0/b", Edit::Remove, r#"{"a":[{},2],"c":null}"#),
            ("/a/0", Edit::Remove, r#"{"a":[2],"c":null}"#),
            (
                "/a/1",
                Edit::Replace("1e999"),
                r#"{"a":[{"b":"x"},1e999],"c":null}"#,
            ),
            (
                "/a/0/b",
                Edit::RepeatBefore(Repeated::Other("7")),
                r#"{"a":[{"b":7,"b":"x"},2],"c":null}"#,
            ),
            (
                "/c",
                Edit::RepeatAfter(Repeated::Same),
                r#"{"a":[{"b":"x"},2],"c":null,"c":null}"#,
            ),
            ("", Edit::Replace("[]"), "[]"),
        ] {
            let changed = Node::parse(DOCUMENT).edited(pointer, edit);
            assert_eq!(changed.map(|node| node.text()).as_deref(), Some(expected));
        }
        let document = Node::parse(DOCUMENT);
        for (pointer, edit) in [
            ("", Edit::Remove),
            ("/a/1", Edit::RepeatAfter(Repeated::Same)),
        ] {
            assert_eq!(document.edited(pointer, edit), None, "{pointer}");
        }
    }

    #[test]
    fn repeated_member_has_its_last_value_that_is_not_null() {
        for (with, expected) in [("7", "7"), ("null", "x")] {
            let edit = Edit::RepeatAfter(Repeated::Other(with));
            let document = Node::parse(DOCUMENT).edited("/a/0/b", edit).unwrap();
            let found = document.get("/a/0/b").and_then(Node::scalar);
            assert_eq!(found, Some(expected));
        }
        assert_eq!(Node::parse(DOCUMENT).get("/c"), None);
        assert_eq!(Node::parse(DOCUMENT).pointers().len(), 6);
    }
}
