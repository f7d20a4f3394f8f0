use super::*;
use crate::nameless::is_nameless;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::LazyLock;

mod kinds;

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::embedded().expect("the embedded release loads"));

fn resolved(query: &str) -> Result<ResolvedVehicle<'static>, UnresolvedText<'static>> {
    resolve(&CATALOG, &Request { query, ..Request::default() })
}

/// Formats the result as the golden corpus has it: the vehicle, then the rest.
fn told(answer: &Result<ResolvedVehicle<'_>, UnresolvedText<'_>>) -> (String, String) {
    match answer {
        Err(unresolved) => match unresolved.makes.first() {
            Some(make) => (format!("404 {}", make.slug), String::new()),
            None => ("404".to_owned(), String::new()),
        },
        Ok(found) => {
            let Extraction { body, colour, view, size, width_px, format, .. } = &found.extracted;
            let said = [
                colour.map(|colour| format!("color={colour}")),
                view.map(|view| format!("view={view}")),
                size.map(|size| format!("size={size}")),
                width_px.map(|width| format!("width={width}")),
                format.map(|format| format!("format={format}")),
                body.filter(|body| *body == found.vehicle.body).map(|body| format!("body={body}")),
            ];
            let rest: Vec<String> = said.into_iter().flatten().collect();
            (format!("{}/{}/{}", found.make.slug, found.model.slug, found.year), rest.join(" "))
        }
    }
}

/// Adds to `make/model` of the corpus the year that it stands for.
fn with_year(vehicle: &str) -> String {
    let [make, model] = vehicle.split('/').collect::<Vec<_>>()[..] else { return vehicle.to_owned() };
    let make = CATALOG.makes().iter().find(|other| other.slug == make);
    let model = make.and_then(|make| make.models.iter().find(|other| other.slug == model));
    let newest = model.and_then(|model| model.years().iter().last());
    newest.map_or(vehicle.to_owned(), |year| format!("{vehicle}/{year}"))
}

#[test]
fn the_golden_corpus_is_understood() {
    let lines = include_str!("golden.tsv").lines().filter(|line| !line.starts_with('#'));
    let (mut count, mut wrong, mut wrong_and_sure) = (0, Vec::new(), Vec::new());
    for line in lines {
        let mut fields = line.split('\t');
        let query = fields.next().unwrap_or_default();
        let expected = fields.next().unwrap_or_else(|| panic!("no vehicle in `{line}`"));
        let rest = fields.next().unwrap_or_default();
        let answer = resolved(query);
        let (vehicle, said) = told(&answer);
        count += 1;
        if !expected.split('|').any(|one| with_year(one) == vehicle) || said != rest {
            let report = format!("{query}: {vehicle} {said}, not {expected} {rest}");
            if answer.is_ok_and(|found| found.confidence == Confidence::High) {
                wrong_and_sure.push(report.clone());
            }
            wrong.push(report);
        }
    }
    assert!(count >= 900, "{count}");
    assert_eq!(wrong_and_sure, Vec::<String>::new());
    assert!(wrong.len() * 100 <= count * 3, "{} of {count}: {wrong:#?}", wrong.len());
}

/// True if two entries of the release have the same name, so that a text cannot say which of them
/// it means.
fn written_alike(make: &Make, model: &Model, other: (&Make, &Model)) -> bool {
    let key = |make: &Make, model: &Model| Words::of(&format!("{} {}", make.name, model.name)).key().to_owned();
    key(make, model) == key(other.0, other.1)
}

#[test]
fn every_entry_resolves_to_itself() {
    let mut failed = BTreeSet::new();
    let (makes, half) = (CATALOG.makes(), CATALOG.makes().len() / 2);
    let check = |makes: &[Make]| {
        let mut failed = BTreeSet::new();
        for (make, model) in makes.iter().flat_map(|make| make.models.iter().map(move |model| (make, model))) {
            for year in model.years().iter() {
                let query = format!("{year} {} {}", make.name, model.name);
                let itself = resolved(&query).is_ok_and(|found| {
                    found.year == year
                        && (found.make.id == make.id && found.model.slug == model.slug
                            || written_alike(make, model, (found.make, found.model)))
                });
                if !itself {
                    failed.insert(format!("{query} ({}/{})", make.slug, model.slug));
                }
            }
        }
        failed
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| check(&makes[half..]));
        failed.extend(check(&makes[..half]));
        failed.extend(other.join().expect("the other half"));
    });
    assert_eq!(failed, BTreeSet::new());
}

#[test]
fn confidence_says_how_sure() {
    use Confidence::{High, Low, Medium};
    for (query, expected) in [
        ("2019 ford mustang red", High),
        ("mustang", High),
        ("navy vw golf from behind", High),
        ("peugeot 2008", High),
        // A number that may be the year, a typing mistake, a beginning, a trim, another year,
        // another vehicle of the name.
        ("2008 peugeot", Medium),
        ("ford mustnag", Medium),
        ("sliver ford mustang", Medium),
        ("ford must", Medium),
        ("ford f150 lariat", Medium),
        ("1967 mustang", Medium),
        ("tesla model 3 1999", Medium),
        ("civic 05", Medium),
        ("ford mustang estate", Medium),
        ("front rear ford mustang", Medium),
        ("mustang xyzzy", Low),
    ] {
        let found = resolved(query).unwrap_or_else(|_| panic!("{query} is not found"));
        assert_eq!(found.confidence, expected, "{query}");
    }
    assert!(resolved("mustang 2019").is_ok_and(|found| {
        found.candidates.iter().all(|one| one.model.years().contains(2019) || one.model.slug != "mustang")
    }));
}

#[test]
fn fields_beside_the_words_narrow_the_search() {
    let with = |query, year, make, model| told(&resolve(&CATALOG, &Request { query, year, make, model })).0;
    for (query, year, make, model, expected) in [
        ("red mustang 2015", Some(2019), None, None, "ford/mustang/2019"),
        ("golf", Some(2010), Some("vw"), None, "volkswagen/golf/2010"),
        ("from behind", Some(2010), Some("volkswagen"), Some("golf"), "volkswagen/golf/2010"),
        ("red", Some(2010), None, Some("focus"), "ford/focus/2010"),
        ("ford focus", Some(2010), Some("ford"), Some("focus"), "ford/focus/2010"),
        ("spider", Some(2018), Some("fiat"), None, "fiat/124-spider/2018"),
        ("spider", Some(2017), Some("Abarth"), None, "abarth/spider/2017"),
        ("red", None, Some("ford"), None, "404 ford"),
        ("focus", Some(2010), Some("frod"), None, "ford/focus/2010"),
    ] {
        let found = with(query, year, make, model);
        assert_eq!(found, expected, "{query} {year:?} {make:?} {model:?}");
    }
}

#[test]
fn a_body_is_chosen_where_the_model_has_it() {
    use BodyClass::{Convertible, Fastback, Hatchback, OffRoader, Sedan, Wagon};
    use Confidence::{High, Medium};
    for (query, vehicle, said, chosen, confidence) in [
        ("golf estate 2016", "volkswagen/golf/2016", Some(Wagon), Some(Wagon), High),
        ("2016 VW Golf Variant", "volkswagen/golf/2016", Some(Wagon), Some(Wagon), High),
        ("golf hatchback 2016", "volkswagen/golf/2016", Some(Hatchback), None, High),
        ("golf 2016", "volkswagen/golf/2016", None, None, High),
        // The usual body has another name in the catalog.
        ("jeep wrangler suv 2018", "jeep/wrangler/2018", Some(OffRoader), None, High),
        ("skoda octavia hatch 2018", "skoda/octavia/2018", Some(Fastback), None, High),
        // The number of doors chooses a body where the usual one does not have as many.
        ("fiat tipo 4 porte 2018", "fiat/tipo/2018", Some(Sedan), Some(Sedan), High),
        ("fiat tipo 5 porte 2018", "fiat/tipo/2018", None, None, High),
        // The row of a version has no such body, but its family has.
        ("bmw 328i convertible 2011", "bmw/3-series/2011", Some(Convertible), Some(Convertible), Medium),
        // Without a year, the newest with the body is chosen.
        ("volvo 240 estate", "volvo/240/1993", Some(Wagon), Some(Wagon), High),
        // The model never had the body: the usual one is chosen, with a doubt.
        ("ford mustang estate 2016", "ford/mustang/2016", Some(Wagon), None, Medium),
        // A maker's word for a body that is a part of a view as well.
        ("audi a4 avant 2016", "audi/a4/2016", Some(Wagon), Some(Wagon), High),
        ("audi a4 vue avant 2016", "audi/a4/2016", None, None, High),
        ("audi q5 avant 2016", "audi/q5/2016", None, None, High),
    ] {
        let found = resolved(query).unwrap_or_else(|_| panic!("{query} is not found"));
        let told = (format!("{}/{}/{}", found.make.slug, found.model.slug, found.year), found.extracted.body);
        assert_eq!(told, (vehicle.to_owned(), said), "{query}");
        assert_eq!((found.chosen_body, found.confidence), (chosen, confidence), "{query}");
        let key = CATALOG.of_parts(&found.make.slug, &found.model.slug, chosen, found.year);
        assert_eq!(key.map(|key| key.vehicle), Some(found.vehicle), "{query}");
    }
    let front = resolved("audi q5 avant 2016").expect("found");
    assert_eq!(front.extracted.view, Some(View::Front));
}

#[test]
fn what_is_not_understood_is_told() {
    let found = resolved("mustang with flurbs 2019").expect("found");
    assert_eq!((found.extracted.unread, found.extracted.year), (vec!["flurbs".to_owned()], Some(2019)));
    let only_make = resolved("toyota flurb").expect_err("no model");
    assert_eq!(only_make.makes.len(), 1);
    assert_eq!(only_make.extracted.unread, ["flurb"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_words_get_the_same_answer_twice(query in prop_oneof![".{0,80}", "[a-z0-9' ]{0,200}", "(red|ford|side|3/4|'19|500|px|golf|[a-z]{1,3}| ){0,50}"]) {
        let once = told(&resolved(&query));
        prop_assert_eq!(once, told(&resolved(&query)));
    }

    /// Words in another order give the same vehicle.
    #[test]
    fn order_does_not_matter_for_attributes(parts in Just(vec!["ford", "focus"]).prop_map(|names| names.join(" ")), year in 2000u16..2018, first in any::<bool>()) {
        let query = if first { format!("red {year} {parts}") } else { format!("{parts} {year} red") };
        prop_assert_eq!(told(&resolved(&query)), (format!("ford/focus/{year}"), "color=red".to_owned()));
    }

    #[test]
    fn what_is_offered_can_be_asked_for(query in "(bmw|audi|golf|fiesta|a4|x5|300|civic|yaris|'0[0-9]| ){1,4}") {
        if let Ok(found) = resolved(&query) {
            prop_assert!(found.model.years().contains(found.year));
            prop_assert!(CATALOG.find(&found.make.slug, &found.model.slug, found.year).is_ok());
            prop_assert_eq!(&found.candidates[0].model.slug, &found.model.slug);
        }
    }
}

/// Rows of the registers that name no vehicle are found by all their words only, and are never
/// certain.
#[test]
fn rows_that_name_no_vehicle_are_never_certain() {
    let mut wrong = BTreeSet::new();
    let mut count = 0;
    for make in CATALOG.makes() {
        for model in make.models.iter().filter(|model| is_nameless(make, model)) {
            count += 1;
            let is_it = |found: &ResolvedVehicle<'_>| found.make.id == make.id && found.model.slug == model.slug;
            for query in [
                make.name.clone(),
                format!("{} {}", make.name, model.name),
                format!("red {} {}", make.name, model.name),
                format!("{} {}", model.name, make.name),
            ] {
                if resolved(&query).is_ok_and(|found| is_it(&found) && found.confidence == Confidence::High) {
                    wrong.insert(format!("{query}: {}/{}", make.slug, model.slug));
                }
            }
            if resolved(&make.name).is_ok_and(|found| is_it(&found)) {
                wrong.insert(format!("{} alone: {}/{}", make.name, make.slug, model.slug));
            }
        }
    }
    assert!(count > 1_500, "{count}");
    assert_eq!(wrong, BTreeSet::new());
}

/// Names that are also words for a kind of vehicle are certain.
#[test]
fn real_names_that_are_words_for_a_kind_are_certain() {
    for query in [
        "alfa romeo spider",
        "audi coupe",
        "audi cabriolet",
        "fiat coupe",
        "hyundai coupe",
        "maserati coupe",
        "maserati spyder",
        "tesla roadster",
        "morgan roadster",
        "mazda roadster",
        "smart roadster",
        "renault spider",
        "mini convertible",
        "toyota van",
        "nissan pickup",
        "isuzu pickup",
        "aston martin volante",
        "royal enfield classic",
        "can-am spyder",
        "mazda mpv",
        "vw up",
        "bentley turbo",
    ] {
        let found = resolved(query).unwrap_or_else(|_| panic!("{query} is not found"));
        assert!(!is_nameless(found.make, found.model), "{query}");
        assert_eq!(found.confidence, Confidence::High, "{query}: {}/{}", found.make.slug, found.model.slug);
    }
}

#[test]
fn a_make_and_a_word_for_a_kind_are_no_certain_vehicle() {
    let high = |query: &str| resolved(query).is_ok_and(|found| found.confidence == Confidence::High);
    for (query, make) in [
        ("mercedes benz", "mercedes-benz"),
        ("red mercedes benz", "mercedes-benz"),
        ("2015 mercedes benz", "mercedes-benz"),
        ("mercedes benz from behind", "mercedes-benz"),
        ("Mercedes-Benz", "mercedes-benz"),
        ("costin sports car", "costin-sports-car"),
        ("smart car", "smart"),
        ("classic ford", "ford"),
        ("kawasaki motorcycle", "kawasaki"),
        ("harley davidson motorcycle", "harley-davidson"),
        ("all wheel drive bmw", "bmw"),
        ("electric honda", "honda"),
    ] {
        assert_eq!(told(&resolved(query)).0, format!("404 {make}"), "{query}");
    }
    for query in [
        "honda motorcycle",
        "red honda motorcycle",
        "a lexus hybrid",
        "2010 lexus hybrid",
        "nissan sedan",
        "mitsubishi electric car",
        "suzuki scooter",
        "yamaha motorcycle blue",
        "skoda combi",
        "honda touring",
        "hyundai truck",
        "mitsubishi van",
        "nissan diesel",
        "ford tractor",
        "ford classic",
        "electric moped",
        "motorcycle kawasaki",
        "consulier gtp gtp",
    ] {
        assert!(!high(query), "{query}: {}", told(&resolved(query)).0);
    }
    for (query, expected) in
        [("2017 Mercedes-Benz Benz", "mercedes-benz/benz/2017"), ("2017 Honda Motorcycle", "honda/motorcycle/2017")]
    {
        assert_eq!(told(&resolved(query)).0, expected, "{query}");
    }
}

#[test]
fn a_model_that_is_written_out_is_meant() {
    for (query, expected) in [
        ("bmw x5 30d 2019", "bmw/x5/2019"),
        ("bmw x3 m40i", "bmw/x3/2026"),
        ("bmw z4 30i 2020", "bmw/z4/2020"),
        ("bmw x5 50e", "bmw/x5/2026"),
        ("mercedes eqc 400 2021", "mercedes-benz/eqc-class/2021"),
        ("mercedes cls 350 2010", "mercedes-benz/cls/2010"),
        ("2020 Mercedes-Benz GLC 300 4MATIC", "mercedes-benz/glc-class/2020"),
        ("BMW X5 xDrive40i 2021", "bmw/x5/2021"),
        ("bmw x3 xdrive30d 2018", "bmw/x3/2018"),
        ("bmw x5 foobarbaz 2019", "bmw/x5/2019"),
        ("audi q7 55tfsi 2021 blackoptic", "audi/q7/2021"),
        ("ford focus verylongunknownword anotherunknownword 2012", "ford/focus/2012"),
        ("mercedes c220 2019", "mercedes-benz/c-class/2019"),
        ("bmw 320d 2015", "bmw/3-series/2015"),
        // One car under two names.
        ("mercedes glc 2020", "mercedes-benz/glc-class/2020"),
        ("mercedes gle 2021", "mercedes-benz/gle-class/2021"),
        ("mercedes gla 2020", "mercedes-benz/gla-class/2020"),
        ("range rover evoque 2013", "land-rover/range-rover-evoque/2013"),
        ("land rover evoque 2019", "land-rover/range-rover-evoque/2019"),
        ("jaguar xe 2022", "jaguar/xe-series/2022"),
    ] {
        assert_eq!(told(&resolved(query)).0, expected, "{query}");
    }
    let found = resolved("bmw x5 foobarbaz").expect("found");
    assert_eq!((found.extracted.unread, found.confidence), (vec!["foobarbaz".to_owned()], Confidence::Low));
    assert!(resolved("mercedes glc 2020").is_ok_and(|found| found.confidence == Confidence::High));
}

#[test]
fn other_scripts_are_read() {
    for (query, expected, colour) in [
        ("БМВ Х5 2019", "bmw/x5/2019", ""),
        ("белый бмв х5 2019", "bmw/x5/2019", "color=white"),
        ("БМВ М3 2018", "bmw/m3/2018", ""),
        ("Ауди А4 2017", "audi/a4/2017", ""),
        ("мазда СХ-5 2018", "mazda/cx-5/2018", ""),
        ("чёрная тойота camry 2015", "toyota/camry/2015", "color=black"),
        ("черная тойота camry 2015", "toyota/camry/2015", "color=black"),
        ("красный ford focus 2012", "ford/focus/2012", "color=red"),
        ("特斯拉 model 3 2020", "tesla/model-3/2020", ""),
        ("特斯拉model 3 2020", "tesla/model-3/2020", ""),
        ("奥迪 a4 2018 红色", "audi/a4/2018", "color=red"),
        ("宝马 x5 2019", "bmw/x5/2019", ""),
        ("白い トヨタ prius 2016", "toyota/prius/2016", "color=white"),
    ] {
        assert_eq!(told(&resolved(query)), (expected.to_owned(), colour.to_owned()), "{query}");
    }
}
