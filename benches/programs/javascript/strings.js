const words = 'the quick brown fox jumps over the lazy dog '.repeat(15000).trim().split(' ');
const counts = {};
for (const word of words) counts[word] = (counts[word] || 0) + 1;
const turned = words.map((word) => [...word].reverse().join('').toUpperCase());
console.log(counts.the, turned.join('-').length, `${words[1]}${turned[2]}`);
