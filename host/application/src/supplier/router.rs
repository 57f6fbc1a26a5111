//! Selects the suppliers of a request and the order in which they are called.

use crate::context::RequestContext;
use crate::supplier::directory::SupplierDirectory;
use crate::supplier::query_error::QueryError;
use host_domain::personal::PersonalWords;
use host_domain::routing::{self, Candidate, RouteReason, SupplierRoute};
use host_domain::supplier::{Capability, ReadError, SupplierId};
use host_runtime::{CallContext, Supplier};
use std::sync::Arc;

/// Why a supplier gets no new requests.
const DRAINED: &str = "an operator has taken it out of use for new requests";

/// A request that any of several suppliers can serve.
#[derive(Debug, Clone, Copy)]
pub struct RouteRequest<'a> {
    pub(crate) context: &'a RequestContext,
    capability: Capability,
    selector: Option<&'a SupplierId>,
}

impl<'a> RouteRequest<'a> {
    /// Creates a request for a capability. `selector` is the supplier that the caller named.
    pub const fn new(
        context: &'a RequestContext,
        capability: Capability,
        selector: Option<&'a SupplierId>,
    ) -> Self {
        Self {
            context,
            capability,
            selector,
        }
    }
}

/// The suppliers that offer the capability of a request, not yet in order.
#[derive(Debug)]
pub struct RouteCandidates<'a> {
    request: RouteRequest<'a>,
    candidates: Vec<Candidate>,
    /// Suppliers that would be candidates but get no new requests.
    drained: Vec<SupplierId>,
}

impl RouteCandidates<'_> {
    /// Chooses the suppliers to call, in order. `eligible` are the suppliers that have every hotel
    /// of the request; it is `None` if the request names no hotels.
    ///
    /// # Errors
    /// [`QueryError::Unsupported`] if no candidate is eligible, [`QueryError::Supplier`] if all that
    /// are eligible are drained.
    pub fn choose(self, eligible: Option<&[SupplierId]>) -> Result<SupplierRoute, QueryError> {
        let (capability, selector) = (self.request.capability, self.request.selector);
        let hash = self.request.context.routing_hash();
        let route = routing::select_route(&self.candidates, selector, eligible, hash);
        let only_eligible = eligible
            .filter(|suppliers| suppliers.len() == 1)
            .and_then(<[SupplierId]>::first);
        let route = route.map_err(|_| self.no_route(selector.or(only_eligible)))?;
        tracing::debug!(request_id = %self.request.context.request_id, operation = capability.as_str(), suppliers = ?route.suppliers, reason = route.reason.as_str(), "a request was routed");
        Ok(route)
    }

    /// Returns the error of a request that no candidate can serve. `supplier` is the only one that
    /// could.
    fn no_route(&self, supplier: Option<&SupplierId>) -> QueryError {
        let mut drained = self.drained.iter();
        let drained = match supplier {
            Some(supplier) => drained.find(|drained| *drained == supplier),
            None => drained.next(),
        };
        match drained {
            Some(supplier) => QueryError::Supplier {
                supplier: supplier.clone(),
                error: ReadError::Unavailable(DRAINED.to_owned()),
            },
            None => QueryError::Unsupported(supplier.cloned()),
        }
    }

    /// Returns whether a request that names no hotels can be routed.
    fn has_route(&self) -> bool {
        match self.request.selector {
            Some(selected) => self.candidates.iter().any(|one| one.id == *selected),
            None => self.candidates.iter().any(|one| one.weight > 0),
        }
    }
}

/// Selects suppliers and calls them in order.
#[derive(Clone)]
pub struct SupplierRouter {
    pub(crate) directory: Arc<SupplierDirectory>,
}

impl SupplierRouter {
    /// Lists the suppliers that offer a capability. Callers use it before they look up the hotels of
    /// a request, so that this error comes first.
    ///
    /// # Errors
    /// [`QueryError::Unsupported`] if no supplier offers it, or not the one that was named.
    /// [`QueryError::Supplier`] if those that offer it are drained.
    pub fn candidates<'a>(
        &self,
        request: RouteRequest<'a>,
    ) -> Result<RouteCandidates<'a>, QueryError> {
        let candidates = self.list_candidates(request)?;
        if candidates.has_route() {
            Ok(candidates)
        } else {
            Err(candidates.no_route(request.selector))
        }
    }

    /// Chooses the suppliers to call, in order. `eligible` are the suppliers that have every hotel
    /// of the request; it is `None` if the request names no hotels.
    ///
    /// # Errors
    /// [`QueryError::Unsupported`] if no supplier is left.
    pub fn route(
        &self,
        request: RouteRequest<'_>,
        eligible: Option<&[SupplierId]>,
    ) -> Result<SupplierRoute, QueryError> {
        self.list_candidates(request)?.choose(eligible)
    }

    fn list_candidates<'a>(
        &self,
        request: RouteRequest<'a>,
    ) -> Result<RouteCandidates<'a>, QueryError> {
        let capability = request.capability;
        let kind = capability.supplier_kind();
        let kind = kind.ok_or(QueryError::Unsupported(None))?;
        let tenant = &request.context.owner.tenant;
        let (mode, organization) = (tenant.mode, &tenant.organization);
        let capable = self
            .directory
            .capable_suppliers(kind, capability, mode, organization);
        Ok(RouteCandidates {
            request,
            candidates: capable.candidates,
            drained: capable.drained,
        })
    }

    /// Calls the suppliers of a route in order until one responds. If none does, returns the error
    /// of the first.
    ///
    /// # Errors
    /// [`QueryError::Supplier`] with the error of the first supplier, or
    /// [`QueryError::Unsupported`] if none of them is loaded any longer.
    pub async fn query_with_failover<T, F, Response>(
        &self,
        context: &RequestContext,
        route: &SupplierRoute,
        call: F,
    ) -> Result<(SupplierId, T), QueryError>
    where
        F: Fn(Supplier, CallContext) -> Response,
        Response: Future<Output = Result<T, ReadError>>,
    {
        let mut first_error = None;
        for id in &route.suppliers {
            let Some(supplier) = self.directory.loaded(id) else {
                continue;
            };
            // The future is boxed: the state of a call into a plugin is large and would be copied
            // with every enclosing future.
            let response = Box::pin(call(supplier, read_call_context(context)));
            let error = match response.await {
                Ok(response) => return Ok((id.clone(), response)),
                Err(error) => error,
            };
            let tries_next = allows_failover(&error) && !context.deadline.remaining().is_zero();
            first_error.get_or_insert(QueryError::Supplier {
                supplier: id.clone(),
                error,
            });
            if !tries_next {
                break;
            }
        }
        Err(first_error.unwrap_or_else(|| {
            let selected = route.suppliers.first().cloned();
            QueryError::Unsupported(selected.filter(|_| route.reason == RouteReason::Selected))
        }))
    }
}

pub fn read_call_context(context: &RequestContext) -> CallContext {
    CallContext {
        request_id: context.request_id.to_string(),
        organization: context.owner.tenant.organization.clone(),
        mode: Some(context.owner.tenant.mode),
        booking: None,
        personal: PersonalWords::default(),
        deadline: context.deadline.instant(),
    }
}

/// Returns whether the supplier failed and not the request, so that another supplier may succeed.
pub const fn allows_failover(error: &ReadError) -> bool {
    !matches!(error, ReadError::Rejected(_))
}
