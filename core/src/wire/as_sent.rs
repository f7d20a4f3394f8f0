//! Documents of a node that are kept and shown as the node sent them, and read where they are understood.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::marker::PhantomData;

/// A JSON document that is meant to be a `T`. Another node may send more members, fewer, or others of the same name:
/// what is stored and shown is what was sent, and [`AsSent::read`] finds in it what is understood.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AsSent<T> {
    document: Value,
    #[serde(skip)]
    meant: PhantomData<T>,
}

impl<T> AsSent<T> {
    /// What was sent, or stored.
    pub fn from_document(document: Value) -> Self {
        AsSent { document, meant: PhantomData }
    }

    pub fn document(&self) -> &Value {
        &self.document
    }

    pub fn into_document(self) -> Value {
        self.document
    }
}

impl<T: Serialize> From<&T> for AsSent<T> {
    fn from(meant: &T) -> Self {
        // The types of this protocol have text for keys and no number that JSON lacks, so there is nothing to fail.
        AsSent::from_document(serde_json::to_value(meant).unwrap_or_default())
    }
}

impl<T: DeserializeOwned + Default> AsSent<T> {
    /// What is understood of it; nothing where it is no object.
    pub fn read(&self) -> T {
        T::deserialize(&self.document).unwrap_or_default()
    }
}

/// For members of documents that are read so: a value of another kind counts as absent.
pub(super) fn understood<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    Ok(T::deserialize(Value::deserialize(deserializer)?).ok())
}

/// The same for whole numbers, which another node may send with a fraction.
pub(super) fn whole_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let number: Option<f64> = understood(deserializer)?;
    Ok(number.filter(|number| *number >= 0.0).map(|number| number.round() as u64))
}

#[cfg(test)]
mod tests {
    use super::super::{MachineLoad, Receipt};
    use super::*;
    use serde_json::json;

    #[test]
    fn a_document_is_kept_as_it_was_sent() {
        for document in [json!(null), json!("paid in full"), json!({"light": 7, "own": [1, 2.5]})] {
            let sent: AsSent<Receipt> = serde_json::from_value(document.clone()).expect("anything is taken");
            assert_eq!(serde_json::to_value(&sent).expect("a value"), document);
        }
    }

    #[test]
    fn what_is_not_understood_is_absent() {
        for (document, process_memory_mb, gpu_utilisation) in [
            (json!(null), None, None),
            (json!([1]), None, None),
            (json!({"memory_mb": 512, "gpu_utilisation": 0.25, "fans": 3}), Some(512), Some(0.25)),
            (json!({"memory_mb": 511.6, "gpu_utilisation": null}), Some(512), None),
            (json!({"memory_mb": "much", "gpu_utilisation": 1}), None, Some(1.0)),
            (json!({"memory_mb": -1}), None, None),
        ] {
            let load = AsSent::<MachineLoad>::from_document(document.clone()).read();
            assert_eq!(
                (load.process_memory_mb, load.card.gpu_utilisation),
                (process_memory_mb, gpu_utilisation),
                "{document}"
            );
        }
    }
}
