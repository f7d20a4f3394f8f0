//! Getting a key without a key: login of devices.

pub mod device;
