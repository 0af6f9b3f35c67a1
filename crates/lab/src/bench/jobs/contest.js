const orders = [];
let state = 7;
for (let n = 0; n < 500; n++) {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  orders.push(`item${(state >>> 16) % 40} ${(state >>> 8) % 100}`);
}
const sales = new Map();
for (const line of orders.join('\n').split('\n')) {
  const [item, price] = line.split(' ');
  const sale = sales.get(item) ?? { count: 0, sum: 0 };
  sale.count++;
  sale.sum += Number(price);
  sales.set(item, sale);
}
const ranking = [...sales].sort(([a, one], [b, other]) => other.sum - one.sum || (a < b ? -1 : 1));
for (const [item, { count, sum }] of ranking.slice(0, 5)) console.log(item, count, sum);
