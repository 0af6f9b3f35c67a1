const counts = new Map(), byName = {};
for (let i = 0; i < 400000; i++) {
  const key = (i * 7919) % 10007;
  counts.set(key, (counts.get(key) ?? 0) + 1);
  const name = 'k' + (key % 1009);
  byName[name] = (byName[name] || 0) + key;
}
console.log(counts.size, Object.keys(byName).length, byName.k5);
