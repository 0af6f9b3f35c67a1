// The harness inside the JavaScript guest: it fetches a job, runs it and reports the results. It holds no judging code.
//
// The host evaluates this file once, before the snapshot. Its value is a function, which the host calls with two functions of its own, with the value
// of node.js and, in the TypeScript image, with what typescript.js returns; the host keeps the function that this returns. Each call of that function
// is a turn, as in the Python image: one turn compiles a program, the next one runs it.
//
// Frames are those of crates/sandbox/src/channel.rs; values are encoded as in crates/core/src/value/codec.rs. `sendText` takes a string, whose UTF-8
// is the frame. `sendBytes` takes an ArrayBuffer that holds the length of the frame in four bytes, then the frame; a reply that fits is written over
// the frame, its length before it. Otherwise both return an ArrayBuffer, or undefined where there is no reply. The interpreter makes no system calls,
// so there are frames for those too:
//   "J": the job; a program comes as a string, its request's tag in the buffer
//   "1", "2" + text: write to standard output, standard error
//   "0": the next bytes of standard input; none at its end
//   "f" + path: "1" and the content of that file, or "0"
//   "z" + f64: sleep for so many nanoseconds
//   "~": run the pending jobs of promises; "1" if a rejection is unhandled afterwards, else "0"
//   "?": the reason of an unhandled rejection, as a value
//   "u" + UTF-8: that text as a string, decoded by the interpreter's own code; "e" + text: its UTF-8
//   "x": end the turn; no handler and no `finally` of the program runs
//
// The program shares this realm and can replace every global and every property of a prototype. Therefore:
// - Code that runs after the program has started looks nothing up on a global or a prototype. All functions it needs are captured here.
// - It adds properties only to objects without a prototype, and otherwise writes to typed arrays, so that no setter of the program runs.
// - It reads the program's objects through property descriptors, never through getters, and rejects proxies.
// - The host's functions stay in this closure. No stack trace exposes functions.
(function (sendText, sendBytes, makeNode, translate) {
  "use strict";

  const { apply, construct, ownKeys, getOwnPropertyDescriptor: describe, getPrototypeOf: prototypeOf, defineProperty: define } = Reflect;
  const uncurry = Function.prototype.bind.bind(Function.prototype.call);
  const uncurryGetter = (owner, name) => uncurry(describe(owner, name).get);
  const { hasOwn, prototype: objectPrototype, setPrototypeOf } = Object;
  const { isArray, prototype: arrayPrototype } = Array;
  const bytesPrototype = Uint8Array.prototype, mapPrototype = Map.prototype, setPrototype = Set.prototype;
  const typedPrototype = prototypeOf(bytesPrototype);
  const Bytes = Uint8Array, Big = BigInt, Num = Number, Str = String, WordView = DataView;
  const evaluate = eval;
  const { isSafeInteger } = Number;
  const { floor } = Math;
  const charCode = uncurry(String.prototype.charCodeAt), substring = uncurry(String.prototype.substring);
  const indexOf = uncurry(String.prototype.indexOf), isWellFormed = uncurry(String.prototype.isWellFormed);
  const toWellFormed = uncurry(String.prototype.toWellFormed), fromCharCode = String.fromCharCode;
  const sort = uncurry(Array.prototype.sort), setBytes = uncurry(typedPrototype.set), reverse = uncurry(typedPrototype.reverse);
  const bufferOf = uncurryGetter(typedPrototype, "buffer"), byteCount = uncurryGetter(typedPrototype, "length");
  const fromBase64 = uncurry(bytesPrototype.setFromBase64), toBase64 = uncurry(bytesPrototype.toBase64);
  const fromHex = uncurry(bytesPrototype.setFromHex);
  const encodeURI_ = encodeURIComponent, decodeURI_ = decodeURIComponent, escape_ = escape, unescape_ = unescape, btoa_ = btoa, atob_ = atob;
  const bigText = uncurry(BigInt.prototype.toString), numberText = uncurry(Number.prototype.toString);
  const sourceOf = uncurry(Function.prototype.toString);
  const forEachPair = uncurry(mapPrototype.forEach), pairCount = uncurryGetter(mapPrototype, "size");
  const forEachMember = uncurry(setPrototype.forEach), memberCount = uncurryGetter(setPrototype, "size");
  const hasMember = uncurry(setPrototype.has), addMember = uncurry(setPrototype.add), NewSet = Set, NewMap = Map, addPair = uncurry(mapPrototype.set);
  const promisePrototype = Promise.prototype, then = uncurry(promisePrototype.then), isErrorObject = Error.isError;
  const isWeakMember = uncurry(WeakSet.prototype.has), addWeakMember = uncurry(WeakSet.prototype.add);

  // Call sites would expose the functions on the stack, and with them this harness's.
  define(Error, "prepareStackTrace", { value: undefined, writable: false, enumerable: false, configurable: false });

  // `Proxy` and `Proxy.revocable` are the only ways to make a proxy, and a proxy cannot be recognised later. So each is registered.
  const proxies = new WeakSet(), RealProxy = Proxy, { revocable } = Proxy;
  const registerProxy = proxy => {
    addWeakMember(proxies, proxy);
    return proxy;
  };
  // Bound, because a bound function has no `prototype`, as `Proxy` has none.
  const RegisteringProxy = function (target, handler) {
    if (new.target === undefined) throw new TypeError("constructor requires 'new'");
    return registerProxy(new RealProxy(target, handler));
  }.bind();
  define(RegisteringProxy, "name", { value: "Proxy", writable: false, enumerable: false, configurable: true });
  define(RegisteringProxy, "revocable", {
    value: { revocable(target, handler) {
      const made = revocable(target, handler);
      registerProxy(made.proxy);
      return made;
    } }.revocable,
    writable: true, enumerable: false, configurable: true,
  });
  define(globalThis, "Proxy", { value: RegisteringProxy, writable: true, enumerable: false, configurable: true });
  const isProxy = value => isWeakMember(proxies, value);

  // ---- Bytes

  const list = () => setPrototypeOf([], null);

  let capacity = 1 << 16, out = new Bytes(capacity), size = 4, cap = 0;
  const reserve = count => {
    if (size + count <= capacity) return;
    capacity = (size + count) * 2;
    const larger = new Bytes(capacity);
    setBytes(larger, out);
    out = larger;
  };
  const doubleBytes = new Bytes(8), doubleView = new WordView(bufferOf(doubleBytes));
  const setDouble = uncurry(WordView.prototype.setFloat64), getDouble = uncurry(WordView.prototype.getFloat64);

  const putByte = byte => {
    if (size === capacity) reserve(1);
    out[size++] = byte;
  };
  const putWord = word => {
    if (size + 4 > capacity) reserve(4);
    const to = out, at = size;
    to[at] = word;
    to[at + 1] = word >> 8;
    to[at + 2] = word >> 16;
    to[at + 3] = word >> 24;
    size = at + 4;
  };
  /** Appends a string of code units below 256, one byte each. */
  const putLatin = text => {
    const count = text.length;
    reserve(count);
    if (count > 8) {
      fromBase64(new Bytes(bufferOf(out), size, count), btoa_(text));
    } else {
      for (let i = 0; i < count; i++) out[size + i] = charCode(text, i);
    }
    size += count;
  };
  const putBytes = (bytes, count) => {
    reserve(count);
    setBytes(out, bytes, size);
    size += count;
  };
  /** Encodes a string without lone surrogates as UTF-8, one code unit a byte. */
  const utf8 = text => {
    if (text.length < 6) {
      let i = 0;
      while (i < text.length && charCode(text, i) < 128) i++;
      if (i === text.length) return text;
    }
    return unescape_(encodeURI_(text));
  };
  /** Encodes a text as UTF-8 and cuts it to at most `most` bytes, between two characters. */
  const cut = (text, most) => {
    const encoded = utf8(toWellFormed(text.length > most ? substring(text, 0, most) : text));
    if (encoded.length <= most) return encoded;
    let end = most;
    while (end > 0 && (charCode(encoded, end) & 0xc0) === 0x80) end--;
    return substring(encoded, 0, end);
  };
  const toLatin = bytes => atob_(toBase64(bytes));
  const decodeText = bytes => {
    if (byteCount(bytes) > 100) {
      beginFrame("u");
      putBytes(bytes, byteCount(bytes));
      return toWellFormed(sendFrame());
    }
    const latin = toLatin(bytes);
    try {
      return decodeURI_(escape_(latin));
    } catch {
      return decodeInvalid(latin);
    }
  };
  /** Decodes invalid UTF-8, with U+FFFD for each invalid byte. */
  const decodeInvalid = latin => {
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

  const beginFrame = tag => {
    size = 4;
    putByte(charCode(tag, 0));
  };
  const sendFrame = () => {
    const end = size;
    size = 0;
    putWord(end - 4);
    return sendBytes(bufferOf(out));
  };
  // Frames of one byte that each job sends: their replies are short, or the job.
  const room = 1 << 16, box = new Bytes(room), boxBuffer = bufferOf(box);
  /** Sends a frame that is a tag. Returns the reply where it does not fit the box. */
  const sendTag = tag => {
    box[0] = 1;
    box[1] = box[2] = box[3] = 0;
    box[4] = tag;
    return sendBytes(boxBuffer);
  };
  const fetchTag = 74, doneTag = 68, runJobsTag = 126;
  const sendDone = () => { sendTag(doneTag); };
  const sendError = (tag, kind, message) => {
    beginFrame(tag);
    const name = cut(kind, 100);
    putByte(name.length);
    putLatin(name);
    putLatin(cut(message, 400));
    sendFrame();
  };
  const sendMessage = (tag, message) => {
    beginFrame(tag);
    putLatin(cut(message, 400));
    sendFrame();
  };

  // ---- Values. A number is an int if it is a safe integer and not -0, else a float.

  const maxDepth = 64, tooDeep = "nested too deep, or in itself", tooLarge = { __proto__: null }, unencodable = { __proto__: null };
  let reason = "";
  const refuse = what => {
    reason = what;
    throw unencodable;
  };

  /** Encodes a safe integer: tag, length, minimal little-endian two's complement. */
  const putInt = value => {
    if (size + 13 > capacity) reserve(13);
    const to = out, at = size + 5;
    to[at - 5] = 105;
    to[at - 3] = 0;
    to[at - 2] = 0;
    to[at - 1] = 0;
    let count;
    to[at] = value;
    if (value >= -128 && value < 128) count = value === 0 ? 0 : 1;
    else {
      to[at + 1] = value >> 8;
      if (value >= -32768 && value < 32768) count = 2;
      else {
        to[at + 2] = value >> 16;
        to[at + 3] = value >> 24;
        if (value >= -8388608 && value < 8388608) count = 3;
        else if (value >= -2147483648 && value < 2147483648) count = 4;
        else {
          const high = floor(value / 4294967296), sign = value < 0 ? 255 : 0;
          for (let i = 0; i < 4; i++) to[at + 4 + i] = high >> (8 * i);
          count = 8;
          while (to[at + count - 1] === sign && (to[at + count - 2] ^ sign) < 128) count--;
        }
      }
    }
    to[at - 4] = count;
    size = at + count;
  };
  const encodeBigInt = value => {
    if (value === 0n) return "";
    let hex = bigText(value < 0n ? -value - 1n : value, 16);
    // The top bit is the sign.
    if (hex.length % 2) hex = "0" + hex;
    else if (charCode(hex, 0) > 55) hex = "00" + hex;
    const bytes = new Bytes(hex.length / 2);
    fromHex(bytes, hex);
    reverse(bytes);
    if (value < 0n) for (let i = 0; i < hex.length / 2; i++) bytes[i] = ~bytes[i];
    return toLatin(bytes);
  };
  const encodeDouble = value => {
    if (value !== value) return "\0\0\0\0\0\0\xf8\x7f";
    setDouble(doubleView, 0, value, true);
    return fromCharCode(doubleBytes[0], doubleBytes[1], doubleBytes[2], doubleBytes[3], doubleBytes[4], doubleBytes[5], doubleBytes[6], doubleBytes[7]);
  };
  const isInt = value => isSafeInteger(value) && (value !== 0 || 1 / value > 0);
  const putCounted = (tag, latin) => {
    putByte(tag);
    putWord(latin.length);
    putLatin(latin);
  };
  const putPrimitive = value => {
    let encoded;
    switch (typeof value) {
      case "number":
        if (isInt(value)) return putInt(value);
        putByte(102);
        return putLatin(encodeDouble(value));
      case "string":
        if (value.length > cap) throw tooLarge;
        if (!isWellFormed(value)) refuse("a string with a lone surrogate");
        if (value.length < 100) return putCounted(115, utf8(value));
        encoded = new Bytes(sendText("e" + value));
        putByte(115);
        putWord(byteCount(encoded));
        return putBytes(encoded, byteCount(encoded));
      case "boolean":
        return putByte(value ? 84 : 70);
      case "bigint":
        return putCounted(105, encodeBigInt(value));
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
    if (prototype === bytesPrototype) return putByteArray(value);
    return refuse("an object of a class that has no encoding");
  };
  /** Whether reading `value` of a descriptor without one runs no code: `Object.prototype` has no such property. */
  let readsAreSafe = true;
  const readValue = found => {
    const value = readsAreSafe ? found.value : undefined;
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
      // A hole reads as undefined.
      if (found === undefined) {
        putByte(78);
        continue;
      }
      const item = readValue(found);
      if (isSafeInteger(item) && item !== 0) putInt(item);
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
      const value = readValue(found);
      if (!found.enumerable) refuse("an object with a hidden property");
      putPrimitive(key);
      put(value, depth);
    }
  };
  const kinds = { __proto__: null, number: 1, boolean: 2, bigint: 4, string: 8, undefined: 16, object: 32, function: 64, symbol: 64 };
  /** Rejects keys or members that are equal on the host, such as `1`, `1n` and `true`, or `null` and `undefined`. */
  const checkMembers = (forEach, members) => {
    let found = 0;
    forEach(members, (_, key) => {
      if (key !== null && typeof key === "object") refuse("a key of a Map or a member of a Set that is an object");
      found |= kinds[typeof key];
    });
    const numbers = found & 7;
    // Within one type no two are equal.
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
      encoded[encoded.length] = toLatin(new Bytes(bufferOf(out), start, size - start));
    });
    size = start;
    // By code units, that is by bytes.
    sort(encoded);
    for (let i = 0; i < count; i++) putLatin(encoded[i]);
  };
  const putByteArray = bytes => {
    let count;
    try {
      count = byteCount(bytes);
    } catch {
      refuse("an object of a class that has no encoding");
    }
    if (count > cap) throw tooLarge;
    putByte(98);
    putWord(count);
    putBytes(bytes, count);
  };

  /** Sends a returned value. */
  const sendValue = value => {
    try {
      beginFrame("V");
      readsAreSafe = describe(objectPrototype, "value") === undefined;
      put(value, 0);
      if (size - 5 > cap) throw tooLarge;
    } catch (thrown) {
      if (thrown === tooLarge) {
        beginFrame("O");
        sendFrame();
      } else {
        sendMessage("U", thrown === unencodable ? reason : "encoding it used up the stack or the memory");
      }
      return;
    }
    sendFrame();
  };

  // Arguments are decoded before the program runs.
  let request, at = 0;
  const readWord = () => {
    at += 4;
    return (request[at - 4] | (request[at - 3] << 8) | (request[at - 2] << 16) | (request[at - 1] << 24)) >>> 0;
  };
  const readBytes = count => {
    const taken = new Bytes(count);
    setBytes(taken, new Bytes(bufferOf(request), at, count));
    at += count;
    return taken;
  };
  const readString = () => {
    const count = readWord();
    let text = "", i = 0;
    if (count < 16) for (; i < count && request[at + i] < 128; i++) text += fromCharCode(request[at + i]);
    if (i < count) text = decodeText(new Bytes(bufferOf(request), at, count));
    at += count;
    return text;
  };
  const readInt = () => {
    const count = readWord();
    if (count === 0) return 0;
    const negative = request[at + count - 1] > 127;
    if (count < 7) {
      let value = 0;
      for (let i = count - 1; i >= 0; i--) value = value * 256 + request[at + i];
      at += count;
      return negative ? value - 256 ** count : value;
    }
    let value = 0n;
    for (let i = count - 1; i >= 0; i--) value = value * 256n + Big(request[at + i]);
    at += count;
    if (negative) value -= 1n << Big(8 * count);
    return value >= -9007199254740991n && value <= 9007199254740991n ? Num(value) : value;
  };
  const readItems = count => {
    const items = [];
    for (let i = 0; i < count; i++) items[i] = readValueFromHost();
    return items;
  };
  const readDict = count => {
    const items = readItems(count * 2);
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
  const readValueFromHost = () => {
    const tag = request[at++];
    switch (tag) {
      case 78: return null;
      case 84: return true;
      case 70: return false;
      case 102:
        for (let i = 0; i < 8; i++) doubleBytes[i] = request[at + i];
        at += 8;
        return getDouble(doubleView, 0, true);
      case 105: return readInt();
      case 115: return readString();
      case 98: return readBytes(readWord());
      case 108: case 116: return readItems(readWord());
      case 100: return readDict(readWord());
      case 83: case 90: {
        const items = readItems(readWord()), made = new NewSet();
        for (let i = 0; i < items.length; i++) addMember(made, items[i]);
        return made;
      }
    }
    throw new TypeError("an argument of a type that JavaScript does not have");
  };

  // ---- Errors. Their names and messages are read without running code of the program.

  /** The string in the nearest data property of that name, else an empty one. */
  const readText = (object, name) => {
    for (let i = 0; i < 16 && object !== null && !isProxy(object); i++) {
      const found = describe(object, name);
      if (found !== undefined) return hasOwn(found, "value") && typeof found.value === "string" ? found.value : "";
      object = prototypeOf(object);
    }
    return "";
  };
  const stackOf = uncurry(describe(Error.prototype, "stack").get);
  const showPrimitive = value => typeof value === "symbol" ? "a symbol" : typeof value === "bigint" ? bigText(value) : Str(value);
  const errorKind = thrown => {
    const isObject = (typeof thrown === "object" && thrown !== null) || typeof thrown === "function";
    // "Thrown" is for what is no error, as in `throw 3`.
    return (isObject && readText(thrown, "name")) || (isErrorObject(thrown) ? "Error" : "Thrown");
  };
  const errorMessage = thrown => {
    if (typeof thrown === "string") return thrown;
    const isObject = (typeof thrown === "object" && thrown !== null) || typeof thrown === "function";
    return isObject ? readText(thrown, "message") : showPrimitive(thrown);
  };
  /** Writes an error with its stack to standard error, for people. */
  const reportError = thrown => {
    let text = errorKind(thrown) + ": " + errorMessage(thrown);
    if (isErrorObject(thrown) && !isProxy(thrown)) {
      try {
        const stack = stackOf(thrown);
        if (typeof stack === "string") {
          const own = indexOf(stack, "(harness.js");
          text += "\n" + (own < 0 ? stack : substring(stack, 0, own - "    at <anonymous> ".length));
        }
      } catch {}
    }
    sendText("2Uncaught " + substring(toWellFormed(text), 0, 4000) + "\n");
  };

  // ---- Turns

  const parameters = "exports, require, module, __filename, __dirname";
  // At the end, so that the program's directives stay first. A program that returns early has no lookup function, only exports.
  const ending = "\n;return $veriplay => eval($veriplay)\n}";
  const compile = (source, looksUp) => {
    if (charCode(source, 0) === 0xfeff) source = substring(source, 1);
    if (charCode(source, 0) === 35 && charCode(source, 1) === 33) source = "//" + source;
    if (translate !== undefined) {
      try {
        source = translate(source);
      } catch (error) {
        const message = errorKind(error) + ": " + errorMessage(error);
        sendMessage("C", message);
        sendText("2" + toWellFormed(message) + "\n");
        return undefined;
      }
    }
    const text = "function (" + parameters + ") {" + source + (looksUp ? ending : "\n}");
    let made;
    try {
      // Not in parentheses: the parser would read them twice, once in search of an arrow.
      made = evaluate("0," + text);
    } catch (error) {
      sendMessage("C", errorKind(error) + ": " + errorMessage(error));
      reportError(error);
      return undefined;
    }
    // A text that closes the function early can run code in this turn. It is rejected, and the host discards the state.
    if (typeof made !== "function" || sourceOf(made) !== text) {
      sendMessage("C", "SyntaxError: a brace closes what the program did not open");
      return undefined;
    }
    return made;
  };

  /** The part of the job that runs, for `process.exit`. */
  let stage = "module", resultsDue = 0, isScript = false;
  const node = makeNode({
    apply, describe, prototypeOf, ownKeys, define, uncurry, hasOwn, isArray, isProxy, list, Bytes, byteCount, setBytes, bufferOf, utf8, toLatin,
    decodeText, toWellFormed, substring, charCode, indexOf, bigText, readText, stackOf, isErrorObject, sourceOf, toBase64, fromBase64, btoa: btoa_, pairCount,
    memberCount, forEachPair, forEachMember,
    write: (descriptor, text) => { sendText((descriptor === 2 ? "2" : "1") + text); },
    writeBytes: (descriptor, bytes) => {
      beginFrame(descriptor === 2 ? "2" : "1");
      putBytes(bytes, byteCount(bytes));
      sendFrame();
    },
    readInput: () => new Bytes(sendText("0")),
    readFile: path => {
      const reply = new Bytes(sendText("f" + path));
      return reply[0] === 49 ? new Bytes(bufferOf(reply), 1) : undefined;
    },
    sleep: nanoseconds => {
      beginFrame("z");
      putLatin(encodeDouble(nanoseconds));
      sendFrame();
    },
    /** Runs the pending jobs of promises. Throws the reason of an unhandled rejection. */
    runJobs: () => {
      sendTag(runJobsTag);
      if (box[4] === 49) throw sendText("?");
    },
    exit: code => {
      if (stage === "module") {
        if (code !== 0 || !isScript) sendError("R", "SystemExit", numberText(code));
      } else {
        for (; resultsDue > 0; resultsDue--) sendError("X", "SystemExit", numberText(code));
      }
      sendDone();
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
  /** Awaits a value if it is a promise; throws the reason of its rejection. Runs the event loop in any case. */
  const awaitValue = value => {
    let state = "";
    if (isPromise(value)) {
      try {
        // So that `then` consults neither the constructor nor a species. For a frozen promise it does, which gives the program nothing.
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
    if (state === "") throw new UnsettledPromise("the promise that was returned is never settled");
    if (state === "broken") throw value;
    return value;
  };
  const UnsettledPromise = class Error extends TypeError {};
  define(UnsettledPromise.prototype, "name", { value: "UnsettledPromise" });

  const identifierPart = code => (code > 96 && code < 123) || (code > 64 && code < 91) || (code > 47 && code < 58) || code === 95 || code === 36 || code > 127;
  const isIdentifier = name => {
    for (let i = 0; i < name.length; i++) if (!identifierPart(charCode(name, i))) return false;
    return name.length > 0 && (charCode(name, 0) < 48 || charCode(name, 0) > 57);
  };
  const isObject = value => (typeof value === "object" && value !== null) || typeof value === "function";
  /** Finds a binding of the top level, else an export of that name, else an exported function. */
  const findBinding = (name, lookUp, module) => {
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
  /** Resolves the entry to [function, this]. */
  const resolveEntry = (entry, lookUp, module) => {
    if (entry === "module.exports") return [module.exports, undefined];
    const prefix = "module.exports.";
    const name = indexOf(entry, prefix) === 0 ? substring(entry, prefix.length) : entry;
    const dot = indexOf(name, ".");
    if (dot < 0) return [findBinding(name, lookUp, module), undefined];
    const owner = findBinding(substring(name, 0, dot), lookUp, module);
    if (!isObject(owner)) return [undefined, undefined];
    const made = typeof owner === "function" ? construct(owner, []) : owner;
    return [isObject(made) ? made[substring(name, dot + 1)] : undefined, made];
  };

  const callAll = (entry, lists, lookUp, module) => {
    let found;
    try {
      found = resolveEntry(entry, lookUp, module);
    } catch (error) {
      sendError("R", errorKind(error), errorMessage(error));
      return;
    }
    const called = found[0], self = found[1];
    if (typeof called !== "function") return sendMessage("M", "`" + entry + "` is not defined, or not callable");
    stage = "calls";
    for (let i = 0; i < lists.length; i++) {
      let value, failed = false;
      try {
        value = awaitValue(apply(called, self, lists[i]));
      } catch (error) {
        failed = true;
        value = error;
      }
      resultsDue -= 1;
      if (failed) sendError("X", errorKind(value), errorMessage(value));
      else sendValue(value);
    }
  };

  let program;
  return () => {
    const sent = sendTag(fetchTag);
    stage = "module";
    if (typeof sent === "string") {
      program = compile(sent, box[4] === 75);
      sendDone();
      return;
    }
    request = box;
    at = 4;
    if (sent !== undefined) {
      request = new Bytes(sent);
      at = 0;
    }
    isScript = request[at++] === 83;
    node.seed(readWord(), readWord());
    cap = readWord();
    let entry = "";
    const lists = list();
    if (!isScript) {
      entry = readString();
      resultsDue = readWord();
      for (let i = 0; i < resultsDue; i++) lists[i] = readValueFromHost();
    }
    const run = program;
    program = request = undefined;
    const module = node.openModule(isScript);
    let lookUp, failed = false;
    try {
      lookUp = apply(run, module.exports, [module.exports, module.require, module, "/work/program.js", "/work"]);
      node.runUntil(() => false);
      if (isScript) node.emitExit();
    } catch (error) {
      failed = true;
      node.flush();
      sendError("R", errorKind(error), errorMessage(error));
      reportError(error);
    }
    if (!failed && !isScript) callAll(entry, lists, lookUp, module);
    node.flush();
    if (isScript && !failed && node.exitCode() !== 0) sendError("R", "SystemExit", numberText(node.exitCode()));
    sendDone();
  };
})
