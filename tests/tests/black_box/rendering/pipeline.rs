//! The whole pipeline with the real render node: geometry, G-buffer, diffusion, paint, encoding,
//! delivery.

use std::time::Duration;

use cyclorama_tests::likeness::ssim;
use cyclorama_tests::service::has_ended;
use cyclorama_tests::{DatabaseChoice, Options, Service};
use image::RgbaImage;
use reqwest::StatusCode;
use sha2::Digest;

/// Time limit of a real render on a slow machine, the first one with a cold start of everything.
const PATIENCE: Duration = Duration::from_secs(180);

async fn picture(service: &Service, customer: &cyclorama_tests::service::Customer, query: &str) -> RgbaImage {
    let answer = service.get(customer, &format!("/api/v1/images/car?{query}")).timeout(PATIENCE).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK, "{query}: {}", service.log());
    image::load_from_memory(&answer.bytes().await.unwrap()).unwrap().to_rgba8()
}

/// Mean sRGB of the pixels that are surely vehicle and most likely paint: the upper half of the
/// covered area.
fn mean_colour(picture: &RgbaImage) -> [f64; 3] {
    let (mut sum, mut count) = ([0.0; 3], 0.0);
    for pixel in picture.pixels().filter(|p| p.0[3] == 255) {
        for (total, channel) in sum.iter_mut().zip(pixel.0) {
            *total += f64::from(channel);
        }
        count += 1.0;
    }
    sum.map(|total| total / count)
}

/// Left, top, right and bottom of all pixels that are nearly opaque.
fn bounds(picture: &RgbaImage) -> (u32, u32, u32, u32) {
    let solid = picture.enumerate_pixels().filter(|(_, _, p)| p.0[3] > 250);
    solid.fold((u32::MAX, u32::MAX, 0, 0), |(l, t, r, b), (x, y, _)| (l.min(x), t.min(y), r.max(x), b.max(y)))
}

/// Compares an image with the one in `tests/goldens`, both at 256 px. `CYCLORAMA_UPDATE_GOLDENS=1`
/// writes it again. An image that differs is written beside the expected one.
fn assert_like_golden(picture: &RgbaImage, name: &str) {
    let small = image::imageops::resize(picture, 256, 256, image::imageops::FilterType::Triangle);
    let file = cyclorama_tests::package_file(&format!("goldens/{name}.png"));
    if std::env::var_os("CYCLORAMA_UPDATE_GOLDENS").is_some() {
        small.save(&file).unwrap();
    }
    let golden = image::open(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display())).to_rgba8();
    let likeness = ssim(&small, &golden);
    if likeness < 0.98 {
        small.save(file.with_extension("actual.png")).unwrap();
    }
    assert!(likeness >= 0.98, "{name} has SSIM {likeness:.4} with its golden picture; see {name}.actual.png beside it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_car_from_a_real_pipeline() {
    let service = Service::start_with(DatabaseChoice::Sqlite, Options::default().with_embedded_node()).await.unwrap();
    let customer = service.customer(50).unwrap();

    let red = picture(&service, &customer, "make=porsche&model=911&year=2024&view=front-3-4&color=red").await;
    assert_eq!(red.dimensions(), (1024, 1024));
    let corners = [(0, 0), (1023, 0), (0, 1023), (1023, 1023)];
    for (x, y) in corners {
        assert_eq!(red.get_pixel(x, y).0[3], 0, "the background is transparent");
    }
    let (left, top, right, bottom) = bounds(&red);
    assert!(right - left > 800, "the car fills the frame: {left}..{right}");
    assert!(left > 4 && right < 1019 && top > 4 && bottom < 1019, "nothing is cut off");
    let [r, g, b] = mean_colour(&red);
    assert!(r > g + 25.0 && r > b + 25.0, "red is red: {r:.0} {g:.0} {b:.0}");

    assert_like_golden(&red, "porsche-911-front-3-4-red");

    // Another colour of the same light: the same shape to the pixel, another hue.
    let blue = picture(&service, &customer, "make=porsche&model=911&year=2024&view=front-3-4&color=blue").await;
    let different_alpha = red.pixels().zip(blue.pixels()).filter(|(a, b)| a.0[3] != b.0[3]).count();
    assert_eq!(different_alpha, 0, "alpha does not depend on paint");
    let [r, _, b] = mean_colour(&blue);
    assert!(b > r + 15.0, "blue is blue");

    // The two sides are mirror silhouettes (the light is not symmetric, the shape is).
    let side = picture(&service, &customer, "make=porsche&model=911&year=2024&view=side&color=white").await;
    let right = picture(&service, &customer, "make=porsche&model=911&year=2024&view=side-right&color=white").await;
    assert_like_golden(&side, "porsche-911-side-white");
    let mirrored = image::imageops::flip_horizontal(&right);
    let covered = |p: &image::Rgba<u8>| p.0[3] > 250;
    let (mut both, mut either) = (0u32, 0u32);
    for (a, b) in side.pixels().zip(mirrored.pixels()) {
        both += u32::from(covered(a) && covered(b));
        either += u32::from(covered(a) || covered(b));
    }
    assert!(f64::from(both) / f64::from(either) > 0.98, "{both} of {either}");
    // The 911's roof peaks well before its tail, and its nose, which is to the left, is lower than
    // its tail.
    let height_at = |x: u32| (0..1024).find(|y| covered(side.get_pixel(x, *y))).unwrap_or(1024);
    let (l, _, r, _) = bounds(&side);
    let (nose, tail) = (height_at(l + (r - l) / 12), height_at(r - (r - l) / 12));
    assert!(nose > tail, "nose to the left: nose top at {nose}, tail top at {tail}");
    assert_eq!(service.balance(&customer).await.unwrap(), 46);
}

/// Views and bodies that the 911 does not show, which a person judged to be good.
const JUDGED: [(&str, &str, u16, &str, &str); 4] = [
    ("ford", "f-150", 2020, "front-3-4", "blue"),
    ("jeep", "wrangler", 2019, "rear", "orange"),
    ("volkswagen", "golf", 2018, "front", "yellow"),
    ("ford", "transit", 2019, "rear-3-4", "white"),
];

#[tokio::test(flavor = "multi_thread")]
async fn other_bodies_look_as_they_were_judged() {
    let service = Service::start_with(DatabaseChoice::Sqlite, Options::default().with_embedded_node()).await.unwrap();
    let customer = service.customer(50).unwrap();
    for (make, model, year, view, colour) in JUDGED {
        let query = format!("make={make}&model={model}&year={year}&view={view}&color={colour}");
        let seen = picture(&service, &customer, &query).await;
        assert_like_golden(&seen, &format!("{make}-{model}-{view}-{colour}"));
    }
}

/// The built-in model with as many steps as a scheduler may have.
fn slow_models() -> tempfile::TempDir {
    let models = tempfile::tempdir().unwrap();
    let built_in = cyclorama_tests::package_file("../models/builtin");
    let read = |name: &str| -> serde_json::Value {
        serde_json::from_slice(&std::fs::read(built_in.join(name)).unwrap()).unwrap()
    };
    let (mut lock, mut scheduler) = (read("cyclorama.lock.json"), read(SCHEDULER));
    scheduler["num_inference_steps"] = 50.into();
    scheduler.as_object_mut().unwrap().remove("timesteps");
    let scheduler = scheduler.to_string();
    for file in lock["files"].as_array_mut().unwrap() {
        let name = file["path"].as_str().unwrap();
        let to = models.path().join("builtin").join(name);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        if name == SCHEDULER {
            std::fs::write(to, &scheduler).unwrap();
            file["bytes"] = scheduler.len().into();
            file["sha256"] = hex::encode(sha2::Sha256::digest(&scheduler)).into();
        } else {
            std::fs::copy(built_in.join(name), to).unwrap();
        }
    }
    std::fs::write(models.path().join("builtin/cyclorama.lock.json"), lock.to_string()).unwrap();
    models
}

const SCHEDULER: &str = "scheduler/scheduler_config.json";

#[tokio::test(flavor = "multi_thread")]
async fn a_render_that_nobody_waits_for_any_more_stops_between_two_steps() {
    let models = slow_models();
    // The diffusion takes several times as long as everything before it. On a busy machine the time
    // may be over before it begins; then the test is repeated with twice the time.
    for wait_seconds in [4, 8, 16, 32, 64] {
        let options = Options::default()
            .with_embedded_node()
            .set("CYCLORAMA_MODELS", models.path().display())
            .set("CYCLORAMA_RENDER_WAIT_SECONDS", wait_seconds)
            .set("CYCLORAMA_HEARTBEAT_SECONDS", 1)
            // The service renders no examples.
            .set("CYCLORAMA_BUDGET_EXAMPLE_PERCENT", 0);
        let service = Service::start_with(DatabaseChoice::Sqlite, options).await.unwrap();
        let customer = service.customer(1).unwrap();
        until_logged(&service, "the engine is ready").await;

        let query = "/api/v1/images/car?make=ford&model=transit&year=2019";
        let answer = service.get(&customer, query).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(service.balance(&customer).await.unwrap(), 1);
        until_logged(&service, "job cancelled").await;
        let log = service.log();
        assert!(!log.contains("job done"), "{log}");
        let ended: Vec<&str> = log
            .lines()
            .filter(|line| line.contains("a render was cancelled because no request waits for it"))
            .collect();
        assert_eq!(ended.len(), 1, "{log}");
        if ended[0].contains("\"stage\":\"diffusion\"") {
            return;
        }
    }
    panic!("the render never came to the diffusion before the time was up");
}

/// Waits until the log has the message.
async fn until_logged(service: &Service, message: &str) {
    for _ in 0..PATIENCE.as_secs() * 4 {
        if service.log().contains(message) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    panic!("no {message} in {}", service.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_embedded_node_does_not_outlive_a_killed_service() {
    let mut service =
        Service::start_with(DatabaseChoice::Sqlite, Options::default().with_embedded_node()).await.unwrap();
    let customer = service.customer(5).unwrap();
    picture(&service, &customer, "make=porsche&model=911&year=2024&view=rear").await;
    // The engine is busy again when the node is stopped.
    let query = "/api/v1/images/car?make=ford&model=mustang&year=2020";
    assert!(service.get(&customer, query).timeout(Duration::from_millis(700)).send().await.is_err());
    let node = service.children();
    assert_eq!(node.len(), 1);
    service.kill();
    for _ in 0..50 {
        if has_ended(node[0]) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the node still runs five seconds after its service was killed");
}
