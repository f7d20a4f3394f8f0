//! Compares the numbers that the shaders, the Rust around them and the Python that makes the model
//! each have to write down. Where two of them differ, an image is wrong without an error. Every
//! `const` of a shader is compared here, or listed as the shaders' own.

use super::conditioning::{CONDITIONING_CHANNELS, Channel};
use super::gpu_data::{BENT, GROUND_HALF_M, TRIANGLES_MAX};
use super::optics::{MATERIALS, MaterialGroup, optics};
use super::passes::{
    BACKGROUND, CLASSIFY, CONDITION, GATHER, GROUND_SHADOW, GROUP_SIDE, LIGHT_VERTICES, LISTS, SHADERS, UNEVEN,
    UNEVEN_LIST, VERTICES_IN_GROUP,
};
use super::rig::LIGHTS_MAX;
use super::targets::{PIXELS, SUPERSAMPLES};
use crate::diffusion::light_space;
use crate::finish::compose;
use crate::vehicle::Material;
use cyclorama_core::MASTER_SIDE_PX;
use std::collections::BTreeSet;

const COMPOSE: &str = include_str!("../../../shaders/finish/compose.wgsl");
const LIGHT_SPACE: &str = include_str!("../../../models/light_space.py");
const FINISH: &str = include_str!("../../../models/finish.py");
const GROUND_TRUTH: &str = include_str!("../../../models/ground_truth.py");

/// Whole numbers of the shaders, and their values in Rust.
const WHOLE: [(&str, usize); 23] = [
    ("SIDE", MASTER_SIDE_PX as usize),
    ("PIXELS", PIXELS as usize),
    ("SUB", SUPERSAMPLES as usize),
    ("LISTS", LISTS),
    ("UNEVEN", UNEVEN_LIST),
    ("LIGHTS_MAX", LIGHTS_MAX),
    ("BENT", BENT as usize),
    ("INSIDE", Material::Underbody as usize),
    ("PAINT", MaterialGroup::Paint as usize),
    ("PANES", MaterialGroup::Glass as usize),
    ("LAMP_CLEAR", MaterialGroup::LampClear as usize),
    ("LAMP_RED", MaterialGroup::LampRed as usize),
    ("BLACK_TRIM", MaterialGroup::BlackTrim as usize),
    ("BRIGHT_TRIM", MaterialGroup::BrightTrim as usize),
    ("TINTED", Material::Glass as usize),
    ("CLEAR_PANE", Material::ClearGlass as usize),
    ("TINTED_PANE", Material::Glass as usize),
    ("FIRST_LAMP", Material::LampLens as usize),
    ("LAST_LAMP", Material::LampAmber as usize),
    ("LATER_LAMPS", Material::LampGlass as usize),
    ("GROUPS", MaterialGroup::Underbody as usize + 1),
    ("GROUP_FIRST", Channel::MaskPaint as usize),
    ("SHADOW", Channel::Shadow as usize),
];

/// Constants that divide a word of the raster pass, and one of the conditioning, into bits. Rust
/// holds the counts that must fit.
const BITS: [&str; 5] = ["TRIANGLE_BITS", "MATERIAL_BITS", "GROUP_BITS", "ONCE", "SAMPLES"];

/// A number, or several, that a shader shares with Rust, with Python, or with both.
struct SharedConstant {
    /// The constant's name in the shader.
    name: &'static str,
    shader: &'static str,
    rust: Option<f32>,
    /// The Python file, and the name there.
    python: (&'static str, &'static str),
}

/// Constants of the light encoding, of the tone of a finished image, and of the rules that base
/// shading and ground truth share.
const SHARED: [SharedConstant; 20] = {
    const fn with_rust(name: &'static str, shader: &'static str, rust: f32, python: &'static str) -> SharedConstant {
        SharedConstant { name, shader, rust: Some(rust), python: (python, name) }
    }
    const fn with_truth(name: &'static str, shader: &'static str, there: &'static str) -> SharedConstant {
        SharedConstant { name, shader, rust: None, python: (GROUND_TRUTH, there) }
    }
    [
        with_rust("LIGHT_MAX", CONDITION.source, light_space::LIGHT_MAX, LIGHT_SPACE),
        with_rust("TOE", CONDITION.source, light_space::TOE, LIGHT_SPACE),
        with_rust("TOE_ROOT", CONDITION.source, light_space::TOE_ROOT, LIGHT_SPACE),
        with_rust("EXPOSURE", COMPOSE, compose::EXPOSURE, FINISH),
        with_rust("KNEE", COMPOSE, compose::KNEE, FINISH),
        with_rust("FLAKE_PIVOT", COMPOSE, compose::FLAKE_PIVOT, FINISH),
        with_truth("FADE", BACKGROUND.source, "SHADOW_FADE_M"),
        with_truth("BORDER", BACKGROUND.source, "SHADOW_BORDER"),
        with_truth("DARKEST", BACKGROUND.source, "SHADOW_DARKEST"),
        with_truth("WALL_TURN", GATHER.source, "WALL_TURN"),
        with_truth("FLOOR_CURVES", GATHER.source, "FLOOR_CURVES"),
        with_truth("WALL_STANDS", GATHER.source, "WALL_STANDS"),
        with_truth("INSIDE_ALBEDO", GATHER.source, "INSIDE_ALBEDO"),
        with_truth("BACKDROP", GATHER.source, "BACKDROP"),
        with_truth("PANE_INDEX", GATHER.source, "PANE_INDEX"),
        with_truth("POLARISED", GATHER.source, "POLARISED"),
        with_truth("FLAGGED", GATHER.source, "FLAGGED"),
        with_truth("FLAG_FOOT", GATHER.source, "FLAG_FOOT"),
        with_truth("FLAG_HEAD", GATHER.source, "FLAG_HEAD"),
        with_truth("ROUGH_FRESNEL", GATHER.source, "ROUGH_FRESNEL"),
    ]
};

/// Constants that only the shaders use.
const OWN: [&str; 24] = [
    "AWAY",
    "BEYOND",
    "BLEND",
    "CARD_LEANS",
    "CARD_RISES",
    "DOWN",
    "EVEN",
    "FAR",
    "FLOOR_END",
    "FOOTPRINT_MARGIN",
    "GLAZED_EVEN",
    "GLAZED_MIXED",
    "GROUP",
    "LAMP_OPEN",
    "LINING",
    "LOOKS",
    "MIXED",
    "PI",
    "REACH",
    "SAMPLE_MAX",
    "SIDE_CARD",
    "START",
    "STEP",
    "STRIPS",
];

/// Returns the value of a constant, from whichever shader declares it.
fn whole(name: &str) -> usize {
    let found = SHADERS.iter().find_map(|shader| {
        let module = shader.parsed();
        let (_, constant) = module.constants.iter().find(|(_, constant)| constant.name.as_deref() == Some(name))?;
        match module.global_expressions[constant.init] {
            naga::Expression::Literal(naga::Literal::U32(value)) => Some(value as usize),
            ref other => panic!("{name} is {other:?}"),
        }
    });
    found.unwrap_or_else(|| panic!("no shader has {name}"))
}

/// Returns the numbers that a line of source gives to a name: `const NAME = vec2f(0.45, 0.5);` or
/// `NAME = (0.45, 0.5)  # a remark`.
fn written(source: &str, name: &str) -> Vec<f32> {
    let given = source.lines().find_map(|line| {
        let line = line.strip_prefix("const ").unwrap_or(line);
        line.strip_prefix(name)?.strip_prefix(" = ")?.split([';', '#']).next()
    });
    let given = given.unwrap_or_else(|| panic!("{name} is not written down"));
    given.split(['(', ')', ',', ' ']).filter_map(|word| word.parse().ok()).collect()
}

/// Returns the words of a list in Python.
fn words(source: &'static str, name: &str) -> Vec<&'static str> {
    let (_, list) = source.split_once(&format!("\n{name} = [")).unwrap_or_else(|| panic!("no list {name}"));
    let (list, _) = list.split_once(']').expect("the list ends");
    list.split('"').skip(1).step_by(2).collect()
}

#[test]
fn whole_numbers_are_alike_in_shaders_and_rust() {
    for (name, expected) in WHOLE {
        assert_eq!(whole(name), expected, "{name}");
    }
    // The number of groups above comes from the last variant of `MaterialGroup`.
    assert!(MATERIALS.iter().all(|material| (optics(*material).group as usize) < whole("GROUPS")));
    assert_eq!(Channel::AlbedoR as usize, whole("GROUP_FIRST") + whole("GROUPS"));
}

#[test]
fn words_hold_what_rust_counts() {
    let [triangle, material, group, once, samples] = BITS.map(whole);
    assert_eq!((1 << triangle) - 1, TRIANGLES_MAX);
    // Materials count from 1, and the last bit marks where a surface bends.
    assert!(MATERIALS.len() < 1 << material, "{material} bits for {} materials", MATERIALS.len());
    assert_eq!((triangle + material, BENT), (31, 1 << 31));
    assert_eq!(samples as u32, SUPERSAMPLES * SUPERSAMPLES);
    assert!(samples < 1 << group && whole("GROUPS") * group < 32 && once == 1 << 31, "{group} bits a group");
}

#[test]
fn the_shader_has_the_optics_of_every_material() {
    let module = GATHER.parsed();
    let (_, table) = module
        .global_variables
        .iter()
        .find(|(_, variable)| variable.name.as_deref() == Some("optics"))
        .expect("optics");
    match module.types[table.ty].inner {
        naga::TypeInner::Array { size: naga::ArraySize::Constant(count), .. } => {
            assert_eq!(count.get() as usize, MATERIALS.len());
        }
        ref other => panic!("optics is {other:?}"),
    }
}

#[test]
fn workgroups_are_as_large_as_rust_counts_them() {
    for (shader, expected) in [
        (GROUND_SHADOW, [GROUP_SIDE, GROUP_SIDE, 1]),
        (LIGHT_VERTICES, [VERTICES_IN_GROUP, 1, 1]),
        (BACKGROUND, [GROUP_SIDE, GROUP_SIDE, 1]),
        (CLASSIFY, [GROUP_SIDE, GROUP_SIDE, 1]),
        (CONDITION, [GROUP_SIDE, GROUP_SIDE, 1]),
        (UNEVEN, [GROUP_SIDE, GROUP_SIDE, 1]),
    ] {
        assert_eq!(shader.parsed().entry_points[0].workgroup_size, expected, "{}", shader.name);
    }
}

#[test]
fn fractions_are_alike_in_shaders_rust_and_python() {
    for SharedConstant { name, shader, rust, python: (python, there) } in &SHARED {
        let of_shader = written(shader, name);
        assert!(!of_shader.is_empty(), "{name}");
        assert_eq!(of_shader, written(python, there), "{name} of the shader, {there} of Python");
        if let Some(rust) = rust {
            assert_eq!(of_shader, [*rust], "{name} of the shader and of Rust");
        }
    }
    assert_eq!(written(GROUND_TRUTH, "GROUND_HALF_M"), [GROUND_HALF_M]);
    // The encoding maps zero to zero.
    assert!((light_space::TOE.sqrt() - light_space::TOE_ROOT).abs() < 1e-8);
}

#[test]
fn channels_are_alike_in_rust_and_python() {
    assert_eq!(words(LIGHT_SPACE, "CONDITIONING"), CONDITIONING_CHANNELS);
    assert_eq!(words(LIGHT_SPACE, "LAYERS").len(), crate::diffusion::RESIDUAL_CHANNELS);
}

/// A new constant must either be compared above or be listed as the shaders' own.
#[test]
fn every_constant_of_the_shaders_is_compared_or_their_own() {
    let sources = SHADERS.iter().map(|shader| shader.source).chain([COMPOSE]);
    let lines = sources.flat_map(str::lines).filter_map(|line| line.strip_prefix("const "));
    let found: BTreeSet<&str> = lines.filter_map(|line| line.split([' ', ':']).next()).collect();
    let compared = WHOLE.map(|(name, _)| name).into_iter().chain(BITS).chain(SHARED.iter().map(|shared| shared.name));
    let decided: BTreeSet<&str> = compared.chain(OWN).collect();
    assert_eq!(found, decided);
}
