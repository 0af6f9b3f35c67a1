#include <bits/stdc++.h>
using namespace std;
int main() {
    map<int, long long> ordered;
    set<pair<int, int>> pairs;
    unsigned x = 5;
    for (int i = 0; i < 700000; i++) {
        x = x * 1664525u + 1013904223u;
        ordered[x % 200003] += i;
        pairs.insert({(int)(x >> 16), i});
        if (pairs.size() > 1000) pairs.erase(pairs.begin());
    }
    long long sum = 0;
    for (auto& [key, value] : ordered) sum ^= key * value;
    cout << sum << " " << pairs.begin()->first << "\n";
}
