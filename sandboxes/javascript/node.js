// The Node.js interface that programs expect: console, process, timers, Buffer, and the modules that contest programs require.
//
// The host evaluates this file once, before the snapshot, to a function that harness.js calls with its kit. Nothing here decides the outcome of a job:
// a program that replaces what this code uses only changes its own output. It holds none of the host's functions; the functions of the kit that call
// the host do one thing each.
(function (kit) {
  "use strict";

  const {
    apply, describe, prototypeOf, ownKeys, define, uncurry, hasOwn, isArray, isProxy, list, Bytes, byteCount, setBytes, bufferOf, utf8, toLatin,
    decodeText, toWellFormed, substring, charCode, indexOf, bigText, readText, stackOf, isErrorObject, sourceOf, toBase64, fromBase64, btoa, pairCount,
    memberCount, forEachPair, forEachMember, write, writeBytes, readInput, readFile, sleep, runJobs, exit,
  } = kit;
  const join = uncurry(Array.prototype.join), slice = uncurry(Array.prototype.slice), repeat = uncurry(String.prototype.repeat);
  const padStart = uncurry(String.prototype.padStart), padEnd = uncurry(String.prototype.padEnd), lastIndexOf = uncurry(String.prototype.lastIndexOf);
  const toLower = uncurry(String.prototype.toLowerCase), fromCharCode = String.fromCharCode, numberText = uncurry(Number.prototype.toString);
  const { floor, round, sqrt, max, min, trunc, imul } = Math;
  const { isInteger } = Number, { is, keys: keysOf } = Object, Str = String, Num = Number, parseWhole = parseInt, parseReal = parseFloat;
  const typedPrototype = prototypeOf(Uint8Array.prototype), typedTag = uncurry(describe(typedPrototype, Symbol.toStringTag).get);
  const symbolText = uncurry(Symbol.prototype.toString), dateText = uncurry(Date.prototype.toISOString), dateTime = uncurry(Date.prototype.getTime);
  const patternText = uncurry(RegExp.prototype.toString), toJson = JSON.stringify, performance = globalThis.performance;
  const milliseconds = uncurry(performance.now, performance), now = () => milliseconds(performance);
  const basePrototypes = { Object: Object.prototype, Array: Array.prototype, Map: Map.prototype, Set: Set.prototype };
  const PromiseOf = Promise, resolved = Promise.resolve.bind(Promise), mapped = Map, gathered = Set;
  const push = (items, item) => { define(items, items.length, { __proto__: null, value: item, writable: true, enumerable: true, configurable: true }); };
  const hide = (owner, name, value) => define(owner, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
  const isObject = value => typeof value === "object" && value !== null;

  // ---- Math.random: xoshiro128**, seeded by the job

  let s0 = 0, s1 = 0, s2 = 0, s3 = 0, seedLow = 0, seedHigh = 0;
  const seed = (low, high) => {
    seedLow = low;
    seedHigh = high;
  };
  /** Fills the state, which few programs use, before the first number. It is never all zeros. */
  const spreadSeed = () => {
    let state = (seedLow ^ imul(seedHigh, 0x9e3779b1)) | 0;
    const next = () => {
      state = (state + 0x9e3779b9) | 0;
      let mixed = imul(state ^ (state >>> 16), 0x21f0aaad);
      mixed = imul(mixed ^ (mixed >>> 15), 0x735a2d97);
      return (mixed ^ (mixed >>> 15)) | 0;
    };
    s0 = next();
    s1 = next() ^ seedHigh;
    s2 = next() ^ seedLow;
    s3 = next() | 1;
  };
  const nextWord = () => {
    if (s3 === 0 && s2 === 0 && s1 === 0 && s0 === 0) spreadSeed();
    let turned = imul(s1, 5);
    turned = imul((turned << 7) | (turned >>> 25), 9);
    const kept = s1 << 9;
    s2 ^= s0;
    s3 ^= s1;
    s1 ^= s2;
    s0 ^= s3;
    s2 ^= kept;
    s3 = (s3 << 11) | (s3 >>> 21);
    return turned >>> 0;
  };
  hide(Math, "random", { random() { return ((nextWord() >>> 5) * 67108864 + (nextWord() >>> 6)) / 9007199254740992; } }.random);

  // ---- Output

  let pending = "";
  const flush = () => {
    if (pending === "") return;
    const text = toWellFormed(pending);
    pending = "";
    write(1, text);
  };
  const print = text => {
    pending += text;
    if (pending.length > 32768) flush();
  };
  const printError = text => write(2, toWellFormed(text));

  const isName = text => {
    for (let i = 0; i < text.length; i++) {
      const code = charCode(text, i);
      if (!((code > 96 && code < 123) || (code > 64 && code < 91) || code === 95 || code === 36 || (i > 0 && code > 47 && code < 58))) return false;
    }
    return text.length > 0;
  };
  const quote = text => {
    const quote = indexOf(text, "'") < 0 ? "'" : indexOf(text, '"') < 0 ? '"' : indexOf(text, "`") < 0 && indexOf(text, "${") < 0 ? "`" : "'";
    let shown = quote;
    for (let i = 0; i < text.length; i++) {
      const code = charCode(text, i), one = text[i];
      if (code === 10) shown += "\\n";
      else if (code === 9) shown += "\\t";
      else if (code === 13) shown += "\\r";
      else if (code === 8) shown += "\\b";
      else if (code === 12) shown += "\\f";
      else if (code === 11) shown += "\\v";
      else if (code === 92) shown += "\\\\";
      else if (one === quote) shown += "\\" + quote;
      else if (code < 32 || code === 127) shown += "\\x" + padStart(numberText(code, 16).toUpperCase(), 2, "0");
      else shown += one;
    }
    return shown + quote;
  };
  const findClassName = value => {
    for (let at = value, i = 0; at !== null && i < 32 && !isProxy(at); i++, at = prototypeOf(at)) {
      const found = describe(at, "constructor");
      if (found !== undefined && hasOwn(found, "value") && typeof found.value === "function") {
        const name = readText(found.value, "name");
        if (name !== "") return name;
      }
    }
    return null;
  };
  const showFunction = value => {
    const name = readText(value, "name"), source = sourceOf(value);
    if (indexOf(source, "class") === 0) {
      const parent = prototypeOf(value), above = typeof parent === "function" ? readText(parent, "name") : "";
      return "[class " + (name || "(anonymous)") + (above ? " extends " + above : "") + "]";
    }
    const kind = findClassName(value) ?? "Function";
    return "[" + kind + (name ? ": " + name : " (anonymous)") + "]";
  };
  const showPrimitive = (value, inner) => {
    switch (typeof value) {
      case "string": return inner ? quote(value) : value;
      case "number": return is(value, -0) ? "-0" : numberText(value);
      case "bigint": return bigText(value) + "n";
      case "symbol": return symbolText(value);
    }
    return Str(value);
  };

  /** Formats a value as Node's `util.inspect` does. Its options are `depth`, `breakLength` and `compact: false`. */
  const inspect = (value, options) => {
    let deepest = 0, indentation = 0;
    const around = list(), circular = list();
    const most = isObject(options) && options.depth !== undefined ? (options.depth === null ? Infinity : options.depth) : 2;
    const width = isObject(options) && options.breakLength !== undefined ? options.breakLength : 80;
    const compact = isObject(options) && options.compact === false ? 0 : 3;
    const asText = (value, depth) => {
      if (typeof value === "function" && ownKeys(value).length >= 0) {
        const keys = isProxy(value) ? list() : keysOf(value);
        const base = isProxy(value) ? "[Function]" : showFunction(value);
        return keys.length === 0 ? base : bodyOf(value, depth, base, ["{", "}"], list(), false);
      }
      if (!isObject(value)) return showPrimitive(value, true);
      if (isProxy(value)) return "[Proxy]";
      for (let i = 0; i < around.length; i++) {
        if (around[i] !== value) continue;
        let index = 0;
        while (index < circular.length && circular[index] !== value) index++;
        circular[index] = value;
        return "[Circular *" + (index + 1) + "]";
      }
      return objectText(value, depth);
    };
    const objectText = (value, depth) => {
      const name = findClassName(value);
      const prefix = (plain, count) => {
        const shown = name === null ? "[" + plain + (count === undefined ? "" : "(" + count + ")") + ": null prototype]" : name + (count === undefined ? "" : "(" + count + ")");
        return shown + " ";
      };
      const tooDeep = depth > most;
      if (isArray(value)) {
        if (tooDeep && value.length > 0) return "[" + (name ?? "Array") + "]";
        return bodyOf(value, depth, "", [name === "Array" ? "[" : prefix("Array", value.length) + "[", "]"], arrayItems(value, value.length), true);
      }
      const tag = typedTag(value);
      if (tag !== undefined) {
        const count = byteCount(value);
        if (tooDeep && count > 0) return "[" + tag + "]";
        if (name === "Buffer") {
          let text = "<Buffer";
          for (let i = 0; i < min(50, count); i++) text += " " + padStart(numberText(value[i], 16), 2, "0");
          return text + (count > 50 ? " ... " + (count - 50) + " more byte" + (count > 51 ? "s" : "") : "") + ">";
        }
        return bodyOf(value, depth, "", [prefix(tag, count) + "[", "]"], arrayItems(value, count), true);
      }
      let count;
      try { count = pairCount(value); } catch {}
      if (count !== undefined) {
        if (tooDeep && count > 0) return "[Map]";
        return bodyOf(value, depth, "", [prefix("Map", count) + "{", "}"], (depth) => {
          const items = list();
          forEachPair(value, (item, key) => push(items, asText(key, depth) + " => " + asText(item, depth)));
          return items;
        }, false);
      }
      try { count = memberCount(value); } catch {}
      if (count !== undefined) {
        if (tooDeep && count > 0) return "[Set]";
        return bodyOf(value, depth, "", [prefix("Set", count) + "{", "}"], (depth) => {
          const items = list();
          forEachMember(value, item => push(items, asText(item, depth)));
          return items;
        }, false);
      }
      let base = "";
      if (isErrorObject(value)) base = errorText(value);
      else {
        try { base = is(dateTime(value), NaN) ? "Invalid Date" : dateText(value); } catch {}
        if (base === "" && value instanceof RegExp) base = patternText(value);
        if (value instanceof Number) base = "[Number: " + showPrimitive(Num(value), true) + "]";
        if (value instanceof String) base = "[String: " + quote(Str(value)) + "]";
        if (value instanceof Boolean) base = "[Boolean: " + (value == true) + "]";
      }
      if (base !== "") return keysOf(value).length === 0 || value instanceof String ? base : bodyOf(value, depth, base, ["{", "}"], list(), false);
      if (tooDeep && keysOf(value).length > 0) return "[" + (name ?? "Object: null prototype") + "]";
      const tagged = value[Symbol.toStringTag];
      let start = name === "Object" ? "{" : prefix("Object") + "{";
      if (typeof tagged === "string" && tagged !== "" && tagged !== name) start = prefix("Object") + "[" + tagged + "] {";
      if (name === "Promise") return "Promise { <pending> }";
      return bodyOf(value, depth, "", [start, "}"], list(), false);
    };
    const errorText = value => {
      const name = readText(value, "name") || "Error", message = readText(value, "message");
      let stack = "";
      try { stack = stackOf(value); } catch {}
      stack = typeof stack === "string" ? stack : "";
      while (stack.length > 0 && charCode(stack, stack.length - 1) === 10) stack = substring(stack, 0, stack.length - 1);
      return name + (message === "" ? "" : ": " + message) + (stack === "" ? "" : "\n" + stack);
    };
    const arrayItems = (value, count) => depth => {
      const items = list();
      let holes = 0;
      const shown = min(100, count);
      let i = 0;
      for (; i < count && items.length < shown; i++) {
        const found = describe(value, Str(i));
        if (found === undefined) {
          holes++;
          continue;
        }
        if (holes > 0) push(items, "<" + holes + " empty item" + (holes > 1 ? "s" : "") + ">");
        holes = 0;
        push(items, propertyText(found, depth));
      }
      if (holes > 0) push(items, "<" + holes + " empty item" + (holes > 1 ? "s" : "") + ">");
      if (i < count) push(items, "... " + (count - i) + " more item" + (count - i > 1 ? "s" : ""));
      return items;
    };
    const propertyText = (found, depth) => {
      if (!hasOwn(found, "value")) return found.get === undefined ? "[Setter]" : found.set === undefined ? "[Getter]" : "[Getter/Setter]";
      indentation += 2;
      const text = asText(found.value, depth);
      indentation -= 2;
      return text;
    };
    const bodyOf = (value, depth, base, braces, itemsOf, isList) => {
      around[around.length] = value;
      deepest = depth;
      const items = typeof itemsOf === "function" ? itemsOf(depth + 1) : list();
      const firstExtra = items.length, extra = isList && typeof itemsOf === "function" && countOfList(value) > 100;
      const keys = ownKeys(value);
      const isIndexed = isList;
      for (let i = isIndexed ? indexCount(keys) : 0; i < keys.length; i++) {
        const key = keys[i], found = describe(value, key);
        if (found === undefined || !found.enumerable) continue;
        if (isErrorObject(value) && (key === "name" || key === "message" || key === "stack")) continue;
        const shown = typeof key === "symbol" ? "[" + symbolText(key) + "]" : isName(key) ? key : quote(key);
        push(items, shown + ": " + propertyText(found, depth + 1));
      }
      around.length -= 1;
      let start = braces[0];
      for (let i = 0; i < circular.length; i++) {
        if (circular[i] !== value) continue;
        if (base === "") start = "<ref *" + (i + 1) + "> " + start;
        else base = "<ref *" + (i + 1) + "> " + base;
      }
      if (items.length === 0) return base !== "" ? base : start + braces[1];
      return layOut(items, depth, base, start, braces[1], isList ? value : undefined, firstExtra, extra);
    };
    const countOfList = value => isArray(value) ? value.length : byteCount(value);
    /** Counts the keys that are indices. They come first. */
    const indexCount = keys => {
      let count = 0;
      while (count < keys.length && typeof keys[count] === "string" && charCode(keys[count], 0) > 47 && charCode(keys[count], 0) < 58) count++;
      return count;
    };
    const layOut = (items, depth, base, start, end, listed, firstExtra, hasMore) => {
      const all = items.length, before = base === "" ? "" : base + " ";
      if (compact && listed !== undefined && all > 6) items = groupColumns(items, listed, hasMore);
      if (deepest - depth < compact && items.length === all) {
        let total = items.length + items.length + indentation + start.length + base.length + 10, broken = indexOf(base, "\n") >= 0;
        for (let i = 0; i < items.length; i++) {
          total += items[i].length;
          broken ||= indexOf(items[i], "\n") >= 0;
        }
        if (total <= width && !broken) return before + start + " " + join(items, ", ") + " " + end;
      }
      const line = "\n" + repeat(" ", indentation);
      return before + start + line + "  " + join(items, "," + line + "  ") + line + end;
    };
    /** Arranges the items of a list of more than six in columns. */
    const groupColumns = (items, listed, hasMore) => {
      let total = 0, longest = 0;
      const count = items.length - (hasMore ? 1 : 0), lengths = list();
      for (let i = 0; i < count; i++) {
        push(lengths, items[i].length);
        total += items[i].length + 2;
        longest = max(longest, items[i].length);
      }
      const columnWidth = longest + 2;
      if (!(columnWidth * 3 + indentation < width && (total / columnWidth > 5 || longest <= 6))) return items;
      const bias = sqrt(columnWidth - total / items.length), biased = max(columnWidth - 3 - bias, 1);
      const columns = min(round(sqrt(2.5 * biased * count) / biased), floor((width - indentation) / columnWidth), compact * 4, 15);
      if (columns <= 1) return items;
      const rows = list(), widths = list();
      for (let i = 0; i < columns; i++) {
        let widest = 0;
        for (let j = i; j < count; j += columns) widest = max(widest, lengths[j]);
        push(widths, widest + 2);
      }
      let pad = padStart;
      for (let i = 0; i < count && listed !== undefined; i++) {
        const found = describe(listed, Str(i));
        if (found === undefined || (typeof found.value !== "number" && typeof found.value !== "bigint")) {
          pad = padEnd;
          break;
        }
      }
      for (let i = 0; i < count; i += columns) {
        const last = min(i + columns, count) - 1;
        let row = "";
        for (let j = i; j < last; j++) row += pad(items[j] + ", ", widths[j - i]);
        row += pad === padStart ? pad(items[last], widths[last - i] - 2) : items[last];
        push(rows, row);
      }
      if (hasMore) push(rows, items[count]);
      return rows;
    };
    return asText(value, 0);
  };

  const showArgument = value => (isObject(value) || typeof value === "function" ? inspect(value) : showPrimitive(value, false));
  const format = values => {
    let first = 0, text = "";
    if (typeof values[0] === "string" && values.length > 1 && indexOf(values[0], "%") >= 0) {
      const pattern = values[0];
      let from = 0;
      first = 1;
      for (let i = 0; i + 1 < pattern.length; i++) {
        if (pattern[i] !== "%") continue;
        const kind = pattern[i + 1];
        let shown;
        if (kind === "%") shown = "%";
        else if (first < values.length && indexOf("sdifjoOc", kind) >= 0) {
          const value = values[first++];
          if (kind === "s") shown = typeof value === "bigint" ? bigText(value) + "n" : isObject(value) || typeof value === "function" ? inspect(value, { depth: 0 }) : showPrimitive(value, false);
          else if (kind === "d") shown = isObject(value) ? "NaN" : typeof value === "bigint" ? bigText(value) + "n" : showPrimitive(Num(value), false);
          else if (kind === "i") shown = isObject(value) ? "NaN" : typeof value === "bigint" ? bigText(value) + "n" : showPrimitive(parseWhole(value), false);
          else if (kind === "f") shown = showPrimitive(parseReal(value), false);
          else if (kind === "j") shown = Str(toJson(value));
          else shown = kind === "c" ? "" : inspect(value, { depth: 4 });
        } else continue;
        text += substring(pattern, from, i) + shown;
        from = i + 2;
        i++;
      }
      text += substring(pattern, from);
    } else if (values.length > 0) {
      first = 1;
      text = showArgument(values[0]);
    }
    for (; first < values.length; first++) text += " " + showArgument(values[first]);
    return text;
  };

  let margin = "";
  const indent = text => {
    if (margin === "") return text;
    let shown = margin;
    for (let i = 0; i < text.length; i++) shown += text[i] === "\n" ? "\n" + margin : text[i];
    return shown;
  };
  const counts = { __proto__: null }, begun = { __proto__: null };
  const console = {
    log(...values) { print((values.length === 1 && typeof values[0] === "string" ? indent(values[0]) : indent(format(values))) + "\n"); },
    error(...values) { printError(indent(format(values)) + "\n"); },
    dir(value, options) { print(indent(inspect(value, options)) + "\n"); },
    assert(holds, ...values) {
      if (!holds) printError(indent("Assertion failed" + (values.length > 0 ? ": " + format(values) : "")) + "\n");
    },
    group(...values) {
      if (values.length > 0) console.log(...values);
      margin += "  ";
    },
    groupEnd() { margin = substring(margin, 2); },
    count(label = "default") { print(indent(label + ": " + (counts[label] = (counts[label] ?? 0) + 1)) + "\n"); },
    countReset(label = "default") { counts[label] = 0; },
    time(label = "default") { begun[label] = now(); },
    timeLog(label = "default") { print(indent(label + ": " + (now() - (begun[label] ?? 0)).toFixed(3) + "ms") + "\n"); },
    timeEnd(label = "default") { console.timeLog(label); },
    trace(...values) { printError("Trace: " + format(values) + "\n"); },
    clear() {},
  };
  console.info = console.debug = console.table = console.log;
  console.warn = console.error;

  // ---- Bytes

  const encodeText = text => {
    const encoded = utf8(toWellFormed(Str(text))), bytes = new Bytes(encoded.length);
    fromBase64(bytes, btoa(encoded));
    return bytes;
  };
  class Buffer extends Uint8Array {
    static from(source, encoding) {
      if (typeof source === "string") {
        if (encoding === "hex") return Buffer.of(...Uint8Array.fromHex(source));
        if (encoding === "base64") return makeBuffer(Uint8Array.fromBase64(source));
        if (encoding === "latin1" || encoding === "binary" || encoding === "ascii") {
          const made = new Buffer(source.length);
          for (let i = 0; i < source.length; i++) made[i] = charCode(source, i);
          return made;
        }
        return makeBuffer(encodeText(source));
      }
      return source instanceof ArrayBuffer ? new Buffer(source) : makeBuffer(source);
    }
    static alloc(count, value = 0) { return new Buffer(count).fill(value); }
    static allocUnsafe(count) { return new Buffer(count); }
    static isBuffer(value) { return value instanceof Buffer; }
    static byteLength(text) { return typeof text === "string" ? utf8(toWellFormed(text)).length : text.byteLength; }
    static concat(parts) {
      let count = 0;
      for (const part of parts) count += part.length;
      const made = new Buffer(count);
      count = 0;
      for (const part of parts) {
        made.set(part, count);
        count += part.length;
      }
      return made;
    }
    toString(encoding = "utf8", start = 0, end = this.length) {
      const part = start === 0 && end === this.length ? this : this.subarray(start, end);
      if (encoding === "hex") return part.toHex();
      if (encoding === "base64") return toBase64(part);
      return encoding === "latin1" || encoding === "binary" || encoding === "ascii" ? toLatin(part) : decodeText(part);
    }
    toJSON() { return { type: "Buffer", data: Array.from(this) }; }
    equals(other) { return this.length === other.length && this.every((byte, i) => byte === other[i]); }
    write(text, offset = 0) {
      const bytes = encodeText(text);
      this.set(bytes.subarray(0, this.length - offset), offset);
      return min(bytes.length, this.length - offset);
    }
  }
  const makeBuffer = bytes => {
    const made = new Buffer(bytes.length);
    made.set(bytes);
    return made;
  };
  const TextEncoder = class { get encoding() { return "utf-8"; } encode(text = "") { return encodeText(text); } };
  const TextDecoder = class {
    get encoding() { return "utf-8"; }
    decode(bytes) { return bytes === undefined ? "" : decodeText(bytes instanceof ArrayBuffer ? new Bytes(bytes) : new Bytes(bytes.buffer, bytes.byteOffset, bytes.byteLength)); }
  };

  // ---- Events, timers and the event loop

  /** Whether anything has ever listened to an event. */
  let isHeard = false;
  class EventEmitter {
    #listeners = new mapped();
    on(name, listener) {
      isHeard = true;
      const known = this.#listeners.get(name);
      if (known === undefined) this.#listeners.set(name, [listener]);
      else known.push(listener);
      return this;
    }
    addListener(name, listener) { return this.on(name, listener); }
    prependListener(name, listener) {
      this.on(name, listener);
      const known = this.#listeners.get(name);
      known.unshift(known.pop());
      return this;
    }
    once(name, listener) {
      const wrapped = (...values) => {
        this.off(name, wrapped);
        return apply(listener, this, values);
      };
      wrapped.listener = listener;
      return this.on(name, wrapped);
    }
    off(name, listener) {
      const known = this.#listeners.get(name) ?? [];
      for (let i = known.length - 1; i >= 0; i--) {
        if (known[i] === listener || known[i].listener === listener) {
          this.#listeners.set(name, known.toSpliced(i, 1));
          break;
        }
      }
      return this;
    }
    removeListener(name, listener) { return this.off(name, listener); }
    removeAllListeners(name) {
      if (name === undefined) this.#listeners.clear();
      else this.#listeners.delete(name);
      return this;
    }
    emit(name, ...values) {
      const known = this.#listeners.get(name);
      if (known === undefined || known.length === 0) {
        if (name === "error") throw values[0];
        return false;
      }
      if (known.length === 1) {
        apply(known[0], this, values);
        return true;
      }
      const called = slice(known);
      for (let i = 0; i < called.length; i++) apply(called[i], this, values);
      return true;
    }
    listenerCount(name) { return (this.#listeners.get(name) ?? []).length; }
    listeners(name) { return slice(this.#listeners.get(name) ?? []); }
    setMaxListeners() { return this; }
  }
  const { emit } = EventEmitter.prototype;
  EventEmitter.EventEmitter = EventEmitter;
  EventEmitter.once = (emitter, name) => new PromiseOf(keep => emitter.once(name, (...values) => keep(values)));

  let ticks = list(), immediates = list(), timerCount = 0, inputs = list();
  /** A heap of timers, ordered by due time, then by creation. */
  const timers = list();
  const isBefore = (a, b) => a.due < b.due || (a.due === b.due && a.order < b.order);
  const addTimer = timer => {
    let place = timers.length;
    timers[place] = timer;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (!isBefore(timer, timers[above])) break;
      timers[place] = timers[above];
      timers[above] = timer;
      place = above;
    }
  };
  const removeFirst = () => {
    const first = timers[0], moved = timers[timers.length - 1];
    timers.length -= 1;
    if (timers.length === 0) return first;
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      if (below >= timers.length) break;
      if (below + 1 < timers.length && isBefore(timers[below + 1], timers[below])) below += 1;
      if (!isBefore(timers[below], moved)) break;
      timers[place] = timers[below];
      place = below;
    }
    timers[place] = moved;
    return first;
  };
  class Timeout {
    #cleared = false;
    #counts = true;
    ref() {
      this.#counts = true;
      return this;
    }
    unref() {
      this.#counts = false;
      return this;
    }
    hasRef() { return this.#counts; }
    [Symbol.toPrimitive]() { return this.order; }
    static clear(timer) { if (isObject(timer) && #cleared in timer) timer.#cleared = true; }
    static isCleared(timer) { return timer.#cleared; }
    static counts(timer) { return timer.#counts; }
  }
  const { clear, isCleared, counts: keepsAlive } = Timeout;
  const byNumber = new mapped();
  const makeTimer = (callback, delay, values, repeats) => {
    if (typeof callback !== "function") throw new TypeError('The "callback" argument must be of type function.');
    const wait = typeof delay === "number" || typeof delay === "string" ? Num(delay) : 1, made = new Timeout();
    made.delay = wait >= 1 && wait <= 2147483647 ? trunc(wait) : 1;
    made.due = now() + made.delay;
    made.order = ++timerCount;
    made.callback = callback;
    made.values = values;
    made.repeats = repeats;
    const names = ["delay", "due", "order", "callback", "values", "repeats"];
    for (let i = 0; i < names.length; i++) hide(made, names[i], made[names[i]]);
    addTimer(made);
    return made;
  };
  const clearTimer = timer => {
    if (isObject(timer)) return clear(timer);
    for (let i = 0; i < timers.length; i++) if (timers[i].order === Num(timer)) clear(timers[i]);
  };
  const setTimeout = (callback, delay, ...values) => makeTimer(callback, delay, values, false);
  const setInterval = (callback, delay, ...values) => makeTimer(callback, delay, values, true);
  const setImmediate = (callback, ...values) => {
    const made = { callback, values, isCleared: false };
    immediates[immediates.length] = made;
    return made;
  };
  const clearImmediate = made => { if (isObject(made)) made.isCleared = true; };
  const nextTick = (callback, ...values) => { ticks[ticks.length] = { callback, values }; };

  const drain = () => {
    do {
      while (ticks.length > 0) {
        const due = ticks;
        ticks = list();
        for (let i = 0; i < due.length; i++) apply(due[i].callback, undefined, due[i].values);
      }
      runJobs();
    } while (ticks.length > 0);
  };
  /** Runs the event loop until `done()` or until nothing is pending. Throws what a callback throws. */
  const runUntil = done => {
    for (;;) {
      drain();
      if (done() || timers.length + immediates.length + inputs.length === 0) return;
      let waiting = 0;
      for (let i = 0; i < timers.length && waiting === 0; i++) if (!isCleared(timers[i]) && keepsAlive(timers[i])) waiting = 1;
      const time = timers.length > 0 ? now() : 0;
      // Virtual time hardly passes while code runs. Node takes about a millisecond to get here, so a timeout of 0 or 1 precedes `setImmediate`;
      // a longer one is never early.
      if (timers.length > 0 && (timers[0].due <= time + (timers[0].delay > 1 ? 0 : 1) || isCleared(timers[0]))) {
        fire();
        continue;
      }
      if (immediates.length > 0) {
        const due = immediates;
        immediates = list();
        for (let i = 0; i < due.length; i++) {
          if (due[i].isCleared) continue;
          apply(due[i].callback, undefined, due[i].values);
          drain();
        }
        continue;
      }
      let pumped = false;
      for (let i = 0; i < inputs.length && !pumped; i++) pumped = inputs[i].pump();
      if (pumped) continue;
      if (waiting === 0) return;
      sleep((timers[0].due - time) * 1e6);
    }
  };
  const fire = () => {
    const timer = removeFirst();
    if (isCleared(timer)) return;
    if (timer.repeats) {
      timer.due = now() + timer.delay;
      addTimer(timer);
    }
    apply(timer.callback, timer, timer.values);
  };

  // ---- Input

  /** Decodes UTF-8 in chunks, and keeps an unfinished character for the next chunk. */
  const makeDecoder = () => {
    let left = "";
    return bytes => {
      let latin = left + toLatin(bytes);
      let end = latin.length;
      left = "";
      for (let back = 1; back < 4 && back <= latin.length; back++) {
        const code = charCode(latin, latin.length - back);
        if (code < 128) break;
        if (code < 192) continue;
        if ((code >= 240 ? 4 : code >= 224 ? 3 : 2) > back) end = latin.length - back;
        break;
      }
      left = substring(latin, end);
      const whole = new Bytes(end);
      fromBase64(whole, btoa(substring(latin, 0, end)));
      return decodeText(whole);
    };
  };
  const joinBytes = parts => {
    let count = 0;
    for (let i = 0; i < parts.length; i++) count += byteCount(parts[i]);
    const all = new Buffer(count);
    count = 0;
    for (let i = 0; i < parts.length; i++) {
      setBytes(all, parts[i], count);
      count += byteCount(parts[i]);
    }
    return all;
  };

  class Input extends EventEmitter {
    #read;
    #decode = null;
    #ended = false;
    #closed = false;
    #isPaused = false;
    #kept = list();
    #reader = null;
    constructor(read) {
      super();
      this.#read = read;
      hide(this, "fd", 0);
      inputs[inputs.length] = this;
    }
    get isTTY() { return undefined; }
    setEncoding() {
      this.#decode ??= makeDecoder();
      return this;
    }
    resume() {
      this.#isPaused = false;
      this.#flows = true;
      return this;
    }
    #flows = false;
    pause() {
      this.#isPaused = true;
      return this;
    }
    unref() { return this; }
    ref() { return this; }
    setRawMode() { return this; }
    destroy() {
      this.#ended = this.#closed = true;
      return this;
    }
    pipe(target) {
      this.on("data", chunk => target.write(chunk));
      return target;
    }
    /** Makes `reader` consume the input in place of listeners. */
    attach(reader) { this.#reader = reader; }
    /** Reads the next bytes; returns `null` at the end. */
    chunk() {
      if (this.#ended) return null;
      flush();
      const bytes = this.#read();
      if (byteCount(bytes) === 0) {
        this.#ended = true;
        return null;
      }
      return bytes;
    }
    read() {
      if (this.#kept.length === 0) return null;
      const all = joinBytes(this.#kept);
      this.#kept = list();
      return this.#decode ? this.#decode(all) : all;
    }
    pump() {
      if (this.#closed) return false;
      if (this.#reader !== null) {
        if (this.#reader.isIdle()) return false;
        this.#reader.take();
        return true;
      }
      const wantsData = this.listenerCount("data") > 0 && !this.#isPaused, wantsReadable = this.listenerCount("readable") > 0;
      if (!wantsData && !wantsReadable && !this.#flows && !(this.listenerCount("end") > 0 && this.#ended)) return false;
      const bytes = this.chunk();
      if (bytes === null) {
        this.#closed = true;
        if (wantsReadable) this.emit("readable");
        this.emit("end");
        this.emit("close");
      } else if (wantsReadable) {
        this.#kept[this.#kept.length] = bytes;
        this.emit("readable");
      } else {
        this.emit("data", this.#decode ? this.#decode(bytes) : makeBuffer(bytes));
      }
      return true;
    }
    async *[Symbol.asyncIterator]() {
      for (let bytes; (bytes = this.chunk()) !== null; ) yield this.#decode ? this.#decode(bytes) : makeBuffer(bytes);
    }
  }
  const stdin = new Input(readInput);

  class Interface extends EventEmitter {
    #input;
    #decode = makeDecoder();
    #rest = "";
    #lines = list();
    #next = 0;
    #ended = false;
    #closed = false;
    #isPaused = false;
    #asked = null;
    #prompt = "> ";
    #echo;
    constructor(options) {
      super();
      this.#input = isObject(options) && options.input instanceof Input ? options.input : stdin;
      this.#echo = isObject(options) && isObject(options.output);
      this.#input.attach(this);
      hide(this, "terminal", false);
      hide(this, "line", "");
    }
    isIdle() {
      return this.#isPaused || (this.#closed && this.#next >= this.#lines.length);
    }
    #fill() {
      while (this.#next >= this.#lines.length && !this.#ended) {
        const bytes = this.#input.chunk();
        if (bytes === null) this.#ended = true;
        const text = this.#rest + (bytes === null ? "" : this.#decode(bytes));
        this.#lines = list();
        this.#next = 0;
        let from = 0;
        for (let at; (at = indexOf(text, "\n", from)) >= 0; from = at + 1) {
          this.#lines[this.#lines.length] = substring(text, from, at > from && charCode(text, at - 1) === 13 ? at - 1 : at);
        }
        this.#rest = substring(text, from);
        if (this.#ended && this.#rest !== "") {
          this.#lines[this.#lines.length] = this.#rest;
          this.#rest = "";
        }
      }
      return this.#next < this.#lines.length;
    }
    #shift() { return this.#lines[this.#next++]; }
    take() {
      if (!this.#fill()) return this.close();
      // As in Node, promises wait until all lines of a chunk are delivered. `question` gets one line at a time.
      do {
        const line = this.#shift(), asked = this.#asked;
        this.#asked = null;
        if (asked === null) this.emit("line", line);
        else asked(line);
      } while (this.listenerCount("line") > 0 && this.#asked === null && this.#next < this.#lines.length && !this.#isPaused);
    }
    close() {
      if (this.#closed) return;
      this.#closed = true;
      if (this.#next >= this.#lines.length || this.listenerCount("line") === 0) this.#next = this.#lines.length;
      this.emit("close");
    }
    pause() {
      this.#isPaused = true;
      return this;
    }
    resume() {
      this.#isPaused = false;
      return this;
    }
    setPrompt(text) { this.#prompt = text; }
    getPrompt() { return this.#prompt; }
    prompt() { if (this.#echo) print(this.#prompt); }
    write() {}
    question(text, options, callback = options) {
      if (this.#echo) print(Str(text));
      this.#asked = callback;
    }
    async *[Symbol.asyncIterator]() {
      while (!this.#closed && this.#fill()) yield this.#shift();
      this.close();
    }
  }
  class PromiseInterface extends Interface {
    question(text) { return new PromiseOf(keep => super.question(text, keep)); }
  }

  // ---- process and modules

  let exitCode = 0;
  const toExitCode = code => {
    const number = code === undefined || code === null ? 0 : trunc(Num(code));
    return isInteger(number) ? number & 255 : 1;
  };
  const makeOutput = (fd, put) => {
    const made = new EventEmitter();
    const names = {
      write(text, encoding, callback = encoding) {
        if (typeof text === "string") put(text);
        else {
          flush();
          writeBytes(fd, text);
        }
        if (typeof callback === "function") nextTick(callback);
        return true;
      },
      end(text, encoding, callback = encoding) {
        if (text !== undefined && typeof text !== "function") made.write(text);
        if (typeof callback === "function") nextTick(callback);
        return made;
      },
      cork() {},
      uncork() {},
    };
    for (const name in names) hide(made, name, names[name]);
    hide(made, "fd", fd);
    hide(made, "isTTY", false);
    hide(made, "columns", undefined);
    hide(made, "writable", true);
    return made;
  };
  const process = new EventEmitter();
  let isExiting = false;
  const emitExit = () => {
    if (isExiting) return;
    isExiting = true;
    if (isHeard || process.emit !== emit) process.emit("exit", exitCode ?? 0);
  };
  const nanoseconds = () => BigInt(round(now() * 1e6));
  const hrtime = since => {
    const total = round(now() * 1e6), seconds = floor(total / 1e9), rest = total % 1e9;
    if (since === undefined) return [seconds, rest];
    const less = rest - since[1];
    return [seconds - since[0] - (less < 0 ? 1 : 0), less < 0 ? less + 1e9 : less];
  };
  hrtime.bigint = nanoseconds;
  const ofProcess = {
    argv: ["/usr/local/bin/node", "/work/program.js"], argv0: "node", execArgv: [], execPath: "/usr/local/bin/node", env: {}, pid: 1, ppid: 0,
    platform: "linux", arch: "wasm32", version: "v20.0.0", versions: { node: "20.0.0", quickjs: "0.18.0" }, release: { name: "node" }, title: "node",
    stdin, stdout: makeOutput(1, print), stderr: makeOutput(2, printError), nextTick, hrtime,
    exit(code = process.exitCode) {
      process.exitCode = code;
      emitExit();
      flush();
      exit(exitCode ?? 0);
    },
    abort() { process.exit(134); },
    cwd: () => "/work",
    uptime: () => now() / 1000,
    memoryUsage: () => ({ rss: 0, heapTotal: 0, heapUsed: 0, external: 0, arrayBuffers: 0 }),
    emitWarning(warning) { printError("(node:1) " + Str(warning) + "\n"); },
    getBuiltinModule: name => modules[plainName(name)],
  };
  for (const name in ofProcess) hide(process, name, ofProcess[name]);
  define(process, "exitCode", { get: () => exitCode, set: code => { exitCode = code === undefined ? undefined : toExitCode(code); }, enumerable: true, configurable: true });
  exitCode = undefined;

  const makeSystemError = (code, text) => Object.assign(new Error(code + ": " + text), { code, errno: -2 });
  const encodingOf = options => (isObject(options) ? options.encoding : options);
  let inputText;
  const readContent = path => {
    if (path === 0 || path === "/dev/stdin" || path === "/proc/self/fd/0" || path === "/dev/fd/0") {
      const parts = list();
      for (let bytes; (bytes = stdin.chunk()) !== null; ) parts[parts.length] = bytes;
      if (parts.length > 0 || inputText === undefined) inputText = joinBytes(parts);
      return path === 0 && parts.length === 0 ? new Buffer(0) : makeBuffer(inputText);
    }
    const found = typeof path === "number" ? undefined : readFile(utf8Path(path));
    if (found === undefined) throw makeSystemError("ENOENT", "no such file or directory, open " + quote(Str(path)));
    return makeBuffer(found);
  };
  const utf8Path = path => toWellFormed(Str(path));
  const writeContent = (path, content) => {
    const fd = path === 1 || path === "/dev/stdout" ? 1 : path === 2 || path === "/dev/stderr" ? 2 : 0;
    if (fd === 0) throw makeSystemError("EROFS", "read-only file system, open " + quote(Str(path)));
    (fd === 1 ? process.stdout : process.stderr).write(typeof content === "string" || content instanceof Uint8Array ? content : Str(content));
  };
  const makeAsync = work => (path, ...rest) => {
    const callback = rest.pop();
    let found, error = null;
    try { found = work(path, ...rest); } catch (thrown) { error = thrown; }
    setImmediate(callback, error, found);
  };
  const fs = {
    readFileSync(path, options) {
      const content = readContent(path), encoding = encodingOf(options);
      return encoding && encoding !== "buffer" ? content.toString(toLower(encoding)) : content;
    },
    writeFileSync: writeContent,
    appendFileSync: writeContent,
    writeSync(fd, content) {
      writeContent(fd, content);
      return Buffer.byteLength(content);
    },
    existsSync(path) {
      if (path === "/dev/stdin") return true;
      return readFile(utf8Path(path)) !== undefined;
    },
    readSync(fd, buffer, offset = 0, length = buffer.length - offset) {
      if (isObject(offset)) ({ offset = 0, length = buffer.length - offset } = offset);
      if (fd !== 0) throw makeSystemError("EBADF", "bad file descriptor, read");
      if (kept === null || kept.length === 0) kept = stdin.chunk();
      if (kept === null) return 0;
      const count = min(length, kept.length);
      buffer.set(kept.subarray(0, count), offset);
      kept = kept.subarray(count);
      return count;
    },
    openSync(path) {
      if (path === "/dev/stdin") return 0;
      throw makeSystemError("ENOENT", "no such file or directory, open " + quote(Str(path)));
    },
    closeSync() {},
    createReadStream(path) {
      if (path === "/dev/stdin" || path === null) return stdin;
      let content = readContent(path);
      return new Input(() => {
        const all = content;
        content = new Bytes(0);
        return all;
      });
    },
    constants: {},
  };
  let kept = null;
  fs.readFile = makeAsync(fs.readFileSync);
  fs.writeFile = makeAsync(fs.writeFileSync);
  fs.promises = {
    readFile: async (path, options) => fs.readFileSync(path, options),
    writeFile: async (path, content) => fs.writeFileSync(path, content),
  };

  const isDeepEqual = (a, b, strict) => {
    const pairs = list();
    const same = (a, b) => {
      if (is(a, b)) return true;
      if (!isObject(a) || !isObject(b)) return !strict && !isObject(a) && !isObject(b) && typeof a !== "function" && (a == b || (a !== a && b !== b));
      if (strict && prototypeOf(a) !== prototypeOf(b)) return false;
      if (isArray(a) !== isArray(b) || typedTag(a) !== typedTag(b) || isErrorObject(a) !== isErrorObject(b)) return false;
      for (let i = 0; i < pairs.length; i++) if (pairs[i][0] === a && pairs[i][1] === b) return true;
      pairs[pairs.length] = [a, b];
      if (isErrorObject(a) && (a.message !== b.message || a.name !== b.name)) return false;
      if (a instanceof Date || b instanceof Date) {
        if (!(a instanceof Date && b instanceof Date && is(dateTime(a), dateTime(b)))) return false;
      }
      if ((a instanceof RegExp || b instanceof RegExp) && Str(a) !== Str(b)) return false;
      if (a instanceof Number || a instanceof String || a instanceof Boolean) {
        if (!is(a.valueOf(), b.valueOf())) return false;
      }
      if (a instanceof mapped || b instanceof mapped) {
        if (!(a instanceof mapped && b instanceof mapped && a.size === b.size)) return false;
        const rest = [...b];
        for (const [key, value] of a) {
          const at = rest.findIndex(pair => same(key, pair[0]) && same(value, pair[1]));
          if (at < 0) return false;
          rest.splice(at, 1);
        }
      }
      if (a instanceof gathered || b instanceof gathered) {
        if (!(a instanceof gathered && b instanceof gathered && a.size === b.size)) return false;
        const rest = [...b].filter(item => !a.has(item));
        for (const item of a) {
          if (b.has(item)) continue;
          const at = rest.findIndex(other => same(item, other));
          if (at < 0) return false;
          rest.splice(at, 1);
        }
      }
      if (isArray(a) && a.length !== b.length) return false;
      const keys = keysOf(a);
      if (keys.length !== keysOf(b).length) return false;
      for (let i = 0; i < keys.length; i++) if (!hasOwn(b, keys[i]) || !same(a[keys[i]], b[keys[i]])) return false;
      return true;
    };
    return same(a, b);
  };
  class AssertionError extends Error {
    constructor(options) {
      super(options.message);
      this.actual = options.actual;
      this.expected = options.expected;
      this.operator = options.operator;
      this.code = "ERR_ASSERTION";
      this.generatedMessage = options.isGenerated ?? false;
    }
  }
  hide(AssertionError.prototype, "name", "AssertionError");
  const assertThat = (holds, message, operator, actual, expected) => {
    if (holds) return;
    if (isErrorObject(message)) throw message;
    const text = message ?? "Expected " + inspect(actual) + " " + operator + " " + inspect(expected);
    throw new AssertionError({ message: text, actual, expected, operator, isGenerated: message === undefined });
  };
  const isExpected = (error, expected) => {
    if (expected === undefined || typeof expected === "string") return true;
    if (expected instanceof RegExp) return expected.test(Str(error));
    if (typeof expected !== "function") return keysOf(expected).every(key => expected[key] instanceof RegExp ? expected[key].test(error[key]) : isDeepEqual(error[key], expected[key], true));
    if (expected.prototype !== undefined && error instanceof expected) return true;
    return !(expected === Error || Error.isPrototypeOf(expected)) && expected(error) === true;
  };
  const assert = (holds, message) => assertThat(holds, message, "==", holds, true);
  Object.assign(assert, {
    ok: assert,
    AssertionError,
    equal: (a, b, message) => assertThat(a == b || (a !== a && b !== b), message, "==", a, b),
    notEqual: (a, b, message) => assertThat(a != b && !(a !== a && b !== b), message, "!=", a, b),
    strictEqual: (a, b, message) => assertThat(is(a, b), message, "strictEqual", a, b),
    notStrictEqual: (a, b, message) => assertThat(!is(a, b), message, "notStrictEqual", a, b),
    deepEqual: (a, b, message) => assertThat(isDeepEqual(a, b, false), message, "deepEqual", a, b),
    notDeepEqual: (a, b, message) => assertThat(!isDeepEqual(a, b, false), message, "notDeepEqual", a, b),
    deepStrictEqual: (a, b, message) => assertThat(isDeepEqual(a, b, true), message, "deepStrictEqual", a, b),
    notDeepStrictEqual: (a, b, message) => assertThat(!isDeepEqual(a, b, true), message, "notDeepStrictEqual", a, b),
    fail: message => assertThat(false, message ?? "Failed", "fail"),
    match: (text, pattern, message) => assertThat(pattern.test(text), message, "match", text, pattern),
    throws(called, expected, message) {
      let thrown, failed = true;
      try {
        called();
        failed = false;
      } catch (error) {
        thrown = error;
      }
      assertThat(failed, typeof expected === "string" ? expected : message ?? "Missing expected exception.", "throws");
      if (!isExpected(thrown, expected)) throw thrown;
    },
    doesNotThrow(called) { called(); },
    async rejects(promise, expected, message) {
      let thrown, failed = true;
      try {
        await (typeof promise === "function" ? promise() : promise);
        failed = false;
      } catch (error) {
        thrown = error;
      }
      assertThat(failed, message ?? "Missing expected rejection.", "rejects");
      if (!isExpected(thrown, expected)) throw thrown;
    },
  });
  assert.strict = assert;

  const structuredClone = value => {
    const made = new mapped();
    const clone = value => {
      if (typeof value === "function" || typeof value === "symbol") throw new DOMException(Str(value) + " could not be cloned.", "DataCloneError");
      if (!isObject(value)) return value;
      if (made.has(value)) return made.get(value);
      const noted = copy => {
        made.set(value, copy);
        return copy;
      };
      if (value instanceof Date) return noted(new Date(dateTime(value)));
      if (value instanceof RegExp) return noted(new RegExp(value.source, value.flags));
      if (value instanceof ArrayBuffer) return noted(value.slice(0));
      if (typedTag(value) !== undefined) return noted(new globalThis[typedTag(value)](value));
      if (value instanceof mapped) {
        const copy = noted(new mapped());
        for (const [key, item] of value) copy.set(clone(key), clone(item));
        return copy;
      }
      if (value instanceof gathered) {
        const copy = noted(new gathered());
        for (const item of value) copy.add(clone(item));
        return copy;
      }
      const isError = isErrorObject(value), kinds = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
      const copy = noted(isError ? new (kinds[value.name] ?? Error)(value.message) : isArray(value) ? new Array(value.length) : {});
      const keys = keysOf(value);
      for (let i = 0; i < keys.length; i++) copy[keys[i]] = clone(value[keys[i]]);
      return copy;
    };
    return clone(value);
  };

  const promisify = called => (...values) => new PromiseOf((keep, fail) => called(...values, (error, value) => (error ? fail(error) : keep(value))));
  hide(promisify, "custom", Symbol.for("nodejs.util.promisify.custom"));
  const resolveAfter = (delay, value) => new PromiseOf(keep => setTimeout(keep, delay, value));
  const readline = {
    Interface,
    createInterface: (options, output) => new Interface(options instanceof Input ? { input: options, output } : options),
    clearLine: () => true,
    cursorTo: () => true,
    promises: { Interface: PromiseInterface, createInterface: options => new PromiseInterface(options) },
  };
  const util = {
    inspect, promisify,
    format: (...values) => format(values),
    isDeepStrictEqual: (a, b) => isDeepEqual(a, b, true),
    inherits(made, above) { Object.setPrototypeOf(made.prototype, above.prototype); },
    deprecate: called => called,
    types: { isPromise: value => value instanceof PromiseOf, isDate: value => value instanceof Date, isRegExp: value => value instanceof RegExp },
    TextEncoder, TextDecoder,
  };
  hide(inspect, "custom", Symbol.for("nodejs.util.inspect.custom"));
  const parts = path => path.split("/").filter(part => part !== "" && part !== ".");
  const path = {
    sep: "/", delimiter: ":",
    join: (...given) => (given.join("/")[0] === "/" ? "/" : "") + parts(given.join("/")).join("/"),
    resolve: (...given) => given.reduce((at, part) => (part[0] === "/" ? part : at + "/" + part), "/work").replace(/\/\.(?=\/|$)/g, ""),
    basename: (whole, end = "") => { const last = parts(whole).pop() ?? ""; return end && last.endsWith(end) ? last.slice(0, -end.length) : last; },
    dirname: whole => whole.slice(0, max(lastIndexOf(whole, "/"), 0)) || (whole[0] === "/" ? "/" : "."),
    extname: whole => { const last = parts(whole).pop() ?? "", dot = last.lastIndexOf("."); return dot > 0 ? last.slice(dot) : ""; },
  };
  const modules = {
    __proto__: null, fs, util, assert, path, process, console, readline, events: EventEmitter, buffer: { Buffer }, "fs/promises": fs.promises,
    "readline/promises": readline.promises, "assert/strict": assert, perf_hooks: { performance },
    os: { EOL: "\n", cpus: () => [], platform: () => "linux", type: () => "Linux", tmpdir: () => "/tmp", totalmem: () => 0, freemem: () => 0 },
    timers: { setTimeout, setInterval, setImmediate, clearTimeout: clearTimer, clearInterval: clearTimer, clearImmediate },
    "timers/promises": { setTimeout: resolveAfter, setImmediate: value => new PromiseOf(keep => setImmediate(keep, value)) },
  };
  const plainName = name => (indexOf(name, "node:") === 0 ? substring(name, 5) : name);
  const requireModule = name => {
    const found = typeof name === "string" ? modules[plainName(name)] : undefined;
    if (found !== undefined) return found;
    throw Object.assign(new Error("Cannot find module '" + Str(name) + "'"), { code: "MODULE_NOT_FOUND" });
  };
  // One job runs in a state, so these are that job's.
  const module = { id: ".", path: "/work", exports: {}, filename: "/work/program.js", loaded: false, children: [], paths: [] };
  const require = name => requireModule(name);
  require.main = undefined;
  require.cache = {};
  require.resolve = name => name;
  module.require = require;
  /** Returns the job's `module`, and names it the main one of a script. */
  const openModule = isScript => {
    require.main = isScript ? module : undefined;
    return module;
  };

  const names = {
    console, process, Buffer, TextEncoder, TextDecoder, structuredClone, setTimeout, setInterval, setImmediate, clearTimeout: clearTimer,
    clearInterval: clearTimer, clearImmediate, global: globalThis,
  };
  for (const name in names) hide(globalThis, name, names[name]);

  return { seed, openModule, runUntil, emitExit, flush, exitCode: () => exitCode ?? 0 };
})
