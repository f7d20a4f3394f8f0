//! Copies results from the device to memory. No other module knows about row padding.

use super::{Gpu, GpuError};
use std::sync::mpsc::{Receiver, sync_channel};

/// A buffer whose bytes have been requested.
#[derive(Debug)]
pub struct PendingReadback {
    mapped: wgpu::Buffer,
    after: wgpu::SubmissionIndex,
    answer: Receiver<Result<(), wgpu::BufferAsyncError>>,
}

/// Submits `encoder` and requests the bytes that `buffer` has after it. The usage of `buffer` must
/// include [`Gpu::readable`]. Later submissions do not delay the bytes, and must not use the
/// buffer.
pub fn ask_for(gpu: &Gpu, mut encoder: wgpu::CommandEncoder, buffer: &wgpu::Buffer) -> PendingReadback {
    let mapped = if buffer.usage().contains(wgpu::BufferUsages::MAP_READ) {
        buffer.clone()
    } else {
        let staging = staging(gpu, buffer.size());
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, buffer.size());
        staging
    };
    let after = gpu.queue.submit([encoder.finish()]);
    // The channel carries one answer.
    let (sender, answer) = sync_channel(1);
    mapped.map_async(wgpu::MapMode::Read, .., move |result| {
        let _ = sender.send(result);
    });
    PendingReadback { mapped, after, answer }
}

impl PendingReadback {
    /// Waits for the bytes and returns what `take` makes of them.
    pub fn take<T>(self, gpu: &Gpu, during: &'static str, take: impl FnOnce(&[u8]) -> T) -> Result<T, GpuError> {
        gpu.wait_for(self.after, during)?;
        let lost = |reason: String| GpuError::Lost { during, reason };
        match self.answer.try_recv() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(lost(error.to_string())),
            Err(error) => return Err(lost(error.to_string())),
        }
        let taken = take(&self.mapped.get_mapped_range(..).map_err(|error| lost(error.to_string()))?);
        self.mapped.unmap();
        Ok(taken)
    }
}

/// Returns what `take` makes of the bytes of `buffer`, whose usage must include [`Gpu::readable`].
/// Waits for everything submitted before.
pub fn read_buffer<T>(
    gpu: &Gpu,
    buffer: &wgpu::Buffer,
    during: &'static str,
    take: impl FnOnce(&[u8]) -> T,
) -> Result<T, GpuError> {
    ask_for(gpu, encoder(gpu), buffer).take(gpu, during, take)
}

fn encoder(gpu: &Gpu) -> wgpu::CommandEncoder {
    gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("read-back") })
}

/// Returns the texels of level 0 of a 2D texture, row by row without padding.
pub fn read_texture(gpu: &Gpu, texture: &wgpu::Texture, during: &'static str) -> Result<Vec<u8>, GpuError> {
    let texel = texture
        .format()
        .block_copy_size(None)
        .ok_or_else(|| GpuError::Rejected { during, detail: format!("{:?} cannot be copied", texture.format()) })?;
    let row = texture.width() * texel;
    let padded = row.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let staging = staging(gpu, u64::from(padded) * u64::from(texture.height()));
    let mut encoder = encoder(gpu);
    encoder.copy_texture_to_buffer(
        texture.as_image_copy(),
        wgpu::TexelCopyBufferInfo {
            buffer: &staging,
            layout: wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(padded), rows_per_image: None },
        },
        wgpu::Extent3d { width: texture.width(), height: texture.height(), depth_or_array_layers: 1 },
    );
    let unpadded = |bytes: &[u8]| unpadded(bytes, row as usize, padded as usize);
    ask_for(gpu, encoder, &staging).take(gpu, during, unpadded)
}

fn staging(gpu: &Gpu, size: u64) -> wgpu::Buffer {
    gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("read-back staging"),
        size,
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    })
}

fn unpadded(bytes: &[u8], row: usize, padded: usize) -> Vec<u8> {
    bytes.chunks_exact(padded).flat_map(|line| &line[..row]).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_lose_their_padding_and_nothing_else() {
        assert_eq!(unpadded(&[1, 2, 3, 0, 4, 5, 6, 0], 3, 4), [1, 2, 3, 4, 5, 6]);
        assert_eq!(unpadded(&[1, 2, 3, 4], 2, 2), [1, 2, 3, 4]);
    }
}
