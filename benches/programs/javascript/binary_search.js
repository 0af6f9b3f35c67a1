const sorted = Array.from({ length: 1 << 18 }, (_, i) => 3 * i);
const lowerBound = (values, wanted) => {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
};
let sum = 0;
for (let i = 0; i < 150000; i++) sum += lowerBound(sorted, (i * 7919) % 786432);
console.log(sum);
