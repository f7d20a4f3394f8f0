//! The load balancer before the control planes: HAProxy, which checks twice a second whether each
//! of them is ready. It sends a request a second time only if it could not connect to the first
//! control plane.

use crate::hosts::address_of;
use crate::programs::{BALANCER, PLANES};
use std::fmt::Write;

/// Seconds for which a stopping control plane still serves. HAProxy notices after a second and a
/// half.
pub const NOTICED_SECONDS: u64 = 3;

pub fn configuration() -> String {
    let mut text = format!(
        "global\n    maxconn 4000\n\
         defaults\n    mode http\n    timeout connect 300ms\n    timeout client 180s\n    timeout server 180s\n    retries 3\n    option redispatch\n\
         frontend clients\n    bind {BALANCER}\n    default_backend planes\n\
         backend planes\n    balance roundrobin\n    option httpchk GET /readyz\n    http-check expect status 200\n    \
         timeout check 1s\n    default-server check inter 500ms fall 2 rise 1\n"
    );
    for (plane, _) in PLANES {
        let _ = writeln!(text, "    server {plane} {}:8080", address_of(plane));
    }
    text
}
