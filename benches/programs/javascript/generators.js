function* primes() {
  const factors = new Map();
  for (let n = 2; ; n++) {
    const factor = factors.get(n);
    if (factor === undefined) {
      factors.set(n * n, n);
      yield n;
      continue;
    }
    factors.delete(n);
    let next = n + factor;
    while (factors.has(next)) next += factor;
    factors.set(next, factor);
  }
}
let sum = 0, count = 0;
for (const prime of primes()) {
  sum += prime;
  if (++count === 12000) break;
}
console.log(sum);
