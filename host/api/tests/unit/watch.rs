use super::*;
use host_domain::hotel;
use host_domain::id::{HotelId, WatchId};
use host_domain::money::{Currency, Money};
use host_domain::owner::Owner;
use host_domain::watch::{PriceQuery, Trigger, Watch, WatchStatus, WatchTarget};
use host_storage::UnitOfWork;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(30);

async fn read(server: &Server, id: &WatchId) -> Value {
    let path = format!("/v1/watcher/travel/hotel/watches/{id}");
    let read = server.get(&path).await;
    assert_eq!(read.status, StatusCode::OK, "{:#}", read.body);
    read.body["data"].clone()
}

/// Waits until the time of the next price check, or its absence, meets a condition.
async fn due(server: &Server, is_so: impl Fn(Option<Timestamp>) -> bool) {
    let waiting = async {
        while !is_so(server.app.store.next_price_check_due_at().await.unwrap()) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(TIMEOUT, waiting).await.unwrap();
}

/// No plugin is loaded, so no supplier can be called.
#[tokio::test]
async fn watch_expires_only_after_check_in_day_has_ended() {
    let server = Server::start().await;
    let (app, clock) = (&server.app, &server.clock);
    let euros = Currency::parse("EUR").unwrap();
    let question = PriceQuery {
        target: WatchTarget::Hotel {
            hotel_id: HotelId::from_bits(1),
        },
        stay: hotel::Stay {
            check_in: "2026-12-01".parse().unwrap(),
            check_out: "2026-12-03".parse().unwrap(),
            occupancies: vec![],
            guest_nationality: "GB".to_owned(),
            guest_residence: None,
            currency: euros,
        },
    };
    let owner = Owner {
        tenant: acme(),
        user: Owner::ORGANIZATION_USER.to_owned(),
    };
    let trigger = Trigger::BelowTotal {
        amount: Money::new(100, euros),
    };
    let now = clock.now();
    let id = WatchId::from_bits(app.ids.generate());
    let watch = Watch::new(id.clone(), owner, question, trigger, None, now);
    let expires_at = watch.expires_at;
    let mut write = UnitOfWork::new(now);
    write.insert_watch(&watch);
    app.store.commit(write).await.unwrap();
    // The price check fails, and the next one is due later.
    due(&server, |next_at| next_at.is_some_and(|at| at > now)).await;
    assert_eq!(read(&server, &id).await["status"], "active");
    let before = expires_at.plus_ms(-1);
    clock.set(before);
    due(&server, |next_at| next_at == Some(expires_at)).await;
    assert_eq!(read(&server, &id).await["status"], "active");
    clock.set(expires_at);
    let expired = async {
        let stored = async || app.store.watch_unscoped(&id).await.unwrap().unwrap();
        while stored().await.watch.status() != WatchStatus::Expired {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(TIMEOUT, expired).await.unwrap();
    due(&server, |next_at| next_at.is_none()).await;
    let watch = read(&server, &id).await;
    assert_eq!(watch["status"], "expired");
    assert_eq!(watch["updated_at"], expires_at.to_string());
}
