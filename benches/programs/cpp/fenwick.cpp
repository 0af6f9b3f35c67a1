#include <bits/stdc++.h>
using namespace std;
int main() {
    const int n = 1000000;
    vector<long long> tree(n + 1);
    long long sum = 0;
    unsigned x = 7;
    for (int i = 0; i < 4000000; i++) {
        x = x * 1103515245u + 12345u;
        int at = x % n + 1;
        for (int k = at; k <= n; k += k & -k) tree[k] += i;
        for (int k = at / 2; k > 0; k -= k & -k) sum += tree[k];
    }
    cout << sum << "\n";
}
