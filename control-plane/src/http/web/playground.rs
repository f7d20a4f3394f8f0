//! `GET /playground`: shows an image of the visitor's choice without an account, and the request
//! that would fetch it.
//!
//! The page issues the visitor's cookie, for which its images are free.

use super::format::capital;
use super::visit::PageSession;
use crate::app::App;
use crate::catalog::Found;
use crate::delivery::tracking::without_tags;
use crate::delivery::{AskedFormat, BadParameter, Endpoint, ImageRequest, Order, ResponseKind};
use crate::http::error::Problem;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use cyclorama_core::paint::{hex_of_srgb, srgb_of_hex};
use cyclorama_core::{BodyClass, Colour, Finish, Fit, Format, PaintColour, SizePreset, View};
use serde::Serialize;
use url::form_urlencoded;

/// Query that is shown before anything is chosen.
const FIRST: &str = "make=porsche&model=911&year=2024&view=front-3-4&color=red&size=large&format=webp";

/// Choice that stands for a custom colour, whose text is in a separate field.
const OTHER: &str = "other";

/// Parameters that have the choice [`OTHER`], each with the field that holds the custom colour.
/// Only the form has these fields.
const OWN_FIELDS: [(&str, &str); 2] = [("color", "hex"), ("background", "ground")];

/// Custom paint in the field until another one is entered.
const OWN_PAINT: &str = "#1f4e8c";
/// Custom background in the field until another one is entered.
const OWN_GROUND: &str = "#e6ebf0";

/// Parameters that open the folded part of the form.
const FOLDED: [&str; 6] = ["fit", "trim", "padding", "background", "shadow", "scale"];

const FORMATS: [AskedFormat; 5] = [
    AskedFormat::One(Format::Png),
    AskedFormat::One(Format::Webp),
    AskedFormat::One(Format::Jpg),
    AskedFormat::One(Format::Avif),
    AskedFormat::Auto,
];

/// Parameters that name a vehicle.
const NAMES: [&str; 6] = ["make", "brand", "model", "vehicle", "year", "body"];

/// Backgrounds of the list. The empty one is transparent.
const GROUNDS: [&str; 3] = ["", "white", "black"];

#[derive(Serialize)]
struct Page {
    make: String,
    model: String,
    year: String,
    /// Bodies of the model in that year. The usual one is first and has an empty value.
    bodies: Vec<FormChoice>,
    view: String,
    color: String,
    /// Size preset; empty if `width` and `height` give the size.
    size: String,
    width: String,
    height: String,
    padding: String,
    has_trim: bool,
    has_true_scale: bool,
    has_shadow: bool,
    views: Vec<FormChoice>,
    colors: Vec<FormChoice>,
    paint: CustomColor,
    finishes: Vec<FormChoice>,
    sizes: Vec<FormChoice>,
    formats: Vec<FormChoice>,
    fits: Vec<FormChoice>,
    grounds: Vec<FormChoice>,
    ground: CustomColor,
    /// True if the framing is something else than a square of a listed size.
    is_framed: bool,
    wrong: Option<String>,
    /// Name of the parameter that is wrong, or empty.
    wrong_at: String,
    /// Group of fields that the wrong parameter belongs to.
    wrong_in: &'static str,
    suggestions: Vec<SuggestedVehicle>,
    shown: Option<ShownPicture>,
    year_from: u16,
    year_to: u16,
}

#[derive(Serialize)]
struct FormChoice {
    value: &'static str,
    label: String,
    is_chosen: bool,
}

/// A custom colour: one that no choice of a list names.
#[derive(Serialize)]
struct CustomColor {
    is_chosen: bool,
    /// Text in the colour's field.
    text: String,
    /// Value of the colour picker: `#` and six hex digits.
    picked: String,
}

/// Another vehicle that the user may have meant.
#[derive(Serialize)]
struct SuggestedVehicle {
    name: String,
    link: String,
}

#[derive(Serialize)]
struct ShownPicture {
    name: String,
    alt: String,
    picture: String,
    /// Width and height in pixels, if they are known before the image is made.
    size: Option<(u32, u32)>,
    /// True if the image is more than a transparent square.
    is_framed: bool,
    /// The paint in the words of a caption.
    painted: String,
    curl: String,
    html: String,
    javascript: String,
    python: String,
}

pub async fn get(State(app): State<App>, visit: PageSession, RawQuery(query): RawQuery) -> Result<Response, Problem> {
    let (mut pairs, _) = without_tags(query.as_deref().unwrap_or_default());
    if pairs.is_empty() {
        (pairs, _) = without_tags(FIRST);
    }
    let is_form = read_form(&mut pairs);
    let asked = ImageRequest::parse(&pairs, Endpoint::Page);
    if let Ok(request) = &asked {
        let canonical = request.query_as_given();
        if is_form {
            // The query that the form sends is redirected to a canonical URL, which can be kept and
            // shared.
            return Ok(Redirect::to(&format!("/playground?{canonical}")).into_response());
        }
        (pairs, _) = without_tags(&canonical);
    }
    let mut page = Page::asked(&app, &pairs);
    let mut status = StatusCode::OK;
    match asked {
        Err(bad) => {
            page.refuse(&bad);
            status = StatusCode::BAD_REQUEST;
        }
        Ok(request) => match app.catalog.now().find_asked(&request.vehicle) {
            Err(missing) => {
                page.suggest(&pairs, &missing);
                page.offer(&missing.bodies, None);
                page.wrong = Some(plain(&missing.detail));
                status = StatusCode::NOT_FOUND;
            }
            Ok(found) => {
                let name = format!("{} {} {}", found.make_name, found.model_name, found.year);
                page.name(&app, &found);
                match Order::find(&app.catalog.now(), &app.missing_vehicles, &request) {
                    Ok(order) => page.shown = Some(ShownPicture::of(&app, name, &request, &order)),
                    Err(missing) => page.wrong = Some(plain(&missing.detail)),
                }
            }
        },
    }
    visit.issue_visitor_cookie(&app).await?;
    visit.form(&app, "playground.html", status, &page).await
}

/// Turns what the form sends into the API's parameters. Returns true if the form sent the query:
/// nobody else sends empty fields, or the fields of custom colours.
fn read_form(pairs: &mut Vec<(String, String)>) -> bool {
    let mut is_form = pairs.iter().any(|(_, value)| value.trim().is_empty());
    let has_own_paint = pairs.iter().any(|(key, value)| key == "color" && value == OTHER);
    for (parameter, field) in OWN_FIELDS {
        let Some(place) = pairs.iter().position(|(key, _)| key == field) else { continue };
        is_form = true;
        let text = pairs.remove(place).1.trim().to_owned();
        let chosen = pairs.iter_mut().find(|(key, value)| key == parameter && value == OTHER);
        if let Some((_, value)) = chosen.filter(|_| !text.is_empty()) {
            *value = text;
        }
    }
    // Drops empty fields, which are choices not made, and finishes that were not chosen: without a
    // script the form sends a finish beside presets as well, and the usual finish always.
    let usual = Finish::default().as_str();
    pairs.retain(|(key, value)| {
        !value.trim().is_empty() && !(is_form && key == "finish" && (!has_own_paint || value == usual))
    });
    is_form
}

fn choices<T: Copy>(
    all: &[T],
    value: impl Fn(T) -> &'static str,
    label: impl Fn(T) -> String,
    chosen: &str,
) -> Vec<FormChoice> {
    let choice = |one: &T| FormChoice { value: value(*one), label: label(*one), is_chosen: value(*one) == chosen };
    all.iter().map(choice).collect()
}

impl CustomColor {
    /// `usual` is shown while a choice of the list is selected.
    fn of(given: &str, is_chosen: bool, usual: &str) -> Self {
        let (text, picked) = match srgb_of_hex(given.strip_prefix('#').unwrap_or(given)) {
            _ if !is_chosen => (usual.to_owned(), usual.to_owned()),
            Some(srgb) => (format!("#{}", hex_of_srgb(srgb)), format!("#{}", hex_of_srgb(srgb))),
            None if given == OTHER => (String::new(), usual.to_owned()),
            None => (given.to_owned(), usual.to_owned()),
        };
        CustomColor { is_chosen, text, picked }
    }
}

impl Page {
    /// Returns the page with the given choices in its fields.
    fn asked(app: &App, pairs: &[(String, String)]) -> Self {
        let chosen = |name: &str, usual: &str| {
            pairs.iter().find(|(key, _)| key == name).map_or(usual.to_owned(), |(_, value)| value.clone())
        };
        let (view, color) = (chosen("view", View::default().as_str()), chosen("color", Colour::default().as_str()));
        let (fit, mut width, height) = (chosen("fit", Fit::default().as_str()), chosen("w", ""), chosen("h", ""));
        let size = match (width.as_str(), height.as_str()) {
            ("", "") => chosen("size", "large"),
            // The canonical query gives a square of the list as a width.
            (side, "") if fit == Fit::default().as_str() => {
                let preset = SizePreset::ALL.iter().find(|size| size.side_px().to_string() == side);
                preset.map_or(String::new(), |size| size.as_str().to_owned())
            }
            _ => String::new(),
        };
        if !size.is_empty() {
            width.clear();
        }
        let background = match chosen("background", "") {
            named if named == "transparent" => String::new(),
            other => other,
        };
        let is_own_paint = color.parse::<Colour>().is_err();
        let is_own_ground = !GROUNDS.contains(&background.as_str());
        let counts = app.catalog.now().counts();
        Page {
            views: choices(View::ALL, View::as_str, |one| one.label().to_owned(), &view),
            colors: choices(Colour::ALL, Colour::as_str, |one| one.to_string(), &color),
            paint: CustomColor::of(&color, is_own_paint, OWN_PAINT),
            finishes: choices(
                Finish::ALL,
                Finish::as_str,
                |one| capital(one.as_str()),
                &chosen("finish", Finish::default().as_str()),
            ),
            sizes: choices(SizePreset::ALL, SizePreset::as_str, |one| format!("{} px", one.side_px()), &size),
            formats: choices(
                &FORMATS,
                AskedFormat::as_str,
                |one| written(one).to_owned(),
                &chosen("format", AskedFormat::default().as_str()),
            ),
            fits: choices(Fit::ALL, Fit::as_str, |one| capital(one.as_str()), &fit),
            grounds: choices(&GROUNDS, |one| one, ground_label, &background),
            ground: CustomColor::of(&background, is_own_ground, OWN_GROUND),
            is_framed: pairs.iter().any(|(key, _)| FOLDED.contains(&key.as_str()))
                || !width.is_empty()
                || !height.is_empty(),
            has_trim: chosen("trim", "") == "true",
            has_true_scale: chosen("scale", "") == "true",
            has_shadow: chosen("shadow", "on") != "off",
            padding: chosen("padding", ""),
            make: chosen("make", ""),
            model: chosen("model", ""),
            year: chosen("year", ""),
            bodies: vec![body_choice(None, true)],
            view,
            color,
            size,
            width,
            height,
            wrong: None,
            wrong_at: String::new(),
            wrong_in: "",
            suggestions: Vec::new(),
            shown: None,
            year_from: counts.year_from,
            year_to: counts.year_to,
        }
    }

    /// Fills in the make, model and year that an id, another name or `latest` stands for, and the
    /// bodies of the model.
    fn name(&mut self, app: &App, found: &Found) {
        self.make.clone_from(&found.make);
        self.model.clone_from(&found.model);
        self.year = found.year.to_string();
        let catalog = app.catalog.now();
        let named = catalog.find_make(&found.make).and_then(|make| Ok((make, catalog.find_model(make, &found.model)?)));
        if let Ok((make, model)) = named {
            let bodies: Vec<BodyClass> =
                catalog.bodies(make, model, found.year).into_iter().map(|vehicle| vehicle.body).collect();
            self.offer(&bodies, Some(found.vehicle.body));
        }
    }

    /// Offers the bodies to choose from. The first of `bodies` is the usual one.
    fn offer(&mut self, bodies: &[BodyClass], chosen: Option<BodyClass>) {
        let Some((usual, others)) = bodies.split_first() else { return };
        let others = others.iter().map(|body| body_choice(Some(*body), chosen == Some(*body)));
        self.bodies = others.collect();
        let is_usual = !self.bodies.iter().any(|body| body.is_chosen);
        let usual = FormChoice { label: body_label(*usual), ..body_choice(None, is_usual) };
        self.bodies.insert(0, usual);
    }

    /// Shows at its field what is wrong with a parameter.
    fn refuse(&mut self, bad: &BadParameter) {
        self.wrong_in = match bad.parameter.as_str() {
            "color" | "colour" | "finish" => "paint",
            "size" | "format" => "format",
            "fit" | "w" | "width" | "h" | "height" | "trim" | "padding" | "scale" => "frame",
            "background" | "bg" | "shadow" => "ground",
            _ => "",
        };
        let is = |words: &str| bad.detail.contains(words);
        // Errors that the form makes possible are explained in the words of the form. All others
        // come from a query written by hand, and read as the API words them.
        let words = match bad.parameter.as_str() {
            "w" | "h" if is("is missing") => "Contain and Cover need a width and a height.".to_owned(),
            "padding" if is("can only be used with") => {
                "Padding needs Trim: it is added around the trimmed image.".to_owned()
            }
            "finish" if is("can only be used with") => {
                "A finish needs another colour. The fifteen presets have their own finish.".to_owned()
            }
            "color" if is("is not one of") && self.color == OTHER => "Enter the other colour.".to_owned(),
            "background" if is("is not one of") && self.ground.text.is_empty() => "Enter the other colour.".to_owned(),
            "color" | "background" if is("is not one of") => {
                let given = if bad.parameter == "color" { &self.paint.text } else { &self.ground.text };
                format!("\"{given}\" is not a colour. Enter six hex digits such as 1f4e8c, or a CSS colour name.")
            }
            _ => plain(&bad.detail),
        };
        self.wrong = Some(words);
        self.wrong_at.clone_from(&bad.parameter);
    }

    /// Suggests the nearest vehicles of the catalog, and keeps all other choices.
    fn suggest(&mut self, pairs: &[(String, String)], missing: &crate::catalog::NotFound) {
        let suggested = missing.suggestions.iter().filter_map(|near| {
            let (model_name, model_slug) = (near.model_name.as_ref()?, near.model_slug.as_ref()?);
            let year = near.years.iter().find(|year| year.to_string() == self.year).or(near.years.last())?.to_string();
            let link = form_urlencoded::Serializer::new("/playground?".to_owned())
                .extend_pairs([
                    ("make", near.make_slug.as_str()),
                    ("model", model_slug.as_str()),
                    ("year", year.as_str()),
                ])
                .extend_pairs(pairs.iter().filter(|(key, _)| !NAMES.contains(&key.as_str())))
                .finish();
            Some(SuggestedVehicle { name: format!("{} {model_name} {year}", near.make_name), link })
        });
        self.suggestions = suggested.collect();
    }
}

impl ShownPicture {
    fn of(app: &App, name: String, request: &ImageRequest, order: &Order) -> Self {
        let (make, model) = (&order.variant.make, &order.variant.model);
        let query = ImageRequest { response: ResponseKind::Image, ..request.clone() }.canonical_query(&order.variant);
        let address = format!("{}/api/v1/images/car?{query}", app.base_url);
        let file = match request.format {
            AskedFormat::One(format) => format!("{make}-{model}.{format}"),
            // Only the response's `Content-Type` tells the format.
            AskedFormat::Auto => format!("{make}-{model}"),
        };
        let frame = &order.frame;
        let size = frame.has_known_size().then(|| frame.size_px());
        let sides = size.map_or(String::new(), |(width, height)| format!(" width=\"{width}\" height=\"{height}\""));
        let painted = painted(request.paint.colour);
        let what = match request.paint.colour {
            PaintColour::Preset(_) => format!("{} {name}", capital(&painted)),
            PaintColour::Custom { .. } => format!("{name} in {painted}"),
        };
        ShownPicture {
            alt: format!("{what}, {}", request.view.description()),
            picture: format!("/images/car.png?{query}"),
            size,
            is_framed: frame.square_side_px().is_none(),
            painted,
            curl: format!("curl -H \"Authorization: Bearer $CYCLORAMA_KEY\" \\\n  \"{address}\" -o {file}"),
            html: format!(
                "<!-- Your server gets this URL from POST /api/v1/image-urls. It contains no key. Its parameters:\n     \
                 {query} -->\n\
                 <img src=\"{}/api/v1/delivery/...\" alt=\"{name}\"{sides}>",
                app.base_url
            ),
            javascript: format!(
                "const answer = await fetch(\n  \"{address}\",\n  \
                 {{ headers: {{ Authorization: `Bearer ${{process.env.CYCLORAMA_KEY}}` }} }},\n);\n\
                 if (!answer.ok) throw new Error((await answer.json()).detail);\n\
                 const image = Buffer.from(await answer.arrayBuffer());"
            ),
            python: format!(
                "import os, urllib.request\n\nrequest = urllib.request.Request(\n    \"{address}\",\n    \
                 headers={{\"Authorization\": \"Bearer \" + os.environ[\"CYCLORAMA_KEY\"]}},\n)\n\
                 with urllib.request.urlopen(request) as answer, open(\"{file}\", \"wb\") as file:\n    \
                 file.write(answer.read())"
            ),
            name,
        }
    }
}

/// Turns an error's detail from the API into a sentence for people.
pub(super) fn plain(detail: &str) -> String {
    format!("{}.", capital(&detail.replace('`', "\"")).trim_end_matches('.'))
}

/// Returns a paint as people read it.
fn painted(colour: PaintColour) -> String {
    match colour {
        PaintColour::Preset(preset) => preset.to_string(),
        PaintColour::Custom { finish, .. } => format!("#{colour} {finish}"),
    }
}

/// Returns the choice of a body; `None` is the usual one.
fn body_choice(body: Option<BodyClass>, is_chosen: bool) -> FormChoice {
    let (value, label) = body.map_or(("", "Default".to_owned()), |body| (body.as_str(), body_label(body)));
    FormChoice { value, label, is_chosen }
}

pub(super) fn body_label(body: BodyClass) -> String {
    match body {
        BodyClass::Suv => "SUV".to_owned(),
        body => capital(body.as_str()),
    }
}

fn ground_label(ground: &str) -> String {
    match ground {
        "" => "Transparent".to_owned(),
        colour => capital(colour),
    }
}

const fn written(format: AskedFormat) -> &'static str {
    match format {
        AskedFormat::One(Format::Png) => "PNG",
        AskedFormat::One(Format::Webp) => "WebP",
        AskedFormat::One(Format::Jpg) => "JPG",
        AskedFormat::One(Format::Avif) => "AVIF",
        AskedFormat::Auto => "Auto",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &str) -> (String, bool) {
        let (mut pairs, _) = without_tags(query);
        let is_form = read_form(&mut pairs);
        (pairs.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join("&"), is_form)
    }

    #[test]
    fn the_form_is_read_as_parameters_of_the_api() {
        for (sent, expected) in [
            ("color=other&hex=%231F4E8C&finish=matt", "color=#1F4E8C&finish=matt"),
            ("color=other&hex=+teal+&finish=metallic", "color=teal"),
            ("color=other&hex=&finish=pearl", "color=other&finish=pearl"),
            ("color=red&hex=%231f4e8c&finish=matt", "color=red"),
            ("background=other&ground=e6ebf0&size=", "background=e6ebf0"),
            ("background=&ground=%23e6ebf0&w=&h=&padding=", ""),
            ("background=white&ground=%23e6ebf0&trim=true", "background=white&trim=true"),
        ] {
            assert_eq!(read(sent), (expected.to_owned(), true), "{sent}");
        }
        // A query written by hand is not corrected: a finish beside a preset stays, and is refused.
        let by_hand = "color=red&finish=matt";
        assert_eq!(read(by_hand), (by_hand.to_owned(), false));
    }

    #[test]
    fn a_colour_of_ones_own_is_shown_as_it_was_given() {
        let of = |given, is_chosen| {
            let CustomColor { text, picked, .. } = CustomColor::of(given, is_chosen, OWN_PAINT);
            (text, picked)
        };
        for (given, is_chosen, text, picked) in [
            ("red", false, OWN_PAINT, OWN_PAINT),
            ("AB0C0D", true, "#ab0c0d", "#ab0c0d"),
            (OTHER, true, "", OWN_PAINT),
            ("blurple", true, "blurple", OWN_PAINT),
        ] {
            assert_eq!(of(given, is_chosen), (text.to_owned(), picked.to_owned()), "{given}");
        }
    }
}
