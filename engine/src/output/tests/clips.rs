//! Clips in every format: what is written, what is read back, and what is refused.

use std::{fs, io::Write as _, path::Path};

use proptest::prelude::*;
use tempfile::TempDir;

use super::{DAY, pixels, settings};
use crate::output::{
    Clip, Codec, Image, Media, Origin, Output, OutputError, fallback_folder,
    h264::Sps,
    mp4::{self, child, children, full},
    read_settings, write_media,
};

/// A gradient with a square that moves two pixels per frame.
fn frame(width: u32, height: u32, number: u32) -> Image {
    let pixel = |x: u32, y: u32| {
        let inside = (2 * number..2 * number + 8).contains(&x) && (4..12).contains(&y);
        if inside { [200, 40, 30] } else { [(x * 200 / width) as u8 + 20, (y * 200 / height) as u8 + 20, 90] }
    };
    let pixels = (0..height).flat_map(|y| (0..width).map(move |x| pixel(x, y))).flatten().collect();
    Image::opaque(width, height, pixels)
}

fn clip(width: u32, height: u32, frames: u32, rate: f32) -> Media {
    Media::Clip(Clip::silent((0..frames).map(|number| frame(width, height, number)).collect(), rate))
}

fn write(path: &Path, media: &Media) {
    write_media(path, media, &settings("a boat, \"日本\"", "fog"), Codec::H264).unwrap();
}

/// The box at the end of a path in the file's `moov`.
fn moov(path: &Path) -> Vec<u8> {
    let mut file = fs::File::open(path).unwrap();
    let found = mp4::top_boxes(&mut file).unwrap();
    let kinds: Vec<_> = found.boxes.iter().map(|found| &found.kind).collect();
    assert_eq!(kinds, [b"ftyp", b"moov", b"mdat"]);
    mp4::read_box(&mut file, found.boxes[1], 1 << 20).unwrap()
}

const TABLES: [&[u8; 4]; 4] = [b"trak", b"mdia", b"minf", b"stbl"];

#[test]
fn every_format_gives_the_settings_back_and_the_same_bytes() {
    let folder = TempDir::new().unwrap();
    for name in ["a.mp4", "a.m4v", "a.webp", "a.gif", "a.png"] {
        let path = folder.path().join(name);
        let media = clip(48, 32, 5, 12.0);
        write(&path, &media);
        let restored = read_settings(&path).unwrap();
        assert_eq!(restored.origin, Origin::Sluice, "{name}");
        assert_eq!(restored.settings, settings("a boat, \"日本\"", "fog"), "{name}");
        let bytes = fs::read(&path).unwrap();
        write(&path, &media);
        assert!(bytes == fs::read(&path).unwrap(), "{name}");
    }
    let frames = folder.path().join("frames");
    write(&frames, &clip(48, 32, 5, 12.0));
    for number in 1..=5 {
        let path = frames.join(format!("frame-0000{number}.png"));
        assert_eq!(read_settings(&path).unwrap().settings, settings("a boat, \"日本\"", "fog"));
        let read = image::open(&path).unwrap().into_rgb8();
        assert_eq!(read.into_raw(), frame(48, 32, number - 1).pixels);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 6, "nothing else is left");
}

#[test]
fn an_mp4_says_what_players_need() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.mp4");
    write(&path, &clip(80, 48, 30, 12.5));
    let moov = moov(&path);
    let stbl = child(&moov, &TABLES).unwrap();
    let stsd = full(child(stbl, &[b"stsd"]).unwrap()).unwrap().1;
    let avc1 = child(&stsd[4..], &[b"avc1"]).unwrap();
    let boxes = &avc1[78..];
    let avcc = child(boxes, &[b"avcC"]).unwrap();
    assert_eq!(avcc[1], 100, "High");
    let length = usize::from(u16::from_be_bytes([avcc[6], avcc[7]]));
    let sps = &avcc[8..8 + length];
    assert_eq!(avcc[1..4], sps[1..4]);
    let read = Sps::parse(sps).unwrap();
    assert_eq!((read.width, read.height, read.chroma, read.depth), (80, 48, 1, 8));
    assert_eq!((read.matrix, read.full_range, read.interlaced), (1, false, false));
    assert_eq!(child(boxes, &[b"colr"]).unwrap(), b"nclx\0\x01\0\x01\0\x01\0");
    let stts = full(child(stbl, &[b"stts"]).unwrap()).unwrap().1;
    assert_eq!(stts, [0, 0, 0, 1, 0, 0, 0, 30, 0, 0, 3, 232]);
    let mdhd = child(&moov, &[b"trak", b"mdia", b"mdhd"]).unwrap();
    assert_eq!(u32::from_be_bytes(mdhd[12..16].try_into().unwrap()), 12_500);
    let keys = full(child(stbl, &[b"stss"]).unwrap()).unwrap().1;
    assert_eq!(keys, [0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 25]);
    // The first sample is where the table says: a length and a unit of a keyframe.
    let stco = full(child(stbl, &[b"stco"]).unwrap()).unwrap().1;
    let first = u32::from_be_bytes(stco[4..8].try_into().unwrap()) as usize;
    assert_eq!(fs::read(&path).unwrap()[first + 4] & 31, 5);
}

#[test]
fn texts_are_where_other_programs_look() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.mp4");
    write(&path, &clip(32, 32, 2, 8.0));
    let moov = moov(&path);
    let udta = child(&moov, &[b"udta"]).unwrap();
    let handlers: Vec<_> = children(udta, b"meta").map(|meta| meta[20..24].to_owned()).collect();
    assert_eq!(handlers, [b"mdta", b"mdir"]);
    let texts = mp4::tags::read_tags(&moov);
    let names: Vec<_> = texts.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["parameters", "comment", "sluice", "\u{A9}cmt", "\u{A9}too"]);
    assert!(texts[0].1.starts_with("a boat, \"日本\"\nNegative prompt: fog\nSteps: 12, "), "{}", texts[0].1);
    assert_eq!((&texts[0].1, &texts[0].1), (&texts[1].1, &texts[3].1));
    assert!(texts[4].1.starts_with("Sluice "));
}

#[test]
fn odd_sizes_are_padded_and_say_so() {
    let folder = TempDir::new().unwrap();
    for (width, height) in [(33, 17), (1, 1), (16, 31)] {
        let path = folder.path().join("odd.mp4");
        write(&path, &clip(width, height, 3, 8.0));
        let moov = moov(&path);
        let stsd = full(child(child(&moov, &TABLES).unwrap(), &[b"stsd"]).unwrap()).unwrap().1;
        let avc1 = child(&stsd[4..], &[b"avc1"]).unwrap();
        let coded = [24, 26].map(|at| u32::from(u16::from_be_bytes([avc1[at], avc1[at + 1]])));
        assert_eq!(coded, [width.next_multiple_of(2), height.next_multiple_of(2)]);
        let clap = child(&avc1[78..], &[b"clap"]).unwrap();
        let shown = [0, 8].map(|at| u32::from_be_bytes(clap[at..at + 4].try_into().unwrap()));
        assert_eq!(shown, [width, height]);
    }
}

#[test]
fn a_gif_and_a_webp_hold_all_frames_for_their_time() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.gif");
    write(&path, &clip(40, 24, 16, 16.0));
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(fs::File::open(&path).unwrap()).unwrap();
    let mut delays = Vec::new();
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        delays.push(frame.delay);
    }
    assert_eq!((delays.len(), delays.iter().sum::<u16>()), (16, 100), "a second: {delays:?}");

    let path = folder.path().join("a.webp");
    write(&path, &clip(40, 24, 16, 16.0));
    let bytes = fs::read(&path).unwrap();
    let frames: Vec<_> = webp_animation::Decoder::new(&bytes).unwrap().into_iter().collect();
    assert_eq!((frames.len(), frames[15].timestamp()), (16, 1000));
    assert_eq!(u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize, bytes.len() - 8);
    // One frame is a still image for the encoder.
    write(&path, &clip(40, 24, 1, 16.0));
    assert_eq!(read_settings(&path).unwrap().settings.request.prompt, "a boat, \"日本\"");
    assert_eq!(image::open(&path).unwrap().width(), 40);
}

#[test]
fn a_folder_of_frames_is_replaced_whole_and_other_files_are_safe() {
    let folder = TempDir::new().unwrap();
    let frames = folder.path().join("frames");
    write(&frames, &clip(16, 16, 4, 8.0));
    write(&frames, &clip(16, 16, 2, 8.0));
    assert_eq!(fs::read_dir(&frames).unwrap().count(), 2);
    fs::write(frames.join("notes.txt"), "mine").unwrap();
    let output = Output::File(frames.clone());
    assert!(matches!(output.prepare(true, Codec::H264), Err(OutputError::OtherFiles { .. })));
    let result = write_media(&frames, &clip(16, 16, 1, 8.0), &settings("", ""), Codec::H264);
    assert!(matches!(result, Err(OutputError::OtherFiles { .. })));
    assert_eq!(fs::read_dir(&frames).unwrap().count(), 3);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary folder is left");
}

#[test]
fn a_clip_gets_a_name_in_a_folder_and_is_kept_if_it_cannot_be_saved() {
    let folder = TempDir::new().unwrap();
    let output = Output::Folder(folder.path().to_owned());
    let save =
        |output: &Output| output.save(0, &clip(16, 16, 2, 8.0), &settings("kept", ""), Codec::H264, DAY);
    assert_eq!(save(&output).unwrap(), folder.path().join("2026-11-21-0001-7.mp4"));
    assert_eq!(save(&output).unwrap(), folder.path().join("2026-11-21-0002-7.mp4"));
    let gone = Output::File(folder.path().join("gone/a.webp"));
    let error = save(&gone).unwrap_err();
    let OutputError::KeptElsewhere { path, .. } = &error else { panic!("{error}") };
    assert!(path.starts_with(fallback_folder()) && path.extension().unwrap() == "mp4");
    assert_eq!(read_settings(path).unwrap().settings.request.prompt, "kept");
    fs::remove_file(path).unwrap();
}

#[test]
fn what_cannot_be_written_is_refused_before_the_run() {
    let folder = TempDir::new().unwrap();
    let check = |name: &str, codec| Output::File(folder.path().join(name)).prepare(true, codec).unwrap_err();
    let error = check("a.avi", Codec::H264);
    assert!(error.to_string().ends_with("a.avi does not end in .mp4, .m4v, .webp, .gif or .png"), "{error}");
    let error = check("a.mp4", Codec::ProRes);
    assert!(error.to_string().ends_with("a.mp4 does not end in .mov or .mkv"), "{error}");
    let uneven = Media::Clip(Clip::silent(vec![pixels(4, 4), pixels(4, 3)], 8.0));
    for name in ["a.mp4", "a.webp", "a.gif", "frames"] {
        let result = write_media(&folder.path().join(name), &uneven, &settings("", ""), Codec::H264);
        assert!(matches!(result, Err(OutputError::Pixels { .. })), "{name}");
    }
    let wide = Media::Clip(Clip::silent(vec![pixels(70_000, 1)], 8.0));
    for name in ["a.webp", "a.gif"] {
        let result = write_media(&folder.path().join(name), &wide, &settings("", ""), Codec::H264);
        assert!(matches!(result, Err(OutputError::ClipTooLarge { .. })), "{name}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_codec_by_ffmpeg_is_written_or_refused_in_words() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.mov");
    match write_media(&path, &clip(33, 32, 4, 8.0), &settings("a boat; #1 = \\ \n two", ""), Codec::ProRes) {
        Ok(()) => {
            let read = read_settings(&path).unwrap().settings;
            assert_eq!(read.request.prompt, "a boat; #1 = \\ \n two");
        }
        Err(error) => {
            assert!(matches!(error, OutputError::NoFfmpeg { .. } | OutputError::Ffmpeg { .. }), "{error}");
            assert!(error.advice().is_some_and(|advice| advice.starts_with("Install")));
            eprintln!("skipped: {error}");
        }
    }
}

fn any_mutation(bytes: &[u8], extension: &str, place: usize, byte: u8, length: usize) {
    let mut bytes = bytes.to_owned();
    let place = place % bytes.len();
    bytes[place] = byte;
    bytes.truncate(1 + length % bytes.len());
    let mut file = tempfile::Builder::new().suffix(extension).tempfile().unwrap();
    file.write_all(&bytes).unwrap();
    let _ = read_settings(file.path());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn any_change_of_a_file_is_an_error_or_settings(place: usize, byte: u8, cut: bool, length: usize) {
        static FILES: std::sync::OnceLock<Vec<(&str, Vec<u8>)>> = std::sync::OnceLock::new();
        let files = FILES.get_or_init(|| {
            let folder = TempDir::new().unwrap();
            [".mp4", ".webp", ".gif"].map(|extension| {
                let path = folder.path().join(format!("a{extension}"));
                write(&path, &clip(16, 16, 2, 8.0));
                (extension, fs::read(path).unwrap())
            }).to_vec()
        });
        for (extension, bytes) in files {
            let length = if cut { length } else { bytes.len() - 1 };
            // Most of the interesting bytes come first.
            any_mutation(bytes, extension, place % 3000, byte, length);
        }
    }
}
