const n = 500;
const distance = Array.from({ length: n }, () => new Array(n).fill(-1));
const isWall = (r, c) => (r * 7919 + c * 104729) % 11 === 3;
const open = [[0, 0]];
distance[0][0] = 0;
for (let at = 0; at < open.length; at++) {
  const [r, c] = open[at];
  for (const [dr, dc] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
    const a = r + dr, b = c + dc;
    if (a < 0 || b < 0 || a >= n || b >= n || isWall(a, b) || distance[a][b] >= 0) continue;
    distance[a][b] = distance[r][c] + 1;
    open.push([a, b]);
  }
}
console.log(distance.flat().reduce((sum, d) => sum + d, 0));
