// Seeds of runs in JavaScript: programs, each with a call of it in the last line.

function f(text, count) {
  return text.repeat(count) + "!";
}
// f("ab", 2)

function f(numbers) {
  return numbers.filter((n) => n % 2 === 0).map((n) => n * n);
}
// f([1, 2, 3, 4, 6])

function f(text) {
  return [...text].reverse().join("") + text.length;
}
// f("hello")

function f(a, b) {
  while (b !== 0) {
    [a, b] = [b, a % b];
  }
  return a * 10;
}
// f(48, 18)

function f(words) {
  const counts = {};
  for (const word of words) {
    counts[word] = (counts[word] || 0) + 1;
  }
  return counts;
}
// f(["red", "blue", "red"])

function f(matrix, factor) {
  return matrix.map((row) => row.reduce((sum, n) => sum + n * factor, 0));
}
// f([[1, 2], [3, 4]], 3)

function f(record, key) {
  const found = Object.keys(record).filter((name) => record[name] > key);
  return found.sort().concat([String(key)]);
}
// f({ten: 10, two: 2, six: 6}, 4)

function f(n) {
  const steps = [];
  while (n > 1 && steps.length < 12) {
    n = n % 2 === 0 ? n / 2 : 3 * n + 1;
    steps.push(n);
  }
  return steps;
}
// f(6)
