const total = Array.from({ length: 300000 }, (_, i) => i)
  .map((x) => x * 3)
  .filter((x) => x % 2 === 0)
  .map((x) => ({ x, square: x * x }))
  .reduce((sum, { x, square }) => (sum + square - x) % 1000003, 0);
console.log(total);
