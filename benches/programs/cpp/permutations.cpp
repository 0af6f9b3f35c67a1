#include <bits/stdc++.h>
using namespace std;
int main() {
    vector<int> order(11);
    iota(order.begin(), order.end(), 0);
    int best = 0;
    do {
        int sum = 0;
        for (int i = 0; i < 11; i++) sum += order[i] * (i * 7 % 11);
        best = max(best, sum);
    } while (next_permutation(order.begin(), order.end()));
    cout << best << "\n";
}
