//! Large odd documents. Their time and memory must grow with their size and no faster.

use std::collections::HashSet;
use std::iter;
use std::time::Duration;

use stopover_sdk::http::Response;
use stopover_sdk::testing::MockGateway;

use crate::call::{call, ordinary_exchanges};
use crate::cost::Cost;
use crate::distinct::{self, DistinctItem};
use crate::document::{Edit, Node};
use crate::operation::{Operation, Step};
use crate::report::Report;
use crate::settings::Settings;

/// Sizes of the two documents that are compared.
const SMALL_BYTES: usize = 64 << 10;
const LARGE_BYTES: usize = 1 << 20;
/// Greatest ratio of the two times: twice the ratio of linear work.
const TIME_RATIO_MAX: u32 = 32;
/// Time below which the ratio is not checked.
const TIME_SLACK: Duration = Duration::from_millis(50);
/// Twice the memory limit of a plugin's call, because pointers are twice as large here as in a component.
const BYTES_MAX: usize = 128 << 20;

/// The mark in whose place a document grows.
const MARK: &str = "\"@grown\"";

/// What grows, by name: the text before, the repeated text, and the text after it.
const GROWTHS: [(&str, &str, &str, &str); 12] = [
    ("list of numbers", "[7", ",7", "]"),
    ("list of null", "[null", ",null", "]"),
    ("list of objects", "[{}", ",{\"id\":1}", "]"),
    ("list of lists", "[[]", ",[[]]", "]"),
    ("nested objects", "", "{\"data\":", ""),
    ("nested lists", "", "[", ""),
    ("object of members", "{\"a\":1", ",\"b\":\"2\"", "}"),
    ("text of &", "\"", "&", "\""),
    ("text of <", "\"", "<a ", "\""),
    ("text of escapes", "\"", "\\u0026amp;", "\""),
    ("text of spaces", "\"", " \\n", "\""),
    ("digits", "1", "0", ".5"),
];

/// A place of a document, and the value that grows there.
struct Growth<'a> {
    /// JSON pointer of the place.
    place: &'a str,
    name: String,
    value: Grown<'a>,
}

/// A value of any size.
enum Grown<'a> {
    /// The text before, the repeated text, and the text after it.
    Repeated(&'a str, &'a str, &'a str),
    /// A list of items that differ.
    Distinct(DistinctItem),
}

/// Checks large variants of each response: all, or a sample.
pub(crate) fn check(
    operation: &Operation,
    gateway: fn() -> MockGateway,
    settings: &Settings,
    adapter: &str,
    report: &mut Report<'_>,
) {
    for (index, step) in operation.steps.iter().enumerate() {
        let places = step.document.pointers();
        let repeated = repeated_growths(&places);
        let distinct = distinct_growths(&step.document, &places);
        let numbers = (repeated.len(), distinct.len());
        for growth in repeated.iter().chain(&distinct) {
            let Growth { place, name, value } = growth;
            let full_name = format!("{}#{index} {place} large {name}", operation.name);
            let is_selected = match (&settings.case, value) {
                // All large variants of an operation would take minutes.
                (Some(case), _) => {
                    case.contains("large") && format!("{adapter} {full_name}").contains(case)
                }
                (None, Grown::Repeated(..)) => settings.has_large(&full_name, numbers.0),
                (None, Grown::Distinct(_)) => settings.has_distinct(&full_name, numbers.1),
            };
            let grown = |bytes| grow(step, growth, bytes);
            if is_selected
                && let (Some(small), Some(large)) = (grown(SMALL_BYTES), grown(LARGE_BYTES))
            {
                let cost = |body: &str| {
                    let mut exchanges = ordinary_exchanges(operation);
                    let status = step.success.first().copied().unwrap_or(200);
                    exchanges[index] = Ok(Response::new(status, body));
                    call(operation, gateway(), exchanges).map(|(_, cost)| cost)
                };
                if let Err(text) = compare(|| cost(&small), || cost(&large)) {
                    let group = format!("{} large {name}", operation.name);
                    report.add(&group, &full_name, &text);
                }
            }
        }
    }
}

/// Returns every growth by repetition in every place.
fn repeated_growths(places: &[String]) -> Vec<Growth<'_>> {
    let of_place = |place| {
        GROWTHS.map(|(name, start, part, end)| Growth {
            place,
            name: name.to_owned(),
            value: Grown::Repeated(start, part, end),
        })
    };
    places.iter().flat_map(|place| of_place(place)).collect()
}

/// Returns the growths of each list by items that differ. Of lists that differ only in positions, such as
/// the fees of two rooms, the first one that is not empty counts.
fn distinct_growths<'a>(document: &Node, places: &'a [String]) -> Vec<Growth<'a>> {
    let mut known = HashSet::new();
    let mut growths = Vec::new();
    for place in places {
        let Some(Node::List(items)) = document.get(place) else {
            continue;
        };
        let Some(first) = items.first() else { continue };
        let parts = place.split('/');
        let parts = parts.map(|part| part.parse::<usize>().map_or(part, |_| "*"));
        if !known.insert(parts.collect::<Vec<_>>()) {
            continue;
        }
        let texts = ("distinct texts".to_owned(), DistinctItem::text());
        let of_item = distinct::items(first).into_iter();
        let of_item = of_item.map(|(at, item)| (format!("distinct items by {at}"), item));
        growths.extend(iter::once(texts).chain(of_item).map(|(name, item)| Growth {
            place,
            name,
            value: Grown::Distinct(item),
        }));
    }
    growths
}

/// Compares the costs of two documents, of which the second is sixteen times as large.
fn compare(
    small: impl Fn() -> Result<Cost, String>,
    large: impl Fn() -> Result<Cost, String>,
) -> Result<(), String> {
    let mut problem = Ok(());
    // One slow call may be an accident of the machine, three are not.
    for _ in 0..3 {
        let (small, large) = (small()?, large()?);
        if large.bytes > BYTES_MAX {
            return Err(format!("it holds {} bytes", large.bytes));
        }
        if large.time <= small.time * TIME_RATIO_MAX + TIME_SLACK {
            return Ok(());
        }
        let (small, large) = (small.time, large.time);
        problem = Err(format!(
            "16 times the size take {large:?} instead of {small:?}"
        ));
    }
    problem
}

/// Returns the document with a large value in one place. A value that is repeated by nesting is not
/// closed, so that the document is no JSON.
fn grow(step: &Step, growth: &Growth<'_>, bytes: usize) -> Option<String> {
    let marked = step.document.edited(growth.place, Edit::Replace(MARK))?;
    let value = match &growth.value {
        Grown::Repeated(start, part, end) => {
            [*start, &part.repeat(bytes / part.len()), end].concat()
        }
        Grown::Distinct(item) => item.list(bytes),
    };
    Some(Node::text(&marked).replace(MARK, &value))
}
