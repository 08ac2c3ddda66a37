//! Folders and file names.

use std::{fs, path::Path};

use tempfile::TempDir;

use super::{DAY, image, pixels, settings};
use crate::output::{
    Codec, Encoding, Image, Media, NamedOutput, Output, OutputError, StillFormat, fallback_folder,
    read_settings, write_png,
};

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn pictures_of_a_batch_get_numbers() {
    let output = Output::File("out/a.b.png".into());
    let settings = settings("x", "");
    assert_eq!(output.path_for(0, &settings, DAY, "png"), Path::new("out/a.b.png"));
    assert_eq!(output.path_for(1, &settings, DAY, "png"), Path::new("out/a.b-2.png"));
    assert_eq!(output.path_for(u32::MAX, &settings, DAY, "png"), Path::new("out/a.b-4294967296.png"));
}

#[test]
fn a_folder_gets_new_names_only() {
    let folder = TempDir::new().unwrap();
    let output = Output::Folder(folder.path().to_owned());
    for name in ["2026-11-21-0008-1.png", "2026-11-20-0099-1.png", "2026-11-21-x.png", "notes.txt"] {
        fs::write(folder.path().join(name), "kept").unwrap();
    }
    for index in 0..2 {
        output.save(index, &image(2, 2), &settings("x", ""), Codec::H264, DAY).unwrap();
    }
    let expected = [
        "2026-11-20-0099-1.png",
        "2026-11-21-0008-1.png",
        "2026-11-21-0009-7.png",
        "2026-11-21-0010-7.png",
        "2026-11-21-x.png",
        "notes.txt",
    ];
    assert_eq!(names(folder.path()), expected);
    assert_eq!(fs::read(folder.path().join("2026-11-21-0008-1.png")).unwrap(), b"kept");
}

#[test]
fn format_and_names_are_as_chosen_and_settings_come_back() {
    let folder = TempDir::new().unwrap();
    let named = |format, names: &str| {
        let (folder, names) = (folder.path().to_owned(), names.to_owned());
        Output::Named(NamedOutput { folder, format, names })
    };
    let written = settings("a red boat", "");
    for (output, expected) in [
        (named(StillFormat::Png, "{name}"), "2026-11-21-0001-7.png"),
        (named(StillFormat::Jpeg, "{prompt} {seed}"), "a red boat 7.jpg"),
        (named(StillFormat::Jpeg, "{prompt} {seed}"), "a red boat 7-2.jpg"),
        (named(StillFormat::WebP, "{date} {model}"), "2026-11-21 Sluice Starter.webp"),
        (named(StillFormat::Png, "{nonsense}"), "2026-11-21-0002-7.png"),
    ] {
        let path = output.save(0, &image(8, 8), &written, Codec::H264, DAY).unwrap();
        assert_eq!(path, folder.path().join(expected));
        assert_eq!(read_settings(&path).unwrap().settings, written);
    }
}

#[test]
fn a_lower_quality_makes_smaller_files() {
    let folder = TempDir::new().unwrap();
    for extension in ["jpg", "webp"] {
        let size = |quality: u8| {
            let output = Output::File(folder.path().join(format!("{quality}.{extension}")));
            let encoding = Encoding { codec: Codec::H264, quality };
            let path = output.save(0, &image(64, 64), &settings("x", ""), encoding, DAY).unwrap();
            fs::metadata(path).unwrap().len()
        };
        assert!(size(20) < size(95), "{extension}");
    }
}

#[test]
fn pictures_saved_at_the_same_time_do_not_meet() {
    let folder = TempDir::new().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let output = Output::Folder(folder.path().to_owned());
                output.save(0, &image(2, 2), &settings("x", ""), Codec::H264, DAY).unwrap()
            });
        }
    });
    assert_eq!(names(folder.path()).len(), 8);
}

#[test]
fn a_named_file_is_replaced_and_nothing_else_is_left() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.png");
    fs::write(&path, "old").unwrap();
    write_png(&path, &image(2, 2), &settings("new", "")).unwrap();
    assert_eq!(read_settings(&path).unwrap().settings.request.prompt, "new");
    assert_eq!(names(folder.path()), ["a.png"]);
}

#[cfg(unix)]
#[test]
fn a_picture_has_the_rights_of_any_new_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempDir::new().unwrap();
    let (picture, plain) = (folder.path().join("a.png"), folder.path().join("plain"));
    write_png(&picture, &image(2, 2), &settings("x", "")).unwrap();
    fs::write(&plain, "").unwrap();
    let mode = |path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&picture), mode(&plain));
}

#[test]
fn prepare_makes_folders_and_leaves_nothing_in_them() {
    let folder = TempDir::new().unwrap();
    let deep = folder.path().join("a/b");
    Output::Folder(deep.clone()).prepare(false, Codec::H264).unwrap();
    Output::File(deep.join("c/x.PNG")).prepare(false, Codec::H264).unwrap();
    assert_eq!(names(&deep), ["c"]);
    assert_eq!(names(&deep.join("c")), [""; 0]);
}

#[test]
fn prepare_names_what_is_in_the_way() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file.png");
    fs::write(&file, "").unwrap();
    let check = |output: Output| output.prepare(false, Codec::H264).unwrap_err();
    assert!(matches!(check(Output::Folder(file.clone())), OutputError::NotAFolder { .. }));
    assert!(matches!(check(Output::Folder(file.join("below"))), OutputError::CreateFolder { .. }));
    assert!(matches!(check(Output::File(file.join("a.png"))), OutputError::NotAFolder { .. }));
    assert!(matches!(check(Output::File(folder.path().to_owned())), OutputError::IsFolder { .. }));
    for name in ["a", "a.bmp", "png", "a.png.mp4"] {
        assert!(matches!(check(Output::File(folder.path().join(name))), OutputError::Extension { .. }));
    }
}

// Nobody can write there, not even root.
#[cfg(target_os = "linux")]
#[test]
fn an_unwritable_folder_is_found_before_the_run() {
    let error = Output::Folder("/proc/self".into()).prepare(false, Codec::H264).unwrap_err();
    assert!(matches!(error, OutputError::NotWritable { .. }), "{error}");
    assert!(error.to_string().starts_with("the folder /proc/self is not writable: "));
    assert_eq!(error.advice(), Some("Choose a folder that you can write to."));
}

#[test]
fn a_picture_that_cannot_be_saved_is_kept_elsewhere() {
    let folder = TempDir::new().unwrap();
    let gone = Output::File(folder.path().join("gone/a.png"));
    let error = gone.save(0, &image(2, 2), &settings("kept", ""), Codec::H264, DAY).unwrap_err();
    let OutputError::KeptElsewhere { path, .. } = &error else { panic!("{error}") };
    assert!(path.starts_with(fallback_folder()));
    assert_eq!(read_settings(path).unwrap().settings.request.prompt, "kept");
    assert!(error.to_string().contains("gone/a.png cannot be written: "));
    assert!(!error.to_string().contains(".tmp\""), "the error must not show the temporary name: {error}");
    fs::remove_file(path).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_named() {
    let error = std::io::Error::from(std::io::ErrorKind::StorageFull);
    let error = crate::output::file::write_error(Path::new("/full/a.png"), error);
    assert_eq!(error.to_string(), "/full/a.png cannot be written: the disk is full");
}

#[test]
fn pixels_that_do_not_fit_their_size_are_refused() {
    let folder = TempDir::new().unwrap();
    let write = |image: &Image| {
        write_png(&folder.path().join("a.png"), &Media::Image(image.clone()), &settings("x", ""))
    };
    let mut picture = pixels(2, 2);
    picture.pixels.pop();
    let error = write(&picture).unwrap_err();
    assert!(matches!(error, OutputError::Pixels { bytes: 11, .. }));
    picture.width = 0;
    picture.pixels.clear();
    assert!(write(&picture).is_err());
    assert_eq!(names(folder.path()), [""; 0]);
}
