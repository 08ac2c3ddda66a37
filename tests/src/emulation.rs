//! Emulates the CUDA kernels on the CPU: `engine/nn/kernels` compiled as C++, with bounds checks.

use std::{
    collections::HashSet,
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Mutex, PoisonError},
    thread,
};

use anyhow::{Context, Result, bail, ensure};
use candle_core::{CpuStorage, DType, Device, Storage, Tensor};
use half::{bf16, f16};
use sluice_engine::nn::cuda::{Argument, Launch, Launches};
use tempfile::TempDir;

/// What finds accesses out of bounds and undefined behaviour.
const CHECKS: [&str; 2] = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
const CHECKED: &str = "checked";
const PLAIN: &str = "plain";

/// Thread orders of `engine/nn/kernels/emulated.cpp`.
const FORWARDS: i64 = 0;
/// In this one, copies are made as soon as they are asked for, so that checks see all of them.
const BACKWARDS: i64 = 1;

/// The compiled kernels.
#[derive(Debug)]
pub struct Emulation {
    folder: TempDir,
    /// With checks.
    checked: PathBuf,
    /// Without them, which takes a third of the time.
    plain: Option<PathBuf>,
    /// The kernels that were checked forwards, too, with the number formats of their results.
    forwards: Mutex<HashSet<(String, Vec<DType>)>>,
}

impl Emulation {
    /// Compiles the kernels.
    ///
    /// # Errors
    /// Fails if there is no C++ compiler, or compilation fails.
    pub fn build() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let sources = copy_sources(folder.path(), |text| text)?;
        let flags = [&["-O2"][..], &CHECKS[..]].concat();
        let (checked, plain) = thread::scope(|scope| {
            let checked = scope.spawn(|| program(folder.path(), CHECKED, &flags, &sources, &[]));
            let plain = program(folder.path(), PLAIN, &["-O2"], &sources, &[]);
            (checked.join().unwrap_or_else(|_| bail!("a compiler panicked")), plain)
        });
        Ok(Self { checked: checked?, plain: Some(plain?), folder, forwards: Mutex::default() })
    }

    /// The same with only those kernels whose file name begins with `prefix`, and with changed sources. What emulates stays
    /// as it is.
    ///
    /// # Errors
    /// As [`Self::build`].
    pub fn changed(&self, prefix: &str, change: impl Fn(String) -> String) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let kernels: Vec<PathBuf> = copy_sources(folder.path(), change)?
            .into_iter()
            .filter(|source| {
                let name = source.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                name.ends_with(".cu") && name.starts_with(prefix)
            })
            .collect();
        let emulator = object(&self.folder.path().join("emulated.cpp"), CHECKED);
        // They run once.
        let flags = [&["-O0"][..], &CHECKS[..]].concat();
        let checked = program(folder.path(), CHECKED, &flags, &kernels, &[emulator])?;
        Ok(Self { folder, checked, plain: None, forwards: Mutex::default() })
    }

    /// Runs the launches with two different thread orders, which must give the same result. Backwards they are checked each time,
    /// forwards at the first launch of a kernel with these number formats.
    ///
    /// # Errors
    /// Fails on access out of bounds, on a deadlock, on wrong arguments, and if the result depends on the
    /// thread order.
    pub fn run(&self, work: &Launches) -> Result<Tensor> {
        let backwards = run_in_order(&self.checked, work, BACKWARDS)?;
        let plain = self.plain.as_ref().filter(|_| !self.is_first(work));
        let forwards = run_in_order(plain.unwrap_or(&self.checked), work, FORWARDS)?;
        // Which one of two NaNs comes out of a sum depends on how it was compiled.
        let is_same = forwards == backwards
            || (plain.is_some() && run_in_order(&self.checked, work, FORWARDS)? == backwards);
        ensure!(is_same, "{} depends on the order of threads", work.launches[0].kernel);
        let (shape, dtype) = work.results.first().context("work has a result")?;
        tensor(&backwards, shape, *dtype)
    }

    /// Whether a kernel is launched for the first time with these number formats.
    fn is_first(&self, work: &Launches) -> bool {
        let dtypes: Vec<DType> = work.results.iter().map(|(_, dtype)| *dtype).collect();
        let mut known = self.forwards.lock().unwrap_or_else(PoisonError::into_inner);
        // Each of them is noted.
        let new = work.launches.iter().filter(|launch| known.insert((launch.kernel.clone(), dtypes.clone())));
        new.count() > 0
    }
}

/// Copies the kernels with what emulates into a folder. Returns what is to be compiled.
fn copy_sources(folder: &Path, change: impl Fn(String) -> String) -> Result<Vec<PathBuf>> {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine/nn/kernels");
    let mut sources = Vec::new();
    for entry in fs::read_dir(&kernels)? {
        let path = entry?.path();
        let copy = folder.join(path.file_name().context("a source has a name")?);
        fs::write(&copy, change(fs::read_to_string(&path)?))?;
        if copy.extension().is_some_and(|extension| extension == "cpp" || extension == "cu") {
            sources.push(copy);
        }
    }
    Ok(sources)
}

/// What becomes of a source in the program of this name.
fn object(source: &Path, name: &str) -> PathBuf {
    source.with_extension(format!("{name}.o"))
}

/// Compiles sources, all at the same time, and links them and other objects into a program of this name.
fn program(
    folder: &Path,
    name: &str,
    flags: &[&str],
    sources: &[PathBuf],
    others: &[PathBuf],
) -> Result<PathBuf> {
    let compile_only = [flags, &["-x", "c++", "-c"]].concat();
    let mut objects: Vec<PathBuf> = sources.iter().map(|source| object(source, name)).collect();
    thread::scope(|scope| {
        let compile_one = |source, object| {
            let flags = &compile_only;
            scope.spawn(move || compile(flags, &[source], &[], object))
        };
        let all: Vec<_> =
            sources.iter().zip(&objects).map(|(source, object)| compile_one(source, object)).collect();
        all.into_iter().try_for_each(|one| one.join().unwrap_or_else(|_| bail!("a compiler panicked")))
    })?;
    objects.extend_from_slice(others);
    let program = folder.join(name);
    // For `dlopen`, which was not in libc before glibc 2.34.
    compile(flags, &objects.iter().collect::<Vec<_>>(), &["-ldl"], &program)?;
    Ok(program)
}

/// Runs the launches in a program. Returns the bytes of the result.
fn run_in_order(program: &Path, work: &Launches, order: i64) -> Result<Vec<u8>> {
    let mut request = Request::default();
    let mut buffers: Vec<Vec<u8>> = Vec::new();
    for (shape, dtype) in &work.results {
        // Unwritten values are NaN.
        buffers.push(vec![0xff; shape.iter().product::<usize>() * dtype.size_in_bytes()]);
    }
    let mut launches = Request::default();
    launches.count(work.launches.len());
    for launch in &work.launches {
        launches.launch(launch, &mut buffers)?;
    }
    request.whole(order);
    request.count(buffers.len());
    for buffer in &buffers {
        request.bytes(buffer);
    }
    request.0.extend(launches.0);

    let mut child = Command::new(program)
        .env("UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1")
        .env("ASAN_OPTIONS", "detect_leaks=0:detect_stack_use_after_return=0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut input = child.stdin.take().context("the emulation has an input")?;
    let writer = thread::spawn(move || input.write_all(&request.0));
    let output = child.wait_with_output()?;
    // A process that exits early leaves input unread; its own message matters more.
    let written = writer.join().unwrap_or(Ok(()));
    ensure!(
        output.status.success(),
        "{:?} in emulation: {}",
        work.launches,
        String::from_utf8_lossy(&output.stderr)
    );
    written?;
    let length = buffers.first().map_or(0, Vec::len);
    Ok(output.stdout.get(..length).context("the emulation wrote too little")?.to_vec())
}

fn compile(flags: &[&str], inputs: &[&PathBuf], libraries: &[&str], output: &Path) -> Result<()> {
    let compiler = env::var_os("CXX").unwrap_or_else(|| "c++".into());
    let done = Command::new(&compiler)
        .args(["-std=c++17", "-g1", "-ffp-contract=off", "-Wno-unknown-pragmas"])
        .args(flags)
        .args(inputs)
        .args(libraries)
        .arg("-o")
        .arg(output)
        .output()
        .with_context(|| format!("cannot start {}: install g++", compiler.display()))?;
    ensure!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Ok(())
}

/// Bytes in the format that `engine/nn/kernels/emulated.cpp` reads.
#[derive(Default)]
struct Request(Vec<u8>);

impl Request {
    fn whole(&mut self, value: i64) {
        self.0.extend(value.to_le_bytes());
    }

    fn count(&mut self, value: usize) {
        self.0.extend((value as u64).to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.0.extend(bytes);
    }

    fn launch(&mut self, launch: &Launch, buffers: &mut Vec<Vec<u8>>) -> Result<()> {
        self.bytes(launch.kernel.as_bytes());
        for side in launch.checked_grid()? {
            self.whole(side.into());
        }
        for side in launch.block {
            self.count(side);
        }
        self.count(launch.shared);
        self.count(launch.arguments.len());
        for argument in &launch.arguments {
            let (kind, first, second) = match argument {
                Argument::Input(tensor) => {
                    let (bytes, place) = memory(tensor)?;
                    buffers.push(bytes);
                    (0, buffers.len() as i64 - 1, place as i64)
                }
                Argument::Result(index) => (0, *index as i64, 0),
                Argument::Absent => (1, 0, 0),
                Argument::Whole(value) => (2, i64::from(*value), 0),
                Argument::Long(value) => (3, *value, 0),
                Argument::Number(value) => (4, value.to_bits().into(), 0),
            };
            [kind, first, second].into_iter().for_each(|value| self.whole(value));
        }
        Ok(())
    }
}

/// The memory of a tensor, and the offset of its first value.
fn memory(tensor: &Tensor) -> Result<(Vec<u8>, usize)> {
    let (storage, layout) = tensor.storage_and_layout();
    let Storage::Cpu(storage) = &*storage else { bail!("the tensor is not on the CPU") };
    let bytes = match storage {
        CpuStorage::U8(bytes) => bytes.clone(),
        CpuStorage::F32(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        CpuStorage::F16(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        CpuStorage::BF16(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        _ => bail!("no kernel reads {:?}", tensor.dtype()),
    };
    Ok((bytes, layout.start_offset() * tensor.dtype().size_in_bytes()))
}

fn tensor(bytes: &[u8], shape: &[usize], dtype: DType) -> Result<Tensor> {
    let pairs = || bytes.as_chunks().0.iter().map(|bytes| u16::from_le_bytes(*bytes));
    let device = &Device::Cpu;
    Ok(match dtype {
        DType::F32 => {
            let values: Vec<f32> =
                bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
            Tensor::from_vec(values, shape, device)?
        }
        DType::F16 => Tensor::from_vec(pairs().map(f16::from_bits).collect::<Vec<_>>(), shape, device)?,
        DType::BF16 => Tensor::from_vec(pairs().map(bf16::from_bits).collect::<Vec<_>>(), shape, device)?,
        other => bail!("no kernel writes {other:?}"),
    })
}
