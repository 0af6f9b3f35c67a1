const LIMIT = 1000000, STARTS = 30000, CELLS = 4096, STEPS = 8000000;
const composite = new Uint8Array(LIMIT);
let primes = 0, longest = 0;
for (let n = 2; n < LIMIT; n++) {
  if (composite[n]) continue;
  primes++;
  for (let multiple = 2 * n; multiple < LIMIT; multiple += n) composite[multiple] = 1;
}
for (let start = 1; start < STARTS; start++) {
  let steps = 0;
  for (let n = start; n !== 1; steps++) n = n % 2 ? 3 * n + 1 : n / 2;
  if (steps > longest) longest = steps;
}
const cells = new Uint32Array(CELLS);
let state = 7;
for (let step = 0; step < STEPS; step++) {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  cells[state >>> 20] += state ^ cells[step % CELLS];
}
console.log(primes, longest, (cells[0] ^ cells[CELLS - 1]) >>> 0);
