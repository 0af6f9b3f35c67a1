// Veriplay's harness inside the guest: fetches a job, runs it, says what came out. It holds no judging code.
//
// Evaluated once, before the snapshot. The value is a function: the host calls it with its two functions and with what node.js evaluates to, and
// keeps what that returns. Each call of this is a turn, as it is of the Python image: one that compiles a program, then one that runs it.
//
// Frames are those of crates/sandbox/src/channel.rs, and the encoding of values is that of crates/core/src/value/codec.rs. `sendBytes` takes an
// ArrayBuffer with the length of a frame in four bytes before it, `sendText` a string whose UTF-8 is the frame. Either answers with an ArrayBuffer,
// or with undefined. Frames that no program of Python sends, because the interpreter asks the system itself:
//   "1" and "2" + text for standard output and error | "0" the next bytes of standard input, none at its end | "f" + path: "1" and the content of a
//   file, or "0" | "z" + f64: nanoseconds to sleep | "~" run the jobs of promises: "1" where one was rejected and nobody handles that, or "0" |
//   "?" the reason of that rejection | "x" end the turn, past every handler and `finally`
//
// A program shares this realm and may replace whatever it reaches. So code that runs behind a program's start reads nothing through a prototype or
// a global: functions are kept here beforehand, and are called by `apply` or as bound ones. Nor does it write a property that an object does not have
// yet, for which a prototype's setter would be asked: it writes to typed arrays, and to lists and records without a prototype. No function here that
// holds the host's is an argument, a result or a `this` of anything that a program sees, and no frame of a stack tells of functions.
(function (sendText, sendBytes, makeNode) {
  "use strict";

  const { apply, construct, ownKeys, getOwnPropertyDescriptor: describe, getPrototypeOf: prototypeOf, defineProperty: define } = Reflect;
  const uncurried = Function.prototype.bind.bind(Function.prototype.call);
  const getter = (owner, name) => uncurried(describe(owner, name).get);
  const { hasOwn, prototype: objectPrototype, setPrototypeOf } = Object;
  const { isArray, prototype: arrayPrototype } = Array;
  const bytesPrototype = Uint8Array.prototype, mapPrototype = Map.prototype, setPrototype = Set.prototype;
  const typedPrototype = prototypeOf(bytesPrototype);
  const Bytes = Uint8Array, Big = BigInt, Num = Number, Str = String, WordView = DataView;
  const evaluate = eval;
  const { isSafeInteger } = Number;
  const { floor } = Math;
  const charCode = uncurried(String.prototype.charCodeAt), substring = uncurried(String.prototype.substring);
  const indexOf = uncurried(String.prototype.indexOf), isWellFormed = uncurried(String.prototype.isWellFormed);
  const toWellFormed = uncurried(String.prototype.toWellFormed), fromCharCode = String.fromCharCode;
  const sort = uncurried(Array.prototype.sort), setBytes = uncurried(typedPrototype.set), reverse = uncurried(typedPrototype.reverse);
  const bufferOf = getter(typedPrototype, "buffer"), countOf = getter(typedPrototype, "length");
  const fromBase64 = uncurried(bytesPrototype.setFromBase64), toBase64 = uncurried(bytesPrototype.toBase64);
  const fromHex = uncurried(bytesPrototype.setFromHex);
  const encodeURI_ = encodeURIComponent, decodeURI_ = decodeURIComponent, escape_ = escape, unescape_ = unescape, btoa_ = btoa, atob_ = atob;
  const bigText = uncurried(BigInt.prototype.toString), numberText = uncurried(Number.prototype.toString);
  const sourceOf = uncurried(Function.prototype.toString);
  const forEachPair = uncurried(mapPrototype.forEach), pairCount = getter(mapPrototype, "size");
  const forEachMember = uncurried(setPrototype.forEach), memberCount = getter(setPrototype, "size");
  const hasMember = uncurried(setPrototype.has), addMember = uncurried(setPrototype.add), NewSet = Set, NewMap = Map, addPair = uncurried(mapPrototype.set);
  const promisePrototype = Promise.prototype, then = uncurried(promisePrototype.then), isErrorObject = Error.isError;
  const isWeakMember = uncurried(WeakSet.prototype.has), addWeakMember = uncurried(WeakSet.prototype.add);

  // A call site has the functions that are on the stack.
  define(Error, "prepareStackTrace", { value: undefined, writable: false, enumerable: false, configurable: false });

  // There is no other way to a proxy than these two, so each is known.
  const proxies = new WeakSet(), RealProxy = Proxy, { revocable } = Proxy;
  const noted = proxy => {
    addWeakMember(proxies, proxy);
    return proxy;
  };
  // Bound, because such a function has no `prototype`, as `Proxy` has none.
  const NotingProxy = function (target, handler) {
    if (new.target === undefined) throw new TypeError("constructor requires 'new'");
    return noted(new RealProxy(target, handler));
  }.bind();
  define(NotingProxy, "name", { value: "Proxy", writable: false, enumerable: false, configurable: true });
  define(NotingProxy, "revocable", {
    value: { revocable(target, handler) {
      const made = revocable(target, handler);
      noted(made.proxy);
      return made;
    } }.revocable,
    writable: true, enumerable: false, configurable: true,
  });
  define(globalThis, "Proxy", { value: NotingProxy, writable: true, enumerable: false, configurable: true });
  const isProxy = value => isWeakMember(proxies, value);

  // ---- Bytes

  const list = () => setPrototypeOf([], null);

  let capacity = 1 << 16, out = new Bytes(capacity), size = 4, cap = 0;
  const room = count => {
    if (size + count <= capacity) return;
    capacity = (size + count) * 2;
    const larger = new Bytes(capacity);
    setBytes(larger, out);
    out = larger;
  };
  const eight = new Bytes(8), words = new WordView(bufferOf(eight));
  const setDouble = uncurried(WordView.prototype.setFloat64), getDouble = uncurried(WordView.prototype.getFloat64);

  const putByte = byte => {
    room(1);
    out[size++] = byte;
  };
  const putWord = word => {
    room(4);
    out[size] = word;
    out[size + 1] = word >>> 8;
    out[size + 2] = word >>> 16;
    out[size + 3] = word >>> 24;
    size += 4;
  };
  /** Puts a string of code units below 256, a byte each. */
  const putLatin = text => {
    const count = text.length;
    room(count);
    if (count > 48) {
      fromBase64(new Bytes(bufferOf(out), size, count), btoa_(text));
    } else {
      for (let i = 0; i < count; i++) out[size + i] = charCode(text, i);
    }
    size += count;
  };
  /** The UTF-8 of a string without lone surrogates, as a string of a code unit a byte. */
  const utf8 = text => {
    if (text.length < 16) {
      let i = 0;
      while (i < text.length && charCode(text, i) < 128) i++;
      if (i === text.length) return text;
    }
    return unescape_(encodeURI_(text));
  };
  /** UTF-8 that is cut to so many bytes, at the end of a character. */
  const cut = (text, most) => {
    const encoded = utf8(toWellFormed(text.length > most ? substring(text, 0, most) : text));
    if (encoded.length <= most) return encoded;
    let end = most;
    while (end > 0 && (charCode(encoded, end) & 0xc0) === 0x80) end--;
    return substring(encoded, 0, end);
  };
  const latinOf = bytes => atob_(toBase64(bytes));
  const decodeText = bytes => {
    const latin = latinOf(bytes);
    try {
      return decodeURI_(escape_(latin));
    } catch {
      return decodeBroken(latin);
    }
  };
  /** Reads text that is no UTF-8: U+FFFD stands for each byte that fits nowhere. */
  const decodeBroken = latin => {
    let text = "";
    for (let i = 0; i < latin.length; ) {
      const first = charCode(latin, i);
      const more = first < 0x80 ? 0 : first >= 0xc2 && first < 0xe0 ? 1 : first >= 0xe0 && first < 0xf0 ? 2 : first >= 0xf0 && first < 0xf5 ? 3 : -1;
      try {
        if (more < 0 || i + more >= latin.length) throw null;
        text += decodeURI_(escape_(substring(latin, i, i + more + 1)));
        i += more + 1;
      } catch {
        text += "\ufffd";
        i += 1;
      }
    }
    return text;
  };

  const begin = tag => {
    size = 4;
    putByte(charCode(tag, 0));
  };
  const send = () => {
    const end = size;
    size = 0;
    putWord(end - 4);
    return sendBytes(bufferOf(out));
  };
  const sendError = (tag, kind, message) => {
    begin(tag);
    const name = cut(kind, 100);
    putByte(name.length);
    putLatin(name);
    putLatin(cut(message, 400));
    send();
  };
  const sendShort = (tag, message) => {
    begin(tag);
    putLatin(cut(message, 400));
    send();
  };

  // ---- Values: numbers that are whole and exact are ints, and other numbers are floats

  const maxDepth = 64, tooDeep = "nested too deep, or in itself", tooLarge = { __proto__: null }, unencodable = { __proto__: null };
  let reason = "";
  const refuse = what => {
    reason = what;
    throw unencodable;
  };

  /** Puts an int that fits in 54 bits: tag, count of bytes, and as few little-endian bytes as there may be. */
  const putWhole = value => {
    room(13);
    out[size] = 105;
    out[size + 2] = out[size + 3] = out[size + 4] = 0;
    let count = 1;
    if (value === 0) count = 0;
    else if (value >= -128 && value < 128) out[size + 5] = value;
    else {
      const high = floor(value / 4294967296), sign = value < 0 ? 255 : 0;
      for (let i = 0; i < 4; i++) {
        out[size + 5 + i] = value >>> (8 * i);
        out[size + 9 + i] = high >> (8 * i);
      }
      count = 8;
      while (count > 1 && out[size + 4 + count] === sign && (out[size + 3 + count] ^ sign) < 128) count--;
    }
    out[size + 1] = count;
    size += 5 + count;
  };
  const bigBytes = value => {
    if (value === 0n) return "";
    let hex = bigText(value < 0n ? -value - 1n : value, 16);
    // A sign bit more than the digits have.
    if (hex.length % 2) hex = "0" + hex;
    else if (charCode(hex, 0) > 55) hex = "00" + hex;
    const bytes = new Bytes(hex.length / 2);
    fromHex(bytes, hex);
    reverse(bytes);
    if (value < 0n) for (let i = 0; i < hex.length / 2; i++) bytes[i] = ~bytes[i];
    return latinOf(bytes);
  };
  const doubleBytes = value => {
    if (value !== value) return "\0\0\0\0\0\0\xf8\x7f";
    setDouble(words, 0, value, true);
    return fromCharCode(eight[0], eight[1], eight[2], eight[3], eight[4], eight[5], eight[6], eight[7]);
  };
  const isWhole = value => isSafeInteger(value) && (value !== 0 || 1 / value > 0);
  const putCounted = (tag, latin) => {
    putByte(tag);
    putWord(latin.length);
    putLatin(latin);
  };
  const putPrimitive = value => {
    switch (typeof value) {
      case "number":
        if (isWhole(value)) return putWhole(value);
        putByte(102);
        return putLatin(doubleBytes(value));
      case "string":
        if (value.length > cap) throw tooLarge;
        if (!isWellFormed(value)) refuse("a string with a lone surrogate");
        return putCounted(115, utf8(value));
      case "boolean":
        return putByte(value ? 84 : 70);
      case "bigint":
        return putCounted(105, bigBytes(value));
      case "undefined":
        return putByte(78);
      case "object":
        if (value === null) return putByte(78);
    }
    return refuse("a " + typeof value);
  };

  const put = (value, depth) => {
    if (depth > maxDepth) refuse(tooDeep);
    if (size > cap + 5) throw tooLarge;
    if (typeof value !== "object" || value === null) return putPrimitive(value);
    if (isProxy(value)) refuse("a Proxy");
    const prototype = prototypeOf(value);
    if (prototype === arrayPrototype && isArray(value)) return putArray(value, depth + 1);
    if (prototype === objectPrototype || prototype === null) return putRecord(value, depth + 1);
    if (prototype === mapPrototype) return putMap(value, depth + 1);
    if (prototype === setPrototype) return putSet(value, depth + 1);
    if (prototype === bytesPrototype) return putBytes(value);
    return refuse("an object of a class that has no encoding");
  };
  /** Whether a property record without a value has none behind it either, so that reading one runs no code. */
  let isClean = true;
  const valueOf = found => {
    const value = isClean ? found.value : undefined;
    if (value !== undefined) return value;
    if (!hasOwn(found, "value")) refuse("a property with a getter or a setter");
    return found.value;
  };
  const putArray = (array, depth) => {
    const count = array.length;
    if (count > cap) throw tooLarge;
    if (depth > maxDepth && count > 0) refuse(tooDeep);
    putByte(108);
    putWord(count);
    for (let i = 0; i < count; i++) {
      const found = describe(array, i);
      // Nothing is at a place that was left out, and so it reads as undefined.
      if (found === undefined) {
        putByte(78);
        continue;
      }
      const item = valueOf(found);
      if (isSafeInteger(item) && item !== 0) putWhole(item);
      else put(item, depth);
    }
  };
  const putRecord = (record, depth) => {
    const keys = ownKeys(record), count = keys.length;
    putByte(100);
    putWord(count);
    for (let i = 0; i < count; i++) {
      const key = keys[i], found = describe(record, key);
      if (typeof key !== "string") refuse("an object with a symbol for a key");
      const value = valueOf(found);
      if (!found.enumerable) refuse("an object with a hidden property");
      putPrimitive(key);
      put(value, depth);
    }
  };
  const kinds = { __proto__: null, number: 1, boolean: 2, bigint: 4, string: 8, undefined: 16, object: 32, function: 64, symbol: 64 };
  /** Refuses keys or members that are one to the host, such as `1`, `1n` and `true`, or `null` and `undefined`. */
  const checkMembers = (forEach, members) => {
    let found = 0;
    forEach(members, (_, key) => {
      if (key !== null && typeof key === "object") refuse("a key of a Map or a member of a Set that is an object");
      found |= kinds[typeof key];
    });
    const numbers = found & 7;
    // Of one kind no two are equal.
    if ((found & 48) !== 48 && (numbers & (numbers - 1)) === 0) return;
    const seen = new NewSet();
    forEach(members, (_, key) => {
      if (key === undefined) key = null;
      else if (typeof key === "boolean") key = key ? 1n : 0n;
      else if (typeof key === "number" && floor(key) === key && key - key === 0) key = Big(key);
      if (hasMember(seen, key)) refuse("two keys of a Map or members of a Set that are equal to the host");
      addMember(seen, key);
    });
  };
  const putMap = (map, depth) => {
    let count;
    try {
      count = pairCount(map);
    } catch {
      refuse("an object of a class that has no encoding");
    }
    putByte(100);
    putWord(count);
    checkMembers(forEachPair, map);
    forEachPair(map, (value, key) => {
      putPrimitive(key);
      put(value, depth);
    });
  };
  const putSet = (set, depth) => {
    let count;
    try {
      count = memberCount(set);
    } catch {
      refuse("an object of a class that has no encoding");
    }
    if (depth > maxDepth && count > 0) refuse(tooDeep);
    checkMembers(forEachMember, set);
    putByte(83);
    putWord(count);
    const encoded = list(), start = size;
    let total = 0;
    forEachMember(set, member => {
      size = start;
      putPrimitive(member);
      total += size - start;
      if (total > cap) throw tooLarge;
      encoded[encoded.length] = latinOf(new Bytes(bufferOf(out), start, size - start));
    });
    size = start;
    // By code units, which are the bytes.
    sort(encoded);
    for (let i = 0; i < count; i++) putLatin(encoded[i]);
  };
  const putBytes = bytes => {
    let count;
    try {
      count = countOf(bytes);
    } catch {
      refuse("an object of a class that has no encoding");
    }
    if (count > cap) throw tooLarge;
    putByte(98);
    putWord(count);
    room(count);
    setBytes(out, bytes, size);
    size += count;
  };

  /** Sends the result of a call. */
  const sendValue = value => {
    try {
      begin("V");
      isClean = describe(objectPrototype, "value") === undefined;
      put(value, 0);
      if (size - 5 > cap) throw tooLarge;
    } catch (thrown) {
      if (thrown === tooLarge) {
        begin("O");
        send();
      } else {
        sendShort("U", thrown === unencodable ? reason : "encoding it used up the stack or the memory");
      }
      return;
    }
    send();
  };

  // Arguments are read before the program runs.
  let data, at = 0;
  const takeWord = () => {
    at += 4;
    return (data[at - 4] | (data[at - 3] << 8) | (data[at - 2] << 16) | (data[at - 1] << 24)) >>> 0;
  };
  const takeBytes = count => {
    const taken = new Bytes(count);
    setBytes(taken, new Bytes(bufferOf(data), at, count));
    at += count;
    return taken;
  };
  const takeText = () => {
    const count = takeWord();
    let text = "", i = 0;
    if (count < 16) for (; i < count && data[at + i] < 128; i++) text += fromCharCode(data[at + i]);
    if (i < count) text = decodeText(new Bytes(bufferOf(data), at, count));
    at += count;
    return text;
  };
  const takeInt = () => {
    const count = takeWord();
    if (count === 0) return 0;
    const negative = data[at + count - 1] > 127;
    if (count < 7) {
      let value = 0;
      for (let i = count - 1; i >= 0; i--) value = value * 256 + data[at + i];
      at += count;
      return negative ? value - 256 ** count : value;
    }
    let value = 0n;
    for (let i = count - 1; i >= 0; i--) value = value * 256n + Big(data[at + i]);
    at += count;
    if (negative) value -= 1n << Big(8 * count);
    return value >= -9007199254740991n && value <= 9007199254740991n ? Num(value) : value;
  };
  const takeItems = count => {
    const items = [];
    for (let i = 0; i < count; i++) items[i] = take();
    return items;
  };
  const takeDict = count => {
    const items = takeItems(count * 2);
    let isRecord = true;
    for (let i = 0; i < count; i++) isRecord &&= typeof items[2 * i] === "string";
    const made = isRecord ? {} : new NewMap();
    for (let i = 0; i < count; i++) {
      const key = items[2 * i], value = items[2 * i + 1];
      if (isRecord) define(made, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
      else addPair(made, key, value);
    }
    return made;
  };
  const take = () => {
    const tag = data[at++];
    switch (tag) {
      case 78: return null;
      case 84: return true;
      case 70: return false;
      case 102:
        for (let i = 0; i < 8; i++) eight[i] = data[at + i];
        at += 8;
        return getDouble(words, 0, true);
      case 105: return takeInt();
      case 115: return takeText();
      case 98: return takeBytes(takeWord());
      case 108: case 116: return takeItems(takeWord());
      case 100: return takeDict(takeWord());
      case 83: case 90: {
        const items = takeItems(takeWord()), made = new NewSet();
        for (let i = 0; i < items.length; i++) addMember(made, items[i]);
        return made;
      }
    }
    throw new TypeError("an argument of a type that JavaScript does not have");
  };

  // ---- Errors: what a program threw is looked at, and none of its code runs

  /** The text of the nearest data property of that name, if it is one. */
  const textOf = (object, name) => {
    for (let i = 0; i < 16 && object !== null && !isProxy(object); i++) {
      const found = describe(object, name);
      if (found !== undefined) return hasOwn(found, "value") && typeof found.value === "string" ? found.value : "";
      object = prototypeOf(object);
    }
    return "";
  };
  const stackOf = uncurried(describe(Error.prototype, "stack").get);
  const primitiveText = value => typeof value === "symbol" ? "a symbol" : typeof value === "bigint" ? bigText(value) : Str(value);
  const kindOf = thrown => {
    const isObject = (typeof thrown === "object" && thrown !== null) || typeof thrown === "function";
    // As for `throw 3`, which Node calls uncaught.
    return (isObject && textOf(thrown, "name")) || (isErrorObject(thrown) ? "Error" : "Thrown");
  };
  const messageOf = thrown => {
    if (typeof thrown === "string") return thrown;
    const isObject = (typeof thrown === "object" && thrown !== null) || typeof thrown === "function";
    return isObject ? textOf(thrown, "message") : primitiveText(thrown);
  };
  /** Shows an error to people, with its stack. */
  const show = thrown => {
    let text = kindOf(thrown) + ": " + messageOf(thrown);
    if (isErrorObject(thrown) && !isProxy(thrown)) {
      try {
        const stack = stackOf(thrown);
        if (typeof stack === "string") text += "\n" + stack;
      } catch {}
    }
    sendText("2Uncaught " + substring(toWellFormed(text), 0, 4000) + "\n");
  };

  // ---- Turns

  const parameters = "exports, require, module, __filename, __dirname";
  // Last, so that directives of the program stay first. Behind a `return` of its module level it finds nothing, and only its exports are there.
  const ending = "\n;return $veriplay => eval($veriplay)\n}";
  const compile = source => {
    if (charCode(source, 0) === 0xfeff) source = substring(source, 1);
    if (charCode(source, 0) === 35 && charCode(source, 1) === 33) source = "//" + source;
    const text = "function (" + parameters + ") {" + source + ending;
    let made;
    try {
      made = evaluate("(" + text + ")");
    } catch (error) {
      sendShort("C", kindOf(error) + ": " + messageOf(error));
      show(error);
      return undefined;
    }
    // A text that closes the function early is no program. What it ran has run in a state that this job throws away.
    if (typeof made !== "function" || sourceOf(made) !== text) {
      sendShort("C", "SyntaxError: a brace closes what the program did not open");
      return undefined;
    }
    return made;
  };

  /** Says which part of the job runs, for a program that ends its process there. */
  let stage = "module", resultsDue = 0, isScript = false;
  const node = makeNode({
    apply, describe, prototypeOf, ownKeys, define, uncurried, hasOwn, isArray, isProxy, list, Bytes, countOf, setBytes, bufferOf, utf8, latinOf,
    decodeText, toWellFormed, substring, charCode, indexOf, bigText, textOf, stackOf, isErrorObject, sourceOf, toBase64, fromBase64, btoa: btoa_, pairCount,
    memberCount, forEachPair, forEachMember,
    write: (descriptor, text) => { sendText((descriptor === 2 ? "2" : "1") + text); },
    writeBytes: (descriptor, bytes) => {
      begin(descriptor === 2 ? "2" : "1");
      const count = countOf(bytes);
      room(count);
      setBytes(out, bytes, size);
      size += count;
      send();
    },
    readInput: () => new Bytes(sendText("0")),
    readFile: path => {
      const reply = new Bytes(sendText("f" + path));
      return reply[0] === 49 ? new Bytes(bufferOf(reply), 1) : undefined;
    },
    sleep: nanoseconds => {
      begin("z");
      putLatin(doubleBytes(nanoseconds));
      send();
    },
    /** Runs the jobs of promises. Throws the reason of a rejection that nobody handles. */
    runJobs: () => {
      const reply = new Bytes(sendText("~"));
      if (reply[0] === 49) throw sendText("?");
    },
    exit: code => {
      if (stage === "module") {
        if (code !== 0 || !isScript) sendError("R", "SystemExit", numberText(code));
      } else {
        for (; resultsDue > 0; resultsDue--) sendError("X", "SystemExit", numberText(code));
      }
      sendText("D");
      sendText("x");
    },
  });

  const isPromise = value => {
    if (typeof value !== "object" || value === null) return false;
    for (let i = 0; i < 16 && value !== null && !isProxy(value); i++) {
      if (value === promisePrototype) return true;
      value = prototypeOf(value);
    }
    return false;
  };
  /** What a value comes to, where it is a promise. Throws what that is rejected with. */
  const settled = value => {
    let state = "";
    if (isPromise(value)) {
      try {
        // So that neither its class nor a species is asked. Of one that is frozen they are, and get nothing that matters.
        define(value, "constructor", { __proto__: null, value: undefined, writable: true, configurable: true });
        then(
          value,
          found => { if (state === "") { state = "kept"; value = found; } },
          found => { if (state === "") { state = "broken"; value = found; } },
        );
      } catch {
        state = "none";
      }
    } else {
      state = "none";
    }
    node.runUntil(() => state !== "");
    if (state === "") throw new Unsettled("the promise that was returned is never settled");
    if (state === "broken") throw value;
    return value;
  };
  const Unsettled = class Error extends TypeError {};
  define(Unsettled.prototype, "name", { value: "UnsettledPromise" });

  const identifierPart = code => (code > 96 && code < 123) || (code > 64 && code < 91) || (code > 47 && code < 58) || code === 95 || code === 36 || code > 127;
  const isIdentifier = name => {
    for (let i = 0; i < name.length; i++) if (!identifierPart(charCode(name, i))) return false;
    return name.length > 0 && (charCode(name, 0) < 48 || charCode(name, 0) > 57);
  };
  const isObject = value => (typeof value === "object" && value !== null) || typeof value === "function";
  /** What the program has under that name at its top level, else as an export; or what it exports, which has that name. */
  const named = (name, lookUp, module) => {
    let found;
    if (typeof lookUp === "function" && isIdentifier(name)) {
      try {
        found = lookUp(name);
      } catch {}
    }
    if (found !== undefined) return found;
    const exported = module.exports;
    if (isObject(exported) && exported[name] !== undefined) return exported[name];
    return typeof exported === "function" ? exported : undefined;
  };
  /** The function of that name and its `this`, as [function, this]. */
  const entryOf = (entry, lookUp, module) => {
    if (entry === "module.exports") return [module.exports, undefined];
    const prefix = "module.exports.";
    const name = indexOf(entry, prefix) === 0 ? substring(entry, prefix.length) : entry;
    const dot = indexOf(name, ".");
    if (dot < 0) return [named(name, lookUp, module), undefined];
    const owner = named(substring(name, 0, dot), lookUp, module);
    if (!isObject(owner)) return [undefined, undefined];
    const made = typeof owner === "function" ? construct(owner, []) : owner;
    return [isObject(made) ? made[substring(name, dot + 1)] : undefined, made];
  };

  const callAll = (entry, lists, lookUp, module) => {
    let found;
    try {
      found = entryOf(entry, lookUp, module);
    } catch (error) {
      sendError("R", kindOf(error), messageOf(error));
      return;
    }
    const called = found[0], self = found[1];
    if (typeof called !== "function") return sendShort("M", "`" + entry + "` is not defined, or not callable");
    stage = "calls";
    for (let i = 0; i < lists.length; i++) {
      let value, failed = false;
      try {
        value = settled(apply(called, self, lists[i]));
      } catch (error) {
        failed = true;
        value = error;
      }
      resultsDue -= 1;
      if (failed) sendError("X", kindOf(value), messageOf(value));
      else sendValue(value);
    }
  };

  let program;
  return () => {
    data = new Bytes(sendText("J"));
    if (data[0] === 75) {
      program = compile(decodeText(new Bytes(bufferOf(data), 1)));
      sendText("D");
      return;
    }
    isScript = data[0] === 83;
    stage = "module";
    at = 1;
    node.seed(takeWord(), takeWord());
    cap = takeWord();
    let entry = "";
    const lists = list();
    if (!isScript) {
      entry = takeText();
      resultsDue = takeWord();
      for (let i = 0; i < resultsDue; i++) lists[i] = take();
    }
    const run = program;
    program = data = undefined;
    const module = node.newModule(isScript);
    let lookUp, failed = false;
    try {
      lookUp = apply(run, module.exports, [module.exports, module.require, module, "/work/program.js", "/work"]);
      node.runUntil(() => false);
    } catch (error) {
      failed = true;
      node.flush();
      sendError("R", kindOf(error), messageOf(error));
      show(error);
    }
    if (!failed && !isScript) callAll(entry, lists, lookUp, module);
    node.flush();
    if (isScript && !failed && node.exitCode() !== 0) sendError("R", "SystemExit", numberText(node.exitCode()));
    sendText("D");
  };
})
