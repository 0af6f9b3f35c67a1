#include <bits/stdc++.h>
using namespace std;
vector<int> multiply(const vector<int>& a, const vector<int>& b) {
    vector<long long> sums(a.size() + b.size());
    for (size_t i = 0; i < a.size(); i++)
        for (size_t j = 0; j < b.size(); j++) sums[i + j] += 1LL * a[i] * b[j];
    vector<int> digits(sums.size());
    long long carry = 0;
    for (size_t i = 0; i < sums.size(); i++) {
        carry += sums[i];
        digits[i] = carry % 10000;
        carry /= 10000;
    }
    while (digits.size() > 1 && digits.back() == 0) digits.pop_back();
    return digits;
}
int main() {
    vector<int> product{1}, factor(4000, 1234);
    for (int i = 0; i < 12; i++) product = multiply(product, factor);
    long long sum = 0;
    for (int digit : product) sum += digit;
    printf("%zu %lld\n", product.size(), sum);
}
