//! Grids, composed batches and folders of input images.

use std::{fs, path::Path};

use sluice_engine::{output::read_settings, source::ClipInfo};

use super::{assert_fails, assert_fine, draw, run, sluice, stderr, stdout};

fn size_of(path: &Path) -> (u32, u32) {
    image::image_dimensions(path).unwrap()
}

#[test]
fn a_grid_keeps_its_images_and_composes_them() {
    let folder = tempfile::tempdir().unwrap();
    let axes = ["--x", "steps: 1-2", "--y", "prompt: red, \"blue, dark\", green", "--output", "out/grid.png"];
    let output = draw(folder.path(), &axes);
    assert_fine(&output);
    assert!(stderr(&output).contains("a grid of 2 × 3 = 6 images, about "), "{}", stderr(&output));
    assert!(stderr(&output).contains("image 1 of 6: "), "{}", stderr(&output));
    let lines: Vec<_> = stdout(&output).lines().collect();
    assert_eq!((lines.len(), lines[6]), (7, "out/grid.png"));
    let cell = folder.path().join("out/grid-x2-y2.png");
    assert_eq!(size_of(&cell), (64, 64));
    let request = read_settings(&cell).unwrap().settings.request;
    assert_eq!((request.prompt.as_str(), request.steps, request.seed), ("a blue, dark circle", 2, 7));
    let grid = folder.path().join("out/grid.png");
    let (width, height) = size_of(&grid);
    assert!(width > 2 * 64 + 20 && height > 3 * 64 + 14, "with labels: {width} × {height}");
    let kept = read_settings(&grid).unwrap().settings.grid.unwrap();
    assert_eq!(kept.axes, ["steps: 1-2", "prompt: red, \"blue, dark\", green", ""]);
    // The pixels of a cell are in the grid.
    let (grid, cell) = (image::open(&grid).unwrap().into_rgb8(), image::open(&cell).unwrap().into_rgb8());
    let is_at = |x: u32, y: u32| {
        cell.enumerate_pixels().all(|(column, row, pixel)| grid.get_pixel(x + column, y + row) == pixel)
    };
    let places = (0..=width - 64).flat_map(|x| (0..=height - 64).map(move |y| (x, y)));
    assert_eq!(places.filter(|(x, y)| is_at(*x, *y)).count(), 1);
    let alone = ["--prompt", "a blue, dark circle", "--output", "alone.png"];
    assert_fine(&draw(folder.path(), &alone));
    let alone = image::open(folder.path().join("alone-2.png")).unwrap().into_rgb8();
    assert!(alone == cell, "a cell is the image that its settings give");
}

#[test]
fn a_composed_image_has_the_quality_of_its_images() {
    let folder = tempfile::tempdir().unwrap();
    let length = |name: &str, quality: &str| {
        let options = ["--x", "steps: 1-2", "--quality", quality, "--output", name];
        assert_fine(&draw(folder.path(), &options));
        fs::metadata(folder.path().join(name)).unwrap().len()
    };
    let [coarse, fine] = [length("coarse.jpg", "5"), length("fine.jpg", "95")];
    assert!(coarse < fine, "{coarse} and {fine} bytes");
}

/// Characters that the program's own fonts lack are sought in the fonts of the system, of which there may be none.
#[test]
#[cfg(target_os = "linux")]
fn without_fonts_of_the_system_a_grid_is_composed_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("fonts.conf"), "<fontconfig></fontconfig>").unwrap();
    let mut command = sluice(
        folder.path(),
        &[
            "generate",
            "--prompt",
            "\u{72d0}",
            "--steps",
            "1",
            "--width",
            "64",
            "--height",
            "64",
            "--x",
            "prompt: \u{72d0}, \u{72fc}",
            "--output",
            "grid.png",
        ],
    );
    let output = command.env("FONTCONFIG_FILE", folder.path().join("fonts.conf")).output().unwrap();
    assert_fine(&output);
    assert!(size_of(&folder.path().join("grid.png")).0 > 128);
}

#[test]
fn a_grid_that_makes_no_sense_is_refused_before_anything_is_generated() {
    let folder = tempfile::tempdir().unwrap();
    let output = draw(folder.path(), &["--x", "prompt: cat, dog"]);
    let what = "neither the prompt nor the negative prompt contains \"cat\", the words to replace";
    assert_fails(&output, what, "See `sluice generate --help`");
    let output = draw(folder.path(), &["--x", "stops: 1"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("there is no setting named \"stops\"; use seed, steps"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_cell_that_fails_leaves_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let output = draw(folder.path(), &["--x", "size: 64, 65", "--output", "grid.png"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("width 65 is not a multiple of"), "{}", stderr(&output));
    assert_eq!(stdout(&output), "grid-x1-y1.png\ngrid.png\n");
    assert!(size_of(&folder.path().join("grid.png")).0 > 128);
}

#[test]
fn a_batch_is_composed() {
    let folder = tempfile::tempdir().unwrap();
    assert_fine(&draw(folder.path(), &["--batch-size", "4", "--batch-grid", "--output", "a.png"]));
    let (width, height) = size_of(&folder.path().join("a-grid.png"));
    assert!((128..160).contains(&width) && width == height, "{width} × {height}");
    assert!(folder.path().join("a-4.png").exists());
}

#[test]
fn a_folder_of_input_images_is_generated_once() {
    let folder = tempfile::tempdir().unwrap();
    let photos = folder.path().join("photos");
    fs::create_dir(&photos).unwrap();
    for name in ["hill", "lake"] {
        assert_fine(&draw(folder.path(), &["--output", &format!("photos/{name}.png")]));
    }
    let over = ["--init-image", "photos", "--strength", "0.5", "--output", "paintings"];
    let output = draw(folder.path(), &over);
    assert_fine(&output);
    assert_eq!(stdout(&output), "paintings/hill.png\npaintings/lake.png\n");
    let request = read_settings(&folder.path().join("paintings/lake.png")).unwrap().settings.request;
    assert!(request.source.unwrap().path.ends_with("photos/lake.png"));
    fs::remove_file(folder.path().join("paintings/lake.png")).unwrap();
    let output = draw(folder.path(), &over);
    assert_eq!(stdout(&output), "paintings/lake.png\n");
    assert!(stderr(&output).contains("1 image left out: already in paintings"), "{}", stderr(&output));
    let other = ["--init-image", "other/photos", "--strength", "0.5", "--output", "paintings"];
    assert_fine(&draw(folder.path(), &["--output", "other/photos/hill.png", "--seed", "9"]));
    assert_eq!(stdout(&draw(folder.path(), &other)), "paintings/hill.png.png\n");
    fs::remove_file(folder.path().join("paintings/lake.png")).unwrap();
    fs::write(photos.join("broken.png"), "no image").unwrap();
    let output = draw(folder.path(), &over);
    assert_fine(&output);
    assert_eq!(stdout(&output), "paintings/lake.png\n");
    let said = "left out: photos/broken.png is not an image that can be read";
    assert!(stderr(&output).contains(said), "{}", stderr(&output));
    fs::create_dir(folder.path().join("empty")).unwrap();
    let output = run(folder.path(), &["generate", "--prompt", "x", "--init-image", "empty", "--output", "o"]);
    assert_fails(&output, "empty contains no images", "Give a folder with images");
    fs::write(folder.path().join("empty/broken.png"), "no image").unwrap();
    let output = run(folder.path(), &["generate", "--prompt", "x", "--init-image", "empty", "--output", "o"]);
    let what = "empty contains no images that can be read: empty/broken.png is not an image";
    assert_fails(&output, what, "Give a folder with images");
}

#[test]
fn each_prompt_has_its_own_results_of_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["hill", "lake"] {
        assert_fine(&draw(folder.path(), &["--output", &format!("photos/{name}.png")]));
    }
    fs::write(folder.path().join("photos/broken.png"), "no image").unwrap();
    let over = ["--prompt", "a blue square", "--init-image", "photos", "--strength", "0.5"];
    let over = [&over[..], &["--output", "paintings", "--trace", "trace.json"]].concat();
    let output = draw(folder.path(), &over);
    assert_fine(&output);
    let names =
        ["hill-1.png", "lake-1.png", "hill-2.png", "lake-2.png"].map(|name| format!("paintings/{name}"));
    assert_eq!(stdout(&output).lines().collect::<Vec<_>>(), names);
    let said = stderr(&output);
    assert!(said.contains("image 3 of 4: photos/hill.png, a blue square"), "{said}");
    assert_eq!(said.matches("left out: photos/broken.png").count(), 1, "{said}");
    let prompts = names.each_ref().map(|name| {
        let request = read_settings(&folder.path().join(name)).unwrap().settings.request;
        request.prompt
    });
    assert_eq!(prompts, ["a red circle", "a red circle", "a blue square", "a blue square"]);
    assert!((1..=4).all(|number| folder.path().join(format!("trace-{number}.json")).exists()));
    fs::remove_file(folder.path().join("paintings/hill-2.png")).unwrap();
    let output = draw(folder.path(), &over);
    assert_eq!(stdout(&output), "paintings/hill-2.png\n");
    assert!(stderr(&output).contains("3 images left out: already in paintings"), "{}", stderr(&output));
}

#[test]
fn images_of_subfolders_are_used_when_asked_and_keep_their_places() {
    let folder = tempfile::tempdir().unwrap();
    assert_fine(&draw(folder.path(), &["--output", "photos/sea/deep/hill.png"]));
    let over = ["--init-image", "photos", "--strength", "0.5", "--output", "paintings"];
    let output = draw(folder.path(), &over);
    assert_fails(&output, "photos contains no images", "Give a folder with images");
    let output = draw(folder.path(), &[&over[..], &["--subfolders"]].concat());
    assert_fine(&output);
    assert_eq!(stdout(&output), "paintings/sea/deep/hill.png\n");
    assert!(folder.path().join("paintings/sea/deep/hill.png").exists());
}

#[test]
fn lora_files_styles_and_precisions_vary() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("own.csv"), "name,prompt,negative_prompt\nink,ink wash,\n").unwrap();
    let axes = ["--x", "style: none, ink", "--y", "precision: f32, bf16", "--style-file", "own.csv"];
    assert_fine(&draw(folder.path(), &[&axes[..], &["--output", "grid.png"]].concat()));
    let request = |name: &str| read_settings(&folder.path().join(name)).unwrap().settings.request;
    let (plain, inked) = (request("grid-x1-y2.png"), request("grid-x2-y1.png"));
    assert_eq!(plain.dtype.map(|dtype| dtype.name()), Some("bf16"));
    assert!(!plain.prompt.contains("ink wash") && inked.prompt.contains("ink wash"), "{}", inked.prompt);
    let output = draw(folder.path(), &["--x", "style: none, oil"]);
    assert_fails(&output, "there is no style named \"oil\"", "See `sluice generate --help`");
}

#[test]
fn clips_are_composed_to_a_clip() {
    let folder = tempfile::tempdir().unwrap();
    let clips = ["--model", "starter-clip", "--frames", "5", "--steps", "1", "--x", "seed: 1-2"];
    assert_fine(&run(
        folder.path(),
        &[&["generate", "--prompt", "a lake"], &clips[..], &["--output", "grid.mp4"]].concat(),
    ));
    let size = |name: &str| ClipInfo::open(&folder.path().join(name)).unwrap().unwrap();
    let (grid, cell) = (size("grid.mp4"), size("grid-x2-y1.mp4"));
    assert_eq!((grid.frames, grid.rate), (cell.frames, cell.rate));
    assert!(grid.width > 2 * cell.width, "{grid:?} of {cell:?}");
}

#[test]
fn a_variation_is_between_two_seeds() {
    let folder = tempfile::tempdir().unwrap();
    let one = |arguments: &[&str], name: &str| {
        assert_fine(&draw(folder.path(), &[arguments, &["--output", name]].concat()));
        image::open(folder.path().join(name)).unwrap().into_rgb8()
    };
    let own = one(&[], "own.png");
    let other = one(&["--seed", "8"], "other.png");
    let all = one(&["--variation-seed", "8", "--variation-strength", "1"], "all.png");
    assert!(all == other, "at 1 it is the image of the other seed");
    let near = one(&["--variation-seed", "8", "--variation-strength", "0.1"], "near.png");
    let apart = |a: &image::RgbImage, b: &image::RgbImage| -> u64 {
        a.as_raw().iter().zip(b.as_raw()).map(|(a, b)| u64::from(a.abs_diff(*b))).sum()
    };
    assert!(near != own && apart(&near, &own) < apart(&near, &other));
    let streamed = ["--offload", "layer_streaming", "--card", "rtx-3060", "--dtype", "f32"];
    let varied = ["--variation-seed", "8", "--variation-strength", "0.1"];
    assert!(one(&[&varied[..], &streamed].concat(), "streamed.png") == near, "streaming changes nothing");
    let kept = read_settings(&folder.path().join("near.png")).unwrap().settings;
    let variation = kept.request.variation.unwrap();
    assert_eq!((variation.seed, variation.strength), (8, 0.1));
    assert!(
        kept.parameters().contains("Variation seed: 8, Variation seed strength: 0.1"),
        "{}",
        kept.parameters()
    );
}

#[test]
fn settings_of_hires_fix_and_of_guidance_vary() {
    let folder = tempfile::tempdir().unwrap();
    let hires = ["--hires", "1.5", "--hires-upscaler", "latent", "--output", "grid.png"];
    let axes = ["--x", "hires-strength: 0.5, 0.75", "--y", "guidance-end: 0.5, 1"];
    assert_fine(&draw(folder.path(), &[&axes[..], &hires].concat()));
    let request = |name: &str| read_settings(&folder.path().join(name)).unwrap().settings.request;
    for (name, strength, end) in [("grid-x1-y1.png", 0.5, 0.5), ("grid-x2-y2.png", 0.75, 1.0)] {
        let request = request(name);
        assert_eq!((request.hires.unwrap().strength, request.guiding.interval.end), (strength, end));
    }
    let output = draw(folder.path(), &["--x", "hires-strength: 0.5"]);
    let what = "Strength of hires fix varies, but nothing uses hires fix; add it first";
    assert_fails(&output, what, "See `sluice generate --help`");
}
