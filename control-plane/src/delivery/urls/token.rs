//! The text of a delivery token: the signing key's number, the id of the signed URL, and a tag that
//! proves that this service wrote both.
//!
//! A token is base64url (RFC 4648, section 5) without padding of
//!
//! | bytes | |
//! |---|---|
//! | 1 | version, 1 |
//! | 4 | number of the signing key, big endian |
//! | 16 | id of the signed URL (UUID) |
//! | 16 | HMAC-SHA256 (RFC 2104) of all before it, its first 128 bits |
//!
//! It names neither API key nor account, and nothing is looked up for a token whose tag is wrong.
//!
//! Why: `docs/decisions/signed-urls.md` (Delivery token: what it contains).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use uuid::Uuid;

const VERSION: u8 = 1;
const SIGNED_BYTES: usize = 21;
const TAG_BYTES: usize = 16;
const TOKEN_CHARS: usize = 50;

/// 32 random bytes that sign tokens; never printed.
#[derive(Clone)]
pub struct SigningSecret([u8; 32]);

impl SigningSecret {
    pub fn generate(rng: &mut impl rand::CryptoRng) -> Self {
        let mut bytes = [0; 32];
        rng.fill_bytes(&mut bytes);
        SigningSecret(bytes)
    }

    /// Reads the secret from its stored form: 64 hex digits.
    pub fn from_stored(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).ok()?;
        Some(SigningSecret(bytes))
    }

    /// Returns the stored form.
    pub fn to_stored(&self) -> String {
        hex::encode(self.0)
    }

    fn mac(&self, signed: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new(&self.padded().into());
        mac.update(signed);
        mac
    }

    /// Returns the secret as an HMAC key of one block; shorter keys are filled with zeros (RFC
    /// 2104, section 2).
    fn padded(&self) -> [u8; 64] {
        let mut block = [0; 64];
        block[..32].copy_from_slice(&self.0);
        block
    }
}

impl std::fmt::Debug for SigningSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SigningSecret")
    }
}

/// A parsed token whose tag has not been verified yet.
#[derive(Debug, Clone, Copy)]
pub struct UnverifiedToken {
    pub key_number: u32,
    bytes: [u8; SIGNED_BYTES + TAG_BYTES],
}

/// Returns the token of a signed URL.
pub fn sign(key_number: u32, secret: &SigningSecret, id: Uuid) -> String {
    let mut bytes = [0; SIGNED_BYTES + TAG_BYTES];
    bytes[0] = VERSION;
    bytes[1..5].copy_from_slice(&key_number.to_be_bytes());
    bytes[5..SIGNED_BYTES].copy_from_slice(id.as_bytes());
    let tag = secret.mac(&bytes[..SIGNED_BYTES]).finalize().into_bytes();
    bytes[SIGNED_BYTES..].copy_from_slice(&tag[..TAG_BYTES]);
    URL_SAFE_NO_PAD.encode(bytes)
}

impl UnverifiedToken {
    /// Parses a token. Returns `None` for text that cannot be a token of any signer.
    pub fn read(token: &str) -> Option<Self> {
        if token.len() != TOKEN_CHARS {
            return None;
        }
        let bytes: [u8; SIGNED_BYTES + TAG_BYTES] = URL_SAFE_NO_PAD.decode(token).ok()?.try_into().ok()?;
        let [version, a, b, c, d, ..] = bytes;
        (version == VERSION).then(|| UnverifiedToken { key_number: u32::from_be_bytes([a, b, c, d]), bytes })
    }

    /// Returns the id of the URL that the token names, if this secret signed it. Takes the same
    /// time for every wrong tag.
    pub fn verify(&self, secret: &SigningSecret) -> Option<Uuid> {
        let (signed, tag) = self.bytes.split_at(SIGNED_BYTES);
        secret.mac(signed).verify_truncated_left(tag).ok()?;
        Uuid::from_slice(&signed[5..]).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand::rngs::StdRng;

    #[test]
    fn a_token_gives_its_address_back_and_any_change_of_it_does_not() {
        let mut random = StdRng::seed_from_u64(1);
        let (secret, other) = (SigningSecret::generate(&mut random), SigningSecret::generate(&mut random));
        let id = Uuid::from_u128(0x0192_f0c1_2d3e_7a4b_8c5d_6e7f_8091_a2b3);
        let token = sign(7, &secret, id);
        assert_eq!(token.len(), TOKEN_CHARS);
        let claimed = UnverifiedToken::read(&token).expect("a token");
        assert_eq!((claimed.key_number, claimed.verify(&secret)), (7, Some(id)));
        assert_eq!(claimed.verify(&other), None);
        for at in 0..token.len() {
            for with in ['A', 'B', '_'] {
                let mut changed: Vec<char> = token.chars().collect();
                changed[at] = with;
                let changed: String = changed.into_iter().collect();
                let believed = UnverifiedToken::read(&changed).and_then(|claimed| claimed.verify(&secret));
                assert_eq!(believed.is_some(), changed == token, "{at} {with}");
            }
        }
    }

    #[test]
    fn what_is_no_token_is_refused_at_sight() {
        let token = sign(1, &SigningSecret([9; 32]), Uuid::nil());
        let longer = format!("{token}A");
        let spaced = format!(" {}", &token[1..]);
        for wrong in ["", "A", &token[1..], &longer, &spaced, &"ü".repeat(25), &"/".repeat(50)] {
            assert!(UnverifiedToken::read(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn the_tag_is_the_one_of_rfc_2104() {
        // Python: `hmac.new(b"\x09" * 32, message, "sha256").hexdigest()[:32]`, where `message` is
        // `bytes([1, 0, 0, 0, 1]) + bytes(16)`.
        let token = sign(1, &SigningSecret([9; 32]), Uuid::nil());
        let bytes = URL_SAFE_NO_PAD.decode(token).expect("base64url");
        assert_eq!(hex::encode(&bytes[SIGNED_BYTES..]), "9d3573d62d88bb23c7f4485342e00b39");
    }

    #[test]
    fn nothing_of_a_secret_is_printed() {
        assert_eq!(format!("{:?}", SigningSecret([9; 32])), "SigningSecret");
    }
}
