import json, sys

def reward(episode):
    if episode["role"] != "proposer":
        return {"accuracy": float(episode["status"] == "accepted")}
    outcome = episode["outcome"]
    if outcome == "unrated":
        return None
    if outcome in ("malformed", "invalid"):
        return {"validity": -0.5}
    if outcome == "duplicate":
        return {"novelty": -0.25}
    rate = episode["solve_rate"]
    return {"learnability": 1.0 - rate if rate > 0.0 else 0.0}

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "start":
        assert request["protocol"] == 1 and request["game"] == "absolute_zero" and request["plugin"] == "reward"
        answer = {"ready": True}
    else:
        for episode in request["episodes"]:
            assert episode["turns"] and all(turn["prompt"] and turn["tokens"] for turn in episode["turns"])
            assert episode["role"] == "proposer" or episode["total"] is not None
        answer = {"step": request["step"], "rewards": [reward(episode) for episode in request["episodes"]]}
    print(json.dumps(answer), flush=True)
