//! {"name": "prototypes that are replaced do not change what is sent", "entry": "f", "arguments": "[(1, 'a', [2], {'k': 3})]", "results": ["[1, 'a', [2], {'k': 3}, {'x'}, {1: 2}, b'\\x01', 2.5, 12345678901234567890, 'é' * 60]"]}
const stolen = [];
function f(...given) {
  const value = [...given, new Set(["x"]), new Map([[1, 2]]), new Uint8Array([1]), 2.5, 12345678901234567890n, "é".repeat(60)];
  const lie = function () { stolen[stolen.length] = this; return 666; }, { define, keys } = { define: Object.defineProperty, keys: Reflect.ownKeys };
  const owners = [Array, Object, Map, Set, String, Number, BigInt, Function, WeakSet, DataView, Promise, Object.getPrototypeOf(Uint8Array), Uint8Array, RegExp, Error, Reflect, Math, JSON];
  for (let i = owners.length * 2 - 1; i >= 0; i--) {
    const target = i % 2 ? owners[i >> 1] : owners[i >> 1].prototype;
    const names = target ? keys(target) : [];
    for (let j = 0; j < names.length; j++) {
      if (names[j] === "prototype") continue;
      try { define(target, names[j], { __proto__: null, get: lie, set: lie, configurable: true }); } catch {}
    }
  }
  return value;
}
//! {"name": "globals that are replaced do not either", "entry": "f", "arguments": "[()]", "results": ["[1, 'é', {2}]"]}
function f() {
  const value = [1, "é", new Set([2])];
  for (const key of ["Reflect", "JSON", "Math", "Object", "Array", "Uint8Array", "String", "Number", "BigInt", "Map", "Set", "btoa", "atob", "escape", "unescape", "encodeURIComponent", "decodeURIComponent", "eval", "Proxy", "Promise", "Error", "Function", "Symbol", "DataView", "WeakSet", "console", "process"]) globalThis[key] = () => 666;
  return value;
}
//! {"name": "setters of prototypes see nothing that the harness writes", "entry": "f", "arguments": "[(), ()]", "results": ["[{'a': [1, 2], 'b': {3, 4}}, 0]", "[{'a': [1, 2], 'b': {3, 4}}, 0]"]}
let seen = 0;
const note = { __proto__: null, set() { seen += 1; }, get() { seen += 1; return 666; }, configurable: true };
for (let i = 0; i < 20; i++) Object.defineProperty(Array.prototype, i, note);
for (const key of ["value", "writable", "enumerable", "configurable", "get", "set", "then", "length", "name", "message", "stack", "main", "constructor", "callback", "values", "due", "0", "1"]) Object.defineProperty(Object.prototype, key, note);
function f() { const had = seen; seen = 0; return [{ a: [1, 2], b: new Set([3, 4]) }, had && 0]; }
//! {"name": "values called `get` and `set` on a prototype do not break definitions", "entry": "f", "arguments": "[({'k': 1},)]", "results": ["{'k': 1}"]}
Object.prototype.get = () => 1; Object.prototype.set = 5; Object.prototype.alphabet = "no";
const f = x => x;
//! {"name": "a getter, a proxy and toJSON run no code while a value is encoded", "entry": "f", "arguments": "[(i,) for i in range(7)]", "results": ["unencodable a property with a getter or a setter", "unencodable a Proxy", "unencodable a Proxy", "unencodable a function", "{'toJSON': None}", "unencodable a Proxy", "0"]}
let ran = 0;
const run = () => { ran += 1; return 666; };
const all = new Proxy({}, { get: () => run });
const values = [
  { get a() { return run(); } }, new Proxy([1], all), [new Proxy({}, all)], { toJSON: run }, { toJSON: null },
  { a: Proxy.revocable([], all).proxy },
];
const f = n => n === 6 ? ran : values[n];
//! {"name": "a proxy by any other way is one still", "entry": "f", "arguments": "[(i,) for i in range(4)]", "results": ["unencodable a Proxy", "unencodable a Proxy", "unencodable a Proxy", "unencodable an object of a class that has no encoding"]}
const revoked = Proxy.revocable([], {}); revoked.revoke();
const values = [Reflect.construct(Proxy, [[], {}]), new (Proxy.bind())({}, {}), revoked.proxy, Object.create(new Proxy(Array.prototype, {}))];
const f = n => values[n];
//! {"name": "a real proxy works as ever", "stdout": "7 Proxy 2 undefined TypeError\n"}
const p = new Proxy({}, { get: (target, key) => 7 });
let name; try { Proxy({}, {}); } catch (error) { name = error.name; }
console.log(p.anything, Proxy.name, Proxy.length, Proxy.prototype, name);
//! {"name": "subclasses and objects that claim a class", "entry": "f", "arguments": "[(i,) for i in range(4)]", "results": ["unencodable an object of a class that has no encoding", "unencodable an object of a class that has no encoding", "unencodable an object of a class that has no encoding", "{'constructor': None, 'length': 3}"]}
class M extends Map { get size() { return 1; } forEach(call) { call(1, 1); } }
class S extends Set { }
class N extends Number { valueOf() { return 5; } }
const values = [new M(), new S([1]), new N(3), { constructor: null, length: 3 }];
const f = n => values[n];
//! {"name": "an own `length` or `size` is not asked", "entry": "f", "arguments": "[(i,) for i in range(3)]", "results": ["{1: 2}", "{3}", "b'ab'"]}
const own = (object, key) => Object.defineProperty(object, key, { get() { throw new Error("ran"); } });
const values = [own(new Map([[1, 2]]), "size"), own(new Set([3]), "size"), own(new Uint8Array([97, 98]), "length")];
const f = n => values[n];
//! {"name": "an error's name and message run no code", "entry": "f", "arguments": "[(i,) for i in range(5)]", "results": ["raised Error: ", "raised Thrown: ", "raised TypeError: m", "raised Thrown: ", "0"]}
let ran = 0;
const run = { get() { ran += 1; return "lie"; } };
function f(n) {
  if (n === 0) throw Object.defineProperties(new Error("m"), { name: run, message: run, stack: run });
  if (n === 1) throw new Proxy({}, { get() { ran += 1; return "lie"; } });
  if (n === 2) throw Object.assign(new TypeError("m"), { toString() { ran += 1; return "lie"; } });
  if (n === 3) throw { name: 3, message: { toString() { ran += 1; } } };
  return ran;
}
//! {"name": "a stack does not give away functions", "entry": "f", "arguments": "[()]", "results": ["['undefined', True, 'string', 0]"]}
let found = 0;
let kept = true;
try { Error.prepareStackTrace = (error, sites) => { found += sites.filter(site => site.getFunction()).length; return sites; }; } catch {}
try { Object.defineProperty(Error, "prepareStackTrace", { value: () => { found++; } }); kept = false; } catch {}
const f = () => { const own = {}; Error.captureStackTrace(own); return [typeof Error.prepareStackTrace, kept, typeof new Error().stack, found]; };
//! {"name": "nor do callers and arguments", "entry": "f", "arguments": "[()]", "results": ["[None, 'TypeError', 'undefined']"]}
function f() {
  let name = "";
  try { (function () { "use strict"; return arguments.callee; })(); } catch (error) { name = error.name; }
  return [f.caller, name, typeof arguments.callee.caller];
}
//! {"name": "nothing of the harness is global", "entry": "f", "arguments": "[()]", "results": ["'Buffer,TextDecoder,TextEncoder,clearImmediate,clearInterval,clearTimeout,console,global,process,setImmediate,setInterval,setTimeout,structuredClone'"]}
const standard = "Object,Function,Error,EvalError,RangeError,ReferenceError,SyntaxError,TypeError,URIError,InternalError,AggregateError,SuppressedError,Iterator,Array,parseInt,parseFloat,isNaN,isFinite,queueMicrotask,decodeURI,decodeURIComponent,encodeURI,encodeURIComponent,escape,unescape,Infinity,NaN,undefined,eval,Number,Boolean,String,Math,Reflect,Symbol,DisposableStack,globalThis,BigInt,Date,RegExp,JSON,Proxy,Map,Set,WeakMap,WeakSet,ArrayBuffer,SharedArrayBuffer,Uint8ClampedArray,Int8Array,Uint8Array,Int16Array,Uint16Array,Int32Array,Uint32Array,BigInt64Array,BigUint64Array,Float16Array,Float32Array,Float64Array,DataView,Promise,AsyncDisposableStack,WeakRef,FinalizationRegistry,DOMException,btoa,atob,performance,Symbol(Symbol.toStringTag)".split(",");
const f = () => Reflect.ownKeys(globalThis).map(String).filter(key => !standard.includes(key)).sort().join();
//! {"name": "a brace that closes the program runs nothing as the program", "exit": "compile_error SyntaxError: a brace closes what the program did not open", "stdout": ""}
}, console.log("ran"), function () {
//! {"name": "the same with a class behind it, which leaves the function as the value", "exit": "compile_error SyntaxError: a brace closes what the program did not open", "stdout": ""}
}; var ran = console.log("ran"); class After {
//! {"name": "the same with a function that has the right parameters", "exit": "compile_error SyntaxError: a brace closes what the program did not open"}
}; 0, function (exports, require, module, __filename, __dirname) {
//! {"name": "a template that swallows the end", "exit": "compile_error SyntaxError…"}
const x = `
//! {"name": "what the lookup is called cannot be seen from within", "entry": "f", "arguments": "[()]", "results": ["'undefined'"]}
function f() { return typeof $veriplay; }
//! {"name": "a program that replaces `eval` answers for itself", "entry": "f", "arguments": "[()]", "results": ["2"]}
function f() { return 1; }
globalThis.eval = () => () => 2;
module.exports = { f };
//! {"name": "promises with patched methods", "entry": "f", "arguments": "[(), ()]", "results": ["3", "3"]}
Promise.prototype.then = function () { return 666; };
Promise.resolve = () => 666;
Object.defineProperty(Promise, Symbol.species, { get() { throw new Error("ran"); } });
const f = async () => 3;
//! {"name": "a promise of a class with a species of its own", "entry": "f", "arguments": "[()]", "results": ["5"]}
class P extends Promise { static get [Symbol.species]() { throw new Error("no"); } }
const f = () => P.resolve(5);
//! {"name": "an object with `then` is no promise", "entry": "f", "arguments": "[()]", "results": ["unencodable a function"]}
const f = () => ({ then(keep) { keep(1); } });
//! {"name": "ending the process inside a call ends the calls, past handlers", "entry": "f", "arguments": "[(0,), (1,), (2,)]", "results": ["0", "raised SystemExit: 3", "raised SystemExit: 3"]}
function f(n) { try { if (n === 1) process.exit(3); } catch { return 666; } finally { if (n === 1) return 667; } return n; }
//! {"name": "ending the process while the module runs", "entry": "f", "arguments": "[()]", "exit": "raised SystemExit: 0", "results": []}
function f() { return 1; }
try { process.exit(0); } finally { for (;;); }
//! {"name": "ending the process inside an async function", "exit": "raised SystemExit: 4", "stdout": "a\n"}
(async () => { await null; console.log("a"); try { process.exit(4); } catch {} finally { console.log("b"); } })().catch(() => console.log("c")).finally(() => console.log("d"));
//! {"name": "exit code 0 of a script is none", "stdout": "a\n"}
console.log("a"); process.exit(); console.log("b");
//! {"name": "the stack is used up inside the harness", "entry": "f", "arguments": "[(), ()]", "results": ["1", "1"]}
function deepest() { try { deepest(); } catch { console.log({ a: [1] }); new Proxy({}, {}); setTimeout(() => {}, 1); require("util").inspect({}); } }
function f() { try { deepest(); } catch {} return 1; }
//! {"name": "nesting that the parser cannot hold ends the job", "exit": "trapped…"}
eval("(".repeat(1e6));
//! {"name": "nesting that a parser of data cannot hold is an error", "stdout": "RangeError\n"}
try { JSON.parse("[".repeat(1e6) + "]".repeat(1e6)); } catch (error) { console.log(error.name); }
//! {"name": "the next job sees nothing of the last (1)", "stdout": "undefined\n"}
console.log(globalThis.left); globalThis.left = 1; Array.prototype.left = 2; process.left = 3; require("fs").left = 4;
//! {"name": "the next job sees nothing of the last (2)", "stdout": "undefined undefined undefined undefined\n"}
console.log(globalThis.left, [].left, process.left, require("fs").left);
//! {"name": "dynamic imports find nothing", "entry": "f", "arguments": "[()]", "results": ["raised ReferenceError: could not load module 'fs'"]}
const f = () => import("fs");
//! {"name": "functions made of texts are no way out", "entry": "f", "arguments": "[()]", "results": ["['undefined', 'undefined']"]}
const f = () => [new Function("return typeof sendText")(), console.log.constructor("return typeof kit")()];
//! {"name": "an error of a finalizer is the program's own", "entry": "f", "arguments": "[(), ()]", "results": ["raised Error: late", "raised Error: late"]}
const registry = new FinalizationRegistry(() => { throw new Error("late"); });
function f() { for (let i = 0; i < 100; i++) registry.register({}, i); return 1; }
//! {"name": "memory is used up while a value is encoded", "entry": "f", "arguments": "[(), ()]", "cap": 250000000, "exit": "exceeded memory_bytes"}
const f = () => "xyzw".repeat(3e7);
//! {"name": "ending the process while the program compiles", "entry": "f", "arguments": "[()]", "exit": "raised SystemExit: 0"}
}, process.exit(0), function () {
//! {"name": "ending the process with the stack used up does not lose its place", "entry": "f", "arguments": "[(0,), (1,)]", "results": ["raised SystemExit: 5", "raised SystemExit: 5"]}
function deepest() { try { deepest(); } catch { process.exit(5); } }
function f(n) { deepest(); return n; }
//! {"name": "an object that is written to while it is encoded does not exist", "entry": "f", "arguments": "[()]", "results": ["[[1], [1], 2]"]}
const shared = [1];
const f = () => { Promise.resolve().then(() => { shared[0] = 666; }); setTimeout(() => { shared[0] = 667; }, 0); return [shared, [...shared], 2].map((v, i) => Array.isArray(v) ? [...v] : v); };
//! {"name": "a generator and an iterator that lies", "entry": "f", "arguments": "[(0,), (1,), (2,)]", "results": ["unencodable an object of a class that has no encoding", "[1, 2]", "{1}"]}
Array.prototype[Symbol.iterator] = function* () { yield 666; };
Set.prototype[Symbol.iterator] = function* () { yield 666; };
Set.prototype.has = () => true; Map.prototype.forEach = () => {}; Array.prototype.push = Array.prototype.sort = function () { return 666; };
const f = n => n === 0 ? (function* () { yield 1; })() : n === 1 ? [1, 2] : new Set().add(1);
//! {"name": "JSON and toString that lie", "entry": "f", "arguments": "[({'a': [1]},)]", "results": ["{'a': [1]}"]}
JSON.stringify = () => "666"; JSON.parse = () => 666; Object.prototype.toString = Object.prototype.valueOf = Object.prototype.toJSON = () => 666;
Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => 666;
const f = x => x;
