//! The names of ESRGAN's tensors: those of its first code, of BSRGAN and RealSR, and of Real-ESRGAN, which are used
//! here.

use crate::checkpoint::TensorTable;

/// How the tensors of a file are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Naming {
    style: Style,
    blocks: usize,
    doublings: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// `body.0.rdb1.conv1`, `conv_up1`, as in Real-ESRGAN.
    New,
    /// `RRDB_trunk.0.RDB1.conv1`, `upconv1`, as in BSRGAN.
    Trunk,
    /// `model.1.sub.0.RDB1.conv1.0`, `model.3`, as in ESRGAN's first code.
    Numbered,
}

impl Naming {
    /// The names in a file with dense blocks, if it has them.
    pub fn of(tensors: &TensorTable) -> Option<Self> {
        let styles = [
            (Style::New, "body.0.rdb1.conv1.weight", "body."),
            (Style::Trunk, "RRDB_trunk.0.RDB1.conv1.weight", "RRDB_trunk."),
            (Style::Numbered, "model.1.sub.0.RDB1.conv1.0.weight", "model.1.sub."),
        ];
        let (style, _, prefix) = styles.into_iter().find(|(_, first, _)| tensors.contains_key(*first))?;
        let is_dense = |name: &str| name.contains("RDB1.") || name.contains("rdb1.");
        let blocks = 1 + numbers(tensors, prefix, is_dense).max()?;
        let doublings = match style {
            Style::New => numbers(tensors, "conv_up", |_| true).max().unwrap_or(0),
            Style::Trunk => numbers(tensors, "upconv", |_| true).max().unwrap_or(0),
            // Two convolutions and the doublings follow the blocks, each with an activation or an enlargement between.
            Style::Numbered => numbers(tensors, "model.", |_| true).max()?.saturating_sub(4) / 3,
        };
        Some(Self { style, blocks, doublings })
    }

    /// Blocks of dense blocks.
    pub fn blocks(self) -> usize {
        self.blocks
    }

    /// How often the size is doubled.
    pub fn doublings(self) -> usize {
        self.doublings
    }

    /// The name in the file of a tensor by its name in Real-ESRGAN.
    pub fn stored(self, name: &str) -> String {
        let Some((layer, parameter)) = name.rsplit_once('.') else { return name.to_owned() };
        let stored = match self.style {
            Style::New => layer.to_owned(),
            Style::Trunk => trunk(layer),
            Style::Numbered => self.numbered(layer),
        };
        format!("{stored}.{parameter}")
    }

    fn numbered(self, layer: &str) -> String {
        let after = 3 * self.doublings;
        if let Some(inner) = layer.strip_prefix("body.") {
            return format!("model.1.sub.{}.0", inner.replace("rdb", "RDB"));
        }
        if let Some(number) = layer.strip_prefix("conv_up").and_then(|number| number.parse::<usize>().ok()) {
            return format!("model.{}", 3 * number);
        }
        match layer {
            "conv_first" => "model.0".to_owned(),
            "conv_body" => format!("model.1.sub.{}", self.blocks),
            "conv_hr" => format!("model.{}", after + 2),
            "conv_last" => format!("model.{}", after + 4),
            other => other.to_owned(),
        }
    }
}

fn trunk(layer: &str) -> String {
    if let Some(inner) = layer.strip_prefix("body.") {
        return format!("RRDB_trunk.{}", inner.replace("rdb", "RDB"));
    }
    if let Some(number) = layer.strip_prefix("conv_up") {
        return format!("upconv{number}");
    }
    match layer {
        "conv_body" => "trunk_conv".to_owned(),
        "conv_hr" => "HRconv".to_owned(),
        other => other.to_owned(),
    }
}

/// The numbers that follow a prefix in names.
fn numbers<'a>(
    tensors: &'a TensorTable,
    prefix: &'a str,
    is_counted: impl Fn(&str) -> bool + 'a,
) -> impl Iterator<Item = usize> + 'a {
    let names = tensors.keys().filter(move |name| is_counted(name.as_str()));
    names.filter_map(move |name| name.strip_prefix(prefix)?.split('.').next()?.parse().ok())
}
