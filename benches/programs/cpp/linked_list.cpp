#include <bits/stdc++.h>
using namespace std;
struct Node {
    int value;
    Node* next;
};
int main() {
    Node* head = nullptr;
    for (int i = 0; i < 3000000; i++) head = new Node{i, head};
    long long sum = 0;
    for (int round = 0; round < 8; round++)
        for (Node* node = head; node; node = node->next) sum += node->value ^ round;
    while (head) {
        Node* next = head->next;
        delete head;
        head = next;
    }
    cout << sum << "\n";
}
