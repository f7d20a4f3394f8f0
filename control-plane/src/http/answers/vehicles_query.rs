//! Reads the query of `GET /api/v1/vehicles`, whose parameters choose one of six lists.

use crate::delivery::request::NAME_CHARS_MAX;
use crate::http::error::Problem;
use crate::http::openapi::requests::query as parameter;
use url::form_urlencoded;
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};

const YEAR_MIN: u16 = 1990;
/// Largest year that is accepted. A year with more digits is a slip; a year that the catalog does
/// not have is not found.
const YEAR_MAX: u16 = 9999;
pub const TEXT_CHARS_MAX: usize = 200;
const LIMIT_MAX: usize = 25;
const LIMIT_DEFAULT: usize = 10;

/// The requested list with its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VehiclesQuery {
    Years,
    Makes {
        year: u16,
    },
    ModelsOfId {
        make_id: u64,
        year: u16,
    },
    /// Restricted to one make if `make` is given.
    Search {
        text: String,
        year: Option<u16>,
        make: Option<String>,
        limit: usize,
    },
    Models {
        make: String,
        year: Option<u16>,
    },
    ModelYears {
        make: String,
        model: String,
    },
}

#[derive(Debug, Default)]
struct GivenFilters {
    year: Option<u16>,
    make_id: Option<u64>,
    text: Option<String>,
    limit: Option<usize>,
    make: Option<String>,
    model: Option<String>,
}

impl VehiclesQuery {
    pub fn read(query: Option<&str>) -> Result<Self, Problem> {
        let mut given = GivenFilters::default();
        let mut seen = Vec::new();
        for (key, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            given.set(&key, &value)?;
            if seen.contains(&key) {
                return Err(Problem::bad_parameter(&key, format!("`{key}` is given more than once.")));
            }
            seen.push(key);
        }
        given.choose()
    }
}

impl GivenFilters {
    fn set(&mut self, key: &str, value: &str) -> Result<(), Problem> {
        let refuse = |rule: String| Err(Problem::bad_parameter(key, format!("`{key}` must be {rule}.")));
        match key {
            "year" => match whole(value).filter(|year| (YEAR_MIN.into()..=YEAR_MAX.into()).contains(year)) {
                Some(year) => self.year = Some(year as u16),
                None => return refuse(format!("a whole number from {YEAR_MIN} to {YEAR_MAX}")),
            },
            "makeId" => match whole(value) {
                Some(id) => self.make_id = Some(id),
                None => return refuse("the id of a make, a whole number".to_owned()),
            },
            "limit" => match whole(value).filter(|limit| (1..=LIMIT_MAX as u64).contains(limit)) {
                Some(limit) => self.limit = Some(limit as usize),
                None => return refuse(format!("a whole number from 1 to {LIMIT_MAX}")),
            },
            "q" if value.chars().count() > TEXT_CHARS_MAX => {
                return refuse(format!("a text of at most {TEXT_CHARS_MAX} characters"));
            }
            "q" => self.text = Some(value.to_owned()),
            "make" | "model" if value.trim().is_empty() || value.chars().count() > NAME_CHARS_MAX => {
                return refuse(format!("a name or slug of 1 to {NAME_CHARS_MAX} characters"));
            }
            "make" => self.make = Some(value.to_owned()),
            "model" => self.model = Some(value.to_owned()),
            _ => {
                let shown: String = key.chars().take(40).collect();
                let detail = format!(
                    "`{shown}` is not a parameter of this endpoint, which takes year, makeId, q, limit, make and model."
                );
                return Err(Problem::bad_parameter(&shown, detail));
            }
        }
        Ok(())
    }

    fn choose(self) -> Result<VehiclesQuery, Problem> {
        let refuse = |key: &str, rule: &str| Err(Problem::bad_parameter(key, format!("`{key}` {rule}.")));
        if self.limit.is_some() && self.text.is_none() {
            return refuse("limit", "can only be used with `q`: the other lists are sent in full");
        }
        match self {
            GivenFilters { text: Some(_), make_id: Some(_), .. } => refuse("makeId", "cannot be used with `q`"),
            GivenFilters { text: Some(_), model: Some(_), .. } => {
                refuse("model", "cannot be used with `q`: write the model in `q`")
            }
            GivenFilters { make_id: Some(_), make: Some(_), .. } => {
                refuse("makeId", "cannot be used with `make`: send one of the two")
            }
            GivenFilters { make_id: Some(_), model: Some(_), .. } => refuse("model", "can only be used with `make`"),
            GivenFilters { model: Some(_), make: None, .. } => refuse("model", "can only be used with `make`"),
            GivenFilters { model: Some(_), year: Some(_), .. } => {
                refuse("year", "cannot be used with `model`, which lists its years")
            }
            GivenFilters { make_id: Some(_), year: None, .. } => refuse("year", "is required with `makeId`"),
            GivenFilters { text: Some(text), year, make, limit, .. } => {
                Ok(VehiclesQuery::Search { text, year, make, limit: limit.unwrap_or(LIMIT_DEFAULT) })
            }
            GivenFilters { make: Some(make), model: Some(model), .. } => Ok(VehiclesQuery::ModelYears { make, model }),
            GivenFilters { make: Some(make), year, .. } => Ok(VehiclesQuery::Models { make, year }),
            GivenFilters { make_id: Some(make_id), year: Some(year), .. } => {
                Ok(VehiclesQuery::ModelsOfId { make_id, year })
            }
            GivenFilters { year: Some(year), .. } => Ok(VehiclesQuery::Makes { year }),
            GivenFilters { .. } => Ok(VehiclesQuery::Years),
        }
    }
}

/// Reads digits only: `str::parse` would also accept a sign.
fn whole(value: &str) -> Option<u64> {
    value.bytes().all(|byte| byte.is_ascii_digit()).then(|| value.parse().ok())?
}

impl IntoParams for VehiclesQuery {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let whole = |minimum: u64, maximum: u64| {
            let schema = ObjectBuilder::new().schema_type(SchemaType::new(Type::Integer));
            schema.minimum(Some(minimum as f64)).maximum(Some(maximum as f64))
        };
        let text =
            |maximum: usize| ObjectBuilder::new().schema_type(SchemaType::new(Type::String)).max_length(Some(maximum));
        let name = |example: &str, description: &str| {
            // The name has more than white space. The pattern names U+0085, which counts as white
            // space here but not in every implementation of regular expressions.
            let schema = text(NAME_CHARS_MAX).min_length(Some(1)).pattern(Some("[^\\s\\x85]")).examples([example]);
            schema.description(Some(description.to_owned()))
        };
        let id = whole(0, u32::MAX.into()).description(Some("Id of a make. Needs `year`."));
        let q = text(TEXT_CHARS_MAX).examples(["ford must"]).description(Some("Search text, as a person types it."));
        let limit = whole(1, LIMIT_MAX as u64).description(Some("Maximum number of search results. Default: 10."));
        vec![
            parameter("year", whole(YEAR_MIN.into(), YEAR_MAX.into()).description(Some("Model year.")), false),
            parameter("makeId", id, false),
            parameter("q", q, false),
            parameter("limit", limit, false),
            parameter("make", name("porsche", "Name or slug of a make."), false),
            parameter("model", name("911", "Name, slug or unique prefix of a model. Needs `make`."), false),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_choose_the_list() {
        let read = |query: &str| VehiclesQuery::read(Some(query)).map_err(|problem| problem.detail().to_owned());
        let (make, model) = ("ford".to_owned(), "focus".to_owned());
        let search = |year, limit| VehiclesQuery::Search { text: "focus".to_owned(), year, make: None, limit };
        let of_ford =
            VehiclesQuery::Search { text: "focus".to_owned(), year: None, make: Some(make.clone()), limit: 10 };
        for (query, expected) in [
            ("", VehiclesQuery::Years),
            ("year=2024", VehiclesQuery::Makes { year: 2024 }),
            ("year=2024&makeId=460", VehiclesQuery::ModelsOfId { make_id: 460, year: 2024 }),
            ("q=focus", search(None, 10)),
            ("q=focus&year=2010&limit=25", search(Some(2010), 25)),
            ("q=focus&make=ford", of_ford),
            ("make=ford", VehiclesQuery::Models { make: make.clone(), year: None }),
            ("make=ford&year=2010", VehiclesQuery::Models { make: make.clone(), year: Some(2010) }),
            ("make=ford&model=focus", VehiclesQuery::ModelYears { make, model }),
        ] {
            assert_eq!(read(query).as_ref(), Ok(&expected), "{query}");
        }
    }

    #[test]
    fn what_does_not_go_together_is_named() {
        for (query, parameter) in [
            ("year=1989", "year"),
            ("year=+2000", "year"),
            ("year=2000&year=2001", "year"),
            ("makeId=1", "year"),
            ("makeId=x&year=2000", "makeId"),
            ("model=focus", "model"),
            ("make=", "make"),
            ("make=ford&model=%20", "model"),
            ("make=ford&model=focus&year=2000", "year"),
            ("make=ford&makeId=1&year=2000", "makeId"),
            ("q=x&make=", "make"),
            ("q=x&make=ford&model=focus", "model"),
            ("q=x&limit=0", "limit"),
            ("q=x&limit=26", "limit"),
            ("limit=5", "limit"),
            ("make_id=1", "make_id"),
        ] {
            let refusal = VehiclesQuery::read(Some(query)).expect_err(query).document("", "");
            assert_eq!((&refusal["status"], refusal["parameter"].as_str()), (&400.into(), Some(parameter)), "{query}");
        }
        let long = format!("q={}", "x".repeat(201));
        assert!(VehiclesQuery::read(Some(&long)).is_err());
    }
}
