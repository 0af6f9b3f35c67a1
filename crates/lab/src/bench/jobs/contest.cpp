#include <bits/stdc++.h>
using namespace std;

int main() {
    ios::sync_with_stdio(false);
    stringstream orders;
    unsigned state = 7;
    for (int n = 0; n < 500; n++) {
        state = state * 1103515245u + 12345u;
        orders << "item" << (state >> 16) % 40 << ' ' << (state >> 8) % 100 << '\n';
    }
    map<string, pair<int, long long>> sales;
    string item;
    for (int price; orders >> item >> price;) {
        auto& [count, sum] = sales[item];
        count++;
        sum += price;
    }
    vector<pair<long long, string>> ranking;
    for (const auto& [name, sale] : sales) ranking.push_back({-sale.second, name});
    sort(ranking.begin(), ranking.end());
    for (int place = 0; place < 5; place++) {
        const auto& [sum, name] = ranking[place];
        cout << name << ' ' << sales[name].first << ' ' << -sum << '\n';
    }
}
