//! Benchmark (`make bench`): search and resolve in process, compared with a linear scan with
//! `rapidfuzz`, and on a catalog ten times larger. It prints a table and asserts nothing.

use cyclorama_catalog::Catalog;
use cyclorama_catalog::release::{self, Release};
use cyclorama_catalog::resolve::{Request, resolve};
use rapidfuzz::fuzz;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

const ROUNDS: usize = 5;
/// Number of queries for the linear scan. A scan takes a thousand times longer, so fewer queries
/// suffice.
const SCANNED: usize = 60;
const LARGER: u8 = 10;
/// Number of the slowest queries that are printed with their times.
const SLOWEST: usize = 12;

fn main() {
    let bytes_before = resident_bytes();
    let began = Instant::now();
    let catalog = Catalog::embedded().expect("the embedded release");
    let loaded = began.elapsed();
    let index_bytes = catalog.search_index().size();
    println!(
        "catalog: loaded in {:.0} ms, index made in {:.0} ms, {:.1} MB of memory, {:.1} MB of it the index   (goal 64)",
        loaded.as_secs_f64() * 1e3,
        (began.elapsed() - loaded).as_secs_f64() * 1e3,
        (resident_bytes() - bytes_before) as f64 / 1e6,
        index_bytes as f64 / 1e6
    );
    let queries = queries(&catalog);
    println!("{} queries: the golden corpus, and as many names of the catalog with one edit", queries.len());
    println!("{:40} {:>9} {:>9} {:>12}", "", "median us", "p99 us", "a second");
    let searched = measure("search", &queries, |query| drop(black_box(catalog.search(query, None, 10))));
    let resolved = measure("resolve", &queries, |query| {
        let _ = black_box(resolve(&catalog, &Request { query, ..Request::default() }));
    });

    let names: Vec<String> = catalog
        .makes()
        .iter()
        .flat_map(|make| make.models.iter().map(move |model| format!("{} {}", make.name, model.name).to_lowercase()))
        .collect();
    let some: Vec<String> = queries.iter().step_by(queries.len() / SCANNED).cloned().collect();
    let scanned = measure("linear scan with rapidfuzz's ratio", &some, |query| {
        let scorer = fuzz::RatioBatchComparator::new(query.to_lowercase().chars().collect::<Vec<_>>());
        let best = names.iter().map(|name| scorer.similarity(name.chars())).fold(0.0_f64, f64::max);
        black_box(best);
    });
    println!("search is {:.0} times as fast as the scan, resolve {:.0} times", scanned / searched, scanned / resolved);

    let folder = std::env::temp_dir().join(format!("cyclorama-bench-search-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let larger = ten_times(&folder);
    larger.search_index();
    let models = |catalog: &Catalog| catalog.makes().iter().map(|make| make.models.len()).sum::<usize>();
    println!("{} models in place of {}", models(&larger), models(&catalog));
    let searched_larger = measure("search", &queries, |query| drop(black_box(larger.search(query, None, 10))));
    let resolved_larger = measure("resolve", &queries, |query| {
        let _ = black_box(resolve(&larger, &Request { query, ..Request::default() }));
    });
    println!(
        "ten times the catalog costs {:.1} times (search) and {:.1} times (resolve) as much a query",
        searched_larger / searched,
        resolved_larger / resolved
    );
    let _ = std::fs::remove_dir_all(folder);
}

/// Prints median and 99th percentile of single queries, and returns the mean in microseconds.
fn measure(name: &str, queries: &[String], mut run: impl FnMut(&str)) -> f64 {
    queries.iter().take(50).for_each(|query| run(query));
    let mut fastest = vec![f64::MAX; queries.len()];
    let (mut sum, mut count) = (0.0, 0);
    for _ in 0..ROUNDS {
        for (query, fastest) in queries.iter().zip(&mut fastest) {
            let began = Instant::now();
            run(query);
            let took = began.elapsed().as_secs_f64() * 1e6;
            *fastest = fastest.min(took);
            sum += took;
            count += 1;
        }
    }
    let mut order: Vec<usize> = (0..queries.len()).collect();
    order.sort_by(|a, b| fastest[*b].total_cmp(&fastest[*a]));
    let slowest: Vec<String> =
        order.iter().take(SLOWEST).map(|at| format!("`{}` {:.0} us", queries[*at], fastest[*at])).collect();
    fastest.sort_by(f64::total_cmp);
    let at = |ratio: f64| fastest[((fastest.len() - 1) as f64 * ratio) as usize];
    let mean = sum / f64::from(count);
    println!("{name:40} {:9.1} {:9.1} {:12.0}", at(0.5), at(0.99), 1e6 / mean);
    println!("    slowest: {}", slowest.join(", "));
    mean
}

fn queries(catalog: &Catalog) -> Vec<String> {
    let golden = include_str!("../src/resolve/golden.tsv").lines().filter(|line| !line.starts_with('#'));
    let mut queries: Vec<String> = golden.filter_map(|line| line.split('\t').next()).map(str::to_owned).collect();
    let names: Vec<String> = catalog
        .makes()
        .iter()
        .flat_map(|make| make.models.iter().map(move |model| format!("{} {}", make.name, model.name)))
        .collect();
    let count = queries.len();
    for (number, name) in names.iter().step_by(names.len() / count).take(count).enumerate() {
        let mut letters: Vec<char> = name.chars().collect();
        let at = number * 7 % letters.len();
        match number % 3 {
            0 => letters[at] = 'x',
            1 => letters.insert(at, 'e'),
            _ => drop(letters.remove(at)),
        }
        queries.push(letters.into_iter().collect());
    }
    queries
}

/// Makes a catalog from the release and nine copies of it. In the copies, the letters of names are
/// shifted among vowels and among consonants: the names are as long and as similar to each other as
/// ours, but other words.
fn ten_times(folder: &Path) -> Catalog {
    let file = Path::new("data/vehicles.bin");
    let release =
        Release::decode("vehicles.bin", &std::fs::read(file).expect("the release file"), None).expect("decodes");
    let mut makes = Vec::new();
    for by in 0..LARGER {
        for make in &release.makes {
            let mut make = make.clone();
            make.id += u64::from(by) << 40;
            make.name = shifted(&make.name, by);
            make.slug = shifted(&make.slug, by);
            make.aliases.clear();
            for model in &mut make.models {
                model.name = shifted(&model.name, by);
                model.slug = shifted(&model.slug, by);
                model.spellings.iter_mut().for_each(|spelling| spelling.name = shifted(&spelling.name, by));
            }
            makes.push(make);
        }
    }
    let larger = Release::new("ten times".to_owned(), release.sources, makes, release.dimensions);
    let path = folder.join("larger.bin");
    std::fs::write(&path, release::encode(&larger).expect("encodes")).expect("is written");
    Catalog::load(&path).expect("loads")
}

fn shifted(name: &str, by: u8) -> String {
    const GROUPS: [&[u8]; 3] = [b"aeiou", b"bcdfghjklmnpqrstvwxyz", b"0123456789"];
    let shift = |letter: char| {
        let lower = letter.to_ascii_lowercase() as u32 as u8;
        let group = GROUPS.iter().find(|group| letter.is_ascii() && group.contains(&lower));
        let Some(group) = group else { return letter };
        let at = group.iter().position(|other| *other == lower).unwrap_or(0);
        let moved = char::from(group[(at + usize::from(by) * 2 + usize::from(by > 4)) % group.len()]);
        if letter.is_ascii_uppercase() { moved.to_ascii_uppercase() } else { moved }
    };
    name.chars().map(shift).collect()
}

/// Resident memory of this process (Linux).
fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = status.split_whitespace().nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0);
    pages * 4096
}
