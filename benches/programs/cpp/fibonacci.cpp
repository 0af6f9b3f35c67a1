#include <iostream>
int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
int main() {
    std::cout << fibonacci(42) << std::endl;
}
