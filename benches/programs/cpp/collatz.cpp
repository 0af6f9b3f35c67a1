#include <cstdio>
int main() {
    int best = 0, at = 0;
    for (int start = 1; start < 3000000; start++) {
        long long x = start;
        int steps = 0;
        while (x != 1) {
            x = x % 2 ? 3 * x + 1 : x / 2;
            steps++;
        }
        if (steps > best) best = steps, at = start;
    }
    printf("%d %d\n", at, best);
}
