//! The light rig: `rig.toml` read into numbers. The ground-truth renderer of `models/` reads the
//! same file.
//!
//! Why: `docs/decisions/studio-and-light.md` (Light of the studio: a dark field).

use glam::Vec3;
use serde::Deserialize;

/// Rectangular area lights and the light of floor, walls and ceiling. See `rig.toml` for axes and
/// units.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rig {
    /// The vehicle is scaled until the diagonal of its footprint is this long, metres.
    pub reference_diagonal_m: f32,
    pub surroundings: Surroundings,
    pub lights: Vec<AreaLight>,
}

/// Light of floor, walls and ceiling: linear radiance (RGB), lengths in studio metres.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Surroundings {
    pub floor_near: Vec3,
    pub floor_far: Vec3,
    pub floor_reach_m: f32,
    pub horizon_back: Vec3,
    pub horizon_front: Vec3,
    pub horizon_height: f32,
    pub zenith: Vec3,
}

/// One rectangular light. Positions and half axes are in studio metres, `radiance` is linear RGB.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AreaLight {
    pub name: String,
    pub centre: Vec3,
    pub half_u: Vec3,
    pub half_v: Vec3,
    pub radiance: Vec3,
    pub falloff: f32,
    pub edge_m: f32,
}

/// Maximum number of lights: the shaders have room for this many.
pub const LIGHTS_MAX: usize = 8;

#[derive(Debug, thiserror::Error)]
pub enum RigError {
    #[error("the light rig cannot be read")]
    Syntax(#[source] Box<toml::de::Error>),
    #[error("the light rig has {0} lights, the shaders have room for {LIGHTS_MAX}")]
    TooManyLights(usize),
    #[error("light `{0}` of the rig has no area")]
    NoArea(String),
}

impl Rig {
    /// Parses the rig that ships with the program.
    pub fn built_in() -> Result<Rig, RigError> {
        Self::parse(include_str!("rig.toml"))
    }

    /// Parses a rig in the format of `rig.toml`. Returns an error if the text is not such a rig,
    /// has more than [`LIGHTS_MAX`] lights, or has a light without area.
    pub fn parse(text: &str) -> Result<Rig, RigError> {
        let rig: Rig = toml::from_str(text).map_err(|error| RigError::Syntax(Box::new(error)))?;
        if rig.lights.len() > LIGHTS_MAX {
            return Err(RigError::TooManyLights(rig.lights.len()));
        }
        match rig.lights.iter().find(|light| light.half_u.cross(light.half_v).length() < 1e-4) {
            Some(light) => Err(RigError::NoArea(light.name.clone())),
            None => Ok(rig),
        }
    }
}

impl AreaLight {
    /// Returns the unit vector in whose direction the rectangle shines, in studio axes.
    pub fn normal(&self) -> Vec3 {
        self.half_u.cross(self.half_v).normalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without this test nobody would notice a light that shines away from the vehicle, because it
    /// adds nothing.
    #[test]
    fn every_light_shines_on_the_vehicle() {
        let rig = Rig::built_in().expect("the built-in rig parses");
        for light in &rig.lights {
            let to_vehicle = Vec3::new(0.0, 0.0, 0.7) - light.centre;
            assert!(light.normal().dot(to_vehicle.normalize()) > 0.5, "{} looks away", light.name);
        }
    }

    #[test]
    fn a_light_without_area_is_named() {
        let whole = include_str!("rig.toml");
        let text = whole.replacen("half_u = [3.2, 0.0, 0.0]", "half_u = [0.0, 0.0, 0.0]", 1);
        assert_ne!(text, whole, "the rig has another overhead light now");
        assert_eq!(Rig::parse(&text).expect_err("flat light").to_string(), "light `overhead` of the rig has no area");
    }
}
