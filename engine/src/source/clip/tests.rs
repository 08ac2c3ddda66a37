//! Clips of every kind: our own, changed by hand where our encoder does not go.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use proptest::prelude::*;
use tempfile::TempDir;

use super::{ClipError, ClipInfo, count_frames, read_clip, read_sound};
use crate::{
    output::{Clip, Codec, Image, Media, Packet, Settings, Sound, Timing, mp4::Boxes, write_media},
    request::{Fit, FrameRange, Request, SourceClip},
};

const SIZE: (u32, u32) = (16, 16);
/// How far a decoded shade may be from the encoded one.
const CLOSE: i32 = 4;

fn shade(frame: u32) -> u8 {
    (20 + 9 * frame) as u8
}

/// A clip of gray frames, each a little lighter.
fn clip_of(frames: u32, rate: f32, width: u32, height: u32) -> Vec<u8> {
    clip_with(None, frames, rate, width, height)
}

fn clip_with(sound: Option<Sound>, frames: u32, rate: f32, width: u32, height: u32) -> Vec<u8> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.mp4");
    let frame = |number| Image::opaque(width, height, vec![shade(number); (3 * width * height) as usize]);
    let media = Media::Clip(Clip { sound, ..Clip::silent((0..frames).map(frame).collect(), rate) });
    write_media(&path, &media, &Settings::new(&Request::default(), "", "", 0), Codec::H264).unwrap();
    fs::read(path).unwrap()
}

fn usual() -> &'static [u8] {
    static FILE: OnceLock<Vec<u8>> = OnceLock::new();
    FILE.get_or_init(|| clip_of(26, 10.0, 32, 16))
}

/// A file that lives as long as its folder.
struct Saved(TempDir);

impl Saved {
    fn new(bytes: &[u8]) -> Self {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("clip.mp4"), bytes).unwrap();
        Self(folder)
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("clip.mp4")
    }

    fn read(&self, range: &str, rate: Option<f32>) -> Result<Vec<Image>, ClipError> {
        let range: FrameRange = range.parse().unwrap();
        read_clip(&SourceClip { path: self.path(), range, ..SourceClip::default() }, rate, SIZE)
    }

    /// The numbers of the frames, by their shades.
    fn numbers(&self, range: &str, rate: Option<f32>) -> Vec<u32> {
        self.read(range, rate).unwrap().iter().map(number).collect()
    }
}

fn number(frame: &Image) -> u32 {
    let found = i32::from(frame.pixels[0]);
    let close = |number: &u32| (i32::from(shade(*number)) - found).abs() <= CLOSE;
    (0..26).find(close).unwrap_or_else(|| panic!("no frame has the shade {found}"))
}

/// The file with another payload for the box at a path, and the sizes around it.
fn with_box(bytes: &[u8], path: &[&[u8; 4]], payload: &[u8]) -> Vec<u8> {
    let Some((name, inner)) = path.split_first() else { return payload.to_owned() };
    // Boxes in a list of descriptions come after a version and a count, those in a description after its fields.
    let skipped = match *name {
        b"avc1" => 8,
        b"avcC" => 78,
        _ => 0,
    };
    let mut out = bytes[..skipped].to_vec();
    let mut is_done = false;
    for (kind, old) in Boxes(&bytes[skipped..]) {
        let new = if &kind == *name && !is_done { with_box(old, inner, payload) } else { old.to_owned() };
        is_done |= &kind == *name;
        out.extend((new.len() as u32 + 8).to_be_bytes());
        out.extend(kind);
        out.extend(new);
    }
    assert!(is_done, "no box {}", name.escape_ascii());
    out
}

const STBL: [&[u8; 4]; 5] = [b"moov", b"trak", b"mdia", b"minf", b"stbl"];

fn with_table(bytes: &[u8], kind: &[u8; 4], words: &[u32]) -> Vec<u8> {
    let payload: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    let mut path = STBL.to_vec();
    path.push(kind);
    with_box(bytes, &path, &payload)
}

/// The file with some bytes replaced after the first place where `before` is.
fn patched(bytes: &[u8], before: &[u8], skip: usize, new: &[u8]) -> Vec<u8> {
    let place =
        bytes.windows(before.len()).position(|window| window == before).unwrap() + before.len() + skip;
    let mut bytes = bytes.to_owned();
    bytes[place..place + new.len()].copy_from_slice(new);
    bytes
}

#[test]
fn frames_come_back_in_order_from_any_place() {
    let saved = Saved::new(usual());
    let info = ClipInfo::open(&saved.path()).unwrap().unwrap();
    assert_eq!((info.width, info.height, info.frames, info.rate), (32, 16, 26, 10.0));
    assert!(!info.has_sound && !info.needs_ffmpeg);
    assert_eq!(saved.numbers("..", None), (0..26).collect::<Vec<_>>());
    assert_eq!(saved.numbers("3..6", None), [3, 4, 5]);
    assert_eq!(saved.numbers("24..99", None), [24, 25]);
    assert_eq!(saved.numbers("..", Some(10.0)), (0..26).collect::<Vec<_>>());
    let error = saved.read("26..", None).unwrap_err();
    assert!(error.to_string().ends_with("has 26 frames, so frame 26 is not in it"), "{error}");
}

#[test]
fn another_rate_repeats_or_leaves_out_frames() {
    let saved = Saved::new(usual());
    assert_eq!(saved.numbers("0..8", Some(20.0)), [0, 0, 1, 1, 2, 2, 3, 3]);
    assert_eq!(saved.numbers("0..5", Some(5.0)), [1, 3, 5, 7, 9]);
    assert_eq!(saved.numbers("..", Some(5.0)).len(), 13);
}

#[test]
fn a_variable_rate_is_resampled_by_time() {
    // Four frames for a tenth of a second each, then four for three tenths each.
    let bytes = with_table(&clip_of(8, 10.0, 16, 16), b"stts", &[0, 2, 4, 1000, 4, 3000]);
    let saved = Saved::new(&with_first_sample(bytes));
    let expected = [0, 1, 2, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 7];
    assert_eq!(saved.numbers("..", Some(10.0)), expected);
    assert_eq!(saved.numbers("..", None), (0..8).collect::<Vec<_>>());
}

/// The tables of `clip_of(4, …)` with times of composition: the second and the third frame change places.
fn reordered() -> Vec<u8> {
    let bytes = clip_of(4, 10.0, 16, 16);
    let path = [STBL.as_slice(), &[b"stss"]].concat();
    // There is one keyframe, so its table can make room.
    let stss: Vec<u8> = [0, 1, 1].iter().flat_map(|word: &u32| word.to_be_bytes()).collect();
    let mut both = stss.clone();
    let shifts: [u32; 8] = [0, 4, 1, 0, 1, 1000, 1, (-1000_i32) as u32];
    both.extend((4 + 4 + 4 * 10_u32).to_be_bytes());
    both.extend(b"ctts");
    both.extend(shifts.iter().flat_map(|word| word.to_be_bytes()));
    both.extend([1_u32, 0].iter().flat_map(|word| word.to_be_bytes()));
    let bytes = with_box(&bytes, &path, &both);
    // The second box is beside the first one, not in it.
    let place = bytes.windows(4).position(|window| window == b"stss").unwrap() - 4;
    let mut bytes = bytes;
    bytes[place..place + 4].copy_from_slice(&(8 + stss.len() as u32).to_be_bytes());
    bytes
}

#[test]
fn frames_are_sorted_by_the_time_they_are_shown() {
    let saved = Saved::new(&with_first_sample(reordered()));
    assert_eq!(saved.numbers("..", None), [0, 2, 1, 3]);
    assert_eq!(saved.numbers("..", Some(10.0)), [0, 2, 1, 3]);
}

/// Repairs the place of the frames after boxes before them have changed their size.
fn with_first_sample(bytes: Vec<u8>) -> Vec<u8> {
    let place = bytes.windows(4).position(|window| window == b"mdat").unwrap() as u32 + 4;
    patched(&bytes, b"stco", 8, &place.to_be_bytes())
}

#[test]
fn a_rotated_clip_is_upright() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.mp4");
    // Red on the left, blue on the right.
    let row: Vec<u8> = [[250, 10, 10].repeat(32), [10, 10, 250].repeat(32)].concat();
    let frame = Image::opaque(64, 32, row.repeat(32));
    let media = Media::Clip(Clip::silent(vec![frame; 2], 8.0));
    write_media(&path, &media, &Settings::new(&Request::default(), "", "", 0), Codec::H264).unwrap();
    let bytes = fs::read(&path).unwrap();
    let [plus, minus] = [0x1_0000_i32, -0x1_0000];
    // The corners that are red: top left, top right, bottom left, bottom right.
    for (matrix, size, red) in [
        ([plus, 0, 0, 0, plus], (64, 32), [true, false, true, false]),
        ([0, plus, 0, minus, 0], (32, 64), [true, true, false, false]),
        ([minus, 0, 0, 0, minus], (64, 32), [false, true, false, true]),
        ([0, minus, 0, plus, 0], (32, 64), [false, false, true, true]),
    ] {
        let matrix: Vec<u8> = matrix.iter().flat_map(|word| word.to_be_bytes()).collect();
        let saved = Saved::new(&patched(&bytes, b"tkhd", 40, &matrix));
        let info = ClipInfo::open(&saved.path()).unwrap().unwrap();
        assert_eq!((info.width, info.height), size);
        let clip = SourceClip { path: saved.path(), fit: Fit::Stretch, ..SourceClip::default() };
        let frame = &read_clip(&clip, None, SIZE).unwrap()[0];
        let corners = [0, 15, 15 * 16, 16 * 16 - 1].map(|place| frame.pixels[3 * place] > 128);
        assert_eq!(corners, red, "{size:?}");
    }
}

#[test]
fn an_odd_size_comes_back_as_it_was() {
    let saved = Saved::new(&clip_of(3, 8.0, 33, 17));
    let info = ClipInfo::open(&saved.path()).unwrap().unwrap();
    assert_eq!((info.width, info.height), (33, 17));
    let clip = SourceClip { path: saved.path(), ..SourceClip::default() };
    let frames = read_clip(&clip, None, (33, 17)).unwrap();
    assert_eq!(frames.iter().map(number).collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn a_truncated_clip_gives_what_it_has() {
    let bytes = usual();
    let stsz = bytes.windows(4).position(|window| window == b"stsz").unwrap() + 16;
    let size = |frame: usize| u32::from_be_bytes(*bytes[stsz + 4 * frame..].first_chunk().unwrap()) as usize;
    let first = bytes.windows(4).position(|window| window == b"mdat").unwrap() + 4;
    let ten: usize = (0..10).map(size).sum();
    let saved = Saved::new(&bytes[..first + ten + 2]);
    assert_eq!(saved.numbers("0..10", None), (0..10).collect::<Vec<_>>());
    let error = saved.read("5..12", None).unwrap_err();
    assert!(error.to_string().ends_with("is incomplete: it ends after frame 10 of 26"), "{error}");
    assert!(error.advice().starts_with("Use the original file"));
    let moov = bytes.windows(4).position(|window| window == b"moov").unwrap();
    for length in [moov - 4, moov + 2, moov + 60] {
        let error = Saved::new(&bytes[..length]).read("..", None).unwrap_err();
        assert!(matches!(error, ClipError::NoIndex { .. }), "{length}: {error}");
    }
}

#[test]
fn files_without_video_or_frames_are_named() {
    let sound = Saved::new(&patched(usual(), b"hdlr", 8, b"soun"));
    assert!(matches!(sound.read("..", None), Err(ClipError::NoVideo { .. })));
    let empty = Saved::new(&with_table(usual(), b"stsz", &[0, 0, 0]));
    assert!(matches!(empty.read("..", None), Err(ClipError::NoFrames { .. })));
    assert!(matches!(ClipInfo::open(&empty.path()), Err(ClipError::NoFrames { .. })));
    let missing = SourceClip { path: "/nowhere/a.mp4".into(), ..SourceClip::default() };
    assert!(matches!(read_clip(&missing, None, SIZE), Err(ClipError::Read { .. })));
    let folder = TempDir::new().unwrap();
    let folder = SourceClip { path: folder.path().to_owned(), ..SourceClip::default() };
    assert!(matches!(read_clip(&folder, None, SIZE), Err(ClipError::NoFrames { .. })));
    assert!(matches!(ClipInfo::open(&folder.path), Err(ClipError::Read { .. })));
}

#[test]
fn a_folder_of_images_is_a_clip() {
    let folder = TempDir::new().unwrap();
    let (width, height) = SIZE;
    for number in [2_u8, 0, 1] {
        let pixels = vec![10 * number; 3 * (width * height) as usize];
        let path = folder.path().join(format!("{number:04}.PNG"));
        image::save_buffer(&path, &pixels, width, height, image::ColorType::Rgb8).unwrap();
    }
    fs::write(folder.path().join("settings.json"), "{}").unwrap();
    let clip =
        SourceClip { path: folder.path().to_owned(), range: "1..".parse().unwrap(), ..SourceClip::default() };
    let frames = read_clip(&clip, Some(16.0), SIZE).unwrap();
    assert_eq!(frames.iter().map(|frame| frame.pixels[0]).collect::<Vec<_>>(), [10, 20]);
    assert_eq!(count_frames(&clip, 16.0).unwrap(), Some(2));
    fs::write(folder.path().join("0001.png"), "no image").unwrap();
    let damaged = SourceClip { range: FrameRange::default(), ..clip };
    assert!(matches!(read_clip(&damaged, None, SIZE), Err(ClipError::Damaged { .. })));
}

/// What x264 writes for 10 bits.
const TEN_BITS: &str =
    "016e001effe1001c676e001ea6cd940d03db016a020202800000030080000010078b16cb01000668ebe3cb22c0fdfafa00";

#[test]
fn ten_bits_need_ffmpeg() {
    let hex = |place: usize| u8::from_str_radix(&TEN_BITS[2 * place..2 * place + 2], 16).unwrap();
    let avcc: Vec<u8> = (0..TEN_BITS.len() / 2).map(hex).collect();
    let path = [STBL.as_slice(), &[b"stsd", b"avc1", b"avcC"]].concat();
    let saved = Saved::new(&with_box(usual(), &path, &avcc));
    let info = ClipInfo::open(&saved.path()).unwrap().unwrap();
    assert!(info.needs_ffmpeg);
    // Where ffmpeg is installed, it finds that these are not the frames of that header.
    match saved.read("..", None).unwrap_err() {
        ClipError::NeedsFfmpeg { format, .. } => assert_eq!(format, "H.264 video with 10 bits"),
        error => assert!(matches!(error, ClipError::Ffmpeg { .. } | ClipError::NoFrames { .. }), "{error}"),
    }
}

#[test]
fn another_format_is_left_to_ffmpeg() {
    let saved = Saved::new(b"\x1A\x45\xDF\xA3 something else");
    assert_eq!(ClipInfo::open(&saved.path()).unwrap(), None);
    let error = saved.read("..", None).unwrap_err();
    assert!(matches!(error, ClipError::NeedsFfmpeg { .. } | ClipError::Ffmpeg { .. }), "{error}");
    let hevc = Saved::new(&patched(usual(), b"stsd", 12, b"hvc1"));
    assert!(ClipInfo::open(&hevc.path()).unwrap().unwrap().needs_ffmpeg);
}

/// The file as a recorder would write it: an empty list of frames, then fragments with theirs.
fn fragmented(bytes: &[u8], count: usize) -> Vec<u8> {
    let boxed = |kind: &[u8; 4], payload: &[u8]| {
        [&(payload.len() as u32 + 8).to_be_bytes()[..], kind, payload].concat()
    };
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>();
    let stsz = bytes.windows(4).position(|window| window == b"stsz").unwrap() + 16;
    let sizes: Vec<u32> =
        bytes[stsz..stsz + 4 * count].as_chunks().0.iter().map(|size| u32::from_be_bytes(*size)).collect();
    let mdat = bytes.windows(4).position(|window| window == b"mdat").unwrap() + 4;
    let moov = Boxes(bytes).find(|(kind, _)| kind == b"moov").unwrap().1;
    let mvex = boxed(b"mvex", &boxed(b"trex", &words(&[0, 1, 1, 1000, 0, 0x1_0000])));
    let moov = boxed(b"moov", &[moov, &mvex].concat());
    let mut out = [boxed(b"ftyp", b"isom\0\0\0\0"), with_table(&moov, b"stsz", &[0, 0, 0])].concat();
    let mut place = mdat;
    for (number, group) in sizes.chunks(3).enumerate() {
        let fragment = |offset: u32| {
            let tfhd = boxed(b"tfhd", &words(&[0x2_0000, 1]));
            let tfdt = boxed(b"tfdt", &words(&[0, 3000 * number as u32]));
            let first = if number == 0 { 0 } else { 0x1_0000 };
            let mut trun = vec![0x205, group.len() as u32, offset, first];
            trun.extend(group);
            boxed(b"moof", &boxed(b"traf", &[tfhd, tfdt, boxed(b"trun", &words(&trun))].concat()))
        };
        let length = fragment(0).len() as u32;
        out.extend(fragment(length + 8));
        let bytes_in_group = group.iter().sum::<u32>() as usize;
        out.extend(boxed(b"mdat", &bytes[place..place + bytes_in_group]));
        place += bytes_in_group;
    }
    out
}

#[test]
fn a_fragmented_clip_is_read() {
    let bytes = fragmented(&clip_of(8, 10.0, 16, 16), 8);
    let saved = Saved::new(&bytes);
    assert_eq!(saved.numbers("..", Some(10.0)), (0..8).collect::<Vec<_>>());
    assert_eq!(saved.numbers("5..7", None), [5, 6]);
    // A recording that stopped keeps its whole fragments.
    let second = bytes.windows(4).rposition(|window| window == b"moof").unwrap();
    let cut = Saved::new(&bytes[..second + 12]);
    assert_eq!(cut.numbers("..", None), (0..6).collect::<Vec<_>>());
}

#[test]
fn ffmpeg_sees_the_same_frames() {
    if crate::output::ffmpeg::find().is_none() {
        eprintln!("skipped: ffmpeg is not installed");
        return;
    }
    let saved = Saved::new(usual());
    let mut frames = Vec::new();
    let program = crate::output::ffmpeg::find().unwrap();
    super::piped::read(&program, &saved.path(), Some(20.0), Some(9), |_, frame| frames.push(number(&frame)))
        .unwrap();
    assert_eq!(frames.len(), 9);
    assert_eq!(frames, saved.numbers("0..9", Some(20.0)));
}

/// Without ffmpeg, which would be started for some of these files.
fn read_here(bytes: &[u8]) {
    let saved = Saved::new(bytes);
    let readable =
        |path: &Path| ClipInfo::open(path).is_ok_and(|info| info.is_some_and(|info| !info.needs_ffmpeg));
    if readable(&saved.path()) {
        let _ = saved.read("0..6", Some(12.0));
    }
}

/// AAC with a packet every 128 ms whose bytes are its number. The first packet is not heard.
fn sound(packets: u8, delay: u64) -> Sound {
    let stream = [3, 25, 0, 1, 0];
    let decoder = [4, 17, 0x40, 0x15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 2, 0x15, 0x88];
    Sound {
        channels: 1,
        rate: 8000,
        description: [&[0; 4][..], &stream, &decoder, &[6, 1, 2]].concat(),
        timescale: 8000,
        packets: (0..packets).map(|number| Packet { size: u32::from(number) + 1, duration: 1024 }).collect(),
        bytes: (0..packets).flat_map(|number| vec![number; usize::from(number) + 1]).collect(),
        timing: Timing { heard: 1024..1024 * u64::from(packets), delay },
    }
}

#[test]
fn sound_is_copied_into_the_clip_and_out_of_it() {
    for delay in [0, 4000] {
        let saved = Saved::new(&clip_with(Some(sound(20, delay)), 26, 10.0, 32, 16));
        assert!(ClipInfo::open(&saved.path()).unwrap().unwrap().has_sound);
        assert_eq!(saved.numbers("3..5", None), [3, 4]);
        assert_eq!(read_sound(&saved.path(), 0.0..10.0).unwrap(), Some(sound(20, delay)));
    }
    let saved = Saved::new(&clip_with(Some(sound(20, 4000)), 26, 10.0, 32, 16));
    assert_eq!(read_sound(&saved.path(), 0.0..0.4).unwrap(), None);
    let part = read_sound(&saved.path(), 1.0..1.5).unwrap().unwrap();
    // The packets from 0.5 to 1 s after the start, behind the one that is not heard, and two before them.
    assert_eq!(part.bytes[..3], [2; 3]);
    assert_eq!(part.packets.len(), 7);
    assert_eq!(part.timing, Timing { heard: 2976..6976, delay: 0 });
    let again = Saved::new(&clip_with(Some(part.clone()), 5, 10.0, 32, 16));
    assert_eq!(read_sound(&again.path(), 0.0..0.5).unwrap(), Some(part));
}

#[test]
fn sound_that_cannot_be_copied_is_left_out() {
    let mut other = sound(4, 0);
    other.description[11] = 0xDD; // Vorbis.
    let saved = Saved::new(&clip_with(Some(other), 4, 10.0, 16, 16));
    assert!(ClipInfo::open(&saved.path()).unwrap().unwrap().has_sound);
    assert_eq!(read_sound(&saved.path(), 0.0..1.0).unwrap(), None);
    let silent = Saved::new(usual());
    assert_eq!(read_sound(&silent.path(), 0.0..1.0).unwrap(), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn any_change_of_a_file_is_an_error_or_frames(place: usize, byte: u8, in_tables: bool) {
        static FILES: OnceLock<[Vec<u8>; 2]> = OnceLock::new();
        let files = FILES.get_or_init(|| {
            let plain = clip_of(4, 10.0, 16, 16);
            [fragmented(&plain, 4), plain]
        });
        for file in files {
            let mut bytes = file.clone();
            let place = place % if in_tables { 1000 } else { bytes.len() };
            bytes[place] = byte;
            read_here(&bytes);
        }
    }

    #[test]
    fn any_change_of_a_file_with_sound_is_an_error_or_sound(place: usize, byte: u8) {
        static FILE: OnceLock<Vec<u8>> = OnceLock::new();
        let mut bytes = FILE.get_or_init(|| clip_with(Some(sound(6, 100)), 4, 10.0, 16, 16)).clone();
        let place = place % 1600;
        bytes[place] = byte;
        let saved = Saved::new(&bytes);
        if let Ok(Some(sound)) = read_sound(&saved.path(), 0.1..0.6) {
            let sizes: u32 = sound.packets.iter().map(|packet| packet.size).sum();
            prop_assert_eq!(sizes as usize, sound.bytes.len());
            clip_with(Some(sound), 2, 10.0, 16, 16);
        }
    }
}
