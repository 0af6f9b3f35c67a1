let best = 0, at = 0;
for (let start = 1; start < 40000; start++) {
  let x = start, steps = 0;
  while (x !== 1) {
    x = x % 2 ? 3 * x + 1 : x / 2;
    steps++;
  }
  if (steps > best) [best, at] = [steps, start];
}
console.log(at, best);
