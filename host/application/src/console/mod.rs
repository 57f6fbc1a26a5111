//! Services of the dashboard. They decide what a person may read and change.

pub mod access;
pub mod audit;
pub mod booking_people;
pub mod bookings;
pub mod bulk_replay;
pub mod deliveries;
pub mod failure;
pub mod go_live;
pub mod keys;
pub mod list;
pub mod live;
pub mod mandates;
pub mod members;
pub mod overview;
pub mod requests;
pub mod suppliers;
pub mod unresolved;
mod visible_actors;
pub mod watches;
pub mod webhooks;

use crate::api_key::service::ApiKeyService;
use crate::audit::service::AuditService;
use crate::base::Base;
use crate::booking::open_outcome::OpenOutcomeReader;
use crate::booking::settlement::SettlementService;
use crate::console::audit::ConsoleAudit;
use crate::console::bookings::ConsoleBookings;
use crate::console::bulk_replay::ConsoleBulkReplays;
use crate::console::deliveries::ConsoleDeliveries;
use crate::console::go_live::GoLiveService;
use crate::console::keys::ConsoleKeys;
use crate::console::mandates::ConsoleMandates;
use crate::console::members::ConsoleMembers;
use crate::console::overview::ConsoleOverview;
use crate::console::requests::ConsoleRequests;
use crate::console::suppliers::ConsoleSuppliers;
use crate::console::unresolved::ConsoleUnresolved;
use crate::console::watches::ConsoleWatches;
use crate::console::webhooks::ConsoleWebhooks;
use crate::jobs::operator::OperatorService;
use crate::mandate::service::MandateService;
use crate::reporting::ReportingServices;
use crate::supplier::overrides::SupplierControl;
use crate::supplier::reader::SupplierReader;
use crate::watch::service::WatchService;
use crate::webhook::bulk_replay::BulkReplayService;
use crate::webhook::delivery_service::DeliveryService;
use crate::webhook::service::WebhookService;
use std::sync::Arc;

pub struct ConsoleServices {
    pub audit: Arc<ConsoleAudit>,
    pub bookings: Arc<ConsoleBookings>,
    pub bulk_replays: Arc<ConsoleBulkReplays>,
    pub deliveries: Arc<ConsoleDeliveries>,
    pub unresolved: Arc<ConsoleUnresolved>,
    pub go_live: Arc<GoLiveService>,
    pub keys: Arc<ConsoleKeys>,
    pub mandates: Arc<ConsoleMandates>,
    pub members: Arc<ConsoleMembers>,
    pub overview: Arc<ConsoleOverview>,
    pub requests: Arc<ConsoleRequests>,
    pub suppliers: Arc<ConsoleSuppliers>,
    pub watches: Arc<ConsoleWatches>,
    pub webhooks: Arc<ConsoleWebhooks>,
}

/// The services that the console uses.
pub(crate) struct ConsoleDependencies<'a> {
    pub(crate) base: &'a Base,
    pub(crate) reporting: &'a ReportingServices,
    pub(crate) supplier_control: &'a Arc<SupplierControl>,
    pub(crate) webhooks: &'a Arc<WebhookService>,
    pub(crate) deliveries: &'a Arc<DeliveryService>,
    pub(crate) bulk_replays: &'a Arc<BulkReplayService>,
    pub(crate) open_outcomes: &'a Arc<OpenOutcomeReader>,
    pub(crate) settlements: &'a Arc<SettlementService>,
    pub(crate) watches: &'a Arc<WatchService>,
    pub(crate) mandates: &'a Arc<MandateService>,
}

impl ConsoleServices {
    pub(crate) fn new(
        ConsoleDependencies {
            base,
            reporting,
            supplier_control,
            webhooks,
            deliveries,
            bulk_replays,
            open_outcomes,
            settlements,
            watches,
            mandates,
        }: ConsoleDependencies<'_>,
    ) -> Self {
        let suppliers = &supplier_control.directory;
        Self {
            suppliers: Arc::new(ConsoleSuppliers {
                control: Arc::clone(supplier_control),
                reader: Arc::new(SupplierReader::new(base.clone(), suppliers)),
            }),
            audit: Arc::new(ConsoleAudit {
                base: base.clone(),
                audit: Arc::new(AuditService::new(base.clone())),
            }),
            bookings: Arc::new(ConsoleBookings {
                base: base.clone(),
                suppliers: Arc::clone(suppliers),
            }),
            unresolved: Arc::new(ConsoleUnresolved {
                base: base.clone(),
                outcomes: Arc::clone(open_outcomes),
                settlements: Arc::clone(settlements),
                operator: Arc::new(OperatorService { base: base.clone() }),
            }),
            bulk_replays: Arc::new(ConsoleBulkReplays {
                bulk_replays: Arc::clone(bulk_replays),
            }),
            deliveries: Arc::new(ConsoleDeliveries {
                base: base.clone(),
                deliveries: Arc::clone(deliveries),
            }),
            webhooks: Arc::new(ConsoleWebhooks {
                base: base.clone(),
                webhooks: Arc::clone(webhooks),
                deliveries: Arc::clone(deliveries),
            }),
            keys: Arc::new(ConsoleKeys {
                base: base.clone(),
                api_keys: ApiKeyService::new(base.clone()),
            }),
            mandates: Arc::new(ConsoleMandates {
                base: base.clone(),
                mandates: Arc::clone(mandates),
            }),
            watches: Arc::new(ConsoleWatches {
                base: base.clone(),
                watches: Arc::clone(watches),
            }),
            go_live: Arc::new(GoLiveService {
                base: base.clone(),
                reader: Arc::clone(&reporting.go_live),
            }),
            requests: Arc::new(ConsoleRequests {
                base: base.clone(),
                log: Arc::clone(&reporting.request_log),
            }),
            members: Arc::new(ConsoleMembers::new(base)),
            overview: Arc::new(ConsoleOverview {
                reader: Arc::clone(&reporting.overview),
            }),
        }
    }
}
