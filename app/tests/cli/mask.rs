//! Masks of objects on the command line.

use super::{adapter::write, assert_fails, run, stderr};

#[test]
fn what_makes_no_mask_is_said() {
    let folder = tempfile::tempdir().unwrap();
    image::RgbImage::new(20, 12).save(folder.path().join("a.png")).unwrap();
    write(&folder.path().join("other.safetensors"), &[("image_encoder.pos_embed", [1, 384])]);
    let with = |more: &[&str]| run(folder.path(), &[&["mask", "a.png"], more].concat());
    let model = ["--model", "other.safetensors"];
    let point = ["--point", "3,3"];
    assert_fails(
        &with(&[model, point].concat()),
        "other.safetensors cannot make masks: it is no Segment Anything network",
        "Choose a .safetensors file of Segment",
    );
    for (wrong, what) in [
        (&["--point", "3"][..], "give 2 whole numbers"),
        (&["--box", "1,2,3"], "give 4 whole numbers"),
        (&[], "--point"),
    ] {
        let output = with(&[&model[..], wrong].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(what), "{}", stderr(&output));
    }
}
