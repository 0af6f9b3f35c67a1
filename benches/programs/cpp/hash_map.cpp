#include <bits/stdc++.h>
using namespace std;
int main() {
    unordered_map<long long, int> counts;
    long long x = 1, best = 0;
    for (int i = 0; i < 3000000; i++) {
        x = x * 48271 % 2147483647;
        best = max<long long>(best, ++counts[x % 700001]);
    }
    cout << counts.size() << " " << best << "\n";
}
