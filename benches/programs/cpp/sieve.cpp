#include <bits/stdc++.h>
using namespace std;
int main() {
    const int n = 40000000;
    vector<bool> composite(n + 1);
    int count = 0;
    for (long long i = 2; i <= n; i++) {
        if (composite[i]) continue;
        count++;
        for (long long j = i * i; j <= n; j += i) composite[j] = true;
    }
    cout << count << endl;
}
