#include <cstdio>
int place(int n, int columns, int left, int right) {
    if (columns == (1 << n) - 1) return 1;
    int found = 0;
    for (int free = ((1 << n) - 1) & ~(columns | left | right); free; free &= free - 1) {
        int bit = free & -free;
        found += place(n, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return found;
}
int main() { printf("%d\n", place(14, 0, 0, 0)); }
