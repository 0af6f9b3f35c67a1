const text = 'a1b22c333 '.repeat(25000);
const numbers = text.match(/\d+/g).map(Number);
console.log(numbers.reduce((x, y) => x + y), text.replace(/([a-z])(\d)/g, '$2$1').length);
