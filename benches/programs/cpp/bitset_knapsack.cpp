#include <bits/stdc++.h>
using namespace std;
int main() {
    bitset<400001> reach;
    reach[0] = 1;
    for (int i = 1; i <= 20000; i++) reach |= reach << (i * 37 % 2003 + 1);
    cout << reach.count() << "\n";
}
