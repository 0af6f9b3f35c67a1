#include <bits/stdc++.h>
using namespace std;
int parent[4000000];
int find(int x) { return parent[x] == x ? x : parent[x] = find(parent[x]); }
int main() {
    const int n = 4000000;
    iota(parent, parent + n, 0);
    int sets = n;
    unsigned x = 11;
    for (int i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u;
        int a = find(x % n), b = find(i);
        if (a != b) parent[a] = b, sets--;
    }
    printf("%d\n", sets);
}
