print(sum([i * i for i in range(3_000_000)]))
