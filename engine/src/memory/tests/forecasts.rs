//! Strategies, sentences and forecasts.

use super::{models::*, *};
use crate::memory::{
    Alternative, PlanError, Quality, alternatives, forecast, least_device_budget, plan, remedy, sentence,
    with_allowed_precision,
};

fn row<'a>(rows: &'a [Alternative], id: &str) -> &'a Alternative {
    rows.iter().find(|row| row.id == id).unwrap()
}

#[test]
fn strategies_take_what_their_formulas_say() {
    let (footprint, workload) = even(20);
    let machine = card(12 * GIB, 64 * GIB, 12.0);
    let rows = alternatives(&footprint, &workload, &machine, &MemoryPreferences::default());
    let everything = row(&rows, "everything");
    assert!(everything.device >= footprint.total() && everything.device_short > 0 && everything.available);
    let groups = row(&rows, "block_groups_stream");
    assert_eq!(groups.device - row(&rows, "block_groups").device, footprint.largest_block());
    assert!(groups.seconds_per_step < row(&rows, "block_groups").seconds_per_step);
    let [four, recorded, unpinned] =
        ["block_groups_4", "block_groups_stream_record", "block_groups_stream_unpinned"]
            .map(|id| row(&rows, id));
    assert_eq!(four.device - row(&rows, "block_groups").device, 3 * footprint.largest_block());
    assert!(recorded.device > groups.device && recorded.seconds_per_step <= groups.seconds_per_step);
    assert!(unpinned.host < groups.host && unpinned.seconds_per_step > groups.seconds_per_step);
    assert!(groups.host > 2 * footprint.total() && !groups.available && groups.preferences.is_none());
    assert!(row(&rows, "sequential").device < row(&rows, "block_groups").device);
    let (fp8, nf4) = (row(&rows, "fp8"), row(&rows, "nf4"));
    assert!(nf4.device < fp8.device && fp8.device < footprint.total() * 6 / 10 + 4 * GIB);
    assert_eq!((fp8.quality, nf4.quality), (Quality::EightBit, Quality::FourBit));
    assert!(fp8.available && nf4.available && fp8.error.is_none());
    // Weights are encoded piece by piece, so that nothing waits in the host's memory.
    assert_eq!(row(&rows, "int8").host, 0);
    assert!(row(&rows, "int8_model_offload").device < row(&rows, "int8").device);
    assert!(row(&rows, "nf4_layer_streaming").device <= row(&rows, "nf4").device);
}

#[test]
fn a_storage_that_changes_nothing_has_no_row() {
    let (mut footprint, workload) = even(20);
    for block in footprint.parts.iter_mut().flat_map(|part| &mut part.blocks) {
        block.smaller.retain(|storage, _| *storage == Storage::Nf4);
    }
    let machine = card(12 * GIB, 64 * GIB, 12.0);
    let rows = alternatives(&footprint, &workload, &machine, &MemoryPreferences::default());
    assert!(rows.iter().all(|row| !["fp8", "int8", "stored"].contains(&row.id.as_str())));
    assert_eq!(row(&rows, "nf4").quality, Quality::FourBit);
    // A storage that changes nothing keeps the images.
    let fp8 = MemoryPreferences::default().with_precision(Storage::Fp8);
    let rows = alternatives(&footprint, &workload, &machine, &fp8);
    assert!(row(&rows, "everything").quality <= Quality::Blended);
}

#[test]
fn weights_in_8_bits_serve_the_wish_where_they_are_allowed() {
    let (footprint, workload) = even(20);
    let chosen = |budget: u64, wish, may_use_8_bit| {
        let machine = card(budget, 64 * GIB, 1.0);
        let wanted = MemoryPreferences { wish, may_use_8_bit, ..MemoryPreferences::default() };
        let allowed = with_allowed_precision(&footprint, &workload, &machine, &wanted);
        let forecast = forecast(&footprint, &workload, &machine, &wanted, None);
        assert_eq!(
            forecast.sentence.contains("are held in 8 bits"),
            allowed.precisions() != wanted.precisions()
        );
        allowed.precisions()
    };
    let (stored, int8) = ([Storage::Stored; 2], [Storage::Int8; 2]);
    for &wish in Wish::ALL {
        assert_eq!(chosen(8 * GIB, wish, false), stored, "{wish:?}");
    }
    // The link is slower than the computation, and a step waits for it.
    assert_eq!(chosen(8 * GIB, Wish::Quality, true), stored);
    assert_eq!(chosen(8 * GIB, Wish::Speed, true), int8);
    assert_eq!(chosen(8 * GIB, Wish::Balanced, true), int8);
    assert_ne!(chosen(8 * GIB, Wish::Memory, true), stored);
    // Everything fits.
    assert_eq!(chosen(80 * GIB, Wish::Speed, true), stored);
    assert_eq!(chosen(80 * GIB, Wish::Balanced, true), stored);
    // Nothing else fits.
    let least = |preferences: &MemoryPreferences| {
        least_device_budget(&footprint, &workload, &card(GIB, 64 * GIB, 12.0), preferences).unwrap()
    };
    let small = MemoryPreferences::default().with_precision(Storage::Int8);
    let between = (least(&MemoryPreferences::default()) + least(&small)) / 2;
    if least(&small) < between {
        assert_ne!(chosen(between, Wish::Quality, true), stored);
    }
}

#[test]
fn weights_are_held_as_they_are_stored_unless_somebody_wants_them_smaller() {
    let (footprint, workload) = even(20);
    for budget in [4, 8, 12, 80] {
        let machine = card(budget * GIB, 64 * GIB, 12.0);
        for &wish in Wish::ALL {
            let wanted = MemoryPreferences { wish, ..MemoryPreferences::default() };
            let plain = forecast(&footprint, &workload, &machine, &wanted, None);
            let recommended = plain.alternatives.iter().find(|row| row.recommended);
            assert!(recommended.is_none_or(|row| row.quality <= Quality::Blended), "{wish:?}, {budget} GB");
            assert!(plain.plan.is_err() || !plain.sentence.contains("FP8") || wish != Wish::Quality);
            // If they are to be smaller they are, and a row undoes it.
            let fp8 = wanted.with_precision(Storage::Fp8);
            let smaller = forecast(&footprint, &workload, &machine, &fp8, None);
            let least = [&plain, &smaller].map(|forecast| forecast.least_device.unwrap());
            assert!(least[1] <= least[0], "{wish:?}, {budget} GB");
            for row in smaller.alternatives.iter().filter(|row| row.recommended) {
                assert!(row.quality >= Quality::EightBit, "{wish:?}, {budget} GB");
            }
            let back = row(&smaller.alternatives, "stored").preferences.clone().unwrap();
            assert_eq!((back.denoiser_precision, back.text_precision), Default::default());
            assert_eq!(back.wish, wish);
        }
    }
}

#[test]
fn the_sentence_says_what_smaller_weights_would_give_where_that_is_much() {
    let (mut footprint, workload) = even(60);
    for part in &mut footprint.parts {
        part.errors = Errors::from([(Storage::Fp8, 0.0263), (Storage::Nf4, 0.094)]);
    }
    let sentence = |budget: u64, host: u64, wish: Wish| {
        let machine = card(budget, host, 12.0);
        let wanted = MemoryPreferences { wish, ..MemoryPreferences::default() };
        forecast(&footprint, &workload, &machine, &wanted, None).sentence
    };
    // As they are stored, they come from disk in every step.
    let slow = sentence(4 * GIB, 2 * GIB, Wish::Speed);
    assert!(slow.contains("NF4") && slow.ends_with("with a weight error of 9.4%."), "{slow}");
    // Tensor by tensor, little is there at a time whatever it is stored in.
    let memory = sentence(12 * GIB, 64 * GIB, Wish::Memory);
    assert!(!memory.contains(" would use "), "{memory}");
    for wish in [Wish::Quality, Wish::Balanced] {
        let exact = sentence(80 * GIB, 64 * GIB, wish);
        assert!(!exact.contains(" would use "), "{exact}");
    }
}

#[test]
fn own_plans_can_be_chosen_and_one_is_recommended() {
    let (footprint, workload) = even(20);
    let machine = card(8 * GIB, 64 * GIB, 12.0);
    for &wish in Wish::ALL {
        let wanted = MemoryPreferences { wish, ..MemoryPreferences::default() };
        let rows = alternatives(&footprint, &workload, &machine, &wanted);
        let recommended: Vec<&Alternative> = rows.iter().filter(|row| row.recommended).collect();
        assert_eq!(recommended.len(), 1, "{wish:?}");
        for row in rows.iter().filter(|row| row.available) {
            let Some(preferences) = &row.preferences else { continue };
            let budget = preferences.vram_budget.unwrap_or(machine.device_budget).min(machine.device_budget);
            let plan = plan(
                &footprint,
                &workload,
                &Machine { device_budget: budget, ..machine.clone() },
                preferences,
            );
            assert_eq!(row.device_short == 0, plan.is_ok(), "{}", row.id);
            if let Ok(plan) = plan {
                assert_eq!(plan.peak_device(), row.device, "{}", row.id);
            }
        }
    }
    let half = alternatives(&footprint, &workload, &machine, &MemoryPreferences::default());
    assert!(row(&half, "layer_streaming_50").device < row(&half, "layer_streaming").device);
}

#[test]
fn the_sentence_names_a_chosen_mode_in_words() {
    let (footprint, workload) = even(20);
    let machine = card(64 * GIB, 64 * GIB, 64.0);
    let preferences = MemoryPreferences { mode: OffloadMode::CondDiffusion, ..MemoryPreferences::default() };
    let sentence = forecast(&footprint, &workload, &machine, &preferences, None).sentence;
    assert!(sentence.contains("because the offload mode is \"Only the autoencoder\""), "{sentence}");
}

/// With the least memory, parts leave a card that has room for all of them.
#[test]
fn the_sentence_says_that_little_memory_is_wished_for() {
    let (footprint, workload) = even(20);
    let because = |budget, wish| {
        let machine = card(budget, 64 * GIB, 12.0);
        let preferences = MemoryPreferences { wish, ..MemoryPreferences::default() };
        forecast(&footprint, &workload, &machine, &preferences, None).sentence
    };
    let wished = because(64 * GIB, Wish::Memory);
    assert!(wished.contains("because as little memory as possible is to be used"), "{wished}");
    assert!(!wished.contains("leave little memory free"), "{wished}");
    let short = because(8 * GIB, Wish::Memory);
    assert!(short.contains("do not fit at once"), "{short}");
}

#[test]
fn the_sentence_says_what_why_and_how_much() {
    let (footprint, workload) = even(20);
    let machine = card(8 * GIB, 64 * GIB, 12.0);
    let preferences = MemoryPreferences { wish: Wish::Speed, ..MemoryPreferences::default() };
    let forecast = forecast(&footprint, &workload, &machine, &preferences, None);
    assert_eq!(
        forecast.sentence,
        "18 of 31 denoiser blocks stay on the GPU and the rest are streamed during computation, because all \
         11.2 GB do not fit at once. Uses 7.9 of 12.0 GB, 1.8 s per step."
    );
    let preferences = MemoryPreferences { mode: OffloadMode::None, ..preferences };
    let refused = super::super::forecast(&footprint, &workload, &machine, &preferences, None);
    assert!(matches!(refused.plan, Err(PlanError::Device { .. })));
    assert_eq!(
        refused.sentence,
        "Does not fit on the GPU: keeping everything on the device needs 19.1 GB in the denoise stage, 11.1 GB \
         more than the 8.0 GB allowed. Use a smaller image or batch, or choose the automatic offload mode."
    );
    let host = Err(PlanError::Host { needed: 2 * GIB, budget: GIB });
    let automatic = MemoryPreferences::default();
    let short = sentence(&footprint, &machine, &host, None, &automatic);
    assert!(short.ends_with("Allow 1.0 GB more RAM, or use a smaller image or batch."), "{short}");
    let device = PlanError::Device {
        what: "even the smallest placement".to_owned(),
        device: machine.device.clone(),
        stage: "decode".to_owned(),
        needed: 9 * GIB,
        budget: 8 * GIB,
    };
    // The card has it, and only the limit keeps it from fitting.
    let limited = sentence(&footprint, &machine, &Err(device), Some(9 * GIB), &automatic);
    assert_eq!(
        limited,
        "Does not fit on the GPU: even the smallest placement needs 9.0 GB in the decode stage, 1.0 GB more \
         than the 8.0 GB allowed. Allow at least 9.0 GB of VRAM, or use a smaller image or batch."
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_forecast_can_be_written_and_read((footprint, workload, machine, preferences) in any_question()) {
        let forecast = forecast(&footprint, &workload, &machine, &preferences, None);
        let json = serde_json::to_string(&forecast).unwrap();
        let read: crate::memory::Forecast = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(forecast.plan.is_ok(), read.plan.is_ok());
        prop_assert!(forecast.alternatives.iter().all(|row| row.seconds_per_image.is_finite()));
        prop_assert!(forecast.alternatives.iter().filter(|row| row.recommended).count() <= 1);
        for row in forecast.alternatives.iter().filter(|row| row.recommended) {
            prop_assert!(row.available && row.device <= machine.device_budget);
        }
        let fits = |row: &&Alternative| row.device_short == 0 && row.host_short == 0;
        let choices: Vec<_> = forecast.choices.iter().filter(fits).collect();
        for choice in &choices {
            let wanted = choice.preferences.as_ref().unwrap();
            let plan = plan(&footprint, &workload, &machine, wanted).unwrap();
            prop_assert_eq!(choice.device, plan.peak_device());
            let seconds = plan.seconds / f64::from(workload.images.max(1));
            prop_assert!((choice.seconds_per_image - seconds).abs() <= 1e-9 * seconds);
        }
        if let [fastest, _, least] = choices[..] {
            prop_assert!(choices.iter().all(|row| row.seconds_per_image >= fastest.seconds_per_image * 0.999));
            prop_assert!(choices.iter().all(|row| row.device >= least.device || row.device * 17 >= least.device * 16));
        }
    }
}

/// Each is what the automatic mode does with that wish, whatever is in force.
#[test]
fn there_is_a_choice_for_speed_balance_and_memory() {
    let (footprint, workload) = even(20);
    let machine = card(12 * GIB, 64 * GIB, 12.0);
    let everything = MemoryPreferences { mode: OffloadMode::None, ..MemoryPreferences::default() };
    let forecast = forecast(&footprint, &workload, &machine, &everything, None);
    assert!(forecast.plan.is_err());
    let [fastest, balanced, least] = forecast.choices.as_slice() else { panic!("three choices") };
    assert_eq!([&fastest.id, &balanced.id, &least.id], ["fastest", "balanced", "least_memory"]);
    assert!(fastest.device > balanced.device && balanced.device > least.device);
    assert!(fastest.seconds_per_image <= balanced.seconds_per_image);
    assert!(balanced.recommended && !fastest.recommended && !least.recommended);
    let wanted = balanced.preferences.as_ref().unwrap();
    assert_eq!((wanted.mode, wanted.wish), (OffloadMode::Auto, Wish::Balanced));
}

#[test]
fn only_a_mode_that_somebody_chose_is_to_be_changed() {
    let machine = card(8 * GIB, 64 * GIB, 12.0);
    let (needed, budget) = (9 * GIB, 8 * GIB);
    let [what, device, stage] = ["the plan", "GPU", "denoise"].map(str::to_owned);
    let refused =
        [PlanError::Device { what, device, stage, needed, budget }, PlanError::Host { needed, budget }];
    for error in &refused {
        for least in [None, Some(GIB), Some(9 * GIB)] {
            for mode in OffloadMode::ALL {
                let advice = remedy(&machine, error, least, *mode);
                assert_eq!(advice.contains("automatic"), *mode != OffloadMode::Auto, "{advice}");
            }
        }
    }
}
