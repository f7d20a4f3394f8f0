//! Compares and spells names of makes and models: keys, slugs and the form shown to people.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// The form in which names are compared: only lower-case letters and digits, without accents, and
/// `+` as `plus` (a Ka+ is not a Ka). `F-150`, `f150` and `F 150` have one key.
pub fn key(name: &str) -> String {
    let mut key = slug(name);
    key.retain(|c| c != '-');
    key
}

/// The form for URLs: lower case and hyphenated, with ASCII letters and digits. Without its hyphens
/// it is the [`key`].
pub fn slug(name: &str) -> String {
    let mut slug = String::with_capacity(name.len());
    // A separator is written only before the next letter, so none is left at either end.
    let mut separated = false;
    let mut push = |text: &str, separated: &mut bool| {
        if std::mem::take(separated) && !slug.is_empty() {
            slug.push('-');
        }
        slug.push_str(text);
    };
    for c in name.nfkd() {
        match c {
            'a'..='z' | '0'..='9' | 'A'..='Z' => push(c.to_ascii_lowercase().encode_utf8(&mut [0; 4]), &mut separated),
            '+' => {
                separated = true;
                push("plus", &mut separated);
                separated = true;
            }
            // Letters that have no decomposition in Unicode.
            'ß' => push("ss", &mut separated),
            'ø' | 'Ø' => push("o", &mut separated),
            'ł' | 'Ł' => push("l", &mut separated),
            'æ' | 'Æ' => push("ae", &mut separated),
            c if is_combining_mark(c) => {}
            _ => separated = true,
        }
    }
    slug
}

/// Splits a name into words, as keys: `MX-5 Miata` gives `mx`, `5`, `miata`.
pub fn words(name: &str) -> Vec<String> {
    slug(name).split('-').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Writes a name in capitals as people write it: `GRAND CHEROKEE` gives `Grand Cherokee`. Short
/// words, words with digits and words without a vowel (`GLS`, `RAV4`, `CRZ`) stay. A name that has
/// lower-case letters is left as it is.
pub fn shown(name: &str) -> String {
    if name.chars().any(char::is_lowercase) {
        return name.to_owned();
    }
    let mut out = String::with_capacity(name.len());
    for piece in name.split_inclusive([' ', '-', '/']) {
        let letters = piece.trim_end_matches([' ', '-', '/']);
        let is_word = letters.chars().count() > 3
            && letters.chars().all(char::is_alphabetic)
            && letters.chars().any(|c| "AEIOUYÀÉÈÖÜ".contains(c));
        if is_word {
            let mut chars = piece.chars();
            out.extend(chars.next());
            out.extend(chars.flat_map(char::to_lowercase));
        } else {
            out.push_str(piece);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_slugs_and_shown_names() {
        let cases = [
            ("F-150", "f150", "f-150", "F-150"),
            ("MERCEDES-BENZ", "mercedesbenz", "mercedes-benz", "Mercedes-Benz"),
            ("GRAND CHEROKEE", "grandcherokee", "grand-cherokee", "Grand Cherokee"),
            ("Citroën", "citroen", "citroen", "Citroën"),
            ("ŠKODA", "skoda", "skoda", "Škoda"),
            ("KA+", "kaplus", "ka-plus", "KA+"),
            ("RAV4 Prime (PHEV)", "rav4primephev", "rav4-prime-phev", "RAV4 Prime (PHEV)"),
            ("'34", "34", "34", "'34"),
            ("A & O", "ao", "a-o", "A & O"),
            ("ID.4", "id4", "id-4", "ID.4"),
            ("SMØRREBRØD", "smorrebrod", "smorrebrod", "Smørrebrød"),
            ("!!", "", "", "!!"),
        ];
        for (name, as_key, as_slug, as_shown) in cases {
            assert_eq!((key(name).as_str(), slug(name).as_str(), shown(name).as_str()), (as_key, as_slug, as_shown));
        }
        assert_eq!(words("MX-5 Miata"), ["mx", "5", "miata"]);
    }
}
