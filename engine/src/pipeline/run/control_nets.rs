//! The maps that ControlNets follow.

use candle_core::{DType, Device, Tensor};

use super::{Dump, PipelineError, Run, source::sample};
use crate::{
    hardware::unmetered,
    models::{ControlImage, Denoise, EncodedMap, MapForm, Used},
    output::Image,
    request::RequestError,
    source::{
        control_map, control_tensor, control_tensor_without, given_latents, gray_tensor, masked_input,
        resized, tensor_of,
    },
    vae::Autoencoder,
};

/// The pixels that are encoded of a map in −1…1.
fn as_encoded(form: MapForm, map: Tensor) -> candle_core::Result<Tensor> {
    match form {
        MapForm::WideLatents => map.affine(63.75, 64.25),
        MapForm::InvertedLatents => map.neg(),
        _ => Ok(map),
    }
}

impl Run<'_> {
    /// Encodes the maps that are read as latents, once for the whole batch.
    pub(super) fn encode_maps(
        &self,
        stage: usize,
        autoencoder: &Used<dyn Autoencoder>,
        dump: &mut Dump,
    ) -> Result<(), PipelineError> {
        let network = autoencoder.network.as_ref();
        for (number, map) in self.resolved.encoded_maps().into_iter().enumerate() {
            let mut encode = |name: &str, image: &Tensor| -> Result<Tensor, PipelineError> {
                let moments = self.moments(stage, autoencoder, image)?;
                dump.add(format!("vae.encode.{name}.{number}.in"), image)?;
                dump.add(format!("vae.encode.{name}.{number}.mean"), &moments.0)?;
                Ok(sample(network, moments, None)?)
            };
            let [width, height] = map.size.map(|side| side as usize / network.scale());
            let nothing =
                || Tensor::zeros((1, network.latent_channels(), height, width), DType::F32, &Device::Cpu);
            let (mut latents, missing) = if map.is_followed {
                let (image, missing) = self.map(map.net, map.size)?;
                (encode("map", &as_encoded(map.form, tensor_of(&image, |_| true)?)?)?, missing)
            } else {
                (nothing()?, Vec::new())
            };
            if map.form == MapForm::UnshiftedLatents {
                let shift = network.rescale(&latents.zeros_like()?.into())?.into_computed()?;
                latents = (latents - shift)?;
            }
            if map.form == MapForm::LatentsAndMask {
                let given = given_latents(&missing, map.size, [height, width])?;
                latents = Tensor::cat(&[latents, given], 1)?;
            }
            if map.form == MapForm::LatentsAndInput {
                let (given, seen) = if map.sees_input {
                    let (image, missing) = self.masked_input(map.size)?;
                    let seen = encode("input", &tensor_of(&image, |place| !missing[place])?)?;
                    (given_latents(&missing, map.size, [height, width])?, seen)
                } else {
                    // As in the pipelines of diffusers and of the authors.
                    (nothing()?.narrow(1, 0, 1)?, nothing()?)
                };
                latents = Tensor::cat(&[latents, given, seen], 1)?;
            }
            self.map_latents.borrow_mut().push((map, latents));
        }
        Ok(())
    }

    /// The map of a ControlNet in this width and height, and which of its pixels are missing.
    fn map(&self, number: usize, size: [u32; 2]) -> Result<(Image, Vec<bool>), PipelineError> {
        let net = &self.request.control_nets[number];
        let whole = |map: Image| {
            let pixels = map.width as usize * map.height as usize;
            (map, vec![false; pixels])
        };
        if let Some(kind) = net.preprocessor.estimated() {
            let maps = self.maps.borrow();
            let map = maps.get(&number).ok_or(RequestError::NoMapEstimator(kind))?;
            // Made in the size of the first pass.
            return Ok(whole(unmetered(|| resized(map.clone(), size))));
        }
        if let Some(map) = unmetered(|| control_map(net, size))? {
            return Ok(whole(map));
        }
        self.masked_input(size)
    }

    /// The input image without its masked part, and which of its pixels are missing, in this width and height.
    fn masked_input(&self, size: [u32; 2]) -> Result<(Image, Vec<bool>), PipelineError> {
        let input = self.request.source.as_ref();
        let masked = input.map(|input| unmetered(|| masked_input(input, size))).transpose()?.flatten();
        masked.ok_or_else(|| RequestError::ControlNetWithoutMask.into())
    }

    /// The maps of the ControlNets that steer a denoiser, on a device.
    pub(super) fn control_images(
        &self,
        denoise: &Denoise,
        device: &Device,
    ) -> Result<Vec<ControlImage>, PipelineError> {
        let size = [denoise.canvas.width, denoise.canvas.height];
        let nets = denoise.denoiser.network.denoiser.control_nets().unwrap_or_default();
        let encoded: Vec<EncodedMap> = denoise.encoded_maps(self.request).collect();
        let latents = |number: usize| -> Option<Tensor> {
            let wanted = encoded.iter().find(|map| map.net == number)?;
            let all = self.map_latents.borrow();
            all.iter().find(|(map, _)| map == wanted).map(|(_, latents)| latents.clone())
        };
        let mut images = Vec::new();
        for ((number, net), about) in self.request.control_nets.iter().enumerate().zip(nets) {
            let image = match latents(number) {
                Some(latents) => latents,
                None => {
                    let (map, missing) = self.map(number, size)?;
                    match about.reads {
                        MapForm::GrayPixels => gray_tensor(&map)?,
                        MapForm::Pixels => control_tensor_without(&map, &missing)?,
                        _ => control_tensor(&map)?,
                    }
                }
            };
            let image = image.to_device(device)?.into();
            let levels = net.levels(&denoise.steps.sigmas);
            images.push(ControlImage { image, mode: net.mode(), weight: net.weight, levels });
        }
        Ok(images)
    }
}
