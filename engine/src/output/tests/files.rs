//! Settings in a PNG file: round trips, and errors for other files.

use std::{fs, io::Write, path::Path};

use proptest::prelude::*;
use tempfile::TempDir;

use super::{any_request, image, pixels, settings};
use crate::{
    output::{
        Clip, Image, Media, Origin, OutputError, Settings, chunks::TEXT_LIMIT, read_settings, write_png,
    },
    precision::Storage,
};

const TEXTS: [&str; 8] = [
    "a red circle on a white ground",
    "",
    "two\nlines, a comma: a colon",
    "\"quoted\" and 'quoted' and back\\slash",
    "ein Käse über Zürich",
    "日本語のプロンプト、絵文字 🦊👩‍🚀",
    "Negative prompt: not at all\nSteps: 3, Sampler: Heun, Seed: 1",
    "  blanks around \r\n and a \0 zero\t",
];

fn chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let mut crc = flate2::Crc::new();
    crc.update(kind);
    crc.update(data);
    [&(data.len() as u32).to_be_bytes(), kind.as_slice(), data, &crc.sum().to_be_bytes()].concat()
}

fn png_with(chunks: &[Vec<u8>]) -> Vec<u8> {
    let header = chunk(b"IHDR", &[0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0]);
    [b"\x89PNG\r\n\x1a\n".to_vec(), header, chunks.concat(), chunk(b"IEND", b"")].concat()
}

fn read_bytes(bytes: &[u8]) -> Result<crate::output::RestoredSettings, OutputError> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    read_settings(file.path())
}

fn round_trip(written: &Settings) -> Settings {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.png");
    write_png(&path, &image(3, 2), written).unwrap();
    let read = read_settings(&path).unwrap();
    assert_eq!((read.origin, read.notes), (Origin::Sluice, Vec::new()));
    read.settings
}

#[test]
fn any_text_comes_back_as_it_was() {
    for prompt in TEXTS {
        for negative in TEXTS {
            let written = settings(prompt, negative);
            assert_eq!(round_trip(&written), written);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_request_comes_back_as_it_was(request in any_request(), name in any::<String>(), index: u32) {
        let written = Settings::new(&request, &name, "z_image", index);
        prop_assert_eq!(round_trip(&written), written);
    }

    #[test]
    fn any_bytes_are_an_error_or_settings(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_bytes(&bytes);
        let _ = read_bytes(&[b"\x89PNG\r\n\x1a\n".as_slice(), &bytes].concat());
        for kind in [b"tEXt", b"zTXt", b"iTXt"] {
            for keyword in [b"Sluice\0".as_slice(), b"parameters\0"] {
                let _ = read_bytes(&png_with(&[chunk(kind, &[keyword, &bytes].concat())]));
            }
        }
    }
}

#[test]
fn the_pixels_are_in_the_file_and_the_bytes_are_always_the_same() {
    let folder = TempDir::new().unwrap();
    let (first, second) = (folder.path().join("1.png"), folder.path().join("2.png"));
    let picture = image(13, 9);
    for path in [&first, &second] {
        write_png(path, &picture, &settings("🦊", "")).unwrap();
    }
    let bytes = fs::read(&first).unwrap();
    assert_eq!(bytes, fs::read(&second).unwrap());
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    assert_eq!(pixels, picture.frames()[0].pixels);
}

#[test]
fn a_clip_is_an_animation_with_settings() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("clip.png");
    let frames: Vec<_> = (5..8).map(|shade| Image { pixels: vec![shade; 36], ..pixels(4, 3) }).collect();
    let written = settings("a boat", "");
    write_png(&path, &Media::Clip(Clip::silent(frames.clone(), 12.5)), &written).unwrap();
    assert_eq!(read_settings(&path).unwrap().settings, written);
    let file = std::io::BufReader::new(fs::File::open(&path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    assert_eq!(reader.info().animation_control().unwrap().num_frames, 3);
    for frame in frames {
        let mut found = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut found).unwrap();
        assert_eq!(found, frame.pixels);
        let control = reader.info().frame_control().unwrap();
        assert_eq!(f64::from(control.delay_num) / f64::from(control.delay_den), 1.0 / 12.5);
    }
    let mut broken = vec![pixels(4, 3), pixels(4, 2)];
    for frames in [broken.clone(), broken.drain(..0).collect()] {
        let clip = Media::Clip(Clip::silent(frames, 12.5));
        assert!(matches!(write_png(&path, &clip, &written), Err(OutputError::Pixels { .. })));
    }
}

#[test]
fn what_weights_were_held_as_is_remembered() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.png");
    let plain = settings("a hill", "");
    write_png(&path, &image(1, 1), &plain).unwrap();
    assert_eq!(read_settings(&path).unwrap().notes, Vec::<String>::new());
    let smaller = plain.held_as([Storage::Fp8, Storage::Q4K]);
    write_png(&path, &image(1, 1), &smaller).unwrap();
    let restored = read_settings(&path).unwrap();
    assert_eq!(restored.settings, smaller);
    let note = "This image was generated with denoiser weights in FP8 and text encoder weights in Q4_K, which is a \
                memory setting and is not restored.";
    assert_eq!(restored.notes, [note]);
}

#[test]
fn other_programs_find_the_parameters() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.png");
    let expected = "Steps: 12, Sampler: Euler, Schedule type: Automatic, CFG scale: 3, Seed: 7, \
                    Size: 128x128, Model: Sluice Starter, Version: Sluice 0.1.0";
    write_png(&path, &image(1, 1), &settings("a hill", "fog")).unwrap();
    let reader =
        png::Decoder::new(std::io::BufReader::new(fs::File::open(&path).unwrap())).read_info().unwrap();
    let text = &reader.info().uncompressed_latin1_text[0];
    assert_eq!(text.keyword, "parameters");
    assert_eq!(text.text, format!("a hill\nNegative prompt: fog\n{expected}"));

    write_png(&path, &image(1, 1), &settings("丘", "")).unwrap();
    let reader =
        png::Decoder::new(std::io::BufReader::new(fs::File::open(&path).unwrap())).read_info().unwrap();
    let text = &reader.info().utf8_text[1];
    assert_eq!(text.keyword, "parameters");
    assert_eq!(text.get_text().unwrap(), format!("丘\n{expected}"));
}

#[test]
fn texts_of_other_programs_are_read_in_every_kind_of_chunk() {
    let parameters = "a hill\nSteps: 20, Sampler: Euler, CFG scale: 7, Seed: 1, Size: 512x512";
    let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all(parameters.as_bytes()).unwrap();
    let packed = packer.finish().unwrap();
    let plain = parameters.as_bytes();
    let chunks = [
        chunk(b"tEXt", &[b"parameters\0", plain].concat()),
        chunk(b"zTXt", &[b"parameters\0\0", packed.as_slice()].concat()),
        chunk(b"iTXt", &[b"parameters\0\0\0en\0Parameter\0", plain].concat()),
        chunk(b"iTXt", &[b"parameters\0\x01\0\0\0", packed.as_slice()].concat()),
    ];
    let workflow = chunk(b"tEXt", &[b"workflow\0".to_vec(), vec![b'x'; 3 << 20]].concat());
    for text in chunks {
        let read = read_bytes(&png_with(&[workflow.clone(), chunk(b"IDAT", &[0; 99]), text])).unwrap();
        assert_eq!((read.origin, read.settings.request.steps), (Origin::A1111, 20));
    }
}

#[test]
fn a_file_cut_off_anywhere_is_named_so_or_gives_its_settings() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.png");
    let written = settings("a hill", "");
    write_png(&path, &image(40, 40), &written).unwrap();
    let bytes = fs::read(&path).unwrap();
    let mut found = 0;
    for length in 8..bytes.len() {
        match read_bytes(&bytes[..length]) {
            Ok(read) => {
                assert_eq!(read.settings.picture_request(), written.request);
                found += 1;
            }
            Err(OutputError::Truncated { .. }) => {}
            Err(error) => panic!("{length} bytes: {error}"),
        }
    }
    assert!(found > bytes.len() / 4, "the settings come before the pixels");
}

#[test]
fn other_files_are_named_for_what_they_are() {
    let error = |bytes: &[u8]| read_bytes(bytes).unwrap_err();
    assert!(matches!(error(b""), OutputError::NotMedia { .. }));
    assert!(matches!(error(b"%PDF-1.7 a text"), OutputError::NotMedia { .. }));
    assert!(matches!(error(b"\xFF\xD8\xFF\xE0 a JPEG"), OutputError::NoSettings { .. }));
    assert!(matches!(error(&png_with(&[])), OutputError::NoSettings { .. }));
    assert!(matches!(
        error(&png_with(&[chunk(b"tEXt", b"parameters\0 \n")])),
        OutputError::NoSettings { .. }
    ));
    assert!(matches!(error(&png_with(&[chunk(b"tEXt", b"Title\0a hill")])), OutputError::NoSettings { .. }));
    assert!(matches!(read_settings(Path::new("/nowhere/a.png")).unwrap_err(), OutputError::Read { .. }));
    let folder = TempDir::new().unwrap();
    assert!(matches!(read_settings(folder.path()).unwrap_err(), OutputError::Read { .. }));
}

#[test]
fn damaged_and_newer_settings_are_named() {
    let json = |json: &str| read_bytes(&png_with(&[chunk(b"tEXt", format!("Sluice\0{json}").as_bytes())]));
    assert!(matches!(json("{").unwrap_err(), OutputError::Damaged { .. }));
    assert!(matches!(json(r#"{"version":1}"#).unwrap_err(), OutputError::Damaged { .. }));
    let newer = json(r#"{"version":2,"anything":{"new":[]}}"#).unwrap_err();
    assert!(matches!(newer, OutputError::NewerVersion { found: 2, known: 1, .. }));
    assert_eq!(newer.advice(), Some("Update Sluice."));

    let mut value = serde_json::to_value(settings("a hill", "")).unwrap();
    value["colour"] = "blue".into();
    value["request"]["mood"] = "calm".into();
    assert_eq!(json(&value.to_string()).unwrap().settings, settings("a hill", ""));

    let mut bytes = png_with(&[chunk(b"tEXt", b"Sluice\0{}")]);
    let place = bytes.windows(2).position(|pair| pair == b"{}").unwrap();
    bytes[place] = b'[';
    assert!(matches!(read_bytes(&bytes).unwrap_err(), OutputError::Damaged { .. }));
    let latin1 = chunk(b"iTXt", b"Sluice\0\0\0\0\0\xE9");
    assert!(matches!(read_bytes(&png_with(&[latin1])).unwrap_err(), OutputError::Damaged { .. }));
}

#[test]
fn a_text_cannot_claim_much_memory() {
    let claims = [&0x7FFF_FFFFu32.to_be_bytes(), b"tEXtparameters\0abc".as_slice()].concat();
    let huge = [&png_with(&[])[..33], &claims, &[0; 100]].concat();
    assert!(matches!(read_bytes(&huge).unwrap_err(), OutputError::TooLarge { keyword: "parameters", .. }));

    let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all(&vec![b' '; TEXT_LIMIT as usize + 1]).unwrap();
    let bomb = chunk(b"zTXt", &[b"Sluice\0\0".to_vec(), packer.finish().unwrap()].concat());
    assert!(bomb.len() < 2000);
    assert!(matches!(read_bytes(&png_with(&[bomb])).unwrap_err(), OutputError::TooLarge { .. }));
}
