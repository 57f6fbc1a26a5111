//! Which suppliers to ask, in which order, and why: a pure function.

use crate::supplier::{Health, SupplierId};

/// A supplier that could be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Which.
    pub id: SupplierId,
    /// Lower is asked first.
    pub priority: i32,
    /// Share among equals of the same priority; 0 is only asked when named.
    pub weight: u32,
    /// How it does at the moment.
    pub health: Health,
}

/// Why a list of suppliers looks as it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RouteReason {
    /// The caller named it.
    Selected,
    /// The hotel ids belong to it.
    Owner,
    /// Priority, weight and health.
    Configured,
}

impl RouteReason {
    /// Its name in logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Selected => "selected",
            Self::Owner => "owner",
            Self::Configured => "configured",
        }
    }
}

/// Whom to ask, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// First to last; only reads before anything is promised go beyond the first.
    pub suppliers: Vec<SupplierId>,
    /// Why.
    pub reason: RouteReason,
}

/// Nobody to ask.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no configured supplier offers this")]
pub struct NoEligibleSupplier;

/// Chooses among candidates, which are those of the right kind, mode and
/// operation. A selector is obeyed or refused, never replaced. `owners` are the
/// suppliers that know every hotel asked for; none when the request names no
/// hotels. `spread` is a hash of the request id, so that a replayed request is
/// routed the same way.
///
/// # Errors
/// [`NoSupplier`].
pub fn select_route(
    candidates: &[Candidate],
    selector: Option<&SupplierId>,
    owners: Option<&[SupplierId]>,
    spread: u64,
) -> Result<Route, NoEligibleSupplier> {
    if let Some(selected) = selector {
        let known = candidates.iter().any(|candidate| candidate.id == *selected);
        return if known {
            Ok(Route {
                suppliers: vec![selected.clone()],
                reason: RouteReason::Selected,
            })
        } else {
            Err(NoEligibleSupplier)
        };
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
    let suppliers: Vec<SupplierId> = open
        .into_iter()
        .map(|candidate| candidate.id.clone())
        .collect();
    let reason = if owners.is_some() {
        RouteReason::Owner
    } else {
        RouteReason::Configured
    };
    if suppliers.is_empty() {
        Err(NoEligibleSupplier)
    } else {
        Ok(Route { suppliers, reason })
    }
}

/// Weighted rendezvous: of equals, each comes first as often as its weight says.
/// `-ln(u) / weight` in integers, scaled.
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

/// `(64 - log2(value)) · 2^20`, piecewise linear between powers of two.
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

    fn candidate(id: &str, priority: i32, weight: u32, health: Health) -> Candidate {
        Candidate {
            id: SupplierId::parse(id).unwrap(),
            priority,
            weight,
            health,
        }
    }

    fn order(route: &Route) -> Vec<&str> {
        route.suppliers.iter().map(SupplierId::as_str).collect()
    }

    #[test]
    fn a_selector_is_obeyed_or_refused() {
        let all = [
            candidate("A", 0, 1, Health::Up),
            candidate("B", 0, 1, Health::Down),
        ];
        let b = SupplierId::parse("B").unwrap();
        assert_eq!(order(&select_route(&all, Some(&b), None, 1).unwrap()), ["B"]);
        let c = SupplierId::parse("C").unwrap();
        assert_eq!(select_route(&all, Some(&c), None, 1), Err(NoEligibleSupplier));
    }

    #[test]
    fn priority_decides_and_what_is_down_comes_last() {
        let all = [
            candidate("A", 0, 1, Health::Down),
            candidate("B", 2, 1, Health::Up),
            candidate("C", 1, 1, Health::Degraded),
        ];
        assert_eq!(
            order(&select_route(&all, None, None, 7).unwrap()),
            ["C", "B", "A"]
        );
    }

    #[test]
    fn only_owners_are_asked_for_their_hotels() {
        let all = [
            candidate("A", 0, 1, Health::Up),
            candidate("B", 1, 0, Health::Up),
        ];
        let owners = [SupplierId::parse("B").unwrap()];
        let route = select_route(&all, None, Some(&owners), 7).unwrap();
        assert_eq!((order(&route), route.reason), (vec!["B"], RouteReason::Owner));
        assert_eq!(select_route(&all, None, Some(&[]), 7), Err(NoEligibleSupplier));
    }

    #[test]
    fn weights_share_the_first_place_and_a_request_is_always_routed_alike() {
        let all = [
            candidate("A", 0, 3, Health::Up),
            candidate("B", 0, 1, Health::Up),
        ];
        let firsts = (0..4000_u64).map(|n| {
            select_route(&all, None, None, n.wrapping_mul(0x9e37_79b9_7f4a_7c15))
                .unwrap()
                .suppliers[0]
                .as_str()
                == "A"
        });
        let share = firsts.filter(|first| *first).count();
        assert!(
            (2700..3300).contains(&share),
            "A came first {share} times of 4000"
        );
        assert_eq!(select_route(&all, None, None, 42), select_route(&all, None, None, 42));
    }
}
