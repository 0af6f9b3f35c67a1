//! {"name": "enums of numbers, of texts and of expressions", "stdout": "1 Y 1 b 5 3 4 [ 'X', 'Y' ]\n"}
enum A { X, Y }
enum B { P = "b" }
const enum C { Q = 5 }
enum F { L = 1 << 0, M = 1 << 1, N = L | M, O }
export enum E { S }
declare enum D { T }
console.log(A.Y, A[1], A["Y"], B.P, C.Q, F.N, F.O, Object.keys(A).filter(k => isNaN(+k)));
//! {"name": "parameter properties, and fields that are declared alone", "stdout": "1 2 3 undefined\n"}
class P { z = 3; w?: number; declare q: string; v!: number; constructor(public x: number, private readonly y = 2) {} sum(): number { return this.y; } }
const p = new P(1);
console.log(p.x, p.sum(), p.z, p.w);
//! {"name": "fields use parameter properties, behind the constructor of the base", "stdout": "2 4 9 1 5 6\n"}
class B { w: number = 5; }
class P extends B { static q = 9; z = this.x * 2; u?: string; #y = 1; constructor(public x: number) { super(); } get y(): number { return this.#y; } }
class Q { private f = () => this.n; constructor(private n: number) {} g(): number { return this.f(); } }
const p = new P(2);
console.log(p.x, p.z, P.q, p.y, p.w, new Q(6).g());
//! {"name": "fields of other classes are defined, not assigned", "stdout": "[ 'a', 'b' ] 0\n"}
class Base { set b(x: number) { console.log("assigned"); } }
class A extends Base { a?: string; b = 0; }
console.log(Object.keys(new A()), new A().b);
//! {"name": "generics, and arrows with types", "stdout": "1 [ 1 ] 2 false true 1\n"}
const id = <T,>(x: T): T => x;
function wrap<T extends object | number>(x: T): T[] { return [x]; }
const m = new Map<string, Array<Array<number>>>();
const a: number = 1, b = 2, c = 3;
console.log(id<number>(1), wrap(1), (1 < 2) ? 2 : 3, a < b && c < (b), a < b, id<number>(1));
//! {"name": "as, satisfies, assertions, and what is not null", "stdout": "1 2 3 { a: 1 } 2 true\n"}
const a = 1 as unknown as number, b = (<number>2), c = [3]!, o = { a: 1 } satisfies Record<string, number>;
let u!: number;
label: for (const i of [1] as const) { continue label; }
console.log(a, b!, c[0]!, o, (<number[]>[1, 2]).length, /a<b>/.test("a<b>"));
//! {"name": "interfaces, types, abstract classes, overloads", "stdout": "s 2 7 1\n"}
interface I<T> { f(x: T): T; readonly [k: string]: any }
type U = | "a" | { kind: "b"; f?: (x: number) => void };
declare const G: number;
abstract class Abs<T> implements I<T> { abstract g(): T; f(x: T): T { return x; } protected static n: number = 7; static m(): number { return Abs.n; } [k: string]: any }
class D extends Abs<string> { override g() { return "s"; } m?(): void; }
function o(x: string): string;
function o(x: number): number;
function o(x: any): any { return x; }
abstract class L<T> { private list: T[] = []; protected constructor(protected readonly k: number) { this.list.push(k as any); } abstract n(): void; }
class M extends L<number> { constructor() { super(1); } n(): void {} get(): number { return this.k; } }
console.log(new D().g(), o(2), Abs.m(), new M().get());
//! {"name": "types of functions, tuples and templates", "stdout": "true 1 undefined 3 10n\n"}
function isS(this: void, x: unknown): x is string { return typeof x === "string"; }
function isN(x: unknown): asserts x is number {}
type Tpl = `a${string}`; type M = { [K in keyof Tpl]-?: Tpl[K] }; type Cnd<T> = T extends (infer R)[] ? R : never;
const t: [a: number, b?: string, ...rest: boolean[]] = [1], o: { a?: { b: number } } = {};
console.log(isS("a"), t[0], o?.a?.b, o.a?.b ?? 3, 10n as bigint);
//! {"name": "async generators", "stdout": "1\n2\n"}
async function* g(): AsyncGenerator<number, void, unknown> { yield 1; yield 2; }
(async (): Promise<void> => { for await (const x of g()) console.log(x); })();
//! {"name": "private fields and accessors", "stdout": "3 4\n"}
class A { #x: number = 3; static #c = 4; get x(): number { return this.#x; } static get c(): number { return A.#c; } }
console.log(new A().x, A.c);
//! {"name": "import of what a module exports", "stdin": "4 5\n", "stdout": "9\n"}
import fs from 'fs';
const [x, y]: number[] = fs.readFileSync(0, 'utf8').trim().split(' ').map(Number);
console.log(x + y);
//! {"name": "import of a whole module", "stdin": "a\nb\n", "stdout": "[ 'a', 'b' ]\n"}
import * as readline from 'readline';
const rl: readline.Interface = readline.createInterface({ input: process.stdin });
const lines: string[] = [];
rl.on('line', (line: string) => { lines.push(line); });
rl.on('close', () => console.log(lines));
//! {"name": "import of names; what only types use is not looked for", "stdin": "7", "stdout": "7 true\n"}
import { readFileSync, type PathLike } from 'node:fs';
import type { Foo } from './nothing';
import { Bar } from './types-only';
import assert from 'assert';
import * as fs from 'fs';
let z: Bar | Foo;
assert(true);
console.log(readFileSync('/dev/stdin', 'utf8'), fs.readFileSync === readFileSync);
//! {"name": "import by require, and when it is needed", "stdin": "7", "stdout": "7 function\n"}
import fs = require('fs');
declare var require: any;
const text: string = fs.readFileSync(0).toString();
import('fs').then((m: any) => console.log(text, typeof m.readFileSync));
//! {"name": "calls with type arguments, and arrows that return a type", "stdout": "3 y 7\n"}
const g = <A, B>(f: (a: A) => B, a: A): B => f(a);
const t = (x: number): string => x > 1 ? "y" : "n";
const o: { m?<T>(x: T): T } = { m<T>(x: T): T { return x; } };
console.log(g<number, number>((x) => x + 1, 2), t(2), o.m?.<number>(7));
//! {"name": "classes in expressions, with parameter properties", "stdout": "5 6\n"}
const C = class<T> { b = this.a; constructor(public a: T) {} };
function mk() { return new (class { y: number = this.x + 1; constructor(private x: number) {} })(5).y; }
console.log(new C(5).b, mk());
//! {"name": "lines one after another", "stdin": "3\n1 2 3\n", "stdout": "6\n"}
import { createInterface } from "readline";
async function main(): Promise<void> {
  const rl = createInterface({ input: process.stdin, terminal: false });
  const it = rl[Symbol.asyncIterator]();
  const n = Number((await it.next()).value as string);
  const xs = ((await it.next()).value as string).split(" ").map(Number);
  console.log(xs.slice(0, n).reduce((a, b) => a + b, 0));
}
main();
//! {"name": "tests behind a program, as of MultiPL-E", "stdout": ""}
function add(lst: number[]): number { return lst.reduce((a, b) => a + b, 0) }
declare var require: any;
const assert = require('node:assert');
function test() { let candidate = add; assert.deepEqual(candidate([4, 2]), 6); }
test();
//! {"name": "an exported function", "entry": "f", "arguments": "[(2,)]", "results": ["3"]}
export function f(n: number): number { return n + one; }
export const one = 1;
export type T = number;
export interface Q {}
export { one as h };
//! {"name": "an exported variable that changes", "entry": "f", "arguments": "[()]", "results": ["2"]}
export let x: number = 1;
x = 2;
export const f = (): number => x;
//! {"name": "the default export", "entry": "f", "arguments": "[(2,)]", "results": ["3"]}
export default function f(n: number): number { return n + 1; }
//! {"name": "a method of the default export", "entry": "Solution.twoSum", "arguments": "[([2, 7, 11, 15], 9)]", "results": ["[0, 1]"]}
export default class Solution {
  twoSum(n: number[], t: number): number[] {
    const m: Map<number, number> = new Map();
    for (let i = 0; i < n.length; i++) {
      const q = m.get(t - n[i]!);
      if (q !== undefined) return [q, i];
      m.set(n[i]!, i);
    }
    return [];
  }
}
//! {"name": "the export is the module", "entry": "f", "arguments": "[(2,)]", "results": ["3"]}
function g(n: number) { return n + 1; }
export = g;
//! {"name": "exports of other modules, and of types", "stdout": "ok\n"}
export * from 'path';
export type { X } from './x';
export { type Y, join } from 'path';
console.log('ok');
//! {"name": "every program is strict", "entry": "f", "arguments": "[()]", "results": ["True"]}
function f(this: any): boolean { return this === undefined; }
//! {"name": "declarations of namespaces, modules and globals", "stdout": "1 1\n"}
declare namespace A.B { namespace C { const x: number } }
declare global { interface Window { a: 1 } }
declare module "x" { export function f(): void }
declare module "y";
export declare namespace D { let module: string }
type T = { namespace: string; module: { a: 1 } };
let module_: T["namespace"] = "1";
const namespace = 1;
namespace
console.log(namespace, module_);
//! {"name": "a namespace", "exit": "compile_error SyntaxError: a namespace: only `declare namespace` is supported (2:1)", "stderr": "(2:1)"}
type X = 1
namespace N { export const x = 1; }
console.log(N.x);
//! {"name": "a namespace in another, exported", "exit": "compile_error SyntaxError: a namespace: only `declare namespace` is supported (2:8)"}
declare const a: number
export namespace N.M { export const x = 1; }
//! {"name": "a namespace by its old name", "exit": "compile_error SyntaxError: a namespace…"}
module N { export const x = 1; }
//! {"name": "a decorator", "exit": "compile_error …"}
function d(x: any, c: any) { return x; }
@d class A { @d m() {} }
//! {"name": "an error of syntax has its line", "exit": "compile_error SyntaxError: Unexpected token (2:8)", "stderr": "SyntaxError: Unexpected token (2:8)\n"}
let a: number = 1;
let b: = 2;
//! {"name": "a brace that is not closed", "exit": "compile_error …"}
function f(a: number) {
  if (a) {
  return 1;
}
//! {"name": "await outside of a function", "exit": "compile_error …"}
await Promise.resolve(1);
//! {"name": "an error keeps its line", "exit": "raised Error: no", "stderr": "<input>:4"}
interface A {
  x: number;
}
throw new Error("no" as string);
//! {"name": "a text that closes the function around it", "exit": "compile_error …"}
}, globalThis.x = 1, function () {
//! {"name": "a name that a type hides does not close it either", "exit": "compile_error …"}
type A = {}; } as any, function () {
//! {"name": "nothing of the translator can be reached", "stdout": "[] undefined\n"}
console.log(Object.getOwnPropertyNames(globalThis).filter(k => /sucrase|transl|strip/.test(k)), typeof (globalThis as any).transform);
//! {"name": "what a program does to its realm, the next one does not see", "stdout": "7\n"}
Array.prototype.push = String.prototype.split = (() => { throw 1; }) as any;
(RegExp.prototype as any).test = () => true;
const x: number = 7;
console.log(x);
//! {"name": "an empty program", "program": "", "stdout": ""}
//! {"name": "a byte order mark and a line for the shell", "program": "\ufeff#!/usr/bin/env ts-node\nlet a: number = 1; console.log(a, '\u00e9\ud83d\ude00' as string)", "stdout": "1 \u00e9\ud83d\ude00\n"}
