//! Every value of a configuration affects the computation: changing it changes the result.

use std::path::Path;

use candle_core::{DType, Tensor};
use serde_json::{Value, json};
use sluice_tests::{
    checkpoint::{Fixture, Run, set_json},
    original_names::Tensors,
    runner::Runner,
};

/// File, key to change, new value, and the first tensor of the dump that must change.
type Change = (&'static str, &'static str, Value, &'static str);

const TEXT: &str = "encode_prompt.0.0.0";
const POOLED: &str = "encode_prompt.0.0.1";
const DENOISER: &str = "transformer.0.out.0.0";
/// The name in pipelines that return all branches in one tensor.
const JOINED: &str = "transformer.0.out.0";
const NEGATIVE: &str = "encode_prompt.0.1.0";
const UNET: &str = "unet.0.out.0";
const FIRST_STEP: &str = "step.0.latents";
const LAST_STEP: &str = "step.1.latents";
const DECODER: &str = "vae.decode.in";

/// Minimum change of a tensor, relative to its largest value: far more than rounding.
const VISIBLE: f64 = 1e-3;

fn run_on(family: &str, case: &str, run: &str, change: Option<&Change>) -> Tensors {
    let (fixture, folder) = (Fixture::new(family, case), tempfile::tempdir().unwrap());
    let model = fixture.write_diffusers(folder.path()).unwrap();
    if let Some((file, key, value, _)) = change {
        set_json(&model.join(file), key, value.clone()).unwrap();
    }
    let run: Run = fixture.run(run).unwrap();
    dump(&run, &model)
}

fn dump(run: &Run, model: &Path) -> Tensors {
    Runner::start().unwrap().repeat(run, model).unwrap().1
}

/// The largest difference, relative to the largest value.
fn moved(before: &Tensor, after: &Tensor) -> f64 {
    let largest = |tensor: &Tensor| -> f64 {
        let all = tensor.to_dtype(DType::F64).unwrap().abs().unwrap().flatten_all().unwrap();
        all.max(0).unwrap().to_scalar().unwrap()
    };
    largest(&(before - after).unwrap()) / largest(before)
}

/// Checks that each change affects its tensor, and none that is computed before it.
fn check(family: &str, case: &str, run: &str, changes: &[Change]) {
    let before = run_on(family, case, run, None);
    let order = [TEXT, POOLED, NEGATIVE, DENOISER, JOINED, UNET, FIRST_STEP, LAST_STEP, DECODER];
    for change in changes {
        let (file, key, value, first) = change;
        let after = run_on(family, case, run, Some(change));
        let distance = moved(&before[*first], &after[*first]);
        assert!(distance > VISIBLE, "{case}: {file} {key} = {value} moves {first} by {distance:.1e} only");
        let earlier = order.iter().take_while(|name| *name != first && before.contains_key(**name));
        for name in earlier {
            assert_eq!(moved(&before[*name], &after[*name]), 0.0, "{case}: {file} {key} moves {name}");
        }
    }
}

#[test]
fn numbers_that_every_checkpoint_shows() {
    check(
        "z_image",
        "salted",
        "heun",
        &[
            ("text_encoder/config.json", "rope_theta", json!(1e6), TEXT),
            ("text_encoder/config.json", "rms_norm_eps", json!(1e-6), TEXT),
            ("transformer/config.json", "rope_theta", json!(256.0), DENOISER),
            ("transformer/config.json", "norm_eps", json!(1e-5), DENOISER),
            ("transformer/config.json", "axes_dims", json!([16, 16, 16]), DENOISER),
            ("scheduler/scheduler_config.json", "use_dynamic_shifting", json!(false), FIRST_STEP),
            ("scheduler/scheduler_config.json", "base_shift", json!(0.5), FIRST_STEP),
            ("scheduler/scheduler_config.json", "max_shift", json!(8.0), FIRST_STEP),
            ("scheduler/scheduler_config.json", "base_image_seq_len", json!(200), FIRST_STEP),
            ("scheduler/scheduler_config.json", "max_image_seq_len", json!(16), FIRST_STEP),
            ("vae/config.json", "scaling_factor", json!(0.3611), DECODER),
            ("vae/config.json", "shift_factor", json!(0.1159), DECODER),
        ],
    );
}

/// The first step is at time 0, where the scale of time has no effect.
#[test]
fn the_scale_of_time_shows_from_the_second_step_on() {
    check(
        "z_image",
        "faint",
        "small",
        &[
            ("transformer/config.json", "t_scale", json!(500.0), LAST_STEP),
            ("scheduler/scheduler_config.json", "shift", json!(6.0), FIRST_STEP),
        ],
    );
}

#[test]
fn epsilons_that_a_healthy_checkpoint_hides() {
    check(
        "z_image",
        "faint",
        "small",
        &[
            ("text_encoder/config.json", "rms_norm_eps", json!(1e-5), TEXT),
            ("transformer/config.json", "norm_eps", json!(1e-6), DENOISER),
        ],
    );
}

#[test]
fn numbers_that_every_flux_checkpoint_shows() {
    check(
        "flux",
        "salted",
        "mixed",
        &[
            ("text_encoder_2/config.json", "layer_norm_epsilon", json!(1e-6), TEXT),
            ("text_encoder_2/config.json", "relative_attention_max_distance", json!(128), TEXT),
            ("text_encoder/config.json", "layer_norm_eps", json!(1e-5), POOLED),
            ("text_encoder/config.json", "hidden_act", json!("quick_gelu"), POOLED),
            ("text_encoder/config.json", "eos_token_id", json!(0), POOLED),
            ("transformer/config.json", "axes_dims_rope", json!([8, 8, 8]), DENOISER),
            ("scheduler/scheduler_config.json", "use_dynamic_shifting", json!(false), FIRST_STEP),
            ("scheduler/scheduler_config.json", "base_shift", json!(0.5), FIRST_STEP),
            ("scheduler/scheduler_config.json", "max_shift", json!(8.0), FIRST_STEP),
            ("vae/config.json", "scaling_factor", json!(0.3611), DECODER),
            ("vae/config.json", "shift_factor", json!(0.1159), DECODER),
        ],
    );
}

#[test]
fn numbers_that_every_stable_diffusion_3_checkpoint_shows() {
    check(
        "sd3",
        "salted",
        "mixed",
        &[
            ("text_encoder/config.json", "layer_norm_eps", json!(1e-5), TEXT),
            ("text_encoder/config.json", "hidden_act", json!("quick_gelu"), TEXT),
            ("text_encoder/config.json", "eos_token_id", json!(0), POOLED),
            ("text_encoder_2/config.json", "layer_norm_eps", json!(1e-5), TEXT),
            ("text_encoder_2/config.json", "hidden_act", json!("gelu"), TEXT),
            ("text_encoder_3/config.json", "layer_norm_epsilon", json!(1e-6), TEXT),
            ("text_encoder_3/config.json", "relative_attention_max_distance", json!(128), TEXT),
            ("transformer/config.json", "qk_norm", json!(null), JOINED),
            ("scheduler/scheduler_config.json", "shift", json!(3.0), FIRST_STEP),
            ("scheduler/scheduler_config.json", "use_dynamic_shifting", json!(true), FIRST_STEP),
            ("vae/config.json", "scaling_factor", json!(1.5305), DECODER),
            ("vae/config.json", "shift_factor", json!(0.0609), DECODER),
        ],
    );
}

/// The transformer's epsilons are not configurable. This checkpoint's output changes by at least a thousandth
/// with any of them, and is compared with diffusers'.
#[test]
fn epsilons_that_a_healthy_stable_diffusion_3_checkpoint_hides() {
    check(
        "sd3",
        "faint",
        "small",
        &[
            ("text_encoder/config.json", "layer_norm_eps", json!(1e-6), TEXT),
            ("text_encoder_2/config.json", "layer_norm_eps", json!(1e-6), TEXT),
            ("text_encoder_3/config.json", "layer_norm_epsilon", json!(1e-5), TEXT),
        ],
    );
}

#[test]
fn epsilons_that_a_healthy_flux_checkpoint_hides() {
    check(
        "flux",
        "faint",
        "small",
        &[
            ("text_encoder_2/config.json", "layer_norm_epsilon", json!(1e-5), TEXT),
            ("text_encoder/config.json", "layer_norm_eps", json!(1e-6), POOLED),
        ],
    );
}

#[test]
fn numbers_that_every_unet_shows() {
    check(
        "sdxl",
        "salted",
        "empty",
        &[
            ("text_encoder/config.json", "layer_norm_eps", json!(1e-5), TEXT),
            ("text_encoder/config.json", "hidden_act", json!("quick_gelu"), TEXT),
            ("text_encoder_2/config.json", "layer_norm_eps", json!(1e-5), TEXT),
            ("text_encoder_2/config.json", "hidden_act", json!("gelu"), TEXT),
            ("text_encoder_2/config.json", "eos_token_id", json!(0), POOLED),
            ("model_index.json", "force_zeros_for_empty_prompt", json!(true), NEGATIVE),
            ("unet/config.json", "norm_eps", json!(1e-5), UNET),
            ("unet/config.json", "attention_head_dim", json!([2, 3]), UNET),
            ("unet/config.json", "flip_sin_to_cos", json!(true), UNET),
            ("unet/config.json", "freq_shift", json!(0), UNET),
            ("scheduler/scheduler_config.json", "timestep_spacing", json!("leading"), UNET),
            ("scheduler/scheduler_config.json", "prediction_type", json!("epsilon"), FIRST_STEP),
            ("vae/config.json", "scaling_factor", json!(0.3611), DECODER),
        ],
    );
}
