const n = 110;
const a = Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i * 31 + j * 17) % 101));
const c = a.map(() => new Array(n).fill(0));
for (let i = 0; i < n; i++)
  for (let j = 0; j < n; j++) {
    let sum = 0;
    for (let k = 0; k < n; k++) sum += a[i][k] * a[k][j];
    c[i][j] = sum;
  }
console.log(c[3][4], c.flat().reduce((x, y) => x ^ y));
