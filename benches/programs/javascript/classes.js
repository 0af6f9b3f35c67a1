class Point {
  constructor(x, y) {
    this.x = x;
    this.y = y;
  }
  add(other) {
    return new Point(this.x + other.x, this.y - other.y);
  }
  get length() {
    return Math.hypot(this.x, this.y);
  }
}
let point = new Point(0, 0);
const step = new Point(1, 2);
for (let i = 0; i < 700000; i++) point = point.add(step);
console.log(point.length.toFixed(3));
