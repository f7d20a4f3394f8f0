//! The optical properties of every material, in one table. The shaders get it as a uniform.

use crate::vehicle::Material;

/// Optical properties of one material, in linear light.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Optics {
    /// Ratio of light reflected diffusely, RGB; for metals, the colour of the mirror reflection.
    pub albedo: [f32; 3],
    /// Mirror reflectance at normal incidence (0.04: lacquer, plastic, glass).
    pub f0: f32,
    /// Tangent of the mirror lobe's half angle.
    pub roughness: f32,
    pub metal: bool,
    /// Ratio of light that passes through, 0 to 1. A material above zero is drawn over what is
    /// behind it.
    pub transmission: f32,
    /// Ratio of the studio's light that reaches the material; below 1 behind tinted glass.
    pub exposure: f32,
    /// Linear radiance that the material emits, RGB.
    pub emission: [f32; 3],
    /// Ratio of each colour that passes through the glass.
    pub tint: [f32; 3],
    /// The mask of the conditioning that the material belongs to.
    pub group: MaterialGroup,
}

/// Materials that the diffusion model may treat as one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum MaterialGroup {
    Paint = 0,
    Glass = 1,
    LampClear = 2,
    LampRed = 3,
    BlackTrim = 4,
    BrightTrim = 5,
    Tyre = 6,
    Rim = 7,
    Interior = 8,
    Underbody = 9,
}

pub const MATERIALS: [Material; 33] = [
    Material::Paint,
    Material::Glass,
    Material::GlossBlack,
    Material::MattBlack,
    Material::Chrome,
    Material::Satin,
    Material::Grille,
    Material::LampLens,
    Material::LampHousing,
    Material::LampReflector,
    Material::LampWhite,
    Material::LampRed,
    Material::LampAmber,
    Material::Tyre,
    Material::RimBright,
    Material::RimDark,
    Material::BrakeDisc,
    Material::Interior,
    Material::Seat,
    Material::Underbody,
    Material::Fabric,
    Material::PanelGap,
    Material::GlossWhite,
    Material::ClearGlass,
    Material::PaneBorder,
    Material::LampGlass,
    Material::LampRedLens,
    Material::LampGlow,
    Material::LampSatin,
    Material::LampGuide,
    Material::LampFrosted,
    Material::LampRedGuide,
    Material::Lining,
];

fn matt(grey: f32, group: MaterialGroup) -> Optics {
    Optics {
        albedo: [grey; 3],
        f0: 0.0,
        roughness: 1.0,
        metal: false,
        transmission: 0.0,
        exposure: 1.0,
        emission: [0.0; 3],
        tint: [1.0; 3],
        group,
    }
}

fn lacquer(albedo: [f32; 3], roughness: f32, group: MaterialGroup) -> Optics {
    Optics { albedo, f0: 0.04, roughness, ..matt(0.0, group) }
}

fn metal(albedo: [f32; 3], roughness: f32, group: MaterialGroup) -> Optics {
    Optics { albedo, f0: 1.0, roughness, metal: true, ..matt(0.0, group) }
}

/// Returns the optical properties of a material. The albedo of paint is the neutral grey with which
/// the layers and the ground truth are made.
pub fn optics(material: Material) -> Optics {
    use MaterialGroup as Group;
    match material {
        Material::Paint => lacquer([0.5; 3], 0.0, Group::Paint),
        Material::Glass => Optics {
            albedo: [0.004, 0.005, 0.005],
            f0: 0.045,
            roughness: 0.0,
            transmission: 0.30,
            ..matt(0.0, Group::Glass)
        },
        Material::GlossBlack => lacquer([0.006; 3], 0.01, Group::BlackTrim),
        Material::MattBlack => lacquer([0.022; 3], 0.45, Group::BlackTrim),
        Material::Chrome => metal([0.86, 0.87, 0.88], 0.02, Group::BrightTrim),
        Material::Satin => metal([0.60, 0.61, 0.62], 0.28, Group::BrightTrim),
        Material::Grille => lacquer([0.010; 3], 0.25, Group::BlackTrim),
        // At right angles, a lens mirrors only what a photographer's filter leaves. Most of its
        // reflection lies at its rounded edge.
        Material::LampLens => {
            Optics { albedo: [0.0; 3], f0: 0.022, roughness: 0.0, transmission: 0.95, ..matt(0.0, Group::LampClear) }
        }
        Material::LampHousing => Optics { f0: 0.012, ..lacquer([0.018, 0.018, 0.020], 0.45, Group::LampClear) },
        // A bowl is a mirror of many small facets, each of which sees another part of the studio,
        // so that together they look like a body with a colour of its own. A plain mirror would
        // show only the dark walls.
        Material::LampReflector => Optics { f0: 0.34, ..lacquer([0.46, 0.465, 0.475], 0.12, Group::LampClear) },
        // A guide glows below what an image shows as white, and less beside its middle. Its housing
        // takes a little of that light.
        Material::LampWhite => Optics { emission: [0.50, 0.51, 0.53], ..lacquer([0.26; 3], 0.3, Group::LampClear) },
        Material::LampGuide => Optics { emission: [0.24, 0.245, 0.26], ..lacquer([0.24; 3], 0.25, Group::LampClear) },
        Material::LampGlow => Optics { emission: [0.05, 0.052, 0.056], ..lacquer([0.12; 3], 0.2, Group::LampClear) },
        Material::LampSatin => lacquer([0.040, 0.041, 0.044], 0.25, Group::LampClear),
        Material::LampFrosted => Optics { f0: 0.08, ..lacquer([0.34, 0.345, 0.35], 0.3, Group::LampClear) },
        Material::LampGlass => Optics {
            f0: 0.16,
            emission: [0.004, 0.006, 0.009],
            ..lacquer([0.012, 0.014, 0.018], 0.02, Group::LampClear)
        },
        Material::LampRedLens => Optics {
            albedo: [0.055, 0.002, 0.003],
            f0: 0.045,
            roughness: 0.0,
            transmission: 0.85,
            tint: [0.72, 0.028, 0.032],
            ..matt(0.0, Group::LampRed)
        },
        Material::LampRed => {
            Optics { emission: [0.07, 0.0015, 0.003], ..lacquer([0.46, 0.010, 0.014], 0.05, Group::LampRed) }
        }
        // Lit, but not so bright that it would turn white.
        Material::LampRedGuide => {
            Optics { emission: [0.50, 0.018, 0.020], ..lacquer([0.40, 0.012, 0.014], 0.1, Group::LampRed) }
        }
        Material::LampAmber => {
            Optics { emission: [0.04, 0.012, 0.0], ..lacquer([0.55, 0.19, 0.02], 0.02, Group::LampRed) }
        }
        Material::Tyre => lacquer([0.018, 0.018, 0.019], 0.6, Group::Tyre),
        // Alloy wheels are painted silver under lacquer. A bare metal would mirror only the dark
        // studio.
        Material::RimBright => Optics { f0: 0.24, ..lacquer([0.60, 0.605, 0.615], 0.15, Group::Rim) },
        Material::RimDark => metal([0.07, 0.07, 0.075], 0.14, Group::Rim),
        // Behind the rim the disc is in half shade.
        Material::BrakeDisc => Optics { exposure: 0.6, ..metal([0.30, 0.30, 0.31], 0.40, Group::Rim) },
        Material::Interior => Optics { exposure: 0.8, ..matt(0.042, Group::Interior) },
        Material::Seat => Optics { exposure: 0.8, ..lacquer([0.105, 0.102, 0.098], 0.6, Group::Interior) },
        Material::Lining => Optics { exposure: 0.8, ..matt(0.24, Group::Interior) },
        Material::Underbody => matt(0.012, Group::Underbody),
        Material::Fabric => matt(0.025, Group::BlackTrim),
        Material::PanelGap => matt(0.006, Group::BlackTrim),
        Material::GlossWhite => lacquer([0.72; 3], 0.01, Group::BrightTrim),
        Material::PaneBorder => lacquer([0.004; 3], 0.0, Group::Glass),
        Material::ClearGlass => Optics { transmission: 0.66, ..optics(Material::Glass) },
    }
}

/// Returns true if the material is drawn after the solid materials, over what is behind it.
pub fn is_transparent(material: Material) -> bool {
    optics(material).transmission > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shaders index the table by the material's number.
    #[test]
    fn the_list_is_in_the_order_of_the_numbers() {
        for (index, material) in MATERIALS.iter().enumerate() {
            assert_eq!(*material as usize, index, "{material:?}");
        }
    }

    #[test]
    fn no_material_gives_more_light_than_it_gets() {
        for material in MATERIALS {
            let o = optics(material);
            let mirror = if o.metal { 0.0 } else { o.f0 };
            for channel in o.albedo {
                assert!(channel + mirror + o.transmission <= 1.0, "{material:?}");
            }
        }
    }
}
