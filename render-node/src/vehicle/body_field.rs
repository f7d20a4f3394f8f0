//! The body as a field over real space: lower body and greenhouse from few primary sheets, blended, with solids added
//! and cut, reliefs and creases. Negative inside, close to a distance near the skin. Meshing and materials are others'.

use glam::{Vec2, Vec3};

use super::blend::{bump, plateau, smooth_max, smooth_min, step};
use super::bonnet_lines::{self, BonnetLine};
use super::curve::Table;
use super::drawing::FieldDrawing;
use super::flank_line::FlankLine;
use super::morph::{Morph, Stance};
use super::outline::DistanceGrid;
use super::sheet::{DrawnIn, Relief, ReliefForm, Ridge, Sheet, SolidRole};

/// The primary sheets at one point, for regions that name the sheet they lie on. All but `at` negative inside.
#[derive(Debug, Clone, Copy)]
pub struct Sheets {
    /// The point in sheet space, y >= 0.
    pub at: Vec3,
    /// x with the bow of windscreen and backlight taken out: the greenhouse's own centre-plane x.
    pub greenhouse_x: f32,
    pub greenhouse_z: f32,
    /// x with the bow of nose and tail taken out.
    pub body_x: f32,
    pub body: f32,
    pub greenhouse_profile: f32,
    pub greenhouse_side: f32,
    pub belt: f32,
}

/// What is known of a place once the lower body was asked.
struct BodySheet {
    /// In sheet space, y >= 0.
    at: Vec3,
    belt: f32,
    /// Bow taken out.
    x: f32,
    /// Share of the bow, and the squared share of the half width.
    across: f32,
    u2: f32,
    distance: f32,
}

/// A wheel arch in real space.
#[derive(Debug, Clone, Copy)]
pub struct Arch {
    pub x: f32,
    pub z: f32,
    pub radius: f32,
    pub power: f32,
}

impl Arch {
    /// Distance beyond the arch's edge seen from the side.
    pub fn distance(&self, p: Vec3) -> f32 {
        let (dx, dz) = ((p.x - self.x).abs(), (p.z - self.z).abs());
        if self.power == 2.0 {
            return (dx * dx + dz * dz).sqrt() - self.radius;
        }
        (dx.powf(self.power) + dz.powf(self.power)).powf(1.0 / self.power) - self.radius
    }
}

#[derive(Debug, Clone)]
struct Lift {
    at: FieldDrawing,
    height: f32,
    ramp: f32,
    form: ReliefForm,
    /// How far outside the curve the ramp begins.
    grow: f32,
    /// Length over which it fades along the axis that it is drawn along.
    fade: f32,
}

impl Lift {
    fn new(relief: &Relief, length: f32, height: f32) -> Self {
        let at = FieldDrawing::new(&relief.at, length, height);
        let reach = match relief.at.view {
            DrawnIn::Front => at.range[1],
            DrawnIn::Rear => length - at.range[0],
            DrawnIn::Side | DrawnIn::Top => 0.0,
        };
        let (ramp, longest) = match relief.form {
            ReliefForm::Soft => {
                let gentle = (RELIEF_GENTLE * relief.height.abs()).min(RELIEF_RAMP_SHARE * at.narrowest());
                (relief.ramp.max(gentle), RELIEF_FADE_M)
            }
            ReliefForm::Bevel => (relief.ramp.max(2.0 * BEVEL_EDGE_M), BEVEL_FADE_M),
        };
        let fade = (reach * RELIEF_FADE_SHARE).min(relief.fade.unwrap_or(longest)).max(ramp);
        Self { at, height: relief.height, ramp, form: relief.form, grow: relief.grow, fade }
    }

    /// How far outside the curve the skin is raised.
    fn outset(&self) -> f32 {
        match self.form {
            ReliefForm::Soft => self.grow,
            ReliefForm::Bevel => self.grow + BEVEL_EDGE_M,
        }
    }

    /// By how much the skin is raised at these distances to its curve and its limits.
    fn raised(&self, curve: f32, beyond: f32) -> f32 {
        let share = (self.grow - curve) / self.ramp;
        let share = match self.form {
            ReliefForm::Soft => step(share),
            ReliefForm::Bevel => {
                let k = BEVEL_EDGE_M / self.ramp;
                smooth_min(smooth_max(share, 0.0, k), 1.0, k)
            }
        };
        self.height * share * step(-beyond / self.fade)
    }

    /// Distances to its curve and to its limits, negative inside; none beyond the limits. `at` in sheet space, `bowed` with the bow
    /// taken out.
    fn distances(&self, at: Vec3, bowed: Vec3) -> Option<(f32, f32)> {
        self.at.between_limits(if self.at.bowed { bowed } else { at })
    }
}

#[derive(Debug, Clone)]
pub struct SolidField {
    at: FieldDrawing,
    pub role: SolidRole,
    edge: f32,
    blend: f32,
}

#[derive(Debug, Clone)]
pub struct BodyField {
    pub morph: Morph,
    pub arches: [Arch; 2],
    lip_height: f32,
    lip_width: f32,
    length: f32,
    height: f32,
    half_width: f32,
    axles: [f32; 2],
    hub_z: f32,
    profile: DistanceGrid,
    plan: Table,
    belt: Table,
    section: Table,
    sill: f32,
    bow_front: f32,
    bow_rear: f32,
    bow_reach: f32,
    crown: Table,
    k_top: f32,
    k_front: f32,
    k_rear: f32,
    /// Front and rear.
    haunches: [f32; 2],
    waist: f32,
    rise: f32,
    swell: f32,
    ridges: Vec<Ridge>,
    bonnet_lines: Vec<BonnetLine>,
    /// Heights between which lines of the bonnet begin.
    line_z: [f32; 2],
    flank_lines: Vec<FlankLine>,
    greenhouse: DistanceGrid,
    greenhouse_width: Table,
    tumblehome: f32,
    tumblehome_growth: f32,
    greenhouse_crown: f32,
    windscreen_bow: f32,
    backlight_bow: f32,
    /// Start, middle and end of the greenhouse in x.
    greenhouse_x: [f32; 3],
    k_rail: Table,
    k_body: Table,
    k_body_most: f32,
    /// Least and greatest (x, z) of its profile.
    greenhouse_box: [Vec2; 2],
    lifts: Vec<Lift>,
    solids: Vec<SolidField>,
    /// An open car: x of the header's rear edge.
    open_header: Option<f32>,
}

/// Bumpers begin so far from the axles and are whole from there on.
const BUMPER_FROM_AXLE_M: [f32; 2] = [-0.05, 0.42];
/// Below this share of the flank's height a bumper's side is upright, and it is wider than drawn by this share of half the width, which
/// fades out over a further share of the height: the corners of real bumpers hide the tyres.
const BUMPER_UPRIGHT: f32 = 0.36;
const BUMPER_OUT_SHARE: [f32; 2] = [0.018, 0.045];
const BUMPER_FADE: f32 = 0.34;
/// Heights above the sill between which the lower edges of bumpers are sharper by this share than their corners.
const BUMPER_FOOT_M: [f32; 2] = [0.02, 0.28];
const BUMPER_FOOT_SHARPER: f32 = 0.6;

const PROFILE_GRID_M: f32 = 0.01;
/// Lengths over which plan, section and width of the greenhouse are averaged: what is drawn by a handful of points is not fair between
/// them.
const FAIRING_M: f32 = 0.14;
/// The same for the section of the flank, whose curvature is to be spread over its whole height.
const SECTION_FAIRING_M: f32 = 0.32;
/// By how much the flank is rounder from sill to belt than drawn: sheets draw walls, and a wall mirrors one thing from the wheels to the
/// windows, without the gradient that a door has.
const SECTION_CROWN: f32 = 1.7;
/// Between these heights the section moves up along the car, from none of the way to all of it and back; 0 is the sill, 1 the belt.
const MOVED_HEIGHTS: [f32; 4] = [-0.1, 0.4, 0.6, 1.1];
/// It gets rounder between these places and is as drawn at the bumpers; -0.83 is the front axle, 0.83 the rear one.
const SWOLLEN: [f32; 4] = [-0.95, -0.75, 0.75, 0.95];
/// The edge of a wheel arch flares out over this width.
pub const ARCH_FLANGE_M: f32 = 0.026;
const ARCH_FLANGE_OUT_M: f32 = 0.005;
/// Half length of a haunch, as a share of the wheelbase.
const HAUNCH_REACH: f32 = 0.54;
/// Where on the flank the front and the rear haunch stand out most, and how far they reach from there; 0 is the sill, 1 the belt.
const HAUNCH_HEIGHTS: [[f32; 2]; 2] = [[0.62, 0.8], [0.78, 0.85]];
/// Up to where the waist is as deep as at the sill, and from where on there is none.
const WAIST_HEIGHT: [f32; 2] = [0.0, 1.0];
/// Where on the nose lines of the bonnet begin, from the underside of the bumper to the edge of the bonnet: bumpers are straight.
const LINE_FOOT: f32 = 0.5;
/// By which share the crown of the bonnet grows from the windscreen to the nose: steadily, from so far under the screen on, so that no two
/// sections are alike and none mirrors a single spot.
const NOSE_CROWN: f32 = 1.2;
const UNDER_SCREEN_M: f32 = 0.25;
/// Share of the drawn crown of the roof in its middle, and by how much it grows steadily to its ends.
const ROOF_CROWN: f32 = 0.7;
const CROWN_GROWTH: f32 = 0.65;
/// Reliefs fade over this share of what their limits take of the body, and at most over this length: a bumper's step that runs round the
/// corner is to end softly, not in an upright edge in front of the wheel.
const RELIEF_FADE_SHARE: f32 = 0.5;
const RELIEF_FADE_M: f32 = 0.3;
/// Ramps are at least so many times as wide as they are high, which light follows without breaking, where this is no more than the given
/// share of a relief's shorter side.
const RELIEF_GENTLE: f32 = 3.4;
const RELIEF_RAMP_SHARE: f32 = 0.25;
/// Radius of the edges of a bevel, about, and the length over which one ends in front of a wheel.
const BEVEL_EDGE_M: f32 = 0.004;
const BEVEL_FADE_M: f32 = 0.09;
/// The edges of a narrower bevel run into each other.
const NARROW_BEVEL_M: f32 = 0.0125;
/// Strips of triangles that a soft ramp is cut into are about as wide.
const RAMP_PIECE_M: f32 = 0.013;
/// How much faster than straight the sides of the greenhouse turn inwards from a little below the belt on, per metre: they would dent
/// the doors from inside.
const TUCK_PER_M: f32 = 10.0;
/// By how much a grid of distances may be too small.
const SPLINE_ERROR_M: f32 = 0.002;

impl BodyField {
    /// The body without the lines of its flank, which `flank_lines` draws on it. `sheet_stance` and `real` say where the sheet's and the
    /// vehicle's axles are; `arches` are real.
    pub fn new(sheet: &Sheet, sheet_stance: Stance, real: Stance, arches: [Arch; 2]) -> Self {
        let size = sheet.size;
        let body = &sheet.body;
        let house = &sheet.greenhouse;
        let (profile, roof) = sheet.side_outlines();
        let k_body = Table::drawn(&house.k_body);
        let middle = roof.points().iter().max_by(|a, b| a.y.total_cmp(&b.y)).map_or(0.0, |p| p.x);
        let belt = Table::drawn(&body.belt);
        let flank_height = (belt.at(0.5 * size.length) - body.sill).max(0.2);
        let (bonnet_lines, ridges) = bonnet_lines::drawn(sheet, roof.bounds().0.x);
        let lift = |relief: &Relief| Lift::new(relief, size.length, size.height);
        Self {
            morph: Morph::new(sheet_stance, real),
            arches,
            lip_height: sheet.wheels.lip_height,
            lip_width: sheet.wheels.lip_width,
            length: size.length,
            height: size.height,
            half_width: size.width * 0.5,
            axles: [sheet_stance.front_axle_x, sheet_stance.rear_axle_x],
            hub_z: sheet_stance.hub_z,
            profile: DistanceGrid::new(&profile, PROFILE_GRID_M, 0.15),
            plan: Table::drawn(&body.plan).faired(FAIRING_M),
            belt,
            section: Table::drawn(&body.section).convex().faired(SECTION_FAIRING_M / flank_height),
            sill: body.sill,
            bow_front: body.bow_front,
            bow_rear: body.bow_rear,
            bow_reach: body.bow_reach,
            crown: Table::drawn(&body.crown),
            k_top: body.k_top,
            k_front: body.k_front,
            k_rear: body.k_rear,
            haunches: [body.haunch_front, body.haunch_rear],
            waist: body.waist,
            rise: body.rise,
            swell: body.swell,
            ridges,
            bonnet_lines,
            line_z: {
                let [low, high] = sheet.front.anchors;
                [low + LINE_FOOT * (high - low), high]
            },
            flank_lines: Vec::new(),
            greenhouse: DistanceGrid::new(&roof, PROFILE_GRID_M, 0.15),
            greenhouse_width: Table::drawn(&house.width).faired(FAIRING_M),
            tumblehome: house.tumblehome,
            tumblehome_growth: house.tumblehome_growth,
            greenhouse_crown: house.crown,
            windscreen_bow: house.windscreen_bow,
            backlight_bow: house.backlight_bow,
            greenhouse_x: [roof.bounds().0.x, middle, roof.bounds().1.x],
            k_rail: Table::drawn(&house.k_rail),
            k_body_most: k_body.highest(),
            k_body,
            greenhouse_box: roof.bounds().into(),
            lifts: sheet.relief.iter().chain(&sheet.front.relief).chain(&sheet.rear.relief).map(lift).collect(),
            solids: sheet.solid.iter().map(|s| SolidField::new(s, sheet)).collect(),
            open_header: house.open.as_ref().map(|open| open.header),
        }
    }

    /// The same with lines on its flank.
    pub fn with_flank_lines(mut self, lines: Vec<FlankLine>) -> Self {
        self.flank_lines = lines;
        self
    }

    /// The whole body.
    pub fn at(&self, p: Vec3) -> f32 {
        let body = self.body(p);
        let place = self.greenhouse_place(&body);
        // Far from the greenhouse the body alone counts, to the last digit: most of the skin.
        let [low, high] = self.greenhouse_box;
        let away = (low - place).max(place - high).max_element() - SPLINE_ERROR_M;
        let shell = if self.open_header.is_some() || away - body.distance > self.k_body_most {
            body.distance
        } else {
            let [profile, side] = self.greenhouse_sheets(&body, place);
            let house = smooth_max(profile, side, self.k_rail.at(place.x));
            smooth_min(body.distance, house, self.k_body.at(body.at.x))
        };
        self.detailed(shell, body.at, body.x)
    }

    fn detailed(&self, shell: f32, at: Vec3, body_x: f32) -> f32 {
        let mut value = shell;
        let bowed = Vec3::new(body_x, at.y, at.z);
        for solid in &self.solids {
            match solid.role {
                SolidRole::Add => value = smooth_min(value, solid.distance(at, bowed), solid.blend),
                SolidRole::Cut => value = smooth_max(value, -solid.distance(at, bowed), solid.blend),
                SolidRole::Apart => {}
            }
        }
        if value.abs() < 0.2 {
            for lift in &self.lifts {
                if let Some((curve, beyond)) = lift.distances(at, bowed)
                    && curve < lift.outset()
                {
                    value -= lift.raised(curve, beyond);
                }
            }
        }
        value
    }

    /// Solids meshed by themselves: index into the sheet's list, bounds in sheet space, and a field over real space.
    pub fn solid_at(&self, index: usize, p: Vec3) -> f32 {
        let at = self.in_sheet(p);
        let (body_x, _) = self.bowed_x(at);
        self.solids[index].distance(at, Vec3::new(body_x, at.y, at.z))
    }

    pub fn solid_bounds(&self, index: usize) -> (Vec3, Vec3) {
        self.solids[index].at.bounds()
    }

    /// What a cut takes away: its inside, by index of the solid.
    pub fn cut_at(&self, index: usize, sheets: &Sheets) -> f32 {
        self.solids[index].distance(sheets.at, Vec3::new(sheets.body_x, sheets.at.y, sheets.at.z))
    }

    fn in_sheet(&self, p: Vec3) -> Vec3 {
        let q = self.morph.to_sheet(p);
        Vec3::new(q.x, q.y.abs(), q.z)
    }

    /// (x with the bow taken out, share of the bow).
    fn bowed_x(&self, q: Vec3) -> (f32, f32) {
        let u = (q.y / self.half_width).min(1.3);
        let u2 = u * u;
        let g = u2 * (0.55 + 0.45 * u2);
        let front = 1.0 - step(q.x / self.bow_reach);
        let rear = 1.0 - step((self.length - q.x) / self.bow_reach);
        (q.x - self.bow_front * g * front + self.bow_rear * g * rear, g)
    }

    pub fn sheets(&self, p: Vec3) -> Sheets {
        let body = self.body(p);
        let place = self.greenhouse_place(&body);
        let [greenhouse_profile, greenhouse_side] = self.greenhouse_sheets(&body, place);
        Sheets {
            at: body.at,
            greenhouse_x: place.x,
            greenhouse_z: place.y,
            body_x: body.x,
            body: body.distance,
            greenhouse_profile,
            greenhouse_side,
            belt: body.belt,
        }
    }

    fn body(&self, p: Vec3) -> BodySheet {
        let q = self.in_sheet(p);
        let u = (q.y / self.half_width).min(1.3);
        let u2 = u * u;
        let (body_x, g) = self.bowed_x(q);
        let belt = self.belt.at(q.x);

        let from = self.greenhouse_x[0].max(0.1) + UNDER_SCREEN_M;
        let crown = self.crown.at(q.x) * (0.7 + NOSE_CROWN * growing(1.0 - q.x / from));
        let mut profile_z = q.z + crown * u2 * step((q.z - self.sill) / 0.45);
        for ridge in &self.ridges {
            // The other side's counts as well where they meet in the middle.
            let across = bump((q.y - ridge.y) / ridge.reach) + bump((q.y + ridge.y) / ridge.reach);
            if across > 0.0 {
                profile_z -= ridge.height * across * plateau(q.x, ridge.x) * step((q.z - self.sill) / 0.45);
            }
        }
        let [low, high] = self.line_z;
        for line in &self.bonnet_lines {
            let raised = line.raised(q.x, q.y);
            if raised > 0.0 {
                profile_z -= raised * step((q.z - low) / (high - low));
            }
        }
        let profile = self.profile.distance(Vec2::new(body_x, profile_z));
        let side = q.y - self.flank(p, q, belt);
        let low = 1.0 - step((q.z - (belt - 0.24)) / 0.22);
        let front = step((0.65 - q.x) / 0.55);
        let rear = step((q.x - (self.length - 0.65)) / 0.55);
        let k = self.k_top + low * (front * (self.k_front - self.k_top) + rear * (self.k_rear - self.k_top));
        let foot = 1.0 - step((q.z - self.sill - BUMPER_FOOT_M[0]) / (BUMPER_FOOT_M[1] - BUMPER_FOOT_M[0]));
        let k = k * (1.0 - BUMPER_FOOT_SHARPER * foot * (front + rear).min(1.0));
        BodySheet { at: q, belt, x: body_x, across: g, u2, distance: smooth_max(profile, side, k) }
    }

    /// (x, z) in the greenhouse's own centre plane: bow and crown taken out.
    fn greenhouse_place(&self, body: &BodySheet) -> Vec2 {
        let (q, g) = (body.at, body.across);
        let [start, middle, end] = self.greenhouse_x;
        let to_front = 1.0 - step((q.x - start) / (middle - start).max(0.1));
        let to_rear = 1.0 - step((end - q.x) / (end - middle).max(0.1));
        let greenhouse_x = q.x - self.windscreen_bow * g * to_front + self.backlight_bow * g * to_rear;
        // Rounder towards screen and backlight than over the front seats.
        let ends =
            growing((middle - q.x) / (middle - start).max(0.1)) + growing((q.x - middle) / (end - middle).max(0.1));
        let crown = self.greenhouse_crown * (ROOF_CROWN + CROWN_GROWTH * ends);
        Vec2::new(greenhouse_x, q.z + crown * body.u2)
    }

    /// Profile and side of the greenhouse.
    fn greenhouse_sheets(&self, body: &BodySheet, place: Vec2) -> [f32; 2] {
        let above = body.at.z - body.belt;
        let below = (above + 0.04).min(0.0);
        let lean =
            self.tumblehome * above * (1.0 + self.tumblehome_growth * above.max(0.0)) + TUCK_PER_M * below * below;
        let side = body.at.y - (self.greenhouse_width.at(body.at.x) * self.half_width - lean);
        [self.greenhouse.distance(place), side]
    }

    /// Half width of the flank at one place.
    fn flank(&self, p: Vec3, q: Vec3, belt: f32) -> f32 {
        let t = ((q.z - self.sill) / (belt - self.sill).max(0.2)).clamp(-0.6, 1.4);
        let bumper = self.is_bumper(q.x);
        // Bumpers stand upright where doors are drawn in towards the sill.
        let upright = t + bumper * (t.max(BUMPER_UPRIGHT) - t);
        let mut y = self.plan.at(q.x) * self.half_width - self.inset(q.x, upright);
        y += self.sweep(q.x, t);
        let [front_out, rear_out] = BUMPER_OUT_SHARE;
        let out = if q.x < 0.5 * self.length { front_out } else { rear_out };
        y += out * self.half_width * bumper * (1.0 - step((t - BUMPER_UPRIGHT) / BUMPER_FADE));
        if self.lip_height > 0.0 && q.z < self.hub_z * 4.0 {
            // No arch is nearer than it is along x, which takes no root to know.
            for arch in self.arches.iter().filter(|arch| (p.x - arch.x).abs() < arch.radius + self.lip_width) {
                let d = arch.distance(p) / self.lip_width;
                if d < 1.0 {
                    y += self.lip_height * bump(d.max(0.0));
                    let flange = (1.0 - d.max(0.0) * self.lip_width / ARCH_FLANGE_M).max(0.0);
                    y += ARCH_FLANGE_OUT_M * flange * flange;
                }
            }
        }
        self.flank_lines.iter().fold(y, |y, line| y + line.out(Vec2::new(q.x, q.z), self.sill, belt))
    }

    /// Whether a place along the car belongs to a bumper: from 0 at the axles to 1 at the outer edges of the wheel arches and beyond.
    fn is_bumper(&self, x: f32) -> f32 {
        let [front, rear] = self.axles;
        let beyond = (front - x).max(x - rear);
        step((beyond - BUMPER_FROM_AXLE_M[0]) / (BUMPER_FROM_AXLE_M[1] - BUMPER_FROM_AXLE_M[0]))
    }

    /// How far the section lies inside the plan at `x` and at the share `t` of its height. It is no rail: from axle to axle it moves up,
    /// so that light runs diagonally over the doors, and gets rounder.
    fn inset(&self, x: f32, t: f32) -> f32 {
        let [front, rear] = self.axles;
        let s = ((2.0 * x - front - rear) / (rear - front)).clamp(-1.4, 1.4);
        let s = s - s * s * s * (1.0 / 5.88);
        let t = t - 0.5 * self.rise * s * plateau(t, MOVED_HEIGHTS);
        SECTION_CROWN * (1.0 + self.swell * s * plateau(s, SWOLLEN)) * self.section.at(t)
    }

    /// By how much the flank stands out at `x` and at the share `t` of its height: haunches over the wheels and the waist between them.
    /// They run into each other, so that no two sections of a body are alike.
    fn sweep(&self, x: f32, t: f32) -> f32 {
        let [front, rear] = self.axles;
        let wheelbase = rear - front;
        let mut out = 0.0;
        for ((height, axle), [middle, reach]) in self.haunches.iter().zip(self.axles).zip(HAUNCH_HEIGHTS) {
            out += height * bump((x - axle) / (HAUNCH_REACH * wheelbase)) * bump((t - middle) / reach);
        }
        let [low, high] = WAIST_HEIGHT;
        out - self.waist
            * bump((x - 0.5 * (front + rear)) / (0.55 * wheelbase))
            * (1.0 - step((t - low) / (high - low)))
    }

    pub fn flank_lines(&self) -> &[FlankLine] {
        &self.flank_lines
    }

    pub fn bonnet_lines(&self) -> &[BonnetLine] {
        &self.bonnet_lines
    }

    /// Whether a place of the skin may lie on a line of the bonnet: on the lower body, above the middle of the nose.
    pub fn is_on_bonnet(&self, sheets: &Sheets) -> bool {
        sheets.body < 0.05 && sheets.at.z > self.line_z[0]
    }

    /// Whether a place of the skin lies on the crest of a flank line, on an edge of the bonnet or on the ramp of a relief, along which
    /// triangles are cut.
    pub fn turns_along_a_line(&self, p: Vec3) -> bool {
        let at = self.in_sheet(p);
        let bowed = Vec3::new(self.bowed_x(at).0, at.y, at.z);
        let on_ramp = |lift: &Lift| {
            lift.distances(at, bowed).is_some_and(|(curve, _)| curve < lift.outset() && curve > -lift.ramp)
        };
        let on_crest =
            |line: &FlankLine| line.above(Vec2::new(at.x, at.z)).is_some_and(|above| above.abs() < 1.5 * line.round());
        let on_fold = |line: &BonnetLine| {
            at.z > self.line_z[0]
                && line.beside(at.x, at.y).is_some_and(|beside| beside.abs() < 1.5 * BonnetLine::ROUND_M)
        };
        self.flank_lines.iter().any(on_crest) || self.bonnet_lines.iter().any(on_fold) || self.lifts.iter().any(on_ramp)
    }

    /// Whether a place of the skin lies on the bevel of a relief, which is cut into triangles of its own.
    pub fn is_on_bevel(&self, p: Vec3) -> bool {
        let at = self.in_sheet(p);
        let bowed = Vec3::new(self.bowed_x(at).0, at.y, at.z);
        self.lifts.iter().filter(|lift| lift.form == ReliefForm::Bevel).any(|lift| {
            let to_curve = lift.distances(at, bowed).map(|(curve, _)| curve - lift.grow);
            to_curve.is_some_and(|d| d < BEVEL_EDGE_M && d > -lift.ramp - BEVEL_EDGE_M)
        })
    }

    pub fn relief_count(&self) -> usize {
        self.lifts.len()
    }

    /// Where the skin turns along a relief's ramp, as distances outside its curve.
    pub fn turns_of(&self, relief: usize) -> Vec<f32> {
        let lift = &self.lifts[relief];
        let (from, to) = (lift.grow, lift.grow - lift.ramp);
        match lift.form {
            ReliefForm::Soft => {
                let pieces = (lift.ramp / RAMP_PIECE_M).round().clamp(2.0, 4.0);
                (0..=pieces as u8).map(|piece| from - lift.ramp * f32::from(piece) / pieces).collect()
            }
            ReliefForm::Bevel => {
                let edge = BEVEL_EDGE_M;
                if lift.ramp < NARROW_BEVEL_M {
                    vec![from + edge, 0.5 * (from + to), to - edge]
                } else {
                    vec![from + edge, from - edge, to + edge, to - edge]
                }
            }
        }
    }

    /// How far a place lies outside the curve and the limits of a relief.
    pub fn outside_relief(&self, relief: usize, sheets: &Sheets) -> f32 {
        let at = &self.lifts[relief].at;
        at.outside(if at.bowed { Vec3::new(sheets.body_x, sheets.at.y, sheets.at.z) } else { sheets.at })
    }

    /// y of the skin seen from the side at real (x, z), if there is any.
    pub fn skin_y(&self, x: f32, z: f32) -> Option<f32> {
        let outside = self.half_width / self.morph.to_sheet(Vec3::Y).y * 1.15;
        self.first_inside(Vec3::new(x, outside, z), -Vec3::Y, outside).map(|p| p.y)
    }

    /// z of the skin seen from above at real (x, y), if there is any.
    pub fn skin_z(&self, x: f32, y: f32) -> Option<f32> {
        let above = self.morph.to_real(Vec3::new(0.0, 0.0, self.height)).z + 0.1;
        self.first_inside(Vec3::new(x, y, above), -Vec3::Z, above).map(|p| p.z)
    }

    /// x of the skin seen from the front, or the rear, at real (y, z), if there is any within the end's half metre.
    pub fn skin_x(&self, y: f32, z: f32, from_rear: bool) -> Option<f32> {
        let tail = self.morph.to_real(Vec3::X * self.length).x;
        let (start, way) = if from_rear { (tail + 0.05, -Vec3::X) } else { (-0.05, Vec3::X) };
        self.first_inside(Vec3::new(start, y, z), way, 0.9).map(|p| p.x)
    }

    /// Outward unit normal of the skin.
    pub fn normal(&self, p: Vec3) -> Vec3 {
        let n = super::surface_net::gradient(&|p| self.at(p), p);
        let n = if p.y == 0.0 { Vec3::new(n.x, 0.0, n.z) } else { n };
        n.normalize_or(Vec3::Z)
    }

    /// Where a ray of some length enters the body.
    pub fn hit(&self, from: Vec3, way: Vec3, length: f32) -> Option<Vec3> {
        self.first_inside(from, way, length)
    }

    /// First point of a ray that lies in the body.
    fn first_inside(&self, from: Vec3, way: Vec3, length: f32) -> Option<Vec3> {
        let step_m = 0.02;
        let (mut along, mut last_step) = (0.0, step_m);
        while along < length {
            let value = self.at(from + way * along);
            if value < 0.0 {
                let (mut outside, mut inside) = ((along - last_step).max(0.0), along);
                for _ in 0..16 {
                    let middle = 0.5 * (inside + outside);
                    if self.at(from + way * middle) < 0.0 { inside = middle } else { outside = middle }
                }
                return Some(from + way * inside);
            }
            // Far from the skin the field says how far it is at least.
            last_step = step_m.max(value * 0.35);
            along += last_step;
        }
        None
    }
}

impl SolidField {
    fn new(solid: &super::sheet::Solid, sheet: &Sheet) -> Self {
        Self {
            at: FieldDrawing::new(&solid.at, sheet.size.length, sheet.size.height),
            role: solid.role,
            edge: solid.edge.max(0.004),
            blend: solid.blend.max(0.004),
        }
    }

    fn distance(&self, at: Vec3, bowed: Vec3) -> f32 {
        let (curve, beyond) = self.at.distances(if self.at.bowed { bowed } else { at });
        smooth_max(curve, beyond, self.edge * 2.0)
    }
}

/// 0 far below 0 and `t` far above it, smooth between: what grows steadily from a place on.
fn growing(t: f32) -> f32 {
    const ROUND: f32 = 0.14;
    let t = t.min(1.0);
    0.5 * (t + (t * t + ROUND * ROUND).sqrt())
}

#[cfg(test)]
mod tests {
    use super::super::library::Library;
    use super::*;
    use crate::vehicle::flank_lines::lined_field;

    fn field(sheet: &Sheet) -> BodyField {
        let stance = sheet.stance();
        let arch = |x: f32| Arch { x, z: stance.hub_z, radius: stance.hub_z + 0.03, power: 2.0 };
        lined_field(sheet, stance, stance, [arch(stance.front_axle_x), arch(stance.rear_axle_x)])
    }

    #[test]
    fn the_step_of_a_bumper_ends_softly_on_the_flank() {
        let sheet = Library::embedded().unwrap().sheet("sedan").unwrap();
        let with = field(&sheet);
        let mut plain = sheet.clone();
        plain.rear.relief.clear();
        let without = field(&plain);
        let bumper = sheet.rear.relief.iter().find(|relief| relief.name == "bumper").unwrap();
        let start = bumper.at.range.unwrap()[0];
        let out = |x: f32| with.skin_y(x, 0.5).unwrap() - without.skin_y(x, 0.5).unwrap();
        let heights: Vec<f32> = (0..20).map(|i| out(start + 0.01 * i as f32)).collect();
        assert!(heights[0].abs() < 2e-4, "{}", heights[0]);
        assert!(heights.windows(2).all(|pair| (pair[1] - pair[0]).abs() < 0.0016), "{heights:?}");
    }

    #[test]
    fn places_on_a_crest_are_known() {
        let sheet = Library::embedded().unwrap().sheet("sedan").unwrap();
        let field = field(&sheet);
        let on_line = (0..200)
            .map(|i| 0.5 + 0.002 * i as f32)
            .filter(|z| field.skin_y(2.3, *z).is_some_and(|y| field.turns_along_a_line(Vec3::new(2.3, y, *z))));
        assert!((2..40).contains(&on_line.count()));
    }
}
