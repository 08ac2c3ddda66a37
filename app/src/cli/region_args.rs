//! Options of regions.

use sluice_engine::{
    request::{Area, Region, Regions},
    units::counted,
};

use super::{detailer_args::given, exit::refuse};

/// Parts of the image with prompts of their own. Their options count in the order in which they are given.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct RegionArgs {
    /// Describes what is in a part of the image. Can be given several times, each with an area; a single one without an area
    /// is the whole image. Each region adds a prediction to every step.
    #[arg(long, value_name = "TEXT")]
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
    /// The regions. A single one without an area is the whole image.
    ///
    /// # Errors
    /// Fails if there are not as many areas as regions.
    pub fn regions(&self) -> anyhow::Result<Regions> {
        let (regions, areas) = (self.region.len(), self.region_area.len());
        if regions != areas && (regions, areas) != (1, 0) {
            let advice = "Give a --region-area for each --region.".to_owned();
            let [regions, areas] = [counted(regions, "region"), counted(areas, "area")];
            return Err(refuse(format!("{regions} and {areas} for them are given"), advice));
        }
        let (usual, whole) = (Regions::default(), Region::default());
        let region = |(index, prompt): (usize, &String)| Region {
            prompt: prompt.clone(),
            area: given(&self.region_area, index, &whole.area),
            weight: given(&self.region_weight, index, &whole.weight),
        };
        Ok(Regions {
            all: self.region.iter().enumerate().map(region).collect(),
            base: self.region_base.unwrap_or(usual.base),
            fade: self.region_fade.unwrap_or(usual.fade),
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        regions: RegionArgs,
    }

    fn regions(words: &[&str]) -> anyhow::Result<Regions> {
        let words = ["sluice"].iter().chain(words);
        Line::try_parse_from(words)?.regions.regions()
    }

    #[test]
    fn each_region_has_an_area_and_a_single_one_may_be_the_whole_image() {
        assert_eq!(regions(&[]).unwrap(), Regions::default());
        let fox = Region { prompt: "a fox".to_owned(), ..Region::default() };
        assert_eq!(regions(&["--region", "a fox"]).unwrap().all, vec![fox.clone()]);
        let two = ["--region", "a fox", "--region-area", "0,0,0.5,1", "--region", "an owl"];
        let rest = ["--region-area", "owl.png", "--region-weight", "2", "--region-fade", "0"];
        let Regions { all, base, fade } = regions(&[two, rest].concat()).unwrap();
        let fox = Region { area: Area::Box([0.0, 0.0, 0.5, 1.0]), weight: 2.0, ..fox };
        let owl = Region { prompt: "an owl".to_owned(), area: Area::Mask("owl.png".into()), weight: 1.0 };
        assert_eq!((all, base, fade), (vec![fox, owl], Regions::default().base, 0.0));
    }

    #[test]
    fn regions_and_areas_belong_together() {
        let [fox, owl] = [["--region", "a fox"], ["--region", "an owl"]];
        let area = ["--region-area", "0,0,1,1"];
        for (words, what) in [
            ([fox, owl].concat(), "2 regions and 0 areas for them are given"),
            ([fox, owl, area].concat(), "2 regions and 1 area for them are given"),
            ([fox, area, area].concat(), "1 region and 2 areas for them are given"),
        ] {
            assert_eq!(regions(&words).unwrap_err().to_string(), what);
        }
        for alone in [&area[..], &["--region-weight", "2"], &["--region-base", "1"]] {
            assert!(regions(alone).is_err(), "{alone:?}");
        }
    }
}
