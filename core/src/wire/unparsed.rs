//! JSON documents from a node that are stored and shown exactly as the node sent them, and read
//! only as far as this version understands them.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::marker::PhantomData;

/// A JSON document that is meant to be a `T`. A node of another version may send more members,
/// fewer, or others of the same name. The document is stored and shown as it was sent, and
/// [`Unparsed::read`] returns what this version understands of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Unparsed<T> {
    document: Value,
    #[serde(skip)]
    meant: PhantomData<T>,
}

impl<T> Unparsed<T> {
    /// Wraps a document that was sent or stored.
    pub fn from_document(document: Value) -> Self {
        Unparsed { document, meant: PhantomData }
    }

    pub fn document(&self) -> &Value {
        &self.document
    }

    pub fn into_document(self) -> Value {
        self.document
    }
}

impl<T: Serialize> From<&T> for Unparsed<T> {
    fn from(meant: &T) -> Self {
        // The types of this protocol have text keys and no numbers that JSON lacks, so the
        // conversion cannot fail.
        Unparsed::from_document(serde_json::to_value(meant).unwrap_or_default())
    }
}

impl<T: DeserializeOwned + Default> Unparsed<T> {
    /// Returns what this version understands of the document, or `T::default()` if the document
    /// cannot be read as a `T`.
    pub fn read(&self) -> T {
        T::deserialize(&self.document).unwrap_or_default()
    }
}

/// Deserializer for a member of such a document: a value of another kind counts as absent.
pub(super) fn understood<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    Ok(T::deserialize(Value::deserialize(deserializer)?).ok())
}

/// Like [`understood`], for whole numbers, which another node may send with a fraction. The number
/// is rounded, and a negative one counts as absent.
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
            let sent: Unparsed<Receipt> = serde_json::from_value(document.clone()).expect("anything is taken");
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
            let load = Unparsed::<MachineLoad>::from_document(document.clone()).read();
            assert_eq!(
                (load.process_memory_mb, load.card.gpu_utilisation),
                (process_memory_mb, gpu_utilisation),
                "{document}"
            );
        }
    }
}
