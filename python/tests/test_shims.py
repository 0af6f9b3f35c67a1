"""The functions for trainers, called as their frameworks call them. Those of installed frameworks run under the real, unmodified one."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import math
from types import SimpleNamespace
from typing import Any

import pytest

import veriplay
import veriplay.openrlhf
import veriplay.trl
import veriplay.verifiers
import veriplay.verl
from veriplay import Unmeasured

TRUTH = json.dumps({"inputs": ["1 2\n", "4 5\n"], "outputs": ["3\n", "9\n"]})
RIGHT = "```python\nprint(sum(map(int, input().split())))\n```"
WRONG = "```python\nprint(3)\n```"
KEYS = {"score", "acc", "veriplay_passed", "veriplay_total", "veriplay_unjudged"}
NOWHERE = "http://127.0.0.1:9"


async def verl_scores(texts: list[str], **settings: Any) -> list[Any]:
    calls = (
        veriplay.verl.compute_score(
            data_source="code", solution_str=text, ground_truth=TRUTH, extra_info={"num_turns": 1}, **settings
        )
        for text in texts
    )
    return await asyncio.gather(*calls, return_exceptions=True)


def test_verl_scores_have_the_same_keys_always(at_service: str) -> None:
    found = asyncio.run(verl_scores([RIGHT, WRONG, "no code"]))
    assert [score["score"] for score in found] == [1.0, 0.0, 0.0]
    lost = asyncio.run(verl_scores([RIGHT], url=NOWHERE, patience=0.0, on_fault="zero"))
    assert [set(score) for score in [*found, *lost]] == [KEYS] * 4
    assert all(isinstance(value, float) and math.isfinite(value) for score in found for value in score.values())
    assert [score["veriplay_unjudged"] for score in [*found, *lost]] == [0.0, 0.0, 0.0, 1.0]


#: A row whose second output is missing.
BROKEN = json.dumps({"inputs": ["1 2\n", "4 5\n"], "outputs": ["3\n"]})
BROKEN_FIELD = "ground_truth.outputs"


def test_verl_leaves_out_a_row_that_cannot_be_read(at_service: str) -> None:
    async def scores(on_fault: str) -> list[Any]:
        calls = (
            veriplay.verl.compute_score("code", RIGHT, truth, {"index": at}, on_fault=on_fault)  # type: ignore[arg-type]
            for at, truth in enumerate((TRUTH, BROKEN, TRUTH))
        )
        return await asyncio.gather(*calls, return_exceptions=True)

    found = asyncio.run(scores("zero"))
    assert [score["score"] for score in found] == [1.0, 0.0, 1.0]
    assert [score["veriplay_unjudged"] for score in found] == [0.0, 1.0, 0.0]
    first, second, third = asyncio.run(scores("raise"))
    assert first["score"] == third["score"] == 1.0 and isinstance(second, Unmeasured)
    assert f"`code[1].reward_model.{BROKEN_FIELD}`: has 1 items for 2 inputs" in str(second)


def test_trl_leaves_out_a_row_that_cannot_be_read(at_service: str, caplog: pytest.LogCaptureFixture) -> None:
    truths: list[Any] = [TRUTH, BROKEN, None, {"inputs": {1}}, TRUTH]
    found = veriplay.trl.executed(prompts=["p"] * 5, completions=[RIGHT] * 5, ground_truth=truths)
    assert found == [1.0, None, None, None, 1.0]
    assert f"`{BROKEN_FIELD}`: has 1 items for 2 inputs" in caplog.text


def test_openrlhf_marks_a_label_that_cannot_be_read(at_service: str) -> None:
    found = veriplay.openrlhf.reward_func([RIGHT] * 3, [""] * 3, [TRUTH, BROKEN, TRUTH])
    assert found["rewards"] == [1.0, 0.0, 1.0]
    assert found["extra_logs"]["veriplay_unjudged"] == [0.0, 1.0, 0.0]


def test_verifiers_name_the_field_of_a_row_that_cannot_be_read(at_service: str) -> None:
    task = SimpleNamespace(ground_truth=BROKEN)
    with pytest.raises(Unmeasured, match=f"`{BROKEN_FIELD}`: has 1 items"):
        asyncio.run(veriplay.verifiers.executed(task, trace_of(RIGHT)))


def test_verl_may_give_a_part_for_a_part(at_service: str) -> None:
    (found,) = asyncio.run(verl_scores([WRONG], credit="fraction"))
    assert found["score"] == 0.5 and found["veriplay_total"] == 2.0
    (found,) = asyncio.run(verl_scores([WRONG], credit="partial"))
    assert isinstance(found, ValueError) and "`accepted` or `fraction`" in str(found)


def test_verl_gets_an_exception_where_nothing_was_measured() -> None:
    (found,) = asyncio.run(verl_scores([RIGHT], url=NOWHERE, patience=0.0))
    assert isinstance(found, Unmeasured)


def test_trl_gets_a_reward_or_none(at_service: str) -> None:
    logged: list[tuple[str, float]] = []
    columns: dict[str, Any] = {"ground_truth": [TRUTH] * 3, "log_metric": lambda *args: logged.append(args)}
    chat = [[{"role": "assistant", "content": text}] for text in (RIGHT, WRONG)]
    found = veriplay.trl.executed(prompts=["p"] * 3, completions=[*chat, RIGHT], completion_ids=[[1]] * 3, **columns)
    assert found == [1.0, 0.0, 1.0] and logged == [("executed/unjudged", 0.0)]
    lost = veriplay.trl.reward(url=NOWHERE, patience=0.0)
    assert lost(prompts=["p"], completions=[RIGHT], ground_truth=[TRUTH]) == [None]


def test_trl_logs_functions_by_their_names() -> None:
    assert veriplay.trl.executed.__name__ == "executed"
    assert veriplay.trl.reward(name="tests").__name__ == "tests"


def test_trl_without_a_column_is_told() -> None:
    with pytest.raises(KeyError, match="found `prompts`"):
        veriplay.trl.executed(prompts=["p"], completions=[RIGHT])


def load_openrlhf_function() -> Any:
    """As OpenRLHF loads it: from its file, under another name."""
    spec = importlib.util.spec_from_file_location("reward_func", veriplay.openrlhf.__file__)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.reward_func


def test_openrlhf_gets_numbers_for_one_query_and_lists_for_several(at_service: str) -> None:
    reward_func = load_openrlhf_function()
    one = reward_func([f"Q: {RIGHT}"], ["Q: "], [TRUTH])
    assert one == {
        "rewards": 1.0,
        "scores": 1.0,
        "extra_logs": {"veriplay_accepted": 1.0, "veriplay_unjudged": 0.0},
    }
    assert reward_func([f"Q: {RIGHT}", WRONG], ["Q: ", "other"], [TRUTH] * 2)["rewards"] == [1.0, 0.0]


def test_openrlhf_raises_where_nothing_was_measured_or_is_told_to_give_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERIPLAY_URL", NOWHERE)
    monkeypatch.setenv("VERIPLAY_PATIENCE", "0")
    with pytest.raises(Unmeasured):
        veriplay.openrlhf.reward_func([RIGHT], [""], [TRUTH])
    monkeypatch.setenv("VERIPLAY_ON_FAULT", "zero")
    found = veriplay.openrlhf.reward_func([RIGHT], [""], [TRUTH])
    assert found["rewards"] == 0.0 and found["extra_logs"]["veriplay_unjudged"] == 1.0


def test_the_real_openrlhf_executor_takes_both_the_file_and_the_url(at_service: str, openrlhf_agent: Any) -> None:
    async def fetch(url: str, by_file: bool) -> list[Any]:
        executor = openrlhf_agent.SingleTurnAgentExecutor(url)
        call = executor._fetch_rewards_via_func if by_file else executor._fetch_rewards_via_http
        return list(await call([f"Q: {RIGHT}"], ["Q: "], [TRUTH]))

    for url, by_file in [(veriplay.openrlhf.__file__, True), (f"{at_service}/get_reward", False)]:
        (found,) = asyncio.run(fetch(url, by_file))
        assert (found["rewards"], found["scores"]) == (1.0, 1.0), url


class ScriptedEngine:
    """What OpenRLHF asks of vLLM: each answer is the next text of a script. A token is a code point."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = list(texts)
        self.prompts: list[str] = []

    async def generate(self, tokens: list[int], sampling_params: Any, multi_modal_data: Any = None) -> Any:
        self.prompts.append("".join(map(chr, tokens)))
        text = self.texts.pop(0)
        output = SimpleNamespace(token_ids=[ord(letter) for letter in text], text=text, finish_reason="stop")
        return SimpleNamespace(outputs=[output])


class Letters:
    """A tokenizer whose tokens are code points, with the two calls that OpenRLHF's executor makes."""

    def __call__(self, text: str, **_: object) -> dict[str, Any]:
        tokens = [ord(letter) for letter in text]
        return {"input_ids": [SimpleNamespace(tolist=lambda: tokens)]}

    def decode(self, tokens: list[int], **_: object) -> str:
        return "".join(map(chr, tokens))


def openrlhf_episode(
    executor: Any, texts: list[str], max_length: int = 10_000, prompt: str = "Add.\n"
) -> tuple[dict[str, Any], list[str]]:
    """An episode that the real executor plays. Returns its record, and what the model was prompted with."""
    engine = ScriptedEngine(texts)
    sampling = SimpleNamespace(max_tokens=64, logprobs=None)
    record = asyncio.run(executor.execute(prompt, TRUTH, sampling, max_length, Letters(), engine))
    assert engine.texts == []
    return record, engine.prompts


def test_the_real_openrlhf_agent_executor_plays_several_turns(at_service: str, openrlhf_agent: Any) -> None:
    # As OpenRLHF loads it: from its file, under another name.
    path = f"{veriplay.__path__[0]}/openrlhf_agent.py"
    spec = importlib.util.spec_from_file_location("agent_module", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert issubclass(module.AgentExecutor, openrlhf_agent.AgentExecutorBase)

    record, prompts = openrlhf_episode(module.AgentExecutor(), [WRONG, RIGHT])
    feedback = "\n\nUser: The program is not right (wrong answer; 1 of 2 tests passed). Write the whole program again.\n\nAssistant: "
    assert prompts == ["Add.\n", f"Add.\n{WRONG}{feedback}"]
    assert (record["reward"], record["scores"], record["extra_logs"]["veriplay_turns"]) == (1.0, 1.0, 2.0)
    text = Letters().decode(record["observation_tokens"])
    assert [text[start:end] for start, end in record["action_ranges"]] == [WRONG, RIGHT]

    first, _ = openrlhf_episode(module.AgentExecutor(), [RIGHT])
    assert (first["reward"], first["extra_logs"]["veriplay_turns"]) == (1.0, 1.0)
    never, _ = openrlhf_episode(module.executor(turns=3, credit="fraction")(), [WRONG] * 3)
    assert (never["reward"], never["extra_logs"]["veriplay_accepted"]) == (0.5, 0.0)
    # The prompt opened a thought, which the program does not end.
    drafts, _ = openrlhf_episode(module.AgentExecutor(), [RIGHT, f"{RIGHT} so"], prompt="Add.\n<think>\n")
    assert (drafts["reward"], drafts["extra_logs"]["veriplay_turns"]) == (1.0, 2.0)
    # The feedback fills the context, so the executor asks for no further step.
    full, _ = openrlhf_episode(module.executor(credit="fraction")(), [WRONG], max_length=100)
    assert (full["reward"], full["scores"], full["extra_logs"]["veriplay_turns"]) == (0.5, 0.5, 1.0)
    assert len(full["observation_tokens"]) > 100
    lost = module.executor(url=NOWHERE, patience=0.0, on_fault="zero")
    record, _ = openrlhf_episode(lost(), [RIGHT])
    assert (record["reward"], record["extra_logs"]["veriplay_unjudged"]) == (0.0, 1.0)
    with pytest.raises(Unmeasured):
        openrlhf_episode(module.executor(url=NOWHERE, patience=0.0)(), [RIGHT])
    with pytest.raises(ValueError, match=r"no `.feedback.`"):
        module.executor(template="again")


def trace_of(reply: str) -> Any:
    return SimpleNamespace(last_reply=reply)


@pytest.mark.parametrize(
    "data",
    [
        SimpleNamespace(ground_truth=TRUTH),
        SimpleNamespace(info={"verification_info": TRUTH}),
        SimpleNamespace(answer=TRUTH, info=None),
    ],
)
def test_verifiers_rewards_find_the_task_in_its_data(at_service: str, data: Any) -> None:
    async def judge() -> list[float]:
        task = SimpleNamespace(data=data)
        texts = (RIGHT, WRONG)
        return await asyncio.gather(*(veriplay.verifiers.executed(task, trace_of(text)) for text in texts))

    assert asyncio.run(judge()) == [1.0, 0.0]
    assert asyncio.run(veriplay.verifiers.passed_fraction(SimpleNamespace(data=data), trace_of(WRONG))) == 0.5


def test_verifiers_get_an_exception_where_nothing_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERIPLAY_URL", NOWHERE)
    monkeypatch.setenv("VERIPLAY_PATIENCE", "0")
    with pytest.raises(Unmeasured):
        asyncio.run(veriplay.verifiers.executed(SimpleNamespace(ground_truth=TRUTH), trace_of(RIGHT)))


def test_the_real_skyrl_gym_makes_and_steps_the_environment(at_service: str) -> None:
    gym = pytest.importorskip("skyrl_gym")
    if "veriplay" not in gym.envs.registration.registry:
        gym.register(id="veriplay", entry_point="veriplay.skyrl:CodeEnv")
    extras = {"reward_spec": {"method": "rule", "ground_truth": TRUTH}}
    for action, reward in [(RIGHT, 1.0), (WRONG, 0.0)]:
        env = gym.make("veriplay", env_config={}, extras=extras)
        env.init([{"role": "user", "content": "add"}])
        step = env.step(action)
        assert (step["reward"], step["done"], step["metadata"]["unjudged"]) == (reward, True, False)
        assert env.get_metrics() == {"accepted": reward, "unjudged": 0.0}
    broken = gym.make("veriplay", env_config={}, extras={"reward_spec": {"ground_truth": BROKEN}})
    with pytest.raises(Unmeasured, match=r"`reward_spec\.ground_truth\.outputs`: has 1 items"):
        broken.step(RIGHT)
    with pytest.raises(KeyError, match=r"reward_spec\.ground_truth"):
        gym.make("veriplay", env_config={}, extras={})
    zero = gym.make("veriplay", env_config={"url": NOWHERE, "patience": 0, "on_fault": "zero"}, extras=extras)
    assert zero.step(RIGHT)["metadata"]["unjudged"] is True


def test_the_real_inspect_runs_python_in_the_sandbox(at_service: str) -> None:
    pytest.importorskip("inspect_ai")
    from inspect_ai.util._sandbox.registry import registry_find_sandboxenv

    import veriplay.inspect  # what the entry point of an installed package does

    kind = registry_find_sandboxenv("veriplay")
    assert kind is veriplay.inspect.VeriplaySandbox

    async def commands() -> None:
        box = (await kind.sample_init("task", None, {}))["default"]
        ran = await box.exec(["python3", "-c", "import sys; print(input(), sys.argv)", "a"], input="hi\n")
        assert (ran.success, ran.stdout) == (True, "hi ['-c', 'a']\n")
        await box.write_file("src/main.py", "import helper\nprint(helper.ANSWER)\n")
        await box.write_file("src/helper.py", "ANSWER = 42\n")
        assert await box.read_file("src/helper.py") == "ANSWER = 42\n"
        ran = await box.exec(["python", "main.py"], cwd="src")
        assert (ran.success, ran.stdout) == (True, "42\n"), ran
        failed = await box.exec(["python3", "-"], input="1/0")
        assert (failed.returncode, "ZeroDivisionError" in failed.stderr) == (1, True)
        left = await box.exec(["python3", "-c", "import sys; sys.exit(3)"])
        assert (left.returncode, left.stderr) == (3, "")
        left = await box.exec(["python3", "-c", "import sys; sys.exit('no input')"])
        assert (left.returncode, left.stderr) == (1, "no input\n")
        assert (await box.exec(["bash", "-c", "ls"])).returncode == 127
        assert (await box.exec(["python3", "missing.py"])).returncode == 2
        with pytest.raises(FileNotFoundError):
            await box.read_file("missing.py")
        with pytest.raises(TimeoutError):
            await box.exec(["python3", "-c", "while True: pass"], timeout=1)

    asyncio.run(commands())


def test_the_real_inspect_scores_a_sample(at_service: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    inspect_ai = pytest.importorskip("inspect_ai")
    # It counts tokens with a vocabulary that tiktoken would fetch.
    words = SimpleNamespace(encode=lambda text, **_: text.split())
    monkeypatch.setattr("tiktoken.get_encoding", lambda _: words)
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, get_model
    from inspect_ai.scorer import CORRECT, INCORRECT, Score, Target, accuracy, scorer
    from inspect_ai.solver import TaskState, generate
    from inspect_ai.util import sandbox

    @scorer(metrics=[accuracy()])
    def executes() -> Any:
        async def score(state: TaskState, target: Target) -> Score:
            ran = await sandbox().exec(["python3", "-c", f"{state.output.completion}\n{target.text}"])
            return Score(value=CORRECT if ran.success else INCORRECT)

        return score

    outputs = [ModelOutput.from_content("m", f"def f(x): return x + {at}") for at in (1, 2)]
    samples = [Sample(input="f", target="assert f(1) == 2") for _ in outputs]
    task = inspect_ai.Task(dataset=samples, solver=generate(), scorer=executes(), sandbox="veriplay")
    model = get_model("mockllm/model", custom_outputs=outputs)
    (log,) = inspect_ai.eval(task, model=model, log_dir=str(tmp_path), display="none", max_samples=1)
    assert log.status == "success", log.error
    assert log.results.scores[0].metrics["accuracy"].value == 0.5


def test_the_real_inspect_leaves_out_what_has_no_verdict(
    at_service: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    inspect_ai = pytest.importorskip("inspect_ai")
    words = SimpleNamespace(encode=lambda text, **_: text.split())
    monkeypatch.setattr("tiktoken.get_encoding", lambda _: words)
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, get_model
    from inspect_ai.solver import generate

    from veriplay.inspect import verify

    def evaluated(texts: list[str], scorer: Any) -> Any:
        samples = [Sample(input="sum", target=TRUTH, metadata={"truth": TRUTH}) for _ in texts]
        task = inspect_ai.Task(dataset=samples, solver=generate(), scorer=scorer)
        model = get_model("mockllm/model", custom_outputs=[ModelOutput.from_content("m", text) for text in texts])
        (log,) = inspect_ai.eval(task, model=model, log_dir=str(tmp_path), display="none", max_samples=1)
        assert log.status == "success", log.error
        return log.results.scores[0], [next(iter(sample.scores.values())) for sample in log.samples]

    results, scores = evaluated([RIGHT, WRONG, "no code"], verify())
    assert [score.value for score in scores] == ["C", "I", "I"]
    assert [score.metadata["status"] for score in scores[:2]] == ["accepted", "wrong_answer"]
    assert results.metrics["accuracy"].value == pytest.approx(1 / 3)
    results, scores = evaluated([RIGHT, WRONG], verify(column="truth", credit="fraction"))
    assert [score.value for score in scores] == [1.0, 0.5]
    assert results.metrics["accuracy"].value == 0.75
    results, scores = evaluated([RIGHT], verify(url=NOWHERE, patience=0.0))
    assert math.isnan(scores[0].value) and scores[0].reason == "scoring_failed" and scores[0].explanation
    assert (results.scored_samples, results.unscored_samples) == (0, 1)


#: Right by the words, and by no judge that looks at lines.
WORDS = "```python\nprint('\\n', sum(map(int, input().split())))\n```"


def test_every_function_takes_a_judge_for_tasks_that_name_none(
    at_service: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = json.dumps({**json.loads(TRUTH), "judge": "lines"})
    for judge, wanted in (("tokens", 1.0), ({"judge": "float", "rtol": 1e-3}, 0.0), (None, 0.0)):
        for truth, reward in ((TRUTH, wanted), (named, 0.0)):
            columns = {"prompts": ["p"], "completions": [WORDS], "ground_truth": [truth]}
            assert veriplay.trl.reward(judge=judge)(**columns) == [reward]
            scored = veriplay.verl.compute_score("code", WORDS, truth, judge=judge)
            assert asyncio.run(scored)["score"] == reward
            assert veriplay.openrlhf.reward_func([WORDS], [""], [truth], judge=judge)["rewards"] == reward
            data = SimpleNamespace(ground_truth=truth)
            assert asyncio.run(veriplay.verifiers.executed(data, trace_of(WORDS), judge=judge)) == reward
    monkeypatch.setenv("VERIPLAY_JUDGE", "tokens")
    assert veriplay.openrlhf.reward_func([WORDS], [""], [TRUTH])["rewards"] == 1.0
    assert asyncio.run(veriplay.verifiers.executed(SimpleNamespace(ground_truth=TRUTH), trace_of(WORDS))) == 1.0


def test_an_unknown_judge_is_an_error_that_lists_the_names(at_service: str) -> None:
    with pytest.raises(veriplay.Rejected, match="exact, lines, tokens"):
        veriplay.trl.reward(judge="diff")(prompts=["p"], completions=[RIGHT], ground_truth=[TRUTH])


def test_every_shim_imports_without_its_framework() -> None:
    for name in ("verl", "trl", "openrlhf", "verifiers"):
        assert importlib.util.find_spec(f"veriplay.{name}") is not None
    assert veriplay.verl.compute_score is not None
