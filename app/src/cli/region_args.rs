//! Options of regions.

use sluice_engine::request::{Area, Region, Regions};

use super::detailer_args::given;

/// Parts of the image with prompts of their own. Their options count in the order in which they are given.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct RegionArgs {
    /// Describes what is in a part of the image. Can be given several times, each with an area. Each region adds a
    /// prediction to every step.
    #[arg(long, value_name = "TEXT", requires = "region_area")]
    region: Vec<String>,
    /// Where a region is: left, top, width and height as parts of the image, such as 0,0,0.5,1 for the left half; or the file
    /// of a mask that is white there.
    #[arg(long, value_name = "AREA", requires = "region")]
    region_area: Vec<Area>,
    /// How strongly a region counts where it overlaps others; 1 if left out.
    #[arg(long, value_name = "NUMBER", requires = "region")]
    region_weight: Vec<f32>,
    /// How much the prompt of the image counts inside of regions, 0 to 1; 0.2 if left out.
    #[arg(long, value_name = "FRACTION", requires = "region")]
    region_base: Option<f32>,
    /// The part of the shorter side over which regions fade in at their edges, 0 to 0.5; 0.05 if left out.
    #[arg(long, value_name = "FRACTION", requires = "region")]
    region_fade: Option<f32>,
}

impl RegionArgs {
    /// The regions. One without an area is the whole image.
    pub fn regions(&self) -> Regions {
        let (usual, whole) = (Regions::default(), Region::default());
        let region = |(index, prompt): (usize, &String)| Region {
            prompt: prompt.clone(),
            area: given(&self.region_area, index, &whole.area),
            weight: given(&self.region_weight, index, &whole.weight),
        };
        Regions {
            all: self.region.iter().enumerate().map(region).collect(),
            base: self.region_base.unwrap_or(usual.base),
            fade: self.region_fade.unwrap_or(usual.fade),
        }
    }
}
