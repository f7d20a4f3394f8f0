//! The order in which the passes of an image run.

use super::passes::UNEVEN_LIST;

/// One step of an image. `pass` counts the jittered passes from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenderStep {
    /// Computes the ground map: how much of the lights each point of the floor around the vehicle
    /// sees.
    GroundShadow,
    /// Computes, once per vertex, the light that depends on the whole vehicle.
    LightVertices,
    /// Rasterises which triangle each sample of the pass sees.
    Draw { pass: usize },
    /// Fills pixels and planes where there is no vehicle.
    Background,
    /// Empties the lists of pixels.
    EmptyLists,
    /// Lists the pixels of the first pass by how they are shaded.
    Classify,
    /// Shades the pixels of a list with the samples of the pass.
    Shade { pass: usize, list: usize },
    /// Computes the model's conditioning, at the model's side.
    Condition,
    /// Clears the marks of the pixels that took more samples in the previous image.
    ForgetUneven,
    /// Lists the pixels that take more samples.
    Uneven,
}

/// The steps of the first pass. The last of them computes the model's conditioning.
pub const EXPOSURE: [RenderStep; 11] = [
    RenderStep::GroundShadow,
    RenderStep::LightVertices,
    RenderStep::Draw { pass: 0 },
    RenderStep::Background,
    RenderStep::EmptyLists,
    RenderStep::Classify,
    RenderStep::Shade { pass: 0, list: 0 },
    RenderStep::Shade { pass: 0, list: 1 },
    RenderStep::Shade { pass: 0, list: 2 },
    RenderStep::Shade { pass: 0, list: 3 },
    RenderStep::Condition,
];

/// Returns the steps that follow [`EXPOSURE`] and run while the model is at work, for an image of
/// `passes` jittered passes.
pub fn development(passes: usize) -> Vec<RenderStep> {
    let further =
        (1..passes).flat_map(|pass| [RenderStep::Draw { pass }, RenderStep::Shade { pass, list: UNEVEN_LIST }]);
    [RenderStep::ForgetUneven, RenderStep::Uneven].into_iter().chain(further).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_pass_shades_every_list_but_that_of_uneven_pixels() {
        let shaded: Vec<usize> = EXPOSURE
            .iter()
            .filter_map(|step| match step {
                RenderStep::Shade { pass: 0, list } => Some(*list),
                _ => None,
            })
            .collect();
        assert_eq!(shaded, (0..UNEVEN_LIST).collect::<Vec<_>>());
    }

    #[test]
    fn each_further_pass_draws_before_it_shades() {
        assert_eq!(development(1), [RenderStep::ForgetUneven, RenderStep::Uneven]);
        let last = [RenderStep::Draw { pass: 2 }, RenderStep::Shade { pass: 2, list: UNEVEN_LIST }];
        assert_eq!(development(3)[4..], last);
    }
}
