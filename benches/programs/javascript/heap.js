const heap = [];
const push = (value) => {
  let at = heap.push(value) - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (heap[parent] <= heap[at]) break;
    [heap[parent], heap[at]] = [heap[at], heap[parent]];
    at = parent;
  }
};
const pop = () => {
  const least = heap[0], last = heap.pop();
  if (heap.length) {
    heap[0] = last;
    for (let at = 0; ;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1] < heap[child]) child++;
      if (heap[at] <= heap[child]) break;
      [heap[child], heap[at]] = [heap[at], heap[child]];
      at = child;
    }
  }
  return least;
};
for (let i = 0; i < 100000; i++) push((i * 7919) % 100003);
let sum = 0;
for (let i = 0; i < 60000; i++) sum += pop();
console.log(sum);
