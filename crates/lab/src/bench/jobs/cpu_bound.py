def collatz(limit):
    best = 0
    for start in range(1, limit):
        n, steps = start, 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        best = max(best, steps)
    return best

def primes(limit):
    sieve = [True] * limit
    for n in range(2, limit):
        if sieve[n]:
            for multiple in range(n * n, limit, n):
                sieve[multiple] = False
    return sum(sieve) - 2

def words(count):
    seen = {}
    for n in range(count):
        word = 'w' + str(n * n % 1009)
        seen[word] = seen.get(word, 0) + len(word)
    return sorted(seen.items())[-1]

assert collatz(30000) == 307
assert primes(1000000) == 78498
assert words(1000000) == ('w999', 7928)
