//! The query of `GET /api/v1/images/car`, or an item of a JSON body, as a validated
//! [`ImageRequest`], and its one canonical spelling.
//!
//! Pure: the catalog decides if the vehicle exists; the handler checks permissions and cost.

use given::{GivenValues, JSON, KeyNames};
use values::{LATEST, missing, name, one_of, shortened};

use cyclorama_catalog::{AskedName, AskedVehicle, AskedYear};
use cyclorama_core::{Framing, Paint, Variant, VehicleKey, View};
use serde_json::{Map, Value};
use url::form_urlencoded;

mod frame;
mod given;
mod values;

pub use frame::{AskedFormat, added_pairs, background_name, frame_of_query, frame_pairs, frame_query};
pub use given::{Endpoint, SYNONYMS, meant};
pub use values::{BadParameter, NAME_CHARS_MAX, YEARS, body, kind_of, vehicle_id, whole, year};

/// The kind of answer that the caller wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResponseKind {
    /// The image's bytes.
    #[default]
    Image,
    /// A signed delivery URL, as JSON.
    Url,
}

/// A request for one image. The vehicle is as given (names, slugs or an id) until the catalog has
/// found it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageRequest {
    pub vehicle: AskedVehicle,
    pub view: View,
    pub paint: Paint,
    pub format: AskedFormat,
    /// The framing: the box, where `size` has become its width, and how the image fills it.
    pub frame: Framing,
    pub response: ResponseKind,
}

/// The members of a JSON item that are not strings.
const JSON_NUMBERS: [&str; 4] = ["year", "width", "height", "padding"];
const JSON_BOOLEANS: [&str; 1] = ["trim"];

impl ImageRequest {
    /// Reads a raw query string (without the `?`).
    #[cfg(test)]
    pub fn parse_query(query: &str) -> Result<Self, BadParameter> {
        let pairs: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        Self::parse(&pairs, Endpoint::Image)
    }

    /// Reads an item of a JSON body. Values have their JSON types: a year is a number, not a
    /// string.
    pub fn parse_json(item: &Map<String, Value>) -> Result<Self, BadParameter> {
        let mut pairs = Vec::with_capacity(item.len());
        for (key, value) in item {
            let is_number = JSON_NUMBERS.contains(&key.as_str());
            let is_boolean = JSON_BOOLEANS.contains(&key.as_str());
            let text = match value {
                Value::String(text) if key == "year" && text == LATEST => text.clone(),
                Value::String(text) if !is_number && !is_boolean => text.clone(),
                Value::Bool(value) if is_boolean => value.to_string(),
                Value::Number(number) if is_number => {
                    whole(value).map_or_else(|| number.to_string(), |number| number.to_string())
                }
                _ => {
                    let kind = match (is_number, is_boolean) {
                        (true, _) if key == "year" => "a whole number or `latest`",
                        (true, _) => "a whole number",
                        (_, true) => "true or false",
                        _ => "a string",
                    };
                    return Err(BadParameter::new(key, format!("`{key}` must be {kind}, not {}", kind_of(value))));
                }
            };
            pairs.push((key.clone(), text));
        }
        Self::from_pairs(&pairs, JSON)
    }

    /// Returns a request for an image of a vehicle that was stored with the catalog's slugs, at
    /// full size as PNG.
    pub fn of_stored(key: &VehicleKey, view: View, paint: Paint) -> Self {
        ImageRequest {
            vehicle: AskedVehicle { body: key.body, ..AskedVehicle::named(&key.make, &key.model, key.year) },
            view,
            paint,
            format: AskedFormat::default(),
            frame: Framing::default(),
            response: ResponseKind::Image,
        }
    }

    /// Reads decoded key and value pairs. An endpoint with keys of its own takes those out first.
    /// Fails with [`BadParameter`] for the first parameter that is missing, unknown, given twice or
    /// out of range.
    pub fn parse(pairs: &[(String, String)], endpoint: Endpoint) -> Result<Self, BadParameter> {
        Self::from_pairs(pairs, endpoint.keys())
    }

    fn from_pairs(pairs: &[(String, String)], keys: KeyNames) -> Result<Self, BadParameter> {
        let given = GivenValues::collect(pairs, keys)?;
        let vehicle = vehicle(&given)?;
        let view = one_of::<View>("view", given.view)?.unwrap_or_default();
        let paint = frame::paint(&given)?;
        let format = one_of::<AskedFormat>("format", given.format)?.unwrap_or_default();
        let frame = frame::frame(&given, keys, format)?;
        let response = match given.response {
            None | Some("image") => ResponseKind::Image,
            Some("url") => ResponseKind::Url,
            Some(other) => {
                return Err(BadParameter::new(
                    "response",
                    format!("`response`: `{}` is not one of image, url", shortened(other)),
                ));
            }
        };
        Ok(Self { vehicle, view, paint, format, frame, response })
    }

    /// Returns the query that identifies this image and nothing else, of the vehicle that the
    /// catalog found. Its keys are, in this order: make, model, year, view, color, w, h, format,
    /// with the defaults of those written out but for `w` and `h`; then body, fit, trim, padding,
    /// background, shadow, scale and finish where they are not the default. `response` is left out,
    /// because it concerns the answer and not the image.
    pub fn canonical_query(&self, found: &Variant) -> String {
        self.query([
            ("make", Some(found.make.clone())),
            ("model", Some(found.model.clone())),
            ("year", Some(found.year.to_string())),
            ("body", found.body.map(|body| body.to_string())),
        ])
    }

    /// Returns the same query for a request that was not looked up in the catalog, with its vehicle
    /// as it was given.
    pub fn query_as_given(&self) -> String {
        let (make, model, id) = match &self.vehicle.name {
            AskedName::Names { make, model } => (Some(make.clone()), Some(model.clone()), None),
            AskedName::Id(id) => (None, None, Some(id.to_string())),
        };
        let year = match self.vehicle.year {
            AskedYear::Year(year) => year.to_string(),
            AskedYear::Latest => LATEST.to_owned(),
        };
        let body = self.vehicle.body.map(|body| body.to_string());
        self.query([("vehicle", id), ("make", make), ("model", model), ("year", Some(year)), ("body", body)])
    }

    fn query<const N: usize>(&self, vehicle: [(&'static str, Option<String>); N]) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (key, value) in vehicle.iter().filter(|(key, _)| *key != "body") {
            if let Some(value) = value {
                query.append_pair(key, value);
            }
        }
        query.append_pair("view", self.view.as_str()).append_pair("color", &self.paint.color());
        for (key, pixels) in [("w", self.frame.width), ("h", self.frame.height)] {
            if let Some(pixels) = pixels {
                query.append_pair(key, &pixels.to_string());
            }
        }
        query.append_pair("format", self.format.as_str());
        if let Some((key, Some(body))) = vehicle.iter().find(|(key, _)| *key == "body") {
            query.append_pair(key, body);
        }
        query.extend_pairs(added_pairs(&self.frame, &self.paint));
        query.finish()
    }
}

/// Reads the vehicle: make and model, or an id; the year; and the body if there is one.
fn vehicle(given: &GivenValues<'_>) -> Result<AskedVehicle, BadParameter> {
    let name = match given.vehicle {
        Some(id) => {
            let beside = [("make", given.make), ("brand", given.brand), ("model", given.model)];
            if let Some((key, _)) = beside.iter().find(|(_, value)| value.is_some()) {
                let detail = format!("`{key}` cannot be used with `vehicle`, which stands for make, model and body");
                return Err(BadParameter::new(*key, detail));
            }
            AskedName::Id(vehicle_id(id)?)
        }
        None => {
            let make = match (given.make, given.brand) {
                (Some(_), Some(_)) => {
                    return Err(BadParameter::new("brand", "`brand` is another name of `make`: send one of the two"));
                }
                (None, Some(brand)) => name("brand", brand)?,
                (make, None) => name("make", make.ok_or_else(|| missing("make"))?)?,
            };
            AskedName::Names { make, model: name("model", given.model.ok_or_else(|| missing("model"))?)? }
        }
    };
    let year = year(given.year.ok_or_else(|| missing("year"))?)?;
    let body = given.body.map(body).transpose()?;
    Ok(AskedVehicle { name, year, body })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyclorama_catalog::VehicleId;
    use cyclorama_core::{BodyClass, Colour, Finish, Fit, Format, PaintColour, Scale};
    use proptest::prelude::*;

    const PORSCHE: &str = "make=porsche&model=911&year=2024";

    fn porsche() -> Variant {
        let (make, model) = ("porsche".to_owned(), "911".to_owned());
        Variant { make, model, year: 2024, body: None, view: View::default(), paint: Paint::default() }
    }

    fn ok(rest: &str) -> ImageRequest {
        let query = format!("{PORSCHE}{rest}");
        ImageRequest::parse_query(&query).unwrap_or_else(|refusal| panic!("{query}: {refusal}"))
    }

    #[test]
    fn defaults_are_a_silver_png_at_full_size_from_the_front_quarter() {
        let request = ok("");
        assert_eq!(request.vehicle, AskedVehicle::named("porsche", "911", 2024));
        assert_eq!(
            (request.view, request.paint, request.format),
            (View::FrontThreeQuarter, Colour::Silver.into(), Format::Png.into())
        );
        assert_eq!((request.frame, request.frame.square_side_px()), (Framing::default(), Some(1024)));
        assert_eq!(request.response, ResponseKind::Image);
    }

    #[test]
    fn views_and_formats_by_name_and_alias() {
        let views = [
            ("front", View::Front),
            ("front-3-4", View::FrontThreeQuarter),
            ("front34", View::FrontThreeQuarter),
            ("hero", View::FrontThreeQuarter),
            ("side", View::Side),
            ("side-left", View::Side),
            ("profile", View::Side),
            ("side-right", View::SideRight),
            ("side-r", View::SideRight),
            ("rear", View::Rear),
            ("back", View::Rear),
            ("rear-3-4", View::RearThreeQuarter),
            ("rear34", View::RearThreeQuarter),
            ("HERO", View::FrontThreeQuarter),
        ];
        for (given, view) in views {
            assert_eq!(ok(&format!("&view={given}")).view, view, "{given}");
        }
        for (given, format) in [
            ("png", Format::Png.into()),
            ("webp", Format::Webp.into()),
            ("jpg", Format::Jpg.into()),
            ("jpeg", Format::Jpg.into()),
            ("avif", Format::Avif.into()),
            ("AUTO", AskedFormat::Auto),
        ] {
            assert_eq!(ok(&format!("&format={given}")).format, format, "{given}");
        }
        for colour in Colour::ALL {
            assert_eq!(ok(&format!("&color={colour}")).paint, (*colour).into());
        }
        assert_eq!(ok("&response=url").response, ResponseKind::Url);
        assert_eq!(ok("&response=image").response, ResponseKind::Image);
    }

    #[test]
    fn the_picture_fits_in_the_box_and_is_never_enlarged() {
        let boxes = [
            ("&w=800&h=450", Some(800), Some(450), 450),
            ("&w=450&h=800", Some(450), Some(800), 450),
            ("&w=1", Some(1), None, 1),
            ("&h=1024", None, Some(1024), 1024),
            ("&size=thumb", Some(256), None, 256),
            ("&size=small", Some(512), None, 512),
            ("&size=medium", Some(768), None, 768),
            ("&size=large", Some(1024), None, 1024),
            ("&size=large&w=300", Some(300), None, 300),
            ("&size=thumb&h=700", None, Some(700), 700),
        ];
        for (rest, width, height, side) in boxes {
            let request = ok(rest);
            let Framing { width: given_width, height: given_height, .. } = request.frame;
            assert_eq!((given_width, given_height), (width, height), "{rest}");
            assert_eq!(request.frame.square_side_px(), Some(side), "{rest}");
        }
    }

    #[test]
    fn brand_stands_for_make() {
        let request = ImageRequest::parse_query("brand=Mercedes-Benz&model=E-Class&year=1990").unwrap();
        assert_eq!(request.vehicle, AskedVehicle::named("Mercedes-Benz", "E-Class", 1990));
    }

    #[test]
    fn a_vehicle_is_named_by_names_or_by_its_id() {
        let id = VehicleId::of("volkswagen", "golf", BodyClass::Wagon);
        let request = ImageRequest::parse_query(&format!("vehicle={id}&year=latest")).unwrap();
        let expected = AskedVehicle { name: AskedName::Id(id), year: AskedYear::Latest, body: None };
        assert_eq!(request.vehicle, expected);
        assert_eq!(ok("&body=Estate").vehicle.body, Some(BodyClass::Wagon));
        for (query, parameter) in [
            (format!("vehicle={id}&make=volkswagen&year=2015"), "make"),
            (format!("vehicle={id}&brand=volkswagen&year=2015"), "brand"),
            (format!("vehicle={id}&model=golf&year=2015"), "model"),
            (format!("vehicle={id}"), "year"),
            ("vehicle=golf&year=2015".to_owned(), "vehicle"),
            (format!("{PORSCHE}&body=boat"), "body"),
            ("make=porsche&model=911&year=newest".to_owned(), "year"),
            ("model=911&year=2015".to_owned(), "make"),
            ("make=porsche&year=2015".to_owned(), "model"),
        ] {
            assert_eq!(ImageRequest::parse_query(&query).unwrap_err().parameter, parameter, "{query}");
        }
        let json =
            |text: &str| ImageRequest::parse_json(serde_json::from_str::<Value>(text).unwrap().as_object().unwrap());
        let latest = json(r#"{ "make": "porsche", "model": "911", "year": "latest" }"#).unwrap();
        assert_eq!(latest.vehicle.year, AskedYear::Latest);
        assert_eq!(json(r#"{ "make": "porsche", "model": "911", "year": "2015" }"#).unwrap_err().parameter, "year");
    }

    #[test]
    fn years_1990_to_2027() {
        for year in [1990, 2026, 2027] {
            assert!(ImageRequest::parse_query(&format!("make=a&model=b&year={year}")).is_ok(), "{year}");
        }
    }

    #[test]
    fn every_refusal_names_its_parameter() {
        let refused = [
            ("model=911&year=2024", "make"),
            ("make=porsche&year=2024", "model"),
            ("make=porsche&model=911", "year"),
            ("make=&model=911&year=2024", "make"),
            ("brand=%20&model=911&year=2024", "brand"),
            ("make=porsche&brand=porsche&model=911&year=2024", "brand"),
            ("make=porsche&model=+&year=2024", "model"),
            ("make=porsche&model=911&year=1989", "year"),
            ("make=porsche&model=911&year=2028", "year"),
            ("make=porsche&model=911&year=2024.0", "year"),
            ("make=porsche&model=911&year=-2024", "year"),
            ("make=porsche&model=911&year=%2B2024", "year"),
            ("make=porsche&model=911&year=", "year"),
            ("make=porsche&model=911&year=99999999999", "year"),
            ("make=porsche&model=911&year=2024&year=2024", "year"),
            ("make=porsche&make=porsche&model=911&year=2024", "make"),
        ];
        let with_vehicle = [
            ("&view=top", "view"),
            ("&view=", "view"),
            ("&view=side&view=side", "view"),
            ("&color=sparkling", "color"),
            ("&color=red&color=blue", "color"),
            ("&colr=red", "colr"),
            ("&colour=red&color=red", "color"),
            ("&color=%23", "color"),
            ("&color=1f4e8", "color"),
            ("&color=fade", "color"),
            ("&color=transparent", "color"),
            ("&finish=matt", "finish"),
            ("&color=red&finish=matt", "finish"),
            ("&color=1f4e8c&finish=glossy", "finish"),
            ("&shadow=false", "shadow"),
            ("&fit=contain", "w"),
            ("&fit=cover&w=300", "h"),
            ("&fit=cover&h=300", "w"),
            ("&fit=contain&size=small", "w"),
            ("&fit=fill", "fit"),
            ("&trim=1", "trim"),
            ("&trim=true&padding=51", "padding"),
            ("&trim=true&padding=-1", "padding"),
            ("&padding=10", "padding"),
            ("&trim=false&padding=10", "padding"),
            ("&background=none", "background"),
            ("&format=jpg&background=transparent", "background"),
            ("&background=white&bg=white", "background"),
            ("&scale=1", "scale"),
            ("&format=gif", "format"),
            ("&size=huge", "size"),
            ("&size=huge&w=100", "size"),
            ("&w=0", "w"),
            ("&w=1025", "w"),
            ("&w=abc", "w"),
            ("&w=", "w"),
            ("&h=-1", "h"),
            ("&h=12.5", "h"),
            ("&h=1&h=1", "h"),
            ("&width=100&w=100", "w"),
            ("&width=1025", "w"),
            ("&response=json", "response"),
            ("&utm_source=mail", "utm_source"),
        ];
        let refused = refused.map(|(query, parameter)| (query.to_owned(), parameter)).into_iter();
        for (query, parameter) in
            refused.chain(with_vehicle.map(|(rest, parameter)| (format!("{PORSCHE}{rest}"), parameter)))
        {
            let refusal = ImageRequest::parse_query(&query).expect_err(&query);
            assert_eq!(refusal.parameter, parameter, "{query}");
            assert!(refusal.detail.contains(&format!("`{parameter}`")), "{query}: {}", refusal.detail);
        }
        let long = "x".repeat(NAME_CHARS_MAX + 1);
        assert_eq!(ImageRequest::parse_query(&format!("make={long}&model=b&year=2000")).unwrap_err().parameter, "make");
        assert!(ImageRequest::parse_query(&format!("{PORSCHE}&angle=hero")).unwrap_err().detail.contains("`view`"));
    }

    #[test]
    fn the_canonical_query_has_one_order_and_one_spelling() {
        let request =
            ImageRequest::parse_query("format=jpeg&size=small&color=RED&view=hero&year=2024&model=911&brand=Porsche")
                .unwrap();
        assert_eq!(
            request.canonical_query(&porsche()),
            "make=porsche&model=911&year=2024&view=front-3-4&color=red&w=512&format=jpg"
        );
        assert_eq!(
            ok("&h=9&w=7&response=url").canonical_query(&porsche()),
            "make=porsche&model=911&year=2024&view=front-3-4&color=silver&w=7&h=9&format=png"
        );
    }

    /// Canonical URLs of a framing and a paint, for several spellings of each.
    #[test]
    fn frames_and_paints_have_one_spelling() {
        for (given, canonical) in [
            ("&colour=%231F4E8C", "&color=1f4e8c&format=png"),
            ("&color=1f4e8c&finish=metallic", "&color=1f4e8c&format=png"),
            ("&color=1F4E8C&finish=MATTE", "&color=1f4e8c&format=png&finish=matt"),
            ("&color=RebeccaPurple", "&color=663399&format=png"),
            ("&color=Grey", "&color=gray&format=png"),
            ("&color=red&shadow=off", "&color=red&format=png&shadow=off"),
            (
                "&shadow=on&scale=fill&fit=inside&trim=false&padding=0&background=transparent",
                "&color=silver&format=png",
            ),
            ("&width=300&height=200", "&color=silver&w=300&h=200&format=png"),
            ("&fit=contain&w=300&h=200", "&color=silver&w=300&h=200&format=png&fit=contain"),
            (
                "&scale=true&shadow=off&bg=%23FFFFFF&padding=10&trim=true&fit=cover&size=thumb&h=200&w=300",
                "&color=silver&w=300&h=200&format=png&fit=cover&trim=true&padding=10&background=white&shadow=off&scale=true",
            ),
            ("&format=jpg&background=white", "&color=silver&format=jpg"),
            ("&format=jpg&background=tomato", "&color=silver&format=jpg&background=ff6347"),
            ("&format=auto&background=000000", "&color=silver&format=auto&background=black"),
        ] {
            let printed = ok(given).canonical_query(&porsche());
            let expected = format!("make=porsche&model=911&year=2024&view=front-3-4{canonical}");
            assert_eq!(printed, expected, "{given}");
            let again = ImageRequest::parse_query(&printed).expect("its own spelling is taken");
            assert_eq!((again.frame, again.paint, again.format), {
                let first = ok(given);
                (first.frame, first.paint, first.format)
            });
        }
    }

    #[test]
    fn a_json_item_has_a_boolean_and_a_number_where_the_query_has_texts() {
        let item = serde_json::json!({
            "make": "porsche", "model": "911", "year": 2024, "colour": "#1F4E8C", "finish": "solid", "width": 400, "height": 300,
            "fit": "contain", "trim": true, "padding": 5, "bg": "f4f4f2", "shadow": "off", "scale": "true", "format": "auto",
        });
        let request = ImageRequest::parse_json(item.as_object().unwrap()).unwrap();
        let frame = Framing {
            fit: Fit::Contain,
            width: Some(400),
            height: Some(300),
            trim: true,
            padding_percent: 5,
            background: Some([0xf4, 0xf4, 0xf2]),
            scale: Scale::True,
        };
        assert_eq!((request.frame, request.format), (frame, AskedFormat::Auto));
        let colour = PaintColour::Custom { srgb: [0x1f, 0x4e, 0x8c], finish: Finish::Solid };
        assert_eq!(request.paint, Paint { colour, shadow: false });
        let wrong = [
            ("trim", serde_json::json!("true")),
            ("padding", serde_json::json!("5")),
            ("fit", serde_json::json!(true)),
            ("w", serde_json::json!(7)),
        ];
        for (member, value) in wrong {
            let mut item = item.as_object().unwrap().clone();
            item.insert(member.to_owned(), value);
            assert_eq!(ImageRequest::parse_json(&item).unwrap_err().parameter, member);
        }
        let mut without_height = item.as_object().unwrap().clone();
        without_height.remove("height");
        assert_eq!(ImageRequest::parse_json(&without_height).unwrap_err().parameter, "height");
    }

    fn frames() -> impl Strategy<Value = Framing> {
        let sides = || proptest::option::of(1u32..=1024);
        let background = proptest::option::of(any::<[u8; 3]>());
        let choices = (0..Fit::ALL.len(), sides(), sides(), any::<bool>(), 0u8..=50, background, any::<bool>());
        choices.prop_map(|(fit, width, height, trim, padding_percent, background, is_true)| Framing {
            fit: if width.is_some() && height.is_some() { Fit::ALL[fit] } else { Fit::Inside },
            width,
            height,
            trim,
            padding_percent: if trim { padding_percent } else { 0 },
            background,
            scale: if is_true { Scale::True } else { Scale::Fill },
        })
    }

    fn paints() -> impl Strategy<Value = Paint> {
        let preset = (0..Colour::ALL.len()).prop_map(|place| PaintColour::Preset(Colour::ALL[place]));
        let custom = (any::<[u8; 3]>(), 0..Finish::ALL.len())
            .prop_map(|(srgb, finish)| PaintColour::Custom { srgb, finish: Finish::ALL[finish] });
        (prop_oneof![preset, custom], any::<bool>()).prop_map(|(colour, shadow)| Paint { colour, shadow })
    }

    proptest! {
        #[test]
        fn a_frame_is_read_back_from_its_row(frame in frames()) {
            let Framing { width, height, .. } = frame;
            prop_assert_eq!(frame_of_query(&frame_query(&frame), width, height), Some(frame));
        }

        #[test]
        fn parse_print_parse(
            make in "[a-z0-9ÄéŠ &=+%.-]{1,20}", model in "[A-Za-z0-9 &=+%#.-]{1,20}", year in YEARS,
            view in 0..View::ALL.len(), paint in paints(), format in 0..Format::ALL.len(), frame in frames(),
        ) {
            prop_assume!(!make.trim().is_empty() && !model.trim().is_empty());
            let vehicle = AskedVehicle::named(make.trim(), model.trim(), year);
            let request = ImageRequest {
                vehicle, view: View::ALL[view], paint, format: Format::ALL[format].into(), frame, response: ResponseKind::Image,
            };
            prop_assume!(!(request.format == Format::Jpg.into() && frame.background == Some([255; 3])));
            let printed = request.query_as_given();
            let parsed = ImageRequest::parse_query(&printed);
            prop_assert_eq!(parsed.as_ref(), Ok(&request));
            prop_assert_eq!(parsed.map(|again| again.query_as_given()), Ok(printed));
        }

        #[test]
        fn any_query_is_answered(query in ".{0,200}") {
            let _ = ImageRequest::parse_query(&query);
        }
    }
}
