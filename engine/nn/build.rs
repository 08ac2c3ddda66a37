//! With the feature `cuda`, compiles the kernels.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

fn main() -> ExitCode {
    // Otherwise any changed file would run it again.
    println!("cargo::rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_CUDA").is_none() {
        return ExitCode::SUCCESS;
    }
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    match kernels(&folder.join("kernels")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The environment variables for the CUDA toolkit's folder, in order of precedence.
const TOOLKITS: [&str; 2] = ["CUDA_HOME", "CUDA_PATH"];
/// The compute capability that kernels are compiled for; they use instructions of 8.0.
const CAPABILITY: &str = "CUDA_COMPUTE_CAP";
const LEAST: u32 = 80;
/// GeForce RTX 30, 40 and 50: machine code for them saves their drivers from compiling the kernels, which takes the first
/// image of a new driver many seconds.
const COMMON: [u32; 3] = [86, 89, 120];

/// Compiles each kernel source to PTX for the oldest supported GPU, which newer GPUs run too, and to machine code for those
/// that most people have.
fn kernels(folder: &Path) -> Result<(), String> {
    println!("cargo::rerun-if-changed=kernels");
    for name in TOOLKITS.iter().chain(&[CAPABILITY]) {
        println!("cargo::rerun-if-env-changed={name}");
    }
    let capability = match env::var(CAPABILITY) {
        Ok(text) => {
            text.parse().map_err(|_| format!("{CAPABILITY} is {text}; it has to be a number such as 80"))?
        }
        Err(_) => LEAST,
    };
    let capability = LEAST.max(capability);
    println!("cargo::rustc-env=SLUICE_KERNELS_CAPABILITY={capability}");
    let nvcc = nvcc();
    let known = known_by(&nvcc);
    let common: String = COMMON
        .iter()
        .filter(|common| **common >= capability)
        .map(|common| format!("sm_{common}"))
        .filter(|common| known.lines().any(|line| line.trim() == common))
        .map(|common| common + ",")
        .collect();
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let entries =
        fs::read_dir(folder).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    for entry in entries {
        let source = entry.map_err(|error| format!("cannot read {}: {error}", folder.display()))?.path();
        let Some(stem) = source.file_stem().filter(|_| source.extension().is_some_and(|end| end == "cu"))
        else {
            continue;
        };
        let code = out.join(stem).with_extension("fatbin");
        let mut command = Command::new(&nvcc);
        command.args(["-fatbin", "-std=c++17", "-O3", "-Xfatbin=-compress-all", "--threads=0"]);
        command.arg(format!("-gencode=arch=compute_{capability},code=[{common}compute_{capability}]"));
        let done = command.arg("-o").arg(&code).arg(&source).output().map_err(|error| {
            format!(
                "cannot start {}: {error}. The feature `cuda` needs NVIDIA's CUDA toolkit: set {} to its folder, or \
                 use packaging/cuda/build, which sets one up",
                nvcc.display(),
                TOOLKITS[0],
            )
        })?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            return Err(format!("{} does not compile {}:\n{said}", nvcc.display(), source.display()));
        }
    }
    Ok(())
}

/// The machine code that a compiler can make, a line each; none if it does not say.
fn known_by(nvcc: &Path) -> String {
    let told = Command::new(nvcc).arg("--list-gpu-code").output();
    told.map_or_else(|_| String::new(), |told| String::from_utf8_lossy(&told.stdout).into_owned())
}

/// The compiler of the configured toolkit, or the one on the path.
fn nvcc() -> PathBuf {
    let name = format!("nvcc{}", env::consts::EXE_SUFFIX);
    let named =
        TOOLKITS.iter().filter_map(env::var_os).map(|folder| Path::new(&folder).join("bin").join(&name));
    named.into_iter().find(|path| path.is_file()).unwrap_or_else(|| name.into())
}
