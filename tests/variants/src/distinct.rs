//! Items of a list that differ in one value and are otherwise those of an ordinary document. An adapter
//! accepts them, so that it compares, sorts or collects them.

use crate::document::{Edit, Node};

/// The mark in whose place the items differ.
const MARK: &str = "\"@distinct\"";

/// An item with a value that is different in each copy.
pub(crate) struct DistinctItem {
    before: String,
    value: Value,
    after: String,
}

enum Value {
    Number,
    /// A text with a number after it.
    Text(String),
    /// The text after a date.
    Date(String),
}

impl DistinctItem {
    /// Creates a text.
    pub(crate) const fn text() -> Self {
        Self {
            before: String::new(),
            value: Value::Text(String::new()),
            after: String::new(),
        }
    }

    /// Returns a list of about this many bytes.
    pub(crate) fn list(&self, bytes: usize) -> String {
        let Self { before, after, .. } = self;
        let mut list = String::from("[");
        for number in 0.. {
            if list.len() >= bytes {
                break;
            }
            list.push_str(if number == 0 { "" } else { "," });
            list.push_str(before);
            list.push_str(&self.value.written(number));
            list.push_str(after);
        }
        list.push(']');
        list
    }
}

impl Value {
    /// Returns the value of a scalar, or `None` if only few values of its kind differ.
    fn of_scalar(written: &str) -> Option<Self> {
        if let Some(text) = written.strip_prefix('"') {
            let text = text.strip_suffix('"')?;
            let date = text.get(..10).filter(|date| is_date(date));
            return Some(match (date, text.get(10..)) {
                (Some(_), Some(rest)) => Self::Date(rest.to_owned()),
                _ => Self::Text(text.to_owned()),
            });
        }
        let is_number = written.starts_with(|first: char| first.is_ascii_digit());
        is_number.then_some(Self::Number)
    }

    fn written(&self, number: u32) -> String {
        match self {
            Self::Number => number.to_string(),
            Self::Text(text) => format!("\"{text}{number}\""),
            Self::Date(rest) => {
                let (year, month, day) = (2000 + number / 336, number / 28 % 12, number % 28);
                format!("\"{year:04}-{:02}-{:02}{rest}\"", month + 1, day + 1)
            }
        }
    }
}

fn is_date(text: &str) -> bool {
    let mut form = text.bytes().zip("0000-00-00".bytes());
    form.all(|(byte, form)| match form {
        b'0' => byte.is_ascii_digit(),
        form => byte == form,
    })
}

/// Returns an item for each scalar that can differ, with the scalar's pointer in the item. Those in a
/// list in the item are left out, because that list grows itself.
pub(crate) fn items(item: &Node) -> Vec<(String, DistinctItem)> {
    let differing = |pointer: String| {
        let Some(Node::Written(written)) = item.get(&pointer) else {
            return None;
        };
        let value = Value::of_scalar(written)?;
        let text = item.edited(&pointer, Edit::Replace(MARK))?.text();
        let (before, after) = text.split_once(MARK)?;
        let (before, after) = (before.to_owned(), after.to_owned());
        let distinct = DistinctItem {
            before,
            value,
            after,
        };
        Some((pointer, distinct))
    };
    let is_in_list = |pointer: &String| {
        let mut ends = pointer.match_indices('/').map(|(end, _)| end);
        ends.any(|end| matches!(item.get(&pointer[..end]), Some(Node::List(_))))
    };
    let pointers = item.pointers().into_iter();
    let alone = pointers.filter(|pointer| !is_in_list(pointer));
    alone.filter_map(differing).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_differ_in_one_value() {
        let item = Node::parse(r#"{"b":true,"id":"a","l":[1],"n":5,"on":"2027-05-01T10:00"}"#);
        let lists: Vec<(String, String)> = items(&item)
            .into_iter()
            .map(|(pointer, item)| (pointer, item.list(70)))
            .collect();
        let written = |(id, number, date): (&str, u8, &str)| {
            format!(r#"{{"b":true,"id":"{id}","l":[1],"n":{number},"on":"{date}T10:00"}}"#)
        };
        let first_day = "2000-01-01";
        let day = "2027-05-01";
        let expected = [
            ("/id", ("a0", 5, day), ("a1", 5, day)),
            ("/n", ("a", 0, day), ("a", 1, day)),
            ("/on", ("a", 5, first_day), ("a", 5, "2000-01-02")),
        ];
        let expected = expected.map(|(pointer, first, second)| {
            let list = format!("[{},{}]", written(first), written(second));
            (pointer.to_owned(), list)
        });
        assert_eq!(lists, expected);
        assert_eq!(DistinctItem::text().list(10), r#"["0","1","2"]"#);
    }
}
