//! The `cyclorama` program: the service, and the operator's command line.

// A sixth of a cached delivery went into the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cyclorama::run()
}
