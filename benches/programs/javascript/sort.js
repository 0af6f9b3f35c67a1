const values = Array.from({ length: 120000 }, (_, i) => (i * 7919) % 100003);
const pairs = values.map((value, at) => ({ value, at }));
values.sort((a, b) => a - b);
pairs.sort((a, b) => b.value - a.value || a.at - b.at);
console.log(values[1000], pairs[1000].at);
