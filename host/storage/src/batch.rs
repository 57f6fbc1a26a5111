//! PostgreSQL: steps of a write as one statement, because what costs is the way
//! to the server and back.
//!
//! The parts of such a statement do not see what the others do, and are carried out in
//! any order. So only steps are put together that cannot tell: none changes a table
//! that one before it changed. A new row may join all the same, because the unique
//! indexes of its table see everything: where one that is there already fails the write,
//! and where it is left alone, beside other new rows. So may the second of two steps that
//! never change the same row. Where a part then fails, it may be because of the others,
//! so that the steps are to be carried out one by one.
//!
//! Such a statement fails as a whole where a step does not change what it is expected
//! to: mostly it is all of the write, and then needs no transaction around it.

use crate::dialect::Dialect;
use crate::write::{Expects, Step};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// The most steps of a statement, so that texts stay short enough to be kept prepared.
const STEPS_MAX: usize = 16;

/// Steps in runs that may be put together, in their order.
pub(crate) fn batches(steps: &[Step]) -> impl Iterator<Item = &[Step]> {
    let mut tables = Vec::with_capacity(STEPS_MAX);
    steps.chunk_by(move |before, step| {
        let (before, step) = (Change::of(before), Change::of(step));
        tables.extend(before.map(|change| (change.table.to_owned(), change.kind)));
        let joins = before.is_some()
            && tables.len() < STEPS_MAX
            && step.is_some_and(|change| change.joins(&tables));
        if !joins {
            tables.clear();
        }
        joins
    })
}

/// The texts that runs of steps were put together to. There are as many as ways to
/// write, a few dozen; making one anew each time is a tenth of what a write costs here.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    of: RwLock<HashMap<Vec<Shape<'static>>, Arc<str>>>,
}

/// All of a step that the text depends on.
type Shape<'a> = (Cow<'a, str>, Expects);

/// More are not kept: something makes texts without end then.
const TEXTS_MAX: usize = 256;

impl Texts {
    /// One statement of several steps, with their arguments one after the other. Its only
    /// row has `changed`: how many rows the last of them changed. Fails where a step does
    /// not change what is expected of it.
    pub(crate) fn joined(&self, batch: &[Step]) -> Arc<str> {
        let shapes: Vec<Shape<'_>> = batch.iter().map(shape).collect();
        {
            let kept = self.of.read().unwrap_or_else(PoisonError::into_inner);
            let kept: &HashMap<Vec<Shape<'_>>, Arc<str>> = &kept;
            if let Some(text) = kept.get(&shapes) {
                return Arc::clone(text);
            }
        }
        let text: Arc<str> = joined(batch).into();
        let shapes = shapes.into_iter();
        let shapes = shapes.map(|(sql, expects)| (Cow::Owned(sql.into_owned()), expects));
        let mut kept = self.of.write().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < TEXTS_MAX {
            kept.insert(shapes.collect(), Arc::clone(&text));
        }
        text
    }
}

fn shape(step: &Step) -> Shape<'_> {
    (Cow::Borrowed(&step.statement.sql), step.expects)
}

fn joined(batch: &[Step]) -> String {
    let mut parts = Vec::<String>::with_capacity(batch.len());
    // Whether there is a row is cheaper to ask than how many there are, which each
    // time costs as much as what many of the steps do.
    let mut expected = Vec::with_capacity(batch.len());
    let is_there = |part: usize| format!("EXISTS (SELECT FROM step_{part})");
    let mut changed = "0".to_owned();
    let mut args = 0;
    for (number, step) in batch.iter().enumerate() {
        let sql = Dialect::Postgres.render(&step.statement);
        let sql = renumbered(&sql, args);
        args += step.statement.args.len();
        if let Some((into, row)) = new_row(step, &sql) {
            match parts.iter_mut().find(|part| part.starts_with(into)) {
                Some(part) => part.extend([", ", row]),
                None => parts.push(format!("{into} VALUES {row}")),
            }
            "1".clone_into(&mut changed);
            continue;
        }
        let part = parts.len();
        let next = batch.get(number + 1).map(|next| next.expects);
        let returning = match (step.expects, next) {
            (Expects::Anything, Some(Expects::Anything | Expects::One(_))) => "",
            (Expects::Anything, None | Some(Expects::OneOfTwo(_)))
            | (Expects::One(_) | Expects::OneOfTwo(_), _) => " RETURNING 1",
        };
        parts.push(format!("{sql}{returning}"));
        changed = match step.expects {
            Expects::One(_) => "1".to_owned(),
            Expects::Anything | Expects::OneOfTwo(_) => {
                format!("(SELECT COUNT(*) FROM step_{part})")
            }
        };
        match step.expects {
            Expects::Anything => {}
            Expects::One(_) => expected.push(is_there(part)),
            Expects::OneOfTwo(_) => {
                let before = part.saturating_sub(1);
                expected.push(format!("{} <> {}", is_there(before), is_there(part)));
            }
        }
    }
    let parts = parts.iter().enumerate();
    let parts: Vec<_> = parts
        .map(|(number, sql)| format!("step_{number} AS ({sql})"))
        .collect();
    // Nothing but a failure undoes a statement: such a text is no number. It is made
    // when it is reached, or the planner would fail on it.
    let changed = match expected.as_slice() {
        [] => changed,
        _ => format!(
            "CASE WHEN {} THEN {changed} \
             ELSE CAST('not the rows that are expected, at ' || clock_timestamp() AS int) END",
            expected.join(" AND ")
        ),
    };
    format!(
        "WITH {} SELECT CAST({changed} AS BIGINT) AS changed",
        parts.join(", ")
    )
}

/// Of a step that adds one row, or else fails: where it is added to, and the row. Without
/// leaving alone what is there, which costs a look before each, it fails by itself; and
/// rows of one table are one part.
fn new_row<'a>(step: &Step, sql: &'a str) -> Option<(&'a str, &'a str)> {
    if !matches!(step.expects, Expects::One(_)) {
        return None;
    }
    let insert = sql.strip_suffix(LEAVING_ALONE)?;
    let (into, row) = insert.split_once(" VALUES ")?;
    // The columns are all that is before it: the row comes from nowhere else.
    (into.find(')') == into.len().checked_sub(1)).then_some((into, row))
}

/// How a step ends that adds only what is not there.
const LEAVING_ALONE: &str = " ON CONFLICT DO NOTHING";

/// What a step changes.
#[derive(Clone, Copy)]
struct Change<'a> {
    table: &'a str,
    sql: &'a str,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A row that must not be there.
    NewRow,
    /// Rows that may be there, and are left alone then.
    NewRows,
    /// Other rows of its table than the step before it changes.
    Beside,
    Other,
}

impl<'a> Change<'a> {
    /// None of a step that must stay alone.
    fn of(step: &'a Step) -> Option<Self> {
        if step.returns {
            return None;
        }
        let sql = &*step.statement.sql;
        let mut words = sql.split_ascii_whitespace();
        let verb = words.next()?;
        let table = match verb {
            "UPDATE" => words.next(),
            "INSERT" | "DELETE" => words.nth(1),
            _ => None,
        }?;
        let changes_nothing_there = sql.ends_with(LEAVING_ALONE);
        let kind = match step.expects {
            Expects::OneOfTwo(_) => Kind::Beside,
            Expects::One(_) if changes_nothing_there => Kind::NewRow,
            Expects::Anything if changes_nothing_there => Kind::NewRows,
            Expects::One(_) | Expects::Anything => Kind::Other,
        };
        Some(Self { table, sql, kind })
    }

    /// Whether it may stand with steps that change these tables. A table that is
    /// named for another reason only costs a round trip.
    fn joins(self, tables: &[(String, Kind)]) -> bool {
        !tables.iter().any(|(table, kind)| {
            let cannot_tell = match self.kind {
                Kind::NewRow | Kind::Beside => true,
                Kind::NewRows => matches!(kind, Kind::NewRow | Kind::NewRows),
                Kind::Other => false,
            };
            self.sql.contains(table) && !(table == self.table && cannot_tell)
        })
    }
}

/// The text with `$1` counted on from so many arguments before it.
fn renumbered(sql: &str, before: usize) -> Cow<'_, str> {
    if before == 0 {
        return Cow::Borrowed(sql);
    }
    let mut pieces = sql.split('$');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let digits = piece
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(piece.len());
        let (number, rest) = piece.split_at(digits);
        let number = number.parse::<usize>().unwrap_or_default() + before;
        text.push_str(&format!("${number}{rest}"));
    }
    Cow::Owned(text)
}
