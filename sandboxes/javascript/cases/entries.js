//! {"name": "a function of the top level, called twice in one state", "entry": "f", "arguments": "[(1,), (2,)]", "results": ["1", "3"]}
let total = 0;
function f(n) { return (total += n); }
//! {"name": "arrows, classes and variables of the top level", "entry": "C.m", "arguments": "[(2,)]", "results": ["4"]}
class C { constructor() { this.by = 2; } m(n) { return n * this.by; } }
//! {"name": "a method of an object", "entry": "solution.solve", "arguments": "[(2,)]", "results": ["3"]}
const solution = { one: 1, solve(n) { return n + this.one; } };
//! {"name": "a destructured name", "entry": "f", "arguments": "[(2,)]", "results": ["4"]}
const { f, g } = { f: n => g(n) * 2, g: n => n };
//! {"name": "what the module exports", "entry": "anything", "arguments": "[(2,)]", "results": ["3"]}
module.exports = function (n) { return n + 1; };
//! {"name": "what the module exports, by that name", "entry": "module.exports", "arguments": "[(2,)]", "results": ["3"]}
module.exports = n => n + 1;
//! {"name": "a named export", "entry": "f", "arguments": "[(2,)]", "results": ["3"]}
exports.f = n => n + 1;
//! {"name": "a named export, by its path", "entry": "module.exports.f", "arguments": "[(2,)]", "results": ["3"]}
module.exports = { f: n => n + 1 };
//! {"name": "a class that is exported", "entry": "C.m", "arguments": "[()]", "results": ["7"]}
module.exports = { C: class { m() { return 7; } } };
//! {"name": "a global that was never declared", "entry": "f", "arguments": "[()]", "results": ["5"]}
f = () => 5;
//! {"name": "behind an early return only exports are found", "entry": "f", "arguments": "[()]", "results": ["6"]}
exports.f = () => 6;
return;
//! {"name": "strict programs stay strict, others sloppy", "entry": "f", "arguments": "[()]", "results": ["[True, False]"]}
'use strict';
function f() { return [this === undefined, (function () { return false; })()]; }
//! {"name": "sloppy", "entry": "f", "arguments": "[()]", "results": ["True"]}
function f() { return this === globalThis; }
//! {"name": "nothing of that name", "entry": "f", "arguments": "[()]", "exit": "missing_entry `f` is not defined, or not callable", "results": []}
const g = 1;
//! {"name": "no function", "entry": "f", "arguments": "[()]", "exit": "missing_entry `f` is not defined, or not callable"}
const f = 1;
//! {"name": "a name that is no name", "entry": "f() || evil", "arguments": "[()]", "exit": "missing_entry `f() || evil` is not defined, or not callable"}
function f() { throw 1; }
//! {"name": "a constructor that throws", "entry": "C.m", "arguments": "[()]", "exit": "raised RangeError: no"}
class C { constructor() { throw new RangeError("no"); } m() {} }
//! {"name": "an async function is awaited", "entry": "f", "arguments": "[(1,), (2,)]", "results": ["[1, 1]", "raised TypeError: two"]}
async function f(n) { await null; if (n === 2) throw new TypeError("two"); await new Promise(done => setTimeout(done, 1000)); return [n, await 1]; }
//! {"name": "a promise that is never settled", "entry": "f", "arguments": "[(), ()]", "results": ["raised UnsettledPromise: the promise that was returned is never settled", "raised UnsettledPromise: the promise that was returned is never settled"]}
const f = () => new Promise(() => {});
//! {"name": "errors of calls, and calls behind them", "entry": "f", "arguments": "[(i,) for i in range(9)]", "results": ["raised TypeError: t", "raised Thrown: text", "raised Thrown: 3", "raised Thrown: ", "raised Mine: m", "raised Error: m", "raised ReferenceError: nothing is not defined", "raised RangeError: Maximum call stack size exceeded", "8"]}
class Mine extends Error { constructor(m) { super(m); this.name = "Mine"; } }
class Plain extends Error {}
const deep = () => deep() + 1;
function f(n) {
  if (n === 0) throw new TypeError("t");
  if (n === 1) throw "text";
  if (n === 2) throw 3;
  if (n === 3) throw { x: 1 };
  if (n === 4) throw new Mine("m");
  if (n === 5) throw new Plain("m");
  if (n === 6) return nothing;
  if (n === 7) return deep();
  return n;
}
//! {"name": "an error of the module", "entry": "f", "arguments": "[()]", "exit": "raised Error: module", "results": []}
throw new Error("module");
//! {"name": "a text that does not parse", "exit": "compile_error SyntaxError: expecting ';'", "stderr": "<input>:2:"}
let a = 1;
let b = a a;
//! {"name": "a byte order mark and a line for the shell", "program": "\ufeff#!/usr/bin/env node\nconsole.log('ok')", "stdout": "ok\n"}
//! {"name": "a program that ends in a comment", "program": "console.log('ok') // end", "stdout": "ok\n"}
//! {"name": "a program that does not end its comment", "program": "console.log('ok') /* end", "exit": "compile_error SyntaxError…"}
//! {"name": "an empty program", "program": "", "stdout": ""}
//! {"name": "modules of the other kind are refused", "exit": "compile_error SyntaxError…"}
import fs from 'fs';
//! {"name": "memory that is used up ends the job", "entry": "f", "arguments": "[(), ()]", "exit": "exceeded memory_bytes"}
const f = () => { const all = []; for (;;) all.push(new Float64Array(1e6).fill(1)); };
//! {"name": "deep recursion is an error in the program, and a hundred times less is none", "stdout": "RangeError 10000\n"}
const count = n => (n === 0 ? 0 : 1 + count(n - 1));
let name;
try { count(1e6); } catch (error) { name = error.name; }
console.log(name, count(10000));
//! {"name": "a rejection that nobody handles", "exit": "raised TypeError: x", "stderr": "Uncaught TypeError: x\n    at main (<input>:1:"}
async function main() { throw new TypeError("x"); } main();
//! {"name": "a rejection that is handled in time", "stdout": "1\n"}
const p = Promise.reject(1); queueMicrotask(() => p.catch(e => console.log(e)));
//! {"name": "an error in a microtask, in a timer and in a listener", "exit": "raised Error: m"}
queueMicrotask(() => { throw new Error("m"); });
//! {"name": "in a timer", "exit": "raised Error: t", "stdout": "before\n"}
setTimeout(() => { throw new Error("t"); }, 5); console.log("before"); setTimeout(() => console.log("after"), 6);
//! {"name": "in a listener", "stdin": "a\nb\n", "exit": "raised Error: a", "stdout": ""}
require("readline").createInterface({ input: process.stdin }).on("line", line => { throw new Error(line); });
//! {"name": "the exit code, and what listens to it", "exit": "raised SystemExit: 2", "stdout": "exit 2\n"}
process.on("exit", code => console.log("exit", code)); process.exitCode = 2;
//! {"name": "an error of a listener to the exit", "exit": "raised Error: late"}
process.on("exit", () => { throw new Error("late"); });
//! {"name": "time is virtual, and a sleep takes as long as it says", "stdout": "true true 2026\n"}
const begun = Date.now(), quick = performance.now(); setTimeout(() => console.log(Date.now() - begun >= 3600000, Date.now() - begun < 3600100, new Date().getFullYear()), 3600000);
//! {"name": "chance is the seed's (1)", "seed": 1, "stdout": "0.0916 0.8882\n"}
console.log(Math.random().toFixed(4), Math.random().toFixed(4));
//! {"name": "chance is the seed's (2)", "seed": 2, "stdout": "0.9871 0.3054\n"}
console.log(Math.random().toFixed(4), Math.random().toFixed(4));
//! {"name": "chance is even", "stdout": "true\n"}
let sum = 0, low = 1, high = 0; for (let i = 0; i < 20000; i++) { const r = Math.random(); sum += r; low = Math.min(low, r); high = Math.max(high, r); }
console.log(Math.abs(sum / 20000 - 0.5) < 0.01 && low < 0.001 && high > 0.999 && high < 1);
//! {"name": "files of the job", "files": {"in.txt": "7 8", "d/x.json": "[1]"}, "stdout": "7 8 true false ENOENT\n"}
const fs = require("fs"); let code; try { fs.readFileSync("none"); } catch (error) { code = error.code; }
console.log(fs.readFileSync("in.txt", "utf8"), fs.existsSync("d/x.json"), fs.existsSync("none"), code);
