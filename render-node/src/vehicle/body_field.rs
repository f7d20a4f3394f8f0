//! The body as a field over real space: lower body and greenhouse, each from a few primary
//! surfaces, blended, with solids added and cut, reliefs and creases. The field is negative inside,
//! and near the skin it is close to a distance. Meshing and materials belong to other modules.

use glam::{Vec2, Vec3};

use super::blend::{bump, plateau, smooth_max, smooth_min, step};
use super::bonnet_lines::{self, BonnetLine};
use super::curve::SampledCurve;
use super::drawing::FieldDrawing;
use super::flank_line::FlankLine;
use super::morph::{Morph, Stance};
use super::outline::DistanceGrid;
use super::sheet::{DrawnIn, ReliefForm, Ridge, Sheet, SkinRelief, SolidRole};

/// The primary surfaces at one point, for regions that name the surface that they lie on. `body`,
/// `greenhouse_profile` and `greenhouse_side` are distances to these surfaces, negative inside.
/// `belt` is the height of the belt at the point's x.
#[derive(Debug, Clone, Copy)]
pub struct SurfacePoint {
    /// The point in sheet space, y >= 0.
    pub at: Vec3,
    /// x with the bow of windscreen and backlight removed: the x at which the greenhouse's profile
    /// is read.
    pub greenhouse_x: f32,
    /// z with the crown of the roof removed: the z at which the greenhouse's profile is read.
    pub greenhouse_z: f32,
    /// x with the bow of nose and tail removed.
    pub body_x: f32,
    pub body: f32,
    pub greenhouse_profile: f32,
    pub greenhouse_side: f32,
    pub belt: f32,
}

/// The state of a point after the lower body was evaluated.
struct BodyPoint {
    /// The point in sheet space, y >= 0.
    at: Vec3,
    belt: f32,
    /// x with the bow removed.
    x: f32,
    /// Ratio of the bow that applies at this y: 0 in the centre plane, 1 at half the width.
    across: f32,
    /// Square of y as a ratio of half the width.
    u2: f32,
    /// Distance to the lower body, negative inside.
    distance: f32,
}

/// A wheel arch in real space: a superellipse around (x, z), seen from the side, in metres.
#[derive(Debug, Clone, Copy)]
pub struct Arch {
    pub x: f32,
    pub z: f32,
    pub radius: f32,
    /// Exponent of the superellipse; 2 makes a circle.
    pub power: f32,
}

impl Arch {
    /// Returns how far a point lies outside the arch's edge, as seen from the side; negative inside
    /// the arch. This is the distance for a circle, and the distance along x or z for any `power`.
    pub fn distance(&self, p: Vec3) -> f32 {
        let (dx, dz) = ((p.x - self.x).abs(), (p.z - self.z).abs());
        if self.power == 2.0 {
            return (dx * dx + dz * dz).sqrt() - self.radius;
        }
        (dx.powf(self.power) + dz.powf(self.power)).powf(1.0 / self.power) - self.radius
    }
}

/// A relief of the sheet, prepared for evaluation at many points.
#[derive(Debug, Clone)]
struct Lift {
    at: FieldDrawing,
    /// Height by which the skin is raised; negative if it is sunk.
    height: f32,
    /// Width of the ramp.
    ramp: f32,
    form: ReliefForm,
    /// Distance outside the curve at which the ramp begins.
    grow: f32,
    /// Length before the limits, along the axis of view of the drawing, over which the relief
    /// fades.
    fade: f32,
}

impl Lift {
    fn new(relief: &SkinRelief, length: f32, height: f32) -> Self {
        let at = FieldDrawing::new(&relief.at, length, height);
        let reach = match relief.at.view {
            DrawnIn::Front => at.range[1],
            DrawnIn::Rear => length - at.range[0],
            DrawnIn::Side | DrawnIn::Top => 0.0,
        };
        let (ramp, longest) = match relief.form {
            ReliefForm::Soft => {
                let gentle = (RELIEF_GENTLE * relief.height.abs()).min(RELIEF_RAMP_RATIO * at.narrowest());
                (relief.ramp.max(gentle), RELIEF_FADE_M)
            }
            ReliefForm::Bevel => (relief.ramp.max(2.0 * BEVEL_EDGE_M), BEVEL_FADE_M),
        };
        let fade = (reach * RELIEF_FADE_RATIO).min(relief.fade.unwrap_or(longest)).max(ramp);
        Self { at, height: relief.height, ramp, form: relief.form, grow: relief.grow, fade }
    }

    /// Returns the distance outside the curve up to which the relief changes the skin.
    fn outset(&self) -> f32 {
        match self.form {
            ReliefForm::Soft => self.grow,
            ReliefForm::Bevel => self.grow + BEVEL_EDGE_M,
        }
    }

    /// Returns the height by which the skin is raised, from the distances to the curve and to the
    /// limits of the relief ([`Lift::distances`]).
    fn raised(&self, curve: f32, beyond: f32) -> f32 {
        let ratio = (self.grow - curve) / self.ramp;
        let ratio = match self.form {
            ReliefForm::Soft => step(ratio),
            ReliefForm::Bevel => {
                let k = BEVEL_EDGE_M / self.ramp;
                smooth_min(smooth_max(ratio, 0.0, k), 1.0, k)
            }
        };
        self.height * ratio * step(-beyond / self.fade)
    }

    /// Returns the distances to the curve and to the limits of the relief, negative inside, or
    /// `None` beyond the limits. `at` is in sheet space, and `bowed` is the same point with the bow
    /// removed.
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
    plan: SampledCurve,
    belt: SampledCurve,
    section: SampledCurve,
    sill: f32,
    bow_front: f32,
    bow_rear: f32,
    bow_reach: f32,
    crown: SampledCurve,
    k_top: f32,
    k_front: f32,
    k_rear: f32,
    /// Front and rear haunch.
    haunches: [f32; 2],
    waist: f32,
    rise: f32,
    swell: f32,
    ridges: Vec<Ridge>,
    bonnet_lines: Vec<BonnetLine>,
    /// Heights between which the lines of the bonnet rise from nothing to their full height.
    line_z: [f32; 2],
    flank_lines: Vec<FlankLine>,
    greenhouse: DistanceGrid,
    greenhouse_width: SampledCurve,
    tumblehome: f32,
    tumblehome_growth: f32,
    greenhouse_crown: f32,
    windscreen_bow: f32,
    backlight_bow: f32,
    /// Start, middle and end of the greenhouse in x.
    greenhouse_x: [f32; 3],
    k_rail: SampledCurve,
    k_body: SampledCurve,
    k_body_most: f32,
    /// Smallest and largest (x, z) of the greenhouse's profile.
    greenhouse_box: [Vec2; 2],
    lifts: Vec<Lift>,
    solids: Vec<SolidField>,
    /// x of the header's rear edge if the car is open.
    open_header: Option<f32>,
}

/// Distances from an axle towards that end of the car: a bumper begins at the first (which lies
/// between the axles) and is whole from the second on.
const BUMPER_FROM_AXLE_M: [f32; 2] = [-0.05, 0.42];
/// Height on the flank (0 is the sill, 1 the belt) below which the side of a bumper is upright.
const BUMPER_UPRIGHT: f32 = 0.36;
/// Distance by which a bumper (front, rear) is wider than drawn on each side, as a ratio of half
/// the width, because the corners of real bumpers hide the tyres. It holds up to
/// [`BUMPER_UPRIGHT`].
const BUMPER_OUT_RATIO: [f32; 2] = [0.018, 0.045];
/// Height on the flank above [`BUMPER_UPRIGHT`] over which that width fades out (0 is the sill, 1
/// the belt).
const BUMPER_FADE: f32 = 0.34;
/// Heights above the sill for the lower edge of a bumper: below the first its blend is smaller by
/// [`BUMPER_FOOT_SHARPER`], above the second it is that of the bumper's corners.
const BUMPER_FOOT_M: [f32; 2] = [0.02, 0.28];
/// Ratio by which the blend of a bumper's lower edge is smaller than that of its corners.
const BUMPER_FOOT_SHARPER: f32 = 0.6;

/// Cell of the grids of distances to the profiles.
const PROFILE_GRID_M: f32 = 0.01;
/// Length over which plan and width of the greenhouse are averaged, because a curve drawn by a
/// handful of points is not fair between them.
const FAIRING_M: f32 = 0.14;
/// Length over which the section of the flank is averaged. Its curvature has to spread
/// over its whole height.
const SECTION_FAIRING_M: f32 = 0.32;
/// Factor by which the flank is rounder from sill to belt than drawn. Sheets draw walls, and a wall
/// mirrors one thing from the wheels to the windows, without the gradient that a door has.
const SECTION_CROWN: f32 = 1.7;
/// Heights on the flank (0 is the sill, 1 the belt) for `rise`, which moves the section up or down
/// along the car. The section is moved by the whole amount between the second and the third, by
/// less towards the first and the fourth, and not at all beyond these.
const MOVED_HEIGHTS: [f32; 4] = [-0.1, 0.4, 0.6, 1.1];
/// Positions along the car for `swell`, which changes how round the section is; -0.83 is the front
/// axle, 0.83 the rear axle. The change is whole between the second and the third and fades out to
/// the first and the fourth, so that the section is as drawn at the bumpers.
const SWOLLEN: [f32; 4] = [-0.95, -0.75, 0.75, 0.95];
/// Width of the strip around a wheel arch that flares out towards the edge.
pub const ARCH_FLANGE_M: f32 = 0.026;
/// Distance by which the edge of a wheel arch flares out.
const ARCH_FLANGE_OUT_M: f32 = 0.005;
/// Half length of a haunch, as a ratio of the wheelbase: the haunch begins and ends this far from
/// its axle.
const HAUNCH_REACH: f32 = 0.54;
/// Height on the flank (0 is the sill, 1 the belt) at which a haunch stands out most, and the
/// height above and below over which it runs out, for the front and the rear haunch.
const HAUNCH_HEIGHTS: [[f32; 2]; 2] = [[0.62, 0.8], [0.78, 0.85]];
/// Heights up to which the waist is as deep as at the sill, and from which on there is none.
const WAIST_HEIGHT: [f32; 2] = [0.0, 1.0];
/// Height on the nose at which lines of the bonnet begin, as a ratio from the underside of the
/// bumper (0) to the edge of the bonnet (1). Lines do not begin lower, because bumpers are
/// straight.
const LINE_FOOT: f32 = 0.5;
/// Growth of the crown of the bonnet from the windscreen to the nose, as a ratio of the drawn
/// crown. The crown begins at 0.7 of the drawn one and grows steadily, so no two sections are the
/// same, and none mirrors a single spot.
const NOSE_CROWN: f32 = 1.2;
/// Distance behind the front of the greenhouse at which that growth begins.
const UNDER_SCREEN_M: f32 = 0.25;
/// Crown of the roof in its middle, as a ratio of the drawn crown.
const ROOF_CROWN: f32 = 0.7;
/// Growth of the roof's crown from its middle to its ends, as a ratio of the drawn crown.
const CROWN_GROWTH: f32 = 0.65;
/// Length over which a relief fades, as a ratio of the length between the end of the car and the
/// relief's limit, for reliefs drawn from the front or the rear. A bumper's step that runs round
/// the corner has to end softly, not in an upright edge in front of the wheel.
const RELIEF_FADE_RATIO: f32 = 0.5;
/// Maximum length over which a soft relief fades, if the sheet does not give one.
const RELIEF_FADE_M: f32 = 0.3;
/// Minimum width of a soft ramp, as a multiple of its height, so that light follows the ramp
/// without a break.
const RELIEF_GENTLE: f32 = 3.4;
/// Limit of that minimum, as a ratio of the relief's shorter side.
const RELIEF_RAMP_RATIO: f32 = 0.25;
/// Approximate radius of the edges of a bevel.
const BEVEL_EDGE_M: f32 = 0.004;
/// Maximum length over which a bevel fades, in front of a wheel for instance, if the sheet does not
/// give one.
const BEVEL_FADE_M: f32 = 0.09;
/// Width of a bevel below which its two edges run into each other. Triangles are then cut along the
/// middle of the bevel instead of along both edges.
const NARROW_BEVEL_M: f32 = 0.0125;
/// Approximate width of the strips of triangles that a soft ramp is cut into. A ramp has 2 to 4.
const RAMP_PIECE_M: f32 = 0.013;
/// Factor on the square of the depth (in metres, from 0.04 m below the belt on) by which the sides
/// of the greenhouse lean inwards in addition, in 1/m. Without it they would dent the doors from
/// inside.
const TUCK_PER_M: f32 = 10.0;
/// Maximum amount by which a grid of distances may be too small.
const SPLINE_ERROR_M: f32 = 0.002;

impl BodyField {
    /// Creates the body without the lines of its flank, which `flank_lines` draws on it.
    /// `sheet_stance` and `real` hold the axles of the sheet and of the vehicle; `arches` are in
    /// real space.
    pub fn new(sheet: &Sheet, sheet_stance: Stance, real: Stance, arches: [Arch; 2]) -> Self {
        let size = sheet.size;
        let body = &sheet.body;
        let house = &sheet.greenhouse;
        let (profile, roof) = sheet.side_outlines();
        let k_body = SampledCurve::drawn(&house.k_body);
        let middle = roof.points().iter().max_by(|a, b| a.y.total_cmp(&b.y)).map_or(0.0, |p| p.x);
        let belt = SampledCurve::drawn(&body.belt);
        let flank_height = (belt.at(0.5 * size.length) - body.sill).max(0.2);
        let (bonnet_lines, ridges) = bonnet_lines::drawn(sheet, roof.bounds().0.x);
        let lift = |relief: &SkinRelief| Lift::new(relief, size.length, size.height);
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
            plan: SampledCurve::drawn(&body.plan).faired(FAIRING_M),
            belt,
            section: SampledCurve::drawn(&body.section).convex().faired(SECTION_FAIRING_M / flank_height),
            sill: body.sill,
            bow_front: body.bow_front,
            bow_rear: body.bow_rear,
            bow_reach: body.bow_reach,
            crown: SampledCurve::drawn(&body.crown),
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
            greenhouse_width: SampledCurve::drawn(&house.width).faired(FAIRING_M),
            tumblehome: house.tumblehome,
            tumblehome_growth: house.tumblehome_growth,
            greenhouse_crown: house.crown,
            windscreen_bow: house.windscreen_bow,
            backlight_bow: house.backlight_bow,
            greenhouse_x: [roof.bounds().0.x, middle, roof.bounds().1.x],
            k_rail: SampledCurve::drawn(&house.k_rail),
            k_body_most: k_body.highest(),
            k_body,
            greenhouse_box: roof.bounds().into(),
            lifts: sheet.relief.iter().chain(&sheet.front.relief).chain(&sheet.rear.relief).map(lift).collect(),
            solids: sheet.solid.iter().map(|s| SolidField::new(s, sheet)).collect(),
            open_header: house.open.as_ref().map(|open| open.header),
        }
    }

    /// Adds lines to the flank.
    pub fn with_flank_lines(mut self, lines: Vec<FlankLine>) -> Self {
        self.flank_lines = lines;
        self
    }

    /// Returns the field of the whole body at a point in real space.
    pub fn at(&self, p: Vec3) -> f32 {
        let body = self.body(p);
        let place = self.greenhouse_place(&body);
        // Far from the greenhouse, which is most of the skin, the result is that of the lower body
        // alone to the last digit.
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

    /// Returns the field, over real space, of a solid that is meshed by itself. `index` is its
    /// position in the sheet's list.
    pub fn solid_at(&self, index: usize, p: Vec3) -> f32 {
        let at = self.in_sheet(p);
        let (body_x, _) = self.bowed_x(at);
        self.solids[index].distance(at, Vec3::new(body_x, at.y, at.z))
    }

    /// Returns the bounds of a solid in sheet space.
    pub fn solid_bounds(&self, index: usize) -> (Vec3, Vec3) {
        self.solids[index].at.bounds()
    }

    /// Returns the field of a cut, negative inside the space that it takes away. `index` is the
    /// position of the solid in the sheet's list.
    pub fn cut_at(&self, index: usize, sheets: &SurfacePoint) -> f32 {
        self.solids[index].distance(sheets.at, Vec3::new(sheets.body_x, sheets.at.y, sheets.at.z))
    }

    fn in_sheet(&self, p: Vec3) -> Vec3 {
        let q = self.morph.to_sheet(p);
        Vec3::new(q.x, q.y.abs(), q.z)
    }

    /// Returns x with the bow removed, and the ratio of the bow.
    fn bowed_x(&self, q: Vec3) -> (f32, f32) {
        let u = (q.y / self.half_width).min(1.3);
        let u2 = u * u;
        let g = u2 * (0.55 + 0.45 * u2);
        let front = 1.0 - step(q.x / self.bow_reach);
        let rear = 1.0 - step((self.length - q.x) / self.bow_reach);
        (q.x - self.bow_front * g * front + self.bow_rear * g * rear, g)
    }

    pub fn surface_point(&self, p: Vec3) -> SurfacePoint {
        let body = self.body(p);
        let place = self.greenhouse_place(&body);
        let [greenhouse_profile, greenhouse_side] = self.greenhouse_sheets(&body, place);
        SurfacePoint {
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

    fn body(&self, p: Vec3) -> BodyPoint {
        let q = self.in_sheet(p);
        let u = (q.y / self.half_width).min(1.3);
        let u2 = u * u;
        let (body_x, g) = self.bowed_x(q);
        let belt = self.belt.at(q.x);

        let from = self.greenhouse_x[0].max(0.1) + UNDER_SCREEN_M;
        let crown = self.crown.at(q.x) * (0.7 + NOSE_CROWN * growing(1.0 - q.x / from));
        let mut profile_z = q.z + crown * u2 * step((q.z - self.sill) / 0.45);
        for ridge in &self.ridges {
            // The ridge of the other side counts as well where both meet in the middle.
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
        BodyPoint { at: q, belt, x: body_x, across: g, u2, distance: smooth_max(profile, side, k) }
    }

    /// Returns (x, z) in the greenhouse's own centre plane, with bow and crown removed.
    fn greenhouse_place(&self, body: &BodyPoint) -> Vec2 {
        let (q, g) = (body.at, body.across);
        let [start, middle, end] = self.greenhouse_x;
        let to_front = 1.0 - step((q.x - start) / (middle - start).max(0.1));
        let to_rear = 1.0 - step((end - q.x) / (end - middle).max(0.1));
        let greenhouse_x = q.x - self.windscreen_bow * g * to_front + self.backlight_bow * g * to_rear;
        // The roof is rounder towards screen and backlight than over the front seats.
        let ends =
            growing((middle - q.x) / (middle - start).max(0.1)) + growing((q.x - middle) / (end - middle).max(0.1));
        let crown = self.greenhouse_crown * (ROOF_CROWN + CROWN_GROWTH * ends);
        Vec2::new(greenhouse_x, q.z + crown * body.u2)
    }

    /// Returns the distances to the profile and to the side of the greenhouse.
    fn greenhouse_sheets(&self, body: &BodyPoint, place: Vec2) -> [f32; 2] {
        let above = body.at.z - body.belt;
        let below = (above + 0.04).min(0.0);
        let lean =
            self.tumblehome * above * (1.0 + self.tumblehome_growth * above.max(0.0)) + TUCK_PER_M * below * below;
        let side = body.at.y - (self.greenhouse_width.at(body.at.x) * self.half_width - lean);
        [self.greenhouse.distance(place), side]
    }

    /// Returns the half width of the flank at one point.
    fn flank(&self, p: Vec3, q: Vec3, belt: f32) -> f32 {
        let t = ((q.z - self.sill) / (belt - self.sill).max(0.2)).clamp(-0.6, 1.4);
        let bumper = self.is_bumper(q.x);
        // Bumpers stand upright where doors are drawn in towards the sill.
        let upright = t + bumper * (t.max(BUMPER_UPRIGHT) - t);
        let mut y = self.plan.at(q.x) * self.half_width - self.inset(q.x, upright);
        y += self.sweep(q.x, t);
        let [front_out, rear_out] = BUMPER_OUT_RATIO;
        let out = if q.x < 0.5 * self.length { front_out } else { rear_out };
        y += out * self.half_width * bumper * (1.0 - step((t - BUMPER_UPRIGHT) / BUMPER_FADE));
        if self.lip_height > 0.0 && q.z < self.hub_z * 4.0 {
            // An arch is at least as far away as it is along x, and that takes no root to compute.
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

    /// Returns how much a position along the car belongs to a bumper: from 0 at the axles to 1 at
    /// the outer edges of the wheel arches and beyond.
    fn is_bumper(&self, x: f32) -> f32 {
        let [front, rear] = self.axles;
        let beyond = (front - x).max(x - rear);
        step((beyond - BUMPER_FROM_AXLE_M[0]) / (BUMPER_FROM_AXLE_M[1] - BUMPER_FROM_AXLE_M[0]))
    }

    /// Returns how far the section lies inside the plan at `x` and at the ratio `t` of its height.
    /// The section is not constant: from axle to axle it moves up, so that light runs diagonally
    /// over the doors, and it gets rounder.
    fn inset(&self, x: f32, t: f32) -> f32 {
        let [front, rear] = self.axles;
        let s = ((2.0 * x - front - rear) / (rear - front)).clamp(-1.4, 1.4);
        let s = s - s * s * s * (1.0 / 5.88);
        let t = t - 0.5 * self.rise * s * plateau(t, MOVED_HEIGHTS);
        SECTION_CROWN * (1.0 + self.swell * s * plateau(s, SWOLLEN)) * self.section.at(t)
    }

    /// Returns how far the flank stands out at `x` and at the ratio `t` of its height, by the
    /// haunches over the wheels and the waist between them. They run into each other, so that no
    /// two sections of a body are the same.
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

    /// True if a point of the skin may lie on a line of the bonnet: on the lower body, above
    /// the middle of the nose.
    pub fn is_on_bonnet(&self, sheets: &SurfacePoint) -> bool {
        sheets.body < 0.05 && sheets.at.z > self.line_z[0]
    }

    /// True if a point of the skin lies on the crest of a flank line, on an edge of the bonnet or
    /// on the ramp of a relief. Triangles are cut along all of these.
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

    /// True if a point of the skin lies on the bevel of a relief, which is cut
    /// into triangles of its own.
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

    /// Returns the distances outside a relief's curve at which the skin turns along its ramp.
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

    /// Returns how far a point lies outside the curve and the limits of a relief.
    pub fn outside_relief(&self, relief: usize, sheets: &SurfacePoint) -> f32 {
        let at = &self.lifts[relief].at;
        at.outside(if at.bowed { Vec3::new(sheets.body_x, sheets.at.y, sheets.at.z) } else { sheets.at })
    }

    /// Returns y of the skin as seen from the side at real (x, z), if there is any.
    pub fn skin_y(&self, x: f32, z: f32) -> Option<f32> {
        let outside = self.half_width / self.morph.to_sheet(Vec3::Y).y * 1.15;
        self.first_inside(Vec3::new(x, outside, z), -Vec3::Y, outside).map(|p| p.y)
    }

    /// Returns z of the skin as seen from above at real (x, y), if there is any.
    pub fn skin_z(&self, x: f32, y: f32) -> Option<f32> {
        let above = self.morph.to_real(Vec3::new(0.0, 0.0, self.height)).z + 0.1;
        self.first_inside(Vec3::new(x, y, above), -Vec3::Z, above).map(|p| p.z)
    }

    /// Returns x of the skin as seen from the front or the rear at real (y, z), if there is any
    /// within 0.85 m of that end.
    pub fn skin_x(&self, y: f32, z: f32, from_rear: bool) -> Option<f32> {
        let tail = self.morph.to_real(Vec3::X * self.length).x;
        let (start, way) = if from_rear { (tail + 0.05, -Vec3::X) } else { (-0.05, Vec3::X) };
        self.first_inside(Vec3::new(start, y, z), way, 0.9).map(|p| p.x)
    }

    /// Returns the outward unit normal of the skin.
    pub fn normal(&self, p: Vec3) -> Vec3 {
        let n = super::surface_net::gradient(&|p| self.at(p), p);
        let n = if p.y == 0.0 { Vec3::new(n.x, 0.0, n.z) } else { n };
        n.normalize_or(Vec3::Z)
    }

    /// Returns the point where a ray of this length enters the body.
    pub fn hit(&self, from: Vec3, way: Vec3, length: f32) -> Option<Vec3> {
        self.first_inside(from, way, length)
    }

    /// Returns the first point of a ray that lies in the body.
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
            // Far from the skin the field is a lower bound of the distance.
            last_step = step_m.max(value * 0.35);
            along += last_step;
        }
        None
    }
}

impl SolidField {
    fn new(solid: &super::sheet::DrawnSolid, sheet: &Sheet) -> Self {
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

/// Returns nearly 0 far below 0 and nearly `t` far above it, with a smooth transition: a value that
/// grows steadily from a position on.
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
