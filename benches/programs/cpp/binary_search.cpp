#include <bits/stdc++.h>
using namespace std;
int main() {
    vector<int> sorted(1 << 20);
    for (size_t i = 0; i < sorted.size(); i++) sorted[i] = 3 * i;
    long long sum = 0;
    unsigned x = 1;
    for (int i = 0; i < 6'000'000; i++) {
        x = x * 1664525u + 1013904223u;
        sum += lower_bound(sorted.begin(), sorted.end(), (int)(x >> 10)) - sorted.begin();
    }
    cout << sum << "\n";
}
