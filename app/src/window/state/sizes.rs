//! Sizes that a model can generate.

use std::sync::LazyLock;

use serde::Deserialize;

/// The file is part of the program, and a test parses it, so this cannot fail here.
static PRESETS: LazyLock<Vec<Aspect>> = LazyLock::new(|| read_presets().unwrap_or_default());

/// How much wider or taller than the presets is far from them. Films, up to 2.4:1, are not.
const FAR: f64 = 1.5;

/// The longest side in the menu.
pub const MAX_SIDE: u32 = 4096;

/// The aspect ratio of a size preset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Aspect {
    /// Horizontal part.
    pub width: u32,
    /// Vertical part.
    pub height: u32,
}

impl Aspect {
    /// The presets of `presets/sizes.toml`, from tall to wide.
    pub fn presets() -> &'static [Self] {
        &PRESETS
    }

    /// The tallest and the widest preset.
    pub fn extremes() -> Option<[Self; 2]> {
        Some([*PRESETS.first()?, *PRESETS.last()?])
    }

    /// The preset nearest to an aspect ratio that is much taller or wider than all of them.
    pub fn instead_of(width: u32, height: u32) -> Option<Self> {
        let [tallest, widest] = Self::extremes()?;
        let ratio = f64::from(width) / f64::from(height.max(1));
        if ratio > widest.ratio() * FAR {
            Some(widest)
        } else if ratio * FAR < tallest.ratio() {
            Some(tallest)
        } else {
            None
        }
    }

    fn ratio(self) -> f64 {
        f64::from(self.width) / f64::from(self.height)
    }

    /// Its name, such as `16:9`.
    pub fn name(self) -> String {
        format!("{}:{}", self.width, self.height)
    }

    /// A size with this aspect ratio and about `area` pixels, both sides multiples of `multiple`.
    pub fn size(self, area: u64, multiple: u32) -> (u32, u32) {
        let ratio = self.ratio();
        let area = area as f64;
        let side = |pixels: f64| snap(pixels.round() as u32, multiple);
        (side((area * ratio).sqrt()), side((area / ratio).sqrt()))
    }
}

fn read_presets() -> Result<Vec<Aspect>, toml::de::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        aspect: Vec<Aspect>,
    }
    toml::from_str::<File>(include_str!("../../../../presets/sizes.toml")).map(|file| file.aspect)
}

/// The nearest size that is a multiple of `multiple`.
pub fn snap(pixels: u32, multiple: u32) -> u32 {
    let multiple = multiple.max(1);
    let highest = MAX_SIDE / multiple * multiple;
    let nearest = (pixels.saturating_add(multiple / 2)) / multiple * multiple;
    nearest.clamp(multiple, highest.max(multiple))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_snap_to_the_nearest_multiple() {
        for (pixels, multiple, snapped) in
            [(0, 16, 16), (7, 16, 16), (100, 16, 96), (104, 16, 112), (1000, 8, 1000), (99_999, 64, 4096)]
        {
            assert_eq!(snap(pixels, multiple), snapped, "{pixels} to {multiple}");
        }
    }

    #[test]
    fn only_far_aspects_have_a_preset_instead() {
        let name = |width, height| Aspect::instead_of(width, height).map(Aspect::name);
        assert_eq!([name(832, 480), name(1200, 500), name(480, 1024)], [None, None, None]);
        assert_eq!(name(1600, 400).as_deref(), Some("16:9"));
        assert_eq!(name(256, 1024).as_deref(), Some("9:16"));
    }

    #[test]
    fn the_presets_are_from_tall_to_wide() {
        assert!(read_presets().unwrap().is_sorted_by(|one, next| one.ratio() < next.ratio()));
    }

    #[test]
    fn the_presets_have_a_square_and_every_shape_both_ways() {
        let presets = read_presets().unwrap();
        assert!(presets.contains(&Aspect { width: 1, height: 1 }));
        for aspect in &presets {
            assert!(aspect.width > 0 && aspect.height > 0);
            assert!(presets.contains(&Aspect { width: aspect.height, height: aspect.width }), "{aspect:?}");
        }
    }

    #[test]
    fn presets_keep_the_area_and_their_portraits_are_turned() {
        for (area, multiple) in [(128 * 128, 16), (1024 * 1024, 16), (512 * 512, 64)] {
            for &aspect in Aspect::presets() {
                let (width, height) = aspect.size(area, multiple);
                assert_eq!((width % multiple, height % multiple), (0, 0));
                let drift = (u64::from(width) * u64::from(height)) as f64 / area as f64;
                assert!((0.8..1.25).contains(&drift), "{aspect:?} of {area}: {width}×{height}");
                let turned = Aspect { width: aspect.height, height: aspect.width }.size(area, multiple);
                assert_eq!(turned, (height, width));
            }
        }
        assert_eq!(Aspect { width: 16, height: 9 }.size(1024 * 1024, 16), (1360, 768));
    }
}
