//! The rim designs as numbers: how many blades, how wide, how they lean. Widths are shares of the rim's opening radius,
//! angles shares of the pitch between repeats, so a design fits every rim size.

use super::Motif;

/// One blade of a repeat, from the hub (share 0) to the edge (share 1).
pub(super) struct Blade {
    /// Half widths at the hub, in the middle, at the edge.
    half_widths: [f32; 3],
    /// Where its centre line lies at the hub, in the middle, at the edge; shares of the pitch.
    offsets: [f32; 3],
    /// A blade may begin or stop on the way.
    pub start: f32,
    pub end: f32,
    /// Never wider than this share of the pitch, so that neighbours stay apart.
    pub widest_share_of_pitch: f32,
}

impl Blade {
    const fn straight(half_widths: [f32; 3], offsets: [f32; 3]) -> Blade {
        Blade { half_widths, offsets, start: 0.0, end: 1.0, widest_share_of_pitch: 1.0 }
    }

    pub fn half_width(&self, share: f32) -> f32 {
        through(self.half_widths, share)
    }

    pub fn offset(&self, share: f32) -> f32 {
        through(self.offsets, share)
    }
}

/// The parabola through values at 0, 1/2 and 1.
fn through([a, b, c]: [f32; 3], t: f32) -> f32 {
    a * (1.0 - t) * (1.0 - 2.0 * t) + 4.0 * b * t * (1.0 - t) + c * t * (2.0 * t - 1.0)
}

pub(super) struct Design {
    pub repeats: usize,
    pub blades: Vec<Blade>,
    /// Hub radius as a share of the opening.
    pub hub_share: f32,
    pub nuts: usize,
    /// Depth of the flanks, chamfer of the edges, height of the crown; metres.
    pub depth: f32,
    pub chamfer: f32,
    pub crown: f32,
    /// Height difference from the middle to one side of a blade: turbines.
    pub slant: f32,
    /// How the face rises from the hub to the edge: 1 straight, above 1 late.
    pub face_curve: f32,
    /// A ring over the blades, from and to shares of the opening.
    pub ring: Option<[f32; 2]>,
    pub edge_bolts: usize,
    /// Points along a blade.
    pub stations: usize,
}

impl Design {
    pub fn of(motif: Motif) -> Design {
        let plain = Design {
            repeats: 5,
            blades: Vec::new(),
            hub_share: 0.34,
            nuts: 5,
            depth: 0.030,
            chamfer: 0.0035,
            crown: 0.001,
            slant: 0.0,
            face_curve: 1.5,
            ring: None,
            edge_bolts: 0,
            stations: 9,
        };
        match motif {
            Motif::FiveSpoke => Design {
                blades: vec![Blade::straight([0.175, 0.115, 0.170], [0.0; 3])],
                crown: 0.004,
                chamfer: 0.005,
                ..plain
            },
            Motif::DoubleFive => Design {
                blades: vec![
                    Blade::straight([0.065, 0.052, 0.072], [-0.175, -0.135, -0.150]),
                    Blade::straight([0.065, 0.052, 0.072], [0.175, 0.135, 0.150]),
                ],
                ..plain
            },
            Motif::YSpoke => Design {
                blades: vec![
                    Blade::straight([0.085, 0.050, 0.062], [0.0, -0.045, -0.235]),
                    Blade::straight([0.085, 0.050, 0.062], [0.0, 0.045, 0.235]),
                ],
                hub_share: 0.30,
                ..plain
            },
            Motif::SixSpoke => Design {
                repeats: 6,
                blades: vec![Blade::straight([0.135, 0.105, 0.155], [0.0; 3])],
                hub_share: 0.38,
                nuts: 6,
                crown: 0.003,
                chamfer: 0.005,
                ..plain
            },
            Motif::TenSpoke => {
                Design { repeats: 10, blades: vec![Blade::straight([0.075, 0.056, 0.076], [0.0; 3])], ..plain }
            }
            Motif::MultiSpoke => Design {
                repeats: 18,
                blades: vec![Blade::straight([0.036, 0.030, 0.042], [0.0; 3])],
                depth: 0.024,
                chamfer: 0.0025,
                ..plain
            },
            Motif::TwinTwisted => Design {
                repeats: 7,
                blades: vec![
                    Blade::straight([0.046, 0.036, 0.046], [-0.20, -0.02, 0.02]),
                    Blade::straight([0.046, 0.036, 0.046], [0.10, 0.16, 0.36]),
                ],
                chamfer: 0.003,
                ..plain
            },
            Motif::Steel => Design {
                repeats: 8,
                // A narrow rib between windows, and a closed belt further in and further out.
                blades: vec![
                    Blade::straight([0.155, 0.070, 0.210], [0.0; 3]),
                    Blade { end: 0.40, widest_share_of_pitch: 1.02, ..Blade::straight([0.5; 3], [0.0; 3]) },
                    Blade { start: 0.78, widest_share_of_pitch: 1.02, ..Blade::straight([0.6; 3], [0.0; 3]) },
                ],
                hub_share: 0.42,
                depth: 0.018,
                chamfer: 0.002,
                face_curve: 0.75,
                stations: 6,
                ..plain
            },
            Motif::Cover => Design {
                repeats: 9,
                blades: vec![
                    Blade { widest_share_of_pitch: 0.80, ..Blade::straight([0.20, 0.215, 0.24], [0.0, 0.0, 0.0]) },
                    Blade { start: 0.90, widest_share_of_pitch: 1.02, ..Blade::straight([0.6; 3], [0.0; 3]) },
                ],
                hub_share: 0.42,
                nuts: 0,
                depth: 0.014,
                crown: 0.004,
                face_curve: 1.2,
                ..plain
            },
            Motif::OffRoad => Design {
                repeats: 6,
                blades: vec![Blade { end: 0.98, ..Blade::straight([0.150, 0.125, 0.195], [0.0; 3]) }],
                hub_share: 0.40,
                nuts: 6,
                depth: 0.040,
                chamfer: 0.006,
                crown: 0.002,
                face_curve: 2.2,
                ring: Some([0.92, 1.0]),
                edge_bolts: 18,
                ..plain
            },
            Motif::Aero => Design {
                repeats: 5,
                blades: vec![
                    Blade { widest_share_of_pitch: 0.90, ..Blade::straight([0.6, 0.6, 0.6], [0.0, 0.06, 0.20]) },
                    Blade { end: 0.55, widest_share_of_pitch: 1.02, ..Blade::straight([0.6; 3], [0.0, 0.02, 0.06]) },
                ],
                hub_share: 0.26,
                nuts: 0,
                depth: 0.014,
                crown: 0.005,
                chamfer: 0.004,
                face_curve: 1.3,
                ring: Some([0.955, 1.0]),
                stations: 11,
                ..plain
            },
            Motif::Turbine => Design {
                repeats: 12,
                blades: vec![Blade {
                    widest_share_of_pitch: 0.86,
                    ..Blade::straight([0.060, 0.080, 0.110], [0.0, 0.12, 0.42])
                }],
                slant: 0.006,
                depth: 0.026,
                ..plain
            },
        }
    }
}
