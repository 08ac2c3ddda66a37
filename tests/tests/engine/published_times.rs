//! Steps on GPUs beside those that others have measured there; docs/forecasts.md names the sources.

use sluice_engine::{
    hardware::card,
    memory::{MemoryPreferences, forecast, machine_of},
    nn::{Balance, Computes, Kernels},
    request::Request,
};
use sluice_tests::known::{request, sizes_on};

/// Predicted seconds of a step on a GPU with enough RAM.
fn predicted(id: &str, on: &str, [width, height, batch]: [u32; 3]) -> f64 {
    let card = card(on).unwrap();
    let request = Request { width, height, batch, ..request(id).unwrap() };
    let balance = Balance::of(card.operations_per_second, card.memory_bytes_per_second);
    let (footprint, workload) = sizes_on(id, &request, Computes::Card(Kernels::ALL, balance)).unwrap();
    let machine = machine_of(card, 48 << 30, 0);
    let forecast = forecast(&footprint, &workload, &machine, &MemoryPreferences::default(), None);
    forecast.alternatives.iter().find(|way| way.recommended).unwrap().seconds_per_step
}

#[test]
fn steps_take_about_as_long_as_pytorch_took() {
    for (id, on, size, seconds) in [
        ("sdxl", "rtx-3090", [1024, 1024, 1], 0.245),
        ("sdxl", "rtx-4090", [1024, 1024, 1], 0.144),
        ("sd1.5", "rtx-4090", [512, 512, 1], 0.0286),
        ("sd1.5", "rtx-4090", [768, 768, 1], 0.0601),
        ("sd1.5", "rtx-4090", [768, 1152, 1], 0.103),
        ("sd1.5", "rtx-4090", [1024, 1024, 1], 0.133),
        ("sd1.5", "rtx-4090", [512, 512, 8], 0.181),
    ] {
        let ratio = predicted(id, on, size) / seconds;
        assert!((0.7..=1.3).contains(&ratio), "{id} on {on} at {size:?}: {ratio:.2} of what was measured");
    }
}

#[test]
fn what_waits_for_memory_counts_less_where_memory_is_faster() {
    let card = card("rtx-3060").unwrap();
    let operations = |bytes_per_second: f64| {
        let balance = Balance::of(card.operations_per_second, bytes_per_second);
        let computes = Computes::Card(Kernels::ALL, balance);
        let (_, workload) = sizes_on("sd1.5", &request("sd1.5").unwrap(), computes).unwrap();
        let uses = workload.stages.iter().flat_map(|stage| &stage.uses);
        uses.flat_map(|part| &part.ways[0].blocks).map(|block| block.operations).sum::<f64>()
    };
    let (slow, fast) = (operations(card.memory_bytes_per_second), operations(1e15));
    assert!(slow > 1.1 * fast, "{slow} {fast}");
}
