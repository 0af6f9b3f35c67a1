#include <iostream>
long long power(long long base, long long exponent, long long mod) {
    long long result = 1;
    for (base %= mod; exponent; exponent >>= 1, base = base * base % mod)
        if (exponent & 1) result = result * base % mod;
    return result;
}
int main() {
    long long sum = 0;
    for (int i = 1; i < 1500000; i++) sum += power(i, 998244351, 998244353);
    std::cout << sum << "\n";
}
