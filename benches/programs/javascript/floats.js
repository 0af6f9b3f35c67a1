let sum = 0;
for (let i = 1; i < 1500000; i++) sum += Math.sqrt(i) / (1 + Math.abs(Math.sin(i * 1e-3)));
console.log(sum.toFixed(6));
