//! Divides the skin into the parts of a sheet: windows, lamps, grilles, shut lines. Each is a
//! scalar over the primary surfaces, and later ones take precedence over earlier ones. `skin` cuts
//! the triangles, and `depth` adds depth.

use glam::{Vec2, Vec3};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::badges::BadgePlace;
use super::blend::smooth_max;
use super::body_field::{ARCH_FLANGE_M, BodyField, SurfacePoint};
use super::bonnet_lines::BonnetLine;
use super::curve::ControlPoint;
use super::drawing::FieldDrawing;
use super::islands::{Island, islands_of};
use super::mesh::{Material, VehicleMesh};
use super::outline::Outline;
use super::part::{LENS_ROUND_M, Part, PartShape};
use super::parts::grille::{Fill, Pattern};
use super::parts::mirror::MirrorMount;
use super::sheet::panels::FLAPS;
use super::sheet::{Drawing, DrawnIn, Glass, Region, RegionKind, Sheet, SolidRole};
use super::skin::{BrimmedBand, Ground, LineOnSkin, PartId, Skin, border};

/// Drawings narrower than this, about the side of a grid cell, get smaller triangles first.
const NARROW_M: f32 = 0.03;

/// Sides of triangles along the edges of lamps and openings, and of everything else that is drawn,
/// and the distance from the edge within which they are limited to that, as ratios of a grid cell.
/// The edge of a lamp must look drawn, not cut from cells.
const OPENING_SIDE_RATIO: f32 = 0.5;
const LINE_SIDE_RATIO: f32 = 0.8;
const EDGE_BAND_RATIO: f32 = 0.35;

/// Frames of openings, and bars in front of them: how far they stand out of the skin, and the
/// distance from their edges over which they are rounded.
const FRAME_HEIGHT_M: f32 = 0.0045;
const BAR_HEIGHT_M: f32 = 0.005;
const BEAD_RADIUS_M: f32 = 0.009;
/// Bright strips narrower than this are rounded from edge to edge.
const WIDEST_STRIP_M: f32 = 0.09;
/// Where across its rounded edges a bar bends, as a ratio of the radius, and the narrowest flat
/// face between such edges.
const BEAD_BEND: f32 = 0.45;
const NARROWEST_FACE_M: f32 = 0.002;
/// Width of the metal between a tail lamp and the rear window.
const BESIDE_LAMP_M: f32 = 0.022;
/// Narrower bands are seals, not frames.
const NARROWEST_FRAME_M: f32 = 0.007;

/// True if frames and bars of a material have a section of their own. Those of other materials are
/// printed, glow or are gaps.
fn is_rounded(material: Material) -> bool {
    matches!(
        material,
        Material::Chrome
            | Material::Satin
            | Material::GlossBlack
            | Material::MattBlack
            | Material::Paint
            | Material::GlossWhite
    )
}

/// Width of every shut line, however it was drawn. A gap wider than
/// `WIDEST_SHUT_LINE_M` is meant as a stroke.
pub(super) const SHUT_LINE_M: f32 = 0.0055;
/// Width of joints of bumpers. Plastic grows with heat, and its edges are rounder
/// than those of sheet metal.
const JOINT_M: f32 = 0.0055;
const WIDEST_SHUT_LINE_M: f32 = 0.012;
/// Pieces shorter than this are left over at the edges of something else: the
/// smallest flap is larger.
const SHORTEST_SHUT_LINE_M: f32 = 0.15;
const SHORTEST_BESIDE_WINDOWS_M: f32 = 0.45;
const SHUT_LINE_DEPTH_M: f32 = 0.009;
/// Islands of a part that are smaller than a crumb, or than a sliver and this narrow, are left over
/// from cutting if the part has another island that is `LEAST_TIMES` as large. Islands of openings
/// may be as wide as `SLIT_M`.
const CRUMB_M2: f32 = 1.2e-4;
const SLIVER_M2: f32 = 6e-4;
const SLIVER_M: f32 = 0.0035;
const SLIT_M: f32 = 0.008;
const LEAST_TIMES: f32 = 6.0;
/// Width of the rounded edge beside a shut line, and of that around a recess. An edge narrower than
/// a pixel would look like dots.
const BRIM_M: f32 = 0.0028;
const RECESS_BRIM_M: f32 = 0.0050;
/// Within this distance of a line drawn on paper, the distance to the line is
/// measured along the skin.
const NEAR_LINE_M: f32 = 0.010;

type DrawnScalar<'a> = dyn Fn(Vec3, &SurfacePoint) -> f32 + Send + Sync + 'a;
pub(super) type Scalar<'a> = Box<DrawnScalar<'a>>;

/// The body field as the ground on which a skin is cut.
pub struct BodyGround<'a>(pub &'a BodyField);

impl Ground<SurfacePoint> for BodyGround<'_> {
    fn project(&self, p: Vec3) -> Vec3 {
        super::surface_net::project(&|p| self.0.at(p), p, 0.01)
    }

    fn info(&self, p: Vec3) -> SurfacePoint {
        self.0.surface_point(p)
    }
}

/// A piece of a visible edge, and its distance from the curve that it was drawn by.
#[derive(Debug, Clone, Copy)]
pub struct EdgeStray {
    pub stray_m: f32,
    pub length_m: f32,
}

/// An end of an edge farther from a line than this was cut along another line.
const ON_LINE_M: f32 = 0.001;

/// A recess that no sheet draws.
pub struct Recess<'a> {
    /// Negative inside.
    pub inside: Scalar<'a>,
    /// Depth of the floor's middle.
    pub depth: f32,
    /// How much deeper the floor lies for each metre down.
    pub lean: f32,
    /// Material of floor and walls.
    pub material: Material,
}

/// The skin of a body while it is being divided.
pub struct Divider<'a> {
    pub skin: Skin<SurfacePoint>,
    pub parts: Vec<Part>,
    /// The pieces of every edge, if they are to be checked. Pieces that a later part
    /// covers are among them.
    pub strays: Option<Vec<EdgeStray>>,
    /// Parts that stand on the skin by rule, of both sides.
    pub small_parts: VehicleMesh,
    /// The part of all shut lines, which run into each other.
    groove: Option<PartId>,
    /// The exact curve of the current region, while edges are checked.
    exact: Option<Scalar<'a>>,
    pub field: &'a BodyField,
    pub sheet: &'a Sheet,
    pub badges: &'a [BadgePlace],
    grid_m: f32,
}

impl<'a> Divider<'a> {
    /// Starts with paint as part 0. `grid_m` is the side of the grid cells that
    /// the skin was meshed with.
    pub fn new(
        skin: Skin<SurfacePoint>,
        field: &'a BodyField,
        sheet: &'a Sheet,
        badges: &'a [BadgePlace],
        grid_m: f32,
    ) -> Self {
        let paint = Part { material: Material::Paint, shape: PartShape::Skin };
        Self {
            skin,
            parts: vec![paint],
            strays: None,
            small_parts: VehicleMesh::default(),
            groove: None,
            exact: None,
            field,
            sheet,
            badges,
            grid_m,
        }
    }

    /// Divides the skin by everything in the sheet, in order. `add_by_rule` then adds the
    /// parts that no sheet draws.
    pub fn divide(&mut self, well_y: [f32; 2], add_by_rule: impl FnOnce(&mut Self)) {
        self.crests();
        self.underbody();
        self.cut_walls();
        self.glass();
        let sheet = self.sheet;
        let mut regions: Vec<&Region> =
            [&sheet.region, &sheet.front.region, &sheet.rear.region].into_iter().flatten().collect();
        regions.sort_by_key(|region| region.layer);
        let field = self.field;
        let drawn: Vec<_> =
            regions.par_iter().map(|region| drawn_scalar(region, sheet, field, FieldDrawing::new)).collect();
        for (region, (scalar, narrowest)) in regions.into_iter().zip(drawn) {
            self.exact = self.strays.as_ref().map(|_| drawn_scalar(region, sheet, field, FieldDrawing::exact).0);
            self.region(region, &scalar, narrowest);
        }
        self.exact = None;
        self.drop_islands();
        add_by_rule(self);
        self.drop_fragments();
        self.arches(well_y);
        self.drop_islands();
    }

    /// Gives crumbs and slivers that cutting left between parts, and which would look like torn
    /// edges, to their neighbours. A part that is small as a whole was meant to be small, and so
    /// was the groove of a shut line.
    fn drop_islands(&mut self) {
        let parts = &self.parts;
        let shape = |part: PartId| &parts[usize::from(part)].shape;
        let is_groove = |part: PartId| matches!(shape(part), PartShape::Groove { .. });
        let is_cut = |part: PartId| is_groove(part) || matches!(shape(part), PartShape::Arch(_));
        let skin = &mut self.skin;
        let (islands, of_triangle) = islands_of(&skin.positions, &skin.triangles, &skin.part, &|part| !is_groove(part));
        let mut largest = vec![0.0_f32; parts.len()];
        for island in &islands {
            let most = &mut largest[usize::from(island.part)];
            *most = most.max(island.area);
        }
        let host = |island: &Island| {
            let halves = if island.is_halved { 2.0 } else { 1.0 };
            let area = island.area * halves;
            let is_crumb = area < CRUMB_M2 || (area < SLIVER_M2 && island.mean_width() < SLIVER_M);
            // The rest of an opening beside a bar that was drawn across the opening's edge.
            let is_slit = matches!(shape(island.part), PartShape::Inset { .. }) && island.mean_width() < SLIT_M;
            let is_rest = area * LEAST_TIMES < largest[usize::from(island.part)];
            let is_left = !is_cut(island.part) && is_rest && (is_crumb || is_slit);
            island.beside.filter(|_| is_left).map(|(beside, _)| beside)
        };
        let hosts: Vec<Option<PartId>> = islands.iter().map(host).collect();
        for (part, island) in skin.part.iter_mut().zip(of_triangle) {
            if let Some(host) = hosts[island as usize] {
                *part = host;
            }
        }
    }

    /// Gives pieces of shut lines back to the paint if they are connected to no others and are
    /// shorter than any real one, such as the ends of a door's line beside a window.
    fn drop_fragments(&mut self) {
        let Some(groove) = self.groove else { return };
        let own: Vec<usize> = (0..self.skin.triangles.len()).filter(|index| self.skin.part[*index] == groove).collect();
        // Union of the vertices of each triangle.
        let mut root: FxHashMap<u32, u32> = FxHashMap::default();
        fn find(root: &mut FxHashMap<u32, u32>, i: u32) -> u32 {
            let mut top = i;
            while let Some(above) = root.get(&top).copied().filter(|above| *above != top) {
                top = above;
            }
            root.insert(i, top);
            top
        }
        for [a, b, c] in own.iter().map(|index| self.skin.triangles[*index]) {
            for (i, j) in [(a, b), (b, c)] {
                let (i, j) = (find(&mut root, i), find(&mut root, j));
                root.insert(i, j);
            }
        }
        // Corners of each piece's box, and the height of its lowest point above the belt.
        let mut pieces: FxHashMap<u32, (Vec3, Vec3, f32)> = FxHashMap::default();
        for i in own.iter().flat_map(|index| self.skin.triangles[*index]) {
            let (p, s) = (self.skin.positions[i as usize], &self.skin.info[i as usize]);
            let (low, high, above) = pieces.entry(find(&mut root, i)).or_insert((p, p, f32::MAX));
            (*low, *high, *above) = (low.min(p), high.max(p), above.min(s.at.z - s.belt));
        }
        for index in own {
            let (low, high, above) = pieces[&find(&mut root, self.skin.triangles[index][0])];
            let shortest = if above > 0.02 { SHORTEST_BESIDE_WINDOWS_M } else { SHORTEST_SHUT_LINE_M };
            // A piece in the centre plane continues in its mirror image.
            if low.y > 0.001 && low.distance(high) < shortest {
                self.skin.part[index] = 0;
            }
        }
    }

    fn add_part(&mut self, material: Material, shape: PartShape) -> PartId {
        self.parts.push(Part { material, shape });
        (self.parts.len() - 1) as PartId
    }

    fn allowed(&self, over: &[Material]) -> Vec<bool> {
        let over = if over.is_empty() { &[Material::Paint][..] } else { over };
        self.parts.iter().map(|part| over.contains(&part.material)).collect()
    }

    /// Cuts along the level lines and gives the skin between them to a part.
    fn claim(&mut self, scalar: &Scalar<'_>, [low, high]: [f32; 2], part: PartId, over: &[Material]) {
        let allowed = self.allowed(over);
        self.skin.claim(scalar, [low, high], part, &|own| allowed[own as usize], &BodyGround(self.field));
        if let Some(strays) = &mut self.strays {
            let exact = self.exact.as_ref().unwrap_or(scalar);
            strays.extend(edge_strays(&self.skin, part, [low, high], scalar, exact, self.field));
        }
    }

    /// Lays edges of triangles along the crests of flank lines and along the ramps of
    /// reliefs. The surface turns there within two centimetres, and its shading would be
    /// notched where triangles lie across.
    fn crests(&mut self) {
        let field = self.field;
        for line in field.flank_lines() {
            let above = |_: Vec3, s: &SurfacePoint| match line.above(Vec2::new(s.at.x, s.at.z)) {
                // Flank lines lie on the flanks, where the skin is the lower body.
                Some(height) if s.at.y > 0.4 && s.body < 0.05 => height,
                _ => 1.0,
            };
            self.skin.cut_levels(&above, &[line.round(), 0.0, -line.round()], &BodyGround(field));
        }
        for line in field.bonnet_lines() {
            let beside = |_: Vec3, s: &SurfacePoint| match line.beside(s.at.x, s.at.y) {
                Some(beside) if field.is_on_bonnet(s) => beside,
                _ => 1.0,
            };
            let round = BonnetLine::ROUND_M;
            self.skin.cut_levels(&beside, &[round, 0.0, -round], &BodyGround(field));
        }
        for relief in 0..field.relief_count() {
            let beyond = |_: Vec3, s: &SurfacePoint| field.outside_relief(relief, s);
            let levels = field.turns_of(relief);
            self.skin.cut_levels(&beyond, &levels, &BodyGround(field));
        }
    }

    /// Gives everything below the sill, and skin that faces straight down a little
    /// above it, to the underbody.
    fn underbody(&mut self) {
        let part = self.add_part(Material::Underbody, PartShape::Skin);
        let sill = self.sheet.body.sill;
        let scalar: Scalar<'_> = Box::new(move |_, s| s.at.z - (sill + 0.004));
        self.claim(&scalar, [f32::MIN, 0.0], part, &[]);
        for (triangle, own) in self.skin.triangles.iter().zip(&mut self.skin.part) {
            let [a, b, c] = triangle.map(|i| self.skin.positions[i as usize]);
            let normal = (b - a).cross(c - a).normalize_or_zero();
            if normal.z < -0.9 && self.skin.info[triangle[0] as usize].at.z < sill + 0.1 {
                *own = part;
            }
        }
    }

    /// Gives the walls and floors of cut solids their own material, if they have one.
    fn cut_walls(&mut self) {
        let field = self.field;
        for (index, solid) in self.sheet.solid.iter().enumerate() {
            if let (SolidRole::Cut, Some(material)) = (solid.role, solid.material) {
                let part = self.add_part(material, PartShape::Skin);
                let scalar: Scalar<'_> = Box::new(move |_, s| field.cut_at(index, s));
                self.claim(&scalar, [f32::MIN, 0.004], part, &[]);
            }
        }
    }

    /// Returns the rear window, or with a `border` the printed band along its edge. The window
    /// keeps clear of the tail lamps: a lamp that is drawn into its corner is whole, and the
    /// window's edge goes round it with the metal of the body between.
    fn rear_window(&self, border: f32) -> Option<Scalar<'a>> {
        let glass = &self.sheet.glass;
        let (pane, corner) = (backlight(glass)?, glass.backlight.as_ref()?.corner);
        let is_tail_lamp = |region: &&Region| matches!(&region.kind, RegionKind::Lamp(lamp) if lamp.tail.is_some());
        let lamp = |region: &Region| drawn_scalar(region, self.sheet, self.field, FieldDrawing::new).0;
        let lamps: Vec<Scalar<'a>> = self.sheet.rear.region.iter().filter(is_tail_lamp).map(lamp).collect();
        let gap = BESIDE_LAMP_M + glass.band;
        Some(Box::new(move |p, s| {
            let pane = pane(p, s);
            // Far from the pane its exact distance does not matter.
            let lamps = lamps.iter().filter(|_| pane < 0.05);
            let clear = lamps.fold(pane, |pane, lamp| smooth_max(pane, gap - lamp(p, s), corner));
            if border > 0.0 { outside_near(clear + border) } else { clear }
        }))
    }

    fn glass(&mut self) {
        let glass = &self.sheet.glass;
        // Gloss black would mirror the cards beside the vehicle as grey bars. Pillars and
        // seals are therefore as dark as the print along the panes, except for seals that a
        // door is drawn over later.
        let regions = [&self.sheet.region, &self.sheet.front.region, &self.sheet.rear.region];
        let covers = |region: &Region| region.at.view == DrawnIn::Side && region.over.contains(&Material::GlossBlack);
        let covered = regions.into_iter().flatten().any(covers);
        let printed = |material| if material == Material::GlossBlack { Material::PaneBorder } else { material };
        let dark = |material| if covered { material } else { printed(material) };
        let band = dark(glass.band_material.unwrap_or(Material::GlossBlack));
        let side_band = dark(glass.side_band_material.unwrap_or(band));
        let seal = band;
        let panes = [
            (windscreen(glass), band, Material::ClearGlass),
            (self.rear_window(0.0), band, Material::Glass),
            (side_glass(glass), side_band, Material::Glass),
        ];
        for (scalar, band, pane) in panes {
            let Some(scalar) = scalar else { continue };
            if glass.band > 0.0 {
                let shape = self.trim_shape(&scalar, glass.band, band);
                let part = self.add_part(band, shape);
                // Where an A-pillar is narrow, the trim of the side windows continues over the
                // seal of the windscreen.
                self.claim(&scalar, [f32::MIN, glass.band], part, &[Material::Paint, seal]);
            }
            let part = self.add_part(pane, PartShape::Skin);
            self.claim(&scalar, [f32::MIN, 0.0], part, &[Material::Paint, band]);
        }
        for (border, pane) in
            [(windscreen_border(glass), Material::ClearGlass), (self.rear_window(BORDER_M), Material::Glass)]
        {
            let Some(border) = border else { continue };
            let part = self.add_part(Material::PaneBorder, PartShape::Skin);
            self.claim(&border, [f32::MIN, 0.0], part, &[pane]);
        }
        if let (Some(line), Some(windows)) = (self.sheet.clear_panes_end(), side_glass(glass)) {
            let part = self.add_part(Material::ClearGlass, PartShape::Skin);
            let scalar: Scalar<'_> = Box::new(move |p, s| windows(p, s).max(-before(line, s.at)));
            self.claim(&scalar, [f32::MIN, 0.0], part, &[Material::Glass]);
        }
        self.scuttle();
        self.side_pane_seals();
        for pillar in &glass.pillar {
            let Some(windows) = side_glass(glass) else { continue };
            let part = self.add_part(printed(pillar.material), PartShape::Skin);
            let line = pillar.line;
            let scalar: Scalar<'_> = Box::new(move |p, s| {
                let inside = windows(p, s);
                // Away from the windows the pillar does not exist, and nothing has to be cut.
                if inside > 0.03 { inside + 1.0 } else { before(line, s.at) }
            });
            let half = pillar.width * 0.5;
            self.claim(&scalar, [-half, half], part, &[Material::Glass, Material::ClearGlass]);
        }
    }

    /// Adds the top of the dashboard of an open car, which is the part of the body
    /// behind the windscreen.
    fn scuttle(&mut self) {
        let Some(header) = self.sheet.greenhouse.open.as_ref().map(|open| open.header) else { return };
        let part = self.add_part(Material::Interior, PartShape::Skin);
        let scalar: Scalar<'_> = Box::new(move |_, s| {
            let behind_screen = s.greenhouse_profile + SCUTTLE_BEHIND_M;
            behind_screen.max(s.greenhouse_side + SCUTTLE_INSIDE_M).max(s.at.x - header)
        });
        self.claim(&scalar, [f32::MIN, 0.0], part, &[Material::Paint]);
    }

    /// Adds the black seal along the edges of the side windows, and the triangle in their front
    /// corner that carries a mirror.
    fn side_pane_seals(&mut self) {
        let glass = &self.sheet.glass;
        let panes = [Material::Glass, Material::ClearGlass];
        // The panes of buses are bonded edge to edge.
        let sealed = self.sheet.size.length < LONGEST_SEALED_M;
        if let Some(windows) = side_glass(glass).filter(|_| sealed) {
            let part = self.add_part(Material::PaneBorder, PartShape::Skin);
            self.claim(&windows, [-SIDE_SEAL_M, 0.0], part, &panes);
        }
        let carrier = self.sheet.fittings.mirror.as_ref().filter(|fitting| fitting.look.mount == MirrorMount::Corner);
        if let (Some(fitting), Some(windows)) = (carrier, side_glass(glass)) {
            let part = self.add_part(Material::MattBlack, PartShape::Skin);
            let end = fitting.at[0] + SAIL_BEHIND_MIRROR_M;
            let sail: Scalar<'_> =
                Box::new(move |p, s| windows(p, s).max(s.at.x - end + SAIL_LEAN * (s.at.z - s.belt)));
            self.claim(&sail, [f32::MIN, 0.0], part, &[Material::Glass, Material::ClearGlass, Material::PaneBorder]);
        }
    }

    /// Returns the shape of trim around a pane. Bright trim has a rounded section, so that it
    /// catches light in a line and not over its whole width.
    fn trim_shape(&mut self, pane: &Scalar<'_>, width: f32, material: Material) -> PartShape {
        if !matches!(material, Material::Chrome | Material::Satin) || width < NARROWEST_FRAME_M {
            return PartShape::Skin;
        }
        let radius = (0.5 * width).min(BEAD_RADIUS_M);
        self.cut_section(pane, width, radius);
        PartShape::Bead { height: (0.5 * radius).min(FRAME_HEIGHT_M), radius }
    }

    /// Cuts the lines along which the section of a bead bends, between level 0 and `width`: where
    /// its rounded edges meet its face, or along its middle if it has no face. Without these lines,
    /// the highlight of the edges would end along whatever triangles lie there.
    fn cut_section(&mut self, scalar: &Scalar<'_>, width: f32, radius: f32) {
        let has_face = width - 2.0 * radius > NARROWEST_FACE_M;
        let levels = if has_face { vec![radius, width - radius] } else { vec![0.5 * width] };
        self.skin.cut_levels(scalar, &levels, &BodyGround(self.field));
    }

    /// Adds a region. `scalar` and `narrowest` are the result of [`drawn_scalar`] for it.
    fn region(&mut self, region: &Region, scalar: &Scalar<'a>, narrowest: f32) {
        let ground = BodyGround(self.field);
        let mut over = if region.over.is_empty() { vec![Material::Paint] } else { region.over.clone() };
        if narrowest < NARROW_M {
            let allowed = self.allowed(&over);
            for _ in 0..2 {
                let is_allowed = |part: PartId| allowed[usize::from(part)];
                self.skin.halve(scalar, NARROW_M * 0.6, narrowest * 0.7, &is_allowed, &ground);
            }
        }
        let side = match region.kind {
            RegionKind::Inset { .. } | RegionKind::Lamp(_) => OPENING_SIDE_RATIO,
            RegionKind::Skin(_) | RegionKind::Gap { .. } => LINE_SIDE_RATIO,
        };
        self.refine(scalar, side, &over);
        self.edge(region, scalar);
        over.extend(region.edge.map(|edge| edge.material));
        match &region.kind {
            RegionKind::Skin(material) => {
                // A second paint is glossy, like the first.
                let coat = *material == Material::Satin && roof_panel(region, self.sheet).is_some();
                let material = if coat { &Material::GlossWhite } else { material };
                let beside_pane = *material == Material::GlossBlack && is_beside_panes(region, self.sheet);
                let material = if beside_pane { &Material::PaneBorder } else { material };
                let shape = self.shape_of_skin(region, *material, scalar, narrowest);
                let part = self.add_part(*material, shape);
                self.claim(scalar, [f32::MIN, 0.0], part, &over);
            }
            kind if is_shut_line(kind) => self.shut_line(scalar, SHUT_LINE_M, &over, is_flap(region)),
            RegionKind::Gap { width, material } => {
                let shape = if matches!(material, Material::Chrome | Material::Satin) {
                    let radius = (0.5 * width).clamp(0.002, BEAD_RADIUS_M);
                    for level in [-0.25 * width, 0.0, 0.25 * width] {
                        self.skin.cut(scalar, level, &ground);
                    }
                    PartShape::Bead { height: (0.5 * radius).min(FRAME_HEIGHT_M), radius }
                } else {
                    PartShape::Skin
                };
                let part = self.add_part(*material, shape);
                self.claim(scalar, [-0.5 * width, 0.5 * width], part, &over);
            }
            RegionKind::Inset { depth, floor, wall, fill } => {
                let at_end = matches!(region.at.view, DrawnIn::Front | DrawnIn::Rear);
                let usual = (at_end && *floor == Material::Grille).then_some(Fill::dark(Pattern::Honeycomb));
                let fill = fill.or(usual).filter(|_| region.at.view != DrawnIn::Top);
                let shape = PartShape::Inset { depth: *depth, wall: *wall, fill };
                let part = self.add_part(*floor, shape);
                self.claim(scalar, [f32::MIN, 0.0], part, &over);
            }
            RegionKind::Lamp(lamp) => {
                let shape = PartShape::Lamp { lamp: lamp.clone(), view: region.at.view };
                let part = self.add_part(lamp.lens, shape);
                // The lens's rounded edge bends along these lines. Without them its highlight would
                // end along whatever triangles lie there.
                let inside = along_skin(scalar.as_ref(), self.field);
                self.skin.cut_levels(&inside, &[-LENS_ROUND_M, -0.5 * LENS_ROUND_M], &ground);
                self.claim(scalar, [f32::MIN, 0.0], part, &over);
            }
        }
    }

    /// Adds the frame, seal or gap around a region.
    fn edge(&mut self, region: &Region, scalar: &Scalar<'a>) {
        let Some(edge) = region.edge else { return };
        let field = self.field;
        let exact = self.exact.take();
        self.exact = exact.map(|exact| band_along_skin(exact, field, edge.width));
        let band = &band_along_skin(|p: Vec3, s: &SurfacePoint| scalar(p, s), field, edge.width);
        let has_frame = match region.kind {
            RegionKind::Inset { .. } => true,
            RegionKind::Lamp(_) => region.name.contains("fog"),
            RegionKind::Skin(_) | RegionKind::Gap { .. } => false,
        };
        let framed = has_frame && is_rounded(edge.material);
        let shape = if framed && edge.width >= NARROWEST_FRAME_M {
            let radius = (0.5 * edge.width).min(BEAD_RADIUS_M);
            self.cut_section(band, edge.width, radius);
            PartShape::Bead { height: FRAME_HEIGHT_M.min(radius), radius }
        } else {
            PartShape::Skin
        };
        let part = self.add_part(edge.material, shape);
        self.claim(band, [f32::MIN, edge.width], part, &region.over);
    }

    /// Returns the section of a bar, a strip or a moulding, and cuts the skin along its bends. A
    /// region that is drawn over the floor of an opening is a bar or a post in front of it.
    fn shape_of_skin(&mut self, region: &Region, material: Material, scalar: &Scalar<'_>, narrowest: f32) -> PartShape {
        let ground = BodyGround(self.field);
        let radius = (0.5 * narrowest).clamp(0.002, BEAD_RADIUS_M);
        if !is_rounded(material) {
            return PartShape::Skin;
        }
        if region.over.contains(&Material::Grille) {
            // A bar is bright and stands in front of the dark, so its section bends twice.
            self.skin.cut_levels(scalar, &[-BEAD_BEND * radius, -radius], &ground);
            PartShape::Bead { height: BAR_HEIGHT_M.min(radius), radius }
        } else if is_bright_strip(region, material, narrowest) {
            // A flat strip would mirror a single point of the studio and be one even white.
            let radius = (0.5 * narrowest).clamp(0.002, 0.5 * WIDEST_STRIP_M);
            self.skin.cut_levels(scalar, &[-BEAD_BEND * radius, -0.98 * radius], &ground);
            PartShape::Bead { height: BAR_HEIGHT_M.min(radius), radius }
        } else if is_moulding(region) {
            let bend = if narrowest - 2.0 * radius > NARROWEST_FACE_M { radius } else { BEAD_BEND * radius };
            self.skin.cut(scalar, -bend, &ground);
            PartShape::Bead { height: (0.5 * radius).min(FRAME_HEIGHT_M), radius }
        } else {
            PartShape::Skin
        }
    }

    /// Adds a groove along the zero line of a scalar.
    fn shut_line(&mut self, scalar: &Scalar<'_>, width: f32, over: &[Material], on_one_side: bool) {
        let groove = PartShape::Groove { depth: SHUT_LINE_DEPTH_M, on_one_side };
        let part = match self.groove {
            Some(part) if !on_one_side => part,
            _ => self.add_part(Material::PanelGap, groove),
        };
        if !on_one_side {
            self.groove = Some(part);
        }
        let half = 0.5 * width;
        self.claim_with_brim(scalar, [-half, half], BRIM_M, part, over);
    }

    /// Like [`Self::claim`] with a brim. The levels are distances along the skin, whatever view
    /// the scalar was drawn in.
    fn claim_with_brim(&mut self, scalar: &Scalar<'_>, levels: [f32; 2], brim: f32, part: PartId, over: &[Material]) {
        let (field, allowed) = (self.field, self.allowed(over));
        let is_allowed = |own: PartId| allowed[usize::from(own)];
        let steep = |p: Vec3, s: &SurfacePoint| steepness(scalar.as_ref(), field, p, s);
        let line = LineOnSkin { scalar: scalar.as_ref(), steepness: &steep };
        let band = BrimmedBand { levels, brim };
        self.skin.claim_with_brim(line, band, part, &is_allowed, &BodyGround(field));
        if let Some(strays) = &mut self.strays {
            let exact = along_skin(self.exact.as_ref().unwrap_or(scalar).as_ref(), field);
            let cut = along_skin(scalar.as_ref(), field);
            strays.extend(edge_strays(&self.skin, part, levels, &cut, &exact, field));
        }
    }

    /// Makes triangles smaller along the zero line of a scalar, where a material of `over` lies.
    fn refine(&mut self, scalar: &Scalar<'_>, side_ratio: f32, over: &[Material]) {
        let allowed = self.allowed(over);
        let is_allowed = |part: PartId| allowed[usize::from(part)];
        for _ in 0..2 {
            let to_line = |p: Vec3, s: &SurfacePoint| scalar(p, s).abs();
            let band_m = self.grid_m * EDGE_BAND_RATIO;
            self.skin.halve(&to_line, band_m, self.grid_m * side_ratio, &is_allowed, &BodyGround(self.field));
        }
    }

    /// Adds a shut line through the paint that no sheet draws, along the zero line of a scalar.
    pub fn joint(&mut self, scalar: &Scalar<'_>) {
        self.refine(scalar, LINE_SIDE_RATIO, &[Material::Paint]);
        self.shut_line(scalar, JOINT_M, &[Material::Paint], false);
    }

    /// Replaces the paint by another material inside the zero line of a scalar.
    pub fn trim(&mut self, scalar: &Scalar<'_>, material: Material) {
        self.refine(scalar, LINE_SIDE_RATIO, &[Material::Paint]);
        let part = self.add_part(material, PartShape::Skin);
        self.claim(scalar, [f32::MIN, 0.0], part, &[Material::Paint]);
    }

    /// Adds recesses in the paint inside the zero lines of scalars, with rounded edges.
    pub fn recesses(&mut self, recesses: &[Recess<'_>]) {
        let nearest = |p: Vec3, s: &SurfacePoint| {
            let distances = recesses.iter().map(|recess| (recess.inside)(p, s));
            distances.fold(1.0, |nearest: f32, d| if d.abs() < nearest.abs() { d } else { nearest })
        };
        let nearest: Scalar<'_> = Box::new(nearest);
        self.refine(&nearest, OPENING_SIDE_RATIO, &[Material::Paint]);
        for recess in recesses {
            let shape = PartShape::Recess { depth: recess.depth, lean: recess.lean, wall: recess.material };
            let part = self.add_part(recess.material, shape);
            self.claim_with_brim(&recess.inside, [f32::MIN, 0.0], RECESS_BRIM_M, part, &[Material::Paint]);
        }
    }

    /// Adds the cladding around the wheels, and cuts the wheel arches.
    fn arches(&mut self, well_y: [f32; 2]) {
        let wheels = &self.sheet.wheels;
        let everything = [
            Material::Paint,
            Material::Underbody,
            Material::MattBlack,
            Material::GlossBlack,
            Material::PanelGap,
            Material::Chrome,
            Material::Satin,
        ];
        for (index, arch) in self.field.arches.into_iter().enumerate() {
            let well_y = well_y[index];
            let outside: Scalar<'_> =
                Box::new(move |p, _| if p.y < well_y { well_y - p.y + 1.0 } else { arch.distance(p) });
            if wheels.cladding > 0.0 {
                let part = self.add_part(wheels.cladding_material, PartShape::Skin);
                self.claim(&outside, [f32::MIN, wheels.cladding], part, &everything);
            }
            let ground = BodyGround(self.field);
            if self.sheet.wheels.lip_height > 0.0 {
                self.skin.cut_levels(&|p, _| arch.distance(p), &[ARCH_FLANGE_M, 0.4 * ARCH_FLANGE_M], &ground);
            }
            self.skin.cut(&|p, _| arch.distance(p), 0.0, &ground);
            self.skin.cut(&|p, _| if arch.distance(p) > 0.1 { 1.0 } else { well_y - p.y }, 0.0, &ground);
            let part = self.add_part(Material::Underbody, PartShape::Arch(index));
            let allowed = vec![true; self.parts.len()];
            self.skin.assign(&|p, _| arch.distance(p).max(well_y - p.y), [f32::MIN, 0.0], part, &|own| {
                allowed[own as usize]
            });
        }
    }
}

/// Compares the pieces of a part's border that were cut along one of the levels of `scalar` with
/// the same level of `exact`.
fn edge_strays(
    skin: &Skin<SurfacePoint>,
    part: PartId,
    levels: [f32; 2],
    scalar: &Scalar<'_>,
    exact: &Scalar<'_>,
    field: &BodyField,
) -> Vec<EdgeStray> {
    let own = skin.triangles.iter().zip(&skin.part).filter(|(_, of)| **of == part).map(|(triangle, _)| triangle);
    let pieces = border(own).into_iter().flat_map(|(a, b)| {
        let at = |i: u32| (skin.positions[i as usize], &skin.info[i as usize]);
        let ((from, from_info), (to, to_info)) = (at(a), at(b));
        let is_on = |level: &f32| {
            let ends = [scalar(from, from_info), scalar(to, to_info)];
            ends.into_iter().all(|value| (value - level).abs() < ON_LINE_M)
        };
        let level = levels.into_iter().find(is_on);
        // Four points of a piece. Its second end is the first one of the next piece.
        let places = level.into_iter().flat_map(move |level| [0.0, 0.25, 0.5, 0.75].map(|ratio| (level, ratio)));
        places.map(move |(level, ratio)| {
            let p = from.lerp(to, ratio);
            let stray_m = (exact(p, &field.surface_point(p)) - level).abs();
            EdgeStray { stray_m, length_m: from.distance(to) * 0.25 }
        })
    });
    pieces.collect()
}

/// Returns a region's curve and limits as a scalar over the skin, negative inside.
///
/// The second value is the shorter side of the drawing, in metres.
fn drawn_scalar<'a>(
    region: &Region,
    sheet: &Sheet,
    field: &'a BodyField,
    ready: fn(&Drawing, f32, f32) -> FieldDrawing,
) -> (Scalar<'a>, f32) {
    let field_drawing = |drawing: &Drawing| ready(drawing, sheet.size.length, sheet.size.height);
    if is_shut_line(&region.kind)
        && let Some((opened, edge)) = front_edge(&region.at, sheet, field)
    {
        let drawing = field_drawing(&opened);
        let narrowest = drawing.narrowest();
        let scalar = move |_: Vec3, s: &SurfacePoint| {
            let (curve, beyond) = drawing.distances(s.at);
            smooth_max(curve.max(beyond), edge.ahead(s.at), LID_CORNER_M)
        };
        return (Box::new(scalar), narrowest);
    }
    if let Some(roof) = roof_panel(region, sheet) {
        return (roof, 0.5);
    }
    let drawing = field_drawing(&region.at);
    let within = region.within.as_ref().map(field_drawing);
    let narrowest = drawing.narrowest();
    let inside = |drawing: &FieldDrawing, s: &SurfacePoint| {
        let at = if drawing.bowed { Vec3::new(s.body_x, s.at.y, s.at.z) } else { s.at };
        let (curve, beyond) = drawing.distances(at);
        curve.max(beyond)
    };
    let is_line = matches!(region.kind, RegionKind::Gap { .. });
    let door_frame = door_frame(region, sheet);
    let arches = keeps_off_wheels(region).then_some(field.arches);
    let arch_room = ARCH_ROOM_M + sheet.wheels.cladding;
    let scalar = move |p: Vec3, s: &SurfacePoint| {
        let mut value = inside(&drawing, s);
        if let Some(frame) = &door_frame {
            value = smooth_max(value, frame(p, s), DOOR_CORNER_M);
        }
        for arch in arches.iter().flatten() {
            if value < arch_room {
                value = smooth_max(value, arch_room - arch.distance(p), ARCH_CORNER_M);
            }
        }
        match &within {
            // A line ends at the limit, but a surface gets an edge there.
            Some(within) if is_line && inside(within, s) > 0.0 => 1.0,
            Some(within) if !is_line => value.max(inside(within, s)),
            _ => value,
        }
    };
    (Box::new(scalar), narrowest)
}

/// Distance from a wheel arch at which openings and areas of a bumper end, and the rounding of the
/// corners that they get there.
const ARCH_ROOM_M: f32 = 0.05;
const ARCH_CORNER_M: f32 = 0.03;

/// True if a region is an opening of a bumper or the area around a fog lamp. Drawn from the end of
/// the vehicle, such a region may reach into a wheel arch, which would cut it off with a torn edge.
fn keeps_off_wheels(region: &Region) -> bool {
    const FIELDS: [&str; 4] = ["fog", "pocket", "insert", "corner"];
    let is_field = FIELDS.iter().any(|name| region.name.contains(name));
    let is_open = match region.kind {
        RegionKind::Inset { .. } => true,
        RegionKind::Skin(material) => is_field && material != Material::Paint,
        RegionKind::Lamp(_) | RegionKind::Gap { .. } => false,
    };
    is_open && matches!(region.at.view, DrawnIn::Front | DrawnIn::Rear)
}

/// Distance between the panes and the line of a door above the belt, the rounding of the line's
/// corners there, and the height above the belt over which the line begins to follow the panes.
const DOOR_FRAME_M: f32 = 0.034;
const DOOR_CORNER_M: f32 = 0.03;
const FRAME_BEGINS_M: f32 = 0.10;
/// Side windows that are shorter belong to the front doors alone.
const SHORTEST_WINDOWS_M: f32 = 1.3;

/// Returns the frame that a door has around its panes, as a scalar that is negative
/// inside the frame and far below the belt. The line of a door that is drawn larger would
/// lie across the pillar.
fn door_frame<'a>(region: &Region, sheet: &Sheet) -> Option<Scalar<'a>> {
    const FAR_M: f32 = 0.3;
    let is_door = region.at.view == DrawnIn::Side && region.name.contains("door") && is_shut_line(&region.kind);
    let side = sheet.glass.side.as_ref()?;
    let xs = || side.front.into_iter().chain(side.rear).map(|[x, _]| x);
    let length = xs().fold(f32::MIN, f32::max) - xs().fold(f32::MAX, f32::min);
    if !is_door || is_flap(region) || sheet.greenhouse.open.is_some() || length < SHORTEST_WINDOWS_M {
        return None;
    }
    let windows = side_glass(&sheet.glass)?;
    Some(Box::new(move |p, s| {
        let above = ((s.at.z - s.belt) / FRAME_BEGINS_M).clamp(0.0, 1.0);
        if above == 0.0 {
            return -FAR_M;
        }
        windows(p, s) - DOOR_FRAME_M - FAR_M * (1.0 - above * above * (3.0 - 2.0 * above))
    }))
}

/// Returns the area of a roof in a second colour. Sheets draw it as everything above a
/// level line, but roofs are vaulted both ways, and such a line would wander over the
/// crown. So the colour covers the panel between windscreen and rear window instead, down
/// to the trim of the side windows.
fn roof_panel<'a>(region: &Region, sheet: &Sheet) -> Option<Scalar<'a>> {
    let is_drawn =
        matches!(region.name.as_str(), "roof" | "contrast roof" | "white roof") && region.at.view == DrawnIn::Side;
    let is_coat =
        matches!(region.kind, RegionKind::Skin(Material::GlossBlack | Material::GlossWhite | Material::Satin));
    let (side, screen) = (sheet.glass.side.as_ref()?, sheet.glass.windscreen.as_ref()?);
    if !is_drawn || !is_coat {
        return None;
    }
    let (depth, front) = (side.rail - sheet.glass.band, screen.header);
    let rear = sheet.glass.backlight.as_ref().map_or(f32::MAX, |pane| pane.top);
    Some(Box::new(move |_, s| {
        let ends = (front - s.greenhouse_x).max(s.greenhouse_x - rear);
        // The greenhouse is drawn on into the body, where it has a lower edge.
        let above_belt = s.belt + ROOF_ABOVE_BELT_M - s.at.z;
        smooth_max(-s.greenhouse_profile - depth, ends, ROOF_CORNER_M).max(s.greenhouse_profile - 0.07).max(above_belt)
    }))
}

/// Minimum height of a roof above the belt.
const ROOF_ABOVE_BELT_M: f32 = 0.12;
/// Rounding of the corners of a roof panel.
const ROOF_CORNER_M: f32 = 0.03;

/// True if a region is drawn on the flank above the belt. Plastic there is as dark as the print of
/// the panes beside it; otherwise it would mirror the page as a grey patch.
fn is_beside_panes(region: &Region, sheet: &Sheet) -> bool {
    const BELOW_BELT_M: f32 = 0.03;
    let belt = &sheet.body.belt;
    let belt_at = |x: f32| {
        let pair = belt.windows(2).find(|pair| x <= pair[1].at.x).unwrap_or(&belt[belt.len().saturating_sub(2)..]);
        let [from, to] = [pair[0].at, pair[pair.len() - 1].at];
        from.y + (to.y - from.y) * ((x - from.x) / (to.x - from.x).max(1e-4)).clamp(0.0, 1.0)
    };
    let is_above = |p: &ControlPoint| p.at.y > belt_at(p.at.x) - BELOW_BELT_M;
    region.at.view == DrawnIn::Side
        && !region.name.contains("roof")
        && !belt.is_empty()
        && region.at.curve.iter().all(is_above)
}

/// True if a region is a strip of bright metal at an end of the body.
fn is_bright_strip(region: &Region, material: Material, narrowest_m: f32) -> bool {
    matches!(material, Material::Chrome | Material::Satin)
        && matches!(region.at.view, DrawnIn::Front | DrawnIn::Rear)
        && narrowest_m < WIDEST_STRIP_M
}

/// True if a region is a long narrow strip along the flank, which stands out of the
/// skin with rounded edges.
fn is_moulding(region: &Region) -> bool {
    const LEAST_LONG_M: f32 = 0.45;
    const MOST_HIGH_M: f32 = 0.16;
    const WIDTHS_M: [f32; 2] = [0.012, 0.075];
    let points = || region.at.curve.iter().map(|point| point.at);
    let size = points().fold(Vec2::MIN, Vec2::max) - points().fold(Vec2::MAX, Vec2::min);
    // The area of the polygon divided by its length is the width of the strip, even if
    // the strip is not level.
    let next = points().skip(1).chain(points().take(1));
    let area = 0.5 * points().zip(next).map(|(a, b)| a.perp_dot(b)).sum::<f32>().abs();
    let width = area / size.x.max(1e-3);
    region.at.view == DrawnIn::Side
        && size.x > LEAST_LONG_M
        && size.y < MOST_HIGH_M
        && (WIDTHS_M[0]..WIDTHS_M[1]).contains(&width)
}

/// True if a region is the line of a flap that only one flank has.
fn is_flap(region: &Region) -> bool {
    region.at.view == DrawnIn::Side && FLAPS.iter().any(|name| region.name.contains(name))
}

fn is_shut_line(kind: &RegionKind) -> bool {
    matches!(kind, RegionKind::Gap { width, material: Material::PanelGap } if *width <= WIDEST_SHUT_LINE_M)
}

/// Returns how much a scalar changes over a metre of skin, within limits. A line that is
/// drawn in one view is wide where the skin turns away from that view, and would look
/// painted with a broad pen.
fn steepness(scalar: &DrawnScalar<'_>, field: &BodyField, p: Vec3, s: &SurfacePoint) -> f32 {
    rise(scalar, field, p, s).clamp(0.3, 1.3)
}

/// Returns how much a scalar changes over a metre of skin, however little that is.
fn rise(scalar: &DrawnScalar<'_>, field: &BodyField, p: Vec3, s: &SurfacePoint) -> f32 {
    const PROBE_M: f32 = 0.002;
    let value = scalar(p, s);
    let (along, across) = field.normal(p).any_orthonormal_pair();
    let rise = |way: Vec3| {
        let probe = p + way * PROBE_M;
        (scalar(probe, &field.surface_point(probe)) - value) / PROBE_M
    };
    Vec2::new(rise(along), rise(across)).length()
}

/// Returns the scalar of an opening, with distances along the skin in a band of this width around
/// it. A frame that is drawn from the front would run far back over a bonnet that it reaches, with
/// an edge that the smallest bump of the skin moves.
fn band_along_skin<'s>(
    drawn: impl Fn(Vec3, &SurfacePoint) -> f32 + Send + Sync + 's,
    field: &'s BodyField,
    width: f32,
) -> Scalar<'s> {
    const FLATTEST: f32 = 0.12;
    Box::new(move |p, s| {
        let value = drawn(p, s);
        let is_in_band = (0.0..width).contains(&value);
        if is_in_band { value / rise(&drawn, field, p, s).clamp(FLATTEST, 1.0) } else { value }
    })
}

/// Turns the scalar into a distance along the skin near its zero line.
fn along_skin<'s>(scalar: &'s DrawnScalar<'_>, field: &'s BodyField) -> Scalar<'s> {
    Box::new(move |p, s| {
        let value = scalar(p, s);
        if value.abs() > NEAR_LINE_M { value } else { value / steepness(scalar, field, p, s) }
    })
}

/// Rounding of the front corners of a bonnet.
const LID_CORNER_M: f32 = 0.10;

/// The front edge of a bonnet as it lies on the nose: x and z as polynomials of the
/// squared y, in sheet space.
struct LidEdge {
    x: [f32; 3],
    z: [f32; 3],
    /// Direction (x, z) up the skin and to the rear, at right angles to the edge.
    up: Vec2,
}

impl LidEdge {
    /// Returns how far a point lies ahead of the edge, along the skin.
    fn ahead(&self, at: Vec3) -> f32 {
        let u = at.y * at.y;
        let on = |c: &[f32; 3]| c[0] + (c[1] + c[2] * u) * u;
        self.up.dot(Vec2::new(on(&self.x) - at.x, on(&self.z) - at.z))
    }
}

/// Lays the front edge of a bonnet on the skin.
///
/// A bonnet drawn from above ends on the steep nose, where its curve says little about height, and
/// the smallest bump of the skin moves the line up and down. The edge is therefore laid on the skin
/// where it was drawn, smoothed over the width, and cut as a curve in space; only the sides of the
/// drawing remain. Returns `None` for anything but a bonnet.
fn front_edge(drawing: &Drawing, sheet: &Sheet, field: &BodyField) -> Option<(Drawing, LidEdge)> {
    const OPENED_M: f32 = 0.5;
    if drawing.view != DrawnIn::Top || !drawing.mirror || drawing.bowed {
        return None;
    }
    let mut curve = drawing.curve.clone();
    if curve.first()?.at.x > curve.last()?.at.x {
        curve.reverse();
    }
    let corner = (0..curve.len()).max_by(|a, b| {
        let corner = |i: usize| curve[i].at.y - curve[i].at.x;
        corner(*a).total_cmp(&corner(*b))
    })?;
    let middle = curve[0].at;
    let is_bonnet =
        middle.y.abs() < 0.02 && middle.x < 0.15 * sheet.size.length && corner > 0 && corner + 2 < curve.len();
    if !is_bonnet || curve[corner].at.x > 0.25 * sheet.size.length {
        return None;
    }
    let low = drawing.range.map_or(0.4 * sheet.size.height, |range| range[0]) + 0.004;
    let mut places = Vec::new();
    let mut up = Vec2::ZERO;
    let reach = curve[corner].at.y * 0.95;
    for i in 0..=12 {
        let y = reach * i as f32 / 12.0;
        let pair = curve[..=corner].windows(2).find(|pair| y <= pair[1].at.y)?;
        let [from, to] = [pair[0].at, pair[1].at];
        let x = from.x + (to.x - from.x) * ((y - from.y) / (to.y - from.y).max(1e-4)).clamp(0.0, 1.0);
        let above = field.morph.to_real(Vec3::new(x, y, 0.0));
        let Some(z) = field.skin_z(above.x, above.y) else { continue };
        let mut on = field.morph.to_sheet(Vec3::new(above.x, above.y, z));
        if on.z < low {
            let level = field.morph.to_real(Vec3::new(x, y, low));
            let Some(x) = field.skin_x(level.y, level.z, false) else { continue };
            on = field.morph.to_sheet(Vec3::new(x, level.y, level.z));
        }
        let normal = field.normal(field.morph.to_real(on));
        up += Vec2::new(normal.z, -normal.x);
        places.push(on);
    }
    if places.len() < 6 {
        return None;
    }
    let fit = |value: fn(&Vec3) -> f32| fitted_over_square(&places, value);
    let edge = LidEdge { x: fit(|p| p.x), z: fit(|p| p.z), up: up.normalize_or_zero() };
    let (from, next) = (curve[corner].at, curve[corner + 1].at);
    let slope = ((next.y - from.y) / (next.x - from.x).max(0.05)).clamp(-0.2, 0.5);
    let mut sides = vec![
        ControlPoint { at: Vec2::new(middle.x - OPENED_M, 0.0), radius: 0.0 },
        ControlPoint { at: Vec2::new(from.x - OPENED_M, from.y - slope * OPENED_M), radius: 0.02 },
        ControlPoint { at: from, radius: 0.0 },
    ];
    sides.extend(&curve[corner + 1..]);
    let top = drawing.range.map_or(10.0, |range| range[1]);
    Some((Drawing { curve: sides, range: Some([0.2 * sheet.size.height, top]), ..drawing.clone() }, edge))
}

/// Returns the coefficients of a + b y² + c y⁴ nearest to the values at the
/// points, by least squares.
fn fitted_over_square(places: &[Vec3], value: fn(&Vec3) -> f32) -> [f32; 3] {
    let scale = places.iter().map(|p| p.y * p.y).fold(1e-4, f32::max);
    let (mut matrix, mut right) = (glam::Mat3::ZERO, Vec3::ZERO);
    for p in places {
        let u = p.y * p.y / scale;
        let row = Vec3::new(1.0, u, u * u);
        matrix += glam::Mat3::from_cols(row * row.x, row * row.y, row * row.z);
        right += row * value(p);
    }
    let solved = matrix.inverse() * right;
    if solved.is_finite() {
        [solved.x, solved.y / scale, solved.z / (scale * scale)]
    } else {
        [value(&places[0]), 0.0, 0.0]
    }
}

/// Returns the signed distance from a line drawn upwards in the side view, positive in front of it.
fn before([low, high]: [[f32; 2]; 2], at: Vec3) -> f32 {
    let (low, way) = (Vec2::from(low), Vec2::from(high) - Vec2::from(low));
    (way.y * (low.x - at.x) + way.x * (at.z - low.y)) / way.length().max(1e-6)
}

/// Width of the black ceramic print along the edges of bonded panes, and at
/// the foot of a windscreen.
const BORDER_M: f32 = 0.024;
const FOOT_BORDER_M: f32 = 0.05;
/// Width of the rubber seal along the edges of the side windows.
const SIDE_SEAL_M: f32 = 0.011;
/// How far behind the glass, and how far inside the sides, the dashboard of an open car begins.
const SCUTTLE_BEHIND_M: f32 = 0.008;
const SCUTTLE_INSIDE_M: f32 = 0.085;
/// Longer vehicles have no such seals.
const LONGEST_SEALED_M: f32 = 7.5;
/// How far behind the mirror's foot the triangle that carries a mirror ends at the belt, and the
/// slope by which it leans forward above that.
const SAIL_BEHIND_MIRROR_M: f32 = 0.035;
const SAIL_LEAN: f32 = 0.25;

/// Returns a positive value where the skin is not the greenhouse's top sheet. Blends lift the skin
/// at most a few centimetres off that sheet.
fn off_screen(s: &SurfacePoint) -> f32 {
    s.greenhouse_profile.abs() - 0.07
}

pub(super) fn windscreen<'a>(glass: &Glass) -> Option<Scalar<'a>> {
    let w = glass.windscreen.clone()?;
    Some(Box::new(move |_, s| {
        let side = s.greenhouse_side + w.pillar;
        let lower = smooth_max(side, w.cowl - s.body, w.corner).max(off_screen(s));
        smooth_max(lower, s.greenhouse_x - w.header, w.corner)
    }))
}

/// Returns the ceramic print along the edges of a windscreen, widest at its foot: negative
/// there and outside the pane.
fn windscreen_border<'a>(glass: &Glass) -> Option<Scalar<'a>> {
    let (pane, w) = (windscreen(glass)?, glass.windscreen.clone()?);
    Some(Box::new(move |p, s| outside_near((pane(p, s) + BORDER_M).max(w.cowl + FOOT_BORDER_M - s.body))))
}

/// Converts the scalar of the clear glass inside a border to that of the border: negative on the
/// border, and positive far outside, where nothing has to be cut.
fn outside_near(clear: f32) -> f32 {
    if clear > 0.1 { 1.0 } else { -clear }
}

/// Returns the pane of the rear window, negative inside.
fn backlight<'a>(glass: &Glass) -> Option<Scalar<'a>> {
    let b = glass.backlight.clone()?;
    Some(Box::new(move |_, s| {
        let side = s.greenhouse_side + b.pillar;
        let lower = smooth_max(side, (b.bottom - s.greenhouse_z).max(0.012 - s.body), b.corner).max(off_screen(s));
        let upper = (b.top - s.greenhouse_x).max(b.top_z.map_or(-1.0, |z| s.greenhouse_z - z));
        smooth_max(lower, upper, b.corner)
    }))
}

/// Returns the panes of the flanks, negative inside.
pub(super) fn side_glass<'a>(glass: &Glass) -> Option<Scalar<'a>> {
    let side = glass.side.clone()?;
    let outline = side.outline.as_ref().map(|curve| Outline::drawn(curve, 0.006));
    Some(Box::new(move |_, s| {
        let upper = s.greenhouse_profile + side.rail;
        let lower = s.belt + side.sill - s.at.z;
        let front = before(side.front, s.at);
        let rear = -before(side.rear, s.at);
        let ends = smooth_max(front, rear, side.corner);
        let mut value = smooth_max(smooth_max(upper, lower, side.corner * 0.5), ends, side.corner);
        if let Some(outline) = &outline {
            value = value.max(outline.distance(Vec2::new(s.at.x, s.at.z)));
        }
        // Only skin on the flanks counts, because the middle of the car is roof or screen.
        value.max(0.25 - s.at.y)
    }))
}

#[cfg(test)]
mod tests {
    use super::super::library::Library;
    use super::*;

    fn side(name: &str, curve: &str, kind: &str) -> Region {
        toml::from_str(&format!("name = \"{name}\"\nat = {{ view = \"side\", curve = {curve} }}\nkind = {kind}"))
            .unwrap()
    }

    #[test]
    fn long_narrow_strips_of_the_flank_are_mouldings() {
        let skin = "{ skin = \"matt-black\" }";
        let strip = side("strip", "[[1.3, 0.50], [3.2, 0.55], [3.2, 0.50], [1.3, 0.45]]", skin);
        let sill = side("sill", "[[0.0, 0.32], [4.2, 0.32], [4.2, 0.0], [0.0, 0.0]]", skin);
        let badge = side("badge", "[[1.3, 0.50], [1.4, 0.50], [1.4, 0.47], [1.3, 0.47]]", skin);
        assert!(is_moulding(&strip));
        assert!(!is_moulding(&sill) && !is_moulding(&badge));
    }

    #[test]
    fn plastic_above_the_belt_is_beside_panes() {
        let sheet = Library::embedded().unwrap().sheet("hatchback").unwrap();
        let belt = sheet.body.belt.iter().map(|point| point.at.y).fold(0.0, f32::max);
        let field = |name: &str, low: f32| {
            let curve = format!("[[3.0, {low}], [3.2, {low}], [3.2, {0}], [3.0, {0}]]", low + 0.2);
            side(name, &curve, "{ skin = \"gloss-black\" }")
        };
        assert!(is_beside_panes(&field("corner", belt + 0.05), &sheet));
        assert!(!is_beside_panes(&field("roof", belt + 0.05), &sheet));
        assert!(!is_beside_panes(&field("flank", belt - 0.3), &sheet));
    }

    #[test]
    fn openings_of_bumpers_keep_off_the_wheels_and_lower_masks_run_into_them() {
        let front = |name: &str, kind: &str| -> Region {
            let at = "{ view = \"front\", curve = [[0.6, 0.4], [0.8, 0.4], [0.8, 0.2], [0.6, 0.2]] }";
            toml::from_str(&format!("name = \"{name}\"\nat = {at}\nkind = {kind}")).unwrap()
        };
        assert!(keeps_off_wheels(&front("intake", "{ inset = { depth = 0.03, floor = \"grille\" } }")));
        assert!(keeps_off_wheels(&front("fog field", "{ skin = \"matt-black\" }")));
        assert!(!keeps_off_wheels(&front("lower mask", "{ skin = \"matt-black\" }")));
    }

    #[test]
    fn doors_have_frames_above_the_belt_and_flaps_have_none() {
        let sheet = Library::embedded().unwrap().sheet("sedan").unwrap();
        let line = "[[1.56, 0.92], [1.58, 0.285], [2.52, 0.275], [2.64, 1.34], [1.8, 1.13]]";
        let frame = door_frame(&side("front door", line, "{ gap = {} }"), &sheet).unwrap();
        let at = Vec3::new(2.0, 0.8, 0.9);
        let place = |z: f32, greenhouse_profile: f32| SurfacePoint {
            at: at.with_z(z),
            greenhouse_x: 2.0,
            greenhouse_z: z,
            body_x: 2.0,
            body: 0.0,
            greenhouse_profile,
            greenhouse_side: 0.0,
            belt: 0.9,
        };
        assert!(frame(at, &place(0.8, -0.4)) < -0.1);
        // One point in the pane, and one at the roof's edge above it.
        assert!(frame(at, &place(1.1, -0.2)) < 0.0);
        assert!(frame(at, &place(1.3, 0.0)) > 0.0);
        assert!(door_frame(&side("fuel door", line, "{ gap = {} }"), &sheet).is_none());
    }

    #[test]
    fn flaps_are_known_by_their_names() {
        let line = "[[3.0, 0.7], [3.1, 0.7], [3.1, 0.8], [3.0, 0.8]]";
        assert!(is_flap(&side("fuel door", line, "{ gap = {} }")));
        assert!(!is_flap(&side("rear door", line, "{ gap = {} }")));
    }
}
