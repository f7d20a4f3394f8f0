//! The options of images, and their prices.

use crate::app::App;
use crate::delivery::AskedFormat;
use crate::delivery::urls::IMAGES_MAX;
use crate::http::answers::account::Pack;
use crate::http::openapi::requests;
use crate::ledger::Credits;
use cyclorama_core::frame::{PADDING_PERCENT_MAX, TRUE_SCALE_UM_PER_PX};
use cyclorama_core::{Colour, Finish, Fit, Format, MASTER_SIDE_PX, Scale, SizePreset, View};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// A camera position.
#[derive(Debug, Serialize, ToSchema)]
pub struct ViewOption {
    #[schema(schema_with = requests::view)]
    id: &'static str,
    label: &'static str,
    /// Rotation of the vehicle in degrees: 0 shows its nose, 90 its left side.
    #[schema(minimum = 0, maximum = 359)]
    yaw_degrees: u32,
    description: &'static str,
    /// Other names that are accepted for this view.
    aliases: &'static [&'static str],
}

/// A paint with a name.
#[derive(Debug, Serialize, ToSchema)]
pub struct ColorOption {
    #[schema(schema_with = requests::preset_color)]
    name: &'static str,
    /// The color to show in a menu.
    #[schema(pattern = "^#[0-9a-f]{6}$")]
    hex: &'static str,
}

/// Sides of the square image, in pixels.
#[derive(Debug, Serialize, ToSchema)]
pub struct SizeOptions {
    presets: BTreeMap<&'static str, u32>,
    /// The largest side that can be requested.
    max: u32,
    /// The side of the master, the image from which all sizes are made.
    source: u32,
}

/// A file format.
#[derive(Debug, Serialize, ToSchema)]
pub struct FormatOption {
    #[schema(schema_with = requests::format)]
    id: &'static str,
    mime: &'static str,
    /// True if the format keeps the transparent background.
    transparent: bool,
}

/// The format `auto`, which chooses one of the others.
#[derive(Debug, Serialize, ToSchema)]
pub struct AutoFormatOption {
    id: &'static str,
    /// The formats that may be chosen, the best first: AVIF or WebP if `Accept` names them,
    /// otherwise PNG, or JPG if `background` is a colour.
    formats: Vec<&'static str>,
    /// The format for a request without `Accept`.
    #[schema(schema_with = requests::format)]
    without_accept: &'static str,
}

/// Space on each side, in percent of the longer side of the trimmed image. The whole fits into the
/// box. Needs `trim`.
#[derive(Debug, Serialize, ToSchema)]
pub struct PaddingOptions {
    min: u8,
    max: u8,
}

/// The options of framing.
#[derive(Debug, Serialize, ToSchema)]
pub struct FrameOptions {
    fits: Vec<&'static str>,
    /// True if the empty margin around the vehicle and its shadow can be cut away.
    trim: bool,
    padding: PaddingOptions,
    /// Named backgrounds; six hex digits are accepted as well.
    backgrounds: Vec<&'static str>,
    shadows: Vec<&'static str>,
    scales: Vec<&'static str>,
    /// Millimetres of the vehicle per pixel of an image of 1024 px with `scale=true`.
    true_scale_mm_per_px: f64,
}

/// Custom paints: colors that are not presets.
#[derive(Debug, Serialize, ToSchema)]
pub struct PaintOptions {
    /// True if six hex digits are accepted as a color.
    hex: bool,
    finishes: Vec<&'static str>,
    /// The finish of a color that is given without one.
    #[schema(schema_with = requests::finish)]
    default_finish: &'static str,
}

/// Prices.
#[derive(Debug, Serialize, ToSchema)]
pub struct PriceOptions {
    credits_per_image: i64,
    credits_per_dollar: i64,
    /// The credits of a new account.
    free_credits: i64,
    packs: Vec<Pack>,
}

/// First and last model year.
#[derive(Debug, Serialize, ToSchema)]
pub struct YearRange {
    from: u16,
    to: u16,
}

/// A source of makes, models and years.
#[derive(Debug, Serialize, ToSchema)]
pub struct CatalogSource {
    id: String,
    name: String,
    region: String,
    license: String,
}

/// The release of the catalog that is in use.
#[derive(Debug, Serialize, ToSchema)]
pub struct CatalogRelease {
    /// Package and version.
    version: String,
    /// SHA-256 of the release's files.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    sha256: String,
}

/// The content of the catalog.
#[derive(Debug, Serialize, ToSchema)]
pub struct CatalogOptions {
    makes: usize,
    models: usize,
    years: YearRange,
    sources: Vec<CatalogSource>,
    release: CatalogRelease,
    /// How many vehicles (make, model and year) are drawn with which likeness: for their
    /// `generation` from measured proportions, for their `model`, by body class, size and era with
    /// the face of the `make`, or by body class, size and era alone (`body`).
    likeness: BTreeMap<&'static str, usize>,
}

/// Lifetimes of signed URLs, in seconds.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeliveryTtl {
    default: u64,
    min: u64,
    max: u64,
}

/// The limits of this deployment.
#[derive(Debug, Serialize, ToSchema)]
pub struct LimitOptions {
    rate_limit_per_minute_default: i64,
    max_batch_urls: usize,
    delivery_ttl: DeliveryTtl,
}

/// All options of images.
#[derive(Debug, Serialize, ToSchema)]
pub struct ImageOptions {
    views: Vec<ViewOption>,
    colors: Vec<ColorOption>,
    sizes: SizeOptions,
    formats: Vec<FormatOption>,
    auto_format: AutoFormatOption,
    frame: FrameOptions,
    paints: PaintOptions,
    pricing: PriceOptions,
    catalog: CatalogOptions,
    limits: LimitOptions,
    links: BTreeMap<&'static str, String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ImageOptionsResponse {
    pub data: ImageOptions,
    pub request_id: String,
}

/// Returns the options of this deployment.
pub fn options(app: &App) -> ImageOptions {
    let views = View::ALL.iter().map(|view| ViewOption {
        id: view.as_str(),
        label: view.label(),
        yaw_degrees: view.yaw_degrees(),
        description: view.description(),
        aliases: view.aliases(),
    });
    let formats = Format::ALL.iter().map(|format| FormatOption {
        id: format.as_str(),
        mime: format.media_type(),
        transparent: format.keeps_transparency(),
    });
    let prices = &app.config.prices;
    let delivery = &app.config.delivery;
    let links = [
        ("docs", "/docs"),
        ("openapi", "/openapi.json"),
        ("pricing", "/pricing"),
        ("image", "/api/v1/images/car"),
        ("resolve", "/api/v1/images/resolve"),
        ("vehicles", "/api/v1/vehicles"),
    ];
    ImageOptions {
        views: views.collect(),
        colors: Colour::ALL.iter().map(|colour| ColorOption { name: colour.as_str(), hex: colour.hex() }).collect(),
        sizes: SizeOptions {
            presets: SizePreset::ALL.iter().map(|size| (size.as_str(), size.side_px())).collect(),
            max: MASTER_SIDE_PX,
            source: MASTER_SIDE_PX,
        },
        formats: formats.collect(),
        auto_format: AutoFormatOption {
            id: AskedFormat::Auto.as_str(),
            formats: [Format::Avif, Format::Webp, Format::Png, Format::Jpg].map(Format::as_str).to_vec(),
            without_accept: AskedFormat::Auto.usual().as_str(),
        },
        frame: FrameOptions {
            fits: Fit::ALL.iter().map(|fit| fit.as_str()).collect(),
            trim: true,
            padding: PaddingOptions { min: 0, max: PADDING_PERCENT_MAX },
            backgrounds: vec!["transparent", "white", "black"],
            shadows: vec!["on", "off"],
            scales: Scale::ALL.iter().map(|scale| scale.as_str()).collect(),
            true_scale_mm_per_px: f64::from(TRUE_SCALE_UM_PER_PX) / 1000.0,
        },
        paints: PaintOptions {
            hex: true,
            finishes: Finish::ALL.iter().map(|finish| finish.as_str()).collect(),
            default_finish: Finish::default().as_str(),
        },
        pricing: PriceOptions {
            credits_per_image: Credits::PER_PICTURE.0,
            credits_per_dollar: prices.credits_per_dollar,
            free_credits: prices.free_credits,
            packs: prices.packs.iter().map(Pack::from).collect(),
        },
        catalog: catalog(&app.catalog.now()),
        limits: LimitOptions {
            rate_limit_per_minute_default: app.config.limits.rate_limit_per_minute,
            max_batch_urls: IMAGES_MAX,
            delivery_ttl: DeliveryTtl {
                default: delivery.ttl_seconds_default,
                min: delivery.ttl_seconds_min,
                max: delivery.ttl_seconds_max,
            },
        },
        links: links.into_iter().map(|(name, path)| (name, format!("{}{path}", app.base_url))).collect(),
    }
}

fn catalog(catalog: &crate::catalog::Catalog) -> CatalogOptions {
    let counts = catalog.counts();
    let sources = catalog.sources().iter().map(|source| CatalogSource {
        id: source.id.clone(),
        name: source.name.clone(),
        region: source.region.clone(),
        license: source.license.clone(),
    });
    CatalogOptions {
        makes: counts.makes,
        models: counts.model_names,
        years: YearRange { from: counts.year_from, to: counts.year_to },
        sources: sources.collect(),
        release: CatalogRelease { version: catalog.package().to_owned(), sha256: catalog.digest().to_owned() },
        likeness: catalog.likeness_counts().iter().map(|(likeness, count)| (likeness.as_str(), *count)).collect(),
    }
}
