import json, os, sys

scale = float(os.environ["SCALE"])
for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "start":
        answer = {"ready": True}
    else:
        rewards = [-scale * sum(turn["tokens"] for turn in one["turns"]) for one in request["episodes"]]
        answer = {"step": request["step"], "rewards": rewards}
    print(json.dumps(answer), flush=True)
