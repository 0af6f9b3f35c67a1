let product = 1n;
for (let i = 1n; i < 4000n; i++) product *= i;
console.log(product.toString().length, String(product % 1000000007n));
