let a = '', b = '';
for (let i = 0; i < 1000; i++) {
  a += 'abcdefg'[(i * i) % 7];
  b += 'abcdefg'[(i * 3) % 7];
}
let last = Array.from({ length: b.length + 1 }, (_, j) => j);
for (let i = 1; i <= a.length; i++) {
  const row = [i];
  for (let j = 1; j <= b.length; j++) {
    row.push(Math.min(row[j - 1] + 1, last[j] + 1, last[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)));
  }
  last = row;
}
console.log(last[b.length]);
