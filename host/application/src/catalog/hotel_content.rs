//! Hotel details and reviews, stored as suppliers returned them last. Stale content is returned as
//! it is and refreshed in the background. Content that was never fetched is fetched before the
//! response. Details and reviews are handled separately.

use crate::base::Base;
use crate::catalog::hotel_mapping::HotelMappingService;
use crate::catalog::single_flight::SingleFlight;
use crate::config::ContentConfig;
use crate::context::RequestContext;
use crate::deadline::Deadline;
use crate::supplier::directory::SupplierDirectory;
use crate::supplier::query_error::QueryError;
use crate::supplier::router::{RouteRequest, SupplierRouter, allows_failover, read_call_context};
use crate::task_supervisor::TaskSupervisor;
use host_domain::hotel::content::{CONTENT_ITEMS_MAX, HotelDetails, Reviews};
use host_domain::id::HotelId;
use host_domain::owner::Mode;
use host_domain::supplier::{Capability, ReadError, SupplierId};
use host_domain::time::Timestamp;
use host_runtime::{CallContext, Supplier};
use host_storage::{
    CommitError, ContentPart, DatabaseError, HotelMapping, HotelObservation, HotelProfile,
    UnitOfWork,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Clone, PartialEq)]
pub struct Cached<T> {
    pub value: T,
    pub fetched_at: Timestamp,
    /// Whether it is older than allowed. If so, it is being refreshed.
    pub is_stale: bool,
}

#[derive(Debug)]
pub struct HotelContent {
    pub supplier: SupplierId,
    pub details: Cached<HotelDetails>,
    pub reviews: Cached<Option<Reviews>>,
}

/// A part of the content that is fetched separately and has its own maximum age.
trait CachedContent: Serialize + DeserializeOwned + Send + 'static {
    const CONTENT_PART: ContentPart;

    /// Returns the maximum age of this part, in seconds.
    fn max_age_s(config: &ContentConfig) -> u64;

    fn fetch(
        supplier: &Supplier,
        call_context: &CallContext,
        supplier_hotel_id: String,
    ) -> impl Future<Output = Result<Self, ReadError>> + Send;

    /// Returns the hotel's profile, if this part contains it.
    fn profile(&self) -> Option<HotelProfile>;
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ContentKey {
    mode: Mode,
    supplier: SupplierId,
    supplier_hotel_id: String,
    part: ContentPart,
}

/// Reads the content of hotels: from the database, and from suppliers if it is missing or stale.
pub struct ContentService {
    pub(crate) base: Base,
    pub(crate) suppliers: Arc<SupplierDirectory>,
    pub(crate) router: SupplierRouter,
    pub(crate) mappings: HotelMappingService,
    pub(crate) tasks: TaskSupervisor,
    pub(crate) config: ContentConfig,
    pub(crate) refresh_timeout: Duration,
    pub(crate) fetches: SingleFlight<ContentKey>,
}

impl ContentService {
    /// Returns details and reviews of a hotel, from a supplier that has the hotel.
    pub async fn hotel_content(
        self: &Arc<Self>,
        context: &RequestContext,
        id: &HotelId,
    ) -> Result<HotelContent, QueryError> {
        let mode = context.owner.tenant.mode;
        let ids = std::slice::from_ref(id);
        let mappings = self.mappings.find_hotel_mappings(mode, ids, None).await?;
        let route_request = RouteRequest::new(context, Capability::HotelContent, None);
        let eligible = Some(mappings.common_suppliers.as_slice());
        let route = self.router.route(route_request, eligible)?;
        let mut first_error = None;
        let suppliers = route.suppliers.iter();
        for hotel in suppliers.filter_map(|supplier| mappings.at_supplier(supplier).next()) {
            match self.content_from(context, hotel).await {
                Err(QueryError::Supplier { supplier, error }) if allows_failover(&error) => {
                    first_error.get_or_insert(QueryError::Supplier { supplier, error });
                }
                result => return result,
            }
        }
        Err(first_error.unwrap_or(QueryError::Unsupported(None)))
    }

    async fn content_from(
        self: &Arc<Self>,
        context: &RequestContext,
        hotel: &HotelMapping,
    ) -> Result<HotelContent, QueryError> {
        // Both futures run to completion, so that a successful part is stored if the other one
        // fails.
        let (details, reviews) = futures::join!(
            self.cached_or_fetch::<HotelDetails>(context, hotel),
            self.cached_or_fetch::<Option<Reviews>>(context, hotel)
        );
        Ok(HotelContent {
            supplier: hotel.supplier.clone(),
            details: details?,
            reviews: reviews?,
        })
    }

    async fn cached_or_fetch<S: CachedContent>(
        self: &Arc<Self>,
        context: &RequestContext,
        hotel: &HotelMapping,
    ) -> Result<Cached<S>, QueryError> {
        let key = ContentKey {
            mode: context.owner.tenant.mode,
            supplier: hotel.supplier.clone(),
            supplier_hotel_id: hotel.supplier_hotel_id.clone(),
            part: S::CONTENT_PART,
        };
        let call_context = read_call_context(context);
        let Some(cached) = self.read_cached::<S>(&key).await? else {
            return self.fetch::<S>(&key, &hotel.hotel_id, &call_context).await;
        };
        if cached.is_stale {
            self.refresh_in_background::<S>(key, hotel.hotel_id.clone(), call_context);
        }
        Ok(cached)
    }

    /// Returns the stored content. A document that cannot be parsed counts as never fetched.
    async fn read_cached<S: CachedContent>(
        &self,
        key: &ContentKey,
    ) -> Result<Option<Cached<S>>, DatabaseError> {
        let (store, hotel) = (&self.base.store, &key.supplier_hotel_id);
        let stored = store.hotel_content(key.mode, &key.supplier, hotel, key.part);
        let fresh_ms = S::max_age_s(&self.config).saturating_mul(1000);
        let fresh_ms = i64::try_from(fresh_ms).unwrap_or(i64::MAX);
        Ok(stored.await?.and_then(|stored| {
            Some(Cached {
                value: serde_json::from_str(&stored.document).ok()?,
                fetched_at: stored.fetched_at,
                is_stale: self.base.now().since(stored.fetched_at) >= fresh_ms,
            })
        }))
    }

    /// Refreshes content in the background, unless a fetch is already in progress.
    fn refresh_in_background<S: CachedContent>(
        self: &Arc<Self>,
        key: ContentKey,
        hotel: HotelId,
        call_context: CallContext,
    ) {
        if self.fetches.is_in_flight(&key) {
            return;
        }
        let service = Arc::clone(self);
        let deadline = Deadline::from_now(self.refresh_timeout);
        let call_context = CallContext {
            deadline: deadline.instant(),
            ..call_context
        };
        self.tasks.spawn("refresh hotel content", async move {
            if let Err(error) = service.fetch::<S>(&key, &hotel, &call_context).await {
                tracing::warn!(supplier = %key.supplier, %hotel, part = ?key.part, error = &error as &dyn std::error::Error, "hotel content could not be refreshed; the stored content is still used");
            }
        });
    }

    /// Fetches content and stores it. Concurrent callers share one fetch.
    async fn fetch<S: CachedContent>(
        &self,
        key: &ContentKey,
        hotel: &HotelId,
        call_context: &CallContext,
    ) -> Result<Cached<S>, QueryError> {
        let lock = self.fetches.lock_for(key);
        let _guard = lock.lock().await;
        let cached = self.read_cached::<S>(key).await?;
        if let Some(cached) = cached.filter(|cached| !cached.is_stale) {
            return Ok(cached);
        }
        let failed = |error| QueryError::Supplier {
            supplier: key.supplier.clone(),
            error,
        };
        let supplier = self.suppliers.loaded(&key.supplier);
        let supplier = supplier.ok_or_else(|| failed(ReadError::Unsupported))?;
        let hotel_id = &key.supplier_hotel_id;
        let value = S::fetch(&supplier, call_context, hotel_id.clone()).await;
        let value = value.map_err(failed)?;
        let (store, now) = (&self.base.store, self.base.now());
        let mut write = UnitOfWork::new(now);
        let document = serde_json::to_string(&value).unwrap_or_default();
        write.save_hotel_content(key.mode, &key.supplier, hotel_id, key.part, &document);
        store.commit(write).await.map_err(database_error)?;
        if let Some(profile) = value.profile() {
            let observation = HotelObservation {
                supplier_hotel_id: hotel_id.clone(),
                candidate: hotel.clone(),
                profile,
            };
            let seen = [observation];
            let resolved = store.resolve_hotel_ids(key.mode, &key.supplier, &seen, now);
            resolved.await?;
        }
        Ok(Cached {
            value,
            fetched_at: now,
            is_stale: false,
        })
    }
}

impl CachedContent for HotelDetails {
    const CONTENT_PART: ContentPart = ContentPart::Details;

    fn max_age_s(config: &ContentConfig) -> u64 {
        config.details_fresh_s
    }

    async fn fetch(
        supplier: &Supplier,
        call_context: &CallContext,
        supplier_hotel_id: String,
    ) -> Result<Self, ReadError> {
        let details = supplier.read_hotel_details(call_context, supplier_hotel_id);
        details.await
    }

    fn profile(&self) -> Option<HotelProfile> {
        Some(HotelProfile {
            name: Some(self.name.clone()),
            location: self.location,
            time_zone: self.time_zone.clone(),
        })
    }
}

impl CachedContent for Option<Reviews> {
    const CONTENT_PART: ContentPart = ContentPart::Reviews;

    fn max_age_s(config: &ContentConfig) -> u64 {
        config.reviews_fresh_s
    }

    async fn fetch(
        supplier: &Supplier,
        call_context: &CallContext,
        supplier_hotel_id: String,
    ) -> Result<Self, ReadError> {
        let limit = u16::try_from(CONTENT_ITEMS_MAX).unwrap_or(u16::MAX);
        let reviews = supplier.read_hotel_reviews(call_context, supplier_hotel_id, limit);
        match reviews.await {
            Ok(reviews) => Ok(Some(reviews)),
            Err(ReadError::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn profile(&self) -> Option<HotelProfile> {
        None
    }
}

/// Converts a commit error. Saving content has no preconditions, so a conflict is reported as a
/// database error.
fn database_error(error: CommitError) -> QueryError {
    match error {
        CommitError::Database(error) => error.into(),
        CommitError::Conflict(conflict) => {
            QueryError::Database(DatabaseError::InvalidStatement(Arc::new(conflict)))
        }
    }
}
