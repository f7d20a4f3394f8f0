//! Revisions: the numbers of the renders that a vehicle and view has had, and the noise that each
//! begins with.

/// Revision of the first render of a vehicle and view. Without layers there is neither an image nor
/// a candidate, so no render is older.
pub(super) const FIRST_REVISION: i64 = 1;

/// Returns the seed of the noise that a vehicle's renders start from: the same for every view, and
/// another for every revision.
///
/// It has 53 bits, so that the number survives JSON readers that know only floating point.
pub(super) fn seed(vehicle_key: &str, revision: i64) -> i64 {
    use sha2::{Digest, Sha256};
    let digest =
        Sha256::new().chain_update(vehicle_key).chain_update(b"\0").chain_update(revision.to_be_bytes()).finalize();
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&digest[..8]);
    (u64::from_be_bytes(bytes) >> 11) as i64
}
