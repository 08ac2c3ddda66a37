//! Applies adapters to components.

use std::{collections::BTreeMap, ops::Range, path::PathBuf, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{
    AdapterError, AdapterFile, Content, Layer, Names,
    names::{self, Place},
};
use crate::{
    checkpoint::{Change, CheckpointError, Component, LowRankTerm, NoiseHalf, StoredTensor},
    request::AdapterUse,
};

/// A model's components with adapters.
#[derive(Debug)]
pub struct Adapted {
    /// In the order of the input.
    pub components: Vec<Component>,
    /// The result for each adapter.
    pub reports: Vec<AdapterReport>,
}

/// The result of applying an adapter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdapterReport {
    /// Its file.
    pub path: PathBuf,
    /// Its weight.
    pub weight: f32,
    /// Its kind, such as `LoRA`.
    pub kind: String,
    /// Lowest and highest rank, if it has ranks.
    pub ranks: Option<[usize; 2]>,
    /// Number of its keys.
    pub keys: usize,
    /// Keys that match nothing in the model.
    pub unmatched: Vec<String>,
    /// The adapter that it is the other half of, if it is used only because of it.
    #[serde(default)]
    pub half_of: Option<PathBuf>,
}

impl AdapterReport {
    /// A sentence about the unmatched keys, or `None` if all matched.
    pub fn sentence(&self) -> Option<String> {
        let first = self.unmatched.first()?;
        Some(format!("{} of {} keys did not match, for example {first}.", self.unmatched.len(), self.keys))
    }
}

/// An adapter with less than this share of matching layers is for another model.
const LEAST_MATCHED: f64 = 0.5;

/// Applies adapters to the components of a model, which errors call `model`. Reads only headers and alphas. In models
/// with two denoisers, a file for high or low noise changes the first or the second one, and any other file both.
/// `family_of` names, for errors, the family that an adapter seems to be for.
///
/// # Errors
/// Fails if a file cannot be read, is not an adapter, or is for another family.
pub fn adapt(
    components: &[&Component],
    model: &str,
    uses: &[AdapterUse],
    family_of: impl Fn(&AdapterFile) -> Option<&'static str>,
) -> Result<Adapted, AdapterError> {
    let known = Names::of(components.iter().copied());
    let mut components: Vec<Component> = components.iter().map(|&component| component.clone()).collect();
    let mut folds: BTreeMap<(usize, usize, usize), Vec<Fold>> = BTreeMap::new();
    let mut reports = Vec::new();
    for AdapterUse { path, weight } in uses {
        let file = AdapterFile::open(path)?;
        let mut unmatched = file.unknown.clone();
        let mut matched = 0;
        // Where a file names the second denoiser, everything else is for the first.
        let names_second = file.layers.iter().any(|layer| names::is_for_second(&layer.name));
        let second = NoiseHalf::of(path).map(|half| half.is_low).or(names_second.then_some(false));
        for layer in &file.layers {
            let fitting: Vec<_> = known
                .places(&layer.name, second)
                .into_iter()
                .filter_map(|(index, places)| Some((index, fitting(&components[index], places, layer)?)))
                .collect();
            if fitting.is_empty() {
                unmatched.extend(layer.keys.iter().cloned());
                continue;
            }
            matched += 1;
            for (index, fit) in
                fitting.into_iter().flat_map(|(index, fits)| fits.into_iter().map(move |fit| (index, fit)))
            {
                match fit {
                    Fit::Beside(place) => beside(&mut components[index], layer, &place, *weight),
                    Fit::Inside(place, fold) => {
                        let folds = folds.entry((index, place.block, place.tensor)).or_default();
                        folds.push(Fold { weight: *weight, ..*fold });
                    }
                }
            }
        }
        if (matched as f64) < LEAST_MATCHED * file.layers.len() as f64 {
            return Err(AdapterError::OtherFamily {
                path: path.clone(),
                adapter: family_of(&file),
                model: model.to_owned(),
                matched,
                layers: file.layers.len(),
            });
        }
        unmatched.sort();
        let (kind, ranks, keys) = (file.kind(), file.ranks(), file.keys());
        reports.push(AdapterReport {
            path: path.clone(),
            weight: *weight,
            kind,
            ranks,
            keys,
            unmatched,
            half_of: None,
        });
    }
    for ((component, block, tensor), folds) in folds {
        let stored = &mut components[component].blocks[block].tensors[tensor].1;
        *stored = stored.clone().changed(Arc::new(Folds(folds)));
    }
    Ok(Adapted { components, reports })
}

/// How a change is applied to one tensor.
enum Fit {
    /// As a low-rank term next to it.
    Beside(Place),
    /// To its values, when they are read.
    Inside(Place, Box<Fold>),
}

/// The tensors of a component that a layer changes; `None` if one of them is missing or has another shape.
fn fitting(component: &Component, places: &[Place], layer: &Layer) -> Option<Vec<Fit>> {
    let shape = |place: &Place| component.blocks[place.block].tensors[place.tensor].1.shape().to_vec();
    let mut fits = Vec::new();
    if let Some(content) = &layer.content {
        let of_weights: Vec<&Place> = places.iter().filter(|place| !place.is_bias).collect();
        for place in &of_weights {
            fits.push(fit(content, layer, place, &shape(place))?);
        }
        if of_weights.is_empty() {
            return None;
        }
    }
    if let Some(bias) = &layer.bias {
        let of_biases: Vec<&Place> = places.iter().filter(|place| place.is_bias).collect();
        for place in &of_biases {
            let content = Content::Difference(bias.clone());
            fits.push(inside(&content, 1.0, None, place, &shape(place))?);
        }
        if of_biases.is_empty() {
            return None;
        }
    }
    (!fits.is_empty()).then_some(fits)
}

fn fit(content: &Content, layer: &Layer, place: &Place, shape: &[usize]) -> Option<Fit> {
    let inside = inside(content, layer.scale, layer.magnitude.as_ref(), place, shape)?;
    let is_plain = match content {
        Content::LowRank { up, mid: None, .. } => part_of(up, place).encoding().is_some(),
        _ => false,
    };
    let is_matrix = shape.len() == 2 && layer.magnitude.is_none();
    Some(if is_plain && is_matrix { Fit::Beside(place.clone()) } else { inside })
}

/// The rows of a change's second factor that belong to a place.
fn part_of(up: &StoredTensor, place: &Place) -> StoredTensor {
    match &place.part {
        Some((parts, of)) => up.parts(parts.clone(), *of),
        None => up.clone(),
    }
}

fn inside(
    content: &Content,
    scale: f32,
    magnitude: Option<&StoredTensor>,
    place: &Place,
    shape: &[usize],
) -> Option<Fit> {
    let [rows, columns] = content.dims().ok()?;
    let (own, values) = (*shape.first()?, shape.iter().product::<usize>());
    let rows_of_place = match &place.part {
        Some((parts, of)) if rows.is_multiple_of(*of) => rows / of * parts.start..rows / of * parts.end,
        Some(_) => return None,
        None => 0..rows,
    };
    // The weight of a norm may be stored as a row.
    let fits = rows_of_place.len() == own || (place.part.is_none() && shape.len() == 1);
    if !fits || rows_of_place.len() * columns != values {
        return None;
    }
    if let Some(magnitude) = magnitude {
        // Norms over the inputs of a part differ from those of the whole.
        let per_input = magnitude.shape().first() != Some(&rows);
        let count = magnitude.elements() as usize;
        if (per_input && (place.part.is_some() || count != shape.get(1).copied()?))
            || (!per_input && count != rows)
        {
            return None;
        }
    }
    let fold = Fold {
        content: content.clone(),
        magnitude: magnitude.cloned(),
        rows: rows_of_place,
        scale,
        weight: 1.0,
    };
    Some(Fit::Inside(place.clone(), Box::new(fold)))
}

/// Adds both factors of a layer's change as a low-rank term next to the matrix at a place.
fn beside(component: &mut Component, layer: &Layer, place: &Place, weight: f32) {
    let Some(Content::LowRank { down, up, .. }) = &layer.content else { return };
    let block = &mut component.blocks[place.block];
    let (matrix, stored) = block.tensors[place.tensor].clone();
    let &[outputs, inputs] = stored.shape() else { return };
    let rank = down.shape().first().copied().unwrap_or(0);
    let up = part_of(up, place);
    let own = matrix.rsplit_once('.').map_or(matrix.as_str(), |(layer, _)| layer);
    let name = |side: &str| format!("{own}.lora_{}_{side}", block.terms.len());
    let term = LowRankTerm { down: name("down"), up: name("up"), scale: weight * layer.scale, matrix };
    block.tensors.push((term.down.clone(), down.clone().with_shape(&[rank, inputs])));
    block.tensors.push((term.up.clone(), up.with_shape(&[outputs, rank])));
    block.terms.push(term);
}

/// A change applied to weights when they are read.
#[derive(Debug, Clone)]
struct Fold {
    content: Content,
    magnitude: Option<StoredTensor>,
    /// The rows of the change that belong to the tensor.
    rows: Range<usize>,
    /// Alpha divided by rank.
    scale: f32,
    weight: f32,
}

/// Changes applied one after the other.
#[derive(Debug)]
struct Folds(Vec<Fold>);

impl Change for Folds {
    fn apply(&self, shape: &[usize], values: &mut [f32]) -> Result<(), CheckpointError> {
        self.0.iter().try_for_each(|fold| fold.apply(shape, values))
    }

    fn identity(&self) -> String {
        self.0.iter().map(Fold::identity).collect::<Vec<_>>().join("; ")
    }
}

impl Fold {
    fn identity(&self) -> String {
        let tensors = self.content.tensors().into_iter().chain(&self.magnitude);
        let tensors: Vec<String> = tensors.map(StoredTensor::identity).collect();
        format!("{} {:?} {} {}", tensors.join(", "), self.rows, self.scale, self.weight)
    }

    fn apply(&self, shape: &[usize], values: &mut [f32]) -> Result<(), CheckpointError> {
        let change = self.content.change()?;
        let factor = self.weight * self.scale;
        for (value, change) in values.iter_mut().zip(change.rows(self.rows.clone())) {
            *value += factor * change;
        }
        let Some(magnitude) = &self.magnitude else { return Ok(()) };
        let per_output = magnitude.shape().first() == Some(&change.rows);
        let magnitudes = magnitude.values()?;
        let magnitudes = if per_output { &magnitudes[self.rows.clone()] } else { &magnitudes[..] };
        self.set_norms(per_output, shape, magnitudes, values);
        Ok(())
    }

    /// Scales the weights of each output, or of each input, to the norms of DoRA. If the adapter's weight is
    /// not 1, interpolates as the reference implementation of DoRA does.
    fn set_norms(&self, per_output: bool, shape: &[usize], magnitudes: &[f32], values: &mut [f32]) {
        let row = shape.iter().skip(1).product::<usize>().max(1);
        let kernel = shape.iter().skip(2).product::<usize>().max(1);
        let place = |index: usize| if per_output { index / row } else { index % row / kernel };
        let mut squares = vec![0f64; magnitudes.len()];
        for (index, value) in values.iter().enumerate() {
            squares[place(index)] += f64::from(*value) * f64::from(*value);
        }
        let factors = squares.iter().zip(magnitudes).map(|(square, magnitude)| {
            let full = magnitude / (square.sqrt() as f32 + f32::EPSILON);
            self.weight * (full - 1.0) + 1.0
        });
        let factors: Vec<f32> = factors.collect();
        for (index, value) in values.iter_mut().enumerate() {
            *value *= factors[place(index)];
        }
    }
}
