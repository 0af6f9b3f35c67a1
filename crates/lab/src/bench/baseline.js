// Runs programs for `veriplay bench` in Pyodide on Node: one warm runtime, a fresh dict of globals for every program, so
// state of modules is kept between programs. Lines in and out as `baseline.py` beside this file says.
const lines = require("node:readline").createInterface({ input: process.stdin });
const say = (answer) => process.stdout.write(JSON.stringify(answer) + "\n");
const now = () => process.hrtime.bigint();

function oneJob(python, steps, serial) {
  const suffix = "\n# " + String(serial).padStart(8, "0");
  for (const [program, prints] of steps) {
    let got = "";
    python.setStdout({ batched: (text) => (got += text + "\n") });
    const globals = python.globals.get("dict")();
    try {
      python.runPython(program + suffix, { globals });
    } catch (error) {
      return String(error).trim().split("\n").pop();
    } finally {
      globals.destroy();
    }
    if (prints !== null && got !== prints) return JSON.stringify(got) + " instead of " + JSON.stringify(prints);
  }
  return null;
}

function oneRound(python, ask) {
  const times = [];
  const start = now();
  for (let before = start; ; ) {
    const wrong = oneJob(python, ask.steps, ask.serial + times.length);
    const after = now();
    times.push(Number(after - before));
    before = after;
    if (wrong !== null || after - start >= BigInt(ask.ns)) return { ns: times, elapsed_ns: Number(after - start), wrong };
  }
}

async function main() {
  let python;
  try {
    python = await require("pyodide").loadPyodide();
  } catch (error) {
    return say({ absent: String(error.message).split("\n")[0] });
  }
  say({ ready: python.version });
  for await (const line of lines) say(oneRound(python, JSON.parse(line)));
}

main().then(() => process.exit(0));
