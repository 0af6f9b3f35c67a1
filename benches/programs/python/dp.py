a, b = 'ab' * 500, 'aab' * 333
row = [0] * (len(b) + 1)
for x in a:
    last = row
    row = [0]
    for j, y in enumerate(b):
        row.append(last[j] + 1 if x == y else max(last[j + 1], row[j]))
print(row[-1])
