#include <bits/stdc++.h>
using namespace std;
int main() {
    string a, b;
    for (int i = 0; i < 5000; i++) a += 'a' + i * i % 7, b += 'a' + i * 3 % 7;
    vector<vector<int>> best(a.size() + 1, vector<int>(b.size() + 1));
    for (size_t i = 0; i <= a.size(); i++)
        for (size_t j = 0; j <= b.size(); j++) {
            if (i == 0 || j == 0) best[i][j] = i + j;
            else best[i][j] = min({best[i - 1][j] + 1, best[i][j - 1] + 1, best[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
        }
    cout << best[a.size()][b.size()] << "\n";
}
