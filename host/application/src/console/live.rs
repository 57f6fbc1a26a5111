//! Lists that send new and changed rows to a person while the page is open.

use crate::account::session::{SessionActivity, SessionService};
use crate::account::viewer::Viewer;
use crate::console::deliveries::ConsoleDeliveries;
use crate::console::failure::ConsoleError;
use crate::console::list::ConsoleListRequest;
use crate::console::requests::ConsoleRequests;
use crate::error_chain::describe_error_chain;
use futures::{Stream, StreamExt, stream};
use host_domain::account::Permission;
use host_domain::console::webhook::ListedDelivery;
use host_domain::id::AccountId;
use host_domain::page::{Cursor, CursorPage};
use host_domain::request_log::{LoggedRequest, RequestLogFilter};
use host_domain::time::{Clock, Timestamp};
use host_domain::webhook::list::DeliveryScopeFilter;
use secrecy::SecretString;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Interval, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

/// Time between two reads. The session is checked each time.
const INTERVAL: Duration = Duration::from_secs(1);
/// Time after which a row is not read again, in milliseconds. Rows of other processes can come late,
/// and rows can change.
const WINDOW_MS: i64 = 60 * 1000;
/// Time before the last row that a person has seen, in milliseconds. Rows with an earlier time can
/// have come after it: another process wrote them, or their call ended in the same moment.
const OVERLAP_MS: i64 = 5 * 1000;
/// Maximum number of rows that are read at once. A page keeps as many.
const ROWS_MAX: usize = 200;
/// Maximum number of rows that are sent when a person comes back after an interruption.
const ROWS_MAX_AT_RESUME: usize = 1000;
/// Id in the position of a list that has no item yet.
const START_ID: &str = "start";
const STREAMS_PER_ACCOUNT_MAX: u32 = 8;
const STREAMS_MAX: u32 = 200;

/// A list that can be read again and again.
trait LiveSource: Send + Sync + 'static {
    type Item: Clone + PartialEq + Send + Sync;

    /// Returns a page of the items since a time, the latest first.
    fn page(
        &self,
        viewer: &Viewer,
        since: Timestamp,
        after: Option<Cursor>,
    ) -> impl Future<Output = Result<CursorPage<Self::Item>, ConsoleError>> + Send;

    /// Returns the position of an item. It never changes.
    fn cursor(item: &Self::Item) -> Cursor;

    /// Returns the time at which an item came or last changed.
    fn changed_at(item: &Self::Item) -> Timestamp;
}

/// The place from which a list goes on. Its text form is that of the cursor; for an event, a dot,
/// the number of earlier rows, a dot and the time of the read follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamPosition {
    /// The latest of the items that were sent.
    cursor: Cursor,
    /// `None` if the person has the item from a page.
    sent: Option<SentRows>,
}

/// The state in which a list was sent up to a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SentRows {
    /// Number of the items that were sent, in the [`OVERLAP_MS`] before the position.
    earlier: usize,
    /// Time of the read, which shows whether an item has changed since.
    read_at: Timestamp,
}

impl StreamPosition {
    /// Parses the text form. Returns `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '.');
        let (at, id) = (parts.next()?, parts.next()?);
        let sent = match parts.next() {
            None => None,
            Some(sent) => {
                let (earlier, read_at) = sent.split_once('.')?;
                Some(SentRows {
                    earlier: earlier.parse().ok()?,
                    read_at: Timestamp(read_at.parse().ok()?),
                })
            }
        };
        let cursor = Cursor::parse(&format!("{at}.{id}"))?;
        Some(Self { cursor, sent })
    }
}

impl fmt::Display for StreamPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.cursor)?;
        let Some(SentRows { earlier, read_at }) = self.sent else {
            return Ok(());
        };
        write!(f, ".{earlier}.{}", read_at.0)
    }
}

/// News of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LiveEvent<T> {
    /// The position from which the list is followed, before everything else.
    Start(StreamPosition),
    /// An item that is new, or that has changed since it was sent, with the position that the list
    /// has reached.
    Item(StreamPosition, T),
    /// More items came than are read at once, so the oldest ones are left out.
    Skipped,
    /// The session has ended, or shows other data because its mode or the person's roles changed.
    Ended,
}

/// A browser that has a list open, with the session of the person.
pub struct StreamClient {
    pub viewer: Arc<Viewer>,
    /// Token of the session.
    pub token: SecretString,
    /// The position that the person has seen, if there is one.
    pub last: Option<StreamPosition>,
}

/// The account or the process has too many open lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many lists are open")]
pub struct TooManyStreams;

/// Follows lists for people.
pub struct LiveLists {
    clock: Arc<dyn Clock>,
    sessions: Arc<SessionService>,
    requests: Arc<ConsoleRequests>,
    deliveries: Arc<ConsoleDeliveries>,
    shutdown: CancellationToken,
    open: Arc<OpenStreams>,
}

impl LiveLists {
    pub fn new(
        clock: Arc<dyn Clock>,
        sessions: Arc<SessionService>,
        requests: Arc<ConsoleRequests>,
        deliveries: Arc<ConsoleDeliveries>,
        shutdown: CancellationToken,
    ) -> Self {
        Self {
            clock,
            sessions,
            requests,
            deliveries,
            shutdown,
            open: Arc::default(),
        }
    }

    /// Follows the API calls that a filter selects until the session of the person ends or changes its
    /// mode, the person's roles open other organizations, or the gateway shuts down.
    ///
    /// # Errors
    /// [`TooManyStreams`].
    pub fn requests(
        &self,
        request: ConsoleListRequest<RequestLogFilter>,
        client: StreamClient,
    ) -> Result<impl Stream<Item = LiveEvent<LoggedRequest>> + Send + use<>, TooManyStreams> {
        let list = Arc::clone(&self.requests);
        self.follow(RequestSource { list, request }, client)
    }

    /// Follows the deliveries that a filter selects, as [`LiveLists::requests`] does with API calls.
    ///
    /// # Errors
    /// [`TooManyStreams`].
    pub fn deliveries(
        &self,
        request: ConsoleListRequest<DeliveryScopeFilter>,
        client: StreamClient,
    ) -> Result<impl Stream<Item = LiveEvent<ListedDelivery>> + Send + use<>, TooManyStreams> {
        let list = Arc::clone(&self.deliveries);
        self.follow(DeliverySource { list, request }, client)
    }

    fn follow<S: LiveSource>(
        &self,
        source: S,
        client: StreamClient,
    ) -> Result<impl Stream<Item = LiveEvent<S::Item>> + Send + use<S>, TooManyStreams> {
        let StreamClient {
            viewer,
            token,
            last,
        } = client;
        let slot = StreamSlot::take(&self.open, &viewer.account)?;
        let mut ticks = interval(INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let rows_max = last.as_ref().map_or(ROWS_MAX, |_| ROWS_MAX_AT_RESUME);
        let start = last.clone().unwrap_or_else(|| {
            let now = self.clock.now();
            StreamPosition {
                cursor: Cursor::new(now, START_ID),
                // The rows before the start are sent at the first read.
                sent: Some(SentRows {
                    earlier: 0,
                    read_at: now,
                }),
            }
        });
        let follower = Follower {
            since: start.cursor.at.plus_ms(-OVERLAP_MS),
            resumed: last,
            position: start.cursor.clone(),
            near: BTreeSet::new(),
            rows_max,
            clock: Arc::clone(&self.clock),
            sessions: Arc::clone(&self.sessions),
            source,
            viewer,
            token,
            sent: HashMap::new(),
            ticks,
            has_ended: false,
            _slot: slot,
        };
        let batches = stream::unfold(follower, |mut follower| async {
            let events = follower.next_events().await?;
            Some((stream::iter(events), follower))
        });
        let events = stream::iter([LiveEvent::Start(start)]).chain(batches.flatten());
        let shutdown = self.shutdown.clone();
        let stopped = async move { shutdown.cancelled().await };
        Ok(events.take_until(stopped))
    }
}

struct RequestSource {
    list: Arc<ConsoleRequests>,
    request: ConsoleListRequest<RequestLogFilter>,
}

impl LiveSource for RequestSource {
    type Item = LoggedRequest;

    async fn page(
        &self,
        viewer: &Viewer,
        since: Timestamp,
        after: Option<Cursor>,
    ) -> Result<CursorPage<LoggedRequest>, ConsoleError> {
        let mut request = self.request.clone();
        request.filter.from = request.filter.from.max(Some(since));
        request.after = after;
        self.list.page(viewer, &request).await
    }

    fn cursor(item: &LoggedRequest) -> Cursor {
        Cursor::new(item.at, item.id.as_str())
    }

    fn changed_at(item: &LoggedRequest) -> Timestamp {
        item.at
    }
}

struct DeliverySource {
    list: Arc<ConsoleDeliveries>,
    request: ConsoleListRequest<DeliveryScopeFilter>,
}

impl LiveSource for DeliverySource {
    type Item = ListedDelivery;

    async fn page(
        &self,
        viewer: &Viewer,
        since: Timestamp,
        after: Option<Cursor>,
    ) -> Result<CursorPage<ListedDelivery>, ConsoleError> {
        let mut request = self.request.clone();
        request.filter.from = request.filter.from.max(Some(since));
        request.after = after;
        self.list.page(viewer, &request).await
    }

    fn cursor(item: &ListedDelivery) -> Cursor {
        Cursor::new(item.delivery.created_at, item.delivery.id.as_str())
    }

    fn changed_at(item: &ListedDelivery) -> Timestamp {
        let delivery = &item.delivery;
        let failed_at = delivery.failure().map(|(at, _)| at);
        let ended_at = delivery.delivered_at().or(failed_at);
        let attempted_at = ended_at.or(delivery.published_at());
        attempted_at.map_or(delivery.pending_since, |at| at.max(delivery.pending_since))
    }
}

/// One open list.
struct Follower<S: LiveSource> {
    clock: Arc<dyn Clock>,
    sessions: Arc<SessionService>,
    source: S,
    viewer: Arc<Viewer>,
    token: SecretString,
    /// Time of the oldest item that is read.
    since: Timestamp,
    rows_max: usize,
    /// The position from which the list goes on, until the first read.
    resumed: Option<StreamPosition>,
    /// Position of the latest item that was sent. Items that come late do not move it back.
    position: Cursor,
    /// Positions of the items that were sent, in the [`OVERLAP_MS`] up to `position`.
    near: BTreeSet<Cursor>,
    /// The items that were sent and may be read again, by their ids.
    sent: HashMap<String, S::Item>,
    ticks: Interval,
    has_ended: bool,
    _slot: StreamSlot,
}

impl<S: LiveSource> Follower<S> {
    /// Waits for the next read and returns its news, or `None` after the end.
    async fn next_events(&mut self) -> Option<Vec<LiveEvent<S::Item>>> {
        if self.has_ended {
            return None;
        }
        self.ticks.tick().await;
        match self.read().await {
            Ok(Some(events)) => Some(events),
            Ok(None) | Err(ConsoleError::Access(_)) => {
                self.has_ended = true;
                Some(vec![LiveEvent::Ended])
            }
            // The next read is the retry.
            Err(ConsoleError::Storage(error)) => {
                tracing::warn!(error = %describe_error_chain(&error), "the new rows of an open list could not be read; they are read again in a moment");
                Some(Vec::new())
            }
        }
    }

    /// Reads what is new, or returns `None` if the session has ended or shows the other mode.
    async fn read(&mut self) -> Result<Option<Vec<LiveEvent<S::Item>>>, ConsoleError> {
        let (poll, address) = (SessionActivity::Poll, self.viewer.address);
        let viewer = self.sessions.find(&self.token, poll, address).await?;
        let Some(viewer) = viewer.filter(|viewer| viewer.mode == self.viewer.mode) else {
            return Ok(None);
        };
        // A page may show organizations that the person may not read any more.
        let readable = |viewer: &Viewer| viewer.organizations_with(Permission::Read);
        if readable(&viewer) != readable(&self.viewer) {
            return Ok(None);
        }
        self.viewer = viewer;
        let read_at = self.clock.now();
        let items = self.read_pages().await?;
        if let Some(resumed) = self.resumed.take() {
            self.learn_sent(&resumed, &items);
        }
        let (mut news, mut has_skipped) = (VecDeque::new(), false);
        for (cursor, item) in items {
            if self.sent.get(&cursor.id) == Some(&item) {
                continue;
            }
            if news.len() == self.rows_max {
                has_skipped = true;
                break;
            }
            news.push_front((cursor, item));
        }
        Ok(Some(self.events(news, has_skipped, read_at)))
    }

    /// Returns the items with which the list goes on, the latest first, and items that were sent.
    async fn read_pages(&self) -> Result<Vec<(Cursor, S::Item)>, ConsoleError> {
        let resumed = self.resumed.as_ref().map(|resumed| &resumed.cursor);
        let (mut items, mut new, mut after) = (Vec::new(), 0, None);
        loop {
            let page = self.source.page(&self.viewer, self.since, after).await?;
            let new_before = new;
            for item in page.items {
                let cursor = S::cursor(&item);
                let is_new = resumed.is_none_or(|position| cursor > *position)
                    && self.sent.get(&cursor.id) != Some(&item);
                new += usize::from(is_new);
                items.push((cursor, item));
            }
            after = page.next;
            // At a resumption, the items up to the position tell what the person has.
            let is_up_to_date = new == new_before && resumed.is_none();
            if after.is_none() || is_up_to_date || new > self.rows_max {
                return Ok(items);
            }
        }
    }

    /// Remembers the items up to the position of a resumption, which another connection sent. The
    /// database does not tell when a row was stored. If there are more rows before the position than
    /// were sent, some came late, and all of that time are sent again, so that none is lost.
    fn learn_sent(&mut self, resumed: &StreamPosition, items: &[(Cursor, S::Item)]) {
        let position = &resumed.cursor;
        let earlier = items.iter().filter(|(cursor, _)| cursor < position);
        let earlier = earlier.count();
        if resumed.sent.is_some_and(|sent| earlier > sent.earlier) {
            return;
        }
        let read_at = resumed.sent.map_or(position.at, |sent| sent.read_at);
        for (cursor, item) in items.iter().filter(|(cursor, _)| cursor <= position) {
            self.near.insert(cursor.clone());
            if S::changed_at(item) <= read_at {
                self.sent.insert(cursor.id.clone(), item.clone());
            }
        }
    }

    /// Returns the events of new items, which are in order of time, and remembers the items.
    fn events(
        &mut self,
        news: VecDeque<(Cursor, S::Item)>,
        has_skipped: bool,
        read_at: Timestamp,
    ) -> Vec<LiveEvent<S::Item>> {
        let mut events = Vec::with_capacity(news.len() + 1);
        events.extend(has_skipped.then_some(LiveEvent::Skipped));
        for (cursor, item) in news {
            self.sent.insert(cursor.id.clone(), item.clone());
            let position = self.advance(cursor, read_at);
            events.push(LiveEvent::Item(position, item));
        }
        self.since = self.since.max(read_at.plus_ms(-WINDOW_MS));
        self.rows_max = ROWS_MAX;
        let since = self.since;
        self.sent.retain(|_, item| S::cursor(item).at >= since);
        events
    }

    /// Returns the position of the list after an item is sent.
    fn advance(&mut self, sent: Cursor, read_at: Timestamp) -> StreamPosition {
        self.near.insert(sent.clone());
        if sent > self.position {
            self.position = sent;
        }
        let begin = self.position.at.plus_ms(-OVERLAP_MS);
        while self.near.first().is_some_and(|first| first.at < begin) {
            self.near.pop_first();
        }
        let earlier = self.near.len() - usize::from(self.near.contains(&self.position));
        StreamPosition {
            cursor: self.position.clone(),
            sent: Some(SentRows { earlier, read_at }),
        }
    }
}

/// Number of open lists by account.
#[derive(Default)]
struct OpenStreams(Mutex<HashMap<AccountId, u32>>);

/// Permission to keep a list open, which ends with the value.
struct StreamSlot {
    open: Arc<OpenStreams>,
    account: AccountId,
}

impl StreamSlot {
    fn take(open: &Arc<OpenStreams>, account: &AccountId) -> Result<Self, TooManyStreams> {
        let mut counts = open.0.lock().unwrap_or_else(PoisonError::into_inner);
        let total: u32 = counts.values().sum();
        let own = counts.get(account).copied().unwrap_or_default();
        if total >= STREAMS_MAX || own >= STREAMS_PER_ACCOUNT_MAX {
            return Err(TooManyStreams);
        }
        counts.insert(account.clone(), own + 1);
        Ok(Self {
            open: Arc::clone(open),
            account: account.clone(),
        })
    }
}

impl Drop for StreamSlot {
    fn drop(&mut self) {
        let mut counts = self.open.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.account) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.account);
            }
        }
    }
}
