//! Splits a text into the units that the search compares: short runs of letters or of digits, in
//! their order. `F-150`, `f150` and `F 150` have the same units, and names that people join or
//! split can be joined or split again.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// Maximum number of runs that are read. A name has at most twelve, and a query says little behind
/// that many words.
pub const ATOMS_MAX: usize = 32;

/// Atoms from one position to another, as bits.
pub fn atom_bits(from: u8, to: u8) -> u32 {
    ((1u64 << to) - (1u64 << from)) as u32
}

/// A text in runs (atoms) of letters or digits: lower case, without accents, `+` as `plus`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    /// All atoms, joined.
    text: String,
    atoms: Vec<Atom>,
    /// True if there were more atoms than [`ATOMS_MAX`].
    pub truncated: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Atom {
    start: u32,
    /// True if nothing stands between this atom and the one before, as with `150` in `F150`.
    glued: bool,
    /// True if an apostrophe stands right before the atom, as in `'19`.
    apostrophe: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Letters,
    /// Chinese or Japanese characters. No space separates them from the letters around them.
    Ideographs,
    Digits,
    Plus,
}

/// Cyrillic letters that look like Latin ones, with the Latin letters.
const LOOK_ALIKE: [(char, char); 12] = [
    ('а', 'a'),
    ('в', 'b'),
    ('е', 'e'),
    ('к', 'k'),
    ('м', 'm'),
    ('н', 'h'),
    ('о', 'o'),
    ('р', 'p'),
    ('с', 'c'),
    ('т', 't'),
    ('у', 'y'),
    ('х', 'x'),
];
/// Maximum number of letters of a word in which Cyrillic letters are taken for Latin ones. A longer
/// word is a Cyrillic word (`Рено`).
const LOOK_ALIKES_MAX: usize = 3;

/// Returns the Latin form of a short word in Cyrillic letters that look like Latin ones (`Х5`).
fn in_latin(word: &str) -> Option<String> {
    let latin = |c: char| LOOK_ALIKE.iter().find(|(cyrillic, _)| *cyrillic == c).map(|(_, latin)| *latin);
    let latin: String = word.chars().map(latin).collect::<Option<_>>()?;
    (1..=LOOK_ALIKES_MAX).contains(&latin.len()).then_some(latin)
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}')
}

impl Words {
    /// Splits a text into atoms.
    pub fn of(text: &str) -> Self {
        let mut words = Self::default();
        words.push(text);
        words
    }

    /// Adds a text behind the present one.
    pub fn push(&mut self, text: &str) {
        // The kind of the last character; `None` behind a separator.
        let mut last: Option<Kind> = None;
        let mut apostrophe = false;
        for c in text.nfkd() {
            let replaced: &str = match c {
                '\'' | '\u{2019}' | '\u{2018}' | '`' | '\u{b4}' => {
                    // `driver's` is one word, while the apostrophe of `'19` begins one.
                    apostrophe = last != Some(Kind::Letters);
                    continue;
                }
                'ß' => "ss",
                'ø' | 'Ø' => "o",
                'ł' | 'Ł' => "l",
                'æ' | 'Æ' => "ae",
                '+' => "plus",
                c if is_combining_mark(c) => continue,
                _ => "",
            };
            let kind = match c {
                '+' => Some(Kind::Plus),
                _ if !replaced.is_empty() => Some(Kind::Letters),
                c if c.is_ascii_digit() => Some(Kind::Digits),
                c if is_ideograph(c) => Some(Kind::Ideographs),
                c if c.is_alphabetic() => Some(Kind::Letters),
                _ => None,
            };
            if let Some(kind) = kind {
                if last != Some(kind) || kind == Kind::Plus {
                    if self.atoms.len() == ATOMS_MAX {
                        self.truncated = true;
                        return;
                    }
                    self.end_atom();
                    let glued = last.is_some() && kind != Kind::Plus;
                    self.atoms.push(Atom { start: self.text.len() as u32, glued, apostrophe });
                }
                match replaced {
                    "" => self.text.extend(c.to_lowercase()),
                    text => self.text.push_str(text),
                }
            }
            last = kind;
            apostrophe = false;
        }
        self.end_atom();
    }

    /// Replaces Cyrillic look-alikes in the last atom, now that it is complete.
    fn end_atom(&mut self) {
        let Some(start) = self.atoms.last().map(|atom| atom.start as usize) else { return };
        if let Some(latin) = in_latin(&self.text[start..]) {
            self.text.replace_range(start.., &latin);
        }
    }

    /// Number of atoms.
    pub fn len(&self) -> usize {
        self.atoms.len()
    }

    pub fn is_empty(&self) -> bool {
        self.atoms.is_empty()
    }

    /// Atoms `from..to`, joined.
    pub fn join(&self, from: usize, to: usize) -> &str {
        &self.text[self.start(from)..self.start(to)]
    }

    /// All atoms, joined: the key by which names are compared.
    pub fn key(&self) -> &str {
        &self.text
    }

    /// Number of bytes before an atom; that of the whole text behind the last.
    pub fn start(&self, atom: usize) -> usize {
        self.atoms.get(atom).map_or(self.text.len(), |atom| atom.start as usize)
    }

    /// True if the atom continues the word of the one before.
    pub fn is_glued(&self, atom: usize) -> bool {
        self.atoms.get(atom).is_some_and(|atom| atom.glued)
    }

    pub fn has_apostrophe(&self, atom: usize) -> bool {
        self.atoms.get(atom).is_some_and(|atom| atom.apostrophe)
    }

    pub fn is_number(&self, atom: usize) -> bool {
        self.join(atom, atom + 1).bytes().next().is_some_and(|byte| byte.is_ascii_digit())
    }

    /// First and last atom (exclusive) of each written word: `f150` is one word of two atoms.
    pub fn written(&self) -> Vec<(usize, usize)> {
        let starts: Vec<usize> = (0..self.len()).filter(|atom| !self.is_glued(*atom)).collect();
        let ends = starts.iter().skip(1).copied().chain([self.len()]);
        starts.iter().copied().zip(ends).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_name_have_the_same_atoms() {
        let atoms = |text: &str| {
            let words = Words::of(text);
            (0..words.len()).map(|atom| words.join(atom, atom + 1).to_owned()).collect::<Vec<_>>().join(" ")
        };
        for (text, expected) in [
            ("F-150", "f 150"),
            ("f150", "f 150"),
            ("Citroën", "citroen"),
            ("ŠKODA Octavia", "skoda octavia"),
            ("KA+", "ka plus"),
            ("driver's side", "drivers side"),
            ("’19 golf", "19 golf"),
            ("Лада 4x4", "лада 4 x 4"),
            ("БМВ Х5 СХ-5 Рено", "бмв x 5 cx 5 рено"),
            ("特斯拉model 3", "特斯拉 model 3"),
            ("トヨタ 红色", "トヨタ 红色"),
            ("SMØRREBRØD groß", "smorrebrod gross"),
            ("  -- ", ""),
        ] {
            assert_eq!(atoms(text), expected, "{text}");
        }
        let words = Words::of("rav4 '19");
        assert_eq!(words.written(), [(0, 2), (2, 3)]);
        assert!(words.is_glued(1) && !words.is_glued(2) && words.has_apostrophe(2) && words.is_number(2));
        assert!(Words::of(&"a1".repeat(40)).truncated);
    }
}
