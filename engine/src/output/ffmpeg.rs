//! The program ffmpeg, if it is on the PATH: it writes the codecs that Sluice has no encoder for.

use std::{
    env,
    ffi::OsString,
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

use tempfile::NamedTempFile;

use super::{
    Clip, Codec, Image, OutputError, a1111,
    chunks::MADE_OF,
    file::{Existing, folder_of, persist, temporary_file, write_error},
    made_of::About,
};

/// What ffmpeg says when the disk is full.
const DISK_FULL: &str = "No space left on device";
/// Longest part of its messages that is repeated.
const LONGEST_MESSAGE: usize = 400;

/// The program, if it is on the PATH.
pub(crate) fn find() -> Option<PathBuf> {
    let name = format!("ffmpeg{}", env::consts::EXE_SUFFIX);
    env::split_paths(&env::var_os("PATH")?)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(&name))
        .find(|program| program.is_file())
}

/// Its complaint, short enough to show.
pub(crate) fn shortened(message: &[u8]) -> String {
    let message = String::from_utf8_lossy(message);
    let lines: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("; ").chars().take(LONGEST_MESSAGE).collect()
}

/// Writes a clip with a codec.
pub(super) fn write(
    path: &Path,
    clip: &Clip,
    first: &Image,
    about: About<'_>,
    codec: Codec,
    existing: Existing,
) -> Result<(), OutputError> {
    let program = find().ok_or(OutputError::NoFfmpeg { codec })?;
    let failed = |cause| write_error(path, cause);
    let file = temporary_file(folder_of(path)).map_err(failed)?;
    let mut tags = NamedTempFile::new().map_err(failed)?;
    tags.write_all(metadata(about).map_err(failed)?.as_bytes()).map_err(failed)?;
    let mut command = Command::new(program);
    command
        .args(arguments(path, clip.rate, [first.width, first.height], codec, tags.path()))
        .arg(file.path())
        .env("SVT_LOG", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut running = command.spawn().map_err(failed)?;
    let (input, complaints) = (running.stdin.take(), running.stderr.take());
    // Both pipes are served at once, so that none of them fills up.
    let (written, said) = thread::scope(|scope| {
        let listener = scope.spawn(move || {
            let mut said = Vec::new();
            complaints.map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut said)).map(|_| said)
        });
        let written = input.map_or(Ok(()), |mut pipe| {
            clip.frames.iter().try_for_each(|frame| pipe.write_all(&frame.pixels))
        });
        let said = listener.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()));
        (written, said)
    });
    let status = running.wait().map_err(failed)?;
    let said = said.map_err(failed)?;
    if !status.success() {
        let detail = shortened(&said);
        return Err(if detail.contains(DISK_FULL) {
            OutputError::DiskFull { path: path.to_owned() }
        } else {
            OutputError::Ffmpeg { path: path.to_owned(), detail }
        });
    }
    written.map_err(failed)?;
    persist(file, path, existing)
}

/// Everything but the name of the file.
fn arguments(path: &Path, rate: f32, size: [u32; 2], codec: Codec, tags: &Path) -> Vec<OsString> {
    let [width, height] = size;
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let container = match extension.as_str() {
        "mkv" => "matroska",
        other => other,
    };
    let (encoder, pixels): (&[&str], _) = match codec {
        Codec::H264 => (&["libx264", "-crf", "18"], "yuv420p"),
        Codec::H265 => (&["libx265", "-crf", "20", "-x265-params", "log-level=error"], "yuv420p"),
        Codec::ProRes => (&["prores_ks", "-profile:v", "3", "-vendor", "apl0"], "yuv422p10le"),
        Codec::Av1 => (&["libsvtav1", "-crf", "28", "-preset", "6"], "yuv420p"),
    };
    // These formats have half as many columns of colour.
    let filter =
        format!("pad=ceil(iw/2)*2:ceil(ih/2)*2,scale=out_color_matrix=bt709:out_range=tv,format={pixels}");
    let (size, rate) = (format!("{width}x{height}"), rate.to_string());
    let mut arguments: Vec<&str> =
        "-hide_banner -nostdin -loglevel error -y -f rawvideo -pixel_format rgb24 -video_size"
            .split(' ')
            .collect();
    arguments.extend([&size, "-framerate", &rate, "-i", "pipe:0", "-f", "ffmetadata", "-i"]);
    let mut all: Vec<OsString> = arguments.iter().map(OsString::from).collect();
    all.push(tags.into());
    let mut arguments: Vec<&str> =
        "-map 0:v -map_metadata 1 -fflags +bitexact -flags:v +bitexact -vf".split(' ').collect();
    arguments.extend([filter.as_str(), "-c:v"]);
    arguments.extend(encoder);
    arguments.extend("-colorspace bt709 -color_primaries bt709 -color_trc bt709 -color_range tv".split(' '));
    if matches!(container, "mp4" | "mov") {
        arguments.extend(["-movflags", "+faststart+use_metadata_tags"]);
        if codec == Codec::H265 {
            arguments.extend(["-tag:v", "hvc1"]);
        }
    }
    arguments.extend(["-f", container]);
    all.extend(arguments.iter().map(OsString::from));
    all
}

/// The settings, or the mark of what it was made of, in the form that ffmpeg reads.
fn metadata(about: About<'_>) -> io::Result<String> {
    let mut text = ";FFMETADATA1\n".to_owned();
    let mut tags: Vec<_> = about.mark()?.map(|mark| (MADE_OF, mark)).into_iter().collect();
    if let Some(settings) = about.settings {
        let parameters = a1111::write(settings);
        tags.extend([("parameters", parameters.clone()), ("comment", parameters)]);
        tags.push(("sluice", settings.to_json()?));
    }
    for (name, value) in tags {
        text.push_str(name);
        text.push('=');
        for character in value.chars().filter(|character| *character != '\0') {
            if matches!(character, '=' | ';' | '#' | '\\' | '\n') {
                text.push('\\');
            }
            text.push(character);
        }
        text.push('\n');
    }
    Ok(text)
}
