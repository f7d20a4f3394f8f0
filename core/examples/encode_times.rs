//! Prints how long it takes to decode, resize and encode a master with the current settings, and
//! how large the file becomes, for every size preset and format.
//!
//!     cargo run --release -p cyclorama-core --example encode_times -- MASTER.png ...

use cyclorama_core::encoding::{decode_master, derive, encode, resize};
use cyclorama_core::{Format, SizePreset};
use std::time::Instant;

fn fastest_ms<T>(runs: usize, mut work: impl FnMut() -> T) -> (T, f64) {
    let mut best: Option<(T, f64)> = None;
    for _ in 0..runs {
        let start = Instant::now();
        let made = work();
        let ms = start.elapsed().as_secs_f64() * 1e3;
        if best.as_ref().is_none_or(|(_, fastest)| ms < *fastest) {
            best = Some((made, ms));
        }
    }
    best.expect("at least one run")
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path)?;
        let (master, ms) = fastest_ms(5, || decode_master(&bytes, 1024));
        let master = master?;
        println!("{path}\ndecode {ms:.1} ms");
        for size in SizePreset::ALL {
            let side = size.side_px();
            let (small, ms) = fastest_ms(5, || resize(&master, side, side));
            let small = small?;
            print!("{side:>5} px  resize {ms:>5.1} ms");
            for format in Format::ALL {
                let (encoded, ms) = fastest_ms(5, || encode(&small, *format));
                print!("   {format} {ms:>5.1} ms {:>7} bytes", encoded?.len());
            }
            println!();
        }
        derive(&master, 300, 300, Format::Png)?;
    }
    Ok(())
}
