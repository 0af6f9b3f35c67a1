#include <bits/stdc++.h>
using namespace std;
const int N = 900;
int distances[N][N];
int main() {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) distances[i][j] = i == j ? 0 : (i * 131 + j * 37) % 1009 + 1;
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) distances[i][j] = min(distances[i][j], distances[i][k] + distances[k][j]);
    long long sum = 0;
    for (auto& row : distances)
        for (int d : row) sum += d;
    cout << sum << "\n";
}
