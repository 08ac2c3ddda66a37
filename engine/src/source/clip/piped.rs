//! Frames from the program ffmpeg: it writes them as PPM images, which say their size.

use std::{
    io::{self, BufRead, BufReader, Read as _},
    path::Path,
    process::{Command, Stdio},
    thread,
};

use super::ClipError;
use crate::output::{Image, ffmpeg};

/// Longest side of a frame in pixels.
const LONGEST_SIDE: u32 = 16_384;

/// Hands over the first frames of a clip, upright and with square pixels, and returns their number.
pub(super) fn read(
    program: &Path,
    path: &Path,
    rate: Option<f32>,
    end: Option<u32>,
    mut take: impl FnMut(u32, Image),
) -> Result<u32, ClipError> {
    let failed = |cause| ClipError::Read { path: path.to_owned(), cause };
    let mut filters = vec!["scale=iw*sar:ih".to_owned(), "setsar=1".to_owned()];
    filters.extend(rate.map(|rate| format!("fps={rate}")));
    let mut command = Command::new(program);
    command.args(["-hide_banner", "-nostdin", "-loglevel", "error", "-i"]).arg(path);
    command.args(["-map", "0:v:0", "-an", "-vf", &filters.join(",")]);
    if rate.is_none() {
        command.args(["-fps_mode", "passthrough"]);
    }
    if let Some(end) = end {
        command.args(["-frames:v", &end.to_string()]);
    }
    command.args(["-f", "image2pipe", "-c:v", "ppm", "-pix_fmt", "rgb24", "pipe:1"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = command.spawn().map_err(failed)?;
    let (output, complaints) = (running.stdout.take(), running.stderr.take());
    let (count, said) = thread::scope(|scope| {
        let listener = scope.spawn(move || {
            let mut said = Vec::new();
            complaints.map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut said)).map(|_| said)
        });
        let count: io::Result<u32> = output.map_or(Ok(0), |pipe| {
            let mut pipe = BufReader::new(pipe);
            let mut count = 0;
            while let Some(frame) = read_image(&mut pipe)? {
                take(count, frame);
                count += 1;
            }
            Ok(count)
        });
        (count, listener.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into())))
    });
    let status = running.wait().map_err(failed)?;
    let said = said.map_err(failed)?;
    match count {
        Ok(count) if status.success() => Ok(count),
        _ => Err(ClipError::Ffmpeg { path: path.to_owned(), detail: ffmpeg::shortened(&said) }),
    }
}

/// The next image in a pipe, or `None` at its end.
fn read_image(pipe: &mut impl BufRead) -> io::Result<Option<Image>> {
    if pipe.fill_buf()?.is_empty() {
        return Ok(None);
    }
    // `P6`, width, height, 255, each with one blank after it.
    let mut header = [0; 4];
    for (place, number) in header.iter_mut().enumerate() {
        let mut word = Vec::new();
        loop {
            let mut byte = [0];
            pipe.read_exact(&mut byte)?;
            if byte[0].is_ascii_whitespace() {
                break;
            }
            word.push(byte[0]);
            if word.len() > 8 {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
        let text = String::from_utf8_lossy(&word);
        let digits = if place == 0 { text.strip_prefix('P') } else { Some(&*text) };
        *number = digits.and_then(|digits| digits.parse().ok()).ok_or(io::ErrorKind::InvalidData)?;
    }
    let [6, width, height, 255] = header else { return Err(io::ErrorKind::InvalidData.into()) };
    if width.max(height) > LONGEST_SIDE || width.min(height) == 0 {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut pixels = vec![0; 3 * width as usize * height as usize];
    pipe.read_exact(&mut pixels)?;
    Ok(Some(Image::opaque(width, height, pixels)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_follow_each_other() {
        let mut pipe: &[u8] = b"P6\n1 2\n255\nabcdefP6\n1 1\n255\n \n\t";
        let first = read_image(&mut pipe).unwrap().unwrap();
        assert_eq!((first.width, first.height, first.pixels), (1, 2, b"abcdef".to_vec()));
        assert_eq!(read_image(&mut pipe).unwrap().unwrap().pixels, b" \n\t");
        assert!(read_image(&mut pipe).unwrap().is_none());
        for damaged in
            [&b"P5\n1 1\n255\nabc"[..], b"P6\n0 1\n255\n", b"P6\n99999 1\n255\n", b"P6\n1 1\n255\nab", b"P"]
        {
            assert!(read_image(&mut &*damaged).is_err());
        }
    }
}
