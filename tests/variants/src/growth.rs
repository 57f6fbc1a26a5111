//! Large odd documents. Their time and memory must grow with their size and no faster.

use std::time::Duration;

use stopover_sdk::http::Response;
use stopover_sdk::testing::MockGateway;

use crate::cost::Cost;
use crate::document::{Edit, Node};
use crate::operation::{Operation, Step};
use crate::report::Report;
use crate::run::{call, ordinary_exchanges};
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
        let variants = places.len() * GROWTHS.len();
        for place in &places {
            for (growth, start, part, end) in GROWTHS {
                let name = format!("{}#{index} {place} large {growth}", operation.name);
                let is_selected = match &settings.case {
                    // All large variants of an operation would take minutes.
                    Some(case) => {
                        case.contains("large") && format!("{adapter} {name}").contains(case)
                    }
                    None => settings.has_large(&name, variants),
                };
                let grown = |bytes| grow(step, place, (start, part, end), bytes);
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
                        report.add(&format!("{} large {growth}", operation.name), &name, &text);
                    }
                }
            }
        }
    }
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
fn grow(
    step: &Step,
    place: &str,
    (start, part, end): (&str, &str, &str),
    bytes: usize,
) -> Option<String> {
    let marked = step.document.edited(place, Edit::Replace(MARK))?;
    let value = [start, &part.repeat(bytes / part.len()), end].concat();
    Some(Node::text(&marked).replace(MARK, &value))
}
