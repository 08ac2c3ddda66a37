//! Settings in the format of AUTOMATIC1111's web UI: the prompt, the negative prompt, and one line of `Name: value`
//! pairs, with values quoted as in JSON where they would be ambiguous.

use std::path::Path;

use super::{
    control_text, detailer_text,
    elsewhere::{names, parts},
    hires_text,
    settings::{Enlargement, Interpolated, Origin, RestoredSettings, SETTINGS_VERSION, Settings},
};
use crate::{
    precision::Storage,
    request::{
        LARGEST_CLIP_SKIP, Preprocessor, PromptTemplate, Request, Sampler, Schedule, Smooth, Variation,
        Windows,
    },
};

const NEGATIVE: &str = "Negative prompt:";
const RESCALE: &str = "Guidance rescale";
const INTERVAL: &str = "Guidance interval";
/// As the web UI names it.
const EARLY: &str = "Skip Early CFG";
const TRUE_CFG: &str = "True CFG";
const STEP_CACHE: &str = "Step cache";
const FRAMES: &str = "Frames";
const FRAME_RATE: &str = "FPS";
const SHIFT: &str = "Shift";
const VARIATION: &str = "Variation seed";
const VARIATION_STRENGTH: &str = "Variation seed strength";
const WINDOW: &str = "Window frames";
const OVERLAP: &str = "Window overlap";
/// As the extension for dynamic prompts names them.
const TEMPLATE: &str = "Template";
const NEGATIVE_TEMPLATE: &str = "Negative Template";

/// The last line is settings and not part of the prompt if it has at least this many pairs, as in A1111.
const FEWEST_PAIRS: usize = 3;

pub(super) fn write(settings: &Settings) -> String {
    let Request { prompt, negative_prompt, .. } = &settings.request;
    // Adapters that are not in the prompt are written where that program would have them.
    let named = settings.request.adapters.iter().map(|adapter| {
        let name = adapter.path.file_stem().unwrap_or_default().to_string_lossy();
        format!(" <lora:{name}:{}>", adapter.weight)
    });
    let prompt = format!("{prompt}{}", named.collect::<String>());
    let negative = match negative_prompt.as_str() {
        "" => String::new(),
        text => format!("\n{NEGATIVE} {text}"),
    };
    let pairs: Vec<String> =
        pairs(settings).into_iter().map(|(name, value)| format!("{name}: {}", quote(value))).collect();
    let pairs = pairs.join(", ");
    format!("{prompt}{negative}\n{pairs}").trim().to_owned()
}

/// The settings beside the prompts, by the names of the web UI.
pub(super) fn pairs(settings: &Settings) -> Vec<(&'static str, String)> {
    let Request { width, height, steps, guidance, sampler, schedule, .. } = &settings.request;
    if !settings.is_generated() {
        // Nothing else is known of an image that was not generated here.
        let size = ("Size", format!("{width}x{height}"));
        return std::iter::once(size).chain(enlarged_pairs(settings)).chain(version(settings)).collect();
    }
    let mut pairs = vec![
        ("Steps", steps.to_string()),
        ("Sampler", sampler.title().to_owned()),
        ("Schedule type", schedule_name(*schedule).to_owned()),
        ("CFG scale", guidance.to_string()),
        ("Seed", settings.seed.to_string()),
        ("Size", format!("{width}x{height}")),
        ("Model", settings.model_name.clone()),
        ("Clip skip", settings.request.clip_skip.to_string()),
    ];
    if let Some(shift) = settings.request.shift {
        pairs.push((SHIFT, shift.to_string()));
    }
    if let Some(Windows { frames, overlap }) = settings.request.windows {
        pairs.extend([(WINDOW, frames.to_string()), (OVERLAP, overlap.to_string())]);
    }
    if let Some(Variation { seed, strength }) = settings.request.variation.filter(Variation::is_felt) {
        pairs.extend([(VARIATION, seed.to_string()), (VARIATION_STRENGTH, strength.to_string())]);
    }
    pairs.extend(hires_text::pairs(&settings.request));
    pairs.extend(detailer_text::pairs(&settings.request));
    if let Some(strength) = settings.request.strength().filter(|_| settings.request.hires.is_none()) {
        pairs.push((hires_text::STRENGTH, strength.to_string()));
    }
    if let Some(last) = &settings.request.last_image {
        pairs.push(("Last image", file_name(last)));
    }
    let keyframes = settings.request.keyframes.iter();
    pairs.extend(keyframes.map(|key| ("Keyframe", format!("{} at {}", file_name(&key.path), key.frame))));
    if let Some(clip) = &settings.request.clip {
        let name = if clip.extends { "Extended clip" } else { "Init clip" };
        pairs.push((name, file_name(&clip.path)));
        pairs.push(("Clip frames", clip.range.to_string()));
    }
    pairs.extend(settings.request.references.iter().map(|path| ("Reference image", file_name(path))));
    if let Some(redux) = &settings.request.redux {
        pairs.push(("Redux", file_stem(&redux.path)));
        let strengths: Vec<String> = redux.strengths.iter().map(f32::to_string).collect();
        pairs.extend((!strengths.is_empty()).then(|| ("Reference strengths", strengths.join(" "))));
    }
    if let Some(control) = &settings.request.control {
        let named = [("Control video", &control.video), ("Control mask", &control.mask)];
        let named = named.into_iter().filter_map(|(name, path)| Some((name, file_name(path.as_ref()?))));
        pairs.extend(named);
        if control.preprocessor != Preprocessor::None {
            pairs.push(("Control preprocessor", control.preprocessor.name().to_owned()));
        }
        pairs.push(("Control strength", control.strength.to_string()));
        if !control.is_felt_always() {
            pairs.push(("Control start", control.start.to_string()));
            pairs.push(("Control end", control.end.to_string()));
        }
    }
    pairs.extend(control_text::pairs(&settings.request));
    if let Some(source) = &settings.request.source {
        pairs.push(("Init image", file_name(&source.path)));
        if !source.outpaint.is_empty() {
            pairs.push(("Outpaint", source.outpaint.to_string()));
            pairs.push(("Outpaint feather", source.outpaint.feather.to_string()));
        }
        if let Some(mask) = &source.mask {
            pairs.push(("Mask blur", mask.blur.to_string()));
            if let Some(padding) = mask.only_masked {
                pairs.push(("Inpaint area", "Only masked".to_owned()));
                pairs.push(("Masked area padding", padding.to_string()));
            }
        }
    }
    pairs.extend(control_text::refiner_pairs(&settings.request));
    if let Some(PromptTemplate { prompt, negative_prompt, styles }) = &settings.request.template {
        pairs.push((TEMPLATE, prompt.clone()));
        if !negative_prompt.is_empty() {
            pairs.push((NEGATIVE_TEMPLATE, negative_prompt.clone()));
        }
        if !styles.is_empty() {
            pairs.push(("Styles", styles.join(", ")));
        }
    }
    pairs.extend(enlarged_pairs(settings));
    pairs.extend(version(settings));
    if let Some(grid) = &settings.grid {
        let named = [("X axis", 0), ("Y axis", 1), ("Z axis", 2)];
        let named = named.map(|(name, place)| (name, grid.axes[place].clone()));
        pairs.extend(named.into_iter().filter(|(_, axis)| !axis.is_empty()));
    }
    pairs.extend(guiding_pairs(&settings.request));
    // The web UI leaves out a clip skip that skips nothing.
    pairs.retain(|(name, value)| *name != "Clip skip" || !["0", "1"].contains(&value.as_str()));
    pairs
}

/// How an image was enlarged, by the names of the web UI's page for that.
fn enlarged_pairs(settings: &Settings) -> Vec<(&'static str, String)> {
    let pairs = settings.enlarged.iter().flat_map(|Enlargement { upscaler, scale }| {
        [("Postprocess upscale by", scale.to_string()), ("Postprocess upscaler", upscaler.clone())]
    });
    let interpolated = settings.interpolated.iter().flat_map(|Interpolated { model, factor }| {
        [("Frame interpolation by", factor.to_string()), ("Frame interpolation model", model.clone())]
    });
    let smooth = settings.request.smooth.iter().flat_map(|Smooth { model, how }| {
        let name = model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        [("Frame interpolation by", how.factor.to_string()), ("Frame interpolation model", name)]
    });
    smooth.chain(pairs).chain(interpolated).collect()
}

fn version(settings: &Settings) -> Option<(&'static str, String)> {
    let version = &settings.sluice_version;
    (!version.is_empty()).then(|| ("Version", format!("Sluice {version}")))
}

/// Settings that A1111 does not have, where they differ from their defaults.
fn guiding_pairs(request: &Request) -> Vec<(&'static str, String)> {
    let (Request { guiding, step_cache, frames, frame_rate, .. }, plain) = (request, Request::default());
    let pairs = [
        (RESCALE, guiding.rescale.to_string(), guiding.rescale != plain.guiding.rescale),
        (INTERVAL, guiding.interval.to_string(), guiding.interval != plain.guiding.interval),
        (TRUE_CFG, guiding.true_cfg.to_string(), guiding.true_cfg != plain.guiding.true_cfg),
        (STEP_CACHE, step_cache.to_string(), *step_cache != plain.step_cache),
        (FRAMES, frames.to_string(), *frames != plain.frames),
        (FRAME_RATE, frame_rate.to_string(), *frame_rate != plain.frame_rate),
    ];
    pairs.into_iter().filter(|(.., is_set)| *is_set).map(|(name, value, _)| (name, value)).collect()
}

pub(super) fn file_stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

pub(super) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Whether a text ends with a line of settings, and is not just any text.
pub(super) fn has_settings(text: &str) -> bool {
    let last = text.trim().lines().last().unwrap_or_default();
    read_pairs(last).len() >= FEWEST_PAIRS
}

/// Never fails: what cannot be parsed keeps its default, and the notes say so.
pub(super) fn parse(text: &str) -> RestoredSettings {
    let text = text.trim();
    let (prompts, last) = text.rsplit_once('\n').unwrap_or(("", text));
    let mut pairs = read_pairs(last);
    let mut notes = Vec::new();
    let prompts = if pairs.len() < FEWEST_PAIRS {
        pairs.clear();
        notes.push("Only a prompt was found; all other settings have their defaults.".to_owned());
        text
    } else {
        prompts
    };
    let (prompt, negative_prompt) = split_prompts(prompts);
    let mut settings = Settings {
        version: SETTINGS_VERSION,
        // A size of 0 is not said.
        request: Request { prompt, negative_prompt, width: 0, height: 0, ..Request::default() },
        model_name: String::new(),
        family: String::new(),
        sluice_version: String::new(),
        seed: 0,
        denoiser_precision: Storage::default(),
        text_precision: Storage::default(),
        bf16_products: false,
        bf16_tiles: false,
        bf16_words: false,
        int8_products: false,
        enlarged: Vec::new(),
        interpolated: Vec::new(),
        made_of: None,
        grid: None,
    };
    let mut left = Vec::new();
    for (name, value) in &pairs {
        match apply(&mut settings, name, value) {
            Ok(true) => {}
            Ok(false) if is_read_elsewhere(name) || says_no_setting(name) => {}
            Ok(false) => left.push(name.clone()),
            Err(note) => notes.push(note),
        }
    }
    settings.seed = settings.request.seed;
    let request = &mut settings.request;
    set_true_cfg(request, &pairs);
    left.extend(hires_text::restore(request, &mut notes, &pairs));
    left.extend(detailer_text::restore(request, &mut notes, &pairs));
    left.extend(control_text::restore(request, &mut notes, &pairs));
    notes.extend(missing_parts(&settings, &pairs));
    if !left.is_empty() {
        left.dedup();
        notes.push(parts::left_out(&left));
    }
    let version = pairs.iter().find(|(name, _)| name == "Version").map_or("", |(_, value)| value.as_str());
    let origin = match version {
        "stable-diffusion.cpp" => Origin::StableDiffusionCpp,
        version if version.starts_with("Fooocus") => Origin::Fooocus,
        _ => Origin::A1111,
    };
    RestoredSettings { settings, origin, notes }
}

/// Of models that take guidance as an input, Forge's CFG scale is that of a second prediction.
fn set_true_cfg(request: &mut Request, pairs: &[(String, String)]) {
    let value = |wanted: &str| {
        let found = pairs.iter().find(|(name, _)| name == wanted)?;
        found.1.parse::<f32>().ok().filter(|scale| scale.is_finite())
    };
    if let (Some(scale), Some(_)) = (value("CFG scale"), value("Distilled CFG Scale")) {
        request.guiding.true_cfg = scale.max(1.0);
    }
}

/// Whether a pair is read with others, or a note of its own says that it is not restored.
fn is_read_elsewhere(name: &str) -> bool {
    name.starts_with(hires_text::PREFIX)
        || name.starts_with(detailer_text::PREFIX)
        || control_text::is_read(name)
        || [hires_text::STRENGTH, "Init image"].contains(&name)
}

/// Whether a pair only says what the image was made with, and not how.
fn says_no_setting(name: &str) -> bool {
    // What prompts were made of is in the prompts.
    const FACTS: [&str; 8] =
        [TEMPLATE, NEGATIVE_TEMPLATE, "Styles", "RNG", "Sampler RNG", "TI", "User", "VAE"];
    let is_hash = name.ends_with("hash") || name.ends_with("hashes") || name == "Hashes";
    // The text encoders and the autoencoder in Forge.
    let is_file = name.strip_prefix("Module ").is_some_and(|number| number.parse::<u8>().is_ok());
    is_hash || is_file || FACTS.contains(&name)
}

/// Takes over a setting. Returns whether its name is known.
fn apply(settings: &mut Settings, name: &str, value: &str) -> Result<bool, String> {
    let misread = || parts::misread(name, value);
    let request = &mut settings.request;
    match name {
        "Steps" => request.steps = value.parse().map_err(|_| misread())?,
        "Seed" => request.seed = value.parse().map_err(|_| misread())?,
        // For models that take guidance as an input, Forge has a separate setting and leaves the other one at 1.
        // The separate setting is written later, so it wins.
        // stable-diffusion.cpp writes both for every model; with a CFG scale of 1 the other one counts.
        "Guidance" if request.guidance != 1.0 => {}
        "CFG scale" | "Distilled CFG Scale" | "Guidance" => {
            let guidance: f32 = value.parse().map_err(|_| misread())?;
            request.guidance =
                if guidance.is_finite() && guidance >= 0.0 { guidance } else { return Err(misread()) };
        }
        "Size" => {
            let (width, height) = value.split_once('x').ok_or_else(misread)?;
            (request.width, request.height) =
                (width.parse().map_err(|_| misread())?, height.parse().map_err(|_| misread())?);
        }
        "Sampler" => {
            let (name, schedule) = split_schedule(value);
            let (sampler, known) = nearest_sampler(name);
            request.sampler = sampler;
            request.schedule = schedule.unwrap_or(request.schedule);
            if !known {
                let chosen = sampler.title();
                return Err(format!("The sampler “{name}” is not available; {chosen} is used instead."));
            }
        }
        // A1111 has two names for what is the same in models with a table of levels.
        "Schedule type" if value == "Uniform" => request.schedule = Schedule::Normal,
        "Schedule type" => match Schedule::ALL.into_iter().find(|&known| schedule_name(known) == value) {
            Some(schedule) => request.schedule = schedule,
            None => {
                return Err(format!("The schedule “{value}” is not available; the model default is used."));
            }
        },
        "Clip skip" => {
            let skip = value.parse().ok().filter(|skip| *skip <= LARGEST_CLIP_SKIP);
            request.clip_skip = skip.ok_or_else(misread)?;
        }
        RESCALE => request.guiding.rescale = value.parse().map_err(|_| misread())?,
        INTERVAL => request.guiding.interval = value.parse().map_err(|_| misread())?,
        // Guidance begins after this share of the steps.
        EARLY => {
            let start = value.parse::<f32>().ok().filter(|start| (0.0..1.0).contains(start));
            request.guiding.interval.start = start.ok_or_else(misread)?;
        }
        TRUE_CFG => request.guiding.true_cfg = value.parse().map_err(|_| misread())?,
        STEP_CACHE => request.step_cache = value.parse().map_err(|_| misread())?,
        SHIFT => request.shift = Some(value.parse().map_err(|_| misread())?),
        WINDOW => request.windows.get_or_insert_default().frames = value.parse().map_err(|_| misread())?,
        OVERLAP => request.windows.get_or_insert_default().overlap = value.parse().map_err(|_| misread())?,
        VARIATION | VARIATION_STRENGTH => {
            let before = request.variation.unwrap_or(Variation { seed: 0, strength: 0.0 });
            request.variation = Some(match name {
                VARIATION => Variation { seed: value.parse().map_err(|_| misread())?, ..before },
                _ => Variation { strength: value.parse().map_err(|_| misread())?, ..before },
            });
        }
        FRAMES => request.frames = value.parse().map_err(|_| misread())?,
        FRAME_RATE => request.frame_rate = value.parse().map_err(|_| misread())?,
        "Model" => value.clone_into(&mut settings.model_name),
        // stable-diffusion.cpp names the file of a denoiser apart.
        "Unet" if settings.model_name.is_empty() => value.clone_into(&mut settings.model_name),
        // Fooocus.
        "Scheduler" => {
            if let Some(schedule) = names::schedule(value) {
                request.schedule = schedule;
            }
        }
        "Version" => {
            if let Some(version) = value.strip_prefix("Sluice ") {
                version.clone_into(&mut settings.sluice_version);
            }
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Inputs of the image that cannot be restored, one sentence each.
fn missing_parts(settings: &Settings, pairs: &[(String, String)]) -> Vec<String> {
    let has = |wanted: &str| pairs.iter().any(|(name, _)| name == wanted);
    let mut notes = Vec::new();
    if has(hires_text::STRENGTH) && !has("Hires upscale") && !has("Hires resize") {
        notes.push("This image was made from an input image, which is not included.".to_owned());
    }
    notes.extend(parts::missing_images(&settings.request));
    if settings.request.prompt.contains("<lora:") {
        notes.push("The prompt names a LoRA, which Sluice looks for by the name of its file.".to_owned());
    }
    notes
}

/// The sampler that is most like the named one, and whether it is the same.
fn nearest_sampler(name: &str) -> (Sampler, bool) {
    // Programs that write like A1111 do not agree on capitals: Forge has “Res Multistep”.
    if let Some(sampler) = Sampler::ALL.into_iter().find(|known| known.title().eq_ignore_ascii_case(name)) {
        return (sampler, true);
    }
    if let Some(known) = names::sampler(name) {
        return (known.sampler, known.is_same);
    }
    let alike = Sampler::ALL.into_iter().filter(|known| name.starts_with(known.title()));
    (alike.max_by_key(|known| known.title().len()).unwrap_or_default(), false)
}

/// A sampler's name without the schedule that older versions appended, and that schedule.
fn split_schedule(name: &str) -> (&str, Option<Schedule>) {
    let with = |schedule: Schedule| name.strip_suffix(schedule.title()).map(|rest| (rest, schedule));
    match [Schedule::Karras, Schedule::Exponential].into_iter().find_map(with) {
        Some((sampler, schedule)) => (sampler.trim_end(), Some(schedule)),
        // stable-diffusion.cpp: `euler_a karras`.
        None => match name.split_once(' ').filter(|_| name.contains('_') || name == name.to_lowercase()) {
            Some((sampler, schedule)) => (sampler, names::schedule(schedule)),
            None => (name, None),
        },
    }
}

fn schedule_name(schedule: Schedule) -> &'static str {
    match schedule {
        Schedule::Model => "Automatic",
        other => other.title(),
    }
}

fn split_prompts(text: &str) -> (String, String) {
    let mut parts = [Vec::new(), Vec::new()];
    let mut part = 0;
    for line in text.lines().map(str::trim) {
        let line = match line.strip_prefix(NEGATIVE) {
            Some(rest) => {
                part = 1;
                rest.trim()
            }
            None => line,
        };
        parts[part].push(line);
    }
    let [prompt, negative] = parts.map(|lines| lines.join("\n").trim().to_owned());
    (prompt, negative)
}

fn read_pairs(line: &str) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    let mut rest = line;
    while let Some((name, after)) = rest.split_once(':') {
        if let Some((_, later)) = name.split_once(',') {
            // A word without a value, or a comma in a value without quotes.
            rest = &rest[rest.len() - later.len() - after.len() - 1..];
            continue;
        }
        let (value, after) = read_value(after.trim_start());
        pairs.push((name.trim().to_owned(), value));
        rest = after;
    }
    pairs
}

/// The value at the start of a text, and what follows it.
fn read_value(text: &str) -> (String, &str) {
    if text.starts_with('"') {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<String>();
        if let Some(Ok(value)) = values.next() {
            let after = text[values.byte_offset()..].trim_start();
            if let Some(after) = after.strip_prefix(',').or(after.is_empty().then_some("")) {
                return (value, after);
            }
        }
    }
    let (value, after) = text.split_once(',').unwrap_or((text, ""));
    (value.trim().to_owned(), after)
}

fn quote(value: String) -> String {
    if value.contains([',', '\n', ':']) || value.starts_with('"') {
        serde_json::Value::String(value).to_string()
    } else {
        value
    }
}
