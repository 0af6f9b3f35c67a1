#include <bits/stdc++.h>
using namespace std;
struct Shape {
    virtual ~Shape() = default;
    virtual double area(double scale) const = 0;
};
struct Square : Shape {
    double side;
    explicit Square(double side) : side(side) {}
    double area(double scale) const override { return side * side * scale; }
};
struct Circle : Shape {
    double radius;
    explicit Circle(double radius) : radius(radius) {}
    double area(double scale) const override { return 3.14159 * radius * radius * scale; }
};
int main() {
    vector<unique_ptr<Shape>> shapes;
    for (int i = 0; i < 1000; i++) {
        if (i * 7 % 3) shapes.push_back(make_unique<Square>(i));
        else shapes.push_back(make_unique<Circle>(i));
    }
    double sum = 0;
    for (int round = 0; round < 60000; round++)
        for (auto& shape : shapes) sum += shape->area(1.0 / (round + 1));
    printf("%.3f\n", sum);
}
