// Takes the types out of a program. The host evaluates this file before the snapshot and calls its value with the sources of sucrase's modules, by
// path; the harness calls what that returns with each program, before the program runs.
(function (sources) {
  "use strict";
  const evaluate = eval, modules = { __proto__: null };
  // What checks options, makes source maps and prints tokens: it needs other packages, and we need none of it.
  modules["Options.js"] = { validateOptions() {} };
  modules["computeSourceMap.js"] = modules["util/formatTokens.js"] = {};
  const resolve = (from, name) => {
    const parts = from.split("/").slice(0, -1);
    for (const part of name.split("/")) {
      if (part === "..") parts.pop();
      else if (part !== ".") parts.push(part);
    }
    const path = parts.join("/");
    return [path + ".js", path + "/index.js"].find(file => file in modules || file in sources);
  };
  const load = path => {
    if (path in modules) return modules[path];
    const made = evaluate("(function (exports, require) {" + sources[path] + "\n})");
    made(modules[path] = {}, name => load(resolve(path, name)));
    return modules[path];
  };
  const { transform } = load("index.js");
  const { ContextualKeyword: words } = load("parser/tokenizer/keywords.js"), { TokenType: types } = load("parser/tokenizer/types.js");

  // sucrase leaves namespaces out, and their names would be missing when the program runs.
  const parser = load("parser/index.js"), { parse } = parser, { locationForIndex } = load("parser/traverser/base.js");
  const isSpace = token => token.contextualKeyword === words._namespace || token.contextualKeyword === words._module;
  const isAmbient = (token, next) => token.type === types._declare && (isSpace(next) || next.contextualKeyword === words._global);
  const blockEnd = (tokens, at) => {
    for (let depth = 0; at < tokens.length; at++) {
      if (tokens[at].type === types.braceL) depth++;
      else if (tokens[at].type === types.braceR && --depth === 0) break;
    }
    return at;
  };
  const isNamed = (name, next) => name.isType && name.type === types.name && (next.type === types.braceL || next.type === types.dot);
  const findNamespace = tokens => {
    for (let i = 0; i + 2 < tokens.length; i++) {
      const first = tokens[i];
      if (isAmbient(first, tokens[i + 1])) i = blockEnd(tokens, i);
      else if (first.isType && isSpace(first) && isNamed(tokens[i + 1], tokens[i + 2])) return first;
    }
    return undefined;
  };
  parser.parse = (...given) => {
    const parsed = parse(...given), found = findNamespace(parsed.tokens);
    if (found === undefined) return parsed;
    const { line, column } = locationForIndex(found.start);
    throw new SyntaxError("a namespace: only `declare namespace` is supported (" + line + ":" + column + ")");
  };

  // Fields stay fields, except where a constructor has parameter properties: there TypeScript's fields may use them.
  const classes = load("util/getClassInfo.js"), { default: describe } = classes;
  classes.default = (transformer, tokens, names) => {
    const found = describe(transformer, tokens, names, true);
    return found.constructorInitializerStatements.length > 0 ? describe(transformer, tokens, names, false) : found;
  };

  const options = { transforms: ["typescript", "imports"], disableESTransforms: true };
  return program => transform(program, options).code;
})
