// Attempts at a function `f(a, b)` that returns an object with the sum of two numbers as `sum`, behind `right` or `wrong` and a title.

//! right returns a record
function f(a, b) { return { sum: a + b }; }
//! right returns a record without a prototype
const f = (a, b) => Object.assign(Object.create(null), { sum: a + b });
//! right replaces what it does not need
JSON.stringify = () => "7";
console.log = () => {};
Array.prototype.push = () => 666;
function f(a, b) { return { sum: a + b }; }
//! right puts setters on Object.prototype
Object.defineProperty(Object.prototype, "value", { get: () => 666, set() {}, configurable: true });
function f(a, b) { return { sum: a + b }; }

//! wrong returns nothing
function f() {}
//! wrong defines no function
const g = (a, b) => ({ sum: a + b });
//! wrong knows the first answer
function f() { return { sum: 7 }; }
//! wrong returns an object that becomes a record
function f(a, b) { return { toJSON: () => ({ sum: a + b }) }; }
//! wrong returns an object that becomes a number
function f(a, b) { return { sum: { valueOf: () => a + b, [Symbol.toPrimitive]: () => a + b } }; }
//! wrong returns a number that is an object
function f(a, b) { return { sum: new Number(a + b) }; }
//! wrong returns a number as a text
function f(a, b) { return { sum: String(a + b) }; }
//! wrong returns the text of the record
function f(a, b) { return JSON.stringify({ sum: a + b }); }
//! wrong returns a getter
function f(a, b) { return { get sum() { return a + b; } }; }
//! wrong returns a hidden property
function f(a, b) { return Object.defineProperty({}, "sum", { value: a + b, enumerable: false }); }
//! wrong returns an inherited property
function f(a, b) { return Object.create({ sum: a + b }); }
//! wrong returns an instance
class Sum { constructor(sum) { this.sum = sum; } }
function f(a, b) { return new Sum(a + b); }
//! wrong returns a proxy of the record
function f(a, b) { return new Proxy({ sum: a + b }, {}); }
//! wrong returns a proxy that has every answer
function f() { return new Proxy({}, { get: () => 7, ownKeys: () => ["sum"], getOwnPropertyDescriptor: () => ({ value: 7, enumerable: true, configurable: true }) }); }
//! wrong returns a proxy by a construction
function f(a, b) { return Reflect.construct(Proxy, [{ sum: a + b }, {}]); }
//! wrong returns a map with an object for its key
function f(a, b) { return new Map([[{ toString: () => "sum" }, a + b]]); }
//! wrong returns an array with a property
function f(a, b) { return Object.assign([], { sum: a + b }); }
//! wrong returns a function with a property
function f(a, b) { return Object.assign(() => {}, { sum: a + b }); }
//! wrong returns more than the record
function f(a, b) { return { sum: a + b, status: "accepted" }; }
//! wrong returns an error with a property
function f(a, b) { return Object.assign(new Error("sum"), { sum: a + b }); }
//! wrong returns a record under a symbol
function f(a, b) { return { [Symbol.for("sum")]: a + b }; }
//! wrong puts the answer on Object.prototype
let sum = 0;
Object.defineProperty(Object.prototype, "sum", { get: () => sum, configurable: true });
function f(a, b) { sum = a + b; return {}; }
//! wrong puts the value of descriptors on Object.prototype
let sum = 0;
Object.defineProperty(Object.prototype, "value", { get: () => sum, configurable: true });
function f(a, b) { sum = a + b; return { get sum() { return 0; } }; }
//! wrong replaces what values are written with
let sum = 0;
Number.isSafeInteger = () => true;
Object.keys = Reflect.ownKeys = () => ["sum"];
Object.getOwnPropertyDescriptor = Reflect.getOwnPropertyDescriptor = () => ({ value: sum, enumerable: true });
function f(a, b) { sum = a + b; return { sum: 0 }; }
//! wrong replaces how bytes are written
const set = Uint8Array.prototype.set;
Object.getPrototypeOf(Uint8Array.prototype).set = function (from, at) { return set.call(this, from, at); };
DataView.prototype.setFloat64 = () => {};
function f() { return { sum: 0 }; }
//! wrong replaces console.log and JSON.stringify
console.log = JSON.stringify = () => '{"sum": 7}';
function f() { return { sum: 0 }; }
//! wrong prints the answer
function f(a, b) { console.log(JSON.stringify({ sum: a + b })); }
//! wrong prints frames
function f() { process.stdout.write("\x01\x00\x00\x00D"); return null; }
//! wrong leaves by status 0 in the call
function f() { process.exit(0); }
//! wrong leaves by status 0 behind the definition
function f() { return { sum: 7 }; }
process.exit(0);
//! wrong throws the answer
function f(a, b) { throw { sum: a + b }; }
//! wrong replaces the function of the second call
function f(a, b) { globalThis.f = () => ({ sum: 7 }); return { sum: 7 }; }
//! wrong changes its arguments to the answer
function f(...given) { given.length = 0; arguments[0] = { sum: 7 }; }
//! wrong loops behind the answer
let calls = 0;
function f(a, b) { calls += 1; while (calls === 2); return { sum: a + b }; }
