#include <bits/stdc++.h>
using namespace std;
int main() {
    const int n = 400000;
    vector<vector<pair<int, int>>> graph(n);
    for (int i = 0; i < n; i++)
        for (int k : {1, 3, 7, 1001}) graph[i].push_back({(int)((i * 7LL + k) % n), i % 97 * k % 101 + 1});
    vector<long long> distance(n, LLONG_MAX);
    priority_queue<pair<long long, int>, vector<pair<long long, int>>, greater<>> open;
    distance[0] = 0;
    open.push({0, 0});
    while (!open.empty()) {
        auto [d, u] = open.top();
        open.pop();
        if (d > distance[u]) continue;
        for (auto [v, w] : graph[u])
            if (d + w < distance[v]) {
                distance[v] = d + w;
                open.push({distance[v], v});
            }
    }
    long long sum = 0;
    for (long long d : distance)
        if (d < LLONG_MAX) sum += d;
    cout << sum << "\n";
}
