//! Parses a line of a list into vehicles, views and colours. It has no side effects; the
//! catalog is passed in.

use super::looks::ModelLooks;
use super::{PrewarmItem, ROWS_MAX};
use crate::catalog::{AskedName, AskedVehicle, AskedYear, Catalog, Make, Model, VehicleId, body_of_word};
use cyclorama_core::{BodyClass, Colour, Paint, Vehicle, View};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// A line of a list, or a query, with `make` or with `vehicle` in its place. If `model` or `years`
/// is absent, all of them are meant; if `body`, `views` or `colors` is absent, the default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// A name, a slug or a nickname.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub make: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// A permanent id that stands for make, model and body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vehicle: Option<String>,
    /// A word for a body, `all`, or absent for the default body of each year. Years in which a
    /// model did not have the body are skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// `2018`, `2015..2024` or a range with one end (`2015..`), separated by commas; or `all`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub years: Option<String>,
    /// Names separated by commas, or `all`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub views: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub colors: Option<String>,
}

/// The reason why a request cannot be understood. `parameter` is the member to change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct RequestError {
    pub parameter: &'static str,
    pub detail: String,
}

fn wrong(parameter: &'static str, detail: impl Into<String>) -> RequestError {
    RequestError { parameter, detail: detail.into() }
}

/// The combination of several requests: one wish for each vehicle and view, in the order in which
/// they were first requested.
#[derive(Default)]
pub struct Wishes {
    wishes: Vec<PrewarmItem>,
    places: BTreeMap<(String, View), usize>,
}

impl Wishes {
    pub fn into_inner(self) -> Vec<PrewarmItem> {
        self.wishes
    }

    /// Adds the vehicles and views of a request. If it fails, some of them may have been added.
    pub fn add(&mut self, catalog: &Catalog, request: &Request) -> Result<(), RequestError> {
        let views = named::<View>("views", request.views.as_deref(), View::ALL)?;
        let colours = named::<Colour>("colors", request.colors.as_deref(), Colour::ALL)?;
        let paints: Vec<Paint> = colours.into_iter().map(Paint::from).collect();
        let years = years(request.years.as_deref())?;
        let NamedModels { make, models, bodies } = named_vehicles(catalog, request)?;
        let mut found = false;
        let mut looks = ModelLooks::default();
        for model in models {
            let wanted = model.years().iter().filter(|year| years.iter().any(|range| range.contains(year)));
            for vehicle in wanted.flat_map(|year| with_bodies(catalog, make, model, year, bodies)) {
                found = true;
                let look_id = looks.id(catalog, &vehicle);
                for view in &views {
                    self.wish(&vehicle, &look_id, *view, &paints)?;
                }
            }
        }
        match found {
            true => Ok(()),
            false => {
                let body = request.body.as_deref().map_or_else(String::new, |body| format!(" with the body `{body}`"));
                Err(wrong("years", format!("{} was not made in these years{body}", subject(request))))
            }
        }
    }

    /// Adds one wish. Years with the same look become one wish, for the year that was named first.
    fn wish(&mut self, vehicle: &Vehicle, look_id: &str, view: View, colours: &[Paint]) -> Result<(), RequestError> {
        let place = *self.places.entry((look_id.to_owned(), view)).or_insert(self.wishes.len());
        if let Some(wish) = self.wishes.get_mut(place) {
            wish.colours.extend(colours);
            wish.colours.sort_by_key(Paint::to_string);
            wish.colours.dedup();
            return Ok(());
        }
        if self.wishes.len() >= ROWS_MAX {
            return Err(wrong("requests", format!("more than {ROWS_MAX} vehicles and views; use several batches")));
        }
        self.wishes.push(PrewarmItem { vehicle: vehicle.clone(), view, colours: colours.to_vec() });
        Ok(())
    }
}

/// The models that a request names, and which of their bodies it means.
struct NamedModels<'a> {
    make: &'a Make,
    models: Vec<&'a Model>,
    bodies: Bodies,
}

#[derive(Debug, Clone, Copy)]
enum Bodies {
    /// The default body of a model in a year.
    Usual,
    All,
    /// This body, or that of a model which the same words mean.
    Like(BodyClass),
    /// Exactly this body, given by an id.
    Only(BodyClass),
}

fn named_vehicles<'a>(catalog: &'a Catalog, request: &Request) -> Result<NamedModels<'a>, RequestError> {
    let given = |text: &'_ Option<String>| text.as_deref().is_some_and(|text| !text.trim().is_empty());
    if let Some(id) = request.vehicle.as_deref().map(str::trim).filter(|id| !id.is_empty()) {
        for (name, value) in [("make", &request.make), ("model", &request.model), ("body", &request.body)] {
            if given(value) {
                return Err(wrong(name, format!("`{name}` cannot be used with `vehicle`, which contains it")));
            }
        }
        let none = || wrong("vehicle", format!("the catalog has no vehicle `{}`", shortened(id)));
        let id: VehicleId = id.parse().map_err(|_| none())?;
        let (make, model, body) = catalog.of_id(id).ok_or_else(none)?;
        return Ok(NamedModels { make, models: vec![model], bodies: Bodies::Only(body) });
    }
    let make = request.make.as_deref().ok_or_else(|| wrong("make", "`make` or `vehicle` is missing"))?;
    let make = catalog.find_make(make).map_err(|missing| wrong("make", missing.detail))?;
    let models = match &request.model {
        Some(name) => vec![catalog.find_model(make, name).map_err(|missing| wrong("model", missing.detail))?],
        None => make.models.iter().collect(),
    };
    let bodies = match request.body.as_deref().map(str::trim) {
        None | Some("") => Bodies::Usual,
        Some("all") => Bodies::All,
        Some(word) => {
            let none = || wrong("body", format!("`{}` is not a body", shortened(word)));
            Bodies::Like(body_of_word(word).ok_or_else(none)?)
        }
    };
    Ok(NamedModels { make, models, bodies })
}

fn with_bodies(catalog: &Catalog, make: &Make, model: &Model, year: u16, bodies: Bodies) -> Vec<Vehicle> {
    match bodies {
        Bodies::Usual => catalog.vehicle(make, model, year).into_iter().collect(),
        Bodies::All => catalog.bodies(make, model, year),
        Bodies::Only(body) => {
            catalog.bodies(make, model, year).into_iter().filter(|vehicle| vehicle.body == body).collect()
        }
        Bodies::Like(body) => {
            let name = AskedName::Names { make: make.slug.clone(), model: model.slug.clone() };
            let asked = AskedVehicle { name, year: AskedYear::Year(year), body: Some(body) };
            catalog.find_asked(&asked).ok().map(|found| found.vehicle).into_iter().collect()
        }
    }
}

fn subject(request: &Request) -> String {
    let parts = [&request.vehicle, &request.make, &request.model];
    parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" ")
}

fn years(text: Option<&str>) -> Result<Vec<RangeInclusive<u16>>, RequestError> {
    let Some(text) = text.filter(|text| !matches!(text.trim(), "" | "all")) else { return Ok(vec![0..=u16::MAX]) };
    let refuse = || wrong("years", format!("`{}` is not a year: write 2018, 2015..2024 or all", shortened(text)));
    let end = |text: &str, open: u16| match text.trim() {
        "" => Ok(open),
        text => text.parse().map_err(|_| refuse()),
    };
    let part = |part: &str| match part.split_once("..") {
        None => part.trim().parse().map(|year| year..=year).map_err(|_| refuse()),
        Some((first, last)) => Ok(end(first, 0)?..=end(last.trim_start_matches('='), u16::MAX)?),
    };
    text.split(',').map(part).collect()
}

fn named<T: FromStr + Default + Copy + Ord>(
    parameter: &'static str,
    text: Option<&str>,
    all: &[T],
) -> Result<Vec<T>, RequestError>
where
    T::Err: std::fmt::Display,
{
    match text.map(str::trim) {
        None | Some("") => Ok(vec![T::default()]),
        Some("all") => Ok(all.to_vec()),
        Some(text) => {
            let mut found = Vec::new();
            for name in text.split(',') {
                found.push(name.trim().parse().map_err(|error: T::Err| wrong(parameter, error.to_string()))?);
            }
            found.sort();
            found.dedup();
            Ok(found)
        }
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(make: &str, model: &str, years: &str, views: &str, colors: &str) -> Request {
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Request {
            make: given(make),
            model: given(model),
            years: given(years),
            views: given(views),
            colors: given(colors),
            ..Request::default()
        }
    }

    fn added(requests: &[Request]) -> Result<Vec<PrewarmItem>, RequestError> {
        let catalog = Catalog::embedded().expect("the built-in release");
        let mut wishes = Wishes::default();
        requests.iter().try_for_each(|request| wishes.add(&catalog, request))?;
        Ok(wishes.into_inner())
    }

    #[test]
    fn a_line_means_vehicles_views_and_colours() {
        for (years, views, colors, rows, pictures) in [
            ("2018", "", "", 1, 1),
            ("2018", "all", "", 6, 6),
            ("2018", "front, side", "red,white,red", 2, 4),
            // The tenth generation came in 2016: years with the same look are one row.
            ("2015..2018", "", "all", 2, 30),
            ("2015,2017..2018", "", "", 2, 2),
            ("..2015,2015", "rear", "", added(&[request("honda", "civic", "..2015", "rear", "")]).unwrap().len(), 0),
        ] {
            let wishes = added(&[request("honda", "civic", years, views, colors)]).unwrap();
            assert_eq!(wishes.len(), rows, "{years} {views} {colors}");
            let sum: usize = wishes.iter().map(|wish| wish.colours.len()).sum();
            assert!(pictures == 0 || sum == pictures, "{years} {views} {colors}: {sum}");
        }
        let make = added(&[request("honda", "", "2018", "", "")]).unwrap();
        assert!(make.len() > 5 && make.iter().all(|wish| wish.vehicle.make == "honda" && wish.vehicle.year == 2018));
    }

    #[test]
    fn a_body_is_kept() {
        let golf =
            |body: &str| Request { body: Some(body.to_owned()), ..request("volkswagen", "golf", "2015", "", "") };
        let bodies = |requests: &[Request]| -> Vec<BodyClass> {
            added(requests).unwrap().iter().map(|wish| wish.vehicle.body).collect()
        };
        assert_eq!(bodies(&[golf("")]), [BodyClass::Hatchback]);
        assert_eq!(bodies(&[golf("estate")]), [BodyClass::Wagon]);
        assert_eq!(bodies(&[golf(""), golf("wagon"), golf("estate")]), [BodyClass::Hatchback, BodyClass::Wagon]);
        let all = bodies(&[golf("all")]);
        assert!(all.len() > 2 && all.contains(&BodyClass::Wagon), "{all:?}");
        let id = VehicleId::of("volkswagen", "golf", BodyClass::Wagon).to_string();
        let by_id =
            |years: &str| Request { vehicle: Some(id.clone()), years: Some(years.to_owned()), ..Request::default() };
        assert_eq!(added(&[by_id("2015")]), added(&[golf("wagon")]));
        assert_eq!(added(&[by_id("1990")]).unwrap_err().parameter, "years", "there was none yet");
        for (request, parameter) in [
            (golf("boat"), "body"),
            (golf("pickup"), "years"),
            (Request { make: Some("bmw".to_owned()), ..by_id("2015") }, "make"),
            (Request { vehicle: Some("cyv_0000000000000".to_owned()), ..Request::default() }, "vehicle"),
            (Request { vehicle: Some("golf".to_owned()), ..Request::default() }, "vehicle"),
            (Request::default(), "make"),
        ] {
            assert_eq!(added(std::slice::from_ref(&request)).unwrap_err().parameter, parameter, "{request:?}");
        }
    }

    #[test]
    fn what_is_asked_for_twice_is_one_row() {
        let wishes = added(&[
            request("honda", "civic", "2015,2018", "side", "white,black"),
            request("Honda", "Civic", "2018", "side", "red,white"),
        ])
        .unwrap();
        assert_eq!(wishes.len(), 2);
        assert_eq!(wishes[1].colours, [Colour::Black, Colour::Red, Colour::White].map(Paint::from));
    }

    #[test]
    fn what_means_nothing_is_named() {
        for (request, parameter, says) in [
            (request("nobody", "", "", "", ""), "make", "nobody"),
            (request("honda", "no-such-thing", "", "", ""), "model", "no-such-thing"),
            (request("honda", "civic", "1901", "", ""), "years", "honda civic was not made"),
            (request("honda", "civic", "soon", "", ""), "years", "`soon` is not a year"),
            (request("honda", "civic", "2018", "below", ""), "views", "below"),
            (request("honda", "civic", "2018", "", "mauve"), "colors", "mauve"),
        ] {
            let error = added(&[request]).unwrap_err();
            assert_eq!(error.parameter, parameter, "{error}");
            assert!(error.detail.contains(says), "{error}");
        }
    }
}
