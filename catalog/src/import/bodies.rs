//! Gathers which bodies each model had in which years according to the sources, as the tables
//! `bodies.tsv` and `bodies.cc-by-sa.tsv`.
//!
//! The usual body of a model is decided in [`super::body`]; the tables hold the others. Sources
//! confuse bodies (a trim's row, a body word for a whole family). Therefore another body counts
//! only if it was seen in two years or by two publishers, and if one publisher lists it beside
//! another body in the same year: two publishers that use two words for one body are not a choice.
//! A row of the catalog whose name is a model's name and a body word (`Golf SportWagen`) counts by
//! itself.

use super::evidence::{BodySighting, Evidence, MEMBERS, Publisher, SizeSighting};
use super::rules::Rules;
use cyclorama_core::BodyClass;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Maximum number of years between two sightings in which a body is taken to have been on offer.
const GAP_YEARS_MAX: u16 = 3;
/// Maximum distance, in years, at which a measured size still holds. A generation lasts longer than
/// this.
const NEAR_YEARS: u16 = 4;
/// Differences below these, in millimetres, are bumpers and rounding. Above them the body is
/// another one.
const SAME_LENGTH_MM: u32 = 20;
const SAME_WHEELBASE_MM: u32 = 10;
const SAME_HEIGHT_MM: u32 = 25;

/// The source of a line whose body the catalog lists as a row of its own.
const CATALOG_ROW: &str = "catalog-row";

/// The parts of a model of the release that decide its choice of bodies.
pub struct ReleaseModel {
    pub slug: String,
    pub key: String,
    pub words: Vec<String>,
    /// Its usual body by year, without and with the share-alike source.
    pub usual: BTreeMap<u16, (BodyClass, BodyClass)>,
}

/// Length, width, height and wheelbase in millimetres, as far as they are known.
type Size = [Option<u32>; 4];

#[derive(Debug, Clone, PartialEq, Eq)]
struct ImportedLine {
    model: String,
    body: BodyClass,
    first: u16,
    last: u16,
    size: Size,
    rows: Vec<String>,
    why: BTreeSet<&'static str>,
}

/// Number of models for which the sources know a choice of bodies.
#[derive(Debug, Default, Clone, Serialize)]
pub struct BodyChoice {
    pub models: usize,
    /// Models by the number of bodies that the free sources name: none (`unseen`), `one` or
    /// `several`.
    pub unseen: usize,
    pub one: usize,
    pub several: usize,
    /// Models with several bodies once the share-alike source counts too.
    pub several_with_share_alike: usize,
    /// By source, the number of models for which it names a body, and for which it names several
    /// that count.
    pub by_source: BTreeMap<&'static str, (usize, usize)>,
    pub lines: usize,
    pub share_alike_lines: usize,
}

/// The two tables, while they are gathered make by make.
#[derive(Default)]
pub struct Tables {
    plain: Vec<ImportedLine>,
    share_alike: Vec<ImportedLine>,
    pub choice: BodyChoice,
}

/// The size of one body of a model in one year, the rows that have this body alone, and the sources
/// of both.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Offer {
    size: Size,
    rows: Vec<String>,
    why: BTreeSet<&'static str>,
}

type Offers = BTreeMap<BodyClass, BTreeMap<u16, Offer>>;

impl Tables {
    /// Adds the models of one make, given by its key and slug.
    pub fn add_make(&mut self, rules: &Rules, evidence: &Evidence, (key, slug): (&str, &str), models: &[ReleaseModel]) {
        let of_key: HashMap<&str, &ReleaseModel> = models.iter().map(|model| (model.key.as_str(), model)).collect();
        let mut rows: HashMap<&str, Vec<(&ReleaseModel, BodyClass)>> = HashMap::new();
        for model in models {
            if let Some((base, body)) = base_of(rules, key, model, &of_key) {
                rows.entry(base).or_default().push((model, body));
            }
        }
        for model in models {
            let rows = rows.get(model.key.as_str()).map_or(&[][..], Vec::as_slice);
            let free = ModelSightings { evidence, make: key, model, with_share_alike: false };
            let full = ModelSightings { with_share_alike: true, ..free };
            self.choice.models += 1;
            self.count_sources(&full);
            let is_seen = !free.seen().is_empty();
            let (free, full) = (free.offers(rows), full.offers(rows));
            let is_choice = |offers: &Offers, with: bool| {
                offers.iter().any(|(body, years)| years.keys().any(|year| model.usual_in(*year, with) != Some(*body)))
            };
            let path = format!("{slug}/{}", model.slug);
            match (is_choice(&free, false), is_seen) {
                (true, _) => {
                    self.choice.several += 1;
                    self.plain.extend(lines(&path, &free));
                }
                (false, true) => self.choice.one += 1,
                (false, false) => self.choice.unseen += 1,
            }
            if is_choice(&full, true) {
                self.choice.several_with_share_alike += 1;
                self.share_alike.extend(lines(&path, &without(full, &free)));
            }
        }
    }

    /// Counts by source the models that it knows, and those for which it names several bodies that
    /// count.
    fn count_sources(&mut self, full: &ModelSightings<'_>) {
        let mut of_publisher: BTreeMap<&'static str, BTreeSet<BodyClass>> = BTreeMap::new();
        for one in full.kept() {
            of_publisher.entry(source(one.publisher)).or_default().insert(one.body);
        }
        for one in full.seen() {
            of_publisher.entry(source(one.publisher)).or_default();
        }
        for (name, bodies) in of_publisher {
            let (known, several) = self.choice.by_source.entry(name).or_default();
            *known += 1;
            *several += usize::from(bodies.len() > 1);
        }
    }

    /// Returns the free table, the share-alike one and the counts of what they cover.
    pub fn finish(mut self, package: &str) -> (String, String, BodyChoice) {
        (self.choice.lines, self.choice.share_alike_lines) = (self.plain.len(), self.share_alike.len());
        let plain = table(&FREE_HEADER.replace("{package}", package), self.plain);
        let share_alike = table(&SHARE_ALIKE_HEADER.replace("{package}", package), self.share_alike);
        (plain, share_alike, self.choice)
    }
}

const FREE_HEADER: &str = "\
# Bodies of models by the sources, made by `cyclorama catalog import` from {package} and the sources named in NOTICE.md
# that ask for attribution at most. Not edited by hand: bodies-known.tsv is, and its lines of a model replace all of that
# model's here. Only models with a choice of bodies are listed. `-` is unknown; for the usual body of a year it means the
# catalog's own dimensions. `row` is the catalog row that is this body alone.
";

const SHARE_ALIKE_HEADER: &str = "\
# Bodies of models that only AllCarsDB (github.com/shifter907/allcarsdb) tells, made by `cyclorama catalog import` from
# {package}. This file is offered under CC BY-SA 4.0, https://creativecommons.org/licenses/by-sa/4.0/. The underlying values
# contain information licensed under the Open Government Licence - Canada (Transport Canada, Canadian Vehicle
# Specifications). A line stands over bodies.tsv for its model, body and years, and below bodies-known.tsv.
";

impl ReleaseModel {
    fn usual_in(&self, year: u16, with_share_alike: bool) -> Option<BodyClass> {
        self.usual.get(&year).map(|(free, full)| if with_share_alike { *full } else { *free })
    }
}

/// Returns the key of the model that a row's name begins with, if only a body word follows.
fn base_of<'a>(
    rules: &Rules,
    make: &str,
    row: &ReleaseModel,
    models: &HashMap<&'a str, &'a ReleaseModel>,
) -> Option<(&'a str, BodyClass)> {
    let is_body_word = |words: &[String]| rules.word_body(make, words, "road").is_some();
    (1..row.words.len()).rev().find_map(|count| {
        let rest = &row.words[count..];
        let whole = rest.len() <= 2
            && (is_body_word(&[rest.concat()]) || rest.iter().all(|one| is_body_word(std::slice::from_ref(one))));
        let body = rules.word_body(make, rest, "road").filter(|body| whole && is_choosable(*body))?;
        let (base, _) = models.get_key_value(row.words[..count].concat().as_str())?;
        Some((*base, body))
    })
}

/// True for bodies of cars. Lorries, buses and vehicles that are ridden have no choice of bodies.
fn is_choosable(body: BodyClass) -> bool {
    use BodyClass::{Bus, Motorcycle, Other, Rickshaw, Scooter, Trailer, Truck};
    !matches!(body, Truck | Bus | Motorcycle | Scooter | Trailer | Rickshaw | Other)
}

/// The sightings of one model in all sources.
#[derive(Clone, Copy)]
struct ModelSightings<'a> {
    evidence: &'a Evidence,
    make: &'a str,
    model: &'a ReleaseModel,
    with_share_alike: bool,
}

impl ModelSightings<'_> {
    /// Returns the sightings under the model's own name and under those of its family's members, in
    /// the years in which the catalog has the model. Words that several sources use for one body
    /// are mapped to the catalog's one body.
    fn seen(&self) -> Vec<BodySighting> {
        let members = format!("{MEMBERS}{}", self.model.key);
        let told = [self.model.key.as_str(), &members].into_iter().filter_map(|key| self.evidence.get(self.make, key));
        let settle = |one: &BodySighting| {
            let usual = self.model.usual_in(one.year, self.with_share_alike)?;
            settled(one.body, usual).map(|body| BodySighting { body, ..*one })
        };
        let is_body = |one: &&BodySighting| {
            one.publisher != Publisher::SizeClass && (self.with_share_alike || one.publisher != Publisher::Cvs)
        };
        told.flat_map(|one| one.bodies.iter().filter(is_body).filter_map(settle)).collect()
    }

    /// Returns the sightings of bodies that count.
    fn kept(&self) -> Vec<BodySighting> {
        let seen = self.seen();
        let counts = |body: BodyClass| {
            let of_body = || seen.iter().filter(|one| one.body == body);
            let years: BTreeSet<u16> = of_body().map(|one| one.year).collect();
            let publishers: BTreeSet<Publisher> = of_body().map(|one| one.publisher).collect();
            let is_beside_another = |one: &BodySighting| {
                let same = |other: &&BodySighting| other.publisher == one.publisher && other.year == one.year;
                seen.iter().filter(same).any(|other| other.body != body)
            };
            let is_usual =
                self.model.usual.keys().any(|year| self.model.usual_in(*year, self.with_share_alike) == Some(body));
            (years.len() > 1 || publishers.len() > 1) && (is_usual || of_body().any(is_beside_another))
        };
        let bodies: BTreeSet<BodyClass> = seen.iter().map(|one| one.body).collect();
        let bodies: BTreeSet<BodyClass> = bodies.into_iter().filter(|body| counts(*body)).collect();
        seen.iter().filter(|one| bodies.contains(&one.body)).copied().collect()
    }

    fn offers(&self, rows: &[(&ReleaseModel, BodyClass)]) -> Offers {
        let mut offers = Offers::new();
        for one in self.kept() {
            let offer = offers.entry(one.body).or_default().entry(one.year).or_default();
            offer.why.insert(source(one.publisher));
        }
        for (body, years) in &mut offers {
            self.fill_gaps(years);
            for (year, offer) in years {
                if self.model.usual_in(*year, self.with_share_alike) != Some(*body) {
                    offer.size = self.size(&self.model.key, *body, *year, true);
                }
            }
        }
        for (row, body) in rows {
            for year in row.usual.keys().filter(|year| self.model.usual.contains_key(year)) {
                let is_car = self.model.usual_in(*year, false).is_some_and(is_choosable);
                if !is_car || row.usual_in(*year, self.with_share_alike) != Some(*body) {
                    continue;
                }
                let offer = offers.entry(*body).or_default().entry(*year).or_default();
                offer.rows.push(row.slug.clone());
                offer.why.insert(CATALOG_ROW);
                let is_usual = self.model.usual_in(*year, self.with_share_alike) == Some(*body);
                if offer.size == Size::default() && !is_usual {
                    offer.size = self.size(&row.key, *body, *year, false);
                }
            }
        }
        offers
    }

    /// Adds the years between two sightings of a body, in which it was on offer as well.
    fn fill_gaps(&self, years: &mut BTreeMap<u16, Offer>) {
        let seen: Vec<u16> = years.keys().copied().collect();
        for pair in seen.windows(2) {
            let between = pair[0] + 1..pair[1];
            if between.len() as u16 <= GAP_YEARS_MAX && between.clone().all(|year| self.model.usual.contains_key(&year))
            {
                let before = years.get(&pair[0]).cloned().unwrap_or_default();
                years.extend(between.map(|year| (year, before.clone())));
            }
        }
    }

    /// Returns the nearest measured size of the body under a name; with `of_body` only where the
    /// source says which body it measured. The published figures of the rules are for whole
    /// nameplates, and therefore for their usual bodies.
    fn size(&self, key: &str, body: BodyClass, year: u16, of_body: bool) -> Size {
        let members = format!("{MEMBERS}{key}");
        let known = [key, &members].into_iter().filter_map(|key| self.evidence.get(self.make, key));
        let fits = |one: &&SizeSighting| {
            let is_body = if of_body { one.body == Some(body) } else { one.body.is_none_or(|other| other == body) };
            is_body && one.distance(year) <= NEAR_YEARS && (self.with_share_alike || one.publisher != Publisher::Cvs)
        };
        let rank = |one: &&SizeSighting| {
            let rest = (one.length_mm, one.height_mm, one.wheelbase_mm, one.width_mm);
            (one.distance(year), one.publisher, rest)
        };
        let nearest = known.flat_map(|one| one.sizes.iter().filter(fits)).min_by_key(rank);
        nearest.map_or(Size::default(), |one| {
            [Some(one.length_mm), one.width_mm, Some(one.height_mm), Some(one.wheelbase_mm)]
        })
    }
}

/// Compares a source's body word with the model's usual body. Words that sources use for the same
/// body give the usual one; a body that the model cannot have gives `None`.
fn settled(seen: BodyClass, usual: BodyClass) -> Option<BodyClass> {
    use BodyClass::{Convertible, Coupe, Fastback, Hatchback, Minivan, OffRoader, Pickup, Sedan, Suv, Van, Wagon};
    if !is_choosable(seen) || !is_choosable(usual) {
        return None;
    }
    let is_one_body = match usual {
        Suv | OffRoader => matches!(seen, Suv | OffRoader | Wagon | Hatchback | Van | Minivan),
        Van | Minivan => matches!(seen, Van | Minivan | Wagon | Hatchback | Suv),
        Pickup => seen != Convertible && seen != Van,
        Fastback => matches!(seen, Fastback | Sedan | Hatchback),
        Wagon => matches!(seen, Wagon | Suv | Hatchback | Van | Minivan),
        _ => seen == usual,
    };
    let is_slip = match usual {
        Pickup => true,
        // Low and tall cars of one name are told apart by their rows.
        Hatchback | Sedan | Coupe | Convertible => matches!(seen, Suv | OffRoader | Van | Minivan | Pickup),
        Suv | OffRoader | Van | Minivan | Fastback | Wagon => matches!(seen, Pickup),
        _ => false,
    };
    if is_one_body { Some(usual) } else { (!is_slip).then_some(seen) }
}

/// The identifier of a source, which is the name of its folder.
fn source(publisher: Publisher) -> &'static str {
    match publisher {
        Publisher::Cvs => "ca-cvs-allcarsdb",
        Publisher::Omega => "us-epa-omega",
        Publisher::UsCarModels => "us-car-models-data",
        Publisher::OpenEv => "open-ev-data",
        Publisher::Ademe => "fr-ademe-carlabelling",
        Publisher::SizeClass => "size-class",
    }
}

/// Returns the part of `full` that `free` lacks: bodies, years of a body, and sizes.
fn without(mut full: Offers, free: &Offers) -> Offers {
    for (body, years) in &mut full {
        years.retain(|year, offer| {
            let told = free.get(body).and_then(|years| years.get(year));
            told.is_none_or(|told| told.size == Size::default() && offer.size != Size::default())
        });
    }
    full
}

/// Makes lines of consecutive years with the same facts.
fn lines(model: &str, offers: &Offers) -> Vec<ImportedLine> {
    let mut lines: Vec<ImportedLine> = Vec::new();
    for (body, years) in offers {
        for (year, offer) in years {
            let continues = |line: &&mut ImportedLine| {
                line.body == *body
                    && line.last + 1 == *year
                    && line.rows == offer.rows
                    && is_same_size(line.size, offer.size)
            };
            match lines.last_mut().filter(continues) {
                Some(line) => {
                    line.last = *year;
                    line.why.extend(&offer.why);
                }
                None => {
                    let Offer { size, rows, why } = offer.clone();
                    lines.push(ImportedLine {
                        model: model.to_owned(),
                        body: *body,
                        first: *year,
                        last: *year,
                        size,
                        rows,
                        why,
                    });
                }
            }
        }
    }
    lines
}

fn is_same_size(one: Size, other: Size) -> bool {
    let within = |index: usize, mm: u32| match (one[index], other[index]) {
        (Some(a), Some(b)) => a.abs_diff(b) <= mm,
        (a, b) => a.is_none() && b.is_none() || index == 1,
    };
    within(0, SAME_LENGTH_MM) && within(1, SAME_HEIGHT_MM) && within(2, SAME_HEIGHT_MM) && within(3, SAME_WHEELBASE_MM)
}

fn table(header: &str, mut lines: Vec<ImportedLine>) -> String {
    lines.sort_by(|a, b| (&a.model, a.body.as_str(), a.first).cmp(&(&b.model, b.body.as_str(), b.first)));
    let mut text = header.to_owned();
    text.push_str("# make/model\tbody\tfirst\tlast\tlength_mm\twidth_mm\theight_mm\twheelbase_mm\trow\twhy\n");
    let or_dash = |text: String| if text.is_empty() { "-".to_owned() } else { text };
    for line in lines {
        let size = line.size.map(|mm| or_dash(mm.map_or(String::new(), |mm| mm.to_string()))).join("\t");
        let why = line.why.iter().copied().collect::<Vec<_>>().join(",");
        let ImportedLine { model, body, first, last, rows, .. } = line;
        text.push_str(&format!("{model}\t{body}\t{first}\t{last}\t{size}\t{}\t{why}\n", or_dash(rows.join(","))));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::evidence::Target;
    use super::*;
    use crate::names;
    use BodyClass::{Convertible, Hatchback, Minivan, Pickup, Sedan, Suv, Truck, Van, Wagon};

    fn subject(name: &str, usual: BodyClass) -> ReleaseModel {
        ReleaseModel {
            slug: names::slug(name),
            key: names::key(name),
            words: names::words(name),
            usual: (2010..=2015).map(|year| (year, (usual, usual))).collect(),
        }
    }

    /// The lines of the free and of the share-alike table for one model of the make `Volkswagen`,
    /// from its sightings and the rows beside it.
    fn tables(
        model: ReleaseModel,
        rows: Vec<ReleaseModel>,
        seen: &[(Publisher, u16, BodyClass)],
    ) -> (Vec<String>, Vec<String>) {
        let rules = Rules::built_in().unwrap();
        let mut evidence = Evidence::default();
        let target = Target { make: "volkswagen".into(), model: model.key.clone(), word_body: None };
        for (publisher, year, body) in seen {
            evidence.add_body(&target, *publisher, *year, *body);
        }
        let models: Vec<ReleaseModel> = [model].into_iter().chain(rows).collect();
        let mut tables = Tables::default();
        tables.add_make(&rules, &evidence, ("volkswagen", "volkswagen"), &models);
        let (plain, share_alike, _) = tables.finish("package");
        let spans = |text: String| {
            let cells = |line: &str| line.split('\t').map(str::to_owned).collect::<Vec<_>>();
            let lines = text.lines().filter(|line| !line.starts_with('#')).map(cells);
            lines.map(|cells| [&cells[1], &cells[2], &cells[3], &cells[8]].map(String::as_str).join(" ")).collect()
        };
        (spans(plain), spans(share_alike))
    }

    #[test]
    fn words_that_sources_use_for_one_body_are_one() {
        for (seen, usual, expected) in [
            (Wagon, Hatchback, Some(Wagon)),
            (Wagon, Suv, Some(Suv)),
            (Van, Minivan, Some(Minivan)),
            (Convertible, Suv, Some(Convertible)),
            (Suv, Hatchback, None),
            (Pickup, Sedan, None),
            (Sedan, Truck, None),
        ] {
            assert_eq!(settled(seen, usual), expected, "{seen} of a {usual}");
        }
    }

    #[test]
    fn a_body_counts_when_two_years_or_publishers_say_so_and_one_lists_it_beside_another() {
        use Publisher::{Omega, SizeClass, UsCarModels};
        let beside = |publisher, year| [(publisher, year, Hatchback), (publisher, year, Wagon)];
        let lines = |seen: &[(Publisher, u16, BodyClass)]| tables(subject("Golf", Hatchback), Vec::new(), seen).0;
        assert_eq!(
            lines(&[beside(UsCarModels, 2010), beside(UsCarModels, 2012)].concat()),
            ["hatchback 2010 2012 -", "wagon 2010 2012 -"],
            "a year between two sightings is filled"
        );
        assert_eq!(lines(&[beside(UsCarModels, 2010), beside(Omega, 2010)].concat()).len(), 2);
        assert!(lines(&beside(UsCarModels, 2010)).is_empty(), "one year of one publisher");
        let by_two_words = [
            (UsCarModels, 2010, Hatchback),
            (UsCarModels, 2011, Hatchback),
            (Omega, 2010, Wagon),
            (Omega, 2011, Wagon),
        ];
        assert!(lines(&by_two_words).is_empty(), "two publishers with two words for one body");
        assert!(lines(&[beside(SizeClass, 2010), beside(SizeClass, 2011)].concat()).is_empty());
    }

    #[test]
    fn what_only_the_share_alike_source_says_is_in_its_own_table() {
        use Publisher::{Cvs, UsCarModels};
        let both = |publisher, year| [(publisher, year, Hatchback), (publisher, year, Wagon)];
        let seen = [both(UsCarModels, 2010), both(UsCarModels, 2011), both(Cvs, 2011), both(Cvs, 2012)].concat();
        let (plain, share_alike) = tables(subject("Golf", Hatchback), Vec::new(), &seen);
        assert_eq!(plain, ["hatchback 2010 2011 -", "wagon 2010 2011 -"]);
        assert_eq!(share_alike, ["hatchback 2012 2012 -", "wagon 2012 2012 -"]);
    }

    #[test]
    fn a_row_of_the_catalog_that_is_a_body_of_another_counts_by_itself() {
        let rows = vec![
            subject("Golf SportWagen", Wagon),
            subject("Golf GTI", Hatchback),
            subject("Golf Cabriolet", Hatchback),
        ];
        let (plain, _) = tables(subject("Golf", Hatchback), rows, &[]);
        assert_eq!(
            plain,
            ["wagon 2010 2015 golf-sportwagen"],
            "a trim is no body, and a row must be what its name says"
        );
    }
}
