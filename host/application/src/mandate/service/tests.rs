//! Tests of signing, consuming and releasing mandates, in a complete application with a fixed
//! clock.

use super::*;
use crate::application::{Application, ApplicationDependencies};
use crate::config::{Config, Environment};
use crate::deadline::Deadline;
use crate::id_generator::UuidV7Generator;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use host_domain::audit::Actor;
use host_domain::id::{BookingId, HotelId, WatchId};
use host_domain::mandate::{MandateState, MandateStatus};
use host_domain::money::Currency;
use host_domain::payment::Instrument;
use host_domain::supplier::SupplierId;
use host_domain::time::{Date, Timestamp};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use test_support::ManualClock;

const NOW: i64 = 1_795_255_200_000;
const TTL_S: i64 = 3600;
const KEY_MAX_AGE_S: i64 = 60;

/// An application with one user who has one card.
struct MandateFixture {
    app: Arc<Application>,
    clock: Arc<ManualClock>,
    owner: Owner,
    instrument: InstrumentId,
    folder: TempDir,
}

async fn app_at(folder: &Path, clock: Arc<ManualClock>) -> Arc<Application> {
    let mut overlay = crate::config::data_dir_overlay(folder);
    let key = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
    overlay.insert("master_key".to_owned(), key.into());
    let mandates = toml::Table::from_iter([("key_max_age_s".to_owned(), KEY_MAX_AGE_S.into())]);
    overlay.insert("mandates".to_owned(), mandates.into());
    let config = Config::load(Some(overlay), None, &Environment::default()).unwrap();
    let dependencies = ApplicationDependencies {
        clock,
        ids: Arc::new(UuidV7Generator),
        plugins_dir: folder.to_owned(),
        call_sink: Arc::new(host_runtime::NoSink),
        base_url: "https://api.test".to_owned(),
    };
    Application::launch(config, dependencies).await.unwrap()
}

impl MandateFixture {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::new(Timestamp(NOW)));
        let app = app_at(folder.path(), clock.clone()).await;
        let owner = json!({ "tenant": { "organization": "acme", "mode": "test" }, "user": "ann" });
        let fixture = Self {
            app,
            clock,
            owner: serde_json::from_value(owner).unwrap(),
            instrument: InstrumentId::from_bits(1),
            folder,
        };
        let card = Instrument {
            id: fixture.instrument.clone(),
            processor: SupplierId::parse("CARDS").unwrap(),
            token: "tok".into(),
            card: None,
            created_at: Timestamp(NOW),
        };
        let stored = fixture.app.instruments.seal(&fixture.owner, &card).unwrap();
        fixture
            .commit(|write| write.insert_instrument(&fixture.owner, &stored))
            .await;
        fixture
    }

    async fn commit(&self, change: impl FnOnce(&mut UnitOfWork) -> &mut UnitOfWork) {
        let mut write = UnitOfWork::new(self.app.clock.now());
        change(&mut write);
        self.app.store.commit(write).await.unwrap();
    }

    fn pass_s(&self, seconds: i64) {
        self.clock.advance_ms(seconds * 1000);
    }

    fn command(&self) -> NewMandate {
        NewMandate {
            amount: euros(20_000),
            instrument: self.instrument.clone(),
            scope: stay(),
            expires_at: Some(Timestamp(NOW).plus_s(TTL_S)),
        }
    }

    async fn seal(&self) -> Mandate {
        let mut write = UnitOfWork::new(self.app.clock.now());
        let mandates = &self.app.mandates;
        let sealed = mandates.sign_in(&mut write, &self.owner, self.command());
        let sealed = sealed.await.unwrap();
        self.app.store.commit(write).await.unwrap();
        sealed
    }

    fn usage(&self) -> MandateUsage {
        MandateUsage {
            owner: self.owner.clone(),
            amount: euros(18_000),
            instrument: self.instrument.clone(),
            scope: stay(),
            booking: BookingId::from_bits(7),
        }
    }

    async fn consume(&self, id: &MandateId, usage: MandateUsage) -> Result<Mandate, MandateError> {
        let mut write = UnitOfWork::new(self.app.clock.now());
        let consumed = self.app.mandates.consume_in(&mut write, id, usage).await?;
        self.app.store.commit(write).await?;
        Ok(consumed)
    }

    async fn refusal(&self, id: &MandateId, usage: MandateUsage) -> &'static str {
        match self.consume(id, usage).await {
            Ok(_) => "none",
            Err(MandateError::Invalid(refusal)) => refusal.as_str(),
            Err(MandateError::NotFound) => "not_found",
            Err(error) => panic!("{error:?}"),
        }
    }

    async fn stored(&self, id: &MandateId) -> Mandate {
        self.app.mandates.find(&self.owner, id).await.unwrap()
    }

    /// Returns the claims and `kid`, verified with the published keys alone.
    async fn verified(&self, jws: &str) -> (Value, String) {
        let keys = SigningKeyRing::load(&self.app.store).await.unwrap();
        let keys = keys.jwk_set().unwrap();
        let kid = jsonwebtoken::decode_header(jws).unwrap().kid.unwrap();
        let key = keys.find(&kid);
        let mut validation = Validation::new(Algorithm::ES256);
        validation.required_spec_claims.clear();
        validation.validate_exp = false;
        let key = DecodingKey::from_jwk(key.unwrap()).unwrap();
        let decoded = jsonwebtoken::decode(jws, &key, &validation).unwrap();
        (decoded.claims, kid)
    }
}

type Change = fn(&mut MandateUsage);

fn euros(minor: i64) -> Money {
    Money::new(minor, Currency::parse("EUR").unwrap())
}

fn stay() -> MandateScope {
    MandateScope::HotelWatch {
        watch_id: WatchId::from_bits(1),
        hotel_id: HotelId::from_bits(2),
        check_in: Date::constant(2027, 1, 1),
        check_out: Date::constant(2027, 1, 3),
    }
}

#[tokio::test]
async fn mandate_is_used_once_and_again_after_its_release() {
    let fixture = MandateFixture::new().await;
    let id = fixture.seal().await.terms.id;
    let consumed = fixture.consume(&id, fixture.usage()).await.unwrap();
    assert_eq!(fixture.stored(&id).await, consumed);
    assert_eq!(fixture.refusal(&id, fixture.usage()).await, "consumed");
    // A use may be released after the mandate has expired.
    let mut write = UnitOfWork::new(fixture.app.clock.now());
    let released = fixture
        .app
        .mandates
        .release_in(&mut write, &fixture.owner.tenant, &id);
    released.await.unwrap();
    fixture.app.store.commit(write).await.unwrap();
    assert_eq!(fixture.stored(&id).await.state, MandateState::Active);
    assert!(fixture.consume(&id, fixture.usage()).await.is_ok());
}

#[tokio::test]
async fn concurrent_uses_of_a_mandate_store_only_one() {
    let fixture = MandateFixture::new().await;
    let id = fixture.seal().await.terms.id;
    let mut writes = Vec::new();
    for _ in 0..2 {
        let mut write = UnitOfWork::new(fixture.app.clock.now());
        let consumed = fixture
            .app
            .mandates
            .consume_in(&mut write, &id, fixture.usage());
        consumed.await.unwrap();
        writes.push(write);
    }
    let mut conflicts = Vec::new();
    for write in writes {
        let committed = fixture.app.store.commit(write).await;
        conflicts.push(committed.err().and_then(|error| error.conflict()));
    }
    assert_eq!(conflicts, [None, Some(Conflict::MandateVersion)]);
}

#[tokio::test]
async fn use_that_violates_a_term_is_rejected_and_does_not_consume_the_mandate() {
    let fixture = MandateFixture::new().await;
    let id = fixture.seal().await.terms.id;
    let cases: [(&str, Change); 2] = [
        ("cap_exceeded", |of| of.amount = euros(20_001)),
        ("not_found", |of| {
            of.owner.tenant.organization = "other".into()
        }),
    ];
    for (expected, change) in cases {
        let mut usage = fixture.usage();
        change(&mut usage);
        assert_eq!(fixture.refusal(&id, usage).await, expected);
    }
    assert_eq!(fixture.stored(&id).await.state, MandateState::Active);
    fixture.pass_s(TTL_S);
    assert_eq!(fixture.refusal(&id, fixture.usage()).await, "expired");
    let context = RequestContext::for_actor(
        Arc::new(Actor::system()),
        fixture.owner.clone(),
        "req_1".into(),
        Deadline::from_now(Duration::from_secs(60)),
    );
    let expired = fixture.app.mandates.revoke(&context, &id, None).await;
    let refusal = MandateRejection::Expired;
    assert!(matches!(expired, Err(MandateError::Invalid(found)) if found == refusal));
}

/// A changed database row cannot change what a mandate permits.
#[tokio::test]
async fn unsigned_terms_are_rejected() {
    let fixture = MandateFixture::new().await;
    let genuine = fixture.seal().await;
    let other_key = MandateFixture::new().await.seal().await.jws;
    let forgeries: [&dyn Fn(&mut Mandate); 8] = [
        &|forged| forged.terms.amount = euros(90_000),
        &|forged| forged.terms.expires_at = forged.terms.expires_at.plus_s(60),
        &|forged| forged.terms.scope = MandateScope::Any,
        // Only its id differs: the signature is that of the genuine mandate.
        &|_| {},
        &|forged| forged.jws.truncate(forged.jws.len() - 4),
        &|forged| forged.jws.clone_from(&other_key),
        &|forged| forged.jws = "no.jws.atall".into(),
        &|forged| forged.jws.clear(),
    ];
    for (number, forge) in forgeries.into_iter().enumerate() {
        let mut forged = genuine.clone();
        forge(&mut forged);
        forged.terms.id = MandateId::from_bits(number as u128 + 1);
        fixture.commit(|write| write.insert_mandate(&forged)).await;
        let refusal = fixture.refusal(&forged.terms.id, fixture.usage()).await;
        assert_eq!(refusal, "bad_signature", "{number}");
    }
    assert_eq!(
        fixture.refusal(&genuine.terms.id, fixture.usage()).await,
        "none"
    );
}

#[tokio::test]
async fn claims_have_the_shape_of_payment_mandates() {
    let fixture = MandateFixture::new().await;
    let mandate = fixture.seal().await;
    let (open, kid) = fixture.verified(&mandate.jws).await;
    let consumed = fixture
        .consume(&mandate.terms.id, fixture.usage())
        .await
        .unwrap();
    let MandateState::Consumed { booking, jws } = &consumed.state else {
        panic!("{consumed:?}")
    };
    assert_eq!(*booking, BookingId::from_bits(7));
    let (closed, closed_kid) = fixture.verified(jws).await;
    assert_eq!(closed_kid, kid);
    assert_eq!(open["cnf"]["jwk"]["kid"], kid.as_str());
    let payee = json!({ "id": "acme", "name": "acme" });
    let instrument = json!({ "id": fixture.instrument.as_str(), "type": "CARD" });
    let scope = r#"{"check_in":"2027-01-01","check_out":"2027-01-03","hotel_id":"htl_00000000000000000000000000000002","kind":"HOTEL_WATCH","watch_id":"wtc_00000000000000000000000000000001"}"#;
    let hash = |text: &str| URL_SAFE_NO_PAD.encode(Sha256::digest(text));
    let expected = json!({
        "vct": "mandate.payment.open.1", "iss": "https://api.test", "jti": mandate.terms.id.as_str(),
        "sub": "ann", "iat": NOW / 1000, "exp": NOW / 1000 + TTL_S, "mode": "test",
        "scope": serde_json::from_str::<Value>(scope).unwrap(),
        "constraints": [
            { "type": "payment.amount_range", "currency": "EUR", "max": 20_000 },
            { "type": "payment.allowed_payees", "allowed": [payee] },
            { "type": "payment.allowed_payment_instruments", "allowed": [instrument] },
            { "type": "payment.execution_date", "not_after": mandate.terms.expires_at.to_string() },
            { "type": "payment.reference", "conditional_transaction_id": hash(scope) },
        ],
        "cnf": open["cnf"],
    });
    assert_eq!(open, expected);
    let expected = json!({
        "vct": "mandate.payment.1", "iss": "https://api.test", "sub": "ann", "iat": NOW / 1000, "mode": "test",
        "mandate_id": mandate.terms.id.as_str(), "booking_id": booking.as_str(),
        "transaction_id": hash(booking.as_str()), "payee": payee,
        "payment_amount": { "amount": 18_000, "currency": "EUR" }, "payment_instrument": instrument,
    });
    assert_eq!(closed, expected);
}

#[tokio::test]
async fn signatures_of_the_same_terms_differ() {
    let fixture = MandateFixture::new().await;
    let keys = SigningKeyRing::load(&fixture.app.store).await.unwrap();
    let key = keys.current().unwrap();
    let claims = Value::from("the same");
    let sign = || key.sign(&fixture.app.sealer, &claims).unwrap();
    assert_ne!(sign(), sign());
}

#[tokio::test]
async fn expired_key_signs_no_new_mandates_but_still_verifies_its_own() {
    let fixture = MandateFixture::new().await;
    let before = fixture.seal().await;
    fixture.pass_s(KEY_MAX_AGE_S);
    let after = fixture.seal().await;
    let (_, old) = fixture.verified(&before.jws).await;
    let (_, new) = fixture.verified(&after.jws).await;
    assert_ne!(old, new);
    let used = fixture
        .consume(&before.terms.id, fixture.usage())
        .await
        .unwrap();
    let MandateState::Consumed { jws, .. } = used.state else {
        panic!("not consumed")
    };
    // The key that the terms name signs their use.
    assert_eq!(fixture.verified(&jws).await.1, old);
    assert_eq!(
        fixture.refusal(&after.terms.id, fixture.usage()).await,
        "none"
    );
}

#[tokio::test]
async fn restart_reuses_the_existing_key() {
    let fixture = MandateFixture::new().await;
    let mandate = fixture.seal().await;
    let again = app_at(fixture.folder.path(), fixture.clock.clone()).await;
    let keys = SigningKeyRing::load(&again.store).await.unwrap();
    assert_eq!(keys.jwk_set().unwrap().keys.len(), 1);
    let mut write = UnitOfWork::new(Timestamp(NOW));
    let id = &mandate.terms.id;
    let consumed = again.mandates.consume_in(&mut write, id, fixture.usage());
    let status = consumed.await.unwrap().status(Timestamp(NOW));
    assert_eq!(status, MandateStatus::Consumed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn hosts_that_start_together_create_one_key() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::new(Timestamp(NOW)));
    let starts = (0..4).map(|_| app_at(folder.path(), clock.clone()));
    let hosts = futures::future::join_all(starts).await;
    for host in hosts {
        let keys = SigningKeyRing::load(&host.store).await.unwrap();
        assert_eq!(keys.jwk_set().unwrap().keys.len(), 1);
    }
}
