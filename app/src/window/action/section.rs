//! The sections of the settings of the next image.

/// A section of the panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// The prompts and their styles.
    Prompt,
    /// Settings presets.
    Presets,
    /// Width and height.
    Size,
    /// Steps, guidance and batch size.
    Steps,
    /// The seed.
    Seed,
    /// The input image, or what a clip is made from.
    Input,
    /// LoRAs.
    Loras,
    /// ControlNets.
    ControlNets,
    /// Image prompts.
    ImagePrompts,
    /// Sampler and schedule.
    Sampler,
    /// Variation strength.
    Variation,
    /// The number format.
    Precision,
    /// The refiner.
    Refiner,
    /// Regions with prompts of their own.
    Regions,
    /// Hires fix.
    Hires,
    /// Detailers.
    Detailers,
    /// Frame interpolation.
    Interpolation,
    /// Guidance and speed.
    Guidance,
}

impl Section {
    /// All of them, in their order.
    pub const ALL: [Self; 18] = [
        Self::Prompt,
        Self::Presets,
        Self::Size,
        Self::Steps,
        Self::Seed,
        Self::Input,
        Self::Loras,
        Self::ControlNets,
        Self::ImagePrompts,
        Self::Sampler,
        Self::Variation,
        Self::Precision,
        Self::Refiner,
        Self::Regions,
        Self::Hires,
        Self::Detailers,
        Self::Interpolation,
        Self::Guidance,
    ];

    /// Whether it is below More settings.
    pub fn is_more(self) -> bool {
        matches!(
            self,
            Self::Sampler
                | Self::Variation
                | Self::Precision
                | Self::Refiner
                | Self::Regions
                | Self::Hires
                | Self::Detailers
                | Self::Interpolation
                | Self::Guidance
        )
    }
}
