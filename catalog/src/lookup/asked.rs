//! The vehicle as a caller names it, and how it is found in the catalog.

use super::{
    Catalog, Found, Make, Missing, Model, NameMatch, NotFound, Suggestion, VehicleId, bodies, make_key, names,
};
use crate::styles;
use cyclorama_core::{BodyClass, Vehicle};

/// A vehicle as a caller names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedVehicle {
    pub name: AskedName,
    pub year: AskedYear,
    /// `None` for the body that the model usually has, or that the id stands for.
    pub body: Option<BodyClass>,
}

/// The name of a vehicle in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskedName {
    /// Names, slugs or other words for make and model.
    Names {
        make: String,
        model: String,
    },
    Id(VehicleId),
}

/// The model year of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskedYear {
    Year(u16),
    /// The newest year that the model has.
    Latest,
}

impl AskedYear {
    /// The year if it is given as a number; `None` for the latest.
    pub fn number(self) -> Option<u16> {
        match self {
            AskedYear::Year(year) => Some(year),
            AskedYear::Latest => None,
        }
    }
}

impl AskedVehicle {
    /// A vehicle by names, with the body that the model usually has.
    pub fn named(make: &str, model: &str, year: u16) -> Self {
        AskedVehicle {
            name: AskedName::Names { make: make.to_owned(), model: model.to_owned() },
            year: AskedYear::Year(year),
            body: None,
        }
    }
}

impl Catalog {
    /// Finds the vehicle that is meant. Case, accents and punctuation of names do not matter. A
    /// model may be given by a beginning that only one model of the make has in that year, and by
    /// other words where they are certain ([`NameMatch`]). Returns [`NotFound`] with suggestions if
    /// no vehicle is certain.
    pub fn find_asked(&self, asked: &AskedVehicle) -> Result<Found, NotFound> {
        match &asked.name {
            AskedName::Id(id) => self.find_id(*id, asked.year, asked.body),
            AskedName::Names { make, model } => match asked.year {
                AskedYear::Year(year) => self.find_named(make, model, year, asked.body),
                AskedYear::Latest => self.find_latest(make, model, asked.body),
            },
        }
    }

    /// Returns the row and the body that an id of this release stands for. An id of a usual body
    /// that was corrected in all years stands for the right one.
    pub fn of_id(&self, id: VehicleId) -> Option<(&Make, &Model, BodyClass)> {
        let place = self.id_index().get(&id)?;
        let make = &self.makes()[place.make as usize];
        let model = &make.models[place.model as usize];
        let corrected = |year: &u16| self.corrected_body(make, model, *year) == Some(place.body);
        let body = match model.years().iter().filter(corrected).last() {
            Some(year) if self.years_of_body(make, model, place.body).is_empty() => model.body_in(year),
            _ => place.body,
        };
        Some((make, model, body))
    }

    fn find_id(&self, id: VehicleId, year: AskedYear, body: Option<BodyClass>) -> Result<Found, NotFound> {
        let Some((make, model, body_of_id)) = self.of_id(id) else {
            let detail = format!("the catalog has no vehicle `{id}`");
            return Err(NotFound { missing: Missing::Id, detail, suggestions: Vec::new(), bodies: Vec::new() });
        };
        if body.is_some_and(|body| !styles::are_alike(body, body_of_id)) {
            let detail = format!(
                "`body` is not the body of `{id}`, which is {body_of_id}: leave it out, or send the id of the other body"
            );
            return Err(NotFound { missing: Missing::BodyOfId, detail, suggestions: Vec::new(), bodies: Vec::new() });
        }
        let year = match year {
            AskedYear::Year(year) => year,
            AskedYear::Latest => self.years_of_body(make, model, body_of_id).last().copied().unwrap_or_default(),
        };
        let is_corrected = self.corrected_body(make, model, year) == Some(body_of_id);
        let is_offered = self.bodies(make, model, year).iter().any(|vehicle| vehicle.body == body_of_id);
        let body = if is_corrected && !is_offered { model.body_in(year) } else { body_of_id };
        let found = self.found(make, model, year, NameMatch::Exact);
        let found = found.ok_or_else(|| self.not_in_year(make, model, &model.slug, year))?;
        self.with_chosen_body(make, model, found, Some(body))
    }

    /// Returns the years in which a model is offered with a body, ascending.
    pub fn years_of_body(&self, make: &Make, model: &Model, body: BodyClass) -> Vec<u16> {
        let has = |year: &u16| self.bodies(make, model, *year).iter().any(|vehicle| vehicle.body == body);
        model.years().iter().filter(has).collect()
    }

    fn find_latest(&self, make: &str, model: &str, body: Option<BodyClass>) -> Result<Found, NotFound> {
        let years: Vec<u16> = self.years().iter().collect();
        let mut refused = None;
        for year in years.into_iter().rev() {
            match self.find_named(make, model, year, body) {
                Ok(found) => return Ok(found),
                // Another year does not help with an unknown make. It may help with an unknown
                // model, if names of models begin the same.
                Err(other) if other.missing == Missing::Make => return Err(other),
                Err(other) => {
                    refused.get_or_insert(other);
                }
            }
        }
        Err(refused.unwrap_or_else(|| self.unknown_make(make)))
    }

    pub(super) fn find_named(
        &self,
        make: &str,
        model: &str,
        year: u16,
        body: Option<BodyClass>,
    ) -> Result<Found, NotFound> {
        let mut makes = self.makes_named(make);
        if makes.is_empty() {
            return Err(self.unknown_make_of(make, model, year, body));
        }
        let key = names::key(model);
        // If two makes have the same name (`SUR-RON`, `SURRON`), the one that has exactly this
        // model in that year comes first.
        makes.sort_by_key(|position| {
            let exact = self.models_starting(*position as usize, &key).first().filter(|(other, _)| *other == key);
            !exact
                .is_some_and(|(_, model)| self.makes[*position as usize].models[*model as usize].years().contains(year))
        });
        let mut refusal = None;
        for position in &makes {
            let named = &self.makes[*position as usize];
            let found = match self.find_in_year(*position as usize, &key, model, year) {
                Ok(found) => self.with_chosen_body_of(found, body),
                Err(other) => self.certain(named, model, year, body).ok_or(other),
            };
            match found {
                Ok(found) => return Ok(Found { matched: self.matched_make(named, make, found.matched), ..found }),
                // With two makes of one name, a refusal about a model that one of them has says
                // more than one about a model that neither has.
                Err(other) if refusal.as_ref().is_none_or(|first: &NotFound| first.missing == Missing::Model) => {
                    refusal = Some(other)
                }
                Err(_) => {}
            }
        }
        Err(refusal.unwrap_or_else(|| self.unknown_make(make)))
    }

    /// An exact match counts as an alias if the make was given by another of its names.
    fn matched_make(&self, make: &Make, asked: &str, matched: NameMatch) -> NameMatch {
        let asked = make_key(asked);
        let is_own = asked == make_key(&make.name) || asked == make_key(&make.slug);
        if matched == NameMatch::Exact && !is_own { NameMatch::Alias } else { matched }
    }

    fn with_chosen_body_of(&self, found: Found, body: Option<BodyClass>) -> Result<Found, NotFound> {
        match self.row(&found.make, &found.model) {
            Some((make, model)) => self.with_chosen_body(make, model, found, body),
            None => Ok(found),
        }
    }

    /// Returns the same model and year with another body, if it was sold with it; else
    /// [`Missing::Body`].
    pub(super) fn with_chosen_body(
        &self,
        make: &Make,
        model: &Model,
        found: Found,
        body: Option<BodyClass>,
    ) -> Result<Found, NotFound> {
        let Some(body) = body.filter(|body| *body != found.vehicle.body) else { return Ok(found) };
        let offered = self.bodies(make, model, found.year);
        match bodies::meant(body, &offered) {
            Some(vehicle) if vehicle.body == found.vehicle.body => Ok(found),
            Some(vehicle) => Ok(Found { chosen_body: Some(vehicle.body), vehicle: vehicle.clone(), ..found }),
            None => Err(no_such_body(make, model, found.year, body, &offered)),
        }
    }
}

fn no_such_body(make: &Make, model: &Model, year: u16, body: BodyClass, offered: &[Vehicle]) -> NotFound {
    let bodies: Vec<BodyClass> = offered.iter().map(|vehicle| vehicle.body).collect();
    let names: Vec<&str> = bodies.iter().map(|body| body.as_str()).collect();
    NotFound {
        missing: Missing::Body,
        detail: format!(
            "the catalog has no {} {} of {year} with the body `{body}`; it has {}",
            make.name,
            model.name,
            names.join(", ")
        ),
        suggestions: vec![Suggestion::model(make, model, Some(year))],
        bodies,
    }
}
