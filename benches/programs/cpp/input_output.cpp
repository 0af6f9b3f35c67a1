#include <bits/stdc++.h>
using namespace std;
int main() {
    ios::sync_with_stdio(false);
    cin.tie(nullptr);
    stringstream text;
    for (int i = 0; i < 1000000; i++) text << (i * 7919LL) % 1000003 << (i % 10 ? ' ' : '\n');
    long long sum = 0, value;
    while (text >> value) sum += value;
    for (int i = 0; i < 1000000; i++) cout << (sum + i) % 1000 << '\n';
}
