//! Getting a key without a key (specification section 4): login of devices.

pub mod device;
