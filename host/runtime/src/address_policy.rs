//! Policy for network addresses that the gateway may connect to when an outside party chooses the
//! address, such as a supplier. This module holds only the list of address ranges; it handles no
//! names, sockets or configuration.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns why an address is not public, or `None` if it is public.
///
/// An IPv6 address that contains an IPv4 address (mapped, compatible, 6to4, Teredo, NAT64) is
/// either refused or judged by the contained address.
fn non_public_reason(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(v4) => forbidden_v4(v4),
        IpAddr::V6(v6) => forbidden_v6(v6),
    }
}

/// Returns whether a grant for private addresses may open this address. This holds for loopback,
/// private and unique-local ranges and shared address space. It never holds for link-local (cloud
/// metadata), multicast, unspecified or reserved addresses.
fn is_grantable(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_loopback() || v4.is_private() || is_shared(v4),
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => is_grantable(IpAddr::V4(v4)),
            None => v6.is_loopback() || is_unique_local(v6),
        },
    }
}

/// The set of addresses that may be connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressPolicy {
    /// Public addresses only.
    PublicOnly,
    /// Public addresses and the loopback addresses of this machine.
    AllowLoopback,
    /// Public addresses and those that an operator may grant: loopback, private,
    /// unique-local and shared addresses.
    AllowPrivate,
}

/// Returns why the policy forbids an address, or `None` if it may be connected to.
#[must_use]
pub fn denial_reason(address: IpAddr, reach: AddressPolicy) -> Option<&'static str> {
    let is_open = match reach {
        AddressPolicy::PublicOnly => false,
        AddressPolicy::AllowLoopback => address.to_canonical().is_loopback(),
        AddressPolicy::AllowPrivate => is_grantable(address),
    };
    non_public_reason(address).filter(|_| !is_open)
}

fn is_shared(address: Ipv4Addr) -> bool {
    matches!(address.octets(), [100, 64..=127, ..])
}

fn is_unique_local(address: Ipv6Addr) -> bool {
    address.octets()[0] & 0xfe == 0xfc
}

fn forbidden_v4(address: Ipv4Addr) -> Option<&'static str> {
    Some(match address.octets() {
        [0, ..] => "unspecified",
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => "private",
        [100, 64..=127, ..] => "shared address space",
        [127, ..] => "loopback",
        [169, 254, ..] => "link-local",
        [192, 0, 0, ..] => "protocol assignments",
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => "documentation",
        [192, 31, 196, _] | [192, 52, 193, _] | [192, 175, 48, _] => "anycast service",
        [192, 88, 99, _] => "6to4 relay",
        [198, 18..=19, ..] => "benchmarking",
        [224..=239, ..] => "multicast",
        [255, 255, 255, 255] => "broadcast",
        [240..=255, ..] => "reserved",
        _ => return None,
    })
}

fn forbidden_v6(address: Ipv6Addr) -> Option<&'static str> {
    if address.is_unspecified() {
        return Some("unspecified");
    }
    if address.is_loopback() {
        return Some("loopback");
    }
    if let Some(inner) = address.to_ipv4_mapped() {
        return forbidden_v4(inner);
    }
    Some(match address.segments() {
        [0, 0, 0, 0, 0, 0, ..] => "IPv4-compatible",
        [0, 0, 0, 0, 0xffff, 0, ..] => "IPv4-translated",
        [0x64, 0xff9b, ..] => "NAT64",
        [0x100, 0, 0, 0, ..] => "discard",
        [0x100, 0, 0, 1, ..] => "dummy prefix",
        [0x2001, 0, ..] => "Teredo",
        [0x2001, 2, 0, ..] => "benchmarking",
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => "documentation",
        [0x2001, 0..=0x1ff, ..] => "protocol assignments",
        [0x2002, ..] => "6to4",
        [0x5f00, ..] => "segment routing",
        [0xfc00..=0xfdff, ..] => "unique local",
        [0xfe80..=0xfebf, ..] => "link-local",
        [0xfec0..=0xfeff, ..] => "site-local",
        [0xff00..=0xffff, ..] => "multicast",
        [0x2000..=0x3fff, ..] => return None,
        _ => "not global unicast",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_addresses_are_allowed() {
        for text in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.1",
            "100.63.255.255",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.167.0.1",
            "192.0.1.1",
            "198.17.255.255",
            "198.20.0.1",
            "223.255.255.255",
            "2606:4700:4700::1111",
            "2a00:1450:4001:80b::200e",
            "::ffff:8.8.8.8",
            "2001:4860:4860::8888",
        ] {
            assert_eq!(non_public_reason(text.parse().unwrap()), None, "{text}");
        }
    }

    /// The first and last address of each range, and alternative notations of these addresses.
    #[rustfmt::skip]
    const SPECIAL: [&str; 67] = [
        "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255",
        "127.0.0.1", "127.255.255.255", "169.254.0.0", "169.254.169.254", "169.254.255.255",
        "172.16.0.0", "172.31.255.255", "192.0.0.1", "192.0.0.170", "192.0.2.0", "192.0.2.255",
        "192.31.196.1", "192.52.193.1", "192.88.99.1", "192.168.0.0", "192.168.255.255",
        "192.175.48.1", "198.18.0.0", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1",
        "239.255.255.255", "240.0.0.1", "254.255.255.255", "255.255.255.255", "::", "::1",
        "::7f00:1", "::a9fe:a9fe", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
        "::ffff:0:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::1", "100::1",
        "100:0:0:1::1", "2001::1", "2001:0:53aa:64c::1", "2001:2::1", "2001:10::1", "2001:20::1",
        "2001:db8::1", "2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:808:808::1", "3fff::1",
        "3fff:fff::1", "4000::1", "5f00::1", "fc00::1", "fd12:3456::1", "fdff:ffff::1", "fe80::1",
        "febf::1", "fec0::1", "feff::1", "ff02::1", "ffff::1",
    ];

    #[test]
    fn every_special_range_is_refused_at_its_first_and_last_address() {
        for text in SPECIAL {
            assert!(non_public_reason(text.parse().unwrap()).is_some(), "{text}");
        }
    }

    #[test]
    fn loopback_policy_allows_only_loopback_and_public_addresses() {
        for (text, open) in [
            ("127.0.0.1", true),
            ("127.8.9.10", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("1.1.1.1", true),
            ("10.0.0.1", false),
            ("169.254.169.254", false),
            ("::ffff:10.0.0.1", false),
            ("::7f00:1", false),
            ("64:ff9b::7f00:1", false),
            ("0.0.0.0", false),
            ("::", false),
        ] {
            let refused = denial_reason(text.parse().unwrap(), AddressPolicy::AllowLoopback);
            assert_eq!(refused.is_none(), open, "{text}");
        }
    }

    #[test]
    fn grant_never_opens_metadata_or_multicast_address() {
        for (text, grantable) in [
            ("127.0.0.1", true),
            ("10.1.2.3", true),
            ("172.20.0.1", true),
            ("192.168.1.1", true),
            ("100.64.0.1", true),
            ("::1", true),
            ("fd00::1", true),
            ("::ffff:127.0.0.1", true),
            ("169.254.169.254", false),
            ("::ffff:169.254.169.254", false),
            ("fe80::1", false),
            ("0.0.0.0", false),
            ("224.0.0.1", false),
            ("255.255.255.255", false),
            ("192.0.2.1", false),
            ("2002:7f00:1::", false),
            ("64:ff9b::7f00:1", false),
        ] {
            assert_eq!(is_grantable(text.parse().unwrap()), grantable, "{text}");
        }
    }
}
