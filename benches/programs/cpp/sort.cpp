#include <bits/stdc++.h>
using namespace std;
int main() {
    vector<pair<int, int>> pairs;
    vector<int> values;
    unsigned x = 3;
    for (int i = 0; i < 2000000; i++) {
        x = x * 1664525u + 1013904223u;
        values.push_back(x >> 3);
        if (i % 2) pairs.push_back({(int)(x >> 20), i});
    }
    sort(values.begin(), values.end());
    stable_sort(pairs.begin(), pairs.end(), [](auto& a, auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
    cout << values[1000] << " " << pairs[1000].second << "\n";
}
