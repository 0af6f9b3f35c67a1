#include <cmath>
#include <cstdio>
int main() {
    double sum = 0;
    for (int i = 1; i < 30000000; i++) sum += std::sqrt((double)i) / (1.0 + std::fabs(std::sin(i * 1e-3)));
    printf("%.6f\n", sum);
}
