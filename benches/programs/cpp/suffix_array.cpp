#include <bits/stdc++.h>
using namespace std;
int main() {
    string text;
    for (int i = 0; i < 200000; i++) text += 'a' + (1LL * i * i / 7) % 3;
    int n = text.size();
    vector<int> order(n), rank(n), next(n);
    iota(order.begin(), order.end(), 0);
    for (int i = 0; i < n; i++) rank[i] = text[i];
    for (int k = 1;; k *= 2) {
        auto key = [&](int i) { return make_pair(rank[i], i + k < n ? rank[i + k] : -1); };
        sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
        next[order[0]] = 0;
        for (int i = 1; i < n; i++) next[order[i]] = next[order[i - 1]] + (key(order[i - 1]) < key(order[i]));
        rank = next;
        if (rank[order[n - 1]] == n - 1 || k > n) break;
    }
    long long sum = 0;
    for (int i = 0; i < n; i++) sum += 1LL * i * order[i] % 1000007;
    cout << sum << "\n";
}
