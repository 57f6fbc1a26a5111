//! Selects the suppliers to call and their order. The selection is a pure function.

use crate::named_enum::named_enum;
use crate::supplier::{Health, SupplierId};

/// A supplier that can be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub id: SupplierId,
    /// The priority. Lower values are called first.
    pub priority: i32,
    /// The share among suppliers of the same priority. A supplier with weight 0 is called only if
    /// the request names it or its hotels.
    pub weight: u32,
    pub health: Health,
}

named_enum! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RouteReason {
        /// The request named the supplier.
        Selected = "selected",
        /// The requested hotel ids belong to the supplier.
        Owner = "owner",
        /// The order follows from priority, weight and health.
        Configured = "configured",
    }
}

/// The suppliers to call, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SupplierRoute {
    /// The suppliers from first to last. Only reads made before anything is promised go beyond the
    /// first.
    pub suppliers: Vec<SupplierId>,
    pub reason: RouteReason,
}

/// Error for a request that no supplier can serve.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no configured supplier offers this")]
pub struct NoEligibleSupplier;

/// Selects suppliers from candidates, which already have the right kind, mode and capability.
///
/// A selector is followed or rejected; no other supplier replaces it. `owners` are the suppliers
/// that have every requested hotel; it is `None` if the request names no hotels. The last argument
/// is a hash of the request id, so that a replayed request is routed the same way.
///
/// # Errors
/// Returns [`NoEligibleSupplier`] if no candidate remains.
pub fn select_route(
    candidates: &[Candidate],
    selector: Option<&SupplierId>,
    owners: Option<&[SupplierId]>,
    spread: u64,
) -> Result<SupplierRoute, NoEligibleSupplier> {
    if let Some(selected) = selector {
        let mut ids = candidates.iter().map(|candidate| &candidate.id);
        let id = ids.find(|id| *id == selected).ok_or(NoEligibleSupplier)?;
        return Ok(SupplierRoute {
            suppliers: vec![id.clone()],
            reason: RouteReason::Selected,
        });
    }
    let mut open: Vec<&Candidate> = candidates
        .iter()
        .filter(|candidate| owners.is_none_or(|owners| owners.contains(&candidate.id)))
        .filter(|candidate| candidate.weight > 0 || owners.is_some())
        .collect();
    open.sort_by_cached_key(|candidate| {
        (
            candidate.health == Health::Down,
            candidate.priority,
            rendezvous_rank(candidate, spread),
            candidate.id.clone(),
        )
    });
    if open.is_empty() {
        return Err(NoEligibleSupplier);
    }
    Ok(SupplierRoute {
        suppliers: open.iter().map(|candidate| candidate.id.clone()).collect(),
        reason: match owners {
            Some(_) => RouteReason::Owner,
            None => RouteReason::Configured,
        },
    })
}

/// Returns a weighted rendezvous rank: among equals, each supplier comes first in proportion to its
/// weight. The rank is `-ln(u) / weight`, in scaled integers.
fn rendezvous_rank(candidate: &Candidate, spread: u64) -> u64 {
    let mixed = candidate
        .id
        .as_str()
        .bytes()
        .fold(spread ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    let mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let mixed = mixed ^ (mixed >> 33);
    minus_log2_scaled(mixed.max(1)) / u64::from(candidate.weight.max(1))
}

/// Returns `(64 - log2(value)) · 2^20`, piecewise linear between powers of two.
fn minus_log2_scaled(value: u64) -> u64 {
    let floor = u64::from(value.ilog2());
    let below = value ^ (1 << floor);
    let fraction = if floor >= 20 {
        below >> (floor - 20)
    } else {
        below << (20 - floor)
    };
    (64 << 20) - ((floor << 20) + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(id: &str) -> SupplierId {
        SupplierId::parse(id).unwrap()
    }

    fn candidate((name, priority, weight, health): (&str, i32, u32, Health)) -> Candidate {
        Candidate {
            id: id(name),
            priority,
            weight,
            health,
        }
    }

    fn order(route: &SupplierRoute) -> Vec<&str> {
        route.suppliers.iter().map(SupplierId::as_str).collect()
    }

    #[test]
    fn selector_is_followed_or_rejected() {
        let all = [("A", 0, 1, Health::Up), ("B", 0, 1, Health::Down)].map(candidate);
        let route = select_route(&all, Some(&id("B")), None, 1);
        assert_eq!(order(&route.unwrap()), ["B"]);
        let unknown = select_route(&all, Some(&id("C")), None, 1);
        assert_eq!(unknown, Err(NoEligibleSupplier));
    }

    #[test]
    fn suppliers_are_ordered_by_priority_and_down_ones_come_last() {
        let all = [
            ("A", 0, 1, Health::Down),
            ("B", 2, 1, Health::Up),
            ("C", 1, 1, Health::Degraded),
        ];
        let route = select_route(&all.map(candidate), None, None, 7);
        assert_eq!(order(&route.unwrap()), ["C", "B", "A"]);
    }

    #[test]
    fn hotel_request_is_routed_only_to_owners() {
        let all = [("A", 0, 1, Health::Up), ("B", 1, 0, Health::Up)].map(candidate);
        let route = select_route(&all, None, Some(&[id("B")]), 7).unwrap();
        assert_eq!(order(&route), ["B"]);
        assert_eq!(route.reason, RouteReason::Owner);
        let unowned = select_route(&all, None, Some(&[]), 7);
        assert_eq!(unowned, Err(NoEligibleSupplier));
    }

    #[test]
    fn first_place_follows_weights_and_route_is_stable_per_request() {
        let all = [("A", 0, 3, Health::Up), ("B", 0, 1, Health::Up)].map(candidate);
        let route = |spread| select_route(&all, None, None, spread).unwrap();
        let spreads = (0..4000_u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let share = spreads.filter(|spread| order(&route(*spread))[0] == "A");
        let share = share.count();
        assert!(
            (2700..3300).contains(&share),
            "A came first {share} times of 4000"
        );
        assert_eq!(route(42), route(42));
    }
}
