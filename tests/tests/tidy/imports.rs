//! Checks that no two files of a program import each other, directly or in a circle, so that a new
//! engineer can read each file after those that it imports.
//!
//! An import is a `use` of a name, or a path to it in the code, that another file of the same crate
//! defines. Names that a file re-exports by `pub use` lead to the file that defines them. Test
//! modules are left out.

use crate::sources;
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};

/// A module by its path in the crate; empty for the root.
type Module = Vec<String>;

struct Crate {
    files: BTreeMap<Module, String>,
    /// The re-exports of a module: the name there, and the path that it stands for.
    handed_on: BTreeMap<(Module, String), Vec<String>>,
}

impl Crate {
    /// Reads the crate whose sources are in a folder of the checkout.
    fn read(folder: &str) -> Crate {
        let mut files = BTreeMap::new();
        for (path, text) in sources() {
            let Some(path) = path.strip_prefix(&format!("{folder}/")).and_then(|path| path.strip_suffix(".rs")) else {
                continue;
            };
            let parts: Vec<&str> = path.split('/').collect();
            if parts.iter().any(|part| *part == "tests" || part.ends_with("_tests")) || parts == ["test_database"] {
                continue;
            }
            let module = match parts.as_slice() {
                ["lib"] => &[],
                [before @ .., "mod"] => before,
                all => all,
            };
            files.insert(module.iter().map(|part| (*part).to_owned()).collect(), without_comments_and_tests(&text));
        }
        let mut read = Crate { files, handed_on: BTreeMap::new() };
        for module in read.files.keys().cloned().collect::<Vec<_>>() {
            for (path, name, is_public) in read.uses(&module) {
                if is_public {
                    read.handed_on.insert((module.clone(), name), path);
                }
            }
        }
        read
    }

    /// Returns the paths of this crate in a module's `use` declarations, each with its name there
    /// and whether it is re-exported.
    fn uses(&self, module: &Module) -> Vec<(Vec<String>, String, bool)> {
        let declaration = Regex::new(r"(?m)^\s*(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);").unwrap();
        let mut found = Vec::new();
        for captures in declaration.captures_iter(&self.files[module]) {
            for (path, name) in flattened(&captures[2]) {
                if let Some(path) = self.absolute(module, &path) {
                    found.push((path, name, captures.get(1).is_some()));
                }
            }
        }
        found
    }

    /// Resolves a path as it is written in a module, from the crate's root. `None` if it leads to
    /// another crate.
    fn absolute(&self, module: &Module, path: &[String]) -> Option<Vec<String>> {
        let (first, rest) = path.split_first()?;
        let mut base = module.clone();
        match first.as_str() {
            "crate" => return Some(rest.to_vec()),
            "self" => {}
            "super" => {
                let mut rest = path;
                while let Some((_, after)) = rest.split_first().filter(|(first, _)| *first == "super") {
                    base.pop();
                    rest = after;
                }
                base.extend(rest.iter().cloned());
                return Some(base);
            }
            _ => {
                base.push(first.clone());
                if !self.files.contains_key(&base) {
                    return None;
                }
            }
        }
        base.extend(rest.iter().cloned());
        Some(base)
    }

    /// Returns the module whose file defines the name at the end of a path.
    fn definer(&self, path: &[String], depth: usize) -> Option<Module> {
        let module =
            (0..=path.len()).rev().map(|length| &path[..length]).find(|part| self.files.contains_key(*part))?;
        let rest = &path[module.len()..];
        let name = rest.first()?;
        match self.handed_on.get(&(module.to_vec(), name.clone())) {
            Some(target) if depth < 8 => self.definer(&[target.as_slice(), &rest[1..]].concat(), depth + 1),
            _ => Some(module.to_vec()),
        }
    }

    /// Returns the other modules whose names a module uses.
    fn imports(&self, module: &Module) -> BTreeSet<Module> {
        let declarations = Regex::new(r"(?m)^\s*(?:pub(?:\([^)]*\))?\s+)?use\s+[^;]+;").unwrap();
        let code = declarations.replace_all(&self.files[module], "");
        let uses = self.uses(module);
        let mut paths: Vec<Vec<String>> =
            uses.iter().filter(|(_, _, is_public)| !is_public).map(|(path, _, _)| path.clone()).collect();
        // Modules that the first word of a path may mean: those that a `use` names, and the
        // module's own.
        let mut scope: BTreeMap<String, Vec<String>> = uses.into_iter().map(|(path, name, _)| (name, path)).collect();
        for child in self.files.keys().filter(|child| child.len() == module.len() + 1 && child.starts_with(module)) {
            scope.entry(child[module.len()].clone()).or_insert_with(|| child.clone());
        }
        for found in Regex::new(r"(?:^|[^\w:])((?:\w+::)+\w+)").unwrap().captures_iter(&code) {
            let path: Vec<String> = found[1].split("::").map(str::to_owned).collect();
            match scope.get(&path[0]) {
                Some(target) => paths.push([target.as_slice(), &path[1..]].concat()),
                None if ["crate", "super", "self"].contains(&path[0].as_str()) => {
                    paths.extend(self.absolute(module, &path));
                }
                None => {}
            }
        }
        let definers = paths.iter().filter_map(|path| self.definer(path, 0));
        definers.filter(|definer| definer != module).collect()
    }

    /// Returns groups of modules that reach each other by imports.
    fn circles(&self) -> Vec<BTreeSet<String>> {
        let imports: BTreeMap<&Module, BTreeSet<Module>> =
            self.files.keys().map(|module| (module, self.imports(module))).collect();
        let reached = |from: &Module| {
            let (mut seen, mut open) = (BTreeSet::new(), vec![from.clone()]);
            while let Some(module) = open.pop() {
                for next in &imports[&module] {
                    if seen.insert(next.clone()) {
                        open.push(next.clone());
                    }
                }
            }
            seen
        };
        let reached: BTreeMap<&Module, BTreeSet<Module>> =
            self.files.keys().map(|module| (module, reached(module))).collect();
        let circle_of = |module: &&Module| {
            let others = reached[*module].iter().filter(|other| reached[*other].contains(*module));
            others.map(|other| other.join("::")).collect::<BTreeSet<_>>()
        };
        let circles: BTreeSet<BTreeSet<String>> = self.files.keys().collect::<Vec<_>>().iter().map(circle_of).collect();
        circles.into_iter().filter(|circle| circle.len() > 1).collect()
    }
}

/// Returns each path of a `use` declaration with the name that it gets.
fn flattened(tree: &str) -> Vec<(Vec<String>, String)> {
    let tree = tree.trim();
    let words = |text: &str| -> Vec<String> {
        text.split("::").map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let Some((before, inside)) = tree.split_once('{') else {
        let (path, alias) = tree.split_once(" as ").map_or((tree, None), |(path, alias)| (path, Some(alias.trim())));
        let mut path = words(path);
        if path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let name = alias.map(str::to_owned).or_else(|| path.last().cloned()).unwrap_or_default();
        return vec![(path, name)];
    };
    let inside = inside.rsplit_once('}').map_or(inside, |(inside, _)| inside);
    let (mut depth, mut items) = (0, vec![String::new()]);
    for letter in inside.chars() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                items.push(String::new());
                continue;
            }
            _ => {}
        }
        items.last_mut().unwrap().push(letter);
    }
    let before = words(before);
    let of_items = items.iter().filter(|item| !item.trim().is_empty()).flat_map(|item| flattened(item));
    let whole = of_items.map(|(path, name)| ([before.as_slice(), &path].concat(), name));
    // `self` among the items is the module before them.
    whole
        .map(|(path, name)| {
            (path.clone(), if name.is_empty() { path.last().cloned().unwrap_or_default() } else { name })
        })
        .collect()
}

/// Removes comments and test modules, which stand last in their files.
fn without_comments_and_tests(text: &str) -> String {
    let text = Regex::new(r"//[^\n]*").unwrap().replace_all(text, "");
    let text = Regex::new(r#""(?:\\.|[^"\\])*""#).unwrap().replace_all(&text, "\"\"").into_owned();
    match Regex::new(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*mod \w+ \{").unwrap().find(&text) {
        Some(tests) => text[..tests.start()].to_owned(),
        None => text,
    }
}

#[test]
fn no_two_files_of_a_program_import_each_other() {
    for (folder, files_min) in [("control-plane/src", 300), ("render-node/src", 200)] {
        let read = Crate::read(folder);
        assert!(read.files.len() > files_min, "only {} files of {folder} were found", read.files.len());
        assert_eq!(
            read.circles(),
            Vec::<BTreeSet<String>>::new(),
            "{folder}: move what they share to a file below them"
        );
    }
}

/// The folders of the render queue use each other in one direction: budget and staging are below
/// the queue, results above it, review above results.
#[test]
fn rooms_of_renders_are_used_in_one_direction() {
    let rooms = ["budget", "staging", "queue", "results", "review", "operator"];
    let read = Crate::read("control-plane/src");
    for module in read.files.keys().filter(|module| module.first().is_some_and(|room| room == "renders")) {
        let Some(own) = module.get(1).and_then(|room| rooms.iter().position(|name| name == room)) else { continue };
        for import in read.imports(module).iter().filter(|import| import.first().is_some_and(|room| room == "renders"))
        {
            let other = import.get(1).and_then(|room| rooms.iter().position(|name| name == room));
            assert!(other.is_none_or(|other| other <= own), "{} imports {}", module.join("::"), import.join("::"));
        }
    }
}

#[test]
fn circles_are_found() {
    let module = |path: &[&str]| path.iter().map(|part| (*part).to_owned()).collect::<Module>();
    let files = [
        (module(&[]), "mod a; mod b; mod c; pub use b::Thing;"),
        (module(&["a"]), "use crate::Thing; fn made() -> Thing { Thing }"),
        (module(&["b"]), "pub struct Thing; fn f() { crate::c::g() }"),
        (module(&["c"]), "use super::{a::{self, made as make}}; pub fn g() { a::made(); }"),
    ];
    let files = files.map(|(module, text)| (module, text.to_owned())).into();
    let mut read = Crate { files, handed_on: BTreeMap::new() };
    read.handed_on.insert((module(&[]), "Thing".to_owned()), module(&["b", "Thing"]));
    assert_eq!(read.circles(), [["a", "b", "c"].map(str::to_owned).into()]);
    read.files.insert(module(&["b"]), without_comments_and_tests("pub struct Thing; // crate::c::g()"));
    assert_eq!(read.circles(), Vec::<BTreeSet<String>>::new());
}
