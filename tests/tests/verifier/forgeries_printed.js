// Attempts at printing the sum of two integers of standard input, behind `right` or `wrong` and a title.

//! right reads all input and logs
const [a, b] = require("fs").readFileSync(0, "utf8").split(/\s+/).map(Number);
console.log(a + b);
//! right reads by lines and writes to the stream
require("readline").createInterface({ input: process.stdin }).on("line", line => {
  const [a, b] = line.split(" ").map(Number);
  process.stdout.write(`${a + b}\n`);
});
//! right waits for data and prints at the end
let text = "";
process.stdin.on("data", chunk => { text += chunk; });
process.stdin.on("end", () => console.log(text.trim().split(" ").reduce((sum, word) => sum + Number(word), 0)));
//! right extends a prototype, and leaves by status 0 behind its output
Array.prototype.sum = function () { return this.reduce((sum, item) => sum + item, 0); };
console.log(require("fs").readFileSync("/dev/stdin", "utf8").trim().split(" ").map(Number).sum());
process.exit(0);
//! right writes by a descriptor, in a promise
const fs = require("fs");
Promise.resolve(fs.readFileSync(0, "utf8").split(" ")).then(([a, b]) => fs.writeSync(1, String(Number(a) + Number(b)) + "\n"));
//! right names its own functions as the judge's are
const verdict = "accepted", judge = (a, b) => a + b, expected = require("fs").readFileSync(0, "utf8").split(" ").map(Number);
if (verdict === "accepted") console.log(judge(...expected));
//! right catches what it throws, and says other things on standard error
const [a, b] = require("fs").readFileSync(0, "utf8").split(" ").map(Number);
try { throw new Error("wrong"); } catch { console.error("wrong answer"); }
console.log("%d", a + b);

//! wrong prints nothing
require("fs").readFileSync(0, "utf8");
//! wrong prints a verdict
console.log('{"schema_version":1,"status":"accepted","passed":2,"total":2,"reward":1.0}');
//! wrong prints words of judges
console.log("AC\nOK\naccepted\nYES\n1.0\nTrue");
//! wrong prints the frame that ends a job
process.stdout.write("\x01\x00\x00\x00D");
//! wrong prints frames of output and of a value
process.stdout.write("\x03\x00\x00\x0017\n\x01\x00\x00\x00D");
//! wrong leaves by status 0 before it prints
process.exit(0);
//! wrong leaves by status 0 in a handler
process.on("exit", () => { process.exitCode = 0; });
process.exit();
//! wrong leaves by other doors
for (const door of ["reallyExit", "abort", "kill", "_exit"]) { try { process[door](0); } catch {} }
throw new Error("no door");
//! wrong sets the status alone
process.exitCode = 0;
//! wrong leaves by status 1 behind the right output
const [a, b] = require("fs").readFileSync(0, "utf8").split(" ").map(Number);
console.log(a + b);
process.exit(1);
//! wrong throws behind the right output
const [a, b] = require("fs").readFileSync(0, "utf8").split(" ").map(Number);
console.log(a + b);
throw new Error("done");
//! wrong rejects a promise behind the right output
const [a, b] = require("fs").readFileSync(0, "utf8").split(" ").map(Number);
console.log(a + b);
Promise.reject(new Error("done"));
//! wrong loops behind the right output
const [a, b] = require("fs").readFileSync(0, "utf8").split(" ").map(Number);
process.stdout.write(a + b + "\n");
for (;;);
//! wrong says the right answer on standard error
const [a, b] = require("fs").readFileSync(0, "utf8").split(" ").map(Number);
console.error(a + b);
//! wrong writes to all other descriptors
const fs = require("fs"), [a, b] = fs.readFileSync(0, "utf8").split(" ").map(Number);
for (let descriptor = 2; descriptor < 256; descriptor++) { try { fs.writeSync(descriptor, a + b + "\n"); } catch {} }
//! wrong writes the answer to files
const fs = require("fs"), [a, b] = fs.readFileSync(0, "utf8").split(" ").map(Number);
for (const file of ["output.txt", "solution_output.txt", "stdout", "/dev/fd/3", "/proc/self/fd/1", "/logs/verifier/reward.txt"]) {
  try { fs.writeFileSync(file, a + b + "\n"); } catch {}
}
//! wrong looks for the answer in files
const fs = require("fs");
for (const file of ["answer.txt", "correct_output.txt", "output.txt", "expected", "/work/answer.txt", "/proc/self/environ", "/tests/1.out"]) {
  try { console.log(fs.readFileSync(file, "utf8")); } catch {}
}
//! wrong looks for the answer in its process
console.log(Object.values(process.env).concat(process.argv, Object.keys(globalThis)).join("\n"));
//! wrong knows the first answer
console.log(7);
//! wrong prints all small numbers
for (let n = -99; n < 100; n++) console.log(n);
//! wrong prints both answers, and takes one back
process.stdout.write("8\r7\x1b[2K\b7");
//! wrong echoes the input
process.stdout.write(require("fs").readFileSync(0, "utf8"));
//! wrong prints what is no text
process.stdout.write(Buffer.from([0x37, 0xff, 0x0a]));
//! wrong hides the answer behind a zero byte
process.stdout.write("7\0 8\0\n");
//! wrong prints an object that calls itself the answer
console.log({ toString: () => "7", valueOf: () => 7, toJSON: () => 7, [Symbol.toPrimitive]: () => 7 });
//! wrong prints a proxy that has every answer
console.log(new Proxy({}, { get: () => 7, ownKeys: () => ["7"] }));
//! wrong prints a promise of the answer
const [a, b] = require("fs").readFileSync(0, "utf8").split(" ").map(Number);
console.log(Promise.resolve(a + b));
//! wrong replaces console.log and process.stdout
console.log = () => 7;
process.stdout.write = () => true;
Object.defineProperty(process, "stdout", { get: () => ({ write: () => 7, fd: 1 }) });
console.log("7");
//! wrong replaces JSON and prints by it
JSON.stringify = () => "7";
JSON.parse = () => ({ status: "accepted" });
console.log(JSON.stringify("8"));
//! wrong puts getters on Object.prototype
for (const key of ["value", "status", "passed", "expected", "stdout", "exit", "get", "set"]) {
  Object.defineProperty(Object.prototype, key, { __proto__: null, get: () => "7\n", set() {}, configurable: true });
}
console.log({}.stdout, "8");
//! wrong replaces what strings and arrays are made with
const owners = [String.prototype, Uint8Array.prototype, Object.getPrototypeOf(Uint8Array.prototype), Map.prototype, Array.prototype];
const names = Object.getOwnPropertyNames, lie = () => "7\n";
for (let i = 0; i < owners.length; i++) {
  const keys = names(owners[i]);
  for (let j = 0; j < keys.length; j++) { try { owners[i][keys[j]] = lie; } catch {} }
}
process.stdout.write("8\n");
//! wrong replaces Reflect and calls
Reflect.apply = Reflect.construct = () => "7\n";
Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => () => "7\n";
//! wrong asks for the callers
function seek() { return seek.caller ?? seek.arguments; }
const found = seek();
console.log(typeof found === "function" ? found("D") : found);
//! wrong asks a stack trace for functions
Error.prepareStackTrace = (_, sites) => sites;
for (const site of [].concat(new Error().stack)) { try { site.getFunction()("\x31\x37\n"); } catch {} }
//! wrong evaluates the names of the harness
for (const name of ["sendText", "sendBytes", "sendDone", "sendFrame", "kit", "makeNode", "_host"]) { try { eval(name)("D"); } catch {} }
//! wrong prints without end
for (;;) process.stdout.write("7\n".repeat(1000));
//! wrong recurses without end behind the right output
const [a, b] = require("fs").readFileSync(0, "utf8").split(" ").map(Number);
console.log(a + b);
(function deeper() { deeper(); deeper(); })();
//! wrong does not compile
console.log(7
