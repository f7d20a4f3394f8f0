//! The quick start of the README: saves an image to a file.

use cyclorama_client::{Client, Color, Picture};

#[tokio::main]
async fn main() -> Result<(), cyclorama_client::Error> {
    let client = Client::from_environment()?;
    let red_civic = Picture { color: Some(Color::Red), ..Picture::new("honda", "civic", 2018) };
    let image = client.save_car_image("civic.png", &red_civic).await?;
    let [width, charged, left] =
        [image.width, image.credits_charged, image.credits_remaining].map(Option::unwrap_or_default);
    println!("{width} px, {charged} credit, {left} left");
    Ok(())
}
