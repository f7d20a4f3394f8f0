//! `/admin/signing-keys`: the service's own keys, which sign delivery URLs.

pub mod rotate;
