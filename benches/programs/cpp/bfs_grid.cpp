#include <bits/stdc++.h>
using namespace std;
int main() {
    const int n = 2500;
    vector<string> grid(n, string(n, '.'));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if ((i * 7919LL + j * 104729LL) % 11 == 3) grid[i][j] = '#';
    vector<vector<int>> distance(n, vector<int>(n, -1));
    queue<pair<int, int>> open;
    open.push({0, 0});
    distance[0][0] = 0;
    const int dr[] = {1, -1, 0, 0}, dc[] = {0, 0, 1, -1};
    while (!open.empty()) {
        auto [r, c] = open.front();
        open.pop();
        for (int k = 0; k < 4; k++) {
            int a = r + dr[k], b = c + dc[k];
            if (a < 0 || b < 0 || a >= n || b >= n || grid[a][b] == '#' || distance[a][b] >= 0) continue;
            distance[a][b] = distance[r][c] + 1;
            open.push({a, b});
        }
    }
    long long sum = 0;
    for (auto& row : distance) sum += accumulate(row.begin(), row.end(), 0LL);
    cout << sum << "\n";
}
