//! A model's response, in every format of the games of several roles.

use veriplay_verifier::agreement::{AGREEMENT_FORMATS, AgreementFormat, SuiteTest, TestSuite};
use veriplay_verifier::environments::ChallengerResponse;
use veriplay_verifier::environments::compact_proposal::CompactProposal;
use {veriplay_bug_repair as bug_repair, veriplay_self_challenge as self_challenge, veriplay_sol_ver as sol_ver};

use super::literals;

/// The first byte chooses the reader, the rest is the text.
///
/// # Panics
/// When a response is refused without a reason, or is read as something that is not what was written.
pub(super) fn run(bytes: &[u8]) {
    let Some((choice, text)) = bytes.split_first() else { return };
    let text = String::from_utf8_lossy(text);
    let number = usize::from(*choice) / 3;
    match choice % 3 {
        0 => agreed(AGREEMENT_FORMATS[number % AGREEMENT_FORMATS.len()], &text),
        1 => repaired(bug_repair::prompts::PROMPT_FORMATS[number % bug_repair::prompts::PROMPT_FORMATS.len()], &text),
        _ => challenged(
            self_challenge::prompts::PROMPT_FORMATS[number % self_challenge::prompts::PROMPT_FORMATS.len()],
            &text,
        ),
    }
}

/// Problems and programs are never empty, and a suite that is written out reads as itself.
fn agreed(format: &dyn AgreementFormat, text: &str) {
    for read in [format.read_problem(text), format.read_program(text)] {
        assert!(!read.unwrap_or_else(|refused| refused).trim().is_empty());
    }
    match format.read_suite(text) {
        Err(refused) => assert!(!refused.is_empty()),
        Ok(suite) => survives(format, &suite),
    }
}

fn survives(agreement: &dyn AgreementFormat, suite: &TestSuite) {
    assert!(!suite.tests.is_empty());
    for test in &suite.tests {
        if let SuiteTest::Case(case) = test {
            case.input.iter().for_each(literals::survives);
        }
    }
    let format = sol_ver::prompts::by_name(agreement.name()).expect("a prompt format for each agreement format");
    let written = format.suite_response(suite);
    let again = agreement.read_suite(&written).unwrap_or_else(|refused| panic!("`{written}`: {refused}"));
    assert_eq!(format.suite_response(&again), written);
}

fn repaired(format: &dyn bug_repair::prompts::RepairFormat, text: &str) {
    use bug_repair::prompts::{RepoGoal, RepoResponse};
    let goal = RepoGoal::Repair { spec: String::new(), function: None };
    match format.parse_response(&goal, text) {
        Err(refused) => assert!(!refused.is_empty()),
        Ok(RepoResponse::Replace(source)) => assert!(!source.trim().is_empty()),
        Ok(RepoResponse::Call(_) | RepoResponse::Submit(_)) => assert!(!format.is_single_turn()),
    }
}

/// Checks that a parsed task is the requested one, and that code survives a round trip.
fn challenged(format: &dyn self_challenge::prompts::ChallengeFormat, text: &str) {
    use self_challenge::{ChallengeRequest, ToolGoal};
    let (task_id, environment) = ("proposed/0/0".to_owned(), "orders".to_owned());
    let execute = ToolGoal::Execute { environment: environment.clone(), instruction: "Do it.".to_owned() };
    let request =
        ChallengeRequest { task_id: task_id.clone(), environment: environment.clone(), tool: "ship".to_owned() };
    let challenge = ToolGoal::Challenge(request);
    match format.parse_response(&challenge, text) {
        Err(refused) => assert!(!refused.is_empty()),
        Ok(ChallengerResponse::Propose(task)) => {
            assert_eq!((&task.task_id, &task.environment), (&task_id, &environment));
        }
        Ok(ChallengerResponse::Explore(_)) => assert!(!format.is_single_turn()),
    }
    if let Ok(sketch) = CompactProposal::parse(text) {
        assert_eq!(CompactProposal::parse(&sketch.to_text()), Ok(sketch));
    }
    if let Ok(ChallengerResponse::Explore(code)) = format.parse_response(&execute, text) {
        let written = format.code_response(&code);
        let Ok(ChallengerResponse::Explore(again)) = format.parse_response(&execute, &written) else {
            panic!("`{written}` is not read as code")
        };
        assert_eq!(again.trim_end(), code.trim_end());
    }
}
