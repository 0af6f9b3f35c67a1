//! A worker process: runs jobs for the process that started it. See [`veriplay_sandbox::Sandbox::in_processes`].

fn main() -> std::process::ExitCode {
    match veriplay_sandbox::serve() {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(_) => std::process::ExitCode::FAILURE,
    }
}
