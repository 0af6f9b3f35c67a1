type Sale = { count: number; sum: number };
enum Size { Orders = 500, Shown = 5 }

class Lcg {
  constructor(private state: number) {}

  next(): number {
    this.state = (Math.imul(this.state, 1103515245) + 12345) >>> 0;
    return this.state;
  }
}

const [orders, random]: [string[], Lcg] = [[], new Lcg(7)];
for (let n = 0; n < Size.Orders; n++) {
  const drawn = random.next();
  orders.push(`item${(drawn >>> 16) % 40} ${(drawn >>> 8) % 100}`);
}
const sales = new Map<string, Sale>();
for (const line of orders.join('\n').split('\n')) {
  const [item, price] = line.split(' ') as [string, string];
  const sale: Sale = sales.get(item) ?? { count: 0, sum: 0 };
  sale.count++;
  sale.sum += Number(price);
  sales.set(item, sale);
}
const ranking = [...sales].sort(([a, one], [b, other]) => other.sum - one.sum || (a < b ? -1 : 1));
for (const [item, { count, sum }] of ranking.slice(0, Size.Shown)) console.log(item, count, sum);
