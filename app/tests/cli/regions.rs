//! Regions on the command line.

use sluice_engine::{output::read_settings, request::Area};

use super::{assert_fails, assert_fine, draw, stderr};

#[test]
fn regions_have_prompts_of_their_own_and_are_saved() {
    let folder = tempfile::tempdir().unwrap();
    let pixels = |name: &str| image::open(folder.path().join(name)).unwrap().into_rgb8();
    let regions = |name: &str| read_settings(&folder.path().join(name)).unwrap().settings.request.regions;
    assert_fine(&draw(folder.path(), &["--output", "plain.png"]));
    let square = ["--region", "a blue square", "--region-area", "0,0,0.5,1"];
    let star = ["--region", "a green star", "--region-area", "0.5,0,0.5,1"];
    let two = draw(folder.path(), &[&square[..], &star, &["--output", "two.png"]].concat());
    assert_fine(&two);
    assert!(stderr(&two).contains("2 steps, guidance 2, 2 regions"), "{}", stderr(&two));
    assert!(pixels("two.png") != pixels("plain.png"), "regions change the image");
    let saved = regions("two.png").all;
    let prompts: Vec<_> = saved.iter().map(|region| region.prompt.as_str()).collect();
    assert_eq!(prompts, ["a blue square", "a green star"]);
    assert_eq!(saved[1].area, Area::Box([0.5, 0.0, 0.5, 1.0]));

    let whole = draw(folder.path(), &["--region", "a blue square", "--output", "whole.png"]);
    assert_fine(&whole);
    assert_eq!(regions("whole.png").all[0].area, Area::Box([0.0, 0.0, 1.0, 1.0]));
    assert!(pixels("whole.png") != pixels("plain.png"), "a region may be the whole image");
}

#[test]
fn each_of_several_regions_needs_an_area() {
    let folder = tempfile::tempdir().unwrap();
    let help = "Give a --region-area for each --region.";
    let two = ["--region", "a fox", "--region-area", "0,0,0.5,1", "--region", "an owl"];
    assert_fails(&draw(folder.path(), &two), "2 regions and 1 area for them are given", help);
    let more = [&two[..], &["--region-area", "0.5,0,0.5,1", "--region-area", "0,0,1,1"]].concat();
    assert_fails(&draw(folder.path(), &more), "2 regions and 3 areas for them are given", help);
    let alone = draw(folder.path(), &["--region-area", "0,0,1,1"]);
    assert_eq!(alone.status.code(), Some(2), "{}", stderr(&alone));
}
