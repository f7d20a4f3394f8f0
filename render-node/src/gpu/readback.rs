//! Results from the device to memory. The one place that knows about row padding.

use super::{Gpu, GpuError};

/// What `take` makes of the bytes of `buffer`, whose usage includes what [`Gpu::readable`] says. Waits for everything submitted before.
pub fn read_buffer<T>(
    gpu: &Gpu,
    buffer: &wgpu::Buffer,
    during: &'static str,
    take: impl FnOnce(&[u8]) -> T,
) -> Result<T, GpuError> {
    if buffer.usage().contains(wgpu::BufferUsages::MAP_READ) {
        return map(gpu, buffer, during, take);
    }
    let staging = staging(gpu, buffer.size());
    let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("read-back") });
    encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, buffer.size());
    gpu.queue.submit([encoder.finish()]);
    map(gpu, &staging, during, take)
}

/// The texels of level 0 of a 2D texture, row by row without padding.
pub fn read_texture(gpu: &Gpu, texture: &wgpu::Texture, during: &'static str) -> Result<Vec<u8>, GpuError> {
    let texel = texture
        .format()
        .block_copy_size(None)
        .ok_or_else(|| GpuError::Rejected { during, detail: format!("{:?} cannot be copied", texture.format()) })?;
    let row = texture.width() * texel;
    let padded = row.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let staging = staging(gpu, u64::from(padded) * u64::from(texture.height()));
    let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("read-back") });
    encoder.copy_texture_to_buffer(
        texture.as_image_copy(),
        wgpu::TexelCopyBufferInfo {
            buffer: &staging,
            layout: wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(padded), rows_per_image: None },
        },
        wgpu::Extent3d { width: texture.width(), height: texture.height(), depth_or_array_layers: 1 },
    );
    gpu.queue.submit([encoder.finish()]);
    map(gpu, &staging, during, |bytes| unpadded(bytes, row as usize, padded as usize))
}

fn staging(gpu: &Gpu, size: u64) -> wgpu::Buffer {
    gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("read-back staging"),
        size,
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    })
}

fn map<T>(
    gpu: &Gpu,
    staging: &wgpu::Buffer,
    during: &'static str,
    take: impl FnOnce(&[u8]) -> T,
) -> Result<T, GpuError> {
    let (sender, receiver) = std::sync::mpsc::channel();
    staging.map_async(wgpu::MapMode::Read, .., move |result| {
        let _ = sender.send(result);
    });
    gpu.wait(during)?;
    let lost = |reason: String| GpuError::Lost { during, reason };
    match receiver.try_recv() {
        Ok(Ok(())) => {}
        Ok(Err(error)) => return Err(lost(error.to_string())),
        Err(error) => return Err(lost(error.to_string())),
    }
    let taken = take(&staging.get_mapped_range(..).map_err(|error| lost(error.to_string()))?);
    staging.unmap();
    Ok(taken)
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
