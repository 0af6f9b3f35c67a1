// Runs one Python file in a new Pyodide: `node run.mjs FILE`.
import { readFileSync } from "node:fs";
import { loadPyodide, version } from "pyodide";

if (process.argv[2] === "--version") {
  console.log(`Pyodide ${version}, Node ${process.versions.node}`);
} else {
  const program = readFileSync(process.argv[2], "utf8");
  const python = await loadPyodide({ jsglobals: {}, env: { HOME: "/home/pyodide" } });
  try {
    python.runPython(program);
  } catch (error) {
    console.error(String(error));
    process.exitCode = 1;
  }
}
