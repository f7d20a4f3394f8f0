//! The images of the home page: their list, and rendering them at the first start. They are free
//! for everyone, wait behind every paid render, and count towards the day's budget.

use super::{DeliveryError, ImageRequest, Images, Order};
use crate::catalog::{Catalog, Found};
use crate::renders::RenderError;
use cyclorama_core::{Colour, Variant, View};
use serde::Deserialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

static LIST: &str = include_str!("../../templates/examples.toml");

/// First pause between two attempts at an image that could not be made; it doubles up to
/// [`RETRY_MAX`]. A first start may be minutes before its first node.
const RETRY_FIRST: Duration = Duration::from_secs(2);
const RETRY_MAX: Duration = Duration::from_secs(60);

/// One image of the home page.
#[derive(Debug, Clone)]
pub struct Example {
    /// The image at full size, as PNG; the page requests other sizes of the same variant.
    pub order: Order,
    pub make_name: String,
    pub model_name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExamplesFile {
    examples: Vec<ExampleEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExampleEntry {
    make: String,
    model: String,
    year: u16,
    view: View,
    color: Colour,
}

impl Example {
    fn new(found: Found, view: View, colour: Colour) -> Self {
        let (make_name, model_name) = (found.make_name.clone(), found.model_name.clone());
        let request = ImageRequest::of_stored(&found.key(), view, colour.into());
        Example { order: Order::new(found, &request), make_name, model_name }
    }
}

/// The list of examples, resolved in the catalog.
#[derive(Debug)]
pub struct Examples {
    list: Arc<[Example]>,
    rendering: AtomicBool,
}

impl Examples {
    /// Returns the embedded list. An operator's own catalog may lack some vehicles; the page then
    /// shows fewer images.
    pub fn of(catalog: &Catalog) -> Result<Self, toml::de::Error> {
        let listed: ExamplesFile = toml::from_str(LIST)?;
        let mut list = Vec::new();
        for entry in listed.examples {
            let ExampleEntry { make, model, year, view, color } = entry;
            match catalog.of_slugs(&make, &model, year) {
                Some(found) => list.push(Example::new(found, view, color)),
                None => {
                    tracing::warn!(
                        make,
                        model,
                        year,
                        "an example of the home page was left out because the catalog lacks its vehicle"
                    )
                }
            }
        }
        Ok(Examples { list: list.into(), rendering: AtomicBool::new(false) })
    }

    pub fn iter(&self) -> impl Iterator<Item = &Example> {
        self.list.iter()
    }

    /// Starts a task that renders the images, once in the life of the process, until `stopping` is
    /// cancelled.
    pub fn start_rendering(&self, pictures: &Images, stopping: &CancellationToken) {
        if !self.rendering.swap(true, Ordering::Relaxed) {
            tokio::spawn(render_all(self.list.clone(), pictures.clone(), stopping.clone()));
        }
    }

    /// True if the variant is one of the examples, in any size and format.
    pub fn contain(&self, variant: &Variant) -> bool {
        self.list.iter().any(|example| example.order.variant == *variant)
    }
}

/// Renders the missing images one after the other, until all exist or the service stops. An image
/// that fails is tried again after the others, so that it keeps none of them from the page.
async fn render_all(list: Arc<[Example]>, pictures: Images, stopping: CancellationToken) {
    let mut wait = RETRY_FIRST;
    let mut missing: Vec<&Example> = list.iter().collect();
    while !missing.is_empty() {
        let mut failed = Vec::new();
        for one in missing {
            let made = loop {
                let made = tokio::select! {
                    made = pictures.example(&one.order) => made,
                    () = stopping.cancelled() => return,
                };
                // The render may still go on, and expires when no request waits for it.
                if !matches!(made, Err(DeliveryError::Render(RenderError::TooLate))) {
                    break made;
                }
            };
            if let Err(error) = made {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    example = one.order.variant.vehicle_key(),
                    "an example of the home page could not be rendered; it is retried"
                );
                failed.push(one);
            }
        }
        missing = failed;
        if !missing.is_empty() {
            tokio::select! {
                () = tokio::time::sleep(wait) => wait = (wait * 2).min(RETRY_MAX),
                () = stopping.cancelled() => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn six_examples_of_the_catalog_one_for_each_view_in_several_bodies_and_colours() {
        let examples = Examples::of(&Catalog::embedded().unwrap()).unwrap();
        let views: BTreeSet<View> = examples.iter().map(|example| example.order.variant.view).collect();
        let bodies: BTreeSet<_> = examples.iter().map(|example| example.order.vehicle.body).collect();
        let colours: BTreeSet<String> =
            examples.iter().map(|example| example.order.variant.paint.to_string()).collect();
        assert_eq!((examples.iter().count(), views.len()), (6, View::ALL.len()));
        assert!(bodies.len() >= 4 && colours.len() >= 5, "{bodies:?} {colours:?}");
        let first = examples.iter().next().unwrap();
        assert!(examples.contain(&first.order.variant));
        assert!(!examples.contain(&Variant { year: 1990, ..first.order.variant.clone() }));
    }
}
