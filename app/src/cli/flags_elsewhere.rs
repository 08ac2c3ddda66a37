//! Options of other programs, and what to use here. An unknown option is answered with this table.

use clap::{
    builder::StyledStr,
    error::{ContextKind, ContextValue, ErrorKind},
};

/// The programs that the table knows. Forge has most options of A1111.
const SD_CPP: &str = "stable-diffusion.cpp";
const COMFYUI: &str = "ComfyUI";
const A1111: &str = "A1111";
const FORGE: &str = "Forge";

/// What an option is here.
enum Here {
    /// Another name for the same.
    Name(&'static str),
    /// The nearest there is, in words.
    Near(&'static str),
    /// Nothing, and why.
    None(&'static str),
}

use Here::{Name, Near, None as Nothing};

const PLANNED: &str = "Sluice plans what stays on the GPU by itself";
const LAYERS: &str = "use `--offload layer_streaming`; automatic if the model does not fit";
const TILED: &str = "use `--attention tiled`";
const IN_PARTS: &str = "use `--attention math`, the default, which computes some heads and queries at a time";
const IN_16_BITS: &str = "use `--dtype f16`; on a GPU, 16 bits are the default";

/// The option, its program, and what it is here.
const TABLE: &[(&str, &str, Here)] = &[
    ("--offload-mode", SD_CPP, Name("--offload")),
    ("--offload-to-cpu", SD_CPP, Near("use `--offload aggressive`; automatic if the model does not fit")),
    ("--offload-cond-stage", SD_CPP, Near("use `--text-encoder-placement staged`")),
    ("--no-offload-cond-stage", SD_CPP, Near("use `--text-encoder-placement resident`")),
    ("--offload-diffusion", SD_CPP, Near("use `--denoiser-placement staged`")),
    ("--no-offload-diffusion", SD_CPP, Near("use `--denoiser-placement resident`")),
    ("--no-offload-log", SD_CPP, Nothing("it is off unless `--offload-log` is given")),
    ("--reload-cond-stage", SD_CPP, Near("use `--keep-loaded`")),
    ("--reload-diffusion", SD_CPP, Near("use `--keep-loaded`")),
    ("--stream-layers", SD_CPP, Near(LAYERS)),
    ("--streaming-prefetch", SD_CPP, Name("--prefetch")),
    ("--layer-prefetch-depth", SD_CPP, Name("--prefetch")),
    ("--resident-layers", SD_CPP, Near("set `--vram-budget`; as many blocks stay as fit into it")),
    ("--streaming-min-free-vram", SD_CPP, Name("--min-free-vram")),
    ("--vram-estimation", SD_CPP, Name("--estimate")),
    ("--max-vram", SD_CPP, Name("--vram-budget")),
    ("--clip-on-cpu", SD_CPP, Near("use `--offload cond_only` or `--text-encoder-placement on-demand`")),
    ("--vae-on-cpu", SD_CPP, Near("use `--vae-placement staged` or `--vae-tile-size`")),
    ("--vae-tiling", SD_CPP, Near("set `--vae-tile-size`; automatic if the image does not fit")),
    ("--vae-relative-tile-size", SD_CPP, Name("--vae-tile-size")),
    ("--diffusion-fa", SD_CPP, Near(TILED)),
    ("--fa", SD_CPP, Near(TILED)),
    ("--mmap", SD_CPP, Nothing("weights are read from the file when they are needed")),
    ("--type", SD_CPP, Name("--weight-type")),
    ("--tensor-type-rules", SD_CPP, Near("use `--weight-type` and `--text-encoder-weight-type`")),
    ("--backend", SD_CPP, Near("use `--cpu`; otherwise the GPU is used if there is one")),
    ("--params-backend", SD_CPP, Near("use `--denoiser-placement` and `--text-encoder-placement`")),
    ("--diffusion-model", SD_CPP, Name("--model")),
    ("--clip_l", SD_CPP, Near("use `--model-folder`, where missing parts are found")),
    ("--clip_g", SD_CPP, Near("use `--model-folder`, where missing parts are found")),
    ("--t5xxl", SD_CPP, Near("use `--model-folder`, where missing parts are found")),
    ("--llm", SD_CPP, Near("use `--model-folder`, where missing parts are found")),
    ("--taesd", SD_CPP, Nothing("the tiny decoder for previews is found next to the model")),
    ("--tae", SD_CPP, Nothing("the tiny decoder for previews is found next to the model")),
    ("--lora-model-dir", SD_CPP, Name("--lora-folder")),
    ("--sampling-method", SD_CPP, Name("--sampler")),
    ("--init-img", SD_CPP, Name("--init-image")),
    ("--batch-count", SD_CPP, Name("--batch-size")),
    ("--video-frames", SD_CPP, Name("--frames")),
    ("-H", SD_CPP, Name("--height")),
    ("-W", SD_CPP, Name("--width")),
    ("-n", SD_CPP, Name("--negative-prompt")),
    ("-i", SD_CPP, Name("--init-image")),
    ("-s", SD_CPP, Name("--seed")),
    ("-t", SD_CPP, Name("--threads")),
    ("-b", SD_CPP, Name("--batch-size")),
    ("-v", SD_CPP, Near("set the variable `SLUICE_LOG` to `info`")),
    ("--verbose", SD_CPP, Near("set the variable `SLUICE_LOG` to `info`")),
    ("--cache-mode", SD_CPP, Name("--step-cache")),
    (
        "--lowvram",
        COMFYUI,
        Near("set `--vram-budget` if Sluice should take less; it streams what does not fit"),
    ),
    ("--novram", COMFYUI, Near("use `--optimize-for memory`")),
    ("--normalvram", COMFYUI, Nothing(PLANNED)),
    ("--highvram", COMFYUI, Near("use `--keep-loaded all` and `--optimize-for speed`")),
    ("--cuda-device", COMFYUI, Name("--gpu")),
    ("--default-device", COMFYUI, Name("--gpu")),
    ("--gpu-only", COMFYUI, Near("use `--offload none`")),
    ("--reserve-vram", COMFYUI, Name("--min-free-vram")),
    ("--disable-smart-memory", COMFYUI, Near("use `--keep-loaded none`")),
    ("--cpu-vae", COMFYUI, Near("use `--vae-placement staged` or `--vae-tile-size`")),
    (
        "--async-offload",
        COMFYUI,
        Nothing("blocks are always copied while others are computed; see `--prefetch`"),
    ),
    ("--force-fp16", COMFYUI, Near(IN_16_BITS)),
    ("--force-fp32", COMFYUI, Near("use `--dtype f32`")),
    ("--fp16-unet", COMFYUI, Near(IN_16_BITS)),
    ("--bf16-unet", COMFYUI, Near("use `--dtype bf16`")),
    ("--fp8_e4m3fn-unet", COMFYUI, Near("use `--weight-type fp8`")),
    ("--fp8_e5m2-unet", COMFYUI, Near("use `--weight-type fp8_e5m2`")),
    ("--fp8_e4m3fn-text-enc", COMFYUI, Near("use `--text-encoder-weight-type fp8`")),
    ("--use-split-cross-attention", COMFYUI, Near(IN_PARTS)),
    ("--use-quad-cross-attention", COMFYUI, Near(IN_PARTS)),
    ("--use-pytorch-cross-attention", COMFYUI, Near(TILED)),
    ("--use-flash-attention", COMFYUI, Near(TILED)),
    ("--use-sage-attention", COMFYUI, Near(TILED)),
    ("--extra-model-paths-config", COMFYUI, Name("--model-folder")),
    ("--output-directory", COMFYUI, Name("--output")),
    (
        "--medvram",
        A1111,
        Near("set `--vram-budget` if Sluice should take less; it offloads what does not fit"),
    ),
    (
        "--medvram-sdxl",
        A1111,
        Near("set `--vram-budget` if Sluice should take less; it offloads what does not fit"),
    ),
    ("--xformers", A1111, Near(TILED)),
    ("--opt-sdp-attention", A1111, Near(TILED)),
    ("--opt-split-attention", A1111, Near(IN_PARTS)),
    ("--no-half", A1111, Near("use `--dtype f32`")),
    ("--no-half-vae", A1111, Nothing("the VAE is computed in f32 wherever the rest is in f16")),
    ("--use-cpu", A1111, Name("--cpu")),
    ("--device-id", A1111, Name("--gpu")),
    ("--ckpt", A1111, Name("--model")),
    ("--ckpt-dir", A1111, Name("--model-folder")),
    ("--vae-dir", A1111, Name("--model-folder")),
    ("--lora-dir", A1111, Name("--lora-folder")),
    ("--always-gpu", FORGE, Near("use `--offload none`")),
    ("--always-high-vram", FORGE, Near("use `--keep-loaded all` and `--optimize-for speed`")),
    ("--always-normal-vram", FORGE, Nothing(PLANNED)),
    ("--always-low-vram", FORGE, Near("use `--optimize-for memory`")),
    ("--always-no-vram", FORGE, Near("use `--optimize-for memory`")),
    ("--always-cpu", FORGE, Name("--cpu")),
    ("--gpu-device-id", FORGE, Name("--gpu")),
    ("--always-offload-from-vram", FORGE, Near("use `--keep-loaded none`")),
    ("--pin-shared-memory", FORGE, Nothing("what is copied to a GPU is pinned as far as RAM allows")),
    ("--cuda-stream", FORGE, Nothing("blocks are always copied on a stream of their own")),
    ("--cuda-malloc", FORGE, Nothing("memory always comes from the driver's pool")),
];

/// Adds what to use here to the error about an unknown option.
pub(super) fn explain(mut error: clap::Error) -> clap::Error {
    if error.kind() == ErrorKind::UnknownArgument
        && let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg)
        && let Some(tip) = answer(unknown)
    {
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    error
}

fn answer(unknown: &str) -> Option<String> {
    let (flag, program, here) = TABLE.iter().find(|(flag, ..)| *flag == unknown)?;
    Some(match here {
        Name(name) => format!("`{flag}` of {program} is called `{name}` here"),
        Near(what) => format!("for `{flag}` of {program}, {what}"),
        Nothing(why) => format!("`{flag}` of {program} is not needed here: {why}"),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::{CommandFactory as _, Parser as _};

    use super::*;
    use crate::cli::CommandLine;

    /// The options of `generate` and `plan`, as they are typed.
    fn own() -> BTreeSet<String> {
        let program = CommandLine::command();
        let commands = ["generate", "plan"].map(|name| program.find_subcommand(name).unwrap().clone());
        let long = commands.iter().flat_map(|command| command.get_arguments()).flat_map(|option| {
            let aliases = option.get_all_aliases().unwrap_or_default().into_iter();
            aliases.chain(option.get_long()).map(|name| format!("--{name}")).collect::<Vec<_>>()
        });
        let short = commands.iter().flat_map(|command| command.get_arguments());
        let short = short.filter_map(|option| Some(format!("-{}", option.get_short()?)));
        long.chain(short).collect()
    }

    #[test]
    fn every_answer_names_options_that_exist_for_one_that_does_not() {
        let own = own();
        let mut seen = BTreeSet::new();
        for (flag, ..) in TABLE {
            assert!(!own.contains(*flag), "{flag} is an option here");
            assert!(seen.insert(flag), "{flag} is answered twice");
            let answer = answer(flag).unwrap();
            for word in answer.split('`').filter(|word| word.starts_with('-') && *word != *flag) {
                let option = word.split(' ').next().unwrap();
                assert!(own.contains(option), "{flag} is answered with {option}, which does not exist");
            }
        }
    }

    #[test]
    fn an_option_of_another_program_is_answered_with_ours() {
        for (arguments, tip) in [
            (
                "generate --max-vram 8",
                "tip: `--max-vram` of stable-diffusion.cpp is called `--vram-budget` here",
            ),
            ("generate --prompt x --max-vram=8", "is called `--vram-budget` here"),
            ("generate -p x -H 512", "`-H` of stable-diffusion.cpp is called `--height` here"),
            ("plan -W512", "is called `--width` here"),
            ("plan --diffusion-fa", "for `--diffusion-fa` of stable-diffusion.cpp, use `--attention tiled`"),
            ("--lowvram", "for `--lowvram` of ComfyUI, set `--vram-budget`"),
        ] {
            let error =
                CommandLine::try_parse_from(["sluice"].into_iter().chain(arguments.split(' '))).unwrap_err();
            let error = explain(error);
            let said = error.to_string();
            assert!(said.contains(tip), "{arguments}: {said}");
            assert!(!said.contains("similar argument"), "{arguments}: {said}");
            assert_eq!(error.exit_code(), 2);
        }
        let typo = CommandLine::try_parse_from(["sluice", "plan", "--vram-budgt", "8"]).unwrap_err();
        assert!(explain(typo).to_string().contains("'--vram-budget'"));
    }
}
