let best = 0;
const search = (order, used, sum) => {
  if (order.length === 8) {
    best = Math.max(best, sum);
    return;
  }
  for (let i = 0; i < 8; i++) {
    if (used & (1 << i)) continue;
    order.push(i);
    search(order, used | (1 << i), sum + i * ((order.length * 7) % 11));
    order.pop();
  }
};
search([], 0, 0);
console.log(best);
