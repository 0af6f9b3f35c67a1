print(sum(pow(3, i, 998_244_353) for i in range(300_000)))
