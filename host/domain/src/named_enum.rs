//! Enums with a fixed name for each variant, which is stored and part of the API.

/// Defines an enum, its list `ALL` in the order of declaration, and the conversions from and to the
/// names.
macro_rules! named_enum {
    (
        $(#[$enum_meta:meta])*
        pub enum $enum:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $name:literal,)+
        }
    ) => {
        $(#[$enum_meta])*
        pub enum $enum {
            $($(#[$variant_meta])* $variant,)+
        }

        impl $enum {
            /// All variants.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Returns the name.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// Returns the variant with this name.
            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|known| known.as_str() == name)
            }
        }
    };
}

pub(crate) use named_enum;

#[cfg(test)]
mod tests {
    use crate::account::{AccountState, OrganizationRole, Permission};
    use crate::audit::{AccessChannel, ActorKind, AuditAction};
    use crate::booking::BookingStatus;
    use crate::console::booking::AnyBookingKind;
    use crate::console::go_live::GoLiveStep;
    use crate::event::{EventType, Product};
    use crate::mandate::{MandateRejection, MandateStatus};
    use crate::owner::Mode;
    use crate::remote_call::AttemptOutcome;
    use crate::routing::RouteReason;
    use crate::settlement::{SettlementChoice, SettlementState};
    use crate::supplier::Capability;
    use crate::watch::{PurchaseFailureReason, WatchStatus};
    use crate::webhook::{
        DeliveryFailureReason, DeliveryStatus, SubscriptionStatus, WatchEventStatus,
    };

    #[test]
    fn every_name_parses_to_its_variant() {
        macro_rules! check {
            ($($enum:ident),+) => {$(
                for variant in $enum::ALL {
                    assert_eq!($enum::parse(variant.as_str()), Some(variant));
                }
                assert_eq!($enum::parse(""), None);
            )+};
        }
        check!(AnyBookingKind, AttemptOutcome, GoLiveStep);
        check!(BookingStatus, EventType, Product, Mode, Capability);
        check!(AccountState, OrganizationRole, Permission);
        check!(ActorKind, AccessChannel, AuditAction);
        check!(SettlementChoice, SettlementState);
        check!(MandateRejection, MandateStatus, RouteReason);
        check!(PurchaseFailureReason, WatchStatus, WatchEventStatus);
        check!(DeliveryFailureReason, DeliveryStatus, SubscriptionStatus);
        assert_eq!(DeliveryStatus::parse("pending"), None);
        assert_eq!(WatchStatus::parse("ACTIVE"), None);
        assert_eq!(EventType::parse("hotel.booking"), None);
    }
}
