//! Defines which materials are a vehicle's skin.

use crate::vehicle::Material;

/// Returns true for paint, glass and cloth, of which a body is made. Black rails and racks stand
/// off the body and are no skin.
pub fn is_skin(material: Material) -> bool {
    matches!(
        material,
        Material::Paint
            | Material::Glass
            | Material::ClearGlass
            | Material::PaneBorder
            | Material::GlossBlack
            | Material::GlossWhite
            | Material::Fabric
    )
}
