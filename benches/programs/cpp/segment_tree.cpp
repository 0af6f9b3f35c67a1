#include <bits/stdc++.h>
using namespace std;
struct Tree {
    int n;
    vector<long long> sum, lazy;
    explicit Tree(int n) : n(n), sum(4 * n), lazy(4 * n) {}
    void add(int node, int from, int to, int a, int b, long long value) {
        if (b < from || to < a) return;
        if (a <= from && to <= b) {
            sum[node] += value * (to - from + 1);
            lazy[node] += value;
            return;
        }
        push(node, from, to);
        int middle = (from + to) / 2;
        add(2 * node, from, middle, a, b, value);
        add(2 * node + 1, middle + 1, to, a, b, value);
        sum[node] = sum[2 * node] + sum[2 * node + 1];
    }
    long long query(int node, int from, int to, int a, int b) {
        if (b < from || to < a) return 0;
        if (a <= from && to <= b) return sum[node];
        push(node, from, to);
        int middle = (from + to) / 2;
        return query(2 * node, from, middle, a, b) + query(2 * node + 1, middle + 1, to, a, b);
    }
    void push(int node, int from, int to) {
        if (!lazy[node]) return;
        int middle = (from + to) / 2;
        sum[2 * node] += lazy[node] * (middle - from + 1), lazy[2 * node] += lazy[node];
        sum[2 * node + 1] += lazy[node] * (to - middle), lazy[2 * node + 1] += lazy[node];
        lazy[node] = 0;
    }
};
int main() {
    const int n = 200000;
    Tree tree(n);
    long long total = 0;
    for (int i = 0; i < 250000; i++) {
        int a = i * 7919LL % n, b = i * 104729LL % n;
        if (a > b) swap(a, b);
        tree.add(1, 0, n - 1, a, b, i % 13);
        total ^= tree.query(1, 0, n - 1, a / 2, b);
    }
    cout << total << "\n";
}
