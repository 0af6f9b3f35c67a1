#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sale {
    char name[16];
    int count, sum;
};

static int by_sum(const void *a, const void *b) {
    const struct sale *one = a, *other = b;
    if (one->sum != other->sum) return one->sum < other->sum ? 1 : -1;
    return strcmp(one->name, other->name);
}

int main(void) {
    static struct sale sales[40];
    static char orders[500][32];
    int known = 0;
    unsigned state = 7;
    for (int n = 0; n < 500; n++) {
        state = state * 1103515245u + 12345u;
        snprintf(orders[n], sizeof orders[n], "item%u %u", (state >> 16) % 40, (state >> 8) % 100);
    }
    for (int n = 0; n < 500; n++) {
        char name[16];
        int price, at = 0;
        if (sscanf(orders[n], "%15s %d", name, &price) != 2) return 1;
        while (at < known && strcmp(sales[at].name, name) != 0) at++;
        if (at == known) strcpy(sales[known++].name, name);
        sales[at].count++;
        sales[at].sum += price;
    }
    qsort(sales, known, sizeof sales[0], by_sum);
    for (int place = 0; place < 5; place++) printf("%s %d %d\n", sales[place].name, sales[place].count, sales[place].sum);
}
