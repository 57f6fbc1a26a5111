//! The pages that are measured: each list without a filter, with each filter and on its last page,
//! each kind of page about one thing, the overview and the search.

/// A person who opens pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Person {
    /// An operator reads all organizations.
    Operator,
    /// An admin of the largest organization.
    Member,
    /// A viewer of a small organization and of an empty one. No index has the rows of several
    /// organizations in order.
    Guest,
}

impl Person {
    pub(super) const ALL: [Self; 3] = [Self::Operator, Self::Member, Self::Guest];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Member => "member",
            Self::Guest => "member of two",
        }
    }
}

/// A page that a person opens.
pub(super) struct Page {
    pub(super) path: String,
    pub(super) person: Person,
    pub(super) status: u16,
}

/// Ids of what the pages show. All belong to the largest organization.
pub(super) struct Shown {
    pub(super) booking: String,
    pub(super) unresolved: String,
    pub(super) request: String,
    pub(super) webhook: String,
    pub(super) event: String,
    pub(super) delivery: String,
    pub(super) watch: String,
    pub(super) mandate: String,
    pub(super) key: String,
    pub(super) account: String,
    /// Positions of rows near the end of the lists.
    pub(super) oldest_booking: String,
    pub(super) oldest_request: String,
    pub(super) oldest_delivery: String,
    pub(super) oldest_entry: String,
    /// Beginning and end of a day, as parameters of a query.
    pub(super) day: String,
}

/// Paths that everybody opens. `{name}` is a member of [`Shown`].
const FOR_ALL: &[&str] = &[
    "/",
    "/?window=day",
    "/?window=week",
    "/bookings",
    "/bookings?status=CONFIRMED",
    "/bookings?status=COMPLETE_IN_PROGRESS",
    "/bookings?status=PARTIALLY_CANCELED",
    "/bookings?kind=flight",
    "/bookings?supplier=SANDBOX_HOTELS",
    "/bookings?supplier=unknown&kind=hotel",
    "/bookings?user=user-77",
    "/bookings?user=org",
    "/bookings?{day}",
    "/bookings?q=order-300",
    "/bookings?q=H-1001",
    "/bookings?q=nothing",
    "/bookings?after={oldest_booking}",
    "/requests",
    "/requests?status=4xx",
    "/requests?status=5xx",
    "/requests?status=200",
    "/requests?status=409",
    "/requests?method=POST",
    "/requests?route=/v1/airports",
    "/requests?route=/v1/unknown",
    "/requests?key=key_rare",
    "/requests?user=user-77",
    "/requests?{day}",
    "/requests?{day}&user=user-77",
    "/requests?after={oldest_request}",
    "/webhooks",
    "/webhooks?status=PAUSED",
    "/webhooks?q=receiver",
    "/deliveries",
    "/deliveries?status=FAILED",
    "/deliveries?status=PENDING",
    "/deliveries?status=DELIVERED",
    "/deliveries?event=hotel.booking.canceled",
    "/deliveries?event=flight.booking.airline_change",
    "/deliveries?status=PENDING&event=flight.booking.airline_change",
    "/deliveries?status=FAILED&event=hotel.booking.created",
    "/deliveries?{day}",
    "/deliveries?after={oldest_delivery}",
    "/unresolved",
    "/unresolved?supplier=SANDBOX_HOTELS",
    "/suppliers",
    "/suppliers/SANDBOX_HOTELS",
    "/watches",
    "/watches?status=purchased",
    "/watches?status=active",
    "/watches?user=user-77",
    "/mandates",
    "/mandates?status=REVOKED",
    "/mandates?status=CONSUMED",
    "/mandates?user=user-77",
    "/keys",
    "/keys?q=key&status=active",
    "/members",
    "/go-live",
    "/account",
    "/search?q=nothing",
];

/// Paths about the largest organization.
const FOR_ITS_MEMBERS: &[&str] = &[
    "/bookings/{booking}",
    "/bookings/{unresolved}",
    "/requests/{request}",
    "/webhooks/{webhook}",
    "/deliveries?webhook={webhook}",
    "/deliveries?webhook={webhook}&status=FAILED",
    "/deliveries?webhook={webhook}&event=hotel.booking.changed",
    "/deliveries/{delivery}",
    "/events/{event}",
    "/unresolved?booking={unresolved}",
    "/watches/{watch}",
    "/mandates/{mandate}",
    "/keys/{key}",
    "/members/demo/{account}",
    "/audit",
    "/audit?actor=person-7@example.com",
    "/audit?action=api_key.revoked",
    "/audit?action=booking.settled",
    "/audit?q={booking}",
    "/audit?{day}",
    "/audit?after={oldest_entry}",
];

/// Paths of operators.
const FOR_OPERATORS: &[&str] = &[
    "/bookings?organization=demo",
    "/bookings?organization=rare",
    "/bookings?organization=rare&status=PARTIALLY_CANCELED",
    "/requests?organization=demo&route=/v1/airports",
    "/requests?organization=rare",
    "/requests?organization=rare&status=409",
    "/webhooks?organization=demo",
    "/deliveries?organization=rare",
    "/deliveries?organization=rare&status=FAILED",
    "/watches?organization=rare",
    "/mandates?organization=rare",
    "/audit?organization=rare",
    "/go-live?organization=rare",
];

/// Searches that lead to another page.
const SEARCHES: &[&str] = &["/search?q=order-300", "/search?q={booking}"];

/// Returns all pages, in the order in which they are opened.
pub(super) fn pages(shown: &Shown) -> Vec<Page> {
    use Person::{Guest, Member, Operator};
    let groups: [(&[&str], &[Person], u16); 4] = [
        (FOR_ALL, &Person::ALL, 200),
        (FOR_ITS_MEMBERS, &[Operator, Member], 200),
        (FOR_OPERATORS, &[Operator], 200),
        (SEARCHES, &[Operator, Member], 303),
    ];
    let mut pages = Vec::new();
    for (paths, people, status) in groups {
        for path in paths {
            pages.extend(people.iter().map(|person| Page {
                path: shown.filled_in(path),
                person: *person,
                status,
            }));
        }
    }
    // The cursor of the oldest booking would be in nobody's list otherwise.
    pages.retain(|page| page.person != Guest || !page.path.contains("after="));
    pages
}

impl Page {
    /// Returns whether the page keeps what it has read for some seconds.
    pub(super) fn is_cached(&self) -> bool {
        self.path == "/" || self.path.starts_with("/?")
    }
}

impl Shown {
    fn filled_in(&self, path: &str) -> String {
        let names = [
            ("booking", &self.booking),
            ("unresolved", &self.unresolved),
            ("request", &self.request),
            ("webhook", &self.webhook),
            ("event", &self.event),
            ("delivery", &self.delivery),
            ("watch", &self.watch),
            ("mandate", &self.mandate),
            ("key", &self.key),
            ("account", &self.account),
            ("oldest_booking", &self.oldest_booking),
            ("oldest_request", &self.oldest_request),
            ("oldest_delivery", &self.oldest_delivery),
            ("oldest_entry", &self.oldest_entry),
            ("day", &self.day),
        ];
        let replace = |path: String, (name, value): (&str, &String)| {
            path.replace(&format!("{{{name}}}"), value)
        };
        names.into_iter().fold(path.to_owned(), replace)
    }
}
