//! A typical vehicle of each body class, for contact sheets, previews and the doctor's self-test.

use cyclorama_core::{BodyClass, Dimensions, Vehicle, VehicleType};

/// Returns a passenger vehicle of the class with everyday dimensions.
pub fn typical(body: BodyClass) -> Vehicle {
    let (length_mm, width_mm, height_mm, wheelbase_mm) = match body {
        BodyClass::Sedan => (4710, 1830, 1440, 2850),
        BodyClass::Hatchback => (4280, 1790, 1460, 2630),
        BodyClass::Coupe => (4520, 1850, 1300, 2450),
        BodyClass::Fastback => (4690, 1850, 1440, 2875),
        BodyClass::Convertible => (4400, 1790, 1280, 2400),
        BodyClass::Wagon => (4750, 1830, 1480, 2840),
        BodyClass::Suv => (4600, 1860, 1670, 2690),
        BodyClass::OffRoader => (4240, 1880, 1840, 2460),
        BodyClass::Pickup => (5890, 2030, 1960, 3680),
        BodyClass::Van => (5530, 2060, 2530, 3300),
        BodyClass::Minivan => (5150, 1990, 1780, 3030),
        BodyClass::Truck => (7200, 2400, 2900, 4200),
        BodyClass::Bus => (12000, 2550, 3200, 6000),
        BodyClass::Motorcycle => (2150, 800, 1150, 1450),
        BodyClass::Scooter => (1900, 720, 1130, 1340),
        BodyClass::Trailer => (6000, 2200, 2400, 3000),
        BodyClass::Rickshaw => (2700, 1350, 1750, 2000),
        BodyClass::Other => (4500, 1800, 1500, 2700),
    };
    let vehicle_type = match body {
        BodyClass::Motorcycle | BodyClass::Scooter => VehicleType::Motorcycle,
        BodyClass::Truck => VehicleType::Truck,
        BodyClass::Bus => VehicleType::Bus,
        BodyClass::Rickshaw => VehicleType::AutoRickshaw,
        BodyClass::Suv | BodyClass::Minivan | BodyClass::OffRoader => VehicleType::Mpv,
        BodyClass::Trailer | BodyClass::Other => VehicleType::Other,
        _ => VehicleType::PassengerCar,
    };
    let dimensions = Dimensions { length_mm, width_mm, height_mm, wheelbase_mm, front_track_mm: width_mm * 85 / 100 };
    Vehicle { make: "typical".to_owned(), model: body.as_str().to_owned(), year: 2024, vehicle_type, body, dimensions }
}
