//! Frames: four bytes of length, big-endian, and the body.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The longest body that is taken, in bytes.
pub const MAX_FRAME: usize = 1 << 20;

/// Reads a frame. `None` means that the peer has nothing more to send.
pub async fn read_frame<R>(reader: &mut R) -> io::Result<Option<Vec<u8>>>
where
    R: AsyncRead + Unpin,
{
    let length = match reader.read_u32().await {
        Ok(length) => length,
        Err(err) if err.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(err) => return Err(err),
    };
    let mut body = vec![0; length as usize];
    reader.read_exact(&mut body).await?;
    if body.len() > MAX_FRAME {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("a frame of {length} bytes, more than {MAX_FRAME}"),
        ));
    }
    Ok(Some(body))
}

/// Writes a frame.
pub async fn write_frame<W>(writer: &mut W, body: &[u8]) -> io::Result<()>
where
    W: AsyncWrite + Unpin,
{
    let length = u32::try_from(body.len())
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "the frame is too long"))?;
    writer.write_u32(length).await?;
    writer.write_all(body).await?;
    writer.flush().await
}
