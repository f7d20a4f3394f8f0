//! Which materials are a vehicle's skin.

use crate::vehicle::Material;

/// Black rails and racks stand off a body of paint, glass and cloth.
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
