#include <bits/stdc++.h>
using namespace std;
int main() {
    const int n = 420, mod = 1000000007;
    vector<vector<long long>> a(n, vector<long long>(n)), c = a;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) a[i][j] = i * 31 + j * 17;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) c[i][j] = (c[i][j] + a[i][k] * a[k][j]) % mod;
    long long sum = 0;
    for (auto& row : c)
        for (long long x : row) sum ^= x;
    cout << sum << "\n";
}
