//! The six camera views.

crate::named_enum! {
    /// One of the six camera views. The camera stands still, and the vehicle is turned by
    /// [`View::yaw_degrees`].
    #[derive(Default)]
    pub enum View {
        Front = "front",
        /// Front and driver's side (left-hand drive, so the vehicle's left side).
        #[default]
        FrontThreeQuarter = "front-3-4" | "front34" | "hero",
        /// Side profile, nose pointing left in the image.
        Side = "side" | "side-left" | "profile",
        /// Side profile, nose pointing right in the image.
        SideRight = "side-right" | "side-r",
        Rear = "rear" | "back",
        /// Rear and driver's side.
        RearThreeQuarter = "rear-3-4" | "rear34",
    }
}

impl View {
    /// Rotation of the vehicle about the vertical axis, in degrees. At 0 the camera sees the
    /// nose, at 90 the left side.
    pub const fn yaw_degrees(self) -> u32 {
        match self {
            View::Front => 0,
            View::FrontThreeQuarter => 35,
            View::Side => 90,
            View::SideRight => 270,
            View::Rear => 180,
            View::RearThreeQuarter => 145,
        }
    }

    pub const fn label(self) -> &'static str {
        match self {
            View::Front => "Front",
            View::FrontThreeQuarter => "Front three-quarter",
            View::Side => "Side",
            View::SideRight => "Side, facing right",
            View::Rear => "Rear",
            View::RearThreeQuarter => "Rear three-quarter",
        }
    }

    pub const fn description(self) -> &'static str {
        match self {
            View::Front => "straight-on front",
            View::FrontThreeQuarter => "front and driver's side",
            View::Side => "side profile, nose pointing left",
            View::SideRight => "side profile, nose pointing right",
            View::Rear => "straight-on rear",
            View::RearThreeQuarter => "rear and driver's side",
        }
    }
}
