//! Permanent ids of vehicles: `cyv_` and thirteen characters. An id stands for a make, a model and
//! a body, never for a year. It is computed from their slugs alone, so every release and every
//! installation has the same ids.

use super::{Catalog, bodies};
use cyclorama_core::BodyClass;
use serde::{Deserialize, Serialize, Serializer};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

const PREFIX: &str = "cyv_";
const CHARACTERS: usize = 13;
/// Five bits a character. `i`, `l`, `o` and `u` are left out, because they are mistaken for digits
/// or for each other.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// A prefix that keeps ids apart from other digests of the same text.
const DOMAIN: &str = "cyclorama vehicle 1\n";

static RENAMES: &str = include_str!("../data/renames.toml");

/// An id of a vehicle, whether or not the catalog has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VehicleId([u8; CHARACTERS]);

/// A text that is not an id of a vehicle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an id of a vehicle is `{PREFIX}` and {CHARACTERS} digits and lower-case letters without i, l, o and u")]
pub struct NoVehicleId;

impl VehicleId {
    /// Computes the id of a body of a model from the slugs of make and model.
    pub fn of(make: &str, model: &str, body: BodyClass) -> Self {
        let (make, model) = renames().first_name(make, model);
        let digest = Sha256::digest(format!("{DOMAIN}{make}/{model}/{body}"));
        let mut id = [0; CHARACTERS];
        for (position, character) in id.iter_mut().enumerate() {
            // The digest has 256 bits, of which 65 are used.
            let value = (0..5).fold(0, |value, bit| {
                let bit = position * 5 + bit;
                value << 1 | digest[bit / 8] >> (7 - bit % 8) & 1
            });
            *character = ALPHABET[usize::from(value)];
        }
        VehicleId(id)
    }
}

impl fmt::Display for VehicleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        self.0.iter().try_for_each(|character| write!(f, "{}", char::from(*character)))
    }
}

impl FromStr for VehicleId {
    type Err = NoVehicleId;

    fn from_str(text: &str) -> Result<Self, NoVehicleId> {
        let characters = text.trim().strip_prefix(PREFIX).ok_or(NoVehicleId)?;
        let id: [u8; CHARACTERS] = characters.as_bytes().try_into().map_err(|_| NoVehicleId)?;
        if id.iter().all(|character| ALPHABET.contains(character)) { Ok(VehicleId(id)) } else { Err(NoVehicleId) }
    }
}

impl Serialize for VehicleId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The make and the model of an id, as positions in the release's lists, and its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IdPlace {
    pub make: u32,
    pub model: u32,
    pub body: BodyClass,
}

/// All ids of a release: one for each model and each body that it has in some year.
pub(super) type Ids = HashMap<VehicleId, IdPlace>;

impl Catalog {
    pub(super) fn ids(&self) -> Ids {
        let mut ids = Ids::new();
        for (make_position, make) in self.makes().iter().enumerate() {
            for (model_position, model) in make.models.iter().enumerate() {
                let corrected = self.spans_before(make, model).unwrap_or_default();
                let spans = model.spans.iter().chain(corrected);
                let usual = spans.filter_map(|span| BodyClass::ALL.get(usize::from(span.body)).copied());
                let listed = bodies::lines(&make.slug, &model.slug).iter().map(|line| line.body);
                for body in usual.chain(listed) {
                    let place = IdPlace { make: make_position as u32, model: model_position as u32, body };
                    ids.insert(VehicleId::of(&make.slug, &model.slug, body), place);
                }
            }
        }
        ids
    }
}

/// Slugs that changed between releases. An id is computed from the first name that a model had.
#[derive(Debug, Default)]
struct Renames {
    /// The first name, `make/model`, by the present one.
    first: HashMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    renames: Vec<Rename>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rename {
    from: String,
    to: String,
}

impl Renames {
    /// Reads the list. A model that was renamed several times is listed once for each rename, in
    /// order of time.
    fn read(text: &str) -> Result<Self, toml::de::Error> {
        let file: File = toml::from_str(text)?;
        let mut renames = Renames::default();
        for Rename { from, to } in file.renames {
            let first = renames.first.remove(&from).unwrap_or(from);
            renames.first.insert(to, first);
        }
        Ok(renames)
    }

    fn first_name<'a>(&'a self, make: &'a str, model: &'a str) -> (&'a str, &'a str) {
        if self.first.is_empty() {
            return (make, model);
        }
        let first = self.first.get(&format!("{make}/{model}"));
        first.and_then(|name| name.split_once('/')).unwrap_or((make, model))
    }
}

fn renames() -> &'static Renames {
    /// The embedded list. A test reads it, so that it is never left empty by a mistake.
    static READ: LazyLock<Renames> = LazyLock::new(|| Renames::read(RENAMES).unwrap_or_default());
    &READ
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ids are in customers' databases, so they must never change.
    #[test]
    fn an_id_is_made_from_make_model_and_body() {
        for (make, model, body, id) in [
            ("volkswagen", "golf", BodyClass::Hatchback, "cyv_6pjsv5ms8vt4a"),
            ("volkswagen", "golf", BodyClass::Wagon, "cyv_vn3k813rakspr"),
            ("porsche", "911", BodyClass::Coupe, "cyv_0hwrj14krt3sm"),
        ] {
            assert_eq!(VehicleId::of(make, model, body).to_string(), id);
            assert_eq!(id.parse(), Ok(VehicleId::of(make, model, body)));
        }
        for no_id in ["", "cyv_", "cyv_0123456789abi", "cyv_0123456789abc0", "CYV_0123456789abc", "veh_0123456789abc"] {
            assert_eq!(no_id.parse::<VehicleId>(), Err(NoVehicleId), "{no_id}");
        }
    }

    #[test]
    fn no_two_vehicles_of_the_release_share_an_id() {
        let catalog = Catalog::embedded().unwrap();
        let mut seen: HashMap<VehicleId, (u32, u32, BodyClass)> = HashMap::new();
        let ids = catalog.ids();
        for (id, place) in &ids {
            assert_eq!(seen.insert(*id, (place.make, place.model, place.body)), None);
        }
        assert!(ids.len() >= 14_841, "{}", ids.len());
        let golf = ids[&VehicleId::of("volkswagen", "golf", BodyClass::Hatchback)];
        assert_eq!(catalog.makes()[golf.make as usize].models[golf.model as usize].slug, "golf");
    }

    #[test]
    fn a_renamed_model_keeps_its_first_id() {
        let text = "renames = [{ from = \"a/one\", to = \"a/two\" }, { from = \"a/two\", to = \"b/three\" }]";
        let renames = Renames::read(text).unwrap();
        assert_eq!(renames.first_name("b", "three"), ("a", "one"));
        assert_eq!(renames.first_name("a", "two"), ("a", "two"));
        Renames::read(RENAMES).unwrap();
    }
}
