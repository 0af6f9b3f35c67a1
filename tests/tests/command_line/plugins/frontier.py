import json, sys

def weight(task):
    assert task["source"] in ("seed", "pool") and task["task"] and len(task["id"]) > 8
    assert task["kind"] in ("deduction", "abduction", "induction") and task["step"] >= 0
    last = task["last"]
    if not last or not last["judged"]:
        return 1.0
    rate = last["solved"] / last["judged"]
    return max(4.0 * rate * (1.0 - rate), 0.05)

seen = set()
for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "start":
        assert request["plugin"] == "curriculum"
        answer = {"ready": True}
    else:
        assert request["learnable_weight"] > 0 and 0 <= request["seed"] < 2**64 and request["seed"] not in seen
        seen.add(request["seed"])
        answer = {"step": request["step"], "weights": [weight(task) for task in request["tasks"]]}
    print(json.dumps(answer), flush=True)
