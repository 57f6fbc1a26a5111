//! Selects the suppliers of a request and the order in which they are called.

use crate::application::Application;
use crate::context::RequestContext;
use crate::supplier::query_error::QueryError;
use host_domain::routing::{self, Route};
use host_domain::supplier::{Capability, ReadError, SupplierId};
use host_runtime::{CallContext, Supplier};

/// A request that any of several suppliers can serve.
#[derive(Debug, Clone, Copy)]
pub struct RouteRequest<'a> {
    /// The caller that makes the request.
    pub context: &'a RequestContext,
    /// The capability that a supplier must have.
    pub operation: Capability,
    /// The supplier that the caller named.
    pub selector: Option<&'a SupplierId>,
    /// The suppliers that have every hotel of the request. `None` if the request names no hotels.
    pub eligible_suppliers: Option<&'a [SupplierId]>,
}

impl Application {
    /// Returns the suppliers to call, in order.
    pub fn route(&self, question: RouteRequest<'_>) -> Result<Route, QueryError> {
        let RouteRequest {
            context,
            operation,
            selector,
            eligible_suppliers: owners,
        } = question;
        let kind = operation
            .supplier_kind()
            .ok_or(QueryError::Unsupported(None))?;
        let tenant = &context.owner.tenant;
        let candidates =
            self.suppliers
                .candidates(kind, operation, tenant.mode, &tenant.organization);
        let route = routing::select_route(&candidates, selector, owners, context.routing_hash());
        let only_owner = owners
            .filter(|owners| owners.len() == 1)
            .and_then(<[SupplierId]>::first);
        let route = route.map_err(|_| QueryError::Unsupported(selector.or(only_owner).cloned()))?;
        tracing::debug!(operation = operation.as_str(), suppliers = ?route.suppliers, reason = route.reason.as_str(), "routed");
        Ok(route)
    }

    /// Calls one supplier after another until one responds. If none does, returns the error of the
    /// first.
    pub async fn query_with_failover<T, F, Answer>(
        &self,
        question: RouteRequest<'_>,
        call: F,
    ) -> Result<(SupplierId, T), QueryError>
    where
        F: Fn(Supplier, CallContext) -> Answer,
        Answer: Future<Output = Result<T, ReadError>>,
    {
        let mut first = None;
        for id in self.route(question)?.suppliers {
            let Some(supplier) = self.runtime.supplier(&id) else {
                continue;
            };
            // The future is boxed: the state of a call into a plugin is large and would be copied
            // with every enclosing future.
            let answer = Box::pin(call(supplier, read_call_context(question.context)));
            let error = match answer.await {
                Ok(answer) => return Ok((id, answer)),
                Err(error) => error,
            };
            let go_on = allows_failover(&error) && !question.context.deadline.remaining().is_zero();
            first.get_or_insert(QueryError::Supplier {
                supplier: id,
                error,
            });
            if !go_on {
                break;
            }
        }
        Err(first.unwrap_or(QueryError::Unsupported(question.selector.cloned())))
    }
}

/// Builds the context of a call that changes nothing.
pub fn read_call_context(context: &RequestContext) -> CallContext {
    CallContext {
        request_id: context.request_id.to_string(),
        organization: context.owner.tenant.organization.clone(),
        booking: None,
        deadline: context.deadline.instant(),
    }
}

/// Returns whether the supplier failed and not the request, so that another supplier may succeed.
pub const fn allows_failover(error: &ReadError) -> bool {
    match error {
        ReadError::Rejected(_) => false,
        ReadError::Unsupported
        | ReadError::NotFound(_)
        | ReadError::RateLimited { .. }
        | ReadError::TimedOut(_)
        | ReadError::Unavailable(_)
        | ReadError::Failed(_)
        | ReadError::InvalidResponse(_)
        | ReadError::Misconfigured(_)
        | ReadError::Overloaded => true,
    }
}
