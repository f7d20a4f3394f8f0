//! Every fenced block of the documentation, and every sample of the pages, is run or checked; one
//! list says how. A block that is not in the list fails, so that nothing untested is shown.

use crate::terminal::Terminal;
use cyclorama_tests::{
    Behaviour, Browser, DatabaseChoice, FakeNode, Service, on_both_databases, package_file, programs::binaries, secrets,
};
use reqwest::StatusCode;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use tokio::io::{AsyncBufReadExt, BufReader};

/// How a block is tested.
#[derive(Debug, Clone, Copy)]
enum How {
    /// Bash runs all blocks of a file one after the other in one folder, with a key in the
    /// environment.
    Run,
    /// As `Run`, but in between a person approves the login that it starts.
    Login,
    /// It would never end, so the test only checks that its target of the Makefile exists.
    Make,
    /// It would build the project, which includes this test, so the test only checks that the tests
    /// it names exist.
    Cargo,
    /// Paths of this repository.
    Tree,
    /// A sheet of a vehicle, which the render node draws.
    Sheet,
    /// The measured facts of a sheet, drawn as part of the file's first sheet.
    Facts,
    /// Tested by another test, which reads the file.
    Elsewhere(&'static str),
    /// A drawing.
    Drawing,
}

const BLOCKS: &[(&str, &[How])] = &[
    ("CONTRIBUTING.md", &[How::Cargo, How::Cargo]),
    ("README.md", &[How::Make, How::Run, How::Tree]),
    ("control-plane/templates/agents.md", &[How::Elsewhere("tests/tests/black_box/machines.rs"); 8]),
    ("docs/api.md", &[How::Run, How::Run, How::Run]),
    ("docs/architecture.md", &[How::Drawing]),
    (
        "docs/command-line.md",
        &[How::Login, How::Run, How::Run, How::Run, How::Run, How::Run, How::Run, How::Run, How::Run],
    ),
    (
        "docs/drawing-vehicles.md",
        &[
            How::Sheet,
            How::Elsewhere("render-node/src/vehicle/motorcycle/two_wheelers.rs"),
            How::Elsewhere("render-node/src/vehicle/motorcycle/two_wheelers.rs"),
            How::Run,
            How::Facts,
            How::Run,
        ],
    ),
    ("docs/node-protocol.md", &[How::Elsewhere("core/src/wire/tests.rs"); 8]),
    ("docs/surfaces.md", &[How::Run]),
    ("docs/vehicles.md", &[How::Run, How::Run, How::Run]),
    ("sdk/python/README.md", &[How::Elsewhere("sdk/python/tests/test_readme.py")]),
    ("sdk/rust/README.md", &[How::Elsewhere("tests/src/bin/cyclorama-sdk-scenarios/quick_start.rs")]),
    ("sdk/typescript/README.md", &[How::Elsewhere("sdk/typescript/tests/readme.test.mjs")]),
];

/// HTML templates of pages with samples, and the number of samples: the test of the pages uses them
/// all. A receipt of the console is not a sample.
const SAMPLES: &[(&str, usize)] = &[
    ("console.html", 1),
    ("home.html", 2),
    ("playground.html", 1),
    ("quick_start.html", 4),
    ("reference.html", 2),
    ("shown_once.html", 2),
];

struct Block {
    language: String,
    text: String,
}

/// Every file of documentation, from the root of the repository.
fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() {
                // Folders with built, downloaded or generated files have no documentation of ours.
                if !name.starts_with('.') && !["target", "node_modules", "data", "out", "dist", "work"].contains(&name)
                {
                    folders.push(path);
                }
            } else if name.ends_with(".md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn root() -> PathBuf {
    package_file("..").canonicalize().unwrap()
}

fn blocks(markdown: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_open = false;
    for line in markdown.lines() {
        match (line.trim_start().strip_prefix("```"), is_open) {
            (Some(language), false) => blocks.push(Block { language: language.to_owned(), text: String::new() }),
            (Some(_), true) => {}
            (None, true) => {
                let block = blocks.last_mut().unwrap();
                block.text.push_str(line);
                block.text.push('\n');
                continue;
            }
            (None, false) => continue,
        }
        is_open = !is_open;
    }
    assert!(!is_open, "a block without an end");
    blocks
}

#[test]
fn every_block_is_in_the_list() {
    let root = root();
    for path in documents() {
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap();
        let blocks = blocks(&std::fs::read_to_string(&path).unwrap());
        if blocks.is_empty() {
            continue;
        }
        let (file, ways) =
            BLOCKS.iter().find(|(file, _)| *file == name).unwrap_or_else(|| panic!("{name} is not in the list"));
        assert_eq!(blocks.len(), ways.len(), "blocks of {file}");
        for (block, how) in blocks.iter().zip(*ways) {
            let languages: &[&str] = match how {
                How::Run | How::Login | How::Make | How::Cargo => &["sh"],
                How::Tree | How::Drawing => &[""],
                How::Sheet | How::Facts => &["toml"],
                How::Elsewhere(_) => &["sh", "html", "python", "js", "json", "rust,no_run", "toml"],
            };
            assert!(
                languages.contains(&&*block.language),
                "{file}: `{}` is not {how:?}:\n{}",
                block.language,
                block.text
            );
        }
    }
    for (file, _) in BLOCKS {
        assert!(root.join(file).exists(), "{file} is in the list and gone");
    }
}

#[test]
fn every_sample_is_in_the_list() {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root().join("control-plane/templates")).unwrap() {
        let path = entry.unwrap().path();
        let samples = std::fs::read_to_string(&path).unwrap().matches("<pre").count();
        if samples > 0 {
            found.push((path.file_name().unwrap().to_str().unwrap().to_owned(), samples));
        }
    }
    found.sort();
    let listed: Vec<(String, usize)> = SAMPLES.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
    assert_eq!(found, listed);
}

/// A terminal with everything that snippets expect: the programs, a key, the repository's files,
/// the demo's key, a photograph.
fn reader(service: &Service, key: &str) -> Terminal {
    let mut terminal = Terminal::new(service);
    terminal.set("PATH", format!("{}:{}", binaries().unwrap().display(), std::env::var("PATH").unwrap()));
    terminal.set("CYCLORAMA_KEY", key);
    std::fs::create_dir(terminal.path("data")).unwrap();
    std::fs::write(terminal.path("data/demo-key"), key).unwrap();
    std::os::unix::fs::symlink(root().join("render-node"), terminal.path("render-node")).unwrap();
    // The photograph that a reader would measure.
    image::RgbImage::from_pixel(926, 420, image::Rgb([128; 3])).save(terminal.path("side.jpg")).unwrap();
    terminal
}

/// Replaces the service that the text names by this one, as its reader would.
fn here(text: &str, service: &Service) -> String {
    text.replace("http://127.0.0.1:8080", &service.base_url)
}

fn succeeded(ran: &Output, text: &str) -> String {
    let told = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{text}\n{told}{}", String::from_utf8_lossy(&ran.stderr));
    told
}

async fn bash(terminal: &Terminal, text: &str) -> String {
    succeeded(&terminal.program("bash", &["-euo", "pipefail", "-c", text]).output().await.unwrap(), text)
}

/// Runs a login, and approves it as a person.
async fn log_in(terminal: &Terminal, service: &Service, text: &str) {
    let mut login =
        terminal.program("bash", &["-euc", text]).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(login.stderr.take().unwrap()).lines();
    let opened = told.next_line().await.unwrap().unwrap();
    let page = opened.strip_prefix(&format!("Open {}", service.base_url)).unwrap().to_owned();
    approve(service, &page).await;
    succeeded(&login.wait_with_output().await.unwrap(), text);
}

async fn approve(service: &Service, page: &str) {
    let mut browser = Browser::new(service);
    browser.sign_up(&format!("{}@example.com", uuid::Uuid::now_v7()), "a long password").await.unwrap();
    let approved = browser.submit(page, "/device", &[("decision", "approve")]).await.unwrap();
    assert!(approved.text().contains("Approved"), "{}", approved.text());
}

/// A copy of the sheets with one more.
fn sheets_with(folder: &Path, sheet: &str) {
    let sheets = root().join("render-node/sheets");
    let mut folders = vec![sheets.clone()];
    while let Some(from) = folders.pop() {
        let to = folder.join(from.strip_prefix(&sheets).unwrap());
        std::fs::create_dir_all(&to).unwrap();
        for entry in std::fs::read_dir(from).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => drop(std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap()),
            }
        }
    }
    std::fs::write(folder.join("models/of-the-documentation.toml"), sheet).unwrap();
}

on_both_databases! {
    async fn every_block_works_as_it_stands(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(100).unwrap();
        for (file, ways) in BLOCKS {
            let terminal = reader(&service, &customer.key);
            let blocks = blocks(&std::fs::read_to_string(root().join(file)).unwrap());
            for (block, how) in blocks.iter().zip(*ways) {
                let text = here(&block.text, &service);
                match how {
                    How::Run => drop(bash(&terminal, &text).await),
                    How::Login => log_in(&terminal, &service, &text).await,
                    How::Make => {
                        let mut make = terminal.program("bash", &["-euc", &text.replace("make ", "make --dry-run ")]);
                        succeeded(&make.current_dir(root()).output().await.unwrap(), &text);
                    }
                    How::Cargo => {
                        let folders = ["tests/tests/black_box", "control-plane/src"].map(|folder| root().join(folder));
                        for name in text.split_whitespace().filter_map(|word| word.strip_suffix("::")) {
                            let found = folders.iter().any(|folder| folder.join(name).exists() || folder.join(format!("{name}.rs")).exists());
                            assert!(found, "{file}: there are no tests `{name}`");
                        }
                        for program in text.split("--test ").skip(1).filter_map(|rest| rest.split_whitespace().next()) {
                            assert!(root().join("tests/tests").join(program).exists(), "{file}: there is no test program `{program}`");
                        }
                    }
                    How::Tree => {
                        for name in text.lines().map(|line| line.split_whitespace().next().unwrap()) {
                            assert!(root().join(name).exists(), "{file}: {name}");
                        }
                    }
                    How::Sheet | How::Facts => {
                        let text = match how {
                            How::Facts => format!("{}{text}", blocks[0].text),
                            _ => text,
                        };
                        let sheets = terminal.path("sheets");
                        sheets_with(&sheets, &text);
                        let draw = format!(
                            "export CYCLORAMA_NODE_SHEETS={}; cyclorama catalog list | grep -P '^volkswagen\\tgolf\\t2015' | \
                             cyclorama-node contact-sheet --look sketch --views side --cell 64 --page 100 --out drawn.png",
                            sheets.display()
                        );
                        bash(&terminal, &draw).await;
                        std::fs::write(sheets.join("models/of-the-documentation.toml"), "about = ").unwrap();
                        let broken = terminal.program("bash", &["-euo", "pipefail", "-c", &draw]).output().await.unwrap();
                        assert!(!broken.status.success(), "a broken sheet is found");
                    }
                    How::Elsewhere(test) => {
                        let test = std::fs::read_to_string(root().join(test)).unwrap();
                        let name = Path::new(file).file_name().unwrap().to_str().unwrap();
                        assert!(test.contains(name), "{file} is not read there");
                    }
                    How::Drawing => assert!(text.contains("──"), "{file}: {text}"),
                }
            }
            if *file == "README.md" {
                assert_eq!(image::open(terminal.path("911.png")).unwrap().width(), 1024);
            }
            if *file == "docs/command-line.md" {
                assert_eq!(image::open(terminal.path("911.webp")).unwrap().width(), 1024);
                assert_eq!(std::fs::read_to_string(terminal.path("cars/report.csv")).unwrap().matches(",done,").count(), 3);
                let checked = std::fs::read_to_string(terminal.path("stock.checked.csv")).unwrap();
                assert_eq!((checked.matches(",match,").count(), checked.matches(",suggestion,").count()), (2, 1), "{checked}");
                let element = std::fs::read_to_string(terminal.path("picture.html")).unwrap();
                assert!(element.starts_with("<img ") && element.contains(" 256w, "), "{element}");
            }
        }
    }

    async fn every_sample_of_the_pages_works_as_it_stands(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(100).unwrap();
        let terminal = reader(&service, &customer.key);
        let samples = async |path: &str| samples(&service.visit(path).send().await.unwrap().text().await.unwrap());

        let quick_start = samples("/docs/quick-start").await;
        let [export, device, picture, urls] = &quick_start[..] else { panic!("{quick_start:?}") };
        let export = export.replace("cyc_...", &customer.key);
        bash(&terminal, &format!("unset CYCLORAMA_KEY; {export}\n{picture}\n{urls}")).await;
        assert_eq!(image::open(terminal.path("911.webp")).unwrap().width(), 1024);
        let (code, token) = device.split_once("# open").unwrap();
        let started: Value = serde_json::from_str(&bash(&terminal, code).await).unwrap();
        let device_code = started["device_code"].as_str().unwrap();
        secrets::note(device_code);
        approve(&service, started["verification_uri_complete"].as_str().unwrap().strip_prefix(&service.base_url).unwrap()).await;
        let handed = bash(&terminal, &format!("# open{token}").replace("cycd_...", device_code)).await;
        let key = serde_json::from_str::<Value>(&handed).unwrap()["access_token"].as_str().unwrap().to_owned();
        secrets::note(&key);
        assert!(key.starts_with("cyc_"));

        let reference = samples("/docs").await;
        bash(&terminal, &reference[0].replace("cyc_...", &customer.key)).await;
        assert_eq!(image::open(terminal.path("911.png")).unwrap().width(), 1024);
        assert!(reference.len() > 4);
        for example in &reference[1..] {
            assert!(serde_json::from_str::<Value>(example).unwrap().is_object(), "{example}");
        }

        let home = samples("/").await;
        let [curl, answer] = &home[..] else { panic!("{home:?}") };
        bash(&terminal, curl).await;
        let again = bash(&terminal, &curl.replace(" -o car.png", " -D - -o car.png")).await;
        for line in answer.lines() {
            assert!(again.to_lowercase().contains(&line.to_lowercase()), "{line}: {again}");
        }

        let mut ada = Browser::new(&service);
        ada.sign_up("ada@example.com", "a long password").await.unwrap();
        let fields = [("name", "shop"), ("scope", "images:read")];
        let made = ada.submit("/dashboard/keys", "/dashboard/keys", &fields).await.unwrap();
        let shown = self::samples(&made.html);
        let [key, sample] = &shown[..] else { panic!("{}", made.text()) };
        secrets::note(key);
        bash(&terminal, &format!("export CYCLORAMA_KEY={key}; {sample}")).await;
        assert_eq!(image::open(terminal.path("car.png")).unwrap().width(), 1024);

        let playground = samples("/playground?make=honda&model=civic&year=2018").await;
        let [curl, html, javascript, python] = &playground[..] else { panic!("{playground:?}") };
        bash(&terminal, curl).await;
        succeeded(&terminal.program("node", &["--input-type=module", "-e", javascript]).output().await.unwrap(), javascript);
        succeeded(&terminal.program("python3", &["-c", python]).output().await.unwrap(), python);
        assert!(image::open(terminal.path("honda-civic.png")).is_ok());
        // The signed URL in it is one that the reader must make.
        let made = terminal.run(&["url", "honda", "civic", "2018"]).await.success();
        assert!(html.contains(&format!("<img src=\"{}/api/v1/delivery/...\"", service.base_url)), "{html}");
        assert!(made.starts_with(&format!("{}/api/v1/delivery/", service.base_url)));
        assert_eq!(service.http.get(made.trim()).send().await.unwrap().status(), StatusCode::OK);
    }
}

/// The text of a page's `pre` elements, as a reader copies it.
fn samples(html: &str) -> Vec<String> {
    let inside = html.split("<pre").skip(1).map(|rest| rest.split_once('>').unwrap().1.split_once("</pre>").unwrap().0);
    inside
        .map(|text| {
            let text = text.trim_start_matches("<code>");
            let text = match text.strip_prefix("<code ") {
                Some(rest) => rest.split_once('>').unwrap().1,
                None => text,
            };
            [
                ("</code>", ""),
                ("&quot;", "\""),
                ("&#x27;", "'"),
                ("&#x2f;", "/"),
                ("&lt;", "<"),
                ("&gt;", ">"),
                ("&amp;", "&"),
            ]
            .iter()
            .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
        })
        .collect()
}
