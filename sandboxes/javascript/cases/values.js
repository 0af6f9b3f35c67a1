//! {"name": "whole numbers are ints", "entry": "f", "arguments": "[()]", "results": ["[0, 1, -1, 127, 128, -128, -129, 255, 256, 32767, 32768, -32768, -32769, 2147483647, -2147483648, 4294967295, 4294967296, -4294967297, 9007199254740991, -9007199254740991, 3]"]}
const f = () => [0, 1, -1, 127, 128, -128, -129, 255, 256, 32767, 32768, -32768, -32769, 2147483647, -2147483648, 4294967295, 4294967296, -4294967297, 9007199254740991, -9007199254740991, 3.0];
//! {"name": "other numbers are floats", "entry": "f", "arguments": "[()]", "results": ["[0.1, -2.5, nan, inf, -inf, -0.0, 9007199254740992.0, 1e300, 5e-324]"]}
const f = () => [0.1, -2.5, NaN, Infinity, -Infinity, -0, 2 ** 53, 1e300, 5e-324];
//! {"name": "bigints are ints", "entry": "f", "arguments": "[()]", "results": ["[0, 1, -1, 127, 128, -128, -129, 2 ** 63, -2 ** 63, -2 ** 63 - 1, 2 ** 200, -3 ** 300, 255, 32768]"]}
const f = () => [0n, 1n, -1n, 127n, 128n, -128n, -129n, 2n ** 63n, -(2n ** 63n), -(2n ** 63n) - 1n, 2n ** 200n, -(3n ** 300n), 255n, 32768n];
//! {"name": "null and undefined are None, also where a place of an array is left out", "entry": "f", "arguments": "[(), (1,)]", "results": ["[None, None, None, 1, {'a': None}]", "None"]}
function f(n) { if (n) return; return [null, undefined, , 1, { a: undefined }]; }
//! {"name": "texts, also long ones and those beyond the basic plane", "entry": "f", "arguments": "[()]", "results": ["['', 'a', 'é', '\\u20ac', '\\U0001f600', 'x' * 1000, 'é\\U0001f600' * 100, 'a\\x00b']"]}
const f = () => ["", "a", "é", "€", "😀", "x".repeat(1000), "é😀".repeat(100), "a\0b"];
//! {"name": "a lone surrogate has no encoding", "entry": "f", "arguments": "[(0,), (1,), (2,)]", "results": ["unencodable a string with a lone surrogate", "unencodable a string with a lone surrogate", "unencodable a string with a lone surrogate"]}
const f = n => ["\ud800", { ["\udc00"]: 1 }, new Set(["a\ud83d"])][n];
//! {"name": "containers", "entry": "f", "arguments": "[()]", "results": ["[[], [[1], 2], {}, {'b': 1, 'a': [True, False]}, {'__proto__': 1}, {1, 2.5, 'x'}, {'k': 1, 2: {}}, b'\\x01\\xff', set()]"]}
const f = () => [[], [[1], 2], {}, { b: 1, a: [true, false] }, JSON.parse('{"__proto__": 1}'), new Set([1, 2.5, "x"]), new Map([["k", 1], [2, {}]]), new Uint8Array([1, 255]), new Set()];
//! {"name": "an object without a prototype is plain", "entry": "f", "arguments": "[()]", "results": ["{'a': 1}"]}
const f = () => { const o = Object.create(null); o.a = 1; return o; };
//! {"name": "what has no encoding, by its reason", "entry": "f", "arguments": "[(i,) for i in range(16)]", "results": ["unencodable a function", "unencodable a symbol", "unencodable an object of a class that has no encoding", "unencodable an object of a class that has no encoding", "unencodable an object of a class that has no encoding", "unencodable an object of a class that has no encoding", "unencodable an object of a class that has no encoding", "unencodable an object of a class that has no encoding", "unencodable an object of a class that has no encoding", "unencodable an object of a class that has no encoding", "unencodable an object of a class that has no encoding", "unencodable a property with a getter or a setter", "unencodable an object with a symbol for a key", "unencodable an object with a hidden property", "unencodable a property with a getter or a setter", "unencodable nested too deep, or in itself"]}
class A extends Array {}
class P {}
const loop = []; loop.push(loop);
const list = [1]; Object.defineProperty(list, 0, { get() { throw new Error("ran"); } });
const values = [
  () => 1, Symbol("s"), new P(), new A(), new Date(), /x/, new Error("e"), new Number(1), new Int32Array(2), Buffer.from("x"), new WeakMap(),
  { get a() { throw new Error("ran"); } }, { [Symbol.iterator]: 1 }, Object.defineProperty({}, "a", { value: 1 }), list, loop,
];
const f = n => values[n];
//! {"name": "keys and members that are one to the host, or none of its keys", "entry": "f", "arguments": "[(i,) for i in range(7)]", "results": ["unencodable two keys of a Map or members of a Set that are equal to the host", "unencodable two keys of a Map or members of a Set that are equal to the host", "unencodable two keys of a Map or members of a Set that are equal to the host", "unencodable two keys of a Map or members of a Set that are equal to the host", "unencodable a key of a Map or a member of a Set that is an object", "unencodable a key of a Map or a member of a Set that is an object", "{1, 2, None, 'a', '1', 2.5}"]}
const values = [new Set([1, true]), new Set([1, 1n]), new Map([[null, 1], [undefined, 2]]), new Set([2 ** 60, 2n ** 60n]), new Set([[1]]), new Map([[{}, 1]]), new Set([1, 2n, null, "a", "1", 2.5])];
const f = n => values[n];
//! {"name": "depth of 64, and one more", "entry": "f", "arguments": "[(64,), (65,)]", "results": ["[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]", "unencodable nested too deep, or in itself"]}
const f = n => { let value = 1; for (let i = 0; i < n; i++) value = [value]; return value; };
//! {"name": "a value that is larger than the cap ends the job", "entry": "f", "arguments": "[()]", "cap": 1000, "exit": "trapped: output exceeded"}
const f = () => "x".repeat(1001);
//! {"name": "so does one of shared parts that would be endless", "entry": "f", "arguments": "[()]", "cap": 1000, "exit": "trapped: output exceeded"}
const f = () => { let value = [1]; for (let i = 0; i < 50; i++) value = [value, value]; return value; };
//! {"name": "and an array that claims to be long", "entry": "f", "arguments": "[()]", "cap": 1000, "exit": "trapped: output exceeded"}
const f = () => { const value = []; value.length = 4294967295; return value; };
//! {"name": "arguments come as what JavaScript has for them", "entry": "f", "arguments": "[(1, 1.5, 2**60, -2**70, 'aé😀', 'z' * 99, None, True, b'ab', [1, [2]], (3,), {4}, {'a': {'__proto__': 5}}, {1: 2}, {}, nan, 2**53, -2**53 + 1, -1, -300)]", "results": ["'number:1|number:1.5|bigint:1152921504606846976|bigint:-1180591620717411303424|string:aé😀|string:' + 'z' * 99 + '|object:null|boolean:true|Uint8Array:97,98|Array:1,2|Array:3|Set:4|Object:{\"a\":{\"__proto__\":5}}|Map:1,2|Object:{}|number:NaN|bigint:9007199254740992|number:-9007199254740991|number:-1|number:-300'"]}
function f(...values) {
  return values.map(v => {
    if (typeof v !== "object" || v === null) return typeof v + ":" + v;
    const name = v.constructor.name;
    return name + ":" + (name === "Object" ? JSON.stringify(v) : name === "Set" || name === "Map" ? [...v] : v);
  }).join("|");
}
//! {"name": "values come back as they went", "entry": "f", "arguments": "[(v,) for v in [0, -1, 2**31, 2**53-1, 2**53, -2**64, 1.5, -0.0, nan, 'x', '', [], [[None]], {'k': [1]}, {1: 'a', 'b': 2}, {1, 'x'}, b'', b'\\x00' * 300, True]]", "results": ["0", "-1", "2147483648", "9007199254740991", "9007199254740992", "-18446744073709551616", "1.5", "-0.0", "nan", "'x'", "''", "[]", "[[None]]", "{'k': [1]}", "{1: 'a', 'b': 2}", "{1, 'x'}", "b''", "b'\\x00' * 300", "True"]}
const f = value => value;
//! {"name": "a Map under the prototype of a plain object is an empty one, and the other way round it is nothing", "entry": "f", "arguments": "[(0,), (1,), (2,)]", "results": ["{}", "unencodable an object of a class that has no encoding", "unencodable an object of a class that has no encoding"]}
const f = n => [Object.setPrototypeOf(new Map([[1, 2]]), Object.prototype), Object.setPrototypeOf({}, Map.prototype), Object.setPrototypeOf([1], Uint8Array.prototype)][n];
