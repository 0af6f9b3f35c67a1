const rows = Array.from({ length: 25000 }, (_, id) => ({ id, tags: ['a', 'b'], value: id / 3 }));
let text = JSON.stringify(rows);
for (let i = 0; i < 3; i++) text = JSON.stringify(JSON.parse(text));
console.log(text.length);
