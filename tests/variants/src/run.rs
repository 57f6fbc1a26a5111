//! The run of an adapter's variants.

use std::collections::HashMap;
use std::time::Duration;

use stopover_sdk::testing::MockGateway;

use crate::call::{CallResult, Exchange, call, ordinary_exchange, ordinary_exchanges};
use crate::cost::Cost;
use crate::document::{Edit, Node};
use crate::growth;
use crate::operation::{Answer, AnswerKind, Operation, Step, StepRole};
use crate::report::Report;
use crate::rule::{self, ReceivedResponse};
use crate::settings::Settings;
use crate::variant::{self, BuiltResponse, Variant};

/// Greatest ratio of a call's time to that of the ordinary call.
const TIME_RATIO_MAX: u32 = 20;
/// Time that a call may take in addition, because short calls vary by more than a ratio.
const TIME_SLACK: Duration = Duration::from_millis(30);
/// Memory that a call may hold for each byte of its responses.
const BYTES_RATIO_MAX: usize = 64;
/// Memory that a call may hold in addition.
const BYTES_SLACK: usize = 1 << 20;

/// Checks the variants of all operations of an adapter. `gateway` creates a mock gateway without
/// responses.
///
/// # Panics
/// Panics with a report if an answer is not among those that its response allows.
pub fn check(adapter: &str, operations: &[Operation], gateway: fn() -> MockGateway) {
    let settings = Settings::read();
    let mut report = Report::new(adapter);
    let mut count = 0;
    for operation in operations {
        let mut run = Run {
            operation,
            gateway,
            without: HashMap::new(),
            ordinary: call(operation, gateway(), ordinary_exchanges(operation)),
        };
        run.check_ordinary(&mut report);
        let variants = variant::of_operation(operations, operation);
        for variant in &variants {
            let name = variant.name(operations, operation);
            let step = &operation.steps[variant.step];
            let is_selected = match &settings.case {
                Some(case) => format!("{adapter} {name}").contains(case.as_str()),
                None => variant.is_decisive(step) || settings.has(&name, variants.len()),
            };
            if is_selected && let Some(built) = variant.build(operations, step) {
                count += 1;
                let group = variant.group(operations, operation);
                run.check_variant(variant, built, (&group, &name), &mut report);
            }
        }
        growth::check(operation, gateway, &settings, adapter, &mut report);
    }
    eprintln!("{adapter}: {count} variants");
    report.finish(&settings);
}

/// The items of the ordinary answer that remain without an item or a value.
struct RemainingItems {
    items: Vec<String>,
    is_item: bool,
}

impl RemainingItems {
    /// Returns an item that an answer lacks. Items may show another value that is in no list, so that
    /// only their number counts then.
    fn missing_from(&self, answer: &Answer) -> Option<&String> {
        if !self.is_item {
            return self.items.get(answer.items.len());
        }
        let mut items = self.items.iter();
        items.find(|item| !answer.items.contains(item))
    }
}

/// The run of an operation.
struct Run<'a> {
    operation: &'a Operation,
    gateway: fn() -> MockGateway,
    ordinary: CallResult,
    /// Answers without an item or a value of a response, by its step and pointer.
    without: HashMap<(usize, String), Option<Answer>>,
}

impl Run<'_> {
    fn check_ordinary(&self, report: &mut Report<'_>) {
        let is_done = matches!(&self.ordinary, Ok((answer, _)) if answer.kind == AnswerKind::Done);
        if !is_done {
            let name = self.operation.name;
            report.add(
                name,
                name,
                &format!("the ordinary call ends as {:?}", self.ordinary),
            );
        }
    }

    fn call_with(&self, step: usize, exchange: Exchange) -> CallResult {
        let mut exchanges = ordinary_exchanges(self.operation);
        exchanges[step] = exchange;
        call(self.operation, (self.gateway)(), exchanges)
    }

    fn check_variant(
        &mut self,
        variant: &Variant,
        built: BuiltResponse,
        (group, name): (&str, &str),
        report: &mut Report<'_>,
    ) {
        let Ok((ordinary, usual)) = self.ordinary.clone() else {
            return;
        };
        let (answer, cost) = match self.call_with(variant.step, built.response.clone()) {
            Ok(called) => called,
            Err(panic) => return report.add(&format!("{group} panic"), name, &panic),
        };
        let step = &self.operation.steps[variant.step];
        let mut allowed = match built.received() {
            Some(received) => rule::allowed(step, &received),
            None => self.allowed_after_failure(variant),
        };
        let mut remaining = None;
        if let (Some(pointer), Some(received)) = (variant.pointer(), built.received()) {
            remaining = self.remaining_without(variant.step, pointer, &ordinary);
            self.allow_item(
                variant,
                pointer,
                &received,
                remaining.as_ref(),
                &mut allowed,
            );
        }
        if !allowed.contains(&answer.kind) {
            return report.add_answer(group, name, &allowed, &answer);
        }
        if answer.kind == AnswerKind::Done && allowed == [AnswerKind::Done] {
            let is_same = answer.identity == ordinary.identity || step.role == StepRole::FollowUp;
            if !is_same {
                let text = format!("the answer is about {}", answer.identity);
                return report.add(&format!("{group} identity"), name, &text);
            }
        }
        let is_proven = |received: ReceivedResponse<'_>| rule::is_proven(step, &received);
        if let (AnswerKind::Done, Some(remaining)) = (answer.kind, remaining)
            && built.received().is_some_and(is_proven)
            && let Some(missing) = remaining.missing_from(&answer)
        {
            let text = format!("it costs more than its absence: {missing}");
            return report.add(&format!("{group} isolation"), name, &text);
        }
        self.check_cost(variant, &built, (usual, cost), (group, name), report);
    }

    /// Returns the kinds of answers to an exchange without a response.
    fn allowed_after_failure(&self, variant: &Variant) -> Vec<AnswerKind> {
        let step = &self.operation.steps[variant.step];
        let before = self.operation.steps.iter().take(variant.step);
        let is_first_change = before.into_iter().all(|step| step.role != StepRole::Change);
        match (step.role, variant.may_have_arrived()) {
            (StepRole::Change, Some(false)) if is_first_change => vec![AnswerKind::NotSent],
            (StepRole::Change, Some(false)) => vec![AnswerKind::NotSent, AnswerKind::Unknown],
            (_, _) => rule::unusable(step).to_vec(),
        }
    }

    /// Allows a read without the changed item, if nothing else remains.
    fn allow_item(
        &self,
        variant: &Variant,
        pointer: &str,
        received: &ReceivedResponse<'_>,
        remaining: Option<&RemainingItems>,
        allowed: &mut Vec<AnswerKind>,
    ) {
        let step = &self.operation.steps[variant.step];
        let Some(item) = item_pointer(step, pointer) else {
            return;
        };
        let is_required = step
            .requirements
            .iter()
            .any(|(requirement, _)| rule::is_within(requirement, &item));
        let is_alone = remaining.is_none_or(|remaining| remaining.items.is_empty());
        if step.role == StepRole::Read
            && is_alone
            && !is_required
            && allowed.contains(&AnswerKind::Done)
        {
            allowed.push(AnswerKind::Failed);
            // An item that is no object is unreadable, which is not the same as no item.
            let written = received.document.and_then(|document| document.get(&item));
            if matches!(written, Some(Node::Object(_))) || variant.removes(&item) {
                allowed.push(AnswerKind::Absent);
            }
        }
    }

    /// Returns what is left of the ordinary answer without the changed item, or without the changed value
    /// if it is in no list. Returns `None` if there is no such answer.
    fn remaining_without(
        &mut self,
        step: usize,
        pointer: &str,
        ordinary: &Answer,
    ) -> Option<RemainingItems> {
        let described = &self.operation.steps[step];
        // The item that an answer is about is not one of several.
        let is_required = |item: &String| {
            described
                .requirements
                .iter()
                .any(|(requirement, _)| rule::is_within(requirement, item))
        };
        let item = item_pointer(described, pointer).filter(|item| !is_required(item));
        let is_item = item.is_some();
        let unit = item.unwrap_or_else(|| pointer.to_owned());
        let removed = described.document.edited(&unit, Edit::Remove);
        let key = (step, unit);
        if !self.without.contains_key(&key) {
            let answer = removed.and_then(|document| {
                let mut exchange = ordinary_exchange(&self.operation.steps[step]);
                if let Ok(response) = &mut exchange {
                    response.body = document.text().into_bytes();
                }
                let (answer, _) = self.call_with(step, exchange).ok()?;
                (answer.kind == AnswerKind::Done).then_some(answer)
            });
            self.without.insert(key.clone(), answer);
        }
        let without = self.without.get(&key)?.as_ref()?;
        let items = ordinary.items.iter();
        let remaining = items.filter(|item| without.items.contains(item));
        Some(RemainingItems {
            items: remaining.cloned().collect(),
            is_item,
        })
    }

    fn check_cost(
        &self,
        variant: &Variant,
        built: &BuiltResponse,
        (usual, cost): (Cost, Cost),
        (group, name): (&str, &str),
        report: &mut Report<'_>,
    ) {
        let bytes = ordinary_exchanges(self.operation)
            .into_iter()
            .chain([built.response.clone()]);
        let bytes: usize = bytes.flatten().map(|response| response.body.len()).sum();
        if cost.bytes > bytes * BYTES_RATIO_MAX + BYTES_SLACK {
            let text = format!(
                "it holds {} bytes for {bytes} bytes of responses",
                cost.bytes
            );
            report.add(&format!("{group} memory"), name, &text);
        }
        let limit = usual.time * TIME_RATIO_MAX + TIME_SLACK;
        let again = || self.call_with(variant.step, built.response.clone());
        // One slow call may be an accident of the machine, three are not.
        let is_slow = cost.time > limit
            && [again(), again()]
                .iter()
                .flatten()
                .all(|(_, cost)| cost.time > limit);
        if is_slow {
            let text = format!("it takes {:?} instead of {:?}", cost.time, usual.time);
            report.add(&format!("{group} time"), name, &text);
        }
    }
}

/// Returns the pointer of the item around a value, in the innermost list whose items stand alone.
fn item_pointer(step: &Step, pointer: &str) -> Option<String> {
    let matching = step.lists.iter().filter_map(|list| {
        let depth = list.split('/').count();
        let mut parts = pointer.split('/');
        let prefix: Vec<&str> = parts.by_ref().take(depth).collect();
        let is_list = list
            .split('/')
            .zip(&prefix)
            .all(|(part, name)| ["*", *name].contains(&part));
        let item = parts.next().filter(|_| is_list && prefix.len() == depth)?;
        Some((depth, format!("{}/{item}", prefix.join("/"))))
    });
    let innermost = matching.max_by_key(|(depth, _)| *depth);
    innermost.map(|(_, item)| item)
}
