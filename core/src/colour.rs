//! The fifteen preset paint colours. The word in the API is `color`.

crate::named_enum! {
    /// A preset paint by its name.
    #[derive(Default)]
    pub enum Colour {
        White = "white", Black = "black", Gray = "gray" | "grey",
        #[default]
        Silver = "silver",
        Blue = "blue", Red = "red", Green = "green", Brown = "brown", Beige = "beige", Tan = "tan", Orange = "orange",
        Yellow = "yellow", Gold = "gold", Burgundy = "burgundy", Purple = "purple",
    }
}

impl Colour {
    /// The sRGB colour that menus show for the preset, as `#rrggbb`. The paint itself (flakes,
    /// clear coat) is defined in the render node.
    pub const fn hex(self) -> &'static str {
        match self {
            Colour::White => "#f4f4f2",
            Colour::Black => "#0d0d0f",
            Colour::Gray => "#6b6e72",
            Colour::Silver => "#c3c6c9",
            Colour::Blue => "#1f4e9e",
            Colour::Red => "#b3131b",
            Colour::Green => "#2f5d3a",
            Colour::Brown => "#5a3d2b",
            Colour::Beige => "#d6c8ab",
            Colour::Tan => "#b0895a",
            Colour::Orange => "#dd5f12",
            Colour::Yellow => "#f0c419",
            Colour::Gold => "#b8923f",
            Colour::Burgundy => "#5e1224",
            Colour::Purple => "#4a2a6b",
        }
    }

    /// [`Colour::hex`] as three sRGB bytes.
    pub fn srgb(self) -> [u8; 3] {
        crate::paint::srgb_of_hex(&self.hex()[1..]).expect("the table above holds six hex digits each")
    }
}
