//! Tests of a card where there is none: the driver, cuBLAS and the run-time compiler are replaced by libraries that are this processor, and the crate runs on them as it is.
//!
//! The dynamic linker learns where libraries are when a program begins, so a test begins again as another process.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Runs a test on a card of this machine, or in another process on a stand-in. `RFLVM_REQUIRE_CARD` forbids stand-ins.
pub fn on_a_card(test: &str, run: impl FnOnce()) {
    on_a_card_that(test, None, run);
}

/// The same; a stand-in may stop working after some launches of kernels.
pub fn on_a_card_that(test: &str, dies_after: Option<u32>, run: impl FnOnce()) {
    let is_stand_in = std::env::var_os("RFLVM_STAND_IN").is_some();
    match rflvm_cuda::cards() {
        Ok(cards) if !cards.is_empty() && (dies_after.is_none() || is_stand_in) => {
            println!("{}", cards[0].name);
            return run();
        }
        Ok(_) => println!("not tested on a card: it cannot be made to fail"),
        Err(fault) => {
            assert!(std::env::var_os("RFLVM_REQUIRE_CARD").is_none() && !is_stand_in, "no card: {fault}");
        }
    }
    let folder = libraries();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]).env("RFLVM_STAND_IN", folder).env("LD_LIBRARY_PATH", folder);
    if let Some(launches) = dies_after {
        command.env("RFLVM_CARD_DIES_AFTER", launches.to_string());
    }
    assert!(command.status().unwrap().success(), "{test} on a stand-in");
}

/// The folder of the libraries, built once.
fn libraries() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("stand-in-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stand_in");
        std::fs::copy(source.join("kernels_on_cpu.h"), folder.join("kernels_on_cpu.h")).unwrap();
        let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
        let mut command = Command::new(&compiler);
        command.args(["-std=c++17", "-O2", "-fPIC", "-shared", "-o"]);
        command.arg(folder.join("libcuda.so")).arg(source.join("libraries.cpp")).arg("-ldl");
        let status =
            command.status().unwrap_or_else(|error| panic!("the tests need a C++ compiler: {compiler}: {error}"));
        assert!(status.success(), "libraries.cpp is compiled");
        for name in ["libcublas.so", "libnvrtc.so"] {
            std::fs::copy(folder.join("libcuda.so"), folder.join(name)).unwrap();
        }
        folder
    })
}
