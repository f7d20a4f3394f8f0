use super::release::supplement_path;
use super::*;
use cyclorama_core::BodyClass::{self, *};
use proptest::prelude::*;
use std::io::Write;
use std::sync::LazyLock;

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::embedded().expect("the embedded release loads"));

fn path(found: &Found) -> String {
    found.vehicle.key()
}

#[test]
fn the_release_holds_what_the_package_lists() {
    let counts = CATALOG.counts();
    assert_eq!(
        Counts { vehicles: 0, ..counts },
        Counts {
            makes: 1145,
            model_names: 14_841,
            entries: 132_491,
            vehicle_types: 7,
            vehicles: 0,
            year_from: 1990,
            year_to: 2026
        }
    );
    assert!(counts.vehicles > 110_000, "{}", counts.vehicles);
    assert_eq!(CATALOG.package(), "@meterapp/vehicle-db 2.6.0");
    assert_eq!(CATALOG.sources().len(), 5);
}

/// Body and length of well-known cars; the length is within a hand's breadth of the maker's figure.
#[test]
fn well_known_cars() {
    let cars: [(&str, &str, u16, BodyClass, u32); 34] = [
        ("Porsche", "911", 2024, Coupe, 4519),
        ("Porsche", "911", 1995, Coupe, 4245),
        ("Volkswagen", "Golf", 2024, Hatchback, 4284),
        ("Volkswagen", "Golf", 2000, Hatchback, 4149),
        ("Ford", "F-150", 2024, Pickup, 5884),
        ("Jeep", "Wrangler", 2024, OffRoader, 4069),
        ("Toyota", "Prius", 2024, Fastback, 4599),
        ("MINI", "Cooper", 2024, Hatchback, 3858),
        ("MINI", "Cooper", 2005, Hatchback, 3635),
        ("Tesla", "Model 3", 2024, Fastback, 4720),
        ("BMW", "3 Series", 2024, Sedan, 4713),
        ("BMW", "328i", 2010, Sedan, 4531),
        ("Ford", "Transit", 2022, Van, 5531),
        ("Toyota", "Camry", 2024, Sedan, 4880),
        ("Honda", "Civic", 2024, Sedan, 4674),
        ("Ford", "Mustang", 2024, Coupe, 4811),
        ("Mazda", "MX-5", 2024, Convertible, 3915),
        ("Toyota", "Corolla", 2024, Sedan, 4630),
        ("Toyota", "RAV4", 2024, Suv, 4600),
        ("Toyota", "Tacoma", 2024, Pickup, 5410),
        ("Honda", "CR-V", 1998, Suv, 4470),
        ("Land Rover", "Range Rover", 2024, Suv, 5052),
        ("Land Rover", "Defender", 2024, OffRoader, 4758),
        ("Land Rover", "Defender", 2005, OffRoader, 3883),
        ("Toyota", "Sienna", 2024, Minivan, 5184),
        ("Mercedes-Benz", "G-Class", 2024, OffRoader, 4613),
        ("Ford", "Bronco", 2024, OffRoader, 4412),
        ("Suzuki", "Jimny", 2020, OffRoader, 3480),
        ("Renault", "Clio", 2015, Hatchback, 4062),
        ("Volvo", "V60", 2020, Wagon, 4761),
        ("Tesla", "Model S", 2016, Fastback, 4970),
        ("Audi", "A4", 2018, Sedan, 4726),
        ("Ferrari", "F430", 2007, Coupe, 4512),
        ("Mercedes-Benz", "Sprinter", 2020, Van, 5932),
    ];
    for (make, model, year, body, length_mm) in cars {
        let vehicle =
            CATALOG.find(make, model, year).unwrap_or_else(|refusal| panic!("{make} {model}: {refusal}")).vehicle;
        assert_eq!(vehicle.body, body, "{make} {model} {year}");
        let off = vehicle.dimensions.length_mm.abs_diff(length_mm);
        assert!(off <= 230, "{make} {model} {year}: {:?}, published length {length_mm}", vehicle.dimensions);
    }
    let other_kinds = [
        ("Honda", "CBR600", 2005, Motorcycle, VehicleType::Motorcycle),
        ("Vespa", "GTS", 2015, Scooter, VehicleType::Motorcycle),
        ("Toyota", "Coaster", 2010, Bus, VehicleType::Bus),
        ("Toyota", "Hilux", 2015, Pickup, VehicleType::Truck),
    ];
    for (make, model, year, body, vehicle_type) in other_kinds {
        let vehicle =
            CATALOG.find(make, model, year).unwrap_or_else(|refusal| panic!("{make} {model}: {refusal}")).vehicle;
        assert_eq!((vehicle.body, vehicle.vehicle_type), (body, vehicle_type), "{make} {model}");
    }
}

/// No source measures two-wheelers. Their lengths come from published figures of the family, never
/// from a car of the same name.
#[test]
fn two_wheelers_have_sizes_of_two_wheelers() {
    for (make, model, year, length_mm) in [
        ("Honda", "Gold Wing", 2007, 2615),
        ("Honda", "NX400", 2006, 2130),
        ("Vespa", "GTS", 2015, 1770),
        ("Harley-Davidson", "FLHT", 2005, 2450),
        ("BMW", "R Series", 2010, 2207),
        ("Kawasaki", "Ninja", 2015, 2070),
    ] {
        let vehicle =
            CATALOG.find(make, model, year).unwrap_or_else(|refusal| panic!("{make} {model}: {refusal}")).vehicle;
        assert_eq!(vehicle.dimensions.length_mm, length_mm, "{make} {model} {year}");
    }
    let mut count = 0;
    let models = CATALOG.makes().iter().flat_map(|make| make.models.iter().map(move |model| (make, model)));
    let vehicles = models.flat_map(|(make, model)| {
        model.years().iter().filter_map(move |year| CATALOG.vehicle(make, model, year)).collect::<Vec<_>>()
    });
    for vehicle in vehicles.filter(|vehicle| vehicle.body.is_two_wheeler()) {
        count += 1;
        assert!((1_200..2_800).contains(&vehicle.dimensions.length_mm), "{}: {:?}", vehicle.key(), vehicle.dimensions);
    }
    assert!(count > 20_000, "{count}");
}

#[test]
fn names_slugs_spellings_and_unique_beginnings() {
    let cases = [
        ("ford", "f-150", 2024, "ford/f-150/2024"),
        ("FORD", "F 150", 2024, "ford/f-150/2024"),
        ("Ford", "f150", 2024, "ford/f-150/2024"),
        ("mercedes-benz", "G-Class", 2024, "mercedes-benz/g-class/2024"),
        ("Mercedes Benz", "g class", 2024, "mercedes-benz/g-class/2024"),
        ("Citroën", "C3", 2015, "citroen/c3/2015"),
        ("citroen", "c3", 2015, "citroen/c3/2015"),
        ("škoda", "octavia", 2015, "skoda/octavia/2015"),
        ("vw", "golf", 2020, "volkswagen/golf/2020"),
        ("Chevy", "corvette", 2020, "chevrolet/corvette/2020"),
        // Beginnings that one model of the year has.
        ("porsche", "pana", 2020, "porsche/panamera/2020"),
        ("porsche", "Tayc", 2024, "porsche/taycan/2024"),
        ("mazda", "cx-90", 2024, "mazda/cx-90/2024"),
        // A whole name takes precedence over longer ones that begin with it.
        ("porsche", "911", 2024, "porsche/911/2024"),
        ("toyota", "corolla", 2024, "toyota/corolla/2024"),
    ];
    for (make, model, year, expected) in cases {
        let found =
            CATALOG.find(make, model, year).unwrap_or_else(|refusal| panic!("{make} {model} {year}: {refusal}"));
        assert_eq!(path(&found), expected);
    }
    let found = CATALOG.find("BMW", "3 series", 2024).unwrap();
    assert_eq!((found.make_name.as_str(), found.model_name.as_str()), ("BMW", "3 Series"));
}

#[test]
fn what_is_not_there_is_named_with_what_may_have_been_meant() {
    let cases = [
        ("Porshe", "911", 2024, Missing::Make, "Porshe", "porsche"),
        ("toyta", "corolla", 2024, Missing::Make, "toyta", "toyota"),
        ("porsche", "panamerra", 2024, Missing::Model, "panamerra", "panamera"),
        ("ford", "mustnag", 2024, Missing::Model, "mustnag", "mustang"),
        ("tesla", "model", 2024, Missing::AmbiguousModel, "model", "model-3"),
        ("porsche", "911", 2027, Missing::Year, "2027", "911"),
        ("tesla", "model 3", 1995, Missing::Year, "1995", "model-3"),
        ("porsche", "", 2024, Missing::Model, "", ""),
        ("", "911", 2024, Missing::Make, "", ""),
        ("porsche", "!!!", 2024, Missing::Model, "!!!", ""),
    ];
    for (make, model, year, missing, named, suggested) in cases {
        let refusal = CATALOG.find(make, model, year).expect_err(model);
        assert_eq!(refusal.missing, missing, "{make} {model} {year}: {refusal}");
        assert!(refusal.detail.contains(named), "{refusal}");
        assert!(refusal.suggestions.len() <= 8);
        let slugs: Vec<&str> =
            refusal.suggestions.iter().map(|one| one.model_slug.as_deref().unwrap_or(&one.make_slug)).collect();
        assert!(suggested.is_empty() || slugs.contains(&suggested), "{make} {model} {year}: {slugs:?}");
    }
    let year = CATALOG.find("tesla", "model 3", 1995).unwrap_err();
    assert!(year.detail.contains("2017 to 2026"), "{year}");
    assert_eq!(year.suggestions[0].years.first(), Some(&2017));
}

#[test]
fn every_vehicle_is_found_by_its_own_slugs_and_can_be_drawn() {
    let mut slugs = BTreeSet::new();
    for make in CATALOG.makes() {
        assert!(slugs.insert(make.slug.clone()), "two makes `{}`", make.slug);
        let models: BTreeSet<&str> = make.models.iter().map(|model| model.slug.as_str()).collect();
        assert_eq!(models.len(), make.models.len(), "{}", make.slug);
        for model in &make.models {
            for year in model.years().iter() {
                let found = CATALOG.find(&make.slug, &model.slug, year).unwrap_or_else(|refusal| panic!("{refusal}"));
                // A make that shares its key with another is found by the same words.
                assert_eq!((found.vehicle.model.as_str(), found.vehicle.year), (model.slug.as_str(), year));
                let size = found.vehicle.dimensions;
                // The smallest are children's motorcycles.
                let sound = (1_200..=15_000).contains(&size.length_mm)
                    && (500..=2_700).contains(&size.width_mm)
                    && (700..=4_500).contains(&size.height_mm)
                    && size.wheelbase_mm < size.length_mm
                    && size.front_track_mm < size.width_mm;
                assert!(sound, "{}: {size:?}", found.vehicle.key());
            }
        }
    }
}

#[test]
fn the_package_s_own_names_are_all_found() {
    for make in CATALOG.makes() {
        for model in &make.models {
            for spelling in &model.spellings {
                let (_, years) = spelling.years[0];
                let year = years.iter().next().expect("a spelling has years");
                let found = CATALOG.find(&make.name, &spelling.name, year);
                assert_eq!(
                    found.map(|found| found.vehicle.model).as_ref(),
                    Ok(&model.slug),
                    "{} {}",
                    make.name,
                    spelling.name
                );
            }
        }
    }
}

#[test]
fn models_without_a_year() {
    let porsche = CATALOG.make("porsche").unwrap();
    assert_eq!(CATALOG.model(porsche, "911").map(|model| model.slug.as_str()), Some("911"));
    assert_eq!(CATALOG.model(porsche, "pana").map(|model| model.slug.as_str()), Some("panamera"));
    assert_eq!(CATALOG.model(porsche, "ca"), None);
    assert_eq!(CATALOG.model(porsche, ""), None);
    assert!(CATALOG.makes_in(2024).any(|make| make.slug == "porsche"));
    assert_eq!(CATALOG.makes_in(2027).count(), 0);
}

#[test]
fn an_import_reads_a_package_and_a_share_alike_source() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, bytes: &[u8]| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    let xz = |text: &str| {
        let mut writer = xz2::write::XzEncoder::new(Vec::new(), 1);
        writer.write_all(text.as_bytes()).unwrap();
        writer.finish().unwrap()
    };
    write("package/package.json", br#"{"name": "p", "version": "1.2.3"}"#);
    write(
        "package/dist/data.js",
        br#""use strict"; const data = {"sources": [{"source_id": "nhtsa-vpic", "source_name": "N", "source_url": "u", "license": "l", "region": "r"}],
            "vehicleTypes": [{"vehicle_type_id": 2, "vehicle_type_name": "Passenger Car"}],
            "makes": [{"make_id": 7, "make_name": "ZZ MOTORS"}], "modelNames": ["Comet", "COMET", "COMET ESTATE"],
            "models": [[2000, 7, 1, 0, 2, 1], [2001, 7, 1, 1, 2, 1], [2001, 7, 2, 2, 2, 1]]};
            exports.default = data;"#,
    );
    write(
        "sources/ca-cvs-allcarsdb/body_configs.csv.xz",
        &xz(
            "Ref,Body_Style,Doors,Cab_Config,Length_in,Width_in,Height_in,Wheelbase_in,Track_Front_in\na,Coupe,2,,180,70,50,100,60\n",
        ),
    );
    write(
        "sources/ca-cvs-allcarsdb/ymm_body_configs.csv.xz",
        &xz("Make,Model,Year,Body_Config_Ref\nZZ Motors,Comet,2001,a\n"),
    );
    let out = folder.path().join("made.bin");
    let report = import::import(&folder.path().join("package"), &folder.path().join("sources"), None, &out).unwrap();
    assert_eq!((report.counts.makes, report.counts.model_names, report.counts.entries), (1, 3, 3));
    assert_eq!(report.missing_sources.len(), 7);

    let catalog = Catalog::load(&out).unwrap();
    let comet = catalog.find("zz motors", "comet", 2001).unwrap();
    assert_eq!((comet.vehicle.body, comet.vehicle.dimensions.length_mm), (Coupe, 4572));
    assert_eq!((comet.make_name.as_str(), comet.model_name.as_str()), ("ZZ Motors", "Comet"));
    assert_eq!(catalog.find("zz-motors", "comet-estate", 2001).unwrap().vehicle.body, Wagon);
    // Without the share-alike file, facts that come only from there are unknown.
    std::fs::remove_file(supplement_path(&out)).unwrap();
    let plain = Catalog::load(&out).unwrap().find("zz-motors", "comet", 2001).unwrap().vehicle;
    assert_eq!((plain.body, plain.dimensions.length_mm), (Sedan, 4780));

    write("package/dist/data.js", b"const other = 1;");
    let refusal =
        import::import(&folder.path().join("package"), &folder.path().join("sources"), None, &out).unwrap_err();
    assert!(refusal.to_string().contains("const data"), "{refusal}");
}

proptest! {
    #[test]
    fn any_words_get_an_answer(make in ".{0,30}", model in ".{0,30}", year: u16) {
        let _ = CATALOG.find(&make, &model, year);
        let _ = CATALOG.find("ford", &model, year);
    }
}

/// Make, model and year as decoders of vehicle identification numbers, dealers' feeds and people
/// write them, with the vehicle that is meant. The vehicle is found, or is the first suggestion and
/// has the year.
#[test]
fn names_of_decoders_lead_to_the_vehicle_of_that_year() {
    let cases = include_str!("decoder_names.tsv").lines().filter(|line| !line.starts_with('#'));
    let (mut count, mut wrong) = (0, Vec::new());
    for line in cases {
        let [make, model, year, expected] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let year: u16 = year.parse().expect(line);
        count += 1;
        let (found, is_year) = match CATALOG.find(make, model, year) {
            Ok(found) => (format!("{}/{}", found.make, found.model), true),
            Err(refusal) => refusal.suggestions.first().map_or((format!("{refusal}"), false), |first| {
                let model = first.model_slug.clone().unwrap_or_default();
                let again = CATALOG.find(&first.make_slug, &model, year);
                (format!("{}/{model}", first.make_slug), again.is_ok() && first.years.contains(&year))
            }),
        };
        if !is_year || !expected.split('|').any(|one| one == found) {
            wrong.push(format!("{make} {model} {year}: {found} ({is_year}), not {expected}"));
        }
        let query = format!("{make} {model} {year}");
        let resolved =
            crate::resolve::resolve(&CATALOG, &crate::resolve::Request { query: &query, ..Default::default() });
        let told = resolved
            .map_or("nothing".to_owned(), |told| format!("{}/{}/{}", told.make.slug, told.model.slug, told.year));
        if !expected.split('|').any(|one| told == format!("{one}/{year}")) {
            wrong.push(format!("resolve {query}: {told}, not {expected}"));
        }
    }
    assert!(count >= 60, "{count}");
    assert_eq!(wrong, Vec::<String>::new());
}

/// Every suggestion that has the year leads to a vehicle, and these suggestions come first.
#[test]
fn suggestions_of_the_year_come_first_and_are_found() {
    for make in CATALOG.makes() {
        for model in &make.models {
            let years = model.years();
            let Some(gap) = (1990..=2026).find(|year| !years.contains(*year)) else { continue };
            let refusal = match CATALOG.find(&make.slug, &model.slug, gap) {
                Err(refusal) => refusal,
                Ok(found) => {
                    let is_twin = CATALOG.twins(make, model).any(|(_, twin)| twin.slug == found.model);
                    let is_said = found.matched == NameMatch::Alias && is_twin || found.matched == NameMatch::Trim;
                    assert!(is_said, "{}/{} {gap}: {found:?}", make.slug, model.slug);
                    continue;
                }
            };
            let has: Vec<bool> = refusal.suggestions.iter().map(|one| one.years.contains(&gap)).collect();
            assert!(has.is_sorted_by(|a, b| a >= b), "{}/{} {gap}: {has:?}", make.slug, model.slug);
            if let Some(first) = refusal.suggestions.first().filter(|_| has[0]) {
                let slug = first.model_slug.as_deref().unwrap_or_default();
                assert!(CATALOG.find(&first.make_slug, slug, gap).is_ok(), "{}/{slug} {gap}", first.make_slug);
            }
            let twin = CATALOG.twins(make, model).any(|(_, twin)| twin.years().contains(gap));
            assert!(!twin || has[0], "{}/{} {gap}", make.slug, model.slug);
        }
    }
}

#[test]
fn nicknames_of_makes_are_makes() {
    for (name, slug) in [
        ("Mercedes", "mercedes-benz"),
        ("VW", "volkswagen"),
        ("Chevy", "chevrolet"),
        ("Alfa", "alfa-romeo"),
        ("Rolls", "rolls-royce"),
        ("Jag", "jaguar"),
        ("БМВ", "bmw"),
        ("Мерседес", "mercedes-benz"),
        ("特斯拉", "tesla"),
        ("トヨタ", "toyota"),
        ("Aston", "aston-martin"),
    ] {
        assert_eq!(CATALOG.make(name).map(|make| make.slug.as_str()), Some(slug), "{name}");
    }
    for make in CATALOG.makes() {
        for name in search::make_nicknames(make) {
            let found = CATALOG.make(name).unwrap_or_else(|| panic!("{name} is no make"));
            let has_it_for_a_name = names::key(&found.name) == names::key(name);
            assert!(found.id == make.id || has_it_for_a_name, "{name} is {}", found.slug);
        }
    }
}

/// A model whose name has a word for a body has that body, or the row is listed with the reason.
#[test]
fn bodies_are_what_names_say() {
    #[derive(serde::Deserialize)]
    struct File {
        words: Vec<Says>,
        other: Vec<Other>,
    }
    #[derive(serde::Deserialize)]
    struct Says {
        bodies: Vec<BodyClass>,
        words: Vec<String>,
    }
    #[derive(serde::Deserialize)]
    struct Other {
        #[serde(rename = "why")]
        _why: String,
        models: Vec<String>,
    }
    let file: File = toml::from_str(include_str!("body_words.toml")).expect("body_words.toml");
    let mut listed: BTreeSet<&String> = file.other.iter().flat_map(|other| &other.models).collect();
    let (mut wrong, mut count) = (BTreeSet::new(), 0);
    for make in CATALOG.makes() {
        for model in &make.models {
            let words = names::words(&model.name);
            let pairs: Vec<String> = words.windows(2).map(|pair| pair.concat()).collect();
            let has = |says: &&Says| words.iter().chain(&pairs).any(|word| says.words.contains(word));
            for says in file.words.iter().filter(has) {
                count += 1;
                let body = |year| CATALOG.vehicle(make, model, year).expect("a year of the model").body;
                let other: BTreeSet<&str> = model
                    .years()
                    .iter()
                    .map(body)
                    .filter(|body| !says.bodies.contains(body))
                    .map(|body| body.as_str())
                    .collect();
                let key = format!("{}/{}", make.slug, model.slug);
                if !other.is_empty() && !listed.remove(&key) {
                    wrong.insert(format!("{key}: {other:?}, and its name says {:?}", says.bodies));
                }
            }
        }
    }
    assert!(count > 250, "{count}");
    assert_eq!(wrong, BTreeSet::new());
    assert_eq!(listed, BTreeSet::new(), "listed, and as their names say");
}

/// A nameplate that is sold as a low car and as an SUV has two heights. No low body has the height
/// of the SUV.
#[test]
fn a_low_body_has_not_the_height_of_its_suv() {
    let (mut wrong, mut count) = (BTreeSet::new(), 0);
    for make in CATALOG.makes() {
        for suv in make.models.iter().filter(|model| names::words(&model.name).iter().any(|word| word == "suv")) {
            let plate = names::words(&suv.name).into_iter().take_while(|word| word != "suv").collect::<String>();
            for other in make.models.iter().filter(|other| names::key(&other.name).starts_with(&plate)) {
                for year in other.years().iter().filter(|year| suv.years().contains(*year)) {
                    let of = |model| CATALOG.vehicle(make, model, year).expect("a year of the model");
                    let (low, tall) = (of(other), of(suv));
                    let is_tall = |body| matches!(body, Suv | OffRoader);
                    if is_tall(tall.body) && !is_tall(low.body) && low.body != Pickup {
                        count += 1;
                        if low.dimensions.height_mm + 60 > tall.dimensions.height_mm {
                            wrong.insert(format!("{}: {:?}, {:?}", low.key(), low.dimensions, tall.dimensions));
                        }
                    }
                }
            }
        }
    }
    assert!(count >= 8, "{count}");
    assert_eq!(wrong, BTreeSet::new());
    let height =
        |model: &str, year| CATALOG.find("mercedes-benz", model, year).expect(model).vehicle.dimensions.height_mm;
    assert!(
        height("eqs-class", 2024) < 1_560 && height("eqe-class", 2023) < 1_560 && height("eqs-class-suv", 2024) > 1_680
    );
}
