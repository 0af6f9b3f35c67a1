n = 110
a = [[i * j % 7 for j in range(n)] for i in range(n)]
c = [[sum(a[i][k] * a[k][j] for k in range(n)) for j in range(n)] for i in range(n)]
print(c[3][4])
