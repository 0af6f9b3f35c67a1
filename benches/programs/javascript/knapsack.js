const best = new Array(20001).fill(0);
for (let weight = 1; weight < 70; weight++) {
  for (let room = 20000; room >= weight; room--) {
    best[room] = Math.max(best[room], best[room - weight] + ((weight * weight) % 97));
  }
}
console.log(best[20000]);
