//! Maps vPIC's numbers of bodies to the words of the catalog's body classes.

/// Returns the body class for vPIC's number of a body. `None` where the body says nothing about the
/// shape ("Incomplete", "Limousine").
pub fn of_body(number: u32) -> Option<&'static str> {
    Some(match number {
        1 | 10 => "convertible",
        2 => "minivan",
        3 => "coupe",
        5 => "hatchback",
        7 | 8 => "suv",
        9 | 95 => "van",
        11 | 66 | 111 | 128..=130 | 62 | 63 | 67 | 70 | 74 => "truck",
        12 | 104 | 110 => "scooter",
        13 => "sedan",
        15 => "wagon",
        16 | 73 | 107 | 71 | 72 | 75..=77 => "bus",
        60 | 119 => "pickup",
        61 => "trailer",
        6 | 80..=87 | 90 | 94 | 98 | 100 | 103 | 109 | 113 | 114 | 125 | 131 => "motorcycle",
        _ => return None,
    })
}

/// Returns the body class for the vehicle type of the maker, where that leaves one body only.
pub fn of_vehicle_type(number: u8) -> Option<&'static str> {
    Some(match number {
        1 => "motorcycle",
        5 => "bus",
        6 => "trailer",
        _ => return None,
    })
}

/// Every word that this module uses.
#[cfg(test)]
pub fn all() -> Vec<&'static str> {
    (0..=200).filter_map(of_body).chain((0..=20).filter_map(of_vehicle_type)).collect()
}
