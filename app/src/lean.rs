//! Starts the program again with an allocator that fits into limited memory.

/// Under `ulimit -v` or `-d`, replaces this process by itself with the C library's allocator set to one arena, and to
/// returning large blocks to the system at once. Otherwise each thread would reserve 64 MiB, and memory that was freed
/// would still count. Does nothing if somebody has set the number of arenas.
#[cfg(target_os = "linux")]
pub fn restart_under_limits() {
    use std::{env, os::unix::process::CommandExt, process::Command};
    const ARENAS: &str = "MALLOC_ARENA_MAX";
    const LARGE: &str = "MALLOC_MMAP_THRESHOLD_";
    if env::var_os(ARENAS).is_some() || !sluice_engine::hardware::process_is_limited() {
        return;
    }
    let Ok(program) = env::current_exe() else { return };
    let error =
        Command::new(program).args(env::args_os().skip(1)).env(ARENAS, "1").env(LARGE, "1048576").exec();
    // The program also runs without the restart; it only needs more memory.
    tracing::warn!(%error, "the program could not be started again for limited memory");
}

/// Only Linux has limits that the engine reads.
#[cfg(not(target_os = "linux"))]
pub fn restart_under_limits() {}
