//! Lists that send new and changed rows to a person while the page is open.

use crate::account::session::{SessionActivity, SessionService};
use crate::account::viewer::Viewer;
use crate::console::deliveries::ConsoleDeliveries;
use crate::console::failure::ConsoleError;
use crate::console::list::ConsoleListRequest;
use crate::console::requests::ConsoleRequests;
use crate::error_chain::error_chain;
use futures::{Stream, StreamExt, stream};
use host_domain::console::webhook::ListedDelivery;
use host_domain::id::AccountId;
use host_domain::page::{Cursor, CursorPage};
use host_domain::request_log::{LoggedRequest, RequestLogFilter};
use host_domain::time::{Clock, Timestamp};
use host_domain::webhook::list::DeliveryScopeFilter;
use secrecy::SecretString;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Interval, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

/// Time between two reads. The session is checked each time.
const INTERVAL: Duration = Duration::from_secs(1);
/// Time after which a row is not read again, in milliseconds. Rows of other hosts can come late,
/// and rows can change.
const WINDOW_MS: i64 = 60 * 1000;
/// Time before the last row that a person has seen, in milliseconds. Rows with an earlier time can
/// have come after it.
const OVERLAP_MS: i64 = 5 * 1000;
/// Maximum number of rows that are read at once. A page keeps as many.
const ROWS_MAX: usize = 200;
/// Maximum number of rows that are sent when a person comes back after an interruption.
const ROWS_MAX_AT_RESUME: usize = 1000;
/// Id in the position of a list that has no item yet.
const START_ID: &str = "start";
const STREAMS_PER_ACCOUNT_MAX: u32 = 4;
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
}

/// News of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LiveEvent<T> {
    /// The position from which the list is followed, before everything else.
    Start(Cursor),
    /// An item that is new, or that has changed since it was sent.
    Item(Cursor, T),
    /// More items came than are read at once, so the oldest ones are left out.
    Skipped,
    /// The session has ended or shows other data.
    Ended,
}

/// A browser that has a list open, with the session of the person.
pub struct StreamClient {
    pub viewer: Arc<Viewer>,
    /// Token of the session.
    pub token: SecretString,
    /// The last item that the person has seen, if there is one.
    pub last: Option<Cursor>,
}

/// The account or the host has too many open lists.
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

    /// Follows the API calls that a filter selects until the session of the person ends, changes its
    /// mode or the gateway shuts down.
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
        let start = last.unwrap_or_else(|| Cursor::new(self.clock.now(), START_ID));
        let follower = Follower {
            since: start.at.plus_ms(-OVERLAP_MS),
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
    /// The items that were sent and may be read again, by their position.
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
                tracing::warn!(error = %error_chain(&error), "an open list could not be read");
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
        // Roles can change in a session.
        self.viewer = viewer;
        let (mut news, mut read) = (VecDeque::new(), 0);
        let (mut after, mut has_skipped) = (None, false);
        loop {
            let page = self.source.page(&self.viewer, self.since, after).await?;
            let known = news.len();
            read += page.items.len();
            for item in page.items {
                let cursor = S::cursor(&item);
                if self.sent.get(&cursor.id) != Some(&item) {
                    news.push_front((cursor, item));
                }
            }
            let is_up_to_date = news.len() == known;
            after = page.next;
            if after.is_none() || is_up_to_date {
                break;
            }
            if read >= self.rows_max {
                has_skipped = true;
                break;
            }
        }
        Ok(Some(self.events(news, has_skipped)))
    }

    /// Returns the events of new items, which are in order of time, and remembers the items.
    fn events(
        &mut self,
        news: VecDeque<(Cursor, S::Item)>,
        has_skipped: bool,
    ) -> Vec<LiveEvent<S::Item>> {
        let mut events = Vec::with_capacity(news.len() + 1);
        events.extend(has_skipped.then_some(LiveEvent::Skipped));
        for (cursor, item) in news {
            self.sent.insert(cursor.id.clone(), item.clone());
            events.push(LiveEvent::Item(cursor, item));
        }
        self.since = self.since.max(self.clock.now().plus_ms(-WINDOW_MS));
        self.rows_max = ROWS_MAX;
        let since = self.since;
        self.sent.retain(|_, item| S::cursor(item).at >= since);
        events
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
