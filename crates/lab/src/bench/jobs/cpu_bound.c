#include <stdio.h>

enum { LIMIT = 8000000, STARTS = 1000000, CELLS = 4096, STEPS = 80000000 };
static char composite[LIMIT];
static unsigned cells[CELLS];

int main(void) {
    int primes = 0, longest = 0;
    for (int n = 2; n < LIMIT; n++) {
        if (composite[n]) continue;
        primes++;
        for (int multiple = 2 * n; multiple < LIMIT; multiple += n) composite[multiple] = 1;
    }
    for (int start = 1; start < STARTS; start++) {
        int steps = 0;
        for (long long n = start; n != 1; steps++) n = n % 2 ? 3 * n + 1 : n / 2;
        if (steps > longest) longest = steps;
    }
    unsigned state = 7;
    for (int step = 0; step < STEPS; step++) {
        state = state * 1103515245u + 12345u;
        cells[state >> 20] += state ^ cells[step % CELLS];
    }
    printf("%d %d %u\n", primes, longest, cells[0] ^ cells[CELLS - 1]);
}
